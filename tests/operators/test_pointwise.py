"""Every pointwise operator equals numpy: values, dtypes, shapes and forms."""

import lamella
import ml_dtypes
import numpy as np
import pytest
import scipy.special
from arrays import (
    COMPLEX,
    COMPUTED,
    COMPUTED_INTEGERS,
    DTYPES,
    FLOATS,
    REAL,
    assert_close,
    assert_same,
    bits,
    broadcastable,
    class_of,
    layouts,
    lt_dtype,
    name_of,
    np_dtype,
    pairs,
    shapes,
    to_lamella,
    to_numpy,
    values,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ORACLES
from pointwise_ops import (
    COMPLEX_BOOL,
    COMPLEX_QUESTION,
    COMPLEX_UNARY,
    DIVISIONS,
    EXACT,
    MATHS,
    REMAINDERS,
    UNARY,
    Op,
    compute_dtype,
    result_dtype,
)

CELLS = [pytest.param(op, dtype, id=f"{op.name}-{dtype}") for op in EXACT for dtype in op.takes]
MATHS_CELLS = [(name, dtype) for name in MATHS for dtype in COMPUTED]
FUNCTIONAL_ONLY = "maximum minimum fmax fmin isnan isinf isfinite isposinf isneginf signbit angle hardshrink".split()
QUESTIONS = ("isnan", "isinf", "isfinite")
INPLACE = [op.name for op in EXACT if op.name not in FUNCTIONAL_ONLY] + MATHS
# Functions whose formula, which torch also has, loses more than four units in the last place. The oracles of scipy
# compute in float64, so float64 needs a larger bound.
TOLERANCE = {"sinc": 6, "logit": 2.0**12, "lgamma": 2.0**20, "sigmoid": 6, "erfinv": 64, "erfc": 64}


@st.composite
def operands(draw, op, dtype, **limits):
    """Makes broadcastable operands in arbitrary layouts: arrays and tensors."""
    drawn = [draw(pairs(dtype, shape, **limits)) for shape in draw(broadcastable(op.inputs))]
    return [a for a, _ in drawn], [t for _, t in drawn]


# ---- values ----------------------------------------------------------------------------------------------------------


def expected(op, dtype, *arrays):
    with np.errstate(all="ignore"):
        computed = ORACLES[op.name](*(a.astype(compute_dtype(op, dtype)) for a in arrays))
        return np.asarray(computed).astype(result_dtype(op, dtype))


def call(op, *tensors, **kwargs):
    return getattr(lamella.ops.aten, op.name)(*tensors, **kwargs)


# Ten examples for each dtype, since one operator has up to 130 cases; its dtypes share the operands.
a_few = settings(max_examples=10)


@pytest.mark.sweep
@pytest.mark.parametrize("op, dtype", CELLS)
@a_few
@given(data=st.data())
def test_every_form(op, dtype, data):
    """The function, the method and the out= form in other layouts give the result; arguments stay unchanged."""
    arrays, tensors = data.draw(operands(op, dtype))
    before = [bits(t) for t in tensors]
    want = expected(op, dtype, *arrays)
    assert_same(getattr(lamella, op.name)(*tensors), want, op.name in ("add", "sub", "mul", "div", "neg", "sqrt"))
    assert_same(getattr(tensors[0], op.name)(*tensors[1:]), want)
    if op.name not in QUESTIONS:
        assert_same_in_out(op, tensors, want, data.draw(layouts(want.shape, expanded=False)))
    assert [bits(t) for t in tensors] == before


def assert_same_in_out(op, tensors, want, layout):
    memory = lamella.zeros(layout.span, dtype=lt_dtype(name_of(want.dtype)))
    out = layout.tensor(memory)
    address = out.data_ptr()
    assert getattr(lamella, op.name)(*tensors, out=out) is out
    assert out.data_ptr() == address and out.stride() == layout.tensor(memory).stride()
    assert_same(out, want)
    untouched = np.ones(layout.span, bool)
    layout.array(untouched)[...] = False
    assert not to_numpy(memory)[untouched].any()


@pytest.mark.sweep
@pytest.mark.parametrize("op, dtype", [c for c in CELLS if c.values[0].name in INPLACE])
@a_few
@given(data=st.data())
def test_in_place(op, dtype, data):
    shape = data.draw(shapes())
    x, t = data.draw(pairs(dtype, shape, expanded=False))
    others = [data.draw(pairs(dtype, shape)) for _ in range(op.inputs - 1)]
    want = expected(op, dtype, x, *(a for a, _ in others))
    address, version, strides = t.data_ptr(), t._version, t.stride()
    form = getattr(t, op.name + "_")
    if op.result == "float" and class_of(dtype) < 2:
        with pytest.raises(RuntimeError, match=rf"{op.name}_: argument 'self' has dtype {dtype}"):
            form(*(o for _, o in others))
        assert_same(t, x)
        assert t._version == version
        return
    assert form(*(o for _, o in others)) is t
    assert (t.data_ptr(), t.stride(), t._version) == (address, strides, version + 1)
    assert_same(t, want.astype(np_dtype(dtype)))


def rounded_sinc(x):
    """Takes the sine of the rounded product, as torch does: near the sine's zeros, rounding decides the result."""
    p = (x * x.dtype.type(np.pi)).astype(np.longdouble)
    return np.where(x == 0, 1, np.sin(p) / np.where(x == 0, 1, p))


@pytest.mark.sweep
@pytest.mark.parametrize("name, dtype", MATHS_CELLS)
@a_few
@given(data=st.data())
def test_maths_functions(name, dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    with np.errstate(all="ignore"):
        computed = x.astype(np.float64 if dtype == "float64" else np.float32)
        exact = rounded_sinc(computed) if name == "sinc" else ORACLES[name](computed.astype(np.longdouble))
    result = getattr(lamella, name)(t)
    assert name_of(result.dtype) == (dtype if class_of(dtype) == 2 else "float32")
    assert tuple(result.shape) == x.shape
    assert_close(result, exact, TOLERANCE.get(name, 4))


RANGES = {
    "exp": [(-104, 89), (-1e-3, 1e-3), (-750, 710)],
    "log": [(0, 1e-30), (0.5, 2), (0, 1e30)],
    "sin": [(-7, 7), (-1e5, 1e5), (-1e-6, 1e-6)],
    "cos": [(-7, 7), (-1e5, 1e5), (-1e-6, 1e-6)],
    "tanh": [(-1, 1), (-25, 25), (-1e-6, 1e-6)],
    "exp2": [(-149, 127), (-1, 1)],
    "expm1": [(-30, 80), (-1e-3, 1e-3)],
    "log2": [(0, 1e-30), (0.5, 2), (0, 1e30)],
    "log10": [(0, 1e-30), (0.5, 2), (0, 1e30)],
    "log1p": [(-1, 1), (-1e-6, 1e-6), (0, 1e30)],
    "tan": [(-1.5, 1.5), (-100, 100)],
    "sinh": [(-80, 80), (-1e-3, 1e-3)],
    "cosh": [(-80, 80), (-1e-3, 1e-3)],
    "asin": [(-1, 1), (-1e-3, 1e-3)],
    "acos": [(-1, 1), (0.99, 1)],
    "atan": [(-1, 1), (-1e6, 1e6)],
    "asinh": [(-1, 1), (-1e6, 1e6)],
    "acosh": [(1, 2), (1, 1e6)],
    "atanh": [(-1, 1), (-1e-3, 1e-3)],
    "erf": [(-4, 4), (-1e-3, 1e-3)],
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", RANGES)
def test_maths_functions_over_their_ranges(name, dtype):
    for low, high in RANGES[name]:
        with np.errstate(all="ignore"):
            x = np.random.default_rng(7).uniform(low, high, 20000).astype(np_dtype(dtype))
            exact = ORACLES[name](x.astype(np.longdouble))
        assert_close(getattr(lamella, name)(to_lamella(x)), exact)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_powers(dtype):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 8, 20000).astype(np_dtype(dtype)), rng.uniform(-4, 4, 20000).astype(np_dtype(dtype))
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        assert_close(lamella.pow(to_lamella(x), to_lamella(y)), exact)
        assert_close(to_lamella(x) ** 2.5, np.power(x.astype(np.longdouble), np.longdouble(2.5)))
        assert_close(lamella.pow(2.5, to_lamella(y)), np.power(np.longdouble(2.5), y.astype(np.longdouble)))


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_powers(dtype, x):
    y = np.array([0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, np.inf, -np.inf, np.nan], dtype)
    x = np.full_like(y, x)
    with np.errstate(all="ignore"):
        assert_same(lamella.pow(to_lamella(x), to_lamella(y)), np.power(x, y))


@pytest.mark.parametrize("dtype", COMPUTED_INTEGERS)
@given(data=st.data())
def test_integer_powers(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    y, e = data.draw(pairs(dtype, x.shape, low=0, high=12))
    with np.errstate(all="ignore"):
        assert_same(lamella.pow(t, e), np.power(x, y))
        assert_same(t**3, np.power(x, np_dtype(dtype).type(3)))


# torch computes these exponents by products, roots and quotients: -0.0 ** 0.5 is -0.0, and -inf ** 0.5 is NaN.
SHORT_POWERS = {
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    1: lambda x: x,
    0.5: np.sqrt,
    -0.5: lambda x: 1 / np.sqrt(x),
    -1: lambda x: 1 / x,
    -2: lambda x: 1 / (x * x),
}


@pytest.mark.parametrize("exponent", SHORT_POWERS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_powers_by_short_ways(dtype, exponent, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    with np.errstate(all="ignore"):
        computed = x.astype(np.float64 if dtype == "float64" else np.float32)
        want = np.asarray(SHORT_POWERS[exponent](computed), computed.dtype).astype(x.dtype)
    assert_same(t**exponent, want)
    assert_same(lamella.pow(t, exponent, out=lamella.empty(0, dtype=t.dtype)), want)
    t **= exponent
    assert_same(t, want)


@pytest.mark.parametrize("dtype", COMPUTED_INTEGERS)
def test_powers_of_integers_by_short_ways(dtype):
    x = np.array([0, 1, 2, 3, 11], dtype)
    t = to_lamella(x)
    assert_same(t**2, x * x)
    assert_same(t**1, x)
    assert_same(t**0.5, np.sqrt(x.astype(np.float32)))
    assert_same(t**2.0, x.astype(np.float32) ** 2)
    assert lamella.tensor([True, False]).pow(2).tolist() == [1, 0]


def test_negative_integer_powers():
    x = lamella.tensor([1, -1, 2, -3, 1, -1])
    y = lamella.tensor([-1, -1, -1, -2, -2, -2])
    assert (x**y).tolist() == [int(1 / b**-e) for b, e in zip(x.tolist(), y.tolist(), strict=True)]
    with pytest.raises(RuntimeError, match=r"pow: argument 'exponent'.*negative integer power"):
        x**-1
    assert lamella.pow(
        lamella.tensor([True, True, False, False]), lamella.tensor([True, False, True, False])
    ).tolist() == [bool(int(b) ** int(e)) for b, e in [(True, True), (True, False), (False, True), (False, False)]]


@pytest.mark.parametrize("mode, dtype", [(m, d) for m in DIVISIONS for d in REAL])
@given(data=st.data())
def test_rounding_division(mode, dtype, data):
    op = DIVISIONS[mode]
    arrays, tensors = data.draw(operands(op, dtype, nonzero=class_of(dtype) == 1))
    want = expected(op, dtype, *arrays)
    assert_same(lamella.div(*tensors, rounding_mode=mode), want)
    if mode == "floor":
        assert_same(lamella.floor_divide(*tensors), want)
        assert_same(tensors[0] // tensors[1], want)


@pytest.mark.parametrize("dtype", REAL)
def test_rounding_division_by_python(dtype):
    pairs_ = [(7, 2), (-7, 2), (0, 3), (6, 3), (-6, 3), (1, 3), (7, -2), (-1, -3)]
    if dtype.startswith("uint"):
        pairs_ = [(a, b) for a, b in pairs_ if a >= 0 and b >= 0]
    x, y = (lamella.tensor(list(v), dtype=lt_dtype(dtype)) for v in zip(*pairs_, strict=True))
    assert lamella.div(x, y, rounding_mode="floor").tolist() == [a // b for a, b in pairs_]
    assert lamella.div(x, y, rounding_mode="trunc").tolist() == [int(a / b) for a, b in pairs_]
    assert (x // y).tolist() == [a // b for a, b in pairs_]


@pytest.mark.parametrize("dtype", COMPUTED_INTEGERS)
@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_integer_division_by_zero(dtype, mode):
    x = lamella.tensor([1, 2, 3], dtype=lt_dtype(dtype))
    for zero in (lamella.tensor([1, 0, 1], dtype=lt_dtype(dtype)), 0):
        with pytest.raises(RuntimeError, match=r"divide.*division by zero"):
            lamella.div(x, zero, rounding_mode=mode)
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_smallest_integer_by_minus_one(dtype):
    low = np.iinfo(dtype).min
    x, y = np.array([low, low, 5], dtype), np.array([-1, 1, -1], dtype)
    with np.errstate(all="ignore"):
        assert_same(lamella.floor_divide(to_lamella(x), to_lamella(y)), np.floor_divide(x, y))
        assert_same(lamella.div(to_lamella(x), to_lamella(y), rounding_mode="trunc"), np.floor_divide(x, y))
        assert_same(abs(to_lamella(x)), np.abs(x))
        assert_same(-to_lamella(x), -x)


def test_unknown_rounding_mode():
    with pytest.raises(RuntimeError, match="rounding_mode.*'ceil'"):
        lamella.div(lamella.ones(1), 2, rounding_mode="ceil")
    assert lamella.div(lamella.tensor([7]), 2, rounding_mode=None).tolist() == [3.5]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("alpha", [2, 3])
@given(data=st.data())
def test_alpha(dtype, alpha, data):
    op = Op("add", 2, REAL)
    (x, y), (a, b) = data.draw(operands(op, dtype))
    compute = compute_dtype(op, dtype)
    factor = np.dtype(compute).type(alpha)
    p, q = x.astype(compute), y.astype(compute)
    with np.errstate(all="ignore"):
        assert_same(lamella.add(a, b, alpha=alpha), (p + factor * q).astype(np_dtype(dtype)))
        assert_same(lamella.sub(a, b, alpha=alpha), (p - factor * q).astype(np_dtype(dtype)))
        assert_same(lamella.rsub(a, b, alpha=alpha), (q - factor * p).astype(np_dtype(dtype)))


def test_alpha_that_does_not_fit():
    x = lamella.tensor([1, 2])
    with pytest.raises(RuntimeError, match="add: argument 'alpha'"):
        lamella.add(x, x, alpha=1.5)
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", COMPUTED)
@given(data=st.data())
def test_where(dtype, data):
    s0, s1, s2 = data.draw(broadcastable(3))
    (c, m), (x, a), (y, b) = (data.draw(pairs(d, s)) for d, s in (("bool", s0), (dtype, s1), (dtype, s2)))
    want = np.where(c, x, y)
    assert_same(lamella.where(m, a, b), want)
    out = lamella.empty(want.shape, dtype=lt_dtype(dtype))
    address = out.data_ptr()
    assert lamella.where(m, a, b, out=out) is out and out.data_ptr() == address
    assert_same(out, want)
    number = True if dtype == "bool" else 1
    assert_same(lamella.where(m, a, number), np.where(c, x, np.asarray(number, x.dtype)))


def test_where_with_numbers():
    mask = lamella.tensor([True, False])
    assert lamella.where(mask, 1, 0).tolist() == [1, 0]
    assert lamella.where(mask, 1.5, lamella.tensor([1, 2])).tolist() == [1.5, 2.0]
    assert lamella.where(mask, lamella.tensor([1, 2]), 7).tolist() == [1, 7]
    with pytest.raises(RuntimeError, match="where: argument 'condition'.*bool"):
        lamella.where(lamella.tensor([1, 0]), 1, 0)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("low, high", [(1, 3), (None, 2), (1, None), (3, 1)])
@given(data=st.data())
def test_clamp(dtype, low, high, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    kept = x.copy()
    with np.errstate(all="ignore"):
        want = x if low is None else np.where(x < low, x.dtype.type(low), x)
        want = want if high is None else np.where(want > high, x.dtype.type(high), want)
    assert_same(lamella.clamp(t, low, high), want)
    assert_same(t.clamp(min=low, max=high), want)
    assert_same(t, kept)
    assert t.clamp_(low, high) is t
    assert_same(t, want)


def test_clamp_promotes_with_its_bounds():
    assert lamella.clamp(lamella.tensor([1, 2, 3]), 1.5).dtype is lamella.float32
    assert lamella.clamp(lamella.tensor([1, 2, 3]), 1.5, 2.5).tolist() == [1.5, 2.0, 2.5]


@pytest.mark.parametrize("op, dtype", [pytest.param(o, d, id=f"{o.name}-{d}") for o in REMAINDERS for d in REAL])
@given(data=st.data())
def test_remainders(op, dtype, data):
    arrays, tensors = data.draw(operands(op, dtype, nonzero=class_of(dtype) == 1))
    assert_same(call(op, *tensors), expected(op, dtype, *arrays))
    if class_of(dtype) == 1:
        with pytest.raises(RuntimeError, match=f"{op.name}: argument 'other': integer division by zero"):
            call(op, lamella.ones(3, dtype=lt_dtype(dtype)), 0)


# ---- complex numbers -------------------------------------------------------------------------------------------------


def complex_values(dtype, special):
    part = [0.0, -0.0, 1.0, -1.5, 0.25, 3.0] + ([np.inf, -np.inf, np.nan] if special else [])
    real, imag = (a.ravel() for a in np.meshgrid(part, part))
    made = np.empty(real.size, dtype)
    made.real, made.imag = real, imag
    return made


def assert_near(tensor, expected, ulps=8):
    """Requires both parts within `ulps` units in the last place of the number's size; NaN and infinities must agree."""
    expected = np.asarray(expected)
    got = to_numpy(tensor)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    eps = np.finfo(expected.dtype).eps
    for part in (np.real, np.imag):
        np.testing.assert_array_equal(np.isnan(part(got)), np.isnan(part(expected)))
        np.testing.assert_array_equal(np.isinf(part(got)), np.isinf(part(expected)))
        ok = np.isfinite(part(expected))
        size = np.where(np.isfinite(expected), np.abs(expected), np.abs(part(expected)))
        assert np.all(
            np.abs(part(got)[ok] - part(expected)[ok]) <= ulps * eps * size[ok] + np.finfo(expected.dtype).tiny
        )


# Functions for which numpy has another formula at infinities and zeros: the test compares finite numbers.
FINITE_ONLY = ("exp2", "expm1", "log1p", "reciprocal", "rsqrt", "sigmoid", "sgn", "log2", "log10", "sqrt", "square")


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", COMPLEX_UNARY)
def test_complex_functions(name, dtype):
    x = complex_values(dtype, name not in FINITE_ONLY)
    with np.errstate(all="ignore"):
        want = np.asarray(ORACLES[name](x))
    if name in ("sgn", "reciprocal", "rsqrt"):
        x, want = x[x != 0], want[x != 0]
    want = want.astype(dtype if name not in ("abs", "angle") else want.dtype)
    assert_near(getattr(lamella, name)(to_lamella(x)), want)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", [*COMPLEX_BOOL, *COMPLEX_QUESTION])
def test_complex_questions(name, dtype):
    x = complex_values(dtype, True)
    y = np.roll(x, 1)
    y[::3] = x[::3]
    if name in COMPLEX_BOOL:
        assert_same(getattr(lamella, name)(to_lamella(x), to_lamella(y)), ORACLES[name](x, y))
    else:
        assert_same(getattr(lamella, name)(to_lamella(x)), ORACLES[name](x))


@pytest.mark.parametrize("dtype", COMPLEX)
@given(data=st.data())
def test_parts_are_views(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    assert_same(lamella.real(t), x.real)
    assert_same(lamella.imag(t), x.imag)
    assert_same(lamella.view_as_real(t), np.stack([x.real, x.imag], -1))
    assert_same(lamella.view_as_complex(lamella.view_as_real(t)), x)
    assert_same(lamella.complex(lamella.real(t), lamella.imag(t)), x)
    assert_same(lamella.conj(t), np.conj(x))
    lamella.imag(t).fill_(7)
    assert (to_numpy(t).imag == 7).all()


def test_complex_from_parts():
    length, angle = np.array([[1.0], [2.0]]), np.array([0.0, 0.5, 3.0])
    assert_near(lamella.polar(lamella.tensor(length), lamella.tensor(angle)), length * np.exp(1j * angle))
    with pytest.raises(RuntimeError, match="complex: argument 'real': expected float32 or float64, got int64"):
        lamella.complex(lamella.tensor([1]), lamella.tensor([2]))
    with pytest.raises(RuntimeError, match="imag: argument 'self': expected a complex dtype, got float32"):
        lamella.imag(lamella.ones(2))
    with pytest.raises(RuntimeError, match="view_as_complex: argument 'self'.*size 2"):
        lamella.view_as_complex(lamella.ones(3))
    assert lamella.real(lamella.ones(2)).tolist() == [1.0, 1.0]


# ---- several operands, parameters, composites ------------------------------------------------------------------------


ACTIVATIONS = {
    **dict.fromkeys("silu mish log_sigmoid selu relu6 hardsigmoid hardswish tanhshrink gelu".split(), {}),
    "softplus": {"beta": 2, "threshold": 9},
    "leaky_relu": {"negative_slope": 0.1},
    "elu": {"alpha": 2},
    "celu": {"alpha": 2},
    "hardtanh": {"min_val": -2, "max_val": 2},
    "softshrink": {"lambd": 1},
    "threshold": {"threshold": 1, "value": 20},
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, dtype):
    x = np.concatenate([np.linspace(-6, 12, 4001), [0.0, -0.0, np.nan]]).astype(dtype)
    with np.errstate(all="ignore"):
        want = ORACLES[name](x.astype(np.float64), **ACTIVATIONS[name])
    got = to_numpy(getattr(lamella.ops.aten, name)(to_lamella(x), **ACTIVATIONS[name]))
    assert got.dtype == np.dtype(dtype)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(got, want, rtol=64 * eps, atol=4 * eps)


def test_gelu_keeps_small_digits():
    x = np.linspace(-12, 12, 20001).astype(np.float32)
    want = x * scipy.special.ndtr(x.astype(np.float64))
    np.testing.assert_allclose(to_numpy(lamella.ops.aten.gelu(to_lamella(x))), want, rtol=2e-5, atol=1e-37)
    wide = x.astype(np.float64)
    tanh = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    approximate = to_numpy(lamella.ops.aten.gelu(to_lamella(x), approximate="tanh"))
    np.testing.assert_allclose(approximate, tanh, rtol=1e-5, atol=2e-6)
    with pytest.raises(RuntimeError, match="gelu: argument 'approximate': expected 'none' or 'tanh', got 'sin'"):
        lamella.ops.aten.gelu(to_lamella(x), approximate="sin")


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_to_num(dtype):
    x = np.array([np.nan, np.inf, -np.inf, 1.5], np_dtype(dtype))
    limit = float(ml_dtypes.finfo(np_dtype(dtype)).max)
    assert to_numpy(lamella.nan_to_num(to_lamella(x))).astype(np.float64).tolist() == [0, limit, -limit, 1.5]
    assert lamella.nan_to_num(to_lamella(x), 1, 2, 3).tolist() == [1, 2, 3, 1.5]
    assert lamella.nan_to_num(lamella.tensor([1, 2])).tolist() == [1, 2]
    assert lamella.nan_to_num(lamella.tensor([complex("nan+infj")]), posinf=4).tolist() == [4j]


@given(data=st.data())
def test_isclose(data):
    x, a = data.draw(pairs("float32", data.draw(shapes())))
    y = np.where(
        np.random.default_rng(data.draw(st.integers(0, 99))).random(x.shape) < 0.5, x * np.float32(1.000001), 3
    )
    y = y.astype(np.float32)
    for equal_nan in (False, True):
        with np.errstate(all="ignore"):
            want = np.isclose(x, y, equal_nan=equal_nan)
        assert_same(lamella.isclose(a, to_lamella(y), equal_nan=equal_nan), want)
    with pytest.raises(RuntimeError, match="isclose: argument 'other': expected dtype float32"):
        lamella.isclose(a, a.to(lamella.float64))


def test_the_square_of_bools_keeps_their_layout():
    x = lamella.tensor([[True, False, True], [False, True, True]]).t()
    assert lamella.square(x).stride() == x.stride() == (1, 3)
    assert lamella.square(x).tolist() == [[1, 0], [0, 1], [1, 1]]


ALIASES = [(a, o["name"], o["overload"]) for o in lamella._C._operators() for a in o["aliases"] if o["form"] != "out"]


@pytest.mark.parametrize("alias, name, overload", ALIASES)
def test_an_alias_is_the_operator(alias, name, overload):
    """An alias is in the same modules and on Tensor, and calls the operator itself."""
    full = alias + (f".{overload}" if overload else "")
    assert lamella._C._find_operator(full) == lamella._C._find_operator(full.replace(alias, name))
    other, own = alias.partition("::")[2], name.partition("::")[2]
    module, _, inner = own.partition("_")
    if module == "linalg" and not other.startswith("linalg_"):  # the module has the operator, and lamella the alias
        assert hasattr(lamella.linalg, inner) and hasattr(lamella, other) and hasattr(lamella.ops.aten, other)
        return
    for place in (lamella, lamella.Tensor, lamella.ops.aten):
        assert hasattr(place, other) == hasattr(place, own), f"{place}"


def test_there_are_aliases():
    names = {a.removeprefix("aten::") for a, _, _ in ALIASES}
    assert {"multiply", "subtract_", "arctan2", "true_divide", "concat", "moveaxis"} <= names
    assert lamella.true_divide(lamella.tensor([7.0]), 2, rounding_mode="floor").tolist() == [3.0]


# ---- long walks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128", "bfloat16"])
@pytest.mark.parametrize("shape", [(300, 70), (70, 300), (5, 129, 33), (40000, 3), (3, 40000), (2, 3, 5, 7, 11, 13)])
def test_blocks(shape, dtype):
    """Sizes exceed one tile: transposed, short, broadcast and strided operands, results and copies."""
    x = values(dtype, int(np.prod(shape)), 1, -9, 9).reshape(shape)
    y = values(dtype, int(np.prod(shape)), 2, -9, 9).reshape(shape[::-1])
    a, b = to_lamella(x), to_lamella(y).permute(*reversed(range(len(shape))))
    z = y.transpose()
    wide = x.dtype if dtype != "bfloat16" else np.dtype(np.float32)

    def add(p, q):
        return (p.astype(wide) + q.astype(wide)).astype(x.dtype)

    assert_same(a + b, add(x, z))
    assert_same(b + a, add(x, z))
    assert_same(b.contiguous(), z)
    assert_same(a[..., :1] + b, add(x[..., :1], z))
    assert_same(a[..., ::2] + b[..., ::2], add(x[..., ::2], z[..., ::2]))
    assert_same(a + b[0], add(x, z[0]))
    assert_same(
        b.to(lamella.complex128), z.astype(np.float64 if dtype != "complex128" else dtype).astype(np.complex128)
    )
    out = lamella.empty_like(b)
    assert_same(lamella.add(a, a, out=out), add(x, x))
    assert out.stride() == b.stride()
    out.copy_(a)
    assert_same(out, x)


# ---- numbers as operands ---------------------------------------------------------------------------------------------


# ---- errors ----------------------------------------------------------------------------------------------------------


def taken_by(name):
    return lamella.int64 if name.startswith("bitwise") else lamella.float32


@pytest.mark.parametrize("name", INPLACE)
def test_in_place_cannot_grow(name):
    t = lamella.ones(2, dtype=taken_by(name))
    if name in MATHS or name in [op.name for op in UNARY]:
        shared = lamella.ones(1, dtype=taken_by(name)).expand(3)
        with pytest.raises(RuntimeError, match=rf"{name}_: argument 'self'.*share one memory location"):
            getattr(shared, name + "_")()
        return
    with pytest.raises(RuntimeError, match=rf"{name}_: argument 'self' has shape \(2,\)"):
        getattr(t, name + "_")(lamella.ones(3, 2, dtype=t.dtype))
    assert t.tolist() == [1, 1] and t._version == lamella.ones(2)._version


@pytest.mark.parametrize("name", ["neg", "sub", "rsub"])
def test_bool_is_refused_where_torch_refuses_it(name):
    b = lamella.tensor([True])
    with pytest.raises(RuntimeError, match=f"{name}: .*bool"):
        getattr(lamella, name)(*([b] if name == "neg" else [b, b]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_meta_knows_every_dtype(dtype):
    """Meta gives shape and dtype also for dtypes for which the host has no loops yet."""
    x = lamella.empty(2, 3, dtype=lt_dtype(dtype), device="meta")
    assert (x * x).dtype is lt_dtype(dtype)
    assert (x == x[0]).dtype is lamella.bool and (x == x[0]).shape == (2, 3)
    assert lamella.exp(x).dtype is (lt_dtype(dtype) if class_of(dtype) >= 2 else lamella.float32)


# ---- out= ------------------------------------------------------------------------------------------------------------


def test_out_that_cannot_hold_the_result():
    out = lamella.zeros(3, dtype=lamella.int64)
    with pytest.raises(RuntimeError, match="add: argument 'out'.*int64"):
        lamella.add(lamella.ones(3), 1, out=out)
    assert out.tolist() == [0, 0, 0]
    wide = lamella.zeros(3, dtype=lamella.float64)
    assert lamella.eq(lamella.ones(3), 1, out=wide).tolist() == [1.0, 1.0, 1.0]
