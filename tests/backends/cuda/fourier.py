"""Fourier transforms of device ``cuda`` beyond samples: layouts, orders of dimensions, lengths, threads, graphs.

``python fourier.py [cases...]`` compares each case with numpy. Tests run it over stand-ins for ``cuda`` and cuFFT,
and without cuFFT. Its last line has the number of the stand-in's calls, or on a GPU of cuFFT's plans: 0 without cuFFT.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from collections.abc import Callable

import lamella
import numpy as np

DEVICE = "cuda"
rng = np.random.default_rng(0)
fft = lamella.fft
plans = lamella.backends.cuda.cufft_plan_cache
NORMS = ("backward", "ortho", "forward")
PRIMES = (2, 3, 5, 7, 11, 13, 17, 97, 127, 131, 257, 1009)


def there(x, dtype=None):
    made = lamella.from_numpy(np.array(x)).to(DEVICE)  # a copy in the same order
    return made if dtype is None else made.to(dtype)


def noise(*shape, real=False, wide=True):
    x = rng.standard_normal(shape)
    if not real:
        x = x + 1j * rng.standard_normal(shape)
    return x if wide else x.astype(np.float32 if real else np.complex64)


def close(got, wanted, wide=True):
    """Compares by the largest element, as rounding of a transform is bounded."""
    got = got.cpu().numpy()
    assert got.dtype == (wanted.dtype if wide else np.complex64 if wanted.dtype.kind == "c" else np.float32)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    largest = np.abs(wanted).max() if wanted.size else 0
    np.testing.assert_allclose(got, wanted, rtol=0, atol=(1e-12 if wide else 3e-6) * max(largest, 1e-30))


def every(x, a, dims, norm="backward", wide=True):
    """Compares every transform of a complex tensor along `dims`; `x` lies on the device as the case needs it."""
    close(fft.fftn(x, dim=dims, norm=norm), np.fft.fftn(a, axes=dims, norm=norm), wide)
    close(fft.ifftn(x, dim=dims, norm=norm), np.fft.ifftn(a, axes=dims, norm=norm), wide)
    close(fft.rfftn(x.real, dim=dims, norm=norm), np.fft.rfftn(a.real, axes=dims, norm=norm), wide)
    close(fft.fftn(x.imag, dim=dims, norm=norm), np.fft.fftn(a.imag, axes=dims, norm=norm), wide)
    shape = a.shape
    for n in {2 * (shape[dims[-1]] - 1), 2 * shape[dims[-1]] - 1} - {0}:
        sizes = [shape[d] for d in dims[:-1]] + [n]
        before = x.cpu().numpy()
        # The imaginary parts of both ends are not zero, and numpy ignores them.
        close(fft.irfftn(x, s=sizes, dim=dims, norm=norm), np.fft.irfftn(a, s=sizes, axes=dims, norm=norm), wide)
        assert (x.cpu().numpy() == before).all(), "the input changed"


def orders():
    """Every choice and order of dimensions, each norm, both precisions."""
    for wide in (True, False):
        a = noise(3, 4, 5, wide=wide)
        x = there(a)
        chosen = [d for r in (1, 2, 3) for d in itertools.permutations(range(3), r)]
        for (i, dims), norm in zip(enumerate(chosen), itertools.cycle(NORMS), strict=False):
            every(x, a, [d - 3 if i % 2 else d for d in dims], norm, wide)


def more_dims():
    """Four and five dimensions, which take several passes, and dimensions of size 1 between them."""
    a = noise(2, 3, 2, 3, 4)
    x = there(a)
    for dims in ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (1, 2, 3, 4), (0, 4, 2, 1), (0, 2, 4), (1, 3), (3, 1), (0, 2)):
        every(x, a, dims)
    a = noise(1, 3, 1, 4, 1)
    x = there(a)
    for dims in ((0, 1, 2, 3, 4), (0,), (0, 2, 4), (1, 0), (3, 4), (4, 3)):
        every(x, a, dims, "ortho")


def layouts():
    """Inputs in other layouts: transposed, expanded, sliced, at odd addresses, of one element."""
    a = noise(4, 6, 5)
    every(there(a).permute(2, 0, 1), a.transpose(2, 0, 1), (0, 2))
    every(there(a).permute(2, 1, 0), a.transpose(2, 1, 0), (2, 1, 0))
    every(there(a)[:, ::2], a[:, ::2], (1, 2))
    every(there(a)[1:3, 1:5, 1:4], a[1:3, 1:5, 1:4], (0, 1))
    every(there(a)[:, :, ::2], a[:, :, ::2], (2,))
    wide = there(a[:, :1]).expand(4, 7, 5)
    every(wide, np.broadcast_to(a[:, :1], (4, 7, 5)), (2,))
    every(wide, np.broadcast_to(a[:, :1], (4, 7, 5)), (1, 2))
    every(there(a[:1, :1, :1]).expand(3, 4, 2), np.broadcast_to(a[:1, :1, :1], (3, 4, 2)), (0, 1))
    r = noise(61, real=True)
    for shift in (0, 1, 2, 3):  # cuFFT needs addresses that are aligned for complex numbers
        part = there(r)[shift : shift + 54].view(6, 9)
        b = r[shift : shift + 54].reshape(6, 9)
        for dims in ((1,), (0,), (0, 1)):
            close(fft.rfftn(part, dim=dims), np.fft.rfftn(b, axes=dims))
    whole = there(noise(6, 2, 9, real=True))
    close(fft.rfft(whole[:, 1]), np.fft.rfft(whole.cpu().numpy()[:, 1]))


def results():
    """Results in given tensors of any layout; other elements of their memory stay."""
    a = noise(4, 6)
    x = there(a)
    for dims in ((0,), (1,), (0, 1)):
        room = lamella.zeros(9, 15, dtype=lamella.complex128, device=DEVICE)
        out = room[1:9:2, 2:14:2]
        assert fft.fftn(x, dim=dims, norm="ortho", out=out) is out
        close(out, np.fft.fftn(a, axes=dims, norm="ortho"))
        assert int((room != 0).sum()) == 24
        turned = lamella.zeros(6, 4, dtype=lamella.complex128, device=DEVICE).t()
        fft.fftn(x.real, dim=dims, out=turned)
        close(turned, np.fft.fftn(a.real, axes=dims))
        numbers = lamella.zeros(60, dtype=lamella.float64, device=DEVICE)
        odd = numbers[1:41].view(4, 10) if dims == (1,) else numbers[1:37].view(6, 6)
        n = 10 if dims == (1,) else 6
        if dims != (0, 1):
            fft.irfft(x, n=n, dim=dims[0], out=odd)
            close(odd, np.fft.irfft(a, n=n, axis=dims[0]))
    other = x.clone()
    fft.fft(other, out=other)
    close(other, np.fft.fft(a))


def lengths():
    """Primes, powers of two, and lengths that inputs are cut or filled to."""
    for n in (*PRIMES, 1, 4, 64, 100, 1024):
        every(there(a := noise(2, n)), a, (1,))
        every(there(a := noise(n, 2)), a, (0,), "forward")
    a = noise(3, 10)
    for n in (1, 2, 7, 10, 15):
        close(fft.fft(there(a), n=n), np.fft.fft(a, n=n))
        close(fft.rfft(there(a.real), n=n), np.fft.rfft(a.real, n=n))
        close(fft.irfft(there(a), n=n), np.fft.irfft(a, n=n))
        close(fft.hfft(there(a), n=n), np.fft.hfft(a, n=n))
        close(fft.ihfft(there(a.real), n=n), np.fft.ihfft(a.real, n=n))
    assert fft.fft(there(noise(0, 4))).shape == (0, 4)
    assert fft.rfftn(there(noise(3, 0, 4, real=True)), dim=(0, 2)).shape == (3, 0, 3)
    assert fft.irfft(there(noise(2, 0, 4)), n=7).shape == (2, 0, 7)


def dtypes():
    """Half precision and integers are converted first."""
    a = rng.integers(-9, 9, (3, 8)).astype(np.float64)
    for dtype in (lamella.float16, lamella.bfloat16, lamella.float32, lamella.int32):
        close(fft.rfft(there(a, dtype)), np.fft.rfft(a), wide=False)
        close(fft.fft(there(a, dtype)), np.fft.fft(a), wide=False)


def groups():
    """Batches in two groups: small ones are packed by copies, large ones are transformed group by group."""
    for shape in ((3, 4, 5), (2, 4, 65536)):
        a = noise(*shape)
        close(fft.fft(there(a), dim=1), np.fft.fft(a, axis=1))
        close(fft.rfft(there(a.real), dim=1), np.fft.rfft(a.real, axis=1))
        close(fft.irfft(there(a), dim=1, n=6), np.fft.irfft(a, axis=1, n=6))
        close(fft.irfft(there(a), dim=1, n=7), np.fft.irfft(a, axis=1, n=7))


def streams():
    """Threads and streams that use one plan at the same time."""
    a = [noise(5, 12) for _ in range(8)]
    x, found = [there(b) for b in a], [None] * 8
    lamella.cuda.synchronize()

    def work(i):
        with lamella.cuda.stream(lamella.cuda.Stream()):
            for _ in range(10):
                y = fft.ifft2(fft.fft2(x[i]))
            found[i] = fft.fft2(y)
            lamella.cuda.current_stream().synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for b, y in zip(a, found, strict=True):
        close(y, np.fft.fft2(b))


def gradients():
    """The derivative of a transform is a transform on the device."""
    a = noise(3, 6, real=True)
    x = there(a).requires_grad_()
    (fft.rfft2(x).abs() ** 2).sum().backward()
    y = lamella.from_numpy(a).requires_grad_()
    (fft.rfft2(y).abs() ** 2).sum().backward()
    close(x.grad, y.grad.numpy())


def captures():
    """A graph replays transforms of new inputs, also after the cache has dropped their plans."""
    a, b = noise(4, 10), noise(4, 10)
    x = there(a)

    def work():
        y = fft.fft2(x, norm="ortho")
        return y, fft.irfft(y, n=10), fft.fft(x.real)

    stream = lamella.cuda.Stream()
    with lamella.cuda.stream(stream):
        work()
        graph = lamella.cuda.CUDAGraph()
        graph.capture_begin()
        made = work()
        graph.capture_end()
        plans.clear()
        for c in (a, b):
            x.copy_(there(c))
            graph.replay()
            wanted = np.fft.fft2(c, norm="ortho")
            close(made[0], wanted)
            close(made[1], np.fft.irfft(wanted, n=10))
            close(made[2], np.fft.fft(c.real))


CASES: list[Callable[[], None]] = [orders, more_dims, layouts, results, lengths, dtypes, groups, streams, gradients]
CASES += [captures]

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for case in CASES:
        if not chosen or case.__name__ in chosen:
            case()
    counted = [c.operator for c in lamella.fallback_counts()]
    assert not counted, counted
    try:
        print("calls", ctypes.CDLL("libcufft.so.12").standin_fft_calls())
    except (OSError, AttributeError):  # without cuFFT, or with NVIDIA's
        print("plans", plans.size)
