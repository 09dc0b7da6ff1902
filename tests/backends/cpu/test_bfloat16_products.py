"""Products of bfloat16 are summed in float32 and rounded once, for any layout and number of threads."""

import lamella
import ml_dtypes
import numpy as np
import pytest

SIZES = [
    (8, 8, 8),
    (9, 1, 8),
    (24, 2, 31),
    (13, 7, 33),
    (12, 600, 32),
    (100, 513, 70),
    (300, 511, 64),
    (250, 1030, 2100),
    (1, 300, 40),
    (3, 1030, 2101),
    (7, 70, 64),
]


def tensor(a):
    return lamella.from_numpy(a.astype(np.float32)).bfloat16()


def in_columns(t):
    return t.t().contiguous().t()


FORMS = {
    "rows": lambda a, b, bias: a @ b,
    "columns of a": lambda a, b, bias: in_columns(a) @ b,
    "columns of b": lambda a, b, bias: a @ in_columns(b),
    "columns of both": lambda a, b, bias: in_columns(a) @ in_columns(b),
    "turned": lambda a, b, bias: (b.t() @ a.t()).t(),
    "every second row": lambda a, b, bias: a.repeat_interleave(2, 0)[::2] @ b,
    "batches": lambda a, b, bias: lamella.bmm(a[None].expand(3, *a.shape), b[None].expand(3, *b.shape))[2],
    "addmm": lambda a, b, bias: lamella.addmm(bias, a, b),
    "linear": lambda a, b, bias: lamella.nn.functional.linear(a, b.t(), bias),
}


@pytest.mark.parametrize("m, k, n", SIZES)
def test_each_sum_is_rounded_once(m, k, n):
    rng = np.random.default_rng(m)
    a, b, bias = (rng.standard_normal(s).astype(ml_dtypes.bfloat16).astype(np.float64) for s in ((m, k), (k, n), (n,)))
    sizes = np.abs(a) @ np.abs(b)
    for name, form in FORMS.items():
        wanted = a @ b + (bias if name in ("addmm", "linear") else 0)
        found = []
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            found.append(form(tensor(a), tensor(b), tensor(bias)).float().numpy())
            # The bound: half a step of bfloat16's eight bits, plus the errors of sums in float32.
            bound = np.abs(wanted) * 2**-8 + (sizes + 3) * k * 2**-24
            assert (np.abs(found[-1] - wanted) <= bound).all(), name
        assert (found[0] == found[1]).all(), name


def test_what_is_not_finite():
    a, b = np.zeros((8, 3)), np.ones((3, 8))
    a[0, 0], a[1, 1], a[2, :2] = np.nan, np.inf, (np.inf, -np.inf)
    got = (tensor(a) @ tensor(b)).float().numpy()
    assert np.isnan(got[0]).all() and np.isposinf(got[1]).all() and np.isnan(got[2]).all() and (got[3:] == 0).all()
