"""Programs with loops: while, for over several kinds, break, continue, zero trips, nesting."""

from typing import Dict, List, Tuple


@cases((5,), (0,), (-3,))
def for_range(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


@cases((2, 6), (6, 2), (-2, 2))
def for_range_with_start(a: int, b: int) -> List[int]:
    out: List[int] = []
    for i in range(a, b):
        out.append(i)
    return out


@cases((0, 10, 3), (10, 0, -3), (0, 10, -1), (10, 0, 1))
def for_range_with_step(a: int, b: int, c: int) -> List[int]:
    out: List[int] = []
    for i in range(a, b, c):
        out.append(i)
    return out


@cases((0,))
def for_range_with_step_zero(c: int) -> int:
    n = 0
    for _ in range(0, 5, c):
        n += 1
    return n


@cases((5,), (0,))
def while_counts(n: int) -> int:
    i = 0
    total = 0
    while i < n:
        total += i * i
        i += 1
    return total


@cases((100,))
def while_true_with_break(n: int) -> int:
    x = 1
    while True:
        x *= 2
        if x > n:
            break
    return x


@cases((0,), (2,), (5,), (9,))
def while_true_with_two_exits(n: int) -> int:
    i = 0
    while True:
        if i >= n:
            break
        i += 1
        if i == 5:
            return -1
    return i


@cases((10,))
def continue_in_for(n: int) -> List[int]:
    out: List[int] = []
    for i in range(n):
        if i % 3 != 0:
            continue
        out.append(i)
    return out


@cases((10,))
def continue_in_while(n: int) -> int:
    i, total = 0, 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        total += i
    return total


@cases((10,))
def break_and_continue(n: int) -> List[int]:
    out: List[int] = []
    for i in range(n):
        if i == 2:
            continue
        if i == 6:
            break
        out.append(i)
    return out


@cases((4,))
def break_in_nested_loops(n: int) -> List[Tuple[int, int]]:
    out: List[Tuple[int, int]] = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            out.append((i, j))
    return out


@cases((4,))
def continue_in_nested_loops(n: int) -> int:
    total = 0
    for i in range(n):
        if i == 1:
            continue
        for j in range(i + 1):
            if j == 2:
                continue
            total += 10 * i + j
    return total


@cases((3,), (0,))
def variable_after_the_loop(n: int) -> int:
    last = -1
    for i in range(n):
        last = i
    return last


@cases((3,))
def variable_of_the_loop_is_seen_after(n: int) -> int:
    i = 100
    for i in range(n):
        pass
    return i


@cases((0,))
def loop_of_zero_trips_keeps_the_variable(n: int) -> int:
    i = 100
    for i in range(n):
        pass
    return i


@cases((3,))
def counter_assigned_in_the_loop_does_not_skip(n: int) -> List[int]:
    out: List[int] = []
    for i in range(n):
        out.append(i)
        i = i + 10
        out.append(i)
    return out


@cases((4,))
def bound_is_computed_once(n: int) -> int:
    trips = 0
    for i in range(n):
        n = 100
        trips += 1
    return trips


@cases(([1, 2, 3],), ([],))
def for_list(a: List[int]) -> int:
    total = 0
    for x in a:
        total = total * 10 + x
    return total


@cases((["a", "b"],))
def for_list_of_texts(a: List[str]) -> str:
    out = ""
    for s in a:
        out = s + out
    return out


@cases((torch.tensor([[1, 2], [3, 4]]),), (torch.zeros(0, 2),))
def for_tensor(x):
    total = torch.zeros(2)
    for row in x:
        total = total * 2 + row
    return total


@cases((["x", "y", "z"],), ([],))
def for_enumerate(a: List[str]) -> List[str]:
    out: List[str] = []
    for i, s in enumerate(a):
        out.append(s + str(i))
    return out


@cases((["x", "y"],))
def for_enumerate_with_start(a: List[str]) -> List[str]:
    out: List[str] = []
    for i, s in enumerate(a, 5):
        out.append(s + str(i))
    return out


@cases(([1, 2, 3], ["a", "b"]), ([], ["a"]))
def for_zip_stops_at_the_shortest(a: List[int], b: List[str]) -> List[str]:
    out: List[str] = []
    for n, s in zip(a, b):
        out.append(s + str(n))
    return out


@cases(([1, 2], [3, 4], [5, 6]))
def for_zip_of_three(a: List[int], b: List[int], c: List[int]) -> int:
    total = 0
    for x, y, z in zip(a, b, c):
        total += x * y - z
    return total


@cases((["a", "b"], [7, 8]))
def for_enumerate_of_zip(a: List[str], b: List[int]) -> str:
    out = ""
    for i, (s, n) in enumerate(zip(a, b)):
        out += str(i) + s + str(n)
    return out


@cases((3, [4, 5, 6]))
def for_zip_with_range(n: int, a: List[int]) -> int:
    total = 0
    for i, x in zip(range(n), a):
        total += i * x
    return total


@cases(({"b": 1, "a": 2},))
def for_dictionary(d: Dict[str, int]) -> List[str]:
    out: List[str] = []
    for k in d:
        out.append(k)
    return out


@cases(([[1, 2], [3], []],))
def for_nested_lists(a: List[List[int]]) -> List[int]:
    out: List[int] = []
    for row in a:
        for x in row:
            out.append(x)
    return out


@cases((4,))
def fibonacci(n: int) -> List[int]:
    out = [0, 1]
    for i in range(2, n):
        out.append(out[i - 1] + out[i - 2])
    return out


@cases((5,))
def list_is_read_while_it_grows(n: int) -> List[int]:
    a = [1]
    i = 0
    while i < len(a) and len(a) < n:
        a.append(a[i] * 2)
        i += 1
    return a


@cases((torch.tensor(1.0), 4))
def tensor_carried(x, n: int):
    for i in range(n):
        x = x * 2 + i
    return x


@cases((torch.tensor(100.0),), (torch.tensor(0.5),))
def while_on_a_tensor(x):
    steps = 0
    while x > 1:
        x = x / 2
        steps += 1
    return x, steps


@cases((torch.tensor([1.0, 2.0]), 3), (torch.tensor([1.0, 2.0]), 0))
def outputs_collected(x, n: int):
    out = []
    for i in range(n):
        x = x + i
        out.append(x)
    if n == 0:
        return x
    return torch.stack(out)


@cases((3,))
def loop_carries_several_types(n: int) -> Tuple[int, float, str, List[int]]:
    a, b, c = 0, 1.0, ""
    d: List[int] = []
    for i in range(n):
        a, b, c = a + i, b * 0.5, c + str(i)
        d = d + [i]
    return a, b, c, d


@cases((3, 2))
def triple_nested(n: int, m: int) -> int:
    total = 0
    for i in range(n):
        j = 0
        while j < m:
            for k in [1, 10]:
                total += k * (i + j)
            j += 1
    return total


@cases((6,))
def flag_ends_the_loop(n: int) -> int:
    found = False
    i = 0
    while i < n and not found:
        if i * i > 10:
            found = True
        else:
            i += 1
    return i


@cases((2, 9), (0, 0))
def condition_with_side_effects(a: int, b: int) -> List[int]:
    log: List[int] = []
    while _logs(log, a) < b:
        a += 3
    return log


def _logs(log: List[int], x: int) -> int:
    log.append(x)
    return x


@cases(([3, 1, 2],))
def loop_over_changed_copy(a: List[int]) -> List[int]:
    for x in a[:]:
        a.append(x)
    return a


@cases(([1, 2, 3],))
def loop_over_a_list_assigned_inside(a: List[int]) -> int:
    total = 0
    for x in a:
        a = [100]
        total += x
    return total + a[0]


@cases((5,))
def reversed_range(n: int) -> List[int]:
    out: List[int] = []
    for i in range(n - 1, -1, -1):
        out.append(i)
    return out


@cases((10,))
def loop_with_print(n: int) -> int:
    for i in range(n):
        if i == 3:
            print("stop at", i)
            break
        elif i == 1:
            print("one")
    return 0
