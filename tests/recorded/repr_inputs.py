"""Tensors that torch and Lamella print for a comparison: one table of arrays, dtypes and options for both."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

INF, NAN = float("inf"), float("nan")


@dataclass(frozen=True)
class Case:
    """A tensor to print: an array, perhaps in another dtype or on another device, under print options."""

    name: str
    array: np.ndarray
    dtype: str | None = None
    device: str | None = None
    options: dict = field(default_factory=dict)
    then: Callable | None = None  # changes the tensor before it is printed
    needs: str | None = None  # name of a required plugin

    def text(self, framework):
        """Returns the framework's repr; `framework` is a module with torch's names."""
        t = framework.tensor(self.array)
        if self.dtype:
            t = t.to(getattr(framework, self.dtype))
        if self.device:
            t = t.to(self.device)
        if self.then:
            t = self.then(t)
        framework.set_printoptions(profile="default")
        framework.set_printoptions(**self.options)
        try:
            return repr(t)
        finally:
            framework.set_printoptions(profile="default")


def normal(shape, scale=1.0, seed=0):
    """Returns random float32 numbers; RandomState's stream never changes."""
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype(np.float32)


def whole(shape, low=-50, high=1000, seed=0):
    """Returns random int64 numbers."""
    return np.random.RandomState(seed).randint(low, high, shape).astype(np.int64)


def f32(*values):
    return np.array(values, np.float32)


FLOATS = {
    "zeros": f32(0, 0, 0),
    "minus zero": f32(-0.0, 0.0),
    "minus zero among fractions": f32(-0.0, 1.5),
    "whole": f32(1, 2, 3),
    "whole of several widths": f32(-10, 200, 3),
    "halves": f32(0.5, -1.5, 100.25),
    "rounds up": f32(0.99999, 1.00005, 2.00015),
    "nan alone": f32(NAN, NAN),
    "infinities alone": f32(INF, -INF),
    "nan among whole": f32(NAN, 1, 10),
    "infinities among whole": f32(INF, -INF, 3),
    "nan among fractions": f32(NAN, INF, -INF, 0.5),
    "specials among scientific": f32(NAN, INF, -INF, 0, 1e-7),
    "ratio 1000": f32(1, 1000),
    "ratio above 1000": f32(1, 1001),
    "fractions, ratio 1000": f32(0.5, 500),
    "fractions, ratio above 1000": f32(0.5, 500.5),
    "1e8": f32(1e8, 1e8),
    "above 1e8": f32(1.00000008e8),
    "1e-4": f32(1.1e-4, 2e-4),
    "below 1e-4": f32(0.9e-4, 2e-4),
    "tiny": f32(1e-45, 1e-38),
    "huge": f32(3.4e38, -3.4e38),
    "tiny and huge": f32(1e-45, 3.4e38),
    "one": f32(7.25),
    "scientific negative": f32(-1e-6, 2e-6),
    "wide whole": f32(99999992, 1),
    "wide whole alike": f32(99999992, 99999984),
}
NESTED = {
    "2 x 3": (2, 3),
    "1 x 1": (1, 1),
    "1 x 20": (1, 20),
    "3 x 1 x 4": (3, 1, 4),
    "2 x 2 x 2 x 2": (2, 2, 2, 2),
    "1 x 2 x 1 x 2 x 1": (1, 2, 1, 2, 1),
    "30": (30,),
    "100": (100,),
    "1000": (1000,),
    "1001": (1001,),
    "40 x 40": (40, 40),
    "7 x 200": (7, 200),
    "6 x 200": (6, 200),
    "200 x 6": (200, 6),
    "200 x 7": (200, 7),
    "3 x 20 x 20": (3, 20, 20),
    "12 x 12 x 12": (12, 12, 12),
    "5 x 5 x 5 x 10": (5, 5, 5, 10),
    "8 x 2 x 8 x 9": (8, 2, 8, 9),
    "3 x 3 x 3 x 3 x 13": (3, 3, 3, 3, 13),
}
EMPTY = [(0,), (2, 0), (0, 3), (1, 0, 2)]
INTEGERS = "uint8 int8 int16 int32 int64 uint16 uint32 uint64".split()
OTHER_FLOATS = "float16 bfloat16 float64".split()
OPTIONS = {
    "precision 2": {"precision": 2},
    "precision 0": {"precision": 0},
    "precision 8": {"precision": 8},
    "short": {"profile": "short"},
    "full": {"profile": "full"},
    "short with precision 6": {"profile": "short", "precision": 6},
    "threshold 5": {"threshold": 5},
    "threshold 0": {"threshold": 0},
    "threshold 5, edgeitems 1": {"threshold": 5, "edgeitems": 1},
    "threshold 5, edgeitems 0": {"threshold": 5, "edgeitems": 0},
    "edgeitems 0": {"edgeitems": 0},
    "linewidth 40": {"linewidth": 40},
    "linewidth 10": {"linewidth": 10},
    "linewidth 200": {"linewidth": 200},
    "scientific": {"sci_mode": True},
    "never scientific": {"sci_mode": False},
}


def floats():
    for name, array in FLOATS.items():
        yield Case(f"float32: {name}", array)
    for name in ("whole", "halves", "nan among fractions", "ratio above 1000", "below 1e-4", "one"):
        for dtype in OTHER_FLOATS:
            yield Case(f"{dtype}: {name}", FLOATS[name], dtype)
    yield Case("float64: wider than float32", np.array([1e300, 1e-300, 5e-324]))
    yield Case("float64: digits", np.array([1 / 3, 2 / 3, 1e5 + 1 / 3]))


def shapes():
    for name, shape in NESTED.items():
        yield Case(f"fractions {name}", normal(shape))
        yield Case(f"integers {name}", whole(shape))
    for scale in (1e-6, 1e3, 1e9):
        yield Case(f"fractions x {scale}", normal((4, 9), scale))
    yield Case("transposed", normal((3, 5)).T)
    yield Case("every other", normal(2400)[::2])
    yield Case("float64 broken over lines", normal(25), "float64")
    yield Case("float16 of many rows", normal((50, 50)), "float16")


def others():
    for dtype in INTEGERS:
        limits = np.iinfo(dtype)
        yield Case(f"{dtype} limits", np.array([0, limits.min, limits.max, 7, 1], dtype))
        yield Case(f"{dtype} row", np.arange(40, dtype=dtype))
    yield Case("bools", np.array([True, False]))
    yield Case("true", np.array([True]))
    yield Case("bool matrix", whole((3, 30), 0, 2).astype(bool))
    yield Case("many bools", whole((60, 60), 0, 2).astype(bool))
    for dtype in ("bool", "int64", "int8", "float32", "float16", "complex64"):
        yield Case(f"zero-dim {dtype}", np.array(1).astype(dtype))
    for name, value in (("fraction", 2.5), ("nan", NAN), ("inf", -INF), ("tiny", 1e-9), ("huge", 1e30), ("0", 0.0)):
        yield Case(f"zero-dim {name}", np.float32(value).reshape(()))
    for shape in EMPTY:
        for dtype in ("float32", "int64", "bool", "float64", "complex64"):
            yield Case(f"empty {shape} {dtype}", np.zeros(shape, dtype))
    for shape in ((), (2,), (2, 3), (0,)):
        for dtype in ("float32", "int64", "float16"):
            yield Case(f"meta {shape} {dtype}", np.zeros(shape, dtype), device="meta")


def complexes():
    def z(*values):
        return np.array(values, np.complex64)

    plain = {
        "whole": z(1 + 2j, -3 - 4j),
        "fractions": z(0.5 + 0.25j, -10.5 - 1j),
        "specials": z(complex(NAN, INF), complex(-INF, NAN), 1 + 1j),
        "scientific real": z(1e-9 + 1j, 1 + 2j),
        "scientific imaginary": z(1 + 1e-9j, 2 + 1j),
        "zeros": z(0, complex(-0.0, -0.0), complex(0.0, -0.0)),
        "row": (normal(30) + 1j * normal(30, seed=1)).astype(np.complex64),
        "matrix": (normal((3, 3)) + 1j * normal((3, 3), 100, 1)).astype(np.complex64),
        "many": (normal((40, 40)) + 1j * normal((40, 40), 1, 1)).astype(np.complex64),
        "zero-dim": np.array(1.5 - 2j, np.complex64),
    }
    for name, array in plain.items():
        yield Case(f"complex64 {name}", array)
    for name in ("whole", "fractions", "row"):
        yield Case(f"complex128 {name}", plain[name].astype(np.complex128))


def with_options():
    arrays = {
        "fractions": normal((2, 12)),
        "scientific": normal((12,), 1e-7),
        "whole": f32(1, 20, -3, NAN),
        "integers": whole((3, 8)),
        "complex": (normal(9) + 1j).astype(np.complex64),
        "cube": whole((8, 3, 9)),
    }
    for option, values in OPTIONS.items():
        for name, array in arrays.items():
            yield Case(f"{option}: {name}", array, options=values)
    yield Case("full: many", whole((3, 400)), options={"profile": "full"})
    yield Case("short: many", normal((30, 50)), "float64", options={"profile": "short"})


def gradients():
    """Yields tensors whose text includes a note of autograd."""
    leaf, result = (lambda t: t.requires_grad_()), (lambda t: t.requires_grad_() * 2)
    for name, array, dtype, then in (
        ("leaf", f32(1, 2), None, leaf),
        ("leaf of another dtype", f32(1, 2), "float64", leaf),
        ("leaf without elements", f32(), None, leaf),
        ("result", f32(1, 2), None, result),
        ("long result", np.arange(40, dtype=np.float32), None, result),
        ("detached result", f32(1, 2), None, lambda t: result(t).detach()),
    ):
        yield Case(name, array, dtype, then=then, needs="autograd")


def cases():
    """Returns all cases, by name."""
    table = {}
    for group in (floats, shapes, others, complexes, with_options, gradients):
        for case in group():
            assert case.name not in table, case.name
            table[case.name] = case
    return table
