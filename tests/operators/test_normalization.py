"""Softmax and norms against numpy and scipy in float64, by kernel and by composite, in every layout and float dtype."""

import lamella
import numpy as np
import pytest
import scipy.special
from arrays import FLOATS, bits, lt_dtype, name_of, pairs, shapes, to_lamella, to_numpy, values
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES

KERNELS = [
    f"aten::{name}"
    for name in (
        "softmax.int log_softmax.int layer_norm native_layer_norm rms_norm group_norm native_group_norm "
        "_fused_rms_norm _batch_norm_train _batch_norm_eval _batch_norm_with_update"
    ).split()
]
WAYS = [pytest.param([], id="kernel"), pytest.param(KERNELS, id="composite")]
LOOSE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-6, "float64": 1e-13}


def close(tensor, exact, dtype, factor=1.0):
    """Requires elements within a few roundings of a float64 computation."""
    assert tuple(tensor.shape) == exact.shape and name_of(tensor.dtype) == dtype
    bound = LOOSE[dtype] * factor
    np.testing.assert_allclose(to_numpy(tensor).astype(np.float64), exact, rtol=bound, atol=bound)


def with_parameters(data, dtype, count):
    """Returns a weight and a bias, or None for each."""
    made = []
    for seed in (1, 2):
        x = values(dtype, count, seed, -2, 2)
        made.append((x.astype(np.float64), to_lamella(x)) if data.draw(st.booleans()) else (None, None))
    return made


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_softmax(dtype, passed_over, data):
    shape = data.draw(shapes(max_size=5))
    x, t = data.draw(pairs(dtype, shape, -20, 20))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1)) if x.ndim else 0
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        got, log = lamella.softmax(t, axis), t.log_softmax(axis)
    wide = np.atleast_1d(x.astype(np.float64))
    if x.size == 0:
        assert got.shape == log.shape == x.shape
        return
    close(got, scipy.special.softmax(wide, axis).reshape(x.shape), dtype)
    close(log, scipy.special.log_softmax(wide, axis).reshape(x.shape), dtype, 40)


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize(
    "shape, dim", [((3, 5000), 1), ((700, 60), 0), ((4, 600, 33), 1), ((1, 100_001), 1), ((17,), 0)]
)
def test_softmax_of_many(shape, dim, passed_over):
    x = values("float32", int(np.prod(shape)), 3, -30, 30).reshape(shape)
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        close(lamella.softmax(to_lamella(x), dim), scipy.special.softmax(x.astype(float), dim), "float32", 5)
        close(lamella.log_softmax(to_lamella(x), dim), scipy.special.log_softmax(x.astype(float), dim), "float32", 5)


def test_softmax_small_numbers_and_special_values():
    x = np.array([0, -20, -60, -80, -87, -95, -103], np.float32)
    exact = scipy.special.softmax(x.astype(float))
    got = to_numpy(lamella.softmax(to_lamella(x), 0)).astype(float)
    assert (np.abs(got - exact) <= 4e-7 * exact + 2e-45).all()
    inf, nan = np.inf, np.nan
    assert lamella.softmax(lamella.tensor([0.0, -inf]), 0).tolist() == [1, 0]
    for bad in ([-inf, -inf], [inf, 0.0], [nan, 1.0], [1.0, nan, 2.0], [0.0] * 40 + [nan]):
        for f in (lamella.softmax, lamella.log_softmax):
            assert np.isnan(to_numpy(f(lamella.tensor(bad), 0))).any()
    assert np.isnan(to_numpy(lamella.softmax(lamella.tensor([[nan, 1.0], [2.0, 1.0]]), 0))[:, 0]).all()


def test_softmax_arguments():
    assert lamella.softmax(lamella.tensor([1, 1]), 0, dtype=lamella.float64).tolist() == [0.5, 0.5]
    with pytest.raises(RuntimeError, match="^softmax: argument 'self': expected a floating dtype, got int64"):
        lamella.softmax(lamella.tensor([1, 1]), 0)
    with pytest.raises(IndexError, match="^log_softmax: argument 'dim'"):
        lamella.log_softmax(lamella.ones(2), 1)
    out = lamella.zeros(2, 2).t()
    assert lamella.softmax(lamella.zeros(2, 2), 1, out=out) is out and out.tolist() == [[0.5, 0.5]] * 2


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_layer_norm(dtype, passed_over, data):
    shape = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple))
    last = shape[data.draw(st.integers(0, len(shape) - 1)) :]
    x, t = data.draw(pairs(dtype, shape, -4, 4))
    (w, wt), (b, bt) = with_parameters(data, dtype, int(np.prod(last)))
    wt, bt, w, b = (None if v is None else v.reshape(last) for v in (wt, bt, w, b))
    wide = x.astype(np.float64)
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        got = lamella.layer_norm(t, last, wt, bt, 0.1)
        out, mean, scale = lamella.native_layer_norm(t, last, wt, bt, 0.1)
        rms = lamella.rms_norm(t, last, wt, 0.1)
    exact, its_mean, its_scale = ORACLES["native_layer_norm"](wide, last, w, b, 0.1)
    close(got, exact, dtype, 4)
    assert bits(got) == bits(out)
    np.testing.assert_allclose(to_numpy(mean).astype(float), its_mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(to_numpy(scale).astype(float), its_scale, rtol=1e-5)
    close(rms, ORACLES["rms_norm"](wide, last, w, 0.1), dtype, 4)


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_group_norm(dtype, passed_over, data):
    groups, each = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    shape = (data.draw(st.integers(1, 3)), groups * each, *data.draw(st.lists(st.integers(1, 4), max_size=2)))
    x, t = data.draw(pairs(dtype, shape, -4, 4))
    (w, wt), (b, bt) = with_parameters(data, dtype, shape[1])
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        got = lamella.group_norm(t, groups, wt, bt, 0.1)
    close(got, ORACLES["group_norm"](x.astype(np.float64), groups, w, b, 0.1), dtype, 4)


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_batch_norm(dtype, passed_over, data):
    shape = tuple(data.draw(st.lists(st.integers(2, 5), min_size=2, max_size=4)))
    x, t = data.draw(pairs(dtype, shape, -4, 4))
    axes = (0, *range(2, len(shape)))
    (w, wt), (b, bt) = with_parameters(data, dtype, shape[1])
    mean, var = values("float32", shape[1], 5, -1, 1), values("float32", shape[1], 6, 0.5, 2)
    if dtype == "float64":
        mean, var = mean.astype(dtype), var.astype(dtype)
    wide = x.astype(np.float64)
    running = to_lamella(mean), to_lamella(var)
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        still = lamella.batch_norm(t, wt, bt, *running, False, 0.3, 0.1, True)
        alone = lamella.batch_norm(t, wt, bt, None, None, True, 0.3, 0.1, True)
        versions = [r._version for r in running]
        moved = lamella.batch_norm(t, wt, bt, *running, True, 0.3, 0.1, True)
    for found, training in ((still, False), (alone, True)):
        close(found, ORACLES["batch_norm"](wide, w, b, mean, var.astype(float), training, 0.3, 0.1), dtype, 8)
    assert bits(alone) == bits(moved)
    assert [r._version for r in running] == [v + 1 for v in versions]
    np.testing.assert_allclose(running[0].tolist(), 0.7 * mean + 0.3 * wide.mean(axes), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(running[1].tolist(), 0.7 * var + 0.3 * wide.var(axes, ddof=1), rtol=1e-5, atol=1e-6)


def test_batch_norm_keeps_channels_last():
    x = values("float32", 2 * 5 * 3 * 4, 1, -3, 3).reshape(2, 3, 4, 5)
    t = to_lamella(x).permute(0, 3, 1, 2)
    got = lamella.batch_norm(t, None, None, None, None, True, 0.1, 1e-5, True)
    assert got.stride() == t.stride()
    exact = ORACLES["batch_norm"](x.astype(float).transpose(0, 3, 1, 2), None, None, None, None, True, 0.1, 1e-5)
    np.testing.assert_allclose(to_numpy(got), exact, rtol=1e-5, atol=1e-5)


def test_far_from_zero():
    """A deviation of 1 is not lost beside a mean of a million."""
    x = (1e6 + values("float32", 4000, 1, -1, 1).astype(float)).astype(np.float32)
    exact = ORACLES["layer_norm"](x.astype(float).reshape(4, 1000), [1000], None, None, 0.0)
    np.testing.assert_allclose(
        to_numpy(lamella.layer_norm(to_lamella(x).view(4, 1000), [1000], eps=0.0)), exact, atol=0.07
    )
    assert abs(lamella.var(to_lamella(x)).item() - x.astype(float).var(ddof=1)) < 1e-6


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_values_do_not_depend_on_threads(dtype):
    t = to_lamella(values(dtype, 64 * 24 * 300, 7, -3, 3).reshape(64, 24, 300))
    found = set()
    for threads in (1, 2, 3, 7):
        lamella.set_num_threads(threads)
        made = [lamella.softmax(t, d) for d in range(3)] + [t.log_softmax(d) for d in range(3)]
        made += [lamella.layer_norm(t, [300]), lamella.group_norm(t, 4), lamella.rms_norm(t, [24, 300])]
        made.append(lamella.batch_norm(t, None, None, None, None, True, 0.1, 1e-5, True))
        found.add(b"".join(map(bits, made)))
    assert len(found) == 1


BAD = [
    (lambda: lamella.layer_norm(lamella.ones(2, 3), []), RuntimeError, "argument 'normalized_shape'"),
    (lambda: lamella.layer_norm(lamella.tensor([1]), [1]), RuntimeError, "argument 'input'.*int64"),
    (
        lambda: lamella.rms_norm(lamella.ones(2, 3), [3], lamella.ones(3, dtype=lamella.float64)),
        RuntimeError,
        "'weight'",
    ),
    (lambda: lamella.group_norm(lamella.ones(3), 1), RuntimeError, "argument 'input'"),
]


@pytest.mark.parametrize("call, error, words", BAD)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_batch_norm_arguments():
    x, c = lamella.ones(2, 3), lamella.ones(3)
    with pytest.raises(RuntimeError, match="argument 'running_mean': needed"):
        lamella.batch_norm(x, None, None, None, None, False, 0.1, 1e-5, True)
    with pytest.raises(RuntimeError, match="argument 'running_var'.*or neither"):
        lamella.batch_norm(x, None, None, c, None, True, 0.1, 1e-5, True)
    with pytest.raises(RuntimeError, match="argument 'running_mean'.*expected shape"):
        lamella.batch_norm(x, None, None, lamella.ones(2), c, False, 0.1, 1e-5, True)
    assert lamella.batch_norm(lamella.ones(0, 3), None, None, c, c, False, 0.1, 1e-5, True).shape == (0, 3)
    assert lt_dtype("float32") is lamella.layer_norm(lamella.ones(0, 3), [3]).dtype


def test_batch_norm_needs_more_than_one_value_in_training():
    for shape in ((1, 3), (1, 3, 1, 1)):
        with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
            lamella.nn.functional.batch_norm(lamella.ones(*shape), None, None, training=True)
    assert lamella.nn.functional.batch_norm(lamella.ones(1, 3, 2), None, None, training=True).shape == (1, 3, 2)


def test_groups_must_divide_the_channels():
    with pytest.raises(RuntimeError, match="3 groups do not divide 4 channels"):
        lamella.native_group_norm(lamella.ones(2, 4, 3), None, None, 2, 4, 3, 3, 1e-5)
    with pytest.raises(RuntimeError, match="argument 'N'"):
        lamella.native_group_norm(lamella.ones(2, 4, 3), None, None, 3, 4, 3, 2, 1e-5)


@pytest.mark.parametrize("passed_over", [[], ["aten::_batch_norm_with_update"]])
def test_a_batch_of_nothing_moves_no_statistics(passed_over):
    mean, var = lamella.zeros(3), lamella.ones(3)
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        lamella.batch_norm(lamella.ones(0, 3, 4), None, None, mean, var, True, 0.1, 1e-5, False)
    assert mean.tolist() == [0] * 3 and var.tolist() == [1] * 3
