"""Copies of views, histograms, segments, slopes and fingerprints beyond their samples."""

import lamella
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

CPU = "aten::segment_reduce"


# ---- copies of views -------------------------------------------------------------------------------------------------

COPIES = {
    "view": ((3, 2),),
    "expand": ((4, 2, 3),),
    "permute": ((1, 0),),
    "select": (0, 1),
    "slice": (1, 0, 2),
    "t": (),
    "transpose": (0, 1),
    "unsqueeze": (1,),
    "diagonal": (),
    "unfold": (1, 2, 1),
    "alias": (),
    "squeeze": (),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_has_memory_of_its_own(name):
    x = lamella.arange(6.0).view(2, 3).requires_grad_()
    view, copy = (getattr(lamella.ops.aten, n) for n in (name, f"{name}_copy"))
    made = copy(x, *COPIES[name])
    assert made.equal(view(x, *COPIES[name])) and made.is_contiguous() and made._base is None
    assert made.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    made.square().sum().backward()
    wanted = x.detach().clone().requires_grad_()
    view(wanted, *COPIES[name]).square().sum().backward()
    assert x.grad.equal(wanted.grad)
    target = lamella.empty(0)
    assert copy(x.detach(), *COPIES[name], out=target) is target and target.equal(made)


@pytest.mark.parametrize("name", ["split_copy", "split_with_sizes_copy", "unbind_copy"])
def test_lists_of_copies(name):
    x = lamella.arange(4.0)
    args = {"split_copy": (2,), "split_with_sizes_copy": ((1, 3),), "unbind_copy": ()}[name]
    parts = getattr(lamella, name)(x, *args)
    assert lamella.cat([p.reshape(-1) for p in parts]).equal(x)
    parts[0].fill_(9)
    assert x[0].item() == 0


def test_errors_name_the_copy():
    with pytest.raises(RuntimeError, match="^view_copy: view: argument 'size'"):
        lamella.view_copy(lamella.ones(2, 3).t(), (6,))
    assert not lamella.detach_copy(lamella.ones(1, requires_grad=True)).requires_grad


def test_parts_of_memory():
    memory = lamella.arange(8.0)
    x = memory[1:7].view(2, 3).t()
    made = lamella.as_strided_scatter(x, lamella.tensor([90.0, 91.0]), (2,), (4,), 1)
    assert made.tolist() == [[90, 4], [2, 91], [3, 6]] and made.stride() == (1, 3)
    assert memory.equal(lamella.arange(8.0))


# ---- segments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [lamella.float64, lamella.float32, lamella.float16])
@given(data=st.data())
def test_segments_of_kernel_and_composite(dtype, data):
    lengths = data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=12))
    inner = data.draw(st.sampled_from([(), (1,), (3,), (2, 5)]))
    x = lamella.tensor(np.random.default_rng(len(lengths)).normal(size=(sum(lengths), *inner))).to(dtype)
    reduce = data.draw(st.sampled_from(["sum", "mean", "max", "min"]))
    initial = data.draw(st.sampled_from([None, 0.5]))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    made = lamella.segment_reduce(x, reduce, lengths=lamella.tensor(lengths), initial=initial)
    offsets = lamella.segment_reduce(x, reduce, offsets=lamella.tensor(bounds), initial=initial)
    with lamella.library.kernels_disabled([CPU], "cpu"):
        beside = lamella.segment_reduce(x, reduce, lengths=lamella.tensor(lengths), initial=initial)
    assert made.dtype is dtype and made.nan_to_num(7).equal(offsets.nan_to_num(7))
    rough = 2e-2 if dtype is lamella.float16 else 1e-4 if dtype is lamella.float32 else 1e-11
    np.testing.assert_allclose(made.double().numpy(), beside.double().numpy(), rtol=rough, atol=rough)
    empty = [i for i, n in enumerate(lengths) if n == 0]
    for i in empty:
        want = {"sum": 0, "mean": np.nan, "max": -np.inf, "min": np.inf}[reduce] if initial is None else initial
        np.testing.assert_array_equal(made[i].double().numpy(), np.full(inner, want))


def test_segments_keep_nan_and_every_thread_gives_the_same():
    x = lamella.tensor([1.0, float("nan"), 3.0, 4.0, 5.0])
    lengths = lamella.tensor([3, 2])
    for reduce in ("max", "min", "sum", "prod", "mean"):
        assert lamella.segment_reduce(x, reduce, lengths=lengths).isnan().tolist() == [True, False]
    many, before = lamella.randn(100000), lamella.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            lamella.set_num_threads(threads)
            found.append(lamella.segment_reduce(many, "sum", lengths=lamella.full((50,), 2000)))
    finally:
        lamella.set_num_threads(before)
    assert found[0].equal(found[1]) and found[0].equal(found[2])


def test_lengths_that_are_unsafe_stay_inside():
    x = lamella.arange(5.0)
    made = lamella.segment_reduce(x, "sum", lengths=lamella.tensor([1, 2]), unsafe=True)
    assert made.tolist() == [0, 3]
    for wrong in ([2, 9], [7, -2], [2**62, 2**62]):
        with pytest.raises(RuntimeError, match="segment_reduce: argument 'lengths'"):
            lamella.segment_reduce(x, "sum", lengths=lamella.tensor(wrong), unsafe=True)
    with pytest.raises(RuntimeError, match="segment_reduce: argument 'offsets'"):
        lamella.segment_reduce(x, "sum", offsets=lamella.tensor([0, 9]), unsafe=True)


# ---- histograms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("low", "high", "bins"), [(0, 1, 7), (-3, 3, 1000), (1e6, 1e6 + 1, 100), (0, 3e-40, 5), (-3e38, 3e38, 9)]
)
def test_equal_bins_count_by_their_edges(dtype, low, high, bins):
    rng = np.random.default_rng(2)
    x = rng.uniform(low, high, 20000).astype(dtype)
    made = lamella.histogram(lamella.tensor(x), bins, range=(float(low), float(high)))
    edges = made.bin_edges.numpy()
    on_edges = np.concatenate([x, edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
    found = lamella.histogram(lamella.tensor(on_edges), bins, range=(float(low), float(high))).hist.numpy()
    inside = on_edges[(on_edges >= edges[0]) & (on_edges <= edges[-1])]
    place = np.clip(np.searchsorted(edges, inside, side="right") - 1, 0, bins - 1)
    np.testing.assert_array_equal(found, np.bincount(place, minlength=bins))


def test_histograms_write_into_given_tensors_and_have_no_history():
    x = lamella.tensor([1.0, 2.0, 1.0], requires_grad=True)
    hist, edges = lamella.empty(0), lamella.empty(0)
    with lamella.no_grad():
        lamella.histogram(x, 2, out=(hist, edges))
    assert hist.tolist() == [2, 1] and edges.tolist() == [1, 1.5, 2]
    assert not lamella.histogram(x, 2).hist.requires_grad
    assert x.histogram(2).hist.tolist() == [2, 1]
    assert lamella.histogramdd(lamella.zeros(0, 2), [1, 2])[1][1].tolist() == [0, 0.5, 1]


def test_a_fingerprint_does_not_depend_on_the_order():
    x = lamella.randn(101)
    assert lamella.hash_tensor(x).equal(lamella.hash_tensor(x.flip(0)))
    assert not lamella.hash_tensor(x).equal(lamella.hash_tensor(x + 1))
    assert lamella.hash_tensor(lamella.tensor([1.5, 1.5])).item() == 0


def test_slopes_of_a_parabola_are_exact():
    at = lamella.tensor([0.0, 0.5, 2.0, 3.0, 7.0], dtype=lamella.float64)
    (made,) = lamella.gradient(at * at, spacing=[at], edge_order=2)
    np.testing.assert_allclose(made.numpy(), 2 * at.numpy(), atol=1e-12)
    assert lamella.gradient(lamella.tensor([1, 2, 4]))[0].dtype is lamella.float32
