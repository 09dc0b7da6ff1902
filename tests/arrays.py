"""Arrays for the tests: numpy and lamella over equal elements in equal layouts, and comparisons by bits and by ulps."""

import itertools
from dataclasses import dataclass

import lamella
import ml_dtypes
import numpy as np
from hypothesis import strategies as st

BOOL = ("bool",)
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = UNSIGNED + SIGNED
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = BOOL + INTEGERS + FLOATS + COMPLEX
COMPUTED_INTEGERS = INTEGERS
REAL = INTEGERS + FLOATS
COMPUTED = BOOL + REAL


def np_dtype(name):
    """Returns the numpy dtype of a name; bfloat16 is ml_dtypes'."""
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def lt_dtype(name):
    """Returns the lamella dtype of a name."""
    return getattr(lamella, name)


def name_of(dtype):
    """Returns the name of a lamella or numpy dtype."""
    return str(dtype).rpartition(".")[2]


def class_of(name):
    """Returns a dtype's class: bool 0, integer 1, floating 2, complex 3."""
    return 0 if name in BOOL else 1 if name in INTEGERS else 2 if name in FLOATS else 3


def to_lamella(array):
    """Makes a tensor with a copy of a numpy array, also of bfloat16."""
    array = np.asarray(array)
    if array.dtype == ml_dtypes.bfloat16:
        return lamella.tensor(array.astype(np.float32)).to(lamella.bfloat16)
    return lamella.tensor(array)


def to_numpy(tensor):
    """Makes a numpy array with a copy of the elements, also of bfloat16."""
    if tensor.dtype is lamella.bfloat16:
        return tensor.to(lamella.float32).numpy().astype(ml_dtypes.bfloat16)
    return tensor.numpy().copy()


def numbers(*shape, seed=0, dtype="float64"):
    """Returns a tensor of normally distributed numbers."""
    return lamella.tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def leaf(*values):
    """Returns a vector of the values, by default 1 and 2, that requires grad."""
    return lamella.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def special_values(name):
    """Returns values at which functions fail most often: zeros, ones, limits, infinities and NaN."""
    if name == "bool":
        return [False, True]
    if name in INTEGERS:
        limits = np.iinfo(name)
        return [0, 1, 2, 3, limits.max, limits.min, limits.max // 2] + ([-1, -2] if limits.min < 0 else [])
    return [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.0, np.inf, -np.inf, np.nan]


def values(name, count, seed, low=None, high=None):
    """Returns `count` random elements; without bounds, special values are among them."""
    rng = np.random.default_rng(seed)
    if low is not None:
        drawn = rng.uniform(low, high, count)
        return drawn.astype(np_dtype(name)) if class_of(name) >= 2 else np.floor(drawn).astype(np_dtype(name))
    if name == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if name in INTEGERS:
        limits = np.iinfo(name)
        drawn = rng.integers(limits.min, limits.max, count, dtype=name, endpoint=True)
        small = rng.integers(max(-9, limits.min), 10, count).astype(name)
        drawn = np.where(rng.random(count) < 0.6, small, drawn)
    else:
        drawn = (rng.standard_normal(count) * 4).astype(np_dtype(name))
    special = np.array(special_values(name), np.float64 if name in FLOATS + COMPLEX else name)
    with np.errstate(all="ignore"):
        special = special.astype(np_dtype(name))
    chosen = special[rng.integers(0, len(special), count)]
    return np.where(rng.random(count) < 0.2, chosen, drawn).astype(np_dtype(name))


@dataclass(frozen=True)
class Layout:
    """Strides and offset of a shape in memory, in elements of a flat buffer of `span` elements."""

    shape: tuple
    strides: tuple
    offset: int
    span: int

    def array(self, flat):
        """Returns the numpy view of a flat array."""
        strides = tuple(s * flat.itemsize for s in self.strides)
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, strides)

    def tensor(self, flat):
        """Returns the lamella view of a flat tensor."""
        return flat.as_strided(self.shape, self.strides, self.offset)


@st.composite
def layouts(draw, shape, expanded=True):
    """Draws a layout of a shape: permuted memory, gaps between elements, an offset, repeated (expanded) dimensions."""
    order = draw(st.permutations(range(len(shape))))
    strides, step = [0] * len(shape), 1
    for d in order:
        kind = draw(st.sampled_from(("dense", "dense", "gaps") + (("expanded",) if expanded else ())))
        if kind == "expanded":
            continue
        step *= draw(st.integers(2, 3)) if kind == "gaps" else 1
        strides[d] = step
        step *= max(shape[d], 1)
    offset = draw(st.integers(0, 3))
    last = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if all(shape) else 0
    return Layout(tuple(shape), tuple(strides), offset, offset + last + 1)


def shapes(max_dims=4, max_size=4):
    """Draws a shape, perhaps with dimensions of size 0 and 1; () is zero-dim."""
    return st.lists(st.integers(0, max_size), max_size=max_dims).map(tuple)


@st.composite
def broadcastable(draw, count, max_dims=3):
    """Draws `count` shapes that broadcast together."""
    full = draw(shapes(max_dims))
    made = []
    for _ in range(count):
        kept = full[draw(st.integers(0, len(full))) :]
        made.append(tuple(1 if draw(st.booleans()) and draw(st.booleans()) else n for n in kept))
    return made


@st.composite
def pairs(draw, name, shape, low=None, high=None, expanded=True, nonzero=False):
    """Draws (numpy array, tensor) with equal elements of a dtype and a shape, in one arbitrary layout."""
    layout = draw(layouts(shape, expanded))
    flat = values(name, layout.span, draw(st.integers(0, 2**32)), low, high)
    if nonzero:
        flat[flat == 0] = 1
    return layout.array(flat), layout.tensor(to_lamella(flat))


def assert_same(tensor, expected, signed_zeros=False):
    """Requires equal shapes, dtypes and elements; NaN equals NaN."""
    expected = np.asarray(expected)
    assert tuple(tensor.shape) == expected.shape
    assert name_of(tensor.dtype) == name_of(expected.dtype)
    got = to_numpy(tensor)
    if class_of(name_of(expected.dtype)) >= 2:
        wide = np.complex128 if class_of(name_of(expected.dtype)) == 3 else np.float64
        got, expected = got.astype(wide), expected.astype(wide)
        if signed_zeros:
            plain = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(got[plain]), np.signbit(expected[plain]))
    np.testing.assert_array_equal(got, expected)


def ulps(name, got, exact):
    """Returns each element's distance to the exact value (in a wider dtype), in units of the result's last place."""
    limits = ml_dtypes.finfo(np_dtype(name))
    finite = np.isfinite(exact)
    size = np.abs(np.where(finite, exact, 1))
    exponent = np.floor(np.log2(np.maximum(size, np.longdouble(limits.smallest_normal))))
    unit = np.ldexp(np.longdouble(limits.eps), exponent.astype(np.int64))
    return np.where(finite, np.abs(got.astype(np.longdouble) - exact) / unit, 0)


def assert_close(tensor, exact, bound=4):
    """Requires elements within `bound` ulps of values in a wider dtype; NaN, infinities and overflow must agree."""
    name = name_of(tensor.dtype)
    got = to_numpy(tensor)
    with np.errstate(all="ignore"):
        rounded = exact.astype(np_dtype(name)).astype(np.float64)
    wide = got.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(wide), np.isnan(rounded))
    beyond = np.isinf(rounded) | np.isinf(wide)
    edge = beyond & np.isfinite(exact)  # an element one ulp below the limit may round either way
    np.testing.assert_array_equal(wide[beyond & ~edge], rounded[beyond & ~edge])
    checked = np.isfinite(exact) & ~edge
    worst = ulps(name, np.where(checked, got, 0), np.where(checked, exact, 0))
    assert worst.max(initial=0) <= bound, f"{worst.max()} ulps from the exact value"


def bits(tensor):
    """Returns the elements' bytes, in row-major order."""
    return to_numpy(tensor).tobytes()


def all_pairs(names):
    """Returns every ordered pair of the items."""
    return list(itertools.product(names, names))
