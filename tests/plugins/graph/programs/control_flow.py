"""Programs with branches: nesting, variables that branches define, shadowing, conditions of other types."""

from typing import Dict, List, Tuple


@cases((5,), (-5,), (0,))
def if_elif_else(x: int) -> str:
    if x > 0:
        s = "positive"
    elif x < 0:
        s = "negative"
    else:
        s = "zero"
    return s


@cases((5,), (-5,))
def if_without_else(x: int) -> int:
    y = 0
    if x > 0:
        y = x
    return y


@cases((1, 1), (1, -1), (-1, 1), (-1, -1))
def nested(x: int, y: int) -> int:
    if x > 0:
        if y > 0:
            q = 1
        else:
            q = 4
    else:
        if y > 0:
            q = 2
        else:
            q = 3
    return q


@cases((True,), (False,))
def both_change_two_variables(c: bool) -> Tuple[int, str]:
    a, b = 0, ""
    if c:
        a = 1
        b = "yes"
    else:
        b = "no"
    return a, b


@cases((torch.tensor(1.0),), (torch.tensor(-1.0),), (torch.tensor(0.0),))
def tensor_as_condition(x):
    if x > 0:
        return x * 2
    else:
        return x - 1


@cases((torch.tensor([1.0, 2.0]),), (torch.tensor([-1.0, 0.5]),))
def condition_of_a_reduction(x):
    if x.sum() > 0:
        y = x * 10
    else:
        y = -x
    return y


@cases((torch.tensor(1.0), True), (torch.tensor(0.0), True), (torch.tensor(1.0), False))
def tensor_with_bool(x, b: bool) -> int:
    if bool(x) and b:
        return 1
    return 0


@cases((3,), (0,))
def int_as_condition(n: int) -> str:
    if n:
        return "some"
    return "zero"


@cases((0.5,), (0.0,))
def float_as_condition(x: float) -> str:
    if x:
        return "some"
    return "zero"


@cases((3,))
def variable_of_the_branch_is_seen_after(n: int) -> int:
    if n > 2:
        k = 1
    else:
        k = 2
    return k + n


@cases((3,), (1,))
def raise_in_one_branch_defines_no_variable(n: int) -> int:
    if n > 2:
        k = n * 2
    else:
        raise RuntimeError("n is small")
    return k


@cases((5,))
def parameter_is_assigned(x: int) -> int:
    x = x + 1
    if x > 3:
        x = x * 2
    return x


@cases((2,))
def name_of_a_builtin_is_shadowed(n: int) -> int:
    max = n + 1
    len = max * 2
    return max + len


@cases((2,), (0,))
def loop_variable_shadows_the_parameter(i: int) -> int:
    total = i
    for i in range(3):
        total += i
    return total * 10 + i


@cases((4,), (3,))
def pass_does_nothing(n: int) -> int:
    if n % 2 == 0:
        pass
    else:
        n += 1
    return n


@cases((1,), (2,), (3,), (9,))
def chain_of_elif(n: int) -> str:
    if n == 1:
        return "one"
    elif n == 2:
        return "two"
    elif n == 3:
        return "three"
    return "many"


@cases((5, 3), (3, 5), (4, 4))
def compared(a: int, b: int) -> int:
    return 1 if a > b else (-1 if a < b else 0)


@cases(([1, 2], 5), ([], 5))
def branch_writes_a_list(a: List[int], x: int) -> List[int]:
    if len(a) > 0:
        a[0] = x
    else:
        a.append(x)
    return a


@cases((True,), (False,))
def branch_chooses_a_list(c: bool) -> Tuple[List[int], List[int]]:
    """The chosen list is one of the two, not a copy."""
    a = [1]
    b = [2]
    chosen = a if c else b
    chosen.append(9)
    return a, b


@cases((2024,), (1900,), (2000,), (2023,))
def leap_year(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@cases((True, False), (False, False), (False, True))
def statement_of_calls(a: bool, b: bool) -> int:
    if not a:
        print("not a")
        if b:
            print("b")
    else:
        print("a")
    return 0


@cases((3, "x"), (0, ""))
def constant_conditions(n: int, s: str) -> str:
    if True:
        s += "t"
    if False:
        s += "f"
    return s + str(n)


@cases(("add", 3, 4), ("mul", 3, 4), ("pow", 3, 4))
def dispatch_by_text(op: str, a: int, b: int) -> int:
    if op == "add":
        return a + b
    elif op == "mul":
        return a * b
    else:
        return -1


@cases((15,), (3,), (5,), (7,))
def fizz_buzz(n: int) -> str:
    s = ""
    if n % 3 == 0:
        s += "Fizz"
    if n % 5 == 0:
        s += "Buzz"
    return s if s != "" else str(n)


@cases(({"a": 1}, "a"), ({}, "a"))
def membership_as_condition(d: Dict[str, int], k: str) -> int:
    if k in d:
        return d[k]
    return -1


@cases((3,))
def assert_that_holds(n: int) -> int:
    assert n > 0
    assert n < 10, "n is {}".format(n)
    return n


@cases((torch.tensor([1.0, 2.0]), True), (torch.tensor([1.0, 2.0]), False))
def branches_with_tensors(x, transpose: bool):
    y = x.unsqueeze(0)
    if transpose:
        y = y.t()
    return y + x


@cases((torch.tensor(2),))
def conditional_expression_of_tensors(x):
    return x * 2 if bool(x > 1) else x.float()


@cases((5,), (15,))
def chained_membership(n: int) -> bool:
    return n in (1, 5, 9) and n not in [2, 3]


@cases((3,))
def variable_changes_type(n: int):
    x = n
    x = "a"
    return x
