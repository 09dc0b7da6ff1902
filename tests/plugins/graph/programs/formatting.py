"""Programs that format and print: print, str.format, %, f-strings, assertion messages."""

from typing import Dict, List, Optional, Tuple


@cases((1, 2.5, "x"))
def print_values(a: int, b: float, c: str):
    print(a, b, c)


@cases()
def print_nothing():
    print()


@cases((True, None), (False, 3))
def print_bool_and_optional(a: bool, b: Optional[int]):
    print(a, b)


@cases(([1, 2, 3], ["a", "b"]))
def print_lists(a: List[int], b: List[str]):
    print(a)
    print("names", b)


@cases(((1, "x"), {"k": 1}))
def print_tuple_and_dict(a: Tuple[int, str], b: Dict[str, int]):
    print(a)
    print(b)


@cases((0.1,), (2.0,), (1e10,), (1e16,), (1e-5,), (1.23456789012345678,))
def print_float(x: float):
    print(x)


@cases((float("inf"),), (float("-inf"),), (float("nan"),))
def print_not_finite(x: float):
    print(x)


@cases((3,))
def print_in_loop(n: int) -> int:
    for i in range(n):
        print("step", i)
    return n


@cases((1,), (-1,))
def print_before_return(x: int) -> int:
    if x > 0:
        print("positive")
        return x
    print("not positive")
    return -x


@cases((1 + 2j,))
def print_complex(x: complex):
    print(x)


@cases((torch.tensor([1, 2]),))
def print_of_a_tensor(x):
    print(x.size(0), x.dim(), x.numel() > 1)


@cases((7, "seven"))
def format_method(n: int, s: str) -> str:
    return "{} is {}".format(n, s)


@cases((7,))
def format_without_arguments(n: int) -> str:
    return "plain".format()


@cases((1, 2))
def format_positions(a: int, b: int) -> str:
    return "{0} {1} {0}".format(a, b)


@cases((2.5, True))
def format_kinds(x: float, b: bool) -> str:
    return "x={} b={} l={}".format(x, b, [1, 2])


@cases((7, "seven", 0.5))
def f_string(n: int, s: str, x: float) -> str:
    return f"{n} is {s}, half is {x}"


@cases((3, 4))
def f_string_of_expressions(a: int, b: int) -> str:
    return f"{a} + {b} = {a + b}; {len([a, b])} values"


@cases(("x",))
def f_string_only_value(s: str) -> str:
    return f"{s}"


@cases(("a", 1))
def f_string_in_f_string(s: str, n: int) -> str:
    t = f"<{s}>"
    return f"{t}{t}{n}"


@cases(("a",))
def f_string_with_braces(s: str) -> str:
    return f"{{{s}}}"


@cases((3, "x"))
def percent(n: int, s: str) -> str:
    return "%d and %s" % (n, s)


@cases((3,))
def percent_of_one(n: int) -> str:
    return "n=%d" % n


@cases((2.5, 3))
def percent_float(x: float, n: int) -> str:
    return "%f %s %d%%" % (x, x, n)


@cases((2.5,), (1e10,))
def percent_exponent(x: float) -> str:
    return "%e %g" % (x, x)


@cases((255,))
def percent_hexadecimal(n: int) -> str:
    return "%x %i" % (n, n)


@cases((["a", "b"], 2))
def table(names: List[str], n: int) -> str:
    out = ""
    for i, name in enumerate(names):
        out += "{}:{};".format(i * n, name)
    return out


@cases((3,))
def print_of_call(n: int) -> int:
    print("list", [i * i for i in range(n)], "max", max(n, 2))
    return 0


@cases((5,))
def format_of_negative(n: int) -> str:
    return "{}|{}|{}".format(-n, -float(n), not n)


@cases(("{}",))
def text_with_braces_is_not_formatted(s: str) -> str:
    return "value: " + s
