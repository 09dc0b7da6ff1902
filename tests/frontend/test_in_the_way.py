"""Calls that programs for torch, matplotlib and pandas make: conversions, read-only arrays, other spellings."""

import copy
import io
import operator
import pickle
import warnings

import lamella
import numpy as np
import pytest
import scipy.special


@pytest.mark.parametrize("values", [[1.0, 2.0], [1, 2], []])
@pytest.mark.parametrize(
    "convert, error",
    [(float, ValueError), (int, ValueError), (complex, ValueError), (bool, RuntimeError), (operator.index, TypeError)],
)
def test_several_elements_are_no_number(convert, error, values):
    """The types are torch's; matplotlib tries float(x) and expects numpy's ValueError or TypeError."""
    with pytest.raises(error, match=f"{convert.__name__}: .*shape|index: .*element"):
        convert(lamella.tensor(values))


def test_one_element_is_a_number():
    one = lamella.tensor([[3]])
    assert (float(one), int(one), complex(one), bool(one), operator.index(one)) == (3.0, 3, 3 + 0j, True, 3)
    assert [10, 20, 30, 40][one] == 40


def read_only(*values):
    array = np.array(values)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("make", [lamella.from_numpy, lamella.from_dlpack])
def test_a_read_only_array_is_shared_with_a_warning(make):
    array = read_only(1.0, 2.0)
    with pytest.warns(UserWarning, match="not writable"):
        made = make(array)
    assert made.tolist() == [1.0, 2.0] and made.data_ptr() == array.ctypes.data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            make(array)
        assert lamella.tensor(array).tolist() == lamella.as_tensor(array).tolist() == [1.0, 2.0]
        assert lamella.from_dlpack(array, copy=True).zero_().tolist() == [0.0, 0.0] and array[0] == 1.0


class Table:
    """As a table of pandas: a sequence whose items are the names of its columns."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __len__(self):
        return len(self.array)

    def __getitem__(self, name):
        raise KeyError(name)


def test_tables():
    array = np.arange(6.0).reshape(3, 2)
    for make in (lamella.tensor, lamella.as_tensor, lamella.asarray):
        made = make(Table(array))
        assert made.dtype is lamella.float64
        np.testing.assert_array_equal(made.numpy(), array)
    made = lamella.tensor([Table(array[0]), Table(array[1])])
    np.testing.assert_array_equal(made.numpy(), array[:2])

    class Wrong(Table):
        def __array__(self, dtype=None, copy=None):
            return 3

    with pytest.raises(TypeError, match="__array__ of .*Wrong must return a numpy.ndarray, got int"):
        lamella.tensor(Wrong(array))


def test_tensors_among_numbers():
    one = lamella.ones(1)
    assert lamella.tensor([one, one]).tolist() == [1.0, 1.0]
    made = lamella.tensor([[lamella.ones(1, 1).long()], [2.5]])
    assert made.tolist() == [[1.0], [2.5]] and made.dtype is lamella.float32
    assert lamella.tensor([one.long(), 2]).dtype is lamella.int64
    for size in (0, 2):
        with pytest.raises(ValueError, match=f"a tensor of shape \\({size},\\).*stack"):
            lamella.tensor([lamella.ones(size), lamella.ones(size)])


def test_einsum_by_lists():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    ours = lamella.tensor(a), lamella.tensor(b)
    for lists in (([0, 1], [1, 2], [0, 2]), ([0, 1], [1, 2]), ([..., 1], [1, 2], [..., 2]), ((5, 9), (9, 40), (40, 5))):
        both = [x for pair in zip((a, b), lists[:2], strict=True) for x in pair]
        mine = [x for pair in zip(ours, lists[:2], strict=True) for x in pair]
        want = np.einsum(*both, *lists[2:])
        np.testing.assert_array_equal(lamella.einsum(*mine, *lists[2:]).numpy(), want)
    np.testing.assert_array_equal(lamella.einsum("ij,jk", ours).numpy(), a @ b)
    np.testing.assert_array_equal(lamella.einsum(ours[0], [26, 0]).numpy(), a.T)  # capitals come before small letters
    for wrong, error in [
        ((ours[0], [0, 52]), ValueError),
        ((ours[0], [0, -1]), ValueError),
        ((ours[0],), ValueError),
        ((ours[0], ["i", "j"]), TypeError),
        ((ours[0], ours[1]), TypeError),
        ((ours[0], [..., ...]), RuntimeError),
    ]:
        with pytest.raises(error, match="einsum: "):
            lamella.einsum(*wrong)


def test_none_for_a_list_that_is_empty_by_default():
    x = np.arange(6.0).reshape(2, 3)
    t = lamella.tensor(x)
    for name in ("amax", "amin"):
        for call in (
            getattr(lamella, name)(t, None),
            getattr(t, name)(None),
            getattr(t, name)(dim=None, keepdim=False),
        ):
            assert call.item() == getattr(np, name)(x)
    np.testing.assert_array_equal(t.roll(1, None).numpy(), np.roll(x, 1))
    pooled = lamella.nn.functional.avg_pool2d(t.view(1, 2, 3), 2, None)
    assert pooled.tolist() == [[[2.0]]]
    with pytest.raises(TypeError, match="flip: argument 'dims' must be list of int, got None"):
        t.flip(None)


def test_dlpack_with_a_device_and_a_copy():
    array = np.arange(3.0)
    for options in (
        {"device": "cpu"},
        {"copy": False},
        {"device": None, "copy": None},
        {"device": "cpu", "copy": False},
    ):
        assert lamella.from_dlpack(array, **options).data_ptr() == array.ctypes.data
    made = lamella.from_dlpack(array, device="cpu", copy=True)
    made.zero_()
    assert array.tolist() == [0.0, 1.0, 2.0]
    assert lamella.from_dlpack(array, device="meta").device.type == "meta"
    with pytest.raises(BufferError, match="'copy' is False.*'meta'"):
        lamella.from_dlpack(array, device="meta", copy=False)
    with pytest.raises(ValueError, match="a capsule takes no 'device'"):
        lamella.from_dlpack(made.__dlpack__(), copy=True)


def test_result_type_of_shapes_that_do_not_broadcast():
    two, three = lamella.ones(2, dtype=lamella.int32), lamella.ones(3, dtype=lamella.float16)
    assert lamella.result_type(two, three) is lamella.float16
    assert lamella.result_type(three, lamella.ones((), dtype=lamella.float64)) is lamella.float16
    assert lamella.result_type(two, 1.5) is lamella.float32 and lamella.result_type(1, 2) is lamella.int64


def test_polygamma_as_a_method():
    x = np.array([0.5, 1.0, 3.0])
    t = lamella.tensor(x)
    np.testing.assert_allclose(t.polygamma(2).numpy(), scipy.special.polygamma(2, x), rtol=1e-12)
    assert t.polygamma_(n=1) is t
    np.testing.assert_allclose(t.numpy(), scipy.special.polygamma(1, x), rtol=1e-12)
    with pytest.raises(RuntimeError, match="polygamma_: argument 'self'.*int64"):
        lamella.ones(2).long().polygamma_(1)


def test_seeds_that_are_not_ints():
    state = lamella.random.get_rng_state()
    for seed, number in ((1.0, 1), ("7", 7), (np.int64(5), 5), (lamella.tensor(3), 3), (True, 1)):
        assert lamella.manual_seed(seed).initial_seed() == number
    lamella.cpu.manual_seed(2.0)
    assert lamella.initial_seed() == 2
    assert lamella.Generator().manual_seed(np.int64(5)).initial_seed() == 5
    with pytest.raises(TypeError, match="'seed' must be int, got float"):
        lamella.Generator().manual_seed(1.0)
    lamella.random.set_rng_state(state)


def test_copy_of_a_number():
    assert lamella.zeros(2).copy_(3).tolist() == [3.0, 3.0]
    assert lamella.zeros(2).long().copy_(2.7).tolist() == [2, 2]  # as a conversion of a tensor
    assert lamella.zeros(2, dtype=lamella.float64).copy_(0.1).tolist() == [0.1, 0.1]
    with pytest.raises(TypeError, match="copy_"):
        lamella.zeros(2).copy_([1, 2])


def test_more_dimensions_than_there_are():
    """The limit is 64, and each way to pass it says so."""
    sizes = [1] * 65
    x = lamella.ones(1)
    full = x.view(sizes[1:])
    for call in (
        lambda: lamella.ones(sizes),
        lambda: x.view(sizes),
        lambda: x.expand(sizes),
        lambda: x.as_strided(sizes, sizes),
        lambda: full.unsqueeze(0),
        lambda: full[None],
    ):
        with pytest.raises(RuntimeError, match="64"):
            call()


def test_empty_tensors_with_huge_strides():
    big = 2**62
    x = lamella.ones(0).as_strided((0, 3), (big, big))
    assert x.stride() == (big, big) and x.sum().item() == 0.0 and (x + 1).shape == x.clone().shape == (0, 3)
    assert x[:, 1].shape == (0,) and x[:, 1:].shape == (0, 2) and x.t().contiguous().shape == (3, 0)
    assert x[:, 2].storage_offset() >= 0 and [y.shape for y in x.unbind(1)] == [(0,)] * 3
    cube = lamella.ones(0).as_strided((0, 3, 3), (big, big, big))
    assert cube.diagonal(2, 1, 2).shape == (0, 1) and cube.diagonal(-1, 1, 2).stride()[1] > 0
    z = lamella.ones(0, dtype=lamella.complex64).as_strided((0, 3), (big, big))[:, 1]
    assert z.real.shape == z.imag.shape == (0,) and lamella.view_as_real(z).shape == (0, 2)
    file = io.BytesIO()
    lamella.save(x, file)
    for read in (lamella.load(io.BytesIO(file.getvalue())), pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert read.shape == (0, 3) and read.stride() == (big, big)
    assert copy.deepcopy(x[:, 2]).shape == (0,)
    assert x.numpy().shape == (0, 3) and lamella.cat([x, lamella.ones(1, 3)]).tolist() == [[1.0, 1.0, 1.0]]
