"""Programs over lists: methods, slices, nesting, sorting, aliases."""

from typing import List, Optional, Tuple


@cases()
def literals() -> Tuple[List[int], List[float], List[str], List[bool]]:
    return [1, 2], [0.5, -1.0], ["a"], [True, False]


@cases()
def empty_lists() -> Tuple[List[int], List[str], List[torch.Tensor]]:
    a: List[int] = []
    b: List[str] = []
    c = []
    return a, b, c


@cases(([1, 2],))
def append_and_extend(a: List[int]) -> List[int]:
    a.append(3)
    a.extend([4, 5])
    a.extend(a)
    return a


@cases(([1, 2, 3], 0), ([1, 2, 3], -1), ([1, 2, 3], 100), ([], 0), ([1, 2, 3], -100))
def insert(a: List[int], i: int) -> List[int]:
    a.insert(i, 9)
    return a


@cases(([1, 2, 3],), ([7],), ([],))
def pop_last(a: List[int]) -> Tuple[int, List[int]]:
    x = a.pop()
    return x, a


@cases(([1, 2, 3], 0), ([1, 2, 3], -2), ([1, 2, 3], 3))
def pop_at(a: List[int], i: int) -> Tuple[int, List[int]]:
    x = a.pop(i)
    return x, a


@cases(([1, 2, 1], 1), ([1, 2], 3))
def remove(a: List[int], x: int) -> List[int]:
    a.remove(x)
    return a


@cases(([5, 6, 5], 5), ([5, 6], 7))
def position_and_count(a: List[int], x: int) -> Tuple[int, int]:
    return a.count(x), a.index(x)


@cases(([1, 2, 3],), ([],))
def reverse_clear_copy(a: List[int]) -> Tuple[List[int], List[int]]:
    b = a.copy()
    b.reverse()
    c = list(b)
    a.clear()
    return a, c


@cases(([3, 1, 2],), ([],))
def sort_in_place(a: List[int]) -> List[int]:
    a.sort()
    return a


@cases(([3, 1, 2],))
def sort_descending(a: List[int]) -> List[int]:
    a.sort(reverse=True)
    return a


@cases(([0.5, -1.5, 2.0], ["b", "B", "a"]))
def sorted_copies(a: List[float], b: List[str]) -> Tuple[List[float], List[str], List[float]]:
    return sorted(a), sorted(b), a


@cases(([1, 2, 3], 1), ([1, 2, 3], -3), ([1, 2, 3], 3), ([], -1))
def element(a: List[int], i: int) -> int:
    return a[i]


@cases(([0, 1, 2, 3, 4, 5],), ([0],), ([],))
def slices(a: List[int]) -> List[List[int]]:
    return [a[1:3], a[:2], a[2:], a[-2:], a[:-1], a[:], a[4:1], a[2:100], a[-100:2]]


@cases(([0, 1, 2, 3, 4, 5],))
def slices_with_step(a: List[int]) -> List[List[int]]:
    return [a[::2], a[1::3], a[1:5:2], a[-4::2]]


@cases(([0, 1, 2, 3],))
def slices_with_negative_step(a: List[int]) -> List[List[int]]:
    return [a[::-1], a[3:0:-1], a[::-2], a[0:3:-1]]


@cases(([0, 1, 2, 3],))
def slice_is_a_copy(a: List[int]) -> Tuple[List[int], List[int]]:
    b = a[:]
    b[0] = 9
    return a, b


@cases(([1, 2, 3],))
def element_assignment(a: List[int]) -> List[int]:
    a[0] = 10
    a[-1] += 5
    a[1] *= 3
    return a


@cases(([1, 2, 3, 4],))
def delete_element(a: List[int]) -> List[int]:
    del a[1]
    del a[-1]
    return a


@cases(([1, 2, 3],))
def alias_through_two_names(a: List[int]) -> Tuple[List[int], List[int]]:
    b = a
    b.append(4)
    b[0] = 9
    return a, b


def _fills(a: List[int], n: int) -> List[int]:
    for i in range(n):
        a.append(i)
    return a


@cases(([1], 2))
def alias_through_a_call(a: List[int], n: int) -> Tuple[List[int], List[int], int]:
    b = _fills(a, n)
    b.append(7)
    return a, b, len(a)


@cases(([1, 2],))
def concatenation_makes_a_new_list(a: List[int]) -> Tuple[List[int], List[int]]:
    b = a
    b = b + [3]
    return a, b


@cases(([1, 2],))
def augmented_concatenation_keeps_the_list(a: List[int]) -> Tuple[List[int], List[int]]:
    b = a
    b += [3]
    return a, b


@cases(([1, 2], 3), ([1], 0), ([1], -1))
def repeated(a: List[int], n: int) -> List[int]:
    return a * n


@cases(([1, 2],))
def augmented_repeat(a: List[int]) -> List[int]:
    a *= 2
    return a


@cases(([1, 2], [1, 2]), ([1, 2], [2, 1]), ([], []))
def equality(a: List[int], b: List[int]) -> Tuple[bool, bool]:
    return a == b, a != b


@cases(([1, 2], 2), ([1, 2], 3), ([], 0))
def contains(a: List[int], x: int) -> Tuple[bool, bool]:
    return x in a, x not in a


@cases((["a", "b"], "b"), (["a"], "c"))
def contains_text(a: List[str], x: str) -> bool:
    return x in a


@cases(([3, 1, 2],), ([5],))
def smallest_largest_sum(a: List[int]) -> Tuple[int, int, int]:
    return min(a), max(a), sum(a)


@cases(([0.5, -1.5],))
def sum_of_floats(a: List[float]) -> Tuple[float, float, float]:
    return sum(a), min(a), max(a)


@cases(([True, False],), ([True],), ([],))
def any_and_all(a: List[bool]) -> Tuple[bool, bool]:
    return any(a), all(a)


@cases(([[1], [2, 3]],))
def nested(a: List[List[int]]) -> Tuple[int, int, List[List[int]]]:
    a[0].append(9)
    a.append([4])
    return len(a), a[1][1], a


@cases((2,))
def rows_share_one_list(n: int) -> List[List[int]]:
    row = [0] * n
    rows = [row, row]
    rows[0][1] = 5
    return rows


@cases(([1, 2, 3, 4],))
def element_assignment_by_another(a: List[int]) -> List[int]:
    a[a[0]], a[0] = a[3], a[2]
    return a


@cases((["x", "y"],))
def of_texts(a: List[str]) -> Tuple[str, List[str]]:
    a.append("z")
    a.insert(0, "w")
    return a[0] + a[-1], a


@cases(([1, None, 3],), ([None],))
def of_optionals(a: List[Optional[int]]) -> int:
    total = 0
    for x in a:
        if x is not None:
            total += x
    return total


@cases(([(1, "a"), (2, "b")],))
def of_tuples(a: List[Tuple[int, str]]) -> str:
    out = ""
    for n, s in a:
        out += s + str(n)
    a.append((3, "c"))
    return out + a[-1][1]


@cases(([1, 2, 3],))
def reversed_list(a: List[int]) -> List[int]:
    out: List[int] = []
    for x in a[::-1]:
        out.append(x)
    return out


@cases(([3, 1, 2, 5, 4],), ([],))
def bubble_sort(a: List[int]) -> List[int]:
    n = len(a)
    for i in range(n):
        for j in range(0, n - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


@cases(([1, 3, 5, 7], 5), ([1, 3, 5, 7], 4), ([], 1))
def binary_search(a: List[int], x: int) -> int:
    low, high = 0, len(a) - 1
    while low <= high:
        middle = (low + high) // 2
        if a[middle] == x:
            return middle
        elif a[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@cases(([torch.tensor([1.0]), torch.tensor([2.0, 3.0])],))
def of_tensors(a: List[torch.Tensor]):
    a.append(a[0] * 10)
    return torch.cat(a), len(a)


@cases((3,))
def list_of_a_range(n: int) -> List[int]:
    return list(range(n))


@cases(("abc",))
def list_of_a_text(s: str) -> List[str]:
    return list(s)


@cases(([1, 2],), ([],))
def truth_of_list(a: List[int]) -> bool:
    if len(a):
        return True
    return False


@cases((3,))
def mixed_list(n: int):
    return [1, "a"]


@cases((3,))
def mixed_list_of_tensor_and_int(n: int):
    return [torch.ones(1), "x", n]
