"""Programs with classes: attributes, methods, operators, aliases, instances in instances."""

from typing import Dict, List, Optional, Tuple


class Pair:
    def __init__(self, x: int, y: int):
        self.x = x
        self.y = y

    def total(self) -> int:
        return self.x + self.y

    def moved(self, dx: int, dy: int = 0) -> "Pair":
        return Pair(self.x + dx, self.y + dy)

    def move(self, dx: int) -> None:
        self.x += dx

    def swap(self):
        self.x, self.y = self.y, self.x


@cases((3, 4))
def made_and_read(a: int, b: int) -> int:
    p = Pair(a, b)
    return p.x * 10 + p.y


@cases((3, 4))
def method(a: int, b: int) -> int:
    return Pair(a, b).total()


@cases((3, 4))
def method_makes_another(a: int, b: int) -> Tuple[int, int, int]:
    p = Pair(a, b)
    q = p.moved(10)
    r = p.moved(dx=1, dy=100)
    return p.total(), q.total(), r.total()


@cases((3, 4))
def method_changes_it(a: int, b: int) -> Tuple[int, int]:
    p = Pair(a, b)
    p.move(5)
    p.swap()
    return p.x, p.y


@cases((3, 4))
def attribute_assigned(a: int, b: int) -> int:
    p = Pair(a, b)
    p.x = 100
    p.y += 1
    p.y *= 2
    return p.total()


@cases((3, 4))
def two_names_of_one_instance(a: int, b: int) -> Tuple[int, int]:
    p = Pair(a, b)
    q = p
    q.x = 50
    return p.x, p.total()


def _shifts(p: Pair, n: int) -> None:
    for _ in range(n):
        p.move(1)


@cases((3,))
def instance_as_argument(n: int) -> int:
    p = Pair(0, 0)
    _shifts(p, n)
    _shifts(p, 1)
    return p.x


def _makes(n: int) -> Pair:
    return Pair(n, n * n)


@cases((3,))
def instance_as_result(n: int) -> int:
    return _makes(n).y + _makes(n + 1).x


@cases((4,))
def list_of_instances(n: int) -> int:
    pairs = [Pair(i, i) for i in range(n)]
    pairs[0].move(100)
    total = 0
    for p in pairs:
        total += p.total()
    return total


@cases((4,))
def dictionary_of_instances(n: int) -> int:
    d: Dict[str, Pair] = {}
    d["a"] = Pair(n, 1)
    d["a"].swap()
    return d["a"].x * 10 + len(d)


@cases((1,), (0,))
def instance_or_none(n: int) -> int:
    p: Optional[Pair] = None
    if n > 0:
        p = Pair(n, n)
    if p is None:
        return -1
    return p.total()


@cases((2, True), (2, False))
def instance_chosen_by_branch(n: int, c: bool) -> Tuple[int, int]:
    p, q = Pair(n, 0), Pair(0, n)
    r = p if c else q
    r.move(7)
    return p.x, q.x


class Bag:
    def __init__(self, items: List[int]):
        self.items = items
        self.counts: Dict[str, int] = {}
        self.last = torch.jit.annotate(Optional[int], None)

    def add(self, item: int) -> "Bag":
        self.items.append(item)
        self.last = item
        self.counts[str(item)] = self.counts.get(str(item), 0) + 1
        return self

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> int:
        return self.items[i]

    def __setitem__(self, i: int, item: int) -> None:
        self.items[i] = item

    def __contains__(self, item: int) -> bool:
        return item in self.items


@cases(([1, 2],))
def alias_of_a_list_through_an_attribute(a: List[int]) -> Tuple[List[int], List[int], int]:
    b = Bag(a)
    a.append(3)
    b.items.append(4)
    c = b.items
    c[0] = 100
    return a, b.items, len(c)


@cases(([1],))
def methods_in_a_chain(a: List[int]) -> Tuple[List[int], Dict[str, int]]:
    b = Bag(a)
    b.add(5).add(6).add(5)
    return b.items, b.counts


@cases(([1, 2, 3],))
def special_methods(a: List[int]) -> Tuple[int, int, bool, bool]:
    b = Bag(a)
    b[1] = 20
    return len(b), b[1] + b[-1], 20 in b, 2 in b


@cases(([1],), ([],))
def optional_attribute(a: List[int]) -> int:
    b = Bag(a)
    if len(a) > 0:
        b.add(a[0] + 1)
    last = b.last
    if last is not None:
        return last
    return -1


@cases(([1, 2],))
def augmented_on_a_list_attribute(a: List[int]) -> List[int]:
    b = Bag(a)
    b.items += [9]
    b.items[0] += 5
    return a


class Vector:
    def __init__(self, x: float, y: float):
        self.x = x
        self.y = y

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other: "Vector") -> "Vector":
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, k: float) -> "Vector":
        return Vector(self.x * k, self.y * k)

    def __neg__(self) -> "Vector":
        return Vector(-self.x, -self.y)

    def __eq__(self, other: "Vector") -> bool:
        return self.x == other.x and self.y == other.y

    def __lt__(self, other: "Vector") -> bool:
        return self.x < other.x

    def __call__(self, k: int) -> float:
        return self.x if k == 0 else self.y

    def pair(self) -> Tuple[float, float]:
        return self.x, self.y


@cases((1.0, 2.0))
def operators(a: float, b: float) -> Tuple[float, float]:
    v = Vector(a, b) + Vector(10.0, 20.0) * 2.0 - Vector(b, a)
    return v.pair()


@cases((1.0, 2.0))
def unary_operator(a: float, b: float) -> Tuple[float, float]:
    return (-Vector(a, b)).pair()


@cases((1.0, 2.0), (2.0, 2.0))
def comparison_operators(a: float, b: float) -> Tuple[bool, bool]:
    return Vector(a, b) == Vector(b, b), Vector(a, 0.0) < Vector(b, 0.0)


@cases((1.0, 2.0))
def call_operator(a: float, b: float) -> Tuple[float, float]:
    v = Vector(a, b)
    return v(0), v(1)


class Line:
    def __init__(self, start: Vector, end: Vector):
        self.start = start
        self.end = end

    def middle(self) -> Vector:
        return (self.start + self.end) * 0.5


@cases((4.0,))
def instance_in_an_instance(a: float) -> Tuple[float, float]:
    line = Line(Vector(0.0, 0.0), Vector(a, 2.0))
    line.end.x += 2.0
    return line.middle().pair()


@cases((4.0,))
def instance_shared_by_two(a: float) -> float:
    v = Vector(a, a)
    first, second = Line(v, v), Line(v, Vector(0.0, 0.0))
    first.start.x = 100.0
    return second.start.x + first.end.x


class Accumulator:
    total: torch.Tensor

    def __init__(self, size: int):
        self.total = torch.zeros(size)
        self.steps = 0

    def add(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        self.steps += 1
        return self.total / self.steps


@cases((torch.tensor([1.0, 2.0]),))
def tensor_attribute(x):
    a = Accumulator(2)
    a.add(x)
    a.add(x * 2)
    mean = a.add(x * 3)
    return mean, a.total, a.steps


@cases((torch.tensor([1.0, 2.0]),))
def tensor_attribute_is_the_same_tensor(x):
    a = Accumulator(2)
    y = a.total
    a.add(x)
    return y, a.total


class Tools:
    @staticmethod
    def double(n: int) -> int:
        return n * 2

    def __init__(self):
        self.k = 3

    def run(self, n: int) -> int:
        return Tools.double(n) + Tools.double(self.k)


@cases((5,))
def static_method(n: int) -> int:
    return Tools().run(n) + Tools.double(1)


class Celsius:
    def __init__(self, degrees: float):
        self.degrees = degrees

    @property
    def fahrenheit(self) -> float:
        return self.degrees * 1.8 + 32.0


@cases((100.0,), (-40.0,))
def property_is_computed(d: float) -> float:
    return Celsius(d).fahrenheit


class Stack:
    """A stack of texts."""

    def __init__(self):
        self.items: List[str] = []

    def push(self, s: str) -> None:
        self.items.append(s)

    def pop(self) -> str:
        if len(self.items) == 0:
            raise IndexError("the stack is empty")
        return self.items.pop()

    def is_empty(self) -> bool:
        return len(self.items) == 0


@cases((["a", "b", "c"],), ([],))
def stack_reverses(a: List[str]) -> List[str]:
    s = Stack()
    for x in a:
        s.push(x)
    out: List[str] = []
    while not s.is_empty():
        out.append(s.pop())
    return out


@cases((1,), (2,))
def method_raises(n: int) -> str:
    s = Stack()
    s.push("x")
    out = ""
    for _ in range(n):
        out += s.pop()
    return out


class Switch:
    def __init__(self, on: bool):
        self.on = on
        self.name = "off"
        if on:
            self.name = "on"

    def flip(self) -> bool:
        self.on = not self.on
        return self.on


@cases((True,), (False,))
def constructor_with_a_branch(on: bool) -> Tuple[str, bool, bool]:
    s = Switch(on)
    return s.name, s.flip(), s.flip()


class Defaults:
    def __init__(self, a: int, b: float = 0.5, c: str = "c"):
        self.text = c + str(a)
        self.b = b


@cases((1,))
def constructor_with_defaults(a: int) -> Tuple[str, str, float]:
    return Defaults(a).text, Defaults(a, c="z").text, Defaults(a, 2.0).b


@cases((3, 4), (4, 4))
def identity(a: int, b: int) -> Tuple[bool, bool]:
    p = Pair(a, b)
    q = p
    return p is q, p is not Pair(a, b)
