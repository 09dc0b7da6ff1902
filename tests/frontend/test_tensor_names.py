"""Methods of torch's tensors that change a tensor's view or memory, query it, or call Python for each element."""

import lamella
import numpy as np
import pytest
from arrays import assert_same

VIEWS = {
    "t_": ((), lambda x: x.T),
    "transpose_": ((0, -1), lambda x: x.swapaxes(0, -1)),
    "swapaxes_": ((0, 1), lambda x: x.swapaxes(0, 1)),
    "swapdims_": ((1, 0), lambda x: x.swapaxes(0, 1)),
    "squeeze_": ((), lambda x: x),
    "unsqueeze_": ((1,), lambda x: x[:, None]),
    "as_strided_": (((2, 2), (1, 3)), lambda x: x[:, :2].T),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_in_place(name):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    args, want = VIEWS[name]
    t = lamella.tensor(x)
    address, storage = t.data_ptr(), t.untyped_storage()
    assert getattr(t, name)(*args) is t
    assert_same(t, want(x))
    assert t.data_ptr() == address and t.untyped_storage() is storage


def test_views_in_place_of_views_and_with_offsets():
    base = lamella.arange(12.0).view(3, 4)
    v = base[1:]
    v.t_().zero_()
    assert base[1:].sum() == 0 and v.shape == (4, 2) and v._base is base._base
    assert lamella.arange(6).as_strided_((2,), (2,), 1).tolist() == [1, 3]
    assert lamella.ones(1, 2, 1).squeeze_(0).shape == (2, 1) and lamella.ones(1, 2, 1).squeeze_((0, 2)).shape == (2,)
    with pytest.raises(IndexError, match="dim"):
        lamella.ones(2).unsqueeze_(3)


def test_views_in_place_of_expanded_tensors():
    t = lamella.ones(3).expand(2, 3)
    assert t.t_().stride() == (1, 0) and t.unsqueeze_(0).squeeze_(0).shape == (3, 2)


def test_resize_as():
    t = lamella.arange(6)
    assert t.resize_as_(lamella.ones(2, 2)) is t and t.tolist() == [[0, 1], [2, 3]]
    last = lamella.ones(1, 2, 3, 3)
    made = lamella.ones(1).resize_as_(last, memory_format=lamella.channels_last)
    assert made.is_contiguous(memory_format=lamella.channels_last)


def test_python_for_each_element():
    t = lamella.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    assert t.apply_(lambda x: x + 0.5) is t and t.tolist() == [[1.5, 3.5], [2.5, 4.5]]
    assert t.map_(lamella.tensor([1.0, 2.0]), lambda x, y: x * y).tolist() == [[1.5, 7.0], [2.5, 9.0]]
    x, y = lamella.tensor([10, 20]), lamella.tensor(3)
    assert lamella.tensor([1, 2]).map2_(x, y, lambda a, b, c: a * b - c).tolist() == [7, 37]
    assert lamella.zeros(0).apply_(lambda x: 1 / 0).shape == (0,)
    with pytest.raises(TypeError, match="apply_.*'meta'"):
        lamella.ones(1, device="meta").apply_(abs)
    with pytest.raises(ZeroDivisionError):
        lamella.ones(1).apply_(lambda x: 1 / 0)


@pytest.mark.needs("autograd")
def test_python_has_no_derivative():
    for call in (lambda t: t.apply_(abs), lambda t: t.map_(t, max), lambda t: lamella.ones(1).map2_(t, t, max)):
        with pytest.raises(RuntimeError, match="no derivative"):
            call(lamella.ones(1, requires_grad=True))


def test_kinds():
    t = lamella.ones(2, 3)
    for kind in (
        "cuda",
        "ipu",
        "maia",
        "mtia",
        "vulkan",
        "xla",
        "sparse",
        "sparse_csr",
        "quantized",
        "mkldnn",
        "nested",
    ):
        assert getattr(t, f"is_{kind}") is False, kind
    for kind in ("conj", "neg", "inference", "distributed", "shared"):
        assert getattr(t, f"is_{kind}")() is False, kind
    assert t.layout is lamella.strided and t.get_device() == -1 and t.const_data_ptr() == t.data_ptr()
    assert t.resolve_conj() is t and lamella.resolve_neg(t) is t and t.to_dense() is t
    assert t.to_dense(lamella.float64).dtype is lamella.float64
    assert t.share_memory_() is t and t.is_shared()


@pytest.mark.needs("sparse")
def test_a_dense_tensor_has_no_sparse_parts():
    for name in ("indices", "values", "coalesce", "is_coalesced", "crow_indices", "row_indices"):
        with pytest.raises(RuntimeError, match=f"^{name}: .*strided"):
            getattr(lamella.ones(1), name)()
    for name in ("to_sparse_bsr", "to_sparse_bsc"):
        with pytest.raises(NotImplementedError, match=f"^{name}: "):
            getattr(lamella.ones(1), name)(1)


def test_questions():
    t = lamella.arange(6.0).view(2, 3)
    assert t.is_same_size(lamella.zeros(2, 3)) and not lamella.is_same_size(t, t.t())
    assert t.is_set_to(t.view(2, 3)) and not t.is_set_to(t[:1]) and not t.is_set_to(t.clone())
    assert t.is_signed() and not lamella.is_signed(lamella.ones(1, dtype=lamella.uint8))
    assert lamella.tensor([3]).is_nonzero() and not lamella.is_nonzero(lamella.tensor(0.0))
    with pytest.raises(RuntimeError, match="is_nonzero"):
        t.is_nonzero()
    assert lamella.isreal(lamella.tensor([1j, 2])).tolist() == [False, True] and t.isreal().all()
    assert t.dim_order() == (0, 1) and t.t().dim_order() == (1, 0)
    with pytest.raises(RuntimeError, match="dim_order"):
        lamella.ones(3).as_strided((2, 2), (1, 1)).dim_order(ambiguity_check=True)
    z = lamella.tensor([[1j, 2.0]])
    assert_same(z.adjoint(), np.array([[-1j], [2.0]], np.complex64))


def test_shapes_of_others():
    t = lamella.arange(6.0).view(2, 3)
    assert t.reshape_as(lamella.ones(3, 2)).shape == (3, 2)
    assert t.sum_to_size(3).tolist() == [3, 5, 7] and t.sum_to_size(2, 1).tolist() == [[3], [12]]
    assert t.sum_to_size((2, 3)) is t and t.sum_to_size(()).item() == 15
    for wrong in ((2,), (4, 3), (1, 2, 3)):
        with pytest.raises(RuntimeError, match="sum_to_size"):
            t.sum_to_size(wrong)
    assert_same(t.where(t > 2, 0.0), np.array([[0, 0, 0], [3, 4, 5]], np.float32))


def test_new():
    t = lamella.ones(1, dtype=lamella.float64)
    assert t.new().shape == (0,) and t.new(2, 3).shape == (2, 3) and t.new(lamella.Size([2])).shape == (2,)
    assert t.new([1, 2]).tolist() == [1.0, 2.0] and t.new([1, 2]).dtype is lamella.float64
    assert t.new(t).data_ptr() == t.data_ptr() and t.new(np.ones(2)).shape == (2,)
    with pytest.raises(TypeError, match="^new: "):
        t.new(lamella.ones(1))
    made = t.new_empty_strided((2, 3), (1, 2), dtype=lamella.int8)
    assert made.stride() == (1, 2) and made.dtype is lamella.int8


@pytest.mark.parametrize("name", ["float", "double", "half", "long", "bool", "cpu"])
def test_casts_take_a_memory_format(name):
    t = lamella.ones(1, 2, 3, 3, dtype=lamella.int8)
    assert getattr(t, name)(memory_format=lamella.channels_last).stride() == (18, 1, 6, 2)
    last = t.to(memory_format=lamella.channels_last)
    assert getattr(last, name)().stride() == (18, 1, 6, 2)
    assert t.type(lamella.float64, non_blocking=True).dtype is lamella.float64


def test_nonzero_by_flag():
    t = lamella.tensor([[0, 1], [2, 0]])
    assert t.nonzero(as_tuple=False).tolist() == lamella.nonzero(t).tolist() == [[0, 1], [1, 0]]
    assert [i.tolist() for i in t.nonzero(as_tuple=True)] == [[0, 1], [1, 0]]
    out = lamella.empty(0, dtype=lamella.int64)
    assert (
        type(lamella.nonzero(t)) is lamella.Tensor and isinstance(t.nonzero(as_tuple=True), tuple) and out.numel() == 0
    )


def test_tensordot_takes_lists():
    x, y = np.random.default_rng(0).normal(size=(2, 3, 4)), np.random.default_rng(1).normal(size=(4, 3, 2))
    a, b = lamella.tensor(x), lamella.tensor(y)
    for dims in (1, 0, ([0, 1], [2, 1]), ((2,), (0,)), [[-1], [0]], (2, 0)):
        axes = dims if isinstance(dims, int) else [np.atleast_1d(d) for d in dims]
        np.testing.assert_allclose(lamella.tensordot(a, b, dims=dims).numpy(), np.tensordot(x, y, axes), rtol=1e-12)
    rows = lamella.tensor([[0, 1], [2, 1]])
    want = np.tensordot(x, y, ([0, 1], [2, 1]))
    np.testing.assert_allclose(lamella.tensordot(a, b, rows).numpy(), want, rtol=1e-12)
    out = lamella.empty(0, dtype=lamella.float64)
    assert lamella.tensordot(a, b, rows, out=out) is out
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-12)
    with pytest.raises(RuntimeError, match="tensordot: argument 'dims'"):
        lamella.tensordot(a, b, ([0], [1], [2]))
    with pytest.raises(RuntimeError, match="tensordot"):
        lamella.tensordot(a, b, ([0], [1]))


def test_functions_of_shapes_and_dtypes():
    for shapes in ([(2, 1), (3,)], [(), (4, 1, 2), (3, 1)], [(0,), (1,)], [3, (2, 1)], []):
        want = np.broadcast_shapes(*shapes)
        assert tuple(lamella.broadcast_shapes(*shapes)) == want
    for wrong in ([(2,), (3,)], [(0,), (2,)], [(-1,)]):
        with pytest.raises(RuntimeError, match="broadcast_shapes"):
            lamella.broadcast_shapes(*wrong)
    casts = {
        ("float64", "float16"): True,
        ("int64", "float16"): True,
        ("float32", "int64"): False,
        ("int8", "uint8"): False,
        ("uint8", "int8"): True,
        ("complex64", "float32"): False,
        ("int8", "bool"): False,
        ("bool", "uint8"): True,
    }
    for (a, b), want in casts.items():
        assert lamella.can_cast(getattr(lamella, a), getattr(lamella, b)) is want, (a, b)
    assert (lamella.pi, lamella.e, lamella.inf) == (np.pi, np.e, np.inf) and lamella.nan != lamella.nan
    assert lamella.ones(2)[lamella.newaxis].shape == (1, 2)
    assert lamella.typename(lamella.nn.Linear) == "lamella.nn.modules.linear.Linear"
    assert lamella.is_storage(lamella.ones(1).storage()) and not lamella.is_storage(1)


def test_unravel_index():
    flat = np.arange(24).reshape(2, 12)
    for got, want in zip(
        lamella.unravel_index(lamella.tensor(flat), (2, 3, 4)), np.unravel_index(flat, (2, 3, 4)), strict=True
    ):
        assert_same(got, want)
    for indices, shape in ((lamella.ones(1), (2,)), (lamella.tensor([1]), (-2,))):
        with pytest.raises(ValueError, match="unravel_index"):
            lamella.unravel_index(indices, shape)


def test_random_states():
    with lamella.random.fork_rng():
        number = lamella.seed()
        assert lamella.initial_seed() == number and lamella.seed() != number
        lamella.manual_seed(3)
        lamella.rand(3)
        state = lamella.get_rng_state()
        x = lamella.randn(5)
        lamella.set_rng_state(state)
        assert lamella.equal(lamella.randn(5), x)
        with lamella.random.fork_rng(enabled=False):
            lamella.rand(1)
        assert lamella.get_rng_state() != state


def test_fork_rng_restores_after_an_error():
    before = lamella.get_rng_state()
    with pytest.raises(KeyError), lamella.random.fork_rng(devices=["cpu"]):
        lamella.rand(5)
        raise KeyError
    assert lamella.get_rng_state() == before


def test_asarray():
    x = np.arange(3.0)
    t = lamella.asarray(x)
    t[0] = 7
    assert x[0] == 7 and lamella.asarray(t) is t and lamella.asarray(t, copy=False) is t
    assert lamella.asarray(x, copy=False).data_ptr() == x.__array_interface__["data"][0]
    assert lamella.asarray(t, copy=True).data_ptr() != t.data_ptr()
    assert lamella.asarray([1, 2], dtype=lamella.float64).dtype is lamella.float64
    for must_copy in (
        lambda: lamella.asarray([1], copy=False),
        lambda: lamella.asarray(t, dtype=lamella.int8, copy=False),
    ):
        with pytest.raises(ValueError, match="asarray"):
            must_copy()


def test_frombuffer():
    memory = bytearray(np.arange(6, dtype=np.int32).tobytes())
    t = lamella.frombuffer(memory, dtype=lamella.int32)
    t[0] = 9
    assert np.frombuffer(memory, np.int32)[0] == 9 and t.tolist() == [9, 1, 2, 3, 4, 5]
    assert lamella.frombuffer(memory, dtype=lamella.int32, count=2, offset=8).tolist() == [2, 3]
    assert lamella.frombuffer(b"\x01\x02", dtype=lamella.uint8).tolist() == [1, 2]
    for wrong in ({"count": 9}, {"offset": 24}, {"count": 0}, {"offset": 1}, {"offset": -4}):
        with pytest.raises(ValueError, match="frombuffer"):
            lamella.frombuffer(memory, dtype=lamella.int32, **wrong)


def test_empty_permuted():
    t = lamella.empty_permuted((2, 3, 4), (2, 0, 1), dtype=lamella.int8)
    assert t.shape == (2, 3, 4) and t.stride() == (3, 1, 6) and t.dtype is lamella.int8
    with pytest.raises(RuntimeError, match="physical_layout"):
        lamella.empty_permuted((2, 3), (0, 0))


def test_settings():
    assert not lamella.are_deterministic_algorithms_enabled() and lamella.get_float32_matmul_precision() == "highest"
    lamella.set_float32_matmul_precision("high")
    assert lamella.get_float32_matmul_precision() == "high"
    lamella.set_float32_matmul_precision("highest")
    with pytest.warns(UserWarning, match="precision"):
        lamella.set_float32_matmul_precision("low")
