"""Fourier transforms equal numpy's for lengths of every kind, layouts, batches and numbers of threads."""

import os
import subprocess
import sys
import warnings

import lamella
import numpy as np
import pytest

# Small lengths; products of every radix; primes above the largest radix, which are convolutions, and multiples of them.
LENGTHS = [*range(1, 70), 96, 100, 101, 107, 121, 127, 128, 131, 169, 210, 240, 256, 257, 343, 400, 480, 509, 512, 601]
LONG = [1000, 1009, 1018, 1024, 1331, 2048, 2187, 2310, 3125, 4096, 5005, 6000, 10007, 16384, 20011, 32768, 65536]
EPS = {"complex64": 2**-24, "complex128": 2**-53}


def numbers(*shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape)).astype(dtype) if dtype.startswith("c") else x.astype(dtype)


def assert_close(got, want, x, dtype):
    """Compares by the root of the mean square, which a transform multiplies by the root of its length at most.

    The bound is that of Higham, "Accuracy and stability of numerical algorithms", section 24.1, with room for the
    convolutions of primes.
    """
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    size = np.sqrt((np.abs(want) ** 2).mean()) if want.size else 0
    error = np.sqrt((np.abs(got - want) ** 2).mean()) if want.size else 0
    assert error <= 8 * EPS[dtype] * np.log2(max(x.size, 2) + 1) * size, (error / size / EPS[dtype], want.shape)


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("batch", [1, 3, 20])
def test_lengths(batch, dtype):
    for n in LENGTHS:
        x = numbers(batch, n, dtype=dtype)
        t = lamella.from_numpy(x.copy())
        assert_close(lamella.fft.fft(t), np.fft.fft(x.astype(complex)), x[0], dtype)
        assert_close(lamella.fft.ifft(t), np.fft.ifft(x.astype(complex)), x[0], dtype)
        r = x.real.copy()
        half = np.fft.rfft(r.astype(float))
        assert_close(lamella.fft.rfft(lamella.from_numpy(r)), half, x[0], dtype)
        assert_close(lamella.fft.fft(lamella.from_numpy(r)), np.fft.fft(r.astype(float)), x[0], dtype)
        back = lamella.from_numpy(half.astype(dtype))
        assert_close(lamella.fft.irfft(back, n), r, x[0], dtype)


@pytest.mark.parametrize("dtype", EPS)
def test_long_lines(dtype):
    for n in LONG:
        x = numbers(n, dtype=dtype)
        r = x.real.copy()
        assert_close(lamella.fft.fft(lamella.from_numpy(x)), np.fft.fft(x.astype(complex)), x, dtype)
        assert_close(lamella.fft.ifft(lamella.from_numpy(x)), np.fft.ifft(x.astype(complex)), x, dtype)
        half = np.fft.rfft(r.astype(float))
        assert_close(lamella.fft.rfft(lamella.from_numpy(r)), half, x, dtype)
        assert_close(lamella.fft.irfft(lamella.from_numpy(half.astype(dtype)), n), r, x, dtype)


@pytest.mark.parametrize("n", [7, 8, 33, 64, 96, 127, 1009, 1024, 1500])
@pytest.mark.parametrize("width", [1, 2, 5, 8, 17])
def test_lines_side_by_side(width, n):
    x = numbers(3, n, width)
    got = lamella.fft.fft(lamella.from_numpy(x), dim=1)
    assert_close(got, np.fft.fft(x, axis=1), x[0, :, 0], "complex128")
    r = x.real.copy()
    half = np.fft.rfft(r, axis=1)
    assert_close(lamella.fft.rfft(lamella.from_numpy(r), dim=1), half, x[0, :, 0], "complex128")
    assert_close(lamella.fft.irfft(lamella.from_numpy(half), n, dim=1), r, x[0, :, 0], "complex128")


@pytest.mark.parametrize("n", [12, 127, 256, 1024, 1025, 4099])
def test_strided_lines(n):
    whole = numbers(n, 6)
    for t, x in (
        (lamella.from_numpy(whole)[:, 1], whole[:, 1]),
        (lamella.from_numpy(whole)[:, ::3].t(), whole[:, ::3].T),
        (lamella.from_numpy(whole)[::2].t(), whole[::2].T),
        (lamella.from_numpy(whole.real.copy())[:, 1], whole.real[:, 1]),
        (lamella.from_numpy(whole)[:1].t().expand(6, n), np.broadcast_to(whole[:1].T, (6, n))),
    ):
        assert_close(lamella.fft.fft(t), np.fft.fft(x), whole[:, 0], "complex128")
        if x.dtype.kind == "f":
            assert_close(lamella.fft.rfft(t), np.fft.rfft(x), whole[:, 0], "complex128")
    ones = lamella.ones(()).expand(n)
    assert_close(lamella.fft.rfft(ones), np.fft.rfft(np.ones(n)), whole[:, 0], "complex64")
    out = lamella.zeros(2 * n, dtype=lamella.complex128)
    lamella.fft.fft(lamella.from_numpy(whole[:, 0].copy()), out=out[::2])
    assert_close(out[::2], np.fft.fft(whole[:, 0]), whole[:, 0], "complex128")
    assert not np.asarray(out[1::2]).any()


def test_several_dimensions_of_a_batch():
    x = numbers(5, 64, 3, 128)
    t = lamella.from_numpy(x)
    for dim in ((1, 3), (3, 1), (1, 2, 3), (0, 3), (0, 1, 2, 3)):
        assert_close(lamella.fft.fftn(t, dim=dim), np.fft.fftn(x, axes=dim), x, "complex128")
        r = x.real.copy()
        half = np.fft.rfftn(r, axes=dim)
        assert_close(lamella.fft.rfftn(lamella.from_numpy(r), dim=dim), half, x, "complex128")
        s = [x.shape[d] for d in dim]
        assert_close(lamella.fft.irfftn(lamella.from_numpy(half), s, dim), r, x, "complex128")


def test_images_of_a_batch():
    """A batch of images of some MiB is transformed in parts."""
    x = numbers(21, 128, 127)
    t, r = lamella.from_numpy(x), x.real.copy()
    assert_close(lamella.fft.fft2(t), np.fft.fft2(x), x[0], "complex128")
    half = np.fft.rfft2(r)
    assert_close(lamella.fft.rfft2(lamella.from_numpy(r)), half, x[0], "complex128")
    assert_close(lamella.fft.irfft2(lamella.from_numpy(half), (128, 127)), r, x[0], "complex128")
    turned = lamella.from_numpy(np.ascontiguousarray(x.transpose(0, 2, 1))).transpose(1, 2)
    assert_close(lamella.fft.ifft2(turned), np.fft.ifft2(x), x[0], "complex128")


@pytest.mark.parametrize("n", [300, 1024, 10007, 65536, 100003])
def test_threads_change_no_bit(n):
    x = lamella.from_numpy(numbers(n, dtype="complex64"))
    many = lamella.from_numpy(numbers(37, n // 16, dtype="complex64"))
    images = lamella.from_numpy(numbers(21, 128, 127))

    def all_of():
        results = [lamella.fft.fft(x), lamella.fft.rfft(x.real), lamella.fft.fft(many), lamella.fft.rfft2(many.real)]
        results += [lamella.fft.fft2(images), lamella.fft.rfft2(images.real), lamella.fft.irfft2(images)]
        return [np.asarray(r).tobytes() for r in results]

    before = lamella.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            lamella.set_num_threads(threads)
            found.append(all_of())
    finally:
        lamella.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("isa", ["x86-64", "x86-64-v3"])
def test_instruction_sets(isa):
    code = (
        "import test_fourier as t; t.test_lengths(3, 'complex64'); t.test_lengths(20, 'complex128'); "
        "t.test_long_lines('complex64'); t.test_lines_side_by_side(17, 96)"
    )
    environment = os.environ | {"LAMELLA_CPU_ISA": isa, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=os.path.dirname(__file__))


@pytest.mark.parametrize("n", [1, 2, 60, 64, 96, 127, 521, 1042, 2048, 2310])
def test_a_device_without_kernels(n):
    x = numbers(3, n)
    with lamella.library.kernels_disabled(["aten::_fft_c2c", "aten::_fft_r2c", "aten::_fft_c2r"], "cpu"):
        t = lamella.from_numpy(x)
        assert_close(lamella.fft.fft(t), np.fft.fft(x), x[0], "complex128")
        assert_close(lamella.fft.ifft(t), np.fft.ifft(x), x[0], "complex128")
        half = np.fft.rfft(x.real)
        assert_close(lamella.fft.rfft(t.real), half, x[0], "complex128")
        assert_close(lamella.fft.irfft(lamella.from_numpy(half), n), x.real, x[0], "complex128")


def test_extreme_values():
    assert np.isnan(np.asarray(lamella.fft.fft(lamella.tensor([1.0, float("nan"), 2.0])))).all()
    big = lamella.full((8,), 1e38)
    assert not np.isfinite(np.asarray(lamella.fft.fft(big))[0])
    assert np.asarray(lamella.fft.fft(big, norm="forward"))[0] == pytest.approx(np.inf)


def test_out():
    x = lamella.ones(4)
    with pytest.raises(RuntimeError):
        lamella.fft.fft(x, out=lamella.empty(4))
    out = lamella.empty(0, dtype=lamella.complex128)
    assert lamella.fft.rfft(x, out=out) is out and out.shape == (3,)


SIGNAL = lamella.from_numpy(numbers(200, dtype="float64"))


@pytest.mark.parametrize("hop, length", [(None, None), (3, None), (5, 12)])
@pytest.mark.parametrize("options", [{}, {"normalized": True}, {"onesided": False}, {"pad_mode": "constant"}])
def test_istft_inverts_stft(options, hop, length):
    window = lamella.hann_window(length or 16, dtype=lamella.float64) + 0.1
    columns = lamella.stft(SIGNAL, 16, hop, length, window, return_complex=True, **options)
    options.pop("pad_mode", None)
    back = lamella.istft(columns, 16, hop, length, window, length=200, **options)
    hop = hop or 4
    whole = 16 + hop * (columns.shape[-1] - 1) - 8 - (16 - (length or 16)) // 2
    np.testing.assert_allclose(np.asarray(back)[: min(whole, 200)], np.asarray(SIGNAL)[: min(whole, 200)], atol=1e-12)


def test_short_time_transforms_warn():
    window = lamella.hann_window(16, dtype=lamella.float64)
    with pytest.warns(UserWarning, match="window"):
        columns = lamella.stft(SIGNAL, 16, return_complex=True)
    with pytest.warns(UserWarning, match="return_complex=False"):
        SIGNAL.stft(16, window=window, return_complex=False)
    with pytest.warns(UserWarning, match="window"):
        lamella.istft(columns, 16)
    with pytest.warns(UserWarning, match="length=400"):
        columns.istft(16, window=window, length=400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        columns = SIGNAL.stft(16, window=window, return_complex=True)
        columns.istft(16, window=window, length=200)
