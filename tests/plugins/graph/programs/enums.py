"""Programs with enumerations: members, comparison, values, iteration, arguments."""

from enum import Enum
from typing import Dict, List, Tuple


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Mode(Enum):
    TRAIN = "train"
    EVAL = "eval"


class Step(Enum):
    SMALL = 0.5
    LARGE = 2.0


@cases((Color.RED,), (Color.BLUE,))
def compared(c: Color) -> Tuple[bool, bool]:
    return c == Color.RED, c != Color.RED


@cases((Color.RED,), (Color.GREEN,))
def compared_by_is(c: Color) -> Tuple[bool, bool]:
    return c is Color.RED, c is not Color.RED


@cases((Color.GREEN,))
def value_and_name(c: Color) -> Tuple[int, str]:
    return c.value, c.name


@cases((Mode.EVAL,))
def value_of_text(m: Mode) -> str:
    return m.value + "/" + m.name


@cases((3.0, Step.SMALL), (3.0, Step.LARGE))
def value_of_float(x: float, s: Step) -> float:
    return x * s.value


@cases((Color.RED,), (Color.GREEN,), (Color.BLUE,))
def chain_of_branches(c: Color) -> str:
    if c == Color.RED:
        return "r"
    elif c == Color.GREEN:
        return "g"
    else:
        return "b"


@cases((True,), (False,))
def returned(c: bool) -> Color:
    return Color.RED if c else Color.BLUE


@cases()
def member_without_a_variable() -> int:
    return Color.BLUE.value + len(Mode.TRAIN.name)


@cases()
def loop_over_members() -> List[int]:
    out: List[int] = []
    for c in Color:
        out.append(c.value)
    return out


@cases(([Color.RED, Color.BLUE, Color.RED],))
def list_of_members(a: List[Color]) -> int:
    n = 0
    for c in a:
        if c == Color.RED:
            n += 1
    return n


@cases((Color.RED,))
def member_in_a_variable(c: Color) -> Color:
    for _ in range(2):
        if c == Color.RED:
            c = Color.GREEN
        else:
            c = Color.BLUE
    return c


@cases((torch.tensor([1.0, -1.0]), Mode.TRAIN), (torch.tensor([1.0, -1.0]), Mode.EVAL))
def chooses_a_computation(x, mode: Mode):
    if mode == Mode.TRAIN:
        return x * 2
    return x.relu()


def _code(m: Mode) -> int:
    return 1 if m is Mode.TRAIN else 2


@cases((Mode.EVAL,))
def argument_of_a_call(m: Mode) -> int:
    return _code(m) * 10 + _code(Mode.TRAIN)


class Machine:
    def __init__(self):
        self.mode = Mode.TRAIN

    def toggle(self) -> None:
        self.mode = Mode.EVAL if self.mode == Mode.TRAIN else Mode.TRAIN


@cases((1,), (2,))
def attribute_of_a_class(n: int) -> Mode:
    m = Machine()
    for _ in range(n):
        m.toggle()
    return m.mode


@cases(({"a": Color.RED},))
def values_of_a_dictionary(d: Dict[str, Color]) -> Dict[str, Color]:
    d["b"] = Color.GREEN
    return d
