"""Programs with annotations in other forms: built-in generics, unions by `|`, texts, names of the typing module."""

import typing
from typing import Any, List, Optional


@cases(([1, 2],))
def builtin_list(a: list[int]) -> list[int]:
    out: list[int] = []
    for x in a:
        out.append(x + 1)
    return out


@cases(({"a": 1},))
def builtin_dict(d: dict[str, int]) -> dict[str, list[int]]:
    out: dict[str, list[int]] = {}
    for k, v in d.items():
        out[k] = [v, v]
    return out


@cases(((1, "a"),))
def builtin_tuple(t: tuple[int, str]) -> tuple[str, int]:
    return t[1], t[0]


@cases((1,), (None,))
def optional_by_bar(x: int | None) -> int:
    if x is None:
        return 0
    return x


@cases((1,), ("a",))
def union_by_bar(x: int | str) -> str:
    if isinstance(x, int):
        return str(x)
    return x


@cases((1,), (None,))
def none_first(x: None | int) -> bool:
    return x is None


@cases(([1],))
def through_the_module(a: typing.List[int]) -> typing.Dict[str, typing.Optional[int]]:
    d: typing.Dict[str, typing.Optional[int]] = {"a": a[0]}
    d["b"] = None
    return d


@cases((torch.ones(1), 2))
def tensor_by_name(x: torch.Tensor, n: int) -> torch.Tensor:
    y: torch.Tensor = x * n
    return y


@cases(([torch.ones(1), None],))
def nested_optional(a: List[Optional[torch.Tensor]]) -> List[int]:
    out: List[int] = []
    for x in a:
        out.append(0 if x is None else x.numel())
    return out


@cases((3,))
def as_text(n: "int") -> "List[int]":
    return [n]


@cases((3, "a"))
def comment_for_each_argument(
    n,  # type: int
    s,  # type: str
):
    # type: (...) -> str
    return s + str(n)


@cases((torch.device("cpu"), torch.float64))
def device_and_dtype(device: torch.device, dtype: torch.dtype):
    return torch.zeros(2, device=device, dtype=dtype)


@cases((3,))
def result_by_inference(n: int):
    return n, [float(n)], {"n": str(n)}


@cases((3,), ("x",))
def anything(x: Any) -> str:
    if isinstance(x, int):
        return "int"
    elif isinstance(x, str):
        return "str " + x
    return "other"


@cases((1, 2))
def isinstance_of_several(a: int, b: int) -> bool:
    return isinstance(a, (str, int)) and not isinstance(b, (float, str))


@cases(([1, 2],), ([],))
def annotated_with_any_length(a: list[int]) -> list[tuple[int, int]]:
    return [(i, x) for i, x in enumerate(a)]
