"""Every pointwise operator against numpy: values, dtypes, shapes and forms."""

import lattis
import numpy as np
import pytest
from arrays import (
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
    to_lattis,
    to_numpy,
)
from hypothesis import given
from hypothesis import strategies as st
from pointwise_ops import BINARY, DIVISIONS, EXACT, MATHS, UNARY, Op, call, compute_dtype, expected

CELLS = [pytest.param(op, dtype, id=f"{op.name}-{dtype}") for op in EXACT for dtype in op.takes]
MATHS_CELLS = [(name, dtype) for name in MATHS for dtype in COMPUTED]
INPLACE = [op.name for op in EXACT if op.name not in ("maximum", "minimum")] + MATHS


@st.composite
def operands(draw, op, dtype, **limits):
    """Broadcastable operands in arbitrary layouts: arrays and tensors."""
    drawn = [draw(pairs(dtype, shape, **limits)) for shape in draw(broadcastable(op.inputs))]
    return [a for a, _ in drawn], [t for _, t in drawn]


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op, dtype", CELLS)
@given(data=st.data())
def test_functional(op, dtype, data):
    arrays, tensors = data.draw(operands(op, dtype))
    before = [bits(t) for t in tensors]
    assert_same(
        call(op, *tensors), expected(op, dtype, *arrays), op.name in ("add", "sub", "mul", "div", "neg", "sqrt")
    )
    assert [bits(t) for t in tensors] == before


@pytest.mark.parametrize("op, dtype", CELLS)
@given(data=st.data())
def test_method_is_function(op, dtype, data):
    arrays, tensors = data.draw(operands(op, dtype))
    assert_same(getattr(tensors[0], op.name)(*tensors[1:]), expected(op, dtype, *arrays))


@pytest.mark.parametrize("op, dtype", CELLS)
@given(data=st.data())
def test_out(op, dtype, data):
    arrays, tensors = data.draw(operands(op, dtype))
    want = expected(op, dtype, *arrays)
    layout = data.draw(layouts(want.shape, expanded=False))
    memory = lattis.zeros(layout.span, dtype=lt_dtype(name_of(want.dtype)))
    out = layout.tensor(memory)
    address = out.data_ptr()
    assert call(op, *tensors, out=out) is out
    assert out.data_ptr() == address and out.stride() == layout.tensor(memory).stride()
    assert_same(out, want)
    untouched = np.ones(layout.span, bool)
    layout.array(untouched)[...] = False
    assert not to_numpy(memory)[untouched].any()


@pytest.mark.parametrize("op, dtype", [c for c in CELLS if c.values[0].name in INPLACE])
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


@pytest.mark.parametrize("name, dtype", MATHS_CELLS)
@given(data=st.data())
def test_maths_functions(name, dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(
            x.astype(np.float32 if class_of(dtype) < 2 else np_dtype(dtype)).astype(np.longdouble)
        )
    result = getattr(lattis, name)(t)
    assert name_of(result.dtype) == (dtype if class_of(dtype) == 2 else "float32")
    assert tuple(result.shape) == x.shape
    assert_close(result, exact)


RANGES = {
    "exp": [(-104, 89), (-1e-3, 1e-3), (-750, 710)],
    "log": [(0, 1e-30), (0.5, 2), (0, 1e30)],
    "sin": [(-7, 7), (-1e5, 1e5), (-1e-6, 1e-6)],
    "cos": [(-7, 7), (-1e5, 1e5), (-1e-6, 1e-6)],
    "tanh": [(-1, 1), (-25, 25), (-1e-6, 1e-6)],
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", MATHS)
def test_maths_functions_over_their_ranges(name, dtype):
    for low, high in RANGES[name]:
        with np.errstate(all="ignore"):
            x = np.random.default_rng(7).uniform(low, high, 20000).astype(np_dtype(dtype))
            exact = getattr(np, name)(x.astype(np.longdouble))
        assert_close(getattr(lattis, name)(to_lattis(x)), exact)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_powers(dtype):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 8, 20000).astype(np_dtype(dtype)), rng.uniform(-4, 4, 20000).astype(np_dtype(dtype))
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        assert_close(lattis.pow(to_lattis(x), to_lattis(y)), exact)
        assert_close(to_lattis(x) ** 2.5, np.power(x.astype(np.longdouble), np.longdouble(2.5)))
        assert_close(lattis.pow(2.5, to_lattis(y)), np.power(np.longdouble(2.5), y.astype(np.longdouble)))


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_powers(dtype, x):
    y = np.array([0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, np.inf, -np.inf, np.nan], dtype)
    x = np.full_like(y, x)
    with np.errstate(all="ignore"):
        assert_same(lattis.pow(to_lattis(x), to_lattis(y)), np.power(x, y))


@pytest.mark.parametrize("dtype", COMPUTED_INTEGERS)
@given(data=st.data())
def test_integer_powers(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    y, e = data.draw(pairs(dtype, x.shape, low=0, high=12))
    with np.errstate(all="ignore"):
        assert_same(lattis.pow(t, e), np.power(x, y))
        assert_same(t**3, np.power(x, np_dtype(dtype).type(3)))


def test_negative_integer_powers():
    x = lattis.tensor([1, -1, 2, -3, 1, -1])
    y = lattis.tensor([-1, -1, -1, -2, -2, -2])
    assert (x**y).tolist() == [int(1 / b**-e) for b, e in zip(x.tolist(), y.tolist(), strict=True)]
    with pytest.raises(RuntimeError, match=r"pow: argument 'exponent'.*negative integer power"):
        x**-1
    assert lattis.pow(
        lattis.tensor([True, True, False, False]), lattis.tensor([True, False, True, False])
    ).tolist() == [bool(int(b) ** int(e)) for b, e in [(True, True), (True, False), (False, True), (False, False)]]


@pytest.mark.parametrize("op, dtype", [pytest.param(o, d, id=f"{o.name}-{d}") for o in DIVISIONS for d in REAL])
@given(data=st.data())
def test_rounding_division(op, dtype, data):
    arrays, tensors = data.draw(operands(op, dtype, nonzero=class_of(dtype) == 1))
    want = expected(op, dtype, *arrays)
    assert_same(lattis.div(*tensors, rounding_mode=op.name), want)
    if op.name == "floor":
        assert_same(lattis.floor_divide(*tensors), want)
        assert_same(tensors[0] // tensors[1], want)


@pytest.mark.parametrize("dtype", REAL)
def test_rounding_division_by_python(dtype):
    pairs_ = [(7, 2), (-7, 2), (0, 3), (6, 3), (-6, 3), (1, 3)] + ([] if dtype == "uint8" else [(7, -2), (-1, -3)])
    if dtype == "uint8":
        pairs_ = [(a, b) for a, b in pairs_ if a >= 0]
    x, y = (lattis.tensor(list(v), dtype=lt_dtype(dtype)) for v in zip(*pairs_, strict=True))
    assert lattis.div(x, y, rounding_mode="floor").tolist() == [a // b for a, b in pairs_]
    assert lattis.div(x, y, rounding_mode="trunc").tolist() == [int(a / b) for a, b in pairs_]
    assert (x // y).tolist() == [a // b for a, b in pairs_]


@pytest.mark.parametrize("dtype", COMPUTED_INTEGERS)
@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_integer_division_by_zero(dtype, mode):
    x = lattis.tensor([1, 2, 3], dtype=lt_dtype(dtype))
    for zero in (lattis.tensor([1, 0, 1], dtype=lt_dtype(dtype)), 0):
        with pytest.raises(RuntimeError, match=r"divide.*division by zero"):
            lattis.div(x, zero, rounding_mode=mode)
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_smallest_integer_by_minus_one(dtype):
    low = np.iinfo(dtype).min
    x, y = np.array([low, low, 5], dtype), np.array([-1, 1, -1], dtype)
    with np.errstate(all="ignore"):
        assert_same(lattis.floor_divide(to_lattis(x), to_lattis(y)), np.floor_divide(x, y))
        assert_same(lattis.div(to_lattis(x), to_lattis(y), rounding_mode="trunc"), np.floor_divide(x, y))
        assert_same(abs(to_lattis(x)), np.abs(x))
        assert_same(-to_lattis(x), -x)


def test_unknown_rounding_mode():
    with pytest.raises(RuntimeError, match="rounding_mode.*'ceil'"):
        lattis.div(lattis.ones(1), 2, rounding_mode="ceil")
    assert lattis.div(lattis.tensor([7]), 2, rounding_mode=None).tolist() == [3.5]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("alpha", [2, 3])
@given(data=st.data())
def test_alpha(dtype, alpha, data):
    op = Op("add", 2, REAL, None)
    (x, y), (a, b) = data.draw(operands(op, dtype))
    compute = compute_dtype(op, dtype)
    factor = np.dtype(compute).type(alpha)
    p, q = x.astype(compute), y.astype(compute)
    with np.errstate(all="ignore"):
        assert_same(lattis.add(a, b, alpha=alpha), (p + factor * q).astype(np_dtype(dtype)))
        assert_same(lattis.sub(a, b, alpha=alpha), (p - factor * q).astype(np_dtype(dtype)))
        assert_same(lattis.rsub(a, b, alpha=alpha), (q - factor * p).astype(np_dtype(dtype)))


def test_alpha_that_does_not_fit():
    x = lattis.tensor([1, 2])
    with pytest.raises(RuntimeError, match="add: argument 'alpha'"):
        lattis.add(x, x, alpha=1.5)
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", COMPUTED)
@given(data=st.data())
def test_where(dtype, data):
    s0, s1, s2 = data.draw(broadcastable(3))
    (c, m), (x, a), (y, b) = (data.draw(pairs(d, s)) for d, s in (("bool", s0), (dtype, s1), (dtype, s2)))
    want = np.where(c, x, y)
    assert_same(lattis.where(m, a, b), want)
    out = lattis.empty(want.shape, dtype=lt_dtype(dtype))
    address = out.data_ptr()
    assert lattis.where(m, a, b, out=out) is out and out.data_ptr() == address
    assert_same(out, want)
    number = True if dtype == "bool" else 1
    assert_same(lattis.where(m, a, number), np.where(c, x, np.asarray(number, x.dtype)))


def test_where_with_numbers():
    mask = lattis.tensor([True, False])
    assert lattis.where(mask, 1, 0).tolist() == [1, 0]
    assert lattis.where(mask, 1.5, lattis.tensor([1, 2])).tolist() == [1.5, 2.0]
    assert lattis.where(mask, lattis.tensor([1, 2]), 7).tolist() == [1, 7]
    with pytest.raises(RuntimeError, match="where: argument 'condition'.*bool"):
        lattis.where(lattis.tensor([1, 0]), 1, 0)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("low, high", [(1, 3), (None, 2), (1, None), (3, 1)])
@given(data=st.data())
def test_clamp(dtype, low, high, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    kept = x.copy()
    with np.errstate(all="ignore"):
        want = x if low is None else np.where(x < low, x.dtype.type(low), x)
        want = want if high is None else np.where(want > high, x.dtype.type(high), want)
    assert_same(lattis.clamp(t, low, high), want)
    assert_same(t.clamp(min=low, max=high), want)
    assert_same(t, kept)
    assert t.clamp_(low, high) is t
    assert_same(t, want)


def test_clamp_promotes_with_its_bounds():
    assert lattis.clamp(lattis.tensor([1, 2, 3]), 1.5).dtype is lattis.float32
    assert lattis.clamp(lattis.tensor([1, 2, 3]), 1.5, 2.5).tolist() == [1.5, 2.0, 2.5]


# ---- numbers as operands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "eq", "lt", "ge"])
@given(data=st.data())
def test_number_equals_tensor_of_that_number(name, dtype, data):
    op = next(o for o in BINARY if o.name == name)
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    number = data.draw(st.integers(0, 9))
    assert_same(call(op, t, number), expected(op, dtype, x, np.asarray(number, np_dtype(dtype))))


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", BINARY + DIVISIONS, ids=lambda op: op.name)
def test_shapes_that_do_not_broadcast(op):
    name = {"floor": "floor_divide", "trunc": "_trunc_divide"}.get(op.name, op.name)
    f = getattr(lattis.ops.aten, name)
    with pytest.raises(RuntimeError, match=rf"{name}: shapes \(2, 3\) .*and \(4,\).* do not broadcast"):
        f(lattis.ones(2, 3), lattis.ones(4))


@pytest.mark.parametrize("name", INPLACE)
def test_in_place_cannot_grow(name):
    t = lattis.ones(2)
    if name in MATHS or name in [op.name for op in UNARY]:
        shared = lattis.ones(1).expand(3)
        with pytest.raises(RuntimeError, match=rf"{name}_: argument 'self'.*share one memory location"):
            getattr(shared, name + "_")()
        return
    with pytest.raises(RuntimeError, match=rf"{name}_: argument 'self' has shape \(2,\)"):
        getattr(t, name + "_")(lattis.ones(3, 2))
    assert t.tolist() == [1.0, 1.0] and t._version == lattis.ones(2)._version


@pytest.mark.parametrize("name", ["neg", "sub", "rsub"])
def test_bool_is_refused_where_torch_refuses_it(name):
    b = lattis.tensor([True])
    with pytest.raises(RuntimeError, match=f"{name}: .*bool"):
        getattr(lattis, name)(*([b] if name == "neg" else [b, b]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_meta_knows_every_dtype(dtype):
    """Shape and dtype follow on meta whether or not the host has the loops yet."""
    x = lattis.empty(2, 3, dtype=lt_dtype(dtype), device="meta")
    assert (x * x).dtype is lt_dtype(dtype)
    assert (x == x[0]).dtype is lattis.bool and (x == x[0]).shape == (2, 3)
    assert lattis.exp(x).dtype is (lt_dtype(dtype) if class_of(dtype) >= 2 else lattis.float32)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "complex64", "complex128"])
def test_dtypes_without_loops_say_so(dtype):
    x = lattis.ones(2, dtype=lt_dtype(dtype))
    try:
        assert_same(x + x, np.full(2, 2, dtype))
    except NotImplementedError as e:
        assert "add" in str(e) and dtype in str(e) and ".to(" in str(e)


# ---- out= ------------------------------------------------------------------------------------------------------------


def test_out_is_resized_and_keeps_identity():
    out = lattis.empty(0)
    assert lattis.add(lattis.ones(2, 3), 1, out=out) is out
    assert out.shape == (2, 3) and out.tolist() == [[2.0] * 3] * 2


def test_out_that_cannot_hold_the_result():
    out = lattis.zeros(3, dtype=lattis.int64)
    with pytest.raises(RuntimeError, match="add: argument 'out'.*int64"):
        lattis.add(lattis.ones(3), 1, out=out)
    assert out.tolist() == [0, 0, 0]
    wide = lattis.zeros(3, dtype=lattis.float64)
    assert lattis.eq(lattis.ones(3), 1, out=wide).tolist() == [1.0, 1.0, 1.0]
