"""Programs over tuples and named tuples: unpacking, indices, slices, nesting."""

from typing import Dict, List, NamedTuple, Optional, Tuple


class Point(NamedTuple):
    x: int
    y: int


class Labeled(NamedTuple):
    name: str
    value: torch.Tensor
    scale: float = 2.0


@cases((1, "a", 2.5))
def built(a: int, b: str, c: float) -> Tuple[int, str, float]:
    return a, b, c


@cases((5,))
def of_one(a: int) -> Tuple[int]:
    return (a,)


@cases()
def of_none() -> Tuple[()]:
    return ()


@cases(((1, 2.5, "x"),))
def elements(t: Tuple[int, float, str]) -> Tuple[str, int, float]:
    return t[2], t[0], t[-2]


@cases(((1, 2, 3, 4),))
def slices(t: Tuple[int, int, int, int]) -> Tuple[Tuple[int, int], Tuple[int, int, int], Tuple[int]]:
    return t[1:3], t[:-1], t[3:]


@cases(((1, 2, 3, 4),))
def slice_with_step(t: Tuple[int, int, int, int]) -> Tuple[int, int]:
    return t[::2]


@cases(((1, 2), (3,)))
def joined(a: Tuple[int, int], b: Tuple[int]) -> Tuple[int, int, int]:
    return a + b


@cases(((1, "a"),))
def unpacked(t: Tuple[int, str]) -> str:
    n, s = t
    return s * 1 if False else s + str(n)


@cases(((1, ("a", 2.5)),))
def unpacked_nested(t: Tuple[int, Tuple[str, float]]) -> Tuple[int, str, float]:
    n, (s, x) = t
    return n, s, x


@cases((1, 2))
def swapped(a: int, b: int) -> Tuple[int, int]:
    a, b = b, a
    return a, b


@cases((1, 2, 3))
def rotated(a: int, b: int, c: int) -> Tuple[int, int, int]:
    a, b, c = b, c, a
    return a, b, c


@cases(((1, 2, 3, 4),))
def starred(t: Tuple[int, int, int, int]):
    first, *rest = t
    return first, rest


@cases(((1, 2, 3, 4),))
def starred_middle(t: Tuple[int, int, int, int]):
    first, *middle, last = t
    return first, middle, last


@cases(([1, 2],), ([1, 2, 3],))
def list_unpacked(a: List[int]) -> int:
    x, y = a
    return x * 10 + y


@cases((1, 2), (2, 1))
def chosen(a: int, b: int) -> Tuple[int, int]:
    return (a, b) if a < b else (b, a)


@cases(((1, 2), (1, 2)), ((1, 2), (1, 3)))
def equality(a: Tuple[int, int], b: Tuple[int, int]) -> Tuple[bool, bool]:
    return a == b, a != b


@cases(((1, "a"),))
def length(t: Tuple[int, str]) -> int:
    return len(t)


@cases((2,))
def returned_and_unpacked(n: int) -> int:
    a, b = _pair(n)
    return a * b


def _pair(n: int) -> Tuple[int, int]:
    return n + 1, n + 2


@cases(((1, 2, 3),))
def looped(t: Tuple[int, int, int]) -> int:
    total = 0
    for x in t:
        total += x
    return total


@cases(((1, 2.5),))
def looped_over_two_types(t: Tuple[int, float]) -> str:
    """The loop over a tuple is unrolled, so that its variable may have a type for each element."""
    out = ""
    for x in t:
        out += str(x + 1) + ";"
    return out


@cases(((torch.ones(2), [torch.zeros(1)]),))
def of_tensors(t: Tuple[torch.Tensor, List[torch.Tensor]]):
    x, rest = t
    return x + rest[0], t[1][0]


@cases((1,), (None,))
def with_optional(a: Optional[int]) -> Tuple[Optional[int], bool]:
    return a, a is None


@cases((3, 4))
def named(x: int, y: int) -> Point:
    return Point(x, y)


@cases((3, 4))
def named_by_keywords(x: int, y: int) -> Point:
    return Point(y=y, x=x)


@cases((Point(3, 4),))
def named_fields(p: Point) -> int:
    return p.x * p.y


@cases((Point(3, 4),))
def named_index_and_unpacking(p: Point) -> Tuple[int, int]:
    x, y = p
    return x + p[0], y - p[1]


@cases((torch.ones(2),))
def named_default(x) -> Labeled:
    return Labeled("a", x)


@cases((Labeled("n", torch.tensor([2.0]), 3.0),))
def named_with_tensor(t: Labeled) -> Tuple[str, torch.Tensor]:
    return t.name, t.value * t.scale


@cases(([Point(1, 2), Point(3, 4)],))
def list_of_named(points: List[Point]) -> int:
    total = 0
    for p in points:
        total += p.x * p.y
    return total


@cases((4,))
def dictionary_of_named(n: int) -> Dict[str, Point]:
    d: Dict[str, Point] = {}
    for i in range(n):
        d[str(i)] = Point(i, i * i)
    return d


@cases((Point(3, 4),))
def named_rebuilt(p: Point) -> Point:
    for i in range(3):
        p = Point(p.y, p.x + i)
    return p


@cases(((1, 2), 3))
def tuple_in_a_loop(t: Tuple[int, int], n: int) -> Tuple[int, int]:
    for _ in range(n):
        t = (t[1], t[0] + t[1])
    return t


@cases((3,))
def two_targets(n: int) -> Tuple[int, int]:
    a = b = n + 1
    return a, b + 1
