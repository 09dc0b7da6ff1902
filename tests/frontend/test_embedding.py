"""Embedding tables and bags of rows: bounded lengths, gradients, forms of arguments, errors."""

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn

w = np.random.default_rng(0).standard_normal((6, 4))


def table(**kwargs):
    return lamella.from_numpy(w.copy()).requires_grad_(**kwargs)


def tensor(x):
    return lamella.tensor(x)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
@pytest.mark.needs("autograd")
def test_rows_are_shortened_in_the_table(p):
    t, index = table(), [[1, 4], [4, 2]]
    got = F.embedding(tensor(index), t, max_norm=1.0, norm_type=p)
    want = w.copy()
    for i in (1, 2, 4):
        length = (np.abs(w[i]) ** p).sum() ** (1 / p)
        want[i] = w[i] / (length + 1e-7) if length > 1 else w[i]
    np.testing.assert_allclose(t.detach().numpy(), want, rtol=1e-12)
    np.testing.assert_allclose(got.detach().numpy(), want[index], rtol=1e-12)
    got.sum().backward()
    assert t.grad[:, 0].tolist() == [0, 1, 1, 0, 2, 0]


@pytest.mark.needs("autograd")
def test_gradients_by_frequency_and_padding():
    t = table()
    F.embedding(tensor([1, 1, 3, -2 % 6]), t, padding_idx=-2, scale_grad_by_freq=True).sum().backward()
    assert t.grad[:, 0].tolist() == [0, 1, 0, 1, 0, 0]


def bags(index, offsets, mode, weights=None, padding=None):
    out = []
    for i, j in zip(offsets, [*offsets[1:], len(index)], strict=True):
        rows = [
            w[k] * (1 if weights is None else weights[n]) for n, k in enumerate(index) if i <= n < j and k != padding
        ]
        out.append({"sum": np.sum, "mean": np.mean, "max": np.max}[mode](rows, 0) if rows else np.zeros(4))
    return np.array(out)


INDEX, OFFSETS = [0, 2, 2, 5, 1, 3, 2], [0, 2, 2, 3]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.needs("autograd")
def test_forms_of_bags(mode, padding):
    want = bags(INDEX, OFFSETS, mode, padding=padding)
    more = {"mode": mode, "padding_idx": padding}
    t = table()
    for dtype in (lamella.int64, lamella.int32):
        index, offsets = lamella.tensor(INDEX, dtype=dtype), lamella.tensor(OFFSETS, dtype=dtype)
        got = F.embedding_bag(index, t, offsets, **more)
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)
        ends = lamella.tensor([*OFFSETS, len(INDEX)], dtype=dtype)
        assert (F.embedding_bag(index, t, ends, include_last_offset=True, **more) == got).all()
    square = tensor([[0, 2], [2, 5], [1, 1]])
    np.testing.assert_allclose(
        F.embedding_bag(square, t, **more).detach().numpy(),
        bags(square.flatten().tolist(), [0, 2, 4], mode, padding=padding),
        rtol=1e-12,
    )
    f = lambda t: F.embedding_bag(tensor(INDEX), t, tensor(OFFSETS), **more)  # noqa: E731
    assert lamella.autograd.gradcheck(f, (t,)) and lamella.autograd.gradgradcheck(lambda t: f(t) ** 3, (t,))


@pytest.mark.needs("autograd")
def test_weights_of_samples():
    weights = lamella.rand(len(INDEX), dtype=lamella.float64, requires_grad=True)
    f = lambda t, s: F.embedding_bag(tensor(INDEX), t, tensor(OFFSETS), mode="sum", per_sample_weights=s)  # noqa: E731
    want = bags(INDEX, OFFSETS, "sum", weights.tolist())
    np.testing.assert_allclose(f(table(), weights).detach().numpy(), want, rtol=1e-12)
    assert lamella.autograd.gradcheck(f, (table(), weights)) and lamella.autograd.gradgradcheck(f, (table(), weights))


@pytest.mark.needs("autograd")
def test_bags_by_frequency():
    t = table()
    F.embedding_bag(tensor(INDEX), t, tensor(OFFSETS), mode="sum", scale_grad_by_freq=True).sum().backward()
    assert t.grad[:, 0].tolist() == [1, 1, 1, 1, 0, 1]


@pytest.mark.needs("autograd")
def test_the_first_of_equal_elements_is_the_largest():
    t = lamella.ones(3, 2, requires_grad=True)
    F.embedding_bag(tensor([[2, 1]]), t, mode="max").sum().backward()
    assert t.grad.tolist() == [[0, 0], [0, 0], [1, 1]]


def test_modules():
    layer = nn.EmbeddingBag(6, 4, padding_idx=-2, max_norm=0.5, mode="sum", dtype=lamella.float64)
    assert layer.padding_idx == 4 and (layer.weight[4] == 0).all() and layer.weight.dtype is lamella.float64
    got = layer(tensor([0, 4, 3]), tensor([0, 2]))
    np.testing.assert_allclose(got.detach().numpy(), layer.weight.detach().numpy()[[0, 3]], rtol=1e-12)
    frozen = nn.EmbeddingBag.from_pretrained(lamella.from_numpy(w.copy()), mode="max")
    assert not frozen.weight.requires_grad and frozen(tensor([[1, 2]])).shape == (1, 4)
    kept = nn.Embedding.from_pretrained(lamella.from_numpy(w.copy()), freeze=False, padding_idx=-1, max_norm=1.0)
    assert kept.weight.requires_grad and kept.padding_idx == 5
    assert (kept(tensor([0])).norm() <= 1).item()


ONE, TWO = lamella.tensor([0, 1]), lamella.tensor([[0, 1]])


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: F.embedding(ONE, table(), padding_idx=6), AssertionError, "padding_idx"),
        (lambda: F.embedding(tensor([6]), table(), max_norm=1.0), IndexError, "out of range"),
        (lambda: F.embedding_bag(TWO, table(), tensor([0])), ValueError, "offsets has to be None"),
        (lambda: F.embedding_bag(ONE, table()), ValueError, "offsets has to be a 1D Tensor"),
        (lambda: F.embedding_bag(ONE, table(), TWO), ValueError, "offsets has to be a 1D Tensor"),
        (lambda: F.embedding_bag(TWO[None], table()), ValueError, "input has to be 1D or 2D"),
        (lambda: F.embedding_bag(TWO, table()[0]), ValueError, "weight has to be a 2D Tensor"),
        (lambda: F.embedding_bag(TWO, table(), mode="min"), ValueError, "mode has to be one of sum, mean or max"),
        (lambda: F.embedding_bag(TWO, table(), mode="max", scale_grad_by_freq=True), ValueError, "max mode"),
        (lambda: F.embedding_bag(TWO, table(), per_sample_weights=lamella.ones(2)), ValueError, "per_sample_weights"),
        (lambda: F.embedding_bag(TWO, table(), per_sample_weights=table()[:1, :2]), NotImplementedError, "mode='sum'"),
        (lambda: F.embedding_bag(ONE, table(), tensor([1])), RuntimeError, "argument 'offsets': the first has to be 0"),
        (lambda: nn.EmbeddingBag(3, 2, padding_idx=3), AssertionError, "padding_idx 3 is out of range"),
        (lambda: nn.EmbeddingBag(3, 2, _weight=table()), AssertionError, "argument '_weight'"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
