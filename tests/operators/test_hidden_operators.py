"""Hidden operators with kernels of their own refuse arguments that do not fit, and nothing crashes."""

import lamella
import pytest

aten = lamella.ops.aten
f = lamella.ones
long = lamella.int64
B, T, N = 4, 3, 8
STEPS = [B] * T


def lstm(hx=None, weight=None, sizes=STEPS, dtype=None):
    made = [f(B, N), f(B, N), f(4 * N, N), None, f(B * T, N), f(B * T, N), f(B * T, 4 * N)]
    made[0] = made[0] if hx is None else hx
    made[2] = made[2] if weight is None else weight
    made = [t if dtype is None or t is None else t.to(dtype) for t in made]
    return aten._lstm_layer_backward(None, None, None, None, None, *made, sizes, False)


def cell(x=None, hx=None, w_ih=None, w_hh=None):
    x, hx = f(B, 5) if x is None else x, f(B, N) if hx is None else hx
    w_ih, w_hh = f(4 * N, 5) if w_ih is None else w_ih, f(4 * N, N) if w_hh is None else w_hh
    given = (x, hx, f(B, N), w_ih, w_hh, f(B, N), f(B, 4 * N))
    return aten._lstm_cell_backward(None, None, None, *given, [True] * 7)


EMPTY = lamella.empty(0, dtype=long)
REFUSED = {
    "a weight of other sizes": lambda: lstm(weight=f(1, N)),
    "a state of another dtype": lambda: lstm(hx=f(B, N, dtype=lamella.float64)),
    "half precision": lambda: lstm(dtype=lamella.float16),
    "integers": lambda: lstm(dtype=lamella.int8),
    "too many steps": lambda: lstm(sizes=[B] * 5000),
    "steps that grow": lambda: lstm(sizes=[B, 100000]),
    "negative steps": lambda: lstm(sizes=[B, -100000, B]),
    "steps beyond counting": lambda: aten._rnn_layer(
        lamella.empty(0, 0), lamella.empty(2**60, 0), lamella.empty(0, 0), [2**60] * 16, False, False
    ),
    "rows that packed sizes do not tell of": lambda: aten.lstm(
        *(f(4, 4), lamella.tensor([2]), [f(1, 2, 2), f(1, 2, 4)], [f(16, 4), f(16, 2), f(2, 4)]),
        *(False, 1, 0.0, False, False),
    ),
    "a cell's input with one dimension": lambda: cell(x=f(B)),
    "a cell's input of another batch": lambda: cell(x=f(1000, 1), w_ih=f(4 * N, 1)),
    "a cell's weights of other sizes": lambda: cell(w_ih=f(1, 1), w_hh=f(1, 1)),
    "a table beyond counting": lambda: aten._resample(f(1, 1, 8), [4], [2**62], EMPTY, None),
    "its gradient": lambda: aten._resample_backward(f(1, 1, 4), [4], [1, 1, 8], [2**62], EMPTY, lamella.empty(0)),
    "two axes beyond counting": lambda: aten._resample(
        f(1, 8, 8), [4, 4], [2**62, 1], lamella.zeros(4, dtype=long), None
    ),
    "windows beyond counting": lambda: aten.col2im(f(4, 4), [4, 4], [2**32, 2**32], 1, 2**32, 1),
    "a window that wraps": lambda: aten.max_pool2d_with_indices(f(1, 4, 4), [2**24 + 1, 1], 1, 0, [2**40, 1], False),
    "scores of another dtype": lambda: aten._attention_backward(
        *(f(1, 1, 2, 4, dtype=lamella.float64), None, f(1, 1, 2, 4), f(1, 1, 2, 4), f(1, 1, 2, 4), None),
        *(f(1, 1, 2, 4), f(1, 1, 2), False, 1.0, [True] * 3),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name):
    with pytest.raises((RuntimeError, ValueError, NotImplementedError), match="argument '"):
        REFUSED[name]()


def test_what_fits_is_computed():
    *grads, of_projection = lstm()
    assert [t.shape for t in grads] == [(B * T, 4 * N), (B, N), (B, N), (4 * N, N)] and of_projection is None
    assert cell()[0].shape == (B, 5)


@pytest.mark.parametrize("shape", [(1, N), (2, N), (1, N, 3), (1, N, 3, 2)])
def test_a_gradient_that_all_comes_to_one_place(shape):
    """A table lists the taps of each place; with equal depth for all places it would take in * out entries."""
    axes = list(shape[1:])
    wide = [4 * N, *axes[1:]]
    index = [lamella.zeros(4 * N, dtype=long), *(lamella.arange(n) for n in axes[1:])]
    weight = lamella.linspace(1, 2, sum(wide))
    grad = lamella.rand(shape[0], *wide)
    got = aten._resample_backward(grad, wide, list(shape), [1] * len(axes), lamella.cat(index), weight)
    want = lamella.zeros(shape)
    each = [w.view([-1 if k == i else 1 for k in range(len(axes))]) for i, w in enumerate(weight.split(wide))]
    for w in each:
        grad = grad * w
    want[:, 0] = grad.sum(1)
    assert lamella.allclose(got, want)


def test_a_gradient_for_a_long_axis_needs_little_memory():
    n = 10**6  # with equal depth at each place, the table would have n * n entries
    grad, index = lamella.ones(1, n), lamella.zeros(n, dtype=long)
    got = aten._resample_backward(grad, [n], [1, n], [1], index, None)
    assert got[0, 0] == n and got[0, 1:].abs().sum() == 0


def test_ranks_of_a_long_row():
    assert lamella.quantile(lamella.arange(2**24 + 4, dtype=lamella.float32), 1.0).item() == 2**24 + 4
    assert lamella.combinations(f(2), 10**7).shape == (0, 10**7)
