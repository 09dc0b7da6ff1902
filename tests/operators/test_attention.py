"""Attention beyond its samples: many blocks, queries with every key masked, dropout, memory."""

import lamella
import numpy as np
import pytest
from arrays import numbers
from lamella.autograd import gradcheck, gradgradcheck
from oracles.attention import attention as oracle

A = lamella.ops.aten


def needing(*shape, seed=0):
    return numbers(*shape, seed=seed).requires_grad_()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(1, 700), (129, 257), (300, 513), (513, 300)])
def test_many_blocks(queries, keys, causal):
    q, k, v = numbers(1, 4, queries, 5), numbers(1, 2, keys, 5, seed=1), numbers(1, 2, keys, 3, seed=2)
    mask = numbers(4, queries, 1, seed=3).expand(4, queries, keys) * numbers(keys, seed=4)
    for m in (None, mask, mask > 0):
        got = A._attention(q, k, v, m, causal, 0.6)
        want = oracle(q.numpy(), k.numpy(), v.numpy(), None if m is None else m.numpy(), causal, 0.6)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-12, atol=1e-13)


def test_large_scores_do_not_overflow():
    q, k, v = numbers(1, 1, 4, 3) * 1e3, numbers(1, 1, 600, 3, seed=1) * 1e3, numbers(1, 1, 600, 3, seed=2)
    got = A._attention(q, k, v, None, False, 1.0)[0].numpy()
    np.testing.assert_allclose(got, oracle(q.numpy(), k.numpy(), v.numpy(), None, False, 1.0)[0], rtol=1e-9)


def test_a_nan_reaches_its_queries():
    q, k, v = numbers(1, 1, 3, 2), numbers(1, 1, 4, 2, seed=1), numbers(1, 1, 4, 2, seed=2)
    q[0, 0, 1, 0] = float("nan")
    got = A.scaled_dot_product_attention(q, k, v).numpy()
    assert np.isnan(got).all(-1).tolist() == [[[False, True, False]]]


def test_gradient_of_many_blocks():
    """The kernel's gradient equals that of the composed softmax, which finite differences check."""
    q, k, v = needing(1, 4, 150, 4), needing(1, 2, 300, 4, seed=1), needing(1, 2, 300, 3, seed=2)
    A.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).square().sum().backward()
    got = [x.grad.numpy() for x in (q, k, v)]
    q.grad = k.grad = v.grad = None
    scores = q @ k.repeat_interleave(2, 1).mT / 2
    scores = scores.masked_fill(lamella.ones(150, 300, dtype=lamella.bool).triu(1), -float("inf"))
    (scores.softmax(-1) @ v.repeat_interleave(2, 1)).square().sum().backward()
    for a, b in zip(got, (q, k, v), strict=True):
        np.testing.assert_allclose(a, b.grad.numpy(), rtol=1e-10, atol=1e-12)


def test_queries_that_see_nothing():
    q, k, v = needing(2, 3), needing(4, 3, seed=1), needing(4, 3, seed=2)
    mask = lamella.tensor([[False] * 4, [True, False, True, False]])
    out = A.scaled_dot_product_attention(q, k, v, mask)
    assert out[0].tolist() == [0, 0, 0]
    out.sum().backward()
    assert q.grad[0].tolist() == [0, 0, 0]
    assert np.isfinite(k.grad.numpy()).all()
    np.testing.assert_allclose(v.grad.sum(0).numpy(), [1, 1, 1])
    later = A.scaled_dot_product_attention(q, k, v, mask, 0.5)
    assert later[0].tolist() == [0, 0, 0]


def test_dropout():
    lamella.manual_seed(0)
    q, k = numbers(200, 4), numbers(50, 4, seed=1)
    v = lamella.eye(50, dtype=lamella.float64)  # with this v the result is the weights
    kept = A.scaled_dot_product_attention(q, k, v, dropout_p=0.25).numpy()
    all_of_them = A.scaled_dot_product_attention(q, k, v).numpy()
    there = kept != 0
    assert abs(there.mean() - 0.75) < 0.02
    np.testing.assert_allclose(kept[there], all_of_them[there] / 0.75)


def composed(q, k, v, mask, causal, scale, p):
    """Computes attention by the whole matrix of scores, with dropout of its softmax."""
    n = q.shape[1] // k.shape[1]
    scores = q @ k.repeat_interleave(n, 1).mT * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -float("inf")) if mask.dtype == lamella.bool else scores + mask
    if causal:
        scores = scores.masked_fill(lamella.ones(scores.shape[-2:], dtype=lamella.bool).triu(1), -float("inf"))
    return lamella.dropout(scores.softmax(-1), p, True) @ v.repeat_interleave(n, 1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [None, (150, 270), (1, 2, 1, 270), (2, 1, 150, 1), (1,)])
def test_dropout_is_that_of_all_scores(causal, shape):
    """The kernel uses the same random words as dropout(softmax(...)), forward and backward."""
    q, k, v = needing(2, 2, 150, 5), needing(2, 1, 270, 5, seed=1), needing(2, 1, 270, 3, seed=2)
    inputs = [q, k, v] if shape is None else [q, k, v, needing(*shape, seed=3)]
    mask = None if shape is None else inputs[-1]
    made = []
    for f in (
        lambda: A._attention_dropout(q, k, v, mask, causal, 0.4, 0.3)[0],
        lambda: composed(q, k, v, mask, causal, 0.4, 0.3),
    ):
        lamella.manual_seed(5)
        lamella.rand(7)
        out = f()
        made.append([out, *lamella.autograd.grad(out.square().sum(), inputs), lamella.rand(3)])
    for a, b in zip(*made, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-11)


def test_the_composite_drops_the_same():
    q, k, v = numbers(2, 4, 5, 3), numbers(2, 2, 7, 3, seed=1), numbers(2, 2, 7, 2, seed=2)
    made = []
    for kernels in (["aten::_attention_dropout"], []):
        with lamella.library.kernels_disabled(kernels, "cpu"):
            lamella.manual_seed(5)
            made.append(A._attention_dropout(q, k, v, None, True, 0.4, 0.3))
    for a, b in zip(*made, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", [(2, 4, 200, 300), (1, 3, 5, 2), (3, 1, 129, 257)])
def test_which_scores_stay(shape):
    """The values are the unit matrix, so the result is 0 exactly at dropped scores."""
    q, k = numbers(*shape[:3], 4), numbers(shape[0], shape[1], shape[3], 4, seed=1)
    v = lamella.eye(shape[3], dtype=lamella.float64).expand(*shape[:2], shape[3], shape[3])
    lamella.manual_seed(11)
    got = A.scaled_dot_product_attention(q, k, v, dropout_p=0.4) != 0
    lamella.manual_seed(11)
    assert got.equal(lamella.dropout(lamella.ones(shape, dtype=lamella.float64), 0.4, True) != 0)


@pytest.mark.parametrize("masked", [None, "float", "bool"])
def test_gradients_with_dropout(masked):
    q, k, v = needing(1, 4, 3, 2), needing(1, 2, 4, 2, seed=1), needing(1, 2, 4, 3, seed=2)
    mask = None if masked is None else needing(4, 1, 4, seed=3) if masked == "float" else numbers(3, 4, seed=3) > 0
    inputs = (q, k, v) + ((mask,) if masked == "float" else ())

    def f(q, k, v, m=mask):
        lamella.manual_seed(3)
        return A._attention_dropout(q, k, v, m, False, 0.7, 0.5)[:2]

    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


def test_words_that_do_not_fit():
    x = lamella.ones(1, 1, 2, 2)
    sums, wrong = lamella.ones(1, 1, 2), lamella.ones(3, dtype=lamella.int64)
    for words in (None, wrong, lamella.ones(2)):
        with pytest.raises(RuntimeError, match="argument 'words'"):
            A._attention_backward(x, None, x, x, x, None, x, sums, False, 1.0, [True] * 3, words, 0.5)
    with pytest.raises(RuntimeError, match="argument 'dropout_p'"):
        A._attention_dropout(x, x, x, None, False, 1.0, 1.5)


def test_threads_change_no_bit():
    q, k, v = (numbers(2, 4, 200, 32, seed=i, dtype="float32").requires_grad_() for i in range(3))
    mask = numbers(200, seed=4, dtype="float32").requires_grad_()

    def run():
        q.grad = k.grad = v.grad = mask.grad = None
        lamella.manual_seed(1)
        out = A.scaled_dot_product_attention(q, k, v, mask, 0.1)
        out.square().sum().backward()
        return [t.detach().numpy().tobytes() for t in (out, q.grad, k.grad, v.grad, mask.grad)]

    lamella.set_num_threads(1)
    alone = run()
    lamella.set_num_threads(4)
    assert run() == alone


def test_a_result_lies_as_the_queries_do():
    q = numbers(5, 2, 3, 4).permute(1, 2, 0, 3)
    assert A.scaled_dot_product_attention(q, q, q).stride() == q.stride()
