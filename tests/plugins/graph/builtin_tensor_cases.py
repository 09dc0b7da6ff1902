"""Tests of the builtins of graphs on tensors, by the name of the builtin: numpy has the sizes and the numbers."""

import lamella
import numpy
import pytest
from lamella.plugins.graph import _python

ARRAYS = [
    numpy.arange(6, dtype=numpy.float32).reshape(2, 3),
    numpy.arange(24, dtype=numpy.int64).reshape(2, 3, 4).transpose(2, 0, 1),
    numpy.array(2.5),
    numpy.zeros((0, 3), numpy.uint8),
    numpy.array([True, False]),
    numpy.array([1 + 2j, -1j]),
    numpy.arange(8, dtype=numpy.int16)[1::3],
]
KINDS = ((bool, numpy.bool_), (int, numpy.integer), (float, numpy.floating), (complex, numpy.complexfloating))
call = _python.builtin
TESTED: dict = {}


def tests(*names: str):
    """Marks the decorated function as the test of some builtins."""

    def add(function):
        TESTED.update(dict.fromkeys(names, function))
        return function

    return add


def of_all(name: str, oracle) -> None:
    """Adds a test that compares a builtin on each array's tensor with the oracle on the array."""

    def test():
        for array in ARRAYS:
            assert call(name, (lamella.from_numpy(array),)) == oracle(array), array

    TESTED[name] = test


of_all("aten::size", lambda a: list(a.shape))
of_all("aten::dim", lambda a: a.ndim)
of_all("aten::numel", lambda a: a.size)
of_all("aten::element_size", lambda a: a.itemsize)
of_all("prim::itemsize", lambda a: a.itemsize)
of_all("prim::nbytes", lambda a: a.nbytes)
of_all("aten::tolist", lambda a: a.tolist())
of_all("aten::is_floating_point", lambda a: numpy.issubdtype(a.dtype, numpy.floating))
of_all("aten::is_complex", lambda a: numpy.issubdtype(a.dtype, numpy.complexfloating))
of_all("aten::is_signed", lambda a: a.dtype.kind not in "bu")
of_all("aten::is_contiguous", lambda a: a.flags.c_contiguous)
of_all("prim::dtype", lambda a: getattr(lamella, a.dtype.name))
of_all("prim::device", lambda a: lamella.device("cpu"))
of_all("prim::layout", lambda a: lamella.strided)
of_all("aten::get_device", lambda a: -1)
of_all("prim::is_cpu", lambda a: True)
for name in ("is_cuda", "is_meta", "is_mps", "is_xpu", "is_sparse", "is_quantized", "requires_grad"):
    of_all(f"prim::{name}", lambda a: False)
for name in ("is_conj", "is_neg", "is_inference"):
    of_all(f"aten::{name}", lambda a: False)


@tests("aten::size.int", "aten::stride", "aten::stride.int", "aten::len.Tensor", "aten::storage_offset")
def sizes():
    array = ARRAYS[1]
    t = lamella.from_numpy(array)
    strides = [s // array.itemsize for s in array.strides]
    assert call("aten::stride", (t,)) == strides
    for dim in range(-3, 3):
        assert call("aten::size.int", (t, dim)) == array.shape[dim]
        assert call("aten::stride.int", (t, dim)) == strides[dim]
    with pytest.raises(IndexError, match="expected a dimension of 3, got 3"):
        call("aten::size.int", (t, 3))
    assert call("aten::len.Tensor", (t,)) == len(array)
    with pytest.raises(TypeError, match="len"):
        call("aten::len.Tensor", (lamella.ones(()),))
    assert call("aten::storage_offset", (lamella.arange(9)[3:],)) == 3


@tests("aten::is_same_size")
def same_size():
    assert call("aten::is_same_size", (lamella.ones(2, 3), lamella.zeros(2, 3)))
    assert not call("aten::is_same_size", (lamella.ones(2, 3), lamella.zeros(3, 2)))


@tests("aten::Int.Tensor", "aten::Float.Tensor", "aten::Bool.Tensor", "aten::Complex.Tensor", "aten::IntImplicit")
@tests("aten::FloatImplicit", "aten::ComplexImplicit", "aten::ScalarImplicit")
def items():
    for number in (3, -2.75, True, 0.0):
        t = lamella.tensor([number], dtype=lamella.float64) if isinstance(number, float) else lamella.tensor(number)
        assert call("aten::Int.Tensor", (t,)) == call("aten::IntImplicit", (t,)) == int(number)
        assert call("aten::Float.Tensor", (t,)) == call("aten::FloatImplicit", (t,)) == float(number)
        assert call("aten::Complex.Tensor", (t,)) == call("aten::ComplexImplicit", (t,)) == complex(number)
        assert call("aten::Bool.Tensor", (t,)) is bool(number)
        scalar = call("aten::ScalarImplicit", (t,))
        assert scalar == number and type(scalar) is type(number)
    with pytest.raises(RuntimeError, match="one element"):
        call("aten::Int.Tensor", (lamella.ones(2),))


@tests("aten::tensor.t", "aten::as_tensor.t")
def made():
    nested = [[1, 2, 3], [4, 5, 6]]
    for data in (nested, [True, False], [1.5, 2], [1j, 2], 7, 2.5, [], [[], []], [lamella.tensor(3), 4]):
        plain = [3, 4] if isinstance(data, list) and data and isinstance(data[0], lamella.Tensor) else data
        t, array = call("aten::tensor.t", (data,)), numpy.array(plain)
        assert t.shape == array.shape and t.tolist() == array.tolist(), data
        kind = next(k for k, numpys in KINDS if numpy.issubdtype(array.dtype, numpys))
        natural = {bool: lamella.bool, int: lamella.int64, float: lamella.float32, complex: lamella.complex64}
        assert t.dtype == natural[kind]
        assert call("aten::as_tensor.t", (data,)).tolist() == array.tolist()
    assert call("aten::tensor.t", ([1, 300], lamella.int16)).tolist() == numpy.array([1, 300], numpy.int16).tolist()
    assert call("aten::tensor.t", ([1.0], None, lamella.device("meta"))).device == lamella.device("meta")
    assert call("aten::tensor.t", ([1.0], None, None, True)).requires_grad
    t = lamella.ones(2)
    assert call("aten::as_tensor.t", (t,)).data_ptr() == t.data_ptr() != call("aten::tensor.t", (t,)).data_ptr()
    for data, dtype, kind in [
        ([[1], [2, 3]], None, ValueError),
        ([1, [2]], None, ValueError),
        ([[1], 2], None, ValueError),
        (["a"], None, TypeError),
        ([300], lamella.int8, RuntimeError),
        ([1j], lamella.float32, TypeError),
        ([float("nan")], lamella.int64, RuntimeError),
    ]:
        with pytest.raises(kind, match="tensor: argument 'data'"):
            call("aten::tensor.t", (data, dtype))


@tests("aten::__contains__.Tensor", "aten::__contains__.Scalar")
def contains():
    array = ARRAYS[0]
    t = lamella.from_numpy(array)
    for x in (3, 2.5, 5.0):
        assert call("aten::__contains__.Scalar", (t, x)) is (x in array)
        assert call("aten::__contains__.Tensor", (t, lamella.tensor(x))) is (x in array)


@tests("aten::requires_grad_", "prim::requires_grad", "prim::grad", "aten::backward", "aten::is_leaf", "prim::data")
def gradients():
    x = lamella.arange(3.0)
    call("aten::requires_grad_", (x,))
    assert call("prim::requires_grad", (x,)) and call("aten::is_leaf", (x,)) and call("prim::grad", (x,)) is None
    y = (x**2).sum()
    assert not call("aten::is_leaf", (y,))
    call("aten::backward", (y, None, True))
    call("aten::backward", (y, lamella.tensor(2.0)))
    assert call("prim::grad", (x,)).tolist() == [0, 6, 12]  # three times 2 * x
    data = call("prim::data", (x,))
    assert not data.requires_grad and data.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError):
        call("aten::requires_grad_", (lamella.arange(3),))


@tests("aten::grad")
def gradients_of_inputs():
    x, unused = lamella.arange(3.0, requires_grad=True), lamella.ones(1, requires_grad=True)
    (got,) = call("aten::grad", ([(x**3).sum()], [x]))
    assert got.tolist() == [0, 3, 12] and x.grad is None
    (got,) = call("aten::grad", ([x * 2], [x], [lamella.ones(3)]))
    assert got.tolist() == [2, 2, 2]
    assert call("aten::grad", ([x.sum()], [unused], None, None, False, True)) == [None]
    with pytest.raises(RuntimeError, match="do not depend on input 0"):
        call("aten::grad", ([x.sum()], [unused]))


@tests("aten::is_grad_enabled", "aten::set_grad_enabled")
def grad_mode():
    assert call("aten::is_grad_enabled", ())
    call("aten::set_grad_enabled", (False,))
    try:
        assert not lamella.is_grad_enabled() and not call("aten::is_grad_enabled", ())
    finally:
        call("aten::set_grad_enabled", (True,))
    assert lamella.is_grad_enabled()


@tests("aten::manual_seed", "aten::initial_seed")
def seeds():
    call("aten::manual_seed", (7,))
    assert lamella.initial_seed() == call("aten::initial_seed", ()) == 7
    first = lamella.rand(3)
    lamella.manual_seed(7)
    assert lamella.equal(lamella.rand(3), first)


@tests("aten::get_default_dtype")
def default_dtype():
    assert call("aten::get_default_dtype", ()) == lamella.float32


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128")


@tests("aten::promote_types", "aten::can_cast", "aten::result_type.Tensor", "aten::result_type.Scalar")
def promotions():
    class_of = {d: "biufc".index(numpy.dtype(d).kind.replace("u", "i")) for d in DTYPES}
    for a in DTYPES:
        for b in DTYPES:
            x, y = getattr(lamella, a), getattr(lamella, b)
            got = call("aten::promote_types", (x, y))
            if class_of[a] == class_of[b]:
                assert str(got) == f"lamella.{numpy.promote_types(a, b)}"
            elif class_of[a] in (0, 2) and class_of[b] in (0, 2):  # integers and bool beside a float take its dtype
                assert got == (x if class_of[a] > class_of[b] else y)
            assert got == call("aten::result_type.Tensor", (lamella.ones(2).to(x), lamella.ones(2).to(y)))
            if "u" not in a + b:
                assert call("aten::can_cast", (x, y)) == numpy.can_cast(a, b, "same_kind")
    with pytest.raises(RuntimeError):
        call("aten::promote_types", (lamella.uint64, lamella.int8))
    ints = lamella.ones(2, dtype=lamella.int32)
    assert call("aten::result_type.Scalar", (ints, 3)) == lamella.int32
    assert call("aten::result_type.Scalar", (ints, 3.5)) == lamella.float32
    assert call("aten::result_type.Scalar", (ints, True)) == lamella.int32


@tests("prim::is_floating_point", "prim::is_complex", "prim::is_signed", "prim::itemsize.ScalarType")
def dtypes():
    for d in DTYPES:
        own, numpys = getattr(lamella, d), numpy.dtype(d)
        assert call("prim::is_floating_point", (own,)) == (numpys.kind == "f")
        assert call("prim::is_complex", (own,)) == (numpys.kind == "c")
        assert call("prim::is_signed", (own,)) == (numpys.kind not in "bu")
        assert call("prim::itemsize.ScalarType", (own,)) == numpys.itemsize


@tests("aten::device.str", "aten::device.with_index", "prim::type", "prim::index")
def devices():
    assert call("aten::device.str", ("meta",)) == lamella.device("meta")
    assert call("aten::device.with_index", ("cpu", 0)) == lamella.device("cpu")
    assert call("prim::type", (lamella.device("cpu"),)) == "cpu"
    assert call("prim::index", (lamella.device("cpu"),)) is None
    for wrong in ("nowhere", "cpu:x", ""):
        with pytest.raises((RuntimeError, ValueError)):
            call("aten::device.str", (wrong,))


@tests("prim::id")
def identity():
    t = lamella.ones(1)
    assert call("prim::id", (t,)) == call("prim::id", (t,)) != call("prim::id", (lamella.ones(1),))


@tests("aten::warn")
def warning():
    with pytest.warns(UserWarning, match="careful"):
        call("aten::warn", ("careful",))


@tests("aten::_infer_size")
def broadcast():
    for a, b in [([2, 3], [3]), ([], [4]), ([1, 5], [6, 1]), ([0, 1], [1])]:
        assert call("aten::_infer_size", (a, b)) == list(numpy.broadcast_shapes(tuple(a), tuple(b)))
    with pytest.raises(RuntimeError, match="do not broadcast"):
        call("aten::_infer_size", ([2], [3]))


# The executor alone makes enums and futures; its tests run programs that use them.
for name in ("prim::EnumName", "prim::EnumValue", "aten::wait"):
    TESTED[name] = None
