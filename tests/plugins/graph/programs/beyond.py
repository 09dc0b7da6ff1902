"""Programs that torch.jit.script refuses, or cannot run, though they have a clear meaning: that of plain Python."""

import math
from typing import Dict, List, Optional, Tuple

SCALE = 3
RATIO = 0.5
NAME = "constant"
SIZES = (2, 3)
UNITS = ["m", "s"]


@cases((2.5,), (-3.0,))
def unary_plus(x: float) -> float:
    return +x


@cases((12,), (-1,))
def inverted_bits(n: int) -> int:
    return ~n


@cases((1 + 2j,), (-3j,))
def complex_parts(a: complex) -> Tuple[float, float]:
    return a.real, a.imag


@cases((1 + 0j,), (0j,))
def complex_to_bool(a: complex) -> bool:
    return bool(a)


@cases((17, 5), (-17, 5))
def augmented_floor_division(a: int, b: int) -> int:
    a //= b
    return a


@cases((8.0,))
def more_of_math(x: float) -> Tuple[float, int, float]:
    return math.log2(x), math.trunc(-x / 3), math.hypot(x, 6.0)


@cases(("ab", 3), ("ab", 0), ("ab", -1))
def text_repeated(s: str, n: int) -> str:
    return s * n


@cases(({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"a": 1}, {"a": 2}))
def equal_dictionaries(d: Dict[str, int], e: Dict[str, int]) -> bool:
    return d == e


@cases((1, 2), (2, 1), (1, 1))
def order_of_tuples(a: int, b: int) -> bool:
    return (a, b) < (b, a)


@cases(([1, 2, 3],), ([],))
def slice_of_a_list_assigned(a: List[int]) -> List[int]:
    a[0:2] = [7, 8, 9]
    return a


@cases(([1, 2, 3, 4],))
def slice_of_a_list_deleted(a: List[int]) -> List[int]:
    del a[1:3]
    return a


@cases((3,), (30,))
def only_return_is_in_while_true(n: int) -> int:
    i = 0
    while True:
        i += 7
        if i > n:
            return i


@cases(([1, 2, 3, 4],), ([1],))
def comprehension_with_a_condition(a: List[int]) -> List[int]:
    return [x * 10 for x in a if x % 2 == 0]


@cases(([[1, 2], [3]],))
def comprehension_of_two_loops(a: List[List[int]]) -> List[int]:
    return [x for row in a for x in row]


@cases((4,))
def dictionary_comprehension_with_a_condition(n: int) -> Dict[int, int]:
    return {i: i * i for i in range(n) if i != 2}


def _appended(x: int, a: List[int] = [1, 2]) -> List[int]:
    return a + [x]


@cases((5,))
def default_is_a_list(x: int) -> Tuple[List[int], List[int]]:
    return _appended(x), _appended(x, [7])


@cases((4,))
def constants_of_the_file(x: int) -> Tuple[float, str]:
    return x * SCALE * RATIO, NAME


@cases((3,))
def containers_of_the_file(n: int) -> Tuple[int, str]:
    total = 0
    for size in SIZES:
        total += size * n
    return total + SIZES[0], UNITS[1]


@cases((5,), (-5,))
def for_else(n: int) -> int:
    for i in range(3):
        if i == n:
            break
    else:
        return -1
    return i


@cases((5,))
def while_else(n: int) -> int:
    while n > 2:
        n -= 1
    else:
        n += 100
    return n


@cases(([1, 2, 3, 4],))
def starred_from_a_list(a: List[int]) -> Tuple[int, List[int], int]:
    first, *middle, last = a
    return first, middle, last


@cases((7,), (3,))
def assignment_expression(n: int) -> int:
    if (m := n * 2) > 10:
        return m
    return -m


@cases((2.5, 255))
def formats_with_specifications(x: float, n: int) -> str:
    return f"{x:.3f} {x:8.2e} {n:04x} {n:>6}|{'s':<3}|{n:+d}"


@cases((2.5, "a'b"))
def formats_with_conversion(x: float, s: str) -> str:
    return f"{s!r} {x!s} {_n_of(s)=}"


def _n_of(s: str) -> int:
    return len(s)


@cases((255, 2.5))
def percent_of_other_kinds(n: int, x: float) -> str:
    return "%x %5d %-5d| %05.1f %g" % (n, n, n, x, x)


@cases((1, 2))
def format_with_names(a: int, b: int) -> str:
    return "{a} {b} {a}".format(a=a, b=b)


@cases((["b", "aa", "c"],))
def sort_by_key(a: List[str]) -> List[str]:
    return sorted(a, key=len)


@cases(([3, 1, 2],))
def reversed_of_a_list(a: List[int]) -> List[int]:
    return list(reversed(a))


@cases((5,))
def function_inside(n: int) -> int:
    def inner(k: int) -> int:
        return k * 2

    return inner(n) + 1


@cases((5,))
def lambda_inside(n: int) -> int:
    twice = lambda k: k * 2  # noqa: E731
    return twice(n)


@cases((1, 2, 3))
def variable_arguments(a: int, b: int, c: int) -> int:
    return _total(a, b, c)


def _total(*values: int) -> int:
    total = 0
    for v in values:
        total += v
    return total


@cases(([1, 2, 3],))
def list_unpacked_into_arguments(a: List[int]) -> int:
    return _three(*a)


def _three(a: int, b: int, c: int) -> int:
    return a * 100 + b * 10 + c


@cases((2, "x"), (-2, "x"))
def keyword_only(n: int, s: str) -> str:
    return _marked(s, times=abs(n))


def _marked(s: str, *, times: int = 1) -> str:
    out = ""
    for _ in range(times):
        out += s
    return out


@cases(([1, 2],))
def star_in_a_list(a: List[int]) -> List[int]:
    return [0, *a, 9]


@cases((2,))
def set_in_a_test(n: int) -> bool:
    return n in {1, 2, 3}


@cases((3,), (1,))
def match_statement(n: int) -> str:
    match n:
        case 1:
            return "one"
        case _:
            return "other"


@cases((torch.tensor([1.5, 0.0]),))
def more_methods_of_tensors(x):
    return x.bool(), torch.is_tensor(x), x.dtype.is_floating_point


@cases((torch.arange(8).view(2, 2, 2), torch.tensor([0, 1])))
def more_indexing(x, i):
    return x[...], x[..., i], x[i, ..., 0]


@cases((torch.tensor([7.0, -7.0]), torch.tensor([7.0, -7.0])))
def more_augmented_of_tensors(x, y):
    x //= 4
    y **= 2
    return x, y


class Note:
    def __init__(self, text: str, important: bool):
        self.text = text
        self.at: Optional[int] = None
        if important:
            self.mark = "!"
        else:
            self.mark = "."

    @staticmethod
    def joined(a: str, b: str) -> str:
        return a + b

    def full(self) -> str:
        return self.joined(self.text, self.mark)

    def __str__(self) -> str:
        return "Note(" + self.text + ")"


class Warned(Note):
    def full(self) -> str:
        return "warning: " + super().full()


class Child(Note):
    pass


@cases(("a", True), ("a", False))
def attribute_first_set_in_a_branch(text: str, important: bool) -> str:
    return Note(text, important).full()


@cases((3,))
def annotated_optional_attribute(n: int) -> int:
    note = Note("a", True)
    note.at = n
    at = note.at
    return at if at is not None else -1


@cases(("a",))
def inherited_method(text: str) -> str:
    return Child(text, True).full() + Child(text, False).text


@cases(("a",))
def overridden_method_calls_super(text: str) -> str:
    return Warned(text, True).full()


@cases(("a",))
def text_of_an_instance(text: str) -> str:
    return str(Note(text, True))


class Base(torch.nn.Module):
    def __init__(self, k: float):
        super().__init__()
        self.k = k

    def scaled(self, x):
        return x * self.k

    def forward(self, x):
        return self.scaled(x)


@cases((torch.ones(2),), init=(3.0,))
class ModuleCallsSuper(Base):
    def forward(self, x):
        return super().forward(x) + 1


@cases((torch.tensor([2.0]),))
class NamedParametersOfIt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.ones(2))
        self.b = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        names: List[str] = []
        for name, p in self.named_parameters():
            names.append(name)
            x = x + p.sum()
        return names, x


@cases((torch.tensor([1.0, -2.0]),))
class LoopsOverASliceOfAModuleList(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Tanh(), torch.nn.ReLU(), torch.nn.Identity()])

    def forward(self, x):
        for layer in self.layers[1:]:
            x = layer(x + 1)
        return x


@cases((3,))
def comment_on_a_variable(n: int) -> List[int]:
    a = []  # type: List[int]
    a.append(n)
    return a
