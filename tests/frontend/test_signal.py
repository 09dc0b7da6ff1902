"""The windows of lamella.signal.windows equal those of scipy.signal.windows."""

import lamella
import numpy as np
import pytest
import scipy.signal.windows as theirs
from lamella.signal import windows as ours

CASES = {
    "bartlett": {},
    "blackman": {},
    "cosine": {},
    "exponential": {"tau": 2.5},
    "gaussian": {"std": 3.0},
    "general_cosine": {"a": [0.4, 0.3, 0.2, 0.1]},
    "general_hamming": {"alpha": 0.7},
    "hamming": {},
    "hann": {},
    "kaiser": {"beta": 8.6},
    "nuttall": {},
}


def test_all_windows_have_a_case():
    assert sorted(ours.__all__) == sorted(CASES)


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_values(name, sym):
    options = CASES[name]
    for n in (0, 1, 2, 3, 8, 51):
        want = getattr(theirs, name)(n, sym=sym, **options) if n else np.zeros(0)
        for dtype in (lamella.float32, lamella.float64):
            got = getattr(ours, name)(n, sym=sym, dtype=dtype, **options)
            assert got.dtype is dtype and got.shape == (n,)
            np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=1e-7 if dtype is lamella.float32 else 1e-14)


@pytest.mark.parametrize("beta", [0.0, 0.5, 12.0, 100.0, 700.0])
def test_kaiser(beta):
    got = np.asarray(ours.kaiser(33, beta=beta, dtype=lamella.float64))
    np.testing.assert_allclose(got, theirs.kaiser(33, beta), rtol=1e-12)


def test_exponential_with_a_center():
    got = ours.exponential(9, center=2, tau=3.0, sym=False, dtype=lamella.float64)
    np.testing.assert_allclose(np.asarray(got), theirs.exponential(9, 2, 3.0, False), rtol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_options(name):
    made = getattr(ours, name)(5, requires_grad=True, device="meta", **CASES[name])
    assert made.requires_grad and made.device.type == "meta" and made.dtype is lamella.float32
    for bad in ({"dtype": lamella.float16}, {"dtype": lamella.int64}, {"dtype": lamella.complex64}):
        with pytest.raises(ValueError, match=f"{name}: argument 'dtype'"):
            getattr(ours, name)(5, **bad, **CASES[name])
    with pytest.raises(ValueError, match=f"{name}: argument 'M'"):
        getattr(ours, name)(-1, **CASES[name])


def test_wrong_parameters():
    for call in (
        lambda: ours.exponential(5, tau=0),
        lambda: ours.exponential(5, center=1),
        lambda: ours.gaussian(5, std=-1),
        lambda: ours.kaiser(5, beta=-1),
        lambda: ours.general_cosine(5, a=[]),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        ours.general_cosine(5, a=1)
