"""Programs that change the type of numbers: casts, mixed containers, tensors to numbers."""

from typing import List, Tuple, Union


@cases((2.9,), (-2.9,), (0.0,), (1e15,))
def float_to_int(x: float) -> int:
    return int(x)


@cases((3,), (-3,), (9007199254740993,))
def int_to_float(x: int) -> float:
    return float(x)


@cases((True,), (False,))
def bool_to_numbers(x: bool) -> Tuple[int, float]:
    return int(x), float(x)


@cases((2, 0.0), (0, -0.5))
def numbers_to_bool(n: int, x: float) -> Tuple[bool, bool]:
    return bool(n), bool(x)


@cases(("12",), ("-7",), (" 5 ",), ("x",), ("1.5",), ("",))
def text_to_int(s: str) -> int:
    return int(s)


@cases(("1.5",), ("-2e3",), ("inf",), ("nan",), ("x",))
def text_to_float(s: str) -> float:
    return float(s)


@cases((float("inf"),), (float("nan"),))
def not_finite_to_float(x: float) -> Tuple[float, bool, bool]:
    return x, x == x, x > 1.0


@cases()
def infinities() -> Tuple[float, float, bool]:
    return float("inf"), -float("inf"), float("inf") > 1e308


@cases((2.5,), (3.5,), (-2.5,), (2.4,), (2.6,))
def rounded(x: float) -> float:
    """torch's round gives a float, Python's an int; both go to the even one of two neighbors."""
    return round(x)


@cases((-2.5,), (2.5,))
def absolute_of_float(x: float) -> float:
    return abs(x)


@cases((1, 2.5), (3, 2.5))
def smaller_of_mixed(a: int, b: float) -> float:
    return min(float(a), b)


@cases((torch.tensor(3.75),), (torch.tensor(-2),), (torch.tensor([5.5]),), (torch.tensor([1.0, 2.0]),))
def tensor_to_int(x) -> int:
    return int(x)


@cases((torch.tensor(3.75),), (torch.tensor(7),), (torch.tensor(True),))
def tensor_to_float(x) -> float:
    return float(x)


@cases((torch.tensor(0.0),), (torch.tensor([2]),), (torch.tensor([]),), (torch.tensor([1, 2]),))
def tensor_to_bool(x) -> bool:
    return bool(x)


@cases((torch.tensor(2.5),), (torch.tensor(4),), (torch.tensor(True),))
def item_as_result(x):
    return x.item()


@cases((torch.tensor([4, 5]),))
def item_used_as_int(x) -> List[int]:
    n = int(x[0].item())
    return [n] * 2


@cases((2,), (0,))
def int_is_accepted_as_float_literal(n: int) -> float:
    x = 1.0
    for i in range(n):
        x = x * 0.5
    return x


@cases((3, 2))
def true_division_of_ints_is_float(a: int, b: int) -> float:
    c = a / b
    return c


@cases((1,), (2.5,), ("a",))
def union_of_three(x: Union[int, float, str]) -> str:
    if isinstance(x, int):
        return "int " + str(x + 1)
    elif isinstance(x, float):
        return "float " + str(x * 2)
    else:
        return "str " + x


@cases((3,), (torch.tensor([1, 2]),))
def union_of_int_and_tensor(x: Union[int, torch.Tensor]) -> int:
    if isinstance(x, torch.Tensor):
        return x.numel()
    return x + 10


@cases((1, 2.0, True))
def isinstance_of_known(a: int, b: float, c: bool) -> List[bool]:
    return [
        isinstance(a, int),
        isinstance(a, float),
        isinstance(b, float),
        isinstance(c, bool),
        isinstance(b, (int, float)),
    ]


@cases((3,))
def number_makes_tensor(n: int) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.tensor(n), torch.tensor(float(n)), torch.tensor(n > 2)


@cases(([1, 2], [0.5]))
def lists_make_tensors(a: List[int], b: List[float]) -> Tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(a), torch.tensor(b)


@cases((torch.tensor([1, 2, 3]), 2.5))
def scalar_with_int_tensor(x, s: float):
    return x + s, x * 2, x / 2, s - x


@cases((torch.tensor([1.5, -2.5]), 2))
def int_with_float_tensor(x, n: int):
    return x + n, n - x, x // n, x % n, n / x


@cases((torch.tensor([True, False]),))
def bool_tensor_with_numbers(x):
    return x + 1, x * 0.5, x & True


@cases((1, 4))
def bool_arithmetic_through_int(a: int, b: int) -> int:
    return int(a < b) + int(a == 1) * 10


@cases((2.0,), (2.5,))
def float_is_integer_valued(x: float) -> bool:
    return x == float(int(x))


@cases((5,), (-5,))
def sum_with_cast(n: int) -> float:
    total = 0.0
    for i in range(abs(n)):
        total += float(i) / 2 + n
    return total


@cases((1, 2), (2, 1))
def conditional_of_other_types(a: int, b: int) -> str:
    """A test that is known when the program is compiled picks its branch, whose type is the one that counts."""
    return str(a) if isinstance(a, int) else b
