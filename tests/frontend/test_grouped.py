"""Products of groups of matrices."""

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest

RNG = np.random.default_rng(0)
ROWS, FIRST = RNG.standard_normal((6, 4)).astype("float32"), RNG.standard_normal((2, 3, 4)).astype("float32")
SECOND, COLUMNS = RNG.standard_normal((2, 4, 5)).astype("float32"), RNG.standard_normal((4, 6)).astype("float32")
ENDS = lamella.tensor([2, 6], dtype=lamella.int32)
SPANS = ((0, 2), (2, 6))


def product(a, b, offs=ENDS):
    return F.grouped_mm(lamella.tensor(a), lamella.tensor(b), offs=offs).numpy()


def test_products():
    close = {"rtol": 1e-4, "atol": 1e-5}
    want = np.concatenate([ROWS[i:j] @ SECOND[g] for g, (i, j) in enumerate(SPANS)])
    np.testing.assert_allclose(product(ROWS, SECOND), want, **close)
    want = np.concatenate([FIRST[g] @ COLUMNS[:, i:j] for g, (i, j) in enumerate(SPANS)], 1)
    np.testing.assert_allclose(product(FIRST, COLUMNS), want, **close)
    want = np.stack([ROWS.T[:, i:j] @ ROWS[i:j] for i, j in SPANS])
    np.testing.assert_allclose(product(ROWS.T.copy(), ROWS), want, **close)
    np.testing.assert_allclose(product(FIRST, SECOND, None), FIRST @ SECOND, **close)
    some = product(ROWS, SECOND, lamella.tensor([2, 2], dtype=lamella.int32))
    np.testing.assert_allclose(some[:2], ROWS[:2] @ SECOND[0], **close)
    assert some.shape == (6, 5) and not some[2:].any()


@pytest.mark.needs("autograd")
def test_gradients():
    a, b = lamella.tensor(ROWS, requires_grad=True), lamella.tensor(SECOND, requires_grad=True)
    F.grouped_mm(a, b, offs=ENDS).sum().backward()
    np.testing.assert_allclose(a.grad.numpy()[:2], np.broadcast_to(SECOND[0].sum(1), (2, 4)), rtol=1e-4)
    np.testing.assert_allclose(b.grad.numpy()[1], np.broadcast_to(ROWS[2:].sum(0)[:, None], (4, 5)), rtol=1e-4)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"mat_a": ROWS[0]}, "argument 'mat_a' has to be 2 or 3d"),
        ({"mat_a": ROWS.astype("float64")}, "expected Float32, BFloat16 or Float16, got lamella.float64"),
        ({"mat_a": ROWS[:, :3]}, "contraction dimension of mat_a and mat_b must match"),
        ({"bias": lamella.ones(5)}, "Bias not supported yet"),
        ({"out_dtype": lamella.float64}, "argument 'out_dtype'"),
        ({"offs": None}, "argument 'offs' is missing"),
        ({"offs": ENDS.long()}, "expected one dimension of int32"),
        ({"offs": ENDS + 1}, r"ascending ends from 0 to 6, got \[3, 7\]"),
        ({"offs": ENDS[:1]}, "1 groups, but an operand has 2"),
        ({"mat_a": FIRST}, "two 3D operands have their groups without it"),
    ],
)
def test_errors(given, words):
    given = {"mat_a": ROWS, "mat_b": SECOND, "offs": ENDS, **given}
    with pytest.raises(RuntimeError, match=words):
        F.grouped_mm(lamella.tensor(given.pop("mat_a")), lamella.tensor(given.pop("mat_b")), **given)


@pytest.mark.parametrize("f", [F.scaled_mm, F.scaled_grouped_mm])
def test_numbers_of_8_bits_are_refused(f):
    with pytest.raises(NotImplementedError, match=f"{f.__name__}: there are no numbers of 8 bits"):
        f(lamella.ones(2, 2), lamella.ones(2, 2), None, None, None, None)
