"""Programs that fail when they run: raise, assert, division by zero, indices, conversions, wrong arguments."""

from typing import Dict, List, Optional


@cases((1,), (-1,))
def raised(n: int) -> int:
    if n < 0:
        raise ValueError("n is negative")
    return n


@cases((-1,))
def raised_with_a_formatted_message(n: int) -> int:
    if n < 0:
        raise ValueError("n is {}".format(n))
    return n


@cases((-1,))
def raised_with_an_f_string(n: int) -> int:
    if n < 0:
        raise RuntimeError(f"n is {n}, not positive")
    return n


@cases((1,), (2,), (3,), (4,))
def raised_types(n: int) -> int:
    if n == 1:
        raise RuntimeError("runtime")
    elif n == 2:
        raise TypeError("type")
    elif n == 3:
        raise IndexError("index")
    elif n == 4:
        raise NotImplementedError("not there")
    return n


@cases((1,))
def raised_class_without_message(n: int) -> int:
    if n > 0:
        raise ValueError
    return n


@cases((1,))
def raised_without_message(n: int) -> int:
    if n > 0:
        raise ValueError()
    return n


class OwnError(Exception):
    pass


@cases((1,), (0,))
def raised_own_class(n: int) -> int:
    if n > 0:
        raise OwnError("own")
    return n


@cases((1,), (-1,))
def asserted(n: int) -> int:
    assert n > 0
    return n


@cases((1,), (-1,))
def asserted_with_message(n: int) -> int:
    assert n > 0, "n must be positive"
    return n


@cases((-1,))
def asserted_with_a_formatted_message(n: int) -> int:
    assert n > 0, f"n must be positive, got {n}"
    return n


@cases((torch.tensor([1.0, -1.0]),))
def asserted_of_tensors(x):
    assert bool((x > 0).all()), "all must be positive"
    return x


@cases((1, 0))
def int_divided_by_zero(a: int, b: int) -> float:
    return a / b


@cases((1, 0))
def int_floor_divided_by_zero(a: int, b: int) -> int:
    return a // b


@cases((1, 0))
def int_modulo_zero(a: int, b: int) -> int:
    return a % b


@cases((1.0, 0.0), (0.0, 0.0))
def float_divided_by_zero(a: float, b: float) -> float:
    return a / b


@cases((1.0, 0.0))
def float_floor_divided_by_zero(a: float, b: float) -> float:
    return a // b


@cases((1.0, 0.0))
def float_modulo_zero(a: float, b: float) -> float:
    return a % b


@cases((torch.tensor([1, 2]), 0))
def int_tensor_divided_by_zero(x, n: int):
    return x // n


@cases((torch.tensor([1.0, -1.0, 0.0]),))
def float_tensor_divided_by_zero(x):
    return x / 0


@cases(([1, 2], 2), ([1, 2], -3))
def list_index(a: List[int], i: int) -> int:
    return a[i]


@cases(([1, 2], 2))
def list_index_assigned(a: List[int], i: int) -> List[int]:
    a[i] = 0
    return a


@cases(({"a": 1}, "b"))
def key_is_missing(d: Dict[str, int], k: str) -> int:
    return d[k]


@cases(([],))
def smallest_of_nothing(a: List[int]) -> int:
    return min(a)


@cases((torch.ones(2, 3), torch.ones(2, 3)))
def shapes_do_not_fit(x, y):
    return x @ y


@cases((torch.ones(4),))
def view_does_not_fit(x):
    return x.view(3, -1)


@cases((torch.ones(2, 2),))
def dimension_is_out_of_range(x):
    return x.sum(dim=2)


@cases((3, 0), (3, 2))
def error_in_a_called_function(a: int, b: int) -> int:
    return _divided(a, b) + 1


def _divided(a: int, b: int) -> int:
    if b == 0:
        raise ZeroDivisionError("b is zero")
    return a // b


@cases((5,))
def output_before_the_error_is_kept(n: int) -> int:
    for i in range(n):
        print("step", i)
        if i == 2:
            raise RuntimeError("stopped at 2")
    return n


@cases(([1, 2, 3],))
def effects_before_the_error(a: List[int]) -> int:
    a.append(4)
    return a[10]


@cases(("x",), (1.5,), (None,), ([1],))
def argument_of_another_type(n: int) -> int:
    return n + 1


@cases((), (1, 2))
def number_of_arguments(n: int) -> int:
    return n + 1


@cases(([1, "x"],), ([1.5],), ((1, 2),))
def list_of_another_type(a: List[int]) -> int:
    return len(a)


@cases((1,), (2.5,), (True,))
def int_given_for_float(x: float) -> float:
    return x * 2


@cases((True,), (torch.tensor(3),))
def bool_or_tensor_given_for_int(n: int) -> int:
    return n + 1


@cases((3,), (2.5,))
def number_given_for_tensor(x):
    return x + 1


@cases((None,), (3,), ("x",))
def given_for_optional(x: Optional[int]) -> int:
    return -1 if x is None else x


@cases(({"a": "b"},), ({1: 2},))
def dictionary_of_another_type(d: Dict[str, int]) -> int:
    return len(d)
