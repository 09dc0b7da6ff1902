"""Modules that test_node.py saves, and that programs in JavaScript call."""

from typing import NamedTuple

import lamella


class Classifier(lamella.nn.Module):
    """A small network with the shapes of the talk's: an image of 224 by 224 gives 1000 numbers."""

    def __init__(self):
        super().__init__()
        self.first = lamella.nn.Conv2d(3, 8, 7, stride=8)
        self.second = lamella.nn.Conv2d(8, 16, 3, stride=2)
        self.last = lamella.nn.Linear(16, 1000)

    def forward(self, x):
        x = self.second(self.first(x).relu()).relu()
        return self.last(x.mean((2, 3)))


class Flow(lamella.nn.Module):
    """Two entry points, one the inverse of the other."""

    def __init__(self):
        super().__init__()
        self.scale = lamella.nn.Parameter(lamella.tensor([2.0, 4.0]))

    def forward(self, x):
        return x * self.scale + 1

    @lamella.jit.export
    def inverse(self, y):
        return (y - 1) / self.scale


class Slow(lamella.nn.Module):
    """Runs as many operators as it is asked for."""

    def forward(self, x, n: int):
        for _ in range(n):
            x = x * 1.0
        return x


class Scaled(lamella.nn.Module):
    """A small call with a fresh result of the size of its input."""

    def forward(self, x):
        return x * 2


class Pair(NamedTuple):
    left: int
    right: str


@lamella.jit.script
class Point:
    def __init__(self, x: int, name: str):
        self.x = x
        self.name = name


class Values(lamella.nn.Module):
    """Methods that take and return values of every type that JavaScript has something for."""

    def forward(self, x):
        return x

    @lamella.jit.export
    def integer(self, n: int) -> int:
        return n + 1

    @lamella.jit.export
    def floating(self, x: float) -> float:
        return x / 2

    @lamella.jit.export
    def boolean(self, b: bool) -> bool:
        return not b

    @lamella.jit.export
    def texts(self, s: str) -> str:
        return s.upper() + "é€𝄞"

    @lamella.jit.export
    def complexes(self, z: complex) -> complex:
        return z * 1j

    @lamella.jit.export
    def numbers(self, all: list[int]) -> list[int]:
        return [x * x for x in all]

    @lamella.jit.export
    def floats(self, all: list[float]) -> list[float]:
        return [x + 0.5 for x in all]

    @lamella.jit.export
    def tuples(self, pair: tuple[int, str], more: list[list[float]]) -> tuple[str, list[float], int]:
        return pair[1], more[0], pair[0]

    @lamella.jit.export
    def counts(self, words: list[str]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        return counts

    @lamella.jit.export
    def table(self, sizes: dict[str, float]) -> dict[int, str]:
        found: dict[int, str] = {}
        for name, size in sizes.items():
            found[int(size)] = name
        return found

    @lamella.jit.export
    def keys(self, names: dict[int, str]) -> list[str]:
        return [names[k] + str(k) for k in names]

    @lamella.jit.export
    def optional(self, n: int | None = None) -> int | None:
        if n is None:
            return None
        return n * 2

    @lamella.jit.export
    def default(self, a: int, b: int = 10) -> int:
        return a * b

    @lamella.jit.export
    def pair(self, n: int) -> Pair:
        return Pair(n, str(n))

    @lamella.jit.export
    def point(self, n: int) -> Point:
        return Point(n, str(n))

    @lamella.jit.export
    def large(self, n: int) -> int:
        return n + 0

    @lamella.jit.export
    def tensors(self, all: list[lamella.Tensor], by: dict[str, lamella.Tensor]) -> dict[str, lamella.Tensor]:
        return {"sum": all[0] + all[1], "product": all[0] * by["factor"]}

    @lamella.jit.export
    def dtype_of(self, x) -> lamella.dtype:
        return x.dtype

    @lamella.jit.export
    def transposed(self, x):
        return x.t()

    @lamella.jit.export
    def refused(self, n: int) -> int:
        if n > 0:
            raise ValueError(f"{n} is too many")
        return n

    @lamella.jit.export
    def element(self, all: list[int], i: int) -> int:
        return all[i]
