"""Sizes that depend on dynamic axes: polynomials, and the fit that finds them from the integers of several runs.

The module runs at several sizes of each dynamic axis. An integer that is the same in all runs is a constant; one that
follows the sizes of the axes is a `Size`; one that is the size of a recorded tensor is a `Size` of that tensor's
dimension, which is a symbol of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Monomial = tuple[str, ...]  # the names of its symbols, sorted; one that is squared twice


class Size:
    """A polynomial in symbols, each of which is the size of a tensor's dimension.

    Sums, differences and products with numbers and other sizes are sizes. Anything else that needs its value raises
    TypeError, since it has none before the graph runs.
    """

    def __init__(self, terms: dict[Monomial, Fraction]):
        self.terms = {m: c for m, c in terms.items() if c}

    @staticmethod
    def symbol(name: str) -> Size:
        return Size({(name,): Fraction(1)})

    @staticmethod
    def of(value: Any) -> Size:
        return value if isinstance(value, Size) else Size({(): Fraction(value)})

    def __add__(self, other: Any) -> Size:
        terms = dict(self.terms)
        for m, c in Size.of(other).terms.items():
            terms[m] = terms.get(m, Fraction(0)) + c
        return Size(terms)

    def __mul__(self, other: Any) -> Size:
        terms: dict[Monomial, Fraction] = {}
        for m, c in self.terms.items():
            for n, d in Size.of(other).terms.items():
                product = tuple(sorted(m + n))
                terms[product] = terms.get(product, Fraction(0)) + c * d
        return Size(terms)

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: Any) -> Size:
        return self + -Size.of(other)

    def __rsub__(self, other: Any) -> Size:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def at(self, sizes: dict[str, int]) -> Fraction:
        """Returns its value for sizes of its symbols."""
        total = Fraction(0)
        for monomial, c in self.terms.items():
            for name in monomial:
                c *= sizes[name]
            total += c
        return total

    @property
    def name(self) -> str | None:
        """The name of the symbol if the size is one symbol, else None."""
        ((monomial, c), *more) = [*self.terms.items(), ((), 0)]
        return monomial[0] if len(more) == 1 and c == 1 and len(monomial) == 1 else None

    def __repr__(self) -> str:
        words = []
        for monomial, c in sorted(self.terms.items(), reverse=True):
            words.append("*".join([*([] if c == 1 and monomial else [str(c)]), *monomial]))
        return " + ".join(words)

    def __index__(self) -> int:
        raise TypeError(f"it needs the value of {self!r}, which is known when the graph runs")

    __int__ = __float__ = __index__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Size) and self.terms == other.terms


class Source(NamedTuple):
    """The dimension of a tensor that a symbol is the size of; ``value`` is the number of the recorded value."""

    value: int
    dim: int


class Fit:
    """Finds the size that the integers of several runs stand for. ``runs`` has the sizes of the axes in each run.

    The first run is the one that is written. For each axis there are two runs that change it alone; if there are
    several axes, the last run changes all of them.
    """

    def __init__(self, runs: list[dict[str, int]]):
        self.runs = runs
        self.sources: dict[str, Source] = {}
        self.known: dict[tuple[int, ...], Size] = {}

    def find(self, values: Sequence[int]) -> Size | int | None:
        """Returns the number if all runs have the same one; the size that the numbers are; None if there is none."""
        values = tuple(values)
        if all(v == values[0] for v in values):
            return values[0]
        if values not in self.known and (found := self._polynomial(values)):
            self.known[values] = found
        return self.known.get(values)

    def dimension(self, values: Sequence[int], source: Source) -> Size | int:
        """Returns the size of a tensor's dimension, as a symbol of its own if it follows from none that are known."""
        found = self.find(values)
        if found is None:
            name = f"size_{source.value}_{source.dim}"
            self.sources[name] = source
            found = self.known[tuple(values)] = Size.symbol(name)
        return found

    def _polynomial(self, values: tuple[int, ...]) -> Size | None:
        """Returns what fits all runs: the sum or the product of functions of one axis each, which are linear with a
        constant; or such a product with one more or less, as the number of elements less one."""
        fits = (
            f for f in self._candidates(values) if all(f.at(r) == v for r, v in zip(self.runs, values, strict=True))
        )
        return next(fits, None)

    def _candidates(self, values: tuple[int, ...]) -> Iterator[Size]:
        base = self.runs[0]
        linear = []  # for each axis that the number follows: its change from the base
        for axis, size in base.items():
            changed = [i for i, run in enumerate(self.runs) if [a for a in base if run[a] != base[a]] == [axis]]
            i = next((i for i in changed if values[i] != values[0]), None)
            if i is not None:
                slope = Fraction(values[i] - values[0], self.runs[i][axis] - size)
                linear.append((Size.symbol(axis) - size) * slope)
        yield sum(linear, Size.of(values[0]))
        for more in (0, -1, 1) if len(linear) > 1 else ():
            product = Size.of(values[0] - more)
            if product.terms:
                for change in linear:
                    product = product * (change * Fraction(1, values[0] - more) + 1)
                yield product + more
