"""Tensors with numpy: ufuncs, numpy's operands, reductions by numpy's names, and buffers."""

import gc
import hashlib
import operator
import warnings
import weakref

import lamella
import numpy as np
import pytest
from arrays import COMPUTED_INTEGERS, FLOATS, assert_same, lt_dtype, np_dtype, pairs, values
from hypothesis import given
from hypothesis import strategies as st

NUMPY_DTYPES = [d for d in ("bool", *COMPUTED_INTEGERS, *FLOATS) if d != "bfloat16"]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        yield


def by_name(f):
    return getattr(f, "__name__", str(f))


# ---- operands from numpy ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", BINARY + COMPARISONS, ids=by_name)
@given(data=st.data())
def test_an_array_is_an_operand_on_either_side(function, data):
    x, t = data.draw(pairs("float32", (2, 3), low=1, high=5))
    y = values("float64", 3, data.draw(st.integers(0, 99)), 1, 5)
    for got, want in ((function(t, y), function(x, y)), (function(y, t), function(y, x))):
        assert type(got) is lamella.Tensor and got.dtype is lt_dtype(str(want.dtype))
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-14)


@pytest.mark.parametrize("scalar", [np.float32(2), np.float64(2), np.int64(2), np.uint8(2), np.bool_(True)], ids=repr)
@pytest.mark.parametrize("function", [operator.add, operator.mul, operator.truediv, operator.lt], ids=by_name)
def test_numpy_scalars_are_numbers(function, scalar):
    """A numpy scalar, like a Python number, does not widen a tensor of the same kind."""
    t = lamella.tensor([1.0, 2.0, 3.0])
    number = scalar.item()
    assert_same(function(t, scalar), function(t, number).numpy())
    assert_same(function(scalar, t), function(number, t).numpy())


def test_matrix_products():
    x, y = values("float64", 6, 1, -3, 3).reshape(2, 3), values("float32", 6, 2, -3, 3).reshape(3, 2)
    t, u = lamella.tensor(x), lamella.tensor(y)
    for got in (t @ y, x @ u, np.matmul(t, u), np.matmul(x, u)):
        assert type(got) is lamella.Tensor and got.dtype is lamella.float64
        np.testing.assert_allclose(got.numpy(), x @ y, rtol=1e-12)


def test_augmented_assignment_keeps_its_target():
    t, x = lamella.zeros(3), np.ones(3)
    same, address, version = t, t.data_ptr(), t._version
    t += x
    t *= np.float32(3)
    t -= np.array(1.0)
    assert t is same and t.data_ptr() == address and t.tolist() == [2.0] * 3 and t._version == version + 3
    array = x
    x += t
    assert array is x and type(x) is np.ndarray and x.tolist() == [3.0] * 3
    with pytest.raises(RuntimeError, match="add_: .*broadcast"):
        t += np.ones(4)
    with pytest.raises(RuntimeError, match="float64|cast"):
        n = lamella.arange(3)
        n += np.ones(3)


def test_reversed_and_foreign_arrays_are_operands():
    t = lamella.arange(4)
    for array in (np.arange(8)[::-2], np.broadcast_to(np.int64(3), 4), np.arange(8)[::2]):
        assert (t + array).tolist() == [i + n for i, n in enumerate(array.tolist())]
        assert (array - t).tolist() == [n - i for i, n in enumerate(array.tolist())]
        u = t.clone()
        u += array
        assert u.tolist() == (t + array).tolist()


@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.array([None, 1], object), np.zeros(2, "M8[s]")])
def test_arrays_without_numbers(array):
    with pytest.raises((TypeError, np._core._exceptions.UFuncTypeError)):
        array + lamella.ones(2)
    with pytest.raises((TypeError, np._core._exceptions.UFuncTypeError)):
        lamella.ones(2) + array


# ---- ufuncs ----------------------------------------------------------------------------------------------------------

UNARY = [np.sin, np.cos, np.exp, np.log, np.sqrt, np.tanh, np.arctan, np.floor, np.square, np.cbrt, np.isnan, np.sign]
UNARY += [np.negative, np.positive, np.absolute, np.expm1, np.isfinite, np.rint, np.spacing, np.logical_not]


@pytest.mark.parametrize("ufunc", UNARY, ids=by_name)
@given(data=st.data())
def test_unary_ufuncs(ufunc, data):
    x, t = data.draw(pairs("float32", (2, 3), low=1, high=9))
    got = ufunc(t)
    assert type(got) is lamella.Tensor and tuple(got.shape) == (2, 3)
    assert got.dtype is lt_dtype(str(ufunc(x).dtype))
    np.testing.assert_allclose(got.numpy(), ufunc(x), rtol=1e-6)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.arctan2, np.fmod, np.hypot, np.less])
@given(data=st.data())
def test_binary_ufuncs(ufunc, data):
    x, t = data.draw(pairs("float64", (2, 3), low=1, high=9))
    y, u = data.draw(pairs("float64", (3,), low=1, high=9))
    for got, want in (
        (ufunc(t, u), ufunc(x, y)),
        (ufunc(x, u), ufunc(x, y)),
        (ufunc(t, 2), ufunc(x, 2)),
        (ufunc(2.5, u), ufunc(2.5, y)),
        (ufunc(t, [1, 2, 3]), ufunc(x, [1, 2, 3])),
    ):
        assert type(got) is lamella.Tensor
        if ufunc in (np.arctan2, np.hypot):  # the last bit may differ
            assert got.dtype is lamella.float64
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-15)
        else:
            assert_same(got, want)


def test_ufuncs_of_several_results():
    t = lamella.tensor([1.5, -2.25])
    fraction, whole = np.modf(t)
    assert fraction.tolist() == [0.5, -0.25] and whole.tolist() == [1.0, -2.0]
    quotient, rest = np.divmod(lamella.tensor([7, -7]), 3)
    assert quotient.tolist() == [2, -3] and rest.tolist() == [1, 2]


def test_ufunc_methods():
    x = values("float64", 6, 1, -3, 3).reshape(2, 3)
    t = lamella.tensor(x)
    assert_same(np.add.reduce(t, axis=1), np.add.reduce(x, axis=1))
    assert_same(np.add.reduce(t, axis=None), np.float64(np.add.reduce(x, axis=None)))
    assert_same(np.multiply.accumulate(t, axis=1), np.multiply.accumulate(x, axis=1))
    assert_same(np.subtract.outer(t, x), np.subtract.outer(x, x))
    version = t._version
    np.add.at(t, (0, [1, 1]), 1.0)
    np.add.at(x, (0, lamella.tensor([1, 1])), 1.0)
    assert_same(t, x)
    assert t._version == version + 1


def test_where_a_ufunc_writes():
    t = lamella.tensor([0.0, 1.0])
    array = np.empty(2, np.float32)
    assert np.exp(t, out=array) is array and array[0] == 1
    target = lamella.full((2,), 9.0)
    version = target._version
    assert np.add(t, 1, out=target, where=[True, False]) is target and target.tolist() == [1.0, 9.0]
    assert target._version == version + 1
    wide = np.add(t, t, dtype=np.float64)
    assert type(wide) is lamella.Tensor and wide.dtype is lamella.float64
    with pytest.raises(TypeError, match="same_kind"):
        np.add(t, 0.5, out=lamella.zeros(2, dtype=lamella.int64))
    pair = np.modf(t, out=(target, None))
    assert pair[0] is target and pair[1].tolist() == [0.0, 1.0]


def test_bfloat16_keeps_its_dtype():
    t = lamella.tensor([1.0, 8.0], dtype=lamella.bfloat16)
    for got in (np.sin(t), np.cbrt(t), np.add.reduce(t)):
        assert got.dtype is lamella.bfloat16
    assert np.cbrt(t).tolist() == [1.0, 2.0]
    np.cbrt(t, out=t)
    assert t.tolist() == [1.0, 2.0]


def test_operators_run_where_there_is_no_memory():
    assert np.sin(lamella.empty(2, device="meta")).device.type == "meta"
    with pytest.raises(TypeError, match="numpy: .*meta"):
        np.cbrt(lamella.empty(2, device="meta"))


def test_others_may_decide():
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc.__name__

    assert np.add(lamella.ones(1), Other()) == "add" and np.add(Other(), lamella.ones(1)) == "add"


def test_priority():
    assert lamella.ones(1).__array_priority__ == 1000


# ---- numpy's functions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [np.sum, np.mean], ids=by_name)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(function, axis, keepdims):
    x = values("float64", 12, 1, -3, 3).reshape(3, 4)
    got = function(lamella.tensor(x), axis=axis, keepdims=keepdims)
    assert type(got) is lamella.Tensor
    np.testing.assert_allclose(got.numpy(), function(x, axis=axis, keepdims=keepdims), rtol=1e-14)
    assert got.shape == np.shape(function(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("function", [np.max, np.min, np.argmax, np.prod, np.any, np.all, np.std, np.var], ids=by_name)
def test_reductions_of_everything(function):
    x = values("float64", 12, 1, 1, 3).reshape(3, 4)
    np.testing.assert_allclose(np.asarray(function(lamella.tensor(x))), function(x), rtol=1e-14)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.cumsum(t),
        lambda t: np.clip(t, 0, 1),
        lambda t: np.round(t),
        lambda t: np.transpose(t),
        lambda t: np.reshape(t, (3, 2)),
        lambda t: np.squeeze(t),
        lambda t: np.concatenate([t, t]),
        lambda t: np.where(t > 0, t, 0),
        lambda t: np.sort(t),
        lambda t: np.dot(t, t.T),
        lambda t: np.linalg.norm(t),
    ],
)
def test_functions_give_numpys_values(call):
    x = values("float64", 6, 1, -3, 3).reshape(2, 3)
    np.testing.assert_allclose(np.asarray(call(lamella.tensor(x))), call(x), rtol=1e-12)


def test_numpys_names_of_arguments():
    t = lamella.arange(6.0).view(2, 3)
    assert t.sum(axis=0).tolist() == [3.0, 5.0, 7.0] and lamella.sum(input=t, axis=1, keepdims=True).shape == (2, 1)
    assert t.max(axis=None).item() == 5.0 and t.max(axis=1).values.tolist() == [2.0, 5.0]
    for wrong in ({"axis": 0, "dim": 0}, {"dim": 0, "axis": 1}):
        with pytest.raises(TypeError, match="sum: got two values for argument"):
            lamella.sum(t, **wrong)
    with pytest.raises(TypeError, match="sum: got two values for argument 'axis'"):
        lamella.sum(t, dim=1, axis=1, keepdim=True)
    with pytest.raises(TypeError, match="has no argument 'axis'"):
        lamella.add(t, t, axis=1)
    with pytest.raises(TypeError, match="two values|no argument"):
        lamella.sum(t, self=t)


# ---- the number first ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["add", "mul", "sub", "div", "pow", "floor_divide", "multiply", "subtract"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("number", [3, 2.5, np.float32(1.5), np.int64(2)], ids=repr)
@pytest.mark.parametrize("shape", [(3,), ()])
def test_number_first(name, dtype, number, shape):
    """The result equals that of Python's operator; a number does not change the dtype within its kind."""
    symbols = {"div": "truediv", "floor_divide": "floordiv", "multiply": "mul", "subtract": "sub"}
    symbol = symbols.get(name, name)
    t = lamella.full(shape, 2, dtype=lt_dtype(dtype))
    plain = number.item() if isinstance(number, np.generic) else number
    got = getattr(lamella, name)(number, t)
    want = getattr(operator, symbol)(plain, t)
    assert got.dtype is want.dtype and got.tolist() == want.tolist()


def test_number_first_with_keywords():
    t, out = lamella.ones(2), lamella.empty(2)
    assert lamella.sub(3, t, alpha=2).tolist() == [1.0, 1.0]
    assert lamella.mul(3, t, out=out) is out and out.tolist() == [3.0, 3.0]
    with pytest.raises(TypeError, match="add: argument 'self' must be Tensor, got int"):
        lamella.add(3, t, alpha=2)
    for wrong in ((3, 4), ("a", t), (None, t)):
        with pytest.raises(TypeError, match="mul: argument 'self' must be Tensor"):
            lamella.mul(*wrong)


# ---- buffers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMPY_DTYPES + ["uint16", "uint32", "uint64", "complex64", "complex128"])
@given(data=st.data())
def test_buffers(dtype, data):
    x, t = data.draw(pairs(dtype, tuple(data.draw(st.lists(st.integers(0, 4), max_size=4)))))
    view = memoryview(t)
    assert view.shape == x.shape and view.nbytes == x.nbytes and view.itemsize == x.itemsize and not view.readonly
    array = np.asarray(view)
    assert array.dtype == np_dtype(dtype)
    np.testing.assert_array_equal(array, x)
    assert view.c_contiguous == t.is_contiguous() and view.f_contiguous == t.T.is_contiguous()
    assert view.tobytes() == x.tobytes()


def test_a_buffer_is_a_window():
    t = lamella.zeros(2, 3)
    memoryview(t[1])[2] = 5.0
    assert t[1, 2].item() == 5.0
    for array in (np.asarray(t), np.asarray(memoryview(t))):
        assert array.__array_interface__["data"][0] == t.data_ptr()


@pytest.mark.long
def test_a_buffer_keeps_the_memory():
    t = lamella.full((1000,), 7.0)
    gone, view = weakref.ref(t), memoryview(t)
    del t
    gc.collect()
    spent = [lamella.zeros(1000) for _ in range(8)]
    assert view[999] == 7.0 and gone() is not None
    view.release()
    gc.collect()
    assert gone() is None and spent


def test_readers_without_strides_get_rows_only():
    t = lamella.arange(6).view(2, 3)
    assert hashlib.sha256(t).digest() == hashlib.sha256(np.arange(6).tobytes()).digest()
    with pytest.raises(BufferError, match="not contiguous"):
        hashlib.sha256(t.t())


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: lamella.ones(2, dtype=lamella.bfloat16), "bfloat16"),
        (lambda: lamella.empty(2, device="meta"), "'meta'"),
    ],
)
def test_what_cannot_be_exported(make, text):
    with pytest.raises(BufferError, match=f"buffer: .*{text}"):
        memoryview(make())


# ---- tensors as separate arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["meshgrid", "broadcast_tensors", "vstack"])
def test_lists_of_tensors_may_be_spelled_out(name):
    a, b = lamella.arange(3), lamella.arange(3) + 1
    f = getattr(lamella, name)
    listed, spelled = f([a, b]), f(a, b)
    assert len(listed) == len(spelled)
    assert all(x.tolist() == y.tolist() for x, y in zip(listed, spelled, strict=True))
    with pytest.raises(TypeError, match=f"{name}: argument 'tensors' must be list of Tensor, got int"):
        f(a, 1)
    with pytest.raises(TypeError, match=f"{name}: "):
        f(1, a)


def test_dtypes_that_an_operator_refuses_run_in_numpy():
    t, flags = lamella.tensor([3, 4]), lamella.tensor([True, False])
    same = [
        (np.hypot(t, t), np.hypot([3, 4], [3, 4])),
        (np.sign(lamella.tensor([3j])), np.sign(np.array([3j], np.complex64))),
        (np.left_shift(flags, 1), np.left_shift([True, False], 1)),
        (np.uint64(2**63) + lamella.tensor([1], dtype=lamella.uint64), np.array([2**63 + 1], np.uint64)),
    ]
    for got, want in same:
        assert isinstance(got, lamella.Tensor)
        np.testing.assert_array_equal(np.asarray(got), want)
    with pytest.raises(RuntimeError, match="add"):  # both classes refuse, so the operator raises
        np.add(t, lamella.ones(3))


def test_results_beside_given_ones_are_tensors():
    t, given = lamella.tensor([3, 4]), lamella.zeros(2, dtype=lamella.int64)
    quotient, rest = np.divmod(t, 2, out=(given, None))
    assert quotient is given and isinstance(rest, lamella.Tensor) and rest.tolist() == [1, 0]
