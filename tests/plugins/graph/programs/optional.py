"""Programs over Optional: refinement by tests, asserts, returns; None as a value."""

from typing import Dict, List, Optional, Tuple


@cases((3,), (None,))
def refined_by_if(x: Optional[int]) -> int:
    if x is not None:
        return x + 1
    return 0


@cases((3,), (None,))
def refined_by_else(x: Optional[int]) -> int:
    if x is None:
        y = -1
    else:
        y = x * 2
    return y


@cases((3,), (None,))
def refined_by_assert(x: Optional[int]) -> int:
    assert x is not None
    return x + 1


@cases((3,), (None,))
def refined_by_assert_with_message(x: Optional[int]) -> int:
    assert x is not None, "x is missing"
    return x


@cases((3,), (None,))
def refined_by_assignment(x: Optional[int]) -> int:
    if x is None:
        x = 10
    return x * 2


@cases((3,), (None,))
def refined_by_raise(x: Optional[int]) -> int:
    if x is None:
        raise ValueError("no x")
    return x


@cases((3,), (None,))
def refined_by_early_return(x: Optional[int]) -> str:
    if x is None:
        return "none"
    return str(x + 1)


@cases((3, 4), (None, 4), (3, None), (None, None))
def refined_by_and(x: Optional[int], y: Optional[int]) -> int:
    if x is not None and y is not None:
        return x + y
    return -1


@cases((3, 4), (None, 4), (3, None), (None, None))
def refined_by_or(x: Optional[int], y: Optional[int]) -> int:
    if x is None or y is None:
        return -1
    return x + y


@cases((3,), (-3,), (None,))
def refined_in_the_condition(x: Optional[int]) -> bool:
    return x is not None and x > 0


@cases((3,), (None,))
def refined_by_not(x: Optional[int]) -> int:
    if not (x is None):
        return x
    return 0


@cases((3,), (None,))
def refined_in_expression(x: Optional[int]) -> int:
    return x if x is not None else 7


@cases((3,), (None,))
def refined_by_isinstance(x: Optional[int]) -> int:
    if isinstance(x, int):
        return x
    return -1


@cases((torch.tensor([1.0]),), (None,))
def tensor_or_none(x: Optional[torch.Tensor]):
    if x is None:
        x = torch.zeros(2)
    return x + 1


@cases((), (5,), (None,))
def default_none(x: Optional[int] = None) -> int:
    return 0 if x is None else x


@cases(([1, 2],), (None,))
def list_or_none(a: Optional[List[int]]) -> int:
    if a is None:
        return 0
    a.append(1)
    return len(a)


@cases(({"a": 1}, "a"), ({"a": 1}, "b"))
def from_dictionary(d: Dict[str, int], key: str) -> int:
    x = d.get(key)
    if x is None:
        return -1
    return x


@cases(([3, None, 4],), ([],))
def filtered(a: List[Optional[int]]) -> List[int]:
    out: List[int] = []
    for x in a:
        if x is not None:
            out.append(x)
    return out


@cases((5,), (0,))
def becomes_none(n: int) -> Optional[int]:
    x: Optional[int] = n
    if n == 0:
        x = None
    return x


@cases((5,), (-5,))
def returns_none_or_value(n: int) -> Optional[str]:
    if n < 0:
        return None
    return str(n)


@cases((5,))
def returns_none(n: int):
    n += 1


@cases((5,))
def returns_none_by_return(n: int) -> None:
    if n > 3:
        return
    print(n)


@cases((3,), (None,))
def equal_to_none(x: Optional[int]) -> Tuple[bool, bool]:
    return x is None, x is not None


@cases((4,), (2,))
def refined_in_a_loop(n: int) -> int:
    best: Optional[int] = None
    for i in range(n):
        if best is None:
            best = i
        elif i % 3 == 0:
            best = best + i
    if best is None:
        return -1
    return best


@cases(([5, 3, 8],), ([],))
def smallest(a: List[int]) -> Optional[int]:
    best: Optional[int] = None
    for x in a:
        if best is None or x < best:
            best = x
    return best


def _first_even(a: List[int]) -> Optional[int]:
    for x in a:
        if x % 2 == 0:
            return x
    return None


@cases(([1, 4, 6],), ([1],))
def optional_of_a_call(a: List[int]) -> int:
    x = _first_even(a)
    if x is not None:
        return x
    return 0


@cases(((1, "a"),), (None,))
def tuple_or_none(t: Optional[Tuple[int, str]]) -> str:
    if t is not None:
        n, s = t
        return s + str(n)
    return "?"


@cases((3,), (None,))
def unwrapped(x: Optional[int]) -> int:
    return torch.jit._unwrap_optional(x) + 1


@cases((2.5,), (None,))
def refinement_holds_in_nested_blocks(x: Optional[float]) -> float:
    if x is not None:
        total = 0.0
        for i in range(3):
            if i != 1:
                total += x
        return total
    return -1.0


@cases((None, None), (1, None))
def two_nones(x: Optional[int], y: Optional[str]) -> List[bool]:
    return [x is None, y is None, x is None and y is None]
