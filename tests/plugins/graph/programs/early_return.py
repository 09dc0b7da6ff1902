"""Programs that return before their end: inside branches, loops, and loops in branches."""

from typing import List, Optional, Tuple


@cases((5,), (-5,))
def in_a_branch(x: int) -> int:
    if x > 0:
        return x
    return -x


@cases((5,), (-5,), (0,))
def in_each_branch(x: int) -> str:
    if x > 0:
        return "positive"
    elif x < 0:
        return "negative"
    else:
        return "zero"


@cases((5, 3), (-5, 3), (5, -3), (-5, -3))
def in_nested_branches(x: int, y: int) -> int:
    if x > 0:
        if y > 0:
            return 1
        x = x + 100
    elif y > 0:
        return 2
    return x


@cases(([1, 4, 6],), ([1, 3],), ([],))
def in_a_for(a: List[int]) -> int:
    for x in a:
        if x % 2 == 0:
            return x
    return -1


@cases((10,), (0,))
def in_a_while(n: int) -> int:
    i = 0
    while i < n:
        i += 1
        if i * i > 20:
            return i
    return -i


@cases(([[1, 2], [3, 4]], 3), ([[1, 2], [3, 4]], 9), ([], 0))
def in_nested_loops(rows: List[List[int]], x: int) -> Tuple[int, int]:
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            if rows[i][j] == x:
                return i, j
    return -1, -1


@cases((True, 5), (False, 5), (True, 0))
def in_a_loop_in_a_branch(c: bool, n: int) -> int:
    total = 0
    if c:
        for i in range(n):
            total += i
            if total > 4:
                return total * 100
        total += 1
    else:
        total = -1
    return total


@cases((3, True), (3, False))
def in_a_branch_of_a_loop_with_else(n: int, c: bool) -> int:
    for i in range(n):
        if c:
            return i + 10
        else:
            print("round", i)
    return n


@cases((7,), (3,), (1,))
def with_continue_and_break(n: int) -> int:
    total = 0
    for i in range(10):
        if i == 1:
            continue
        if i == n:
            return total + 1000
        if i == 5:
            break
        total += i
    return total


@cases((2,), (-2,))
def at_the_first_line(x: int) -> int:
    if x < 0:
        return 0
    print("goes on")
    y = x * 2
    print("ends")
    return y


@cases((5,), (50,))
def code_after_the_loop_is_skipped(n: int) -> List[str]:
    log: List[str] = []
    for i in range(20):
        if i == n:
            log.append("left at " + str(i))
            return log
    log.append("not found")
    return log


@cases((torch.tensor([1.0, -2.0]),), (torch.tensor([1.0, 2.0]),))
def of_tensors(x):
    if bool((x < 0).any()):
        return x.abs()
    y = x + 1
    return y * 2


@cases((torch.tensor([3.0]), 5))
def tensor_in_a_loop(x, n: int):
    for i in range(n):
        if bool(x.sum() > 20):
            return x, i
        x = x * 2
    return x, n


@cases((1,), (0,))
def with_different_optional(n: int) -> Optional[int]:
    if n == 0:
        return None
    for i in range(3):
        if i == n:
            return i * 10
    return -1


@cases((4,), (7,))
def three_levels(n: int) -> int:
    for i in range(n):
        if i > 2:
            j = 0
            while j < i:
                if j * i == 6:
                    return j
                elif j == 4:
                    break
                j += 1
        else:
            continue
    return 99


@cases((3,), (-1,))
def after_which_raise_is_not_run(n: int) -> int:
    if n > 0:
        return n
    raise ValueError("n must be positive")


@cases((2, 3), (0, 3))
def in_a_called_function(a: int, b: int) -> int:
    return _guarded(a, b) + _guarded(b, a)


def _guarded(a: int, b: int) -> int:
    if b == 0:
        return -1
    return a // b


@cases((1,), (2,), (5,))
def variables_after_a_partial_return(n: int) -> Tuple[int, str]:
    s = "start"
    if n == 1:
        s = "one"
        return n, s
    if n == 2:
        s = s + "!"
    else:
        s = s + "?"
    return n * 2, s


@cases((4,), (0,))
def return_of_nothing_in_a_loop(n: int):
    for i in range(n):
        print(i)
        if i == 1:
            return
    print("end")
