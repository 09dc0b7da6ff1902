"""Programs that jit.script must refuse, or fail to run: they have no type, or no meaning in a scripted program."""

from typing import Dict, List, Optional, Tuple

COUNT = 0


@cases((3,))
def yields(n: int):
    for i in range(n):
        yield i


@cases((3,))
def tries(n: int) -> int:
    try:
        return 10 // n
    except ZeroDivisionError:
        return 0


@cases((3,))
def makes_a_set(n: int) -> int:
    s = {1, 2, n}
    return len(s)


@cases((3,))
def writes_a_global(n: int) -> int:
    global COUNT
    COUNT = n
    return COUNT


@cases((3,))
def unannotated_is_a_tensor(n):
    """An argument without annotation is a tensor, which a list of ints does not take."""
    out: List[int] = []
    for i in [n]:
        out.append(i)
    return out


@cases((3,))
def mixed_dictionary_keys(n: int):
    return {1: n, "a": n}


@cases((True,))
def branches_of_other_types(c: bool):
    if c:
        x = 1
    else:
        x = "a"
    return x


@cases((True,))
def returns_of_other_types(c: bool):
    if c:
        return 1
    return "a"


@cases((True,))
def undefined_on_one_path(c: bool) -> int:
    if c:
        x = 1
    return x


@cases((3,))
def undefined_after_a_loop(n: int) -> int:
    for i in range(n):
        y = i
    return y


@cases((3,))
def undefined_name(n: int) -> int:
    return n + unknown_name  # noqa: F821


@cases((3,))
def used_before_its_definition(n: int) -> int:
    y = later + n
    later = 3
    return y


@cases((3,))
def optional_without_refinement(x: Optional[int]) -> int:
    return x + 1


@cases((torch.ones(1),))
def optional_tensor_without_refinement(x: Optional[torch.Tensor]):
    return x.sum()


def _two(a: int, b: int) -> int:
    return a + b


@cases((3,))
def too_few_arguments(n: int) -> int:
    return _two(n)


@cases((3,))
def too_many_arguments(n: int) -> int:
    return _two(n, n, n)


@cases((3,))
def unknown_keyword(n: int) -> int:
    return _two(n, c=n)


@cases((3,))
def argument_given_twice(n: int) -> int:
    return _two(n, a=n)


@cases(("x",))
def argument_of_another_type(s: str) -> int:
    return _two(s, 1)


@cases((2.5,))
def float_given_for_int(x: float) -> int:
    return _two(x, 1)


@cases((torch.ones(2),))
def unknown_operator(x):
    return torch.no_such_operator(x)


@cases((torch.ones(2),))
def unknown_method(x):
    return x.no_such_method()


@cases((torch.ones(2),))
def unknown_keyword_of_an_operator(x):
    return x.sum(no_such_keyword=1)


@cases((torch.ones(2),))
def operator_with_a_text(x):
    return torch.relu("x")


@cases((3,))
def result_of_another_type(n: int) -> str:
    return n


@cases((3,))
def missing_return(n: int) -> int:
    if n > 3:
        return n


@cases((3,))
def loop_changes_the_type(n: int):
    x = 0
    for i in range(n):
        x = 0.5
    return x


@cases((3,))
def list_of_another_type_than_annotated(n: int) -> List[int]:
    a: List[int] = ["x"]
    return a


@cases((3,))
def appends_another_type(n: int) -> List[int]:
    a = [n]
    a.append("x")
    return a


@cases(("a", 1))
def adds_text_and_int(s: str, n: int) -> str:
    return s + n


@cases((3,))
def iterates_over_an_int(n: int) -> int:
    total = 0
    for i in n:
        total += i
    return total


@cases((3,))
def calls_an_int(n: int) -> int:
    return n(1)


@cases((3,))
def indexes_an_int(n: int) -> int:
    return n[0]


@cases(((1, "a"), 1))
def indexes_a_mixed_tuple_by_a_variable(t: Tuple[int, str], i: int):
    return t[i]


@cases(((1, 2),))
def tuple_index_is_out_of_range(t: Tuple[int, int]) -> int:
    return t[2]


@cases(((1, 2, 3),))
def unpacks_too_few(t: Tuple[int, int, int]) -> int:
    a, b = t
    return a + b


@cases(((1, 2),))
def unpacks_too_many(t: Tuple[int, int]) -> int:
    a, b, c = t
    return a + b + c


@cases(((1, 2),))
def assigns_to_a_tuple_element(t: Tuple[int, int]) -> Tuple[int, int]:
    t[0] = 5
    return t


@cases(("abc",))
def assigns_to_a_character(s: str) -> str:
    s[0] = "x"
    return s


@cases(({"a": 1}, 3))
def key_of_another_type(d: Dict[str, int], n: int) -> int:
    return d[n]


@cases(([[1]],))
def key_is_a_list(a: List[List[int]]) -> int:
    d = {a[0]: 1}
    return len(d)


@cases((3,))
def imports(n: int) -> int:
    import math

    return math.floor(n)


@cases((3,))
def defines_a_class(n: int) -> int:
    class Inner:
        pass

    return n


@cases((3,))
async def is_async(n: int) -> int:
    return n


@cases((3,))
def deletes_a_name_then_uses_it(n: int) -> int:
    m = n
    del m
    return m


@cases((3,))
def runs_text(n: int) -> int:
    exec("n = 4")
    return n


@cases(("x",))
def evaluates_text(s: str) -> int:
    return eval(s)


@cases((3,))
def opens_a_file(n: int) -> int:
    f = open("no such file")
    return n


class Plain:
    def __init__(self, x: int):
        self.x = x

    def get(self) -> int:
        return self.x


@cases((3,))
def unknown_attribute(n: int) -> int:
    return Plain(n).y


@cases((3,))
def new_attribute(n: int) -> int:
    p = Plain(n)
    p.z = 5
    return p.z


@cases((3,))
def attribute_of_another_type(n: int) -> int:
    p = Plain(n)
    p.x = "text"
    return p.x


@cases((3,))
def unknown_method_of_a_class(n: int) -> int:
    return Plain(n).missing()


@cases((3,))
def constructor_with_too_few(n: int) -> int:
    return Plain().get()


@cases((3,))
def method_with_too_many(n: int) -> int:
    return Plain(n).get(1)


@cases((torch.ones(1),))
class ModuleWithUnknownAttribute(torch.nn.Module):
    def forward(self, x):
        return x * self.missing


@cases((torch.ones(1),))
class ModuleThatAddsAnAttribute(torch.nn.Module):
    def forward(self, x):
        self.added = x
        return self.added


@cases((torch.ones(1),))
class ModuleThatReplacesASubmodule(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = torch.nn.ReLU()

    def forward(self, x):
        self.part = torch.nn.Tanh()
        return self.part(x)


@cases((torch.ones(1), 1))
class ModuleIndexedByAVariable(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()])

    def forward(self, x, i: int):
        return self.parts[i](x)


@cases((3,))
def raises_a_number(n: int) -> int:
    raise 5


@cases((3,))
def compares_text_and_int(n: int) -> bool:
    return "a" < n


@cases(([1],))
def unknown_method_of_a_list(a: List[int]) -> int:
    return a.first()


@cases((3,))
def annotation_without_a_type(n: "no_such_type") -> int:  # noqa: F821
    return 1


@cases((3,))
def slices_an_int(n: int) -> int:
    return n[1:2]


@cases((3,))
def conditional_of_other_types(n: int):
    return 1 if n > 2 else "a"


@cases((3,))
def keyword_arguments(n: int) -> int:
    return _keywords(a=n)


def _keywords(**values: int) -> int:
    return 1
