"""lamella.masked against numpy's masked arrays, and MaskedTensor: its rules, gradients and errors."""

import copy
import math
import pickle

import lamella
import numpy as np
import pytest
from lamella import masked

RNG = np.random.default_rng(3)
DATA = RNG.normal(size=(3, 4, 5))
KEPT = RNG.random((3, 4, 5)) > 0.4
KEPT[1, 2] = False  # a row without elements
X, MASK = lamella.tensor(DATA), lamella.tensor(KEPT)
ARRAY = np.ma.masked_array(DATA, ~KEPT)


def near(got, want, nothing):
    """Compares a result with numpy's, in which a masked element stands for ``nothing``."""
    want = np.ma.filled(np.ma.asarray(want).astype(float), nothing)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12, atol=1e-12)


DIMS = [None, 0, -1, (0, 2), (0, 1, 2)]
PLAIN = {
    "sum": (lambda a, d: a.sum(d), 0),
    "prod": (lambda a, d: a.prod(d), 1),
    "mean": (lambda a, d: a.mean(d), math.nan),
    "amax": (lambda a, d: a.max(d), -math.inf),
    "amin": (lambda a, d: a.min(d), math.inf),
    "var": (lambda a, d: np.ma.masked_array(a.var(d, ddof=1)), math.nan),
    "std": (lambda a, d: np.ma.masked_array(a.std(d, ddof=1)), math.nan),
    "logsumexp": (lambda a, d: np.ma.log(np.exp(a).sum(d)), -math.inf),
}


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", PLAIN)
def test_reductions(name, dim):
    reduce, nothing = PLAIN[name]
    near(getattr(masked, name)(X, dim, mask=MASK), reduce(ARRAY, dim), nothing)
    whole = getattr(masked, name)(X, dim)
    near(whole, reduce(np.ma.masked_array(DATA), dim), nothing)
    kept = getattr(masked, name)(X, dim, keepdim=True, mask=MASK)
    assert kept.dim() == 3 and bool(
        (kept.reshape(-1).nan_to_num() == getattr(masked, name)(X, dim, mask=MASK).reshape(-1).nan_to_num()).all()
    )


@pytest.mark.parametrize("ord", [0, 1, 2.0, 3.5, -1, math.inf, -math.inf])
def test_norm(ord):
    rows = [
        np.linalg.norm(r[k], ord) if k.any() else 0 if ord >= 0 else math.inf
        for r, k in zip(DATA.reshape(-1, 5), KEPT.reshape(-1, 5), strict=True)
    ]
    np.testing.assert_allclose(masked.norm(X, ord, 2, mask=MASK).reshape(-1).numpy(), rows, rtol=1e-12)


def test_places_and_medians():
    for name, of in (("argmax", np.ma.argmax), ("argmin", np.ma.argmin)):
        found = getattr(masked, name)(X, 1, mask=MASK)
        keep = KEPT.any(1)
        assert found.dtype == lamella.float64  # as in torch
        assert (found.numpy()[keep] == of(ARRAY, axis=1)[keep]).all()
        assert getattr(masked, name)(X, mask=MASK).item() == of(ARRAY)
    lower = [
        sorted(r[k])[(k.sum() - 1) // 2] if k.any() else math.nan
        for r, k in zip(DATA.reshape(-1, 5), KEPT.reshape(-1, 5), strict=True)
    ]
    np.testing.assert_array_equal(masked.median(X, mask=MASK).reshape(-1).numpy(), lower)
    whole = lamella.tensor([[4, 9, 1, 2], [3, 3, 8, 5]])
    assert masked.median(whole, 1, mask=whole != 9).tolist() == [2, 3]


def test_along_a_dimension():
    filled = np.where(KEPT, DATA, 0)
    near(masked.cumsum(X, 1, mask=MASK), np.cumsum(filled, 1), 0)
    near(masked.cumprod(X, 1, mask=MASK), np.cumprod(np.where(KEPT, DATA, 1), 1), 0)
    for name, sign in (("softmax", 1), ("softmin", -1)):
        e = np.where(KEPT, np.exp(sign * DATA), 0)
        with np.errstate(all="ignore"):
            want = e / e.sum(2, keepdims=True)
        near(getattr(masked, name)(X, 2, mask=MASK), want, 0)
        if sign == 1:
            with np.errstate(all="ignore"):
                near(masked.log_softmax(X, 2, mask=MASK), np.log(want), 0)
    size = np.sqrt((filled**2).sum(1, keepdims=True))
    near(masked.normalize(X, 2.0, 1, mask=MASK), filled / np.maximum(size, 1e-12), 0)
    near(masked.logaddexp(X, X, input_mask=MASK), np.where(KEPT, np.logaddexp(DATA, DATA), DATA), 0)


def test_masks_broadcast_and_dtypes():
    row = MASK[0, 0]
    near(masked.sum(X, mask=row), np.where(KEPT[0, 0], DATA, 0).sum(), 0)
    near(masked.sum(X, mask=row.to(lamella.uint8)), np.where(KEPT[0, 0], DATA, 0).sum(), 0)
    whole = lamella.tensor([[1, 2], [3, 4]], dtype=lamella.int32)
    none = lamella.zeros(2, 2, dtype=lamella.bool)
    assert masked.sum(whole, 0, mask=whole > 1).dtype == masked.prod(whole).dtype == lamella.int64
    assert masked.sum(whole > 1).item() == 3 and masked.sum(whole, dtype=lamella.float64).dtype == lamella.float64
    assert masked.amax(whole, mask=none).item() == -(2**31) and masked.amin(whole, mask=none).item() == 2**31 - 1
    assert masked.var(whole).dtype == lamella.float32
    assert masked.mean(whole, dtype=lamella.float32).item() == 2.5


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "amax", "var", "std", "norm", "logsumexp", "softmax"])
def test_gradients(name):
    x = lamella.tensor(DATA[0], requires_grad=True)
    mask = MASK[0]
    more = {"dim": 0} if name in ("logsumexp", "softmax") else {}
    assert lamella.autograd.gradcheck(lambda t: getattr(masked, name)(t, mask=mask, **more), [x])
    getattr(masked, name)(x, mask=mask, **more).sum().backward()
    assert bool((x.grad[~mask] == 0).all())


ERRORS = [
    (lambda: masked.sum([1.0]), TypeError, "sum: argument 'input'"),
    (lambda: masked.sum(X, mask=[True]), TypeError, "sum: argument 'mask'"),
    (lambda: masked.amax(X[0, 0], mask=MASK), ValueError, "amax: argument 'mask' has 3 dimensions"),
    (lambda: masked.sum(X, mask=MASK[:, :2]), RuntimeError, "sum: argument 'mask': shape"),
    (lambda: masked.mean(MASK), ValueError, "mean: argument 'input' has dtype"),
    (lambda: masked.amin(MASK), NotImplementedError, "amin: argument 'input'"),
    (lambda: masked.prod(X, (0, 0)), RuntimeError, "prod: argument 'dim'"),
    (lambda: masked.prod(X, 3), IndexError, "prod: argument 'dim'"),
    (lambda: masked.var(X, unbiased=True, correction=0), ValueError, "var: argument 'correction'"),
    (lambda: masked.median(X.long(), mask=MASK), ValueError, "median: argument 'mask'"),
    (lambda: masked.masked_tensor([1.0], MASK), TypeError, "masked_tensor: argument 'data'"),
    (lambda: masked.masked_tensor(X, X), TypeError, "masked_tensor: argument 'mask'"),
    (lambda: masked.as_masked_tensor(X, MASK[0]), ValueError, "as_masked_tensor: argument 'mask'"),
    (lambda: M + masked.masked_tensor(X, ~MASK), ValueError, "add: the masks"),
    (lambda: M.sort(), TypeError, "sort: a MaskedTensor has no rule"),
    (lambda: M.numpy(), TypeError, "numpy: a MaskedTensor"),
    (lambda: M.tolist(), TypeError, "tolist: a MaskedTensor"),
    (lambda: M[1, 2, 0].item(), ValueError, "item: the element is masked out"),
    (lambda: masked.masked_tensor(X, MASK, True).sin_(), RuntimeError, "sin_: a leaf"),
]
M = masked.masked_tensor(X, MASK)


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        call()


# ---- MaskedTensor ----------------------------------------------------------------------------------------------------


def test_pointwise_operators_keep_the_mask():
    for made, want in (
        (M + 1, DATA + 1),
        (2 / M, 2 / DATA),
        (M * M, DATA * DATA),
        (M * X, DATA * DATA),
        (M.sin(), np.sin(DATA)),
        (lamella.where(M > 0, M, -M), abs(DATA)),
        (M.double(), DATA),
    ):
        assert masked.is_masked_tensor(made) and made.get_mask().equal(MASK)
        np.testing.assert_allclose(made.get_data().numpy(), want)
    wide = masked.masked_tensor(X[0, 0], MASK[0, 0]) + lamella.zeros(2, 5)
    assert wide.shape == wide.get_mask().shape == (2, 5)


def test_views_and_rearrangements_move_the_mask():
    for move in (
        lambda t: t.t(), lambda t: t[1], lambda t: t.view(5, 4), lambda t: t.unsqueeze(1), lambda t: t.reshape(-1),
        lambda t: lamella.cat([t, t]), lambda t: lamella.stack([t, t], 1), lambda t: t.split(2)[1],
        lambda t: t.expand(2, 4, 5), lambda t: t.flip(0), lambda t: t[:, lamella.tensor([2, 0])],
    ):  # fmt: skip
        made = move(M[0])
        assert made.get_data().equal(move(X[0])) and made.get_mask().equal(move(MASK[0]))


def test_reductions_keep_what_has_an_element():
    found = M.mean(2)
    assert found.get_mask().equal(MASK.any(2)) and not bool(found.get_mask()[1, 2])
    near(found.to_tensor(math.nan), ARRAY.mean(2), math.nan)
    assert M.sum().item() == pytest.approx(ARRAY.sum()) and M.sum(0, True).shape == (1, 4, 5)
    assert M.norm(2, 0).get_mask().equal(MASK.any(0)) and M.std(0, False).get_data().allclose(
        masked.std(X, 0, False, mask=MASK), equal_nan=True
    )
    near(M.softmax(0).get_data(), masked.softmax(X, 0, mask=MASK).numpy(), 0)
    assert (M > -9).all().item()


def test_gradients_of_masked_tensors():
    m = masked.masked_tensor(X, MASK, requires_grad=True)
    assert m.is_leaf and m.grad is None
    (m * m).sum().backward()
    assert masked.is_masked_tensor(m.grad)
    np.testing.assert_allclose(m.grad.to_tensor(0).numpy(), np.where(KEPT, 2 * DATA, 0))
    x = X.clone().requires_grad_()
    masked.as_masked_tensor(x, MASK).exp().mean().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(KEPT, np.exp(DATA), 0) / KEPT.sum())


def test_copies_are_whole():
    for made in (copy.deepcopy(M), pickle.loads(pickle.dumps(M)), M.clone(), masked.MaskedTensor(X, MASK)):
        assert masked.is_masked_tensor(made) and made.get_mask().equal(MASK) and made.get_data().equal(X)
    assert not lamella.masked.is_masked_tensor(M.to_tensor(0))
    assert X.data_ptr() != M.get_data().data_ptr() and masked.as_masked_tensor(X, MASK).data_ptr() == X.data_ptr()


def test_text():
    few = masked.masked_tensor(lamella.tensor([[1.0, -2.5], [3.0, 4.0]]), lamella.tensor([[True, True], [False, True]]))
    assert repr(few) == "MaskedTensor(\n  [\n    [ 1.0000, -2.5000],\n    [     --,  4.0000]\n  ]\n)"
    assert str(few.sum(0)) == "MaskedTensor(\n  [1.0000, 1.5000]\n)"
    assert repr(few[1, 0]) == "MaskedTensor(--, False)"
    assert (
        repr(masked.masked_tensor(lamella.tensor([1, 2]), lamella.tensor([True, False])))
        == "MaskedTensor(\n  [ 1, --]\n)"
    )
