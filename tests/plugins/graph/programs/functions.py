"""Programs that call functions: keywords, defaults, nesting, annotations in comments."""

from typing import Dict, List, Optional, Tuple


def _affine(x: int, a: int = 2, b: int = 1) -> int:
    return a * x + b


@cases((5,))
def defaults(x: int) -> Tuple[int, int, int]:
    return _affine(x), _affine(x, 3), _affine(x, 3, 4)


@cases((5,))
def keywords(x: int) -> Tuple[int, int, int]:
    return _affine(x, b=10), _affine(x=x, a=0), _affine(b=1, a=2, x=3)


@cases((5,), (5, 2), (5, 2, "z"))
def defaults_of_the_program(x: int, n: int = 3, s: str = "d") -> str:
    return s * 1 if False else s + str(x * n)


@cases((2,))
def nested_calls(x: int) -> int:
    return _affine(_affine(_affine(x), a=_affine(1)), b=_affine(0))


@cases((2,))
def default_of_none(x: int) -> Tuple[int, int]:
    return _optional(x), _optional(x, 5)


def _optional(x: int, y: Optional[int] = None) -> int:
    if y is None:
        return x
    return x + y


@cases((torch.tensor([1.0, 2.0]),))
def without_annotations(x):
    return _twice(x) + x


def _twice(x):
    return x * 2


@cases((torch.tensor([1.0, 2.0]), 3))
def annotation_in_a_comment(x, n):
    # type: (Tensor, int) -> Tensor
    return x * n


@cases((2, "a"))
def annotation_in_a_comment_of_plain(n, s):
    # type: (int, str) -> Tuple[str, int]
    m = n + 1
    return s, m


@cases((3,))
def variable_annotations(n: int) -> Tuple[float, List[float]]:
    x: float = 1.5
    a: List[float] = [x, x * n]
    b = torch.jit.annotate(List[float], [])
    b.extend(a)
    return x, b


@cases(([1, 2],))
def changes_its_argument(a: List[int]) -> List[int]:
    _pushes(a, 3)
    _pushes(a, x=4)
    return a


def _pushes(a: List[int], x: int) -> None:
    a.append(x)


@cases((3,))
def rebinding_does_not_reach_the_caller(n: int) -> Tuple[int, List[int]]:
    a = [1]
    m = _rebinds(n, a)
    return n + m * 10, a


def _rebinds(n: int, a: List[int]) -> int:
    n = n + 1
    a = [2, 3]
    return n + len(a)


@cases((1, 2))
def returns_several(a: int, b: int) -> int:
    s, p, (d, q) = _all_of(a, b)
    return s * 1000 + p * 100 + d * 10 + int(q)


def _all_of(a: int, b: int) -> Tuple[int, int, Tuple[int, float]]:
    return a + b, a * b, (b - a, b / a)


@cases((4,))
def result_not_used(n: int) -> int:
    _prints(n)
    return n


def _prints(n: int) -> int:
    print("called with", n)
    return n


@cases((2, 3))
def order_of_arguments(a: int, b: int) -> int:
    """Arguments are computed from left to right."""
    return _affine(_prints(a), _prints(b), b=_prints(a + b))


@cases((3,))
def calls_a_chain(n: int) -> str:
    return _outer(n)


def _outer(n: int) -> str:
    return "<" + _inner(n) + ">"


def _inner(n: int) -> str:
    return str(n * 3)


@cases((2.0,))
def int_argument_where_float_is_wanted(x: float) -> float:
    return _half(x) + _half(3.0)


def _half(x: float) -> float:
    return x / 2


@cases((torch.ones(2),))
def number_argument_where_tensor_is_wanted(x):
    return torch.add(x, 2.0) + torch.mul(x, 3)


@cases((torch.tensor([1.0, -1.0]),))
def functional(x):
    return torch.nn.functional.relu(x) + torch.nn.functional.softplus(x, beta=2.0)


@cases(({"a": 1},))
def dictionary_argument(d: Dict[str, int]) -> int:
    return _looks(d, key="a") + _looks(d, "z")


def _looks(d: Dict[str, int], key: str) -> int:
    return d[key] if key in d else 0


@cases()
def is_scripting_is_a_constant() -> str:
    if torch.jit.is_scripting():
        return "scripted"
    else:
        return "plain"


@torch.jit.ignore
def _ignored(x: int) -> int:
    """Runs as plain Python in a scripted program."""
    return len({str(i) for i in range(x)})


@cases((3,))
def calls_an_ignored_function(x: int) -> int:
    return _ignored(x) + 1


@torch.jit.unused
def _unused(x: int) -> int:
    return x + sum(i for i in range(x))


@cases((3,), (0,))
def calls_an_unused_function(x: int) -> int:
    if x > 0:
        return _unused(x)
    return -1


@cases((torch.tensor([4.0]),))
def doc_string_and_comments(x):
    """A doc string.

    It has lines.
    """
    # a comment
    y = x + 1  # another
    """a text as a statement"""
    return y


@cases((1, 2, 3))
def argument_lists_over_lines(
    a: int,
    b: int,
    c: int = 4,
) -> int:
    return (
        a
        + b * 10
        + c * 100
    )  # fmt: skip


@cases((5,))
def builtins(n: int) -> Tuple[int, int, int, int, float]:
    return abs(-n), min(n, 3), max(n, 9), len([n, n]), float(sum([n, 1]))
