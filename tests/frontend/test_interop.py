"""Data in and out: numpy arrays, DLPack both ways, Python numbers and nested sequences."""

import gc
import weakref

import lamella
import numpy as np
import pytest
from arrays import COMPLEX, DTYPES, FLOATS, INTEGERS, assert_same, lt_dtype, np_dtype, pairs, shapes, to_numpy, values
from hypothesis import given
from hypothesis import strategies as st

NUMPY_DTYPES = [d for d in DTYPES if d != "bfloat16"]


def strided(x, data):
    """Makes a numpy view of `x` with positive strides: every n-th element, perhaps transposed."""
    view = x[(..., *(slice(data.draw(st.integers(0, 1)), None, data.draw(st.integers(1, 2))) for _ in x.shape))]
    return view.T if data.draw(st.booleans()) else view


# ---- numpy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@given(data=st.data())
def test_from_numpy_is_a_window(dtype, data):
    shape = data.draw(shapes())
    x = strided(values(dtype, int(np.prod(shape)), 1).reshape(shape), data)
    t = lamella.from_numpy(x)
    assert_same(t, x)
    if x.size:
        assert t.data_ptr() == x.__array_interface__["data"][0]
        assert all(n == 1 or a * x.itemsize == b for n, a, b in zip(x.shape, t.stride(), x.strides, strict=True))


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_writes_show_on_both_sides(dtype):
    x = np.zeros((2, 3), dtype)
    t = lamella.from_numpy(x)
    x[1, 2] = 1
    assert t[1, 2].item() == 1
    t[0] = 1
    assert x[0].tolist() == [1, 1, 1] and x[1].tolist() == [0, 0, 1]


def test_the_tensor_keeps_the_array_alive_and_lets_go():
    x = np.arange(1000.0)
    gone = weakref.ref(x)
    t = lamella.from_numpy(x)
    view = t[10:]
    del x, t
    gc.collect()
    assert gone() is not None and view[0].item() == 10.0
    del view
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@given(data=st.data())
def test_numpy_is_a_window(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    n = t.numpy()
    np.testing.assert_array_equal(n, x)
    assert n.dtype == x.dtype and n.shape == x.shape
    if x.size:
        assert n.__array_interface__["data"][0] == t.data_ptr() and n.strides == tuple(
            s * x.itemsize for s in t.stride()
        )


def test_numpy_shares_and_keeps_alive():
    t = lamella.zeros(1000)
    n = t[5:].numpy()
    n[0] = 3
    assert t[5].item() == 3
    t[6] = 4
    assert n[1] == 4
    del t
    gc.collect()
    assert lamella.ones(1000).sum().item() == 1000  # new arrays would reuse freed memory
    assert n[:2].tolist() == [3, 4] and not n[2:].any()


def test_numpy_says_what_it_cannot_read():
    with pytest.raises(TypeError, match="numpy: .*bfloat16"):
        lamella.zeros(2, dtype=lamella.bfloat16).numpy()
    with pytest.raises(TypeError, match="numpy: .*meta"):
        lamella.empty(2, device="meta").numpy()


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_array_protocol(dtype):
    x = values(dtype, 6, 3).reshape(2, 3)
    t = lamella.tensor(x)
    shared, copied = np.asarray(t), np.array(t)
    np.testing.assert_array_equal(shared, x)
    np.testing.assert_array_equal(copied, x)
    assert shared.__array_interface__["data"][0] == t.data_ptr()
    assert copied.__array_interface__["data"][0] != t.data_ptr()
    if dtype != "complex128":
        assert np.asarray(t, dtype="complex128").dtype == np.complex128
        with pytest.raises(ValueError, match="copy"):
            np.array(t, dtype="complex128", copy=False)
        with pytest.raises(ValueError, match="__array__: .*copy"):
            t.__array__(np.dtype("complex128"), copy=False)


def test_numpy_functions_take_tensors():
    np.testing.assert_array_equal(np.concatenate([lamella.ones(2), lamella.zeros(1)]), [1, 1, 0])
    assert float(np.mean(lamella.tensor([1.0, 3.0]).numpy())) == 2.0


@pytest.mark.parametrize(
    "array, error, text",
    [
        (np.arange(4)[::-1], ValueError, r"dimension 0 has a negative stride.*copy\(\)"),
        (np.zeros((2, 3))[:, ::-1], ValueError, "dimension 1 has a negative stride"),
        (np.zeros(2, ">i4"), TypeError, "format '>i'"),
        (np.zeros(2, object), TypeError, "not supported|numbers"),
        (np.zeros(2, "U3"), TypeError, "not supported|numbers"),
        (np.zeros(2, "M8[s]"), TypeError, "numpy.ndarray|supported"),
        (np.zeros(2, [("a", "i4"), ("b", "f4")]), TypeError, "not supported"),
        (np.zeros(2, np.longdouble), TypeError, "not supported"),
        (np.zeros(2, "i1,i4")["f1"], ValueError, "multiple|aligned"),
        (np.frombuffer(bytearray(9), np.uint8)[1:].view(np.int64), ValueError, "aligned"),
        ([1, 2], TypeError, "numpy.ndarray, got list"),
        (np.float32(1), TypeError, "numpy.ndarray, got numpy.float32"),
        (None, TypeError, "numpy.ndarray, got None"),
    ],
)
def test_from_numpy_refuses_clearly(array, error, text):
    with pytest.raises(error, match=f"^from_numpy: .*({text})"):
        lamella.from_numpy(array)


def test_from_numpy_accepts_subclasses():
    class Array(np.ndarray):
        pass

    assert lamella.from_numpy(np.arange(3).view(Array)).tolist() == [0, 1, 2]


def test_negative_strides_of_one_element_are_harmless():
    assert lamella.from_numpy(np.arange(4)[:1][::-1]).tolist() == [0]
    assert lamella.from_numpy(np.zeros((0, 3))[::-1]).shape == (0, 3)


# ---- DLPack ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@given(data=st.data())
def test_numpy_imports_our_dlpack(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    n = np.from_dlpack(t)
    assert n.dtype == x.dtype
    np.testing.assert_array_equal(n, x)
    if x.size:
        assert n.__array_interface__["data"][0] == t.data_ptr()


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@given(data=st.data())
def test_we_import_numpys_dlpack(dtype, data):
    shape = data.draw(shapes())
    x = strided(values(dtype, int(np.prod(shape)), 1).reshape(shape), data)
    t = lamella.from_dlpack(x)
    assert_same(t, x)
    if x.size:
        assert t.data_ptr() == x.__array_interface__["data"][0]


def test_dlpack_keeps_alive_and_lets_go():
    t = lamella.arange(1000)
    gone = weakref.ref(t)
    n = np.from_dlpack(t)
    del t
    gc.collect()
    assert n[999] == 999
    del n
    gc.collect()
    assert gone() is None


def test_an_unused_capsule_frees_its_tensor():
    t = lamella.arange(10)
    gone = weakref.ref(t)
    capsules = [t.__dlpack__(), t.__dlpack__(max_version=(1, 0))]
    del t
    gc.collect()
    del capsules
    gc.collect()
    assert gone() is None


def test_a_capsule_is_used_once():
    capsule = lamella.arange(3).__dlpack__()
    assert lamella.from_dlpack(capsule).tolist() == [0, 1, 2]
    with pytest.raises((BufferError, TypeError, ValueError), match="from_dlpack"):
        lamella.from_dlpack(capsule)


def test_dlpack_between_tensors_shares():
    t = lamella.zeros(3, dtype=lamella.bfloat16)
    u = lamella.from_dlpack(t)
    u += 1
    assert u.dtype is lamella.bfloat16 and t.tolist() == [1.0] * 3 and u.data_ptr() == t.data_ptr()
    assert lamella.from_dlpack(lamella.ones(2, 3).t()).stride() == (1, 3)


def test_dlpack_protocol():
    t = lamella.ones(2)
    assert t.__dlpack_device__() == (1, 0)  # kDLCPU
    copied = lamella.from_dlpack(t.__dlpack__(copy=True))
    copied.zero_()
    assert t.tolist() == [1.0, 1.0]
    assert lamella.from_dlpack(t.__dlpack__(dl_device=(1, 0))).data_ptr() == t.data_ptr()
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize(
    "source, error, text",
    [
        (np.arange(4)[::-1], BufferError, "negative stride"),
        (5, TypeError, "__dlpack__"),
        (None, TypeError, "__dlpack__"),
    ],
)
def test_from_dlpack_refuses_clearly(source, error, text):
    with pytest.raises(error, match=text):
        lamella.from_dlpack(source)


def test_the_export_of_what_is_no_tensor():
    for export in (lamella.Tensor.__dlpack__, lamella.Tensor.__dlpack_device__):
        with pytest.raises(TypeError, match="expected a Tensor, got int"):
            export(5)


def test_meta_has_nothing_to_export():
    with pytest.raises(BufferError, match="meta"):
        np.from_dlpack(lamella.empty(2, device="meta"))


# ---- tensor(data) ----------------------------------------------------------------------------------------------------


@given(st.data())
def test_nested_sequences(data):
    shape = data.draw(shapes(3))
    x = values("int64", int(np.prod(shape)), 1, -99, 99).reshape(shape)
    made = lamella.tensor(x.tolist())
    assert made.tolist() == x.tolist()
    assert made.dtype is (lamella.int64 if x.size else lamella.float32)
    assert tuple(made.shape) == np.asarray(x.tolist()).shape


@pytest.mark.parametrize(
    "data, dtype",
    [
        (True, "bool"),
        ([True, False], "bool"),
        ([True, 2], "int64"),
        (5, "int64"),
        ([1, 2.5], "float32"),
        ([True, 2.5], "float32"),
        ([1, 2j], "complex64"),
        ([], "float32"),
        ((1, (2)), "int64"),
        (range(3), "int64"),
        ([np.float32(1), 2], "float32"),
        (np.float64(1.5), "float64"),
        (np.int32(3), "int32"),
        (np.bool_(True), "bool"),
        ([np.float64(1)], "float64"),
        ([np.float16(1), 2], "float16"),
        ([np.float16(1), 2.5], "float32"),
        ([np.int32(1), 2], "int64"),
        ([np.int32(1), np.int8(2)], "int32"),
        ([np.float64(1), 1j], "complex128"),
        ([np.complex64(1), np.float64(2)], "complex128"),
        ([np.ones(2), [1, 2]], "float64"),
        ([lamella.tensor(1.5, dtype=lamella.float64), 2], "float64"),
        ([lamella.tensor(1, dtype=lamella.uint8)], "uint8"),
        (np.uint64(2**63 - 1), "uint64"),
    ],
)
def test_natural_dtypes(data, dtype):
    assert lamella.tensor(data).dtype is lt_dtype(dtype)


@pytest.mark.parametrize("default", FLOATS)
def test_default_dtype(default):
    lamella.set_default_dtype(lt_dtype(default))
    assert lamella.get_default_dtype() is lt_dtype(default)
    for made in (lamella.tensor(1.5), lamella.zeros(2), lamella.empty(1), lamella.rand(1), lamella.arange(0.0, 2.0)):
        assert made.dtype is lt_dtype(default)
    assert lamella.tensor(1).dtype is lamella.int64
    assert lamella.tensor(1j).dtype is (lamella.complex128 if default == "float64" else lamella.complex64)
    assert lamella.full((1,), 2.5).dtype is lt_dtype(default)


@pytest.mark.parametrize("wrong", [lamella.int64, lamella.bool, lamella.complex64, None, 3])
def test_default_dtype_is_floating(wrong):
    with pytest.raises(TypeError, match="set_default_dtype"):
        lamella.set_default_dtype(wrong)
    assert lamella.get_default_dtype() is lamella.float32


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_arrays_are_copied_and_keep_their_dtype(dtype):
    x = values(dtype, 12, 5).reshape(3, 4)[::-1, ::2]
    t = lamella.tensor(x)
    assert_same(t, x)
    before = x.copy()
    t.zero_()
    np.testing.assert_array_equal(x, before)


@pytest.mark.needs("autograd")
def test_a_tensor_of_a_tensor_has_no_history():
    leaf = lamella.ones(2, requires_grad=True)
    for t in (lamella.tensor(leaf), lamella.tensor(leaf * 2, dtype=lamella.float64)):
        assert t.is_leaf and not t.requires_grad
    made = lamella.tensor(leaf * 2, requires_grad=True)
    assert made.is_leaf and made.requires_grad
    assert leaf.requires_grad and lamella.as_tensor(leaf) is leaf


def test_tensors_are_copied():
    t = lamella.ones(2)
    u = lamella.tensor(t)
    u.zero_()
    assert t.tolist() == [1.0, 1.0] and u is not t and u.dtype is lamella.float32


@pytest.mark.parametrize("dtype", DTYPES)
def test_requested_dtype(dtype):
    t = lamella.tensor([0, 1, 2], dtype=lt_dtype(dtype))
    assert t.dtype is lt_dtype(dtype)
    np.testing.assert_array_equal(to_numpy(t), np.array([0, 1, 2]).astype(np_dtype(dtype)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_limits_survive(dtype):
    limits = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    t = lamella.from_numpy(np.array(limits, dtype))
    assert t.tolist() == limits
    assert [x.item() for x in t] == limits
    assert lamella.tensor(limits, dtype=lt_dtype(dtype)).tolist() == limits


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_special_floats_survive(dtype):
    x = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e30, 5e-324]
    with np.errstate(all="ignore"):
        want = np.array(x).astype(np_dtype(dtype))
    assert_same(lamella.tensor(x, dtype=lt_dtype(dtype)), want, signed_zeros=dtype in FLOATS)


@pytest.mark.parametrize(
    "data, error, text",
    [
        ([[1, 2], [3]], ValueError, "ragged"),
        ([1, [2]], ValueError, "ragged"),
        ([[1], 2], ValueError, "ragged"),
        ("abc", TypeError, "got str"),
        ([1, "2"], TypeError, "got str"),
        (None, TypeError, "got None"),
        ([None], TypeError, "got None"),
        ({1: 2}, TypeError, "got dict"),
        ({1, 2}, TypeError, "got set"),
        (object(), TypeError, "got object"),
        ([2**64], RuntimeError, "64 bits"),
        (b"ab", TypeError, "got bytes"),
    ],
)
def test_data_that_is_none(data, error, text):
    with pytest.raises(error, match=text):
        lamella.tensor(data)


def test_endless_nesting():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested deeper"):
        lamella.tensor(endless)


# ---- as_tensor -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_as_tensor_shares_what_it_can(dtype):
    x = values(dtype, 6, 3)
    t = lamella.as_tensor(x)
    assert_same(t, x)
    assert t.data_ptr() == x.__array_interface__["data"][0] and lamella.as_tensor(t) is t
    other = lamella.as_tensor(x, dtype=lamella.int64 if dtype != "int64" else lamella.int32)
    assert other.data_ptr() != t.data_ptr()


def test_as_tensor_copies_what_it_must():
    for x in (np.arange(4)[::-1], np.broadcast_to(np.int64(3), 4), [1, 2, 3, 4]):
        t = lamella.as_tensor(x)
        t[0] = 99
        assert np.asarray(x)[0] != 99 and t.shape == (4,)
    assert lamella.as_tensor(5).shape == () and lamella.as_tensor([1.5], dtype=lamella.int8).tolist() == [1]
    t = lamella.ones(2)
    assert lamella.as_tensor(t, device="meta").device.type == "meta" and lamella.as_tensor(t, device="cpu") is t
    with pytest.raises(TypeError, match="got str"):
        lamella.as_tensor("abc")


@pytest.mark.parametrize("scalar", [np.float64(1 / 3), np.complex128(1 / 3 - 1e-9j), np.int64(2**62 + 1), np.int8(-3)])
def test_numpy_scalars_keep_their_value(scalar):
    assert lamella.tensor(scalar).item() == lamella.tensor([scalar])[0].item() == scalar.item()


def test_scalars_without_a_common_dtype():
    with pytest.raises(TypeError, match="uint64 and int64, which no dtype holds"):
        lamella.tensor([np.uint64(1), 2])
    assert lamella.tensor([np.uint64(2**64 - 1), 2], dtype=lamella.uint64).tolist() == [2**64 - 1, 2]


def test_data_that_change_while_they_are_read():
    """Reading an element may run any code, which may empty the list that contains it."""

    class Clears:
        def __len__(self):
            outer.clear()
            return 1

        def __getitem__(self, i):
            return [1.0][i]

    for at in range(3):
        outer = [[1.0], [2.0], [3.0]]
        outer[at] = Clears()
        try:
            assert lamella.tensor(outer).shape[1] == 1
        except (ValueError, TypeError) as error:
            assert "tensor" in str(error)


def test_arrays_of_others_in_host_memory_are_taken_by_dlpack():
    class Array:
        """An array of another library, with DLPack's methods."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.arange(3.0)
    taken, copied = lamella.as_tensor(Array(array)), lamella.asarray(Array(array), copy=True)
    array[0] = 7
    assert taken.tolist() == [7, 1, 2] and copied.tolist() == [0, 1, 2]
    assert lamella.as_tensor(Array(array), dtype=lamella.float32).dtype == lamella.float32
    assert lamella.tensor(Array(array)).tolist() == [7, 1, 2]

    class Sequence(list):
        """A list whose __dlpack__ refuses."""

        def __dlpack__(self, **keywords):
            raise BufferError("no")

        def __dlpack_device__(self):
            return 1, 0

    assert lamella.as_tensor(Sequence([1, 2])).tolist() == [1, 2]
    with pytest.raises(TypeError, match="must hold numbers"):
        lamella.as_tensor(object())
