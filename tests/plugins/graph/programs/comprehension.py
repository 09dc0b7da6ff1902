"""Programs with comprehensions of lists and dictionaries."""

from typing import Dict, List, Tuple


@cases((4,), (0,))
def squares(n: int) -> List[int]:
    return [i * i for i in range(n)]


@cases(([1, 2, 3],), ([],))
def over_a_list(a: List[int]) -> List[float]:
    return [x / 2 for x in a]


@cases((["a", "b"],))
def of_texts(a: List[str]) -> List[str]:
    return [s + s for s in a]


@cases(([1, 2],))
def conditional_element(a: List[int]) -> List[str]:
    return ["odd" if x % 2 == 1 else "even" for x in a]


@cases(([[1, 2], [3]],))
def of_lists(a: List[List[int]]) -> List[int]:
    return [len(row) for row in a]


@cases((3,))
def nested(n: int) -> List[List[int]]:
    return [[i * 10 + j for j in range(i)] for i in range(n)]


@cases((3,))
def variable_does_not_leak(n: int) -> Tuple[int, List[int]]:
    i = 100
    a = [i for i in range(n)]
    return i, a


@cases(([3, 4], 10))
def reads_an_outer_variable(a: List[int], k: int) -> List[int]:
    return [x + k for x in a]


@cases(([1, 2, 3],))
def calls_a_function(a: List[int]) -> List[int]:
    return [_doubled(x) for x in a]


def _doubled(x: int) -> int:
    return x * 2


@cases((torch.tensor([1.0, 2.0]), 3))
def of_tensors(x, n: int):
    return torch.stack([x * i for i in range(n)])


@cases(([torch.ones(2), torch.zeros(3)],))
def sizes_of_tensors(a: List[torch.Tensor]) -> List[int]:
    return [t.numel() for t in a]


@cases((torch.tensor([[1, 2], [3, 4]]),))
def over_a_tensor(x):
    return [row.sum() for row in x]


@cases((["a", "b"],))
def with_enumerate(a: List[str]) -> List[str]:
    return [s + str(i) for i, s in enumerate(a)]


@cases(([1, 2], [3, 4]))
def with_zip(a: List[int], b: List[int]) -> List[int]:
    return [x * y for x, y in zip(a, b)]


@cases(([(1, "a"), (2, "b")],))
def with_tuples(a: List[Tuple[int, str]]) -> List[str]:
    return [s + str(n) for n, s in a]


@cases(("a-b-c",))
def of_a_split(s: str) -> List[str]:
    return [part.upper() for part in s.split("-")]


@cases(("abc",))
def over_a_text(s: str) -> List[int]:
    return [ord(c) for c in s]


@cases((3,))
def dictionary(n: int) -> Dict[int, str]:
    return {i: str(i * i) for i in range(n)}


@cases((["b", "a"],))
def dictionary_of_lengths(a: List[str]) -> Dict[str, int]:
    return {s: len(s) for s in a}


@cases(({"a": 1, "b": 2},))
def over_items(d: Dict[str, int]) -> List[str]:
    return [k + str(v) for k, v in d.items()]


@cases(([1, 2, 3],))
def as_argument(a: List[int]) -> int:
    return sum([x * x for x in a]) + max([-x for x in a])


@cases(([1, 2, 3],))
def aliasing_of_elements(a: List[int]) -> Tuple[List[List[int]], List[int]]:
    rows = [a for i in range(2)]
    rows[0].append(9)
    return rows, a


@cases((4,))
def pairs(n: int) -> List[Tuple[int, bool]]:
    return [(i, i % 2 == 0) for i in range(n)]


@cases((5,))
def sum_of_a_generator(n: int) -> int:
    return sum(i * i for i in range(n))
