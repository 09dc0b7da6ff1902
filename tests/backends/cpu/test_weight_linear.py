"""Linear layers of floats by integers with scales: as exact as float32, for all sizes and ranges of the input."""

import os
import subprocess
import sys

import lamella
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

aten = lamella.ops.aten


def packed(w):
    """Returns codes from -8 to 7, two a byte, the first in the low half."""
    return ((w[:, ::2] & 15) | (w[:, 1::2] & 15) << 4).astype(np.uint8)


def faults(bits, rows, features, group, groups, scale_of_x, seed):
    """Returns the elements whose error is more than some roundings of the numbers that were summed."""
    rng = np.random.default_rng(seed)
    depth, most = group * groups, 1 << (bits - 1)
    w = rng.integers(-most, most, (features, depth)).astype(np.int8)
    scale = rng.uniform(0.1, 2, (features, groups)).astype(np.float32)
    x = (rng.standard_normal((rows, depth)) * scale_of_x).astype(np.float32)
    x[:, rng.integers(0, depth)] *= 3000  # an outlier
    values = (w.reshape(features, groups, group) * scale.astype(np.float64)[:, :, None]).reshape(features, depth)
    codes = lamella.from_numpy(packed(w) if bits == 4 else w)
    got = aten._weight_linear(lamella.from_numpy(x), codes, lamella.from_numpy(scale)).numpy().astype(np.float64)
    chunks = np.pad(np.abs(x.astype(np.float64)), ((0, 0), (0, -depth % 64))).reshape(rows, -1, 64).max(2)
    largest = np.repeat(chunks, 64, 1)[:, :depth]  # of the 64 neighbours that share a unit
    of_codes = np.repeat(scale.astype(np.float64), group, 1) * 2 * most
    limit = 2e-7 * (largest @ of_codes.T) + 1e-35
    return np.argwhere(~(np.abs(got - x.astype(np.float64) @ values.T) <= limit)).tolist()


@settings(max_examples=150, deadline=None)
@given(
    bits=st.sampled_from([4, 8]), rows=st.integers(1, 6), features=st.integers(1, 9),
    group=st.sampled_from([2, 6, 8, 10, 16, 32, 64, 70, 128, 192, 330]), groups=st.integers(1, 9),
    scale_of_x=st.sampled_from([1.0, 1e-33, 1e-20, 1e22, 1e31]), seed=st.integers(0, 999),
)  # fmt: skip
def test_sums_are_as_exact_as_float32(bits, rows, features, group, groups, scale_of_x, seed):
    assert faults(bits, rows, features, group, groups, scale_of_x, seed) == []


@pytest.mark.parametrize("group", [32, 512])
@pytest.mark.parametrize("mean", [0.0, 10.0])
def test_four_bits_are_as_exact_as_eight(mean, group):
    """An input whose numbers have a mean loses nothing to the sum of the numbers that inverted codes add."""
    rng = np.random.default_rng(0)
    w, x = rng.integers(-8, 8, (64, 2048)).astype(np.int8), rng.standard_normal((4, 2048)).astype(np.float32)
    x = np.maximum(x, 0) if mean == 0 else x + np.float32(mean)
    scale = rng.uniform(0.5, 1, (64, 2048 // group)).astype(np.float32)
    wanted = x.astype(np.float64) @ (w * np.repeat(scale, group, 1).astype(np.float64)).T
    errors = []
    for codes in (packed(w), w):
        got = aten._weight_linear(lamella.from_numpy(x), lamella.from_numpy(codes), lamella.from_numpy(scale))
        errors.append(np.sqrt(np.mean((got.numpy() - wanted) ** 2)))
    assert errors[0] < 3 * errors[1], errors


def test_codes_of_zero_give_zero():
    x = lamella.randn(2, 4096) + 100
    w = lamella.zeros(3, 2048, dtype=lamella.uint8)
    assert not aten._weight_linear(x, w, lamella.ones(3, 1)).any()
    large = lamella.zeros(1, 64)
    large[0, 0] = 1.0
    ones = lamella.full((1, 32), 0x11, dtype=lamella.uint8)
    assert aten._weight_linear(large, ones, lamella.full((1, 1), 1e38)).item() == np.float32(1e38)


@pytest.mark.parametrize("isa", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_on_every_instruction_set(isa):
    program = (
        "import test_weight_linear as t\n"
        "print([t.faults(b, r, 5, g, n, 1.0, 3) for b in (4, 8) for r in (1, 3) "
        "for g, n in ((32, 5), (64, 3), (8, 11), (130, 1))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=os.path.dirname(__file__), capture_output=True, text=True,
        env=os.environ | {"LAMELLA_CPU_ISA": isa},
    )  # fmt: skip
    assert done.stdout == f"{[[]] * 16}\n", done.stderr


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 3e38])
@pytest.mark.parametrize("bits", [4, 8])
def test_numbers_that_have_no_unit(bits, special):
    """NaN, infinities, and numbers whose sums may overflow give what float32 gives."""
    x = np.ones((2, 64), np.float32)
    x[1, 7] = special
    w = np.tile(np.array([[1, -2]], np.int8), (3, 32))
    scale = np.full((3, 1), 0.25, np.float32)
    codes = lamella.from_numpy(packed(w) if bits == 4 else w)
    got = aten._weight_linear(lamella.from_numpy(x), codes, lamella.from_numpy(scale)).numpy()
    np.testing.assert_allclose(got, x @ (w * 0.25).T.astype(np.float32), rtol=1e-6)


def test_a_coarser_rounding_would_be_found(monkeypatch):
    """An input that is rounded to sixteen bits of its greatest number has errors beyond the limit."""

    def coarse(x, codes, scale):
        unit = x.abs().amax(1, True) / 32767
        return real((x / unit).round() * unit, codes, scale)

    real = aten._weight_linear
    monkeypatch.setattr(sys.modules[__name__], "aten", type("Aten", (), {"_weight_linear": staticmethod(coarse)}))
    assert faults(4, 2, 5, 32, 8, 1.0, 0)
