"""Methods of torch's tensors that are not operators: transposes, casts by name, new_*, wide unsigned integers."""

import lamella
import numpy as np
import pytest
from arrays import DTYPES, UNSIGNED, assert_same, lt_dtype, np_dtype, values

CASTS = {
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}


@pytest.mark.parametrize("name, dtype", CASTS.items())
def test_casts_by_name(name, dtype):
    t = lamella.tensor([0.0, 1.0, 3.0])
    made = getattr(t, name)()
    assert_same(made, np.array([0, 1, 3]).astype(np_dtype(dtype)))
    assert getattr(made, name)() is made


@pytest.mark.parametrize("dtype", DTYPES)
def test_type(dtype):
    t = lamella.tensor([0, 1], dtype=lt_dtype(dtype))
    assert t.type().startswith("lamella.") and t.type().endswith("Tensor")
    for home in ("lamella", "torch"):
        assert lamella.ones(1).type(t.type().replace("lamella", home)).dtype is t.dtype
    assert lamella.ones(1).type(lt_dtype(dtype)).dtype is t.dtype
    assert lamella.ones(1).type_as(t).dtype is t.dtype


@pytest.mark.parametrize("wrong", ["nonsense", "torch.NoTensor", 3])
def test_type_of_nothing(wrong):
    with pytest.raises(TypeError):
        lamella.ones(1).type(wrong)


def test_types_by_their_names():
    assert [lamella.ones(1, dtype=d).type() for d in (lamella.float32, lamella.int64, lamella.uint8, lamella.bool)] == [
        "lamella.FloatTensor",
        "lamella.LongTensor",
        "lamella.ByteTensor",
        "lamella.BoolTensor",
    ]


@pytest.mark.parametrize("name", ["mT", "mH", "H", "T"])
def test_transposes_are_views(name):
    x = values("float32", 6, 1, -3, 3).reshape(2, 3)
    t = lamella.tensor(x)
    view = getattr(t, name)
    assert_same(view, x.T)
    assert view._base is t and view.data_ptr() == t.data_ptr()


def test_transposes_of_batches():
    x = values("float32", 24, 1, -3, 3).reshape(2, 3, 4)
    t = lamella.tensor(x)
    assert_same(t.mT, x.swapaxes(-1, -2))
    assert_same(t.mH, x.swapaxes(-1, -2))
    for name, tensors in {"H": (t, lamella.ones(3)), "mT": (lamella.ones(3), lamella.ones(()))}.items():
        for wrong in tensors:
            with pytest.raises(RuntimeError, match=rf"Tensor.{name}: expected a matrix.* got shape \("):
                getattr(wrong, name)


@pytest.mark.parametrize("dtype", ["int16", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_new(dtype, device):
    t = lamella.zeros(1, dtype=lt_dtype(dtype), device=device)
    made = {
        "zeros": t.new_zeros(2, 3),
        "ones": t.new_ones((2, 3)),
        "empty": t.new_empty(lamella.Size([2, 3])),
        "full": t.new_full((2, 3), 7),
        "tensor": t.new_tensor([[7, 7, 7]] * 2),
    }
    for name, m in made.items():
        assert m.shape == (2, 3) and m.dtype is t.dtype and m.device == t.device, name
    if device == "cpu":
        for name, number in {"zeros": 0, "ones": 1, "full": 7, "tensor": 7}.items():
            assert made[name].tolist() == [[number] * 3] * 2
    assert t.new_zeros(2, dtype=lamella.int8).dtype is lamella.int8
    assert t.new_ones(2, device="meta").device.type == "meta" and t.new_empty(()).shape == ()
    assert t.new_tensor(3, dtype=lamella.bool, device="cpu").item() is True


def test_new_tensor_copies():
    x = np.ones(2)
    t = lamella.zeros(1).new_tensor(x)
    t[0] = 5
    assert x.tolist() == [1.0, 1.0] and t.dtype is lamella.float32


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_the_largest_unsigned_is_read_right(dtype):
    top = np.iinfo(dtype).max
    t = lamella.from_numpy(np.array([[top]], dtype))
    assert t.item() == top and int(t) == top and t.tolist() == [[top]] and bool(t)
    assert t.view(()).__index__() == top and float(t) == float(top) and f"{t[0, 0]}" == str(top)
    made = lamella.tensor([[top]], dtype=lt_dtype(dtype))
    assert made.item() == top


def test_unsigned_data():
    assert lamella.tensor([2**64 - 1, 0, True], dtype=lamella.uint64).tolist() == [2**64 - 1, 0, 1]
    assert lamella.tensor([1.0, 2.0], dtype=lamella.uint64).tolist() == [1, 2]
    for wrong in (2**64, -(2**63) - 1):
        with pytest.raises(RuntimeError, match="64 bits"):
            lamella.tensor([wrong], dtype=lamella.uint64)
    with pytest.raises(RuntimeError, match="64 bits"):
        lamella.tensor([2**64])


@pytest.mark.parametrize("data", [1 + 2j, [1j, 2], [[1.5, 2j]], np.array([1 - 1j]), [np.complex64(1j), 1.0]], ids=repr)
def test_complex_data(data):
    t = lamella.tensor(data)
    want = np.asarray(data)
    assert t.dtype is (lamella.complex128 if isinstance(data, np.ndarray) else lamella.complex64)
    np.testing.assert_array_equal(t.numpy(), want.astype(t.numpy().dtype))
    assert lamella.tensor(data, dtype=lamella.complex128).tolist() == want.tolist()


def test_shapes_of_old():
    x = lamella.arange(4.0, requires_grad=True)
    with pytest.warns(UserWarning, match="resize: non-inplace"):
        made = x.resize(2, 2)
    with pytest.warns(UserWarning, match="resize_as: non-inplace"):
        assert x.resize_as(made).equal(made)
    made[0].sum().backward()
    assert x.grad.tolist() == [1, 1, 0, 0]
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="resize: argument 'sizes': 4 elements"):
        x.resize((5,))
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="resize_as: argument 'tensor': 4 elements"):
        x.resize_as(lamella.ones(5))


def test_values_for_a_module():
    x, y = lamella.zeros(2), lamella.ones(2, requires_grad=True)
    assert x.module_load(y).tolist() == [1, 1] and x.tolist() == [1, 1]
    assert x.module_load(y, assign=True).data_ptr() == y.data_ptr() and not x.module_load(y, True).requires_grad
    assert x.__rdiv__(3).tolist() == [3, 3]


def test_files_in_memory(tmp_path):
    path = tmp_path / "numbers"
    shared = lamella.from_file(path, True, 3, dtype=lamella.int16)
    shared.copy_(lamella.tensor([1, 2, 3]))
    assert np.fromfile(path, np.int16).tolist() == [1, 2, 3]
    own = lamella.from_file(str(path), size=2, dtype=lamella.int16).fill_(9)
    assert own.tolist() == [9, 9] and shared.tolist() == [1, 2, 3]
    assert lamella.from_file(path, size=0).shape == (0,) and lamella.from_file(path, False, 1).dtype is lamella.float32
    for size, words in ((-1, "at least 0"), (4, "need 8 bytes, the file has 6")):
        with pytest.raises(RuntimeError, match=f"from_file: argument 'size'.*{words}"):
            lamella.from_file(path, size=size, dtype=lamella.int16)
    with pytest.raises(OSError):
        lamella.from_file(tmp_path / "nothing", size=1)
