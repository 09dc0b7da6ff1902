"""Kernels never compute with old contents of their scratch memory: if these were denormal numbers, each operation would
take a hundred times as long. The tests read the processor's flag for operations on denormal numbers."""

import ctypes

import lamella
import numpy as np
import pytest

MXCSR, FLAGS, DENORMAL = 7, 0x3F, 0x02  # the word of x86-64's fenv_t with MXCSR, and its bits
libm = ctypes.CDLL("libm.so.6")


def environment():
    words = (ctypes.c_uint32 * 8)()
    libm.fegetenv(words)
    return words


def leave_denormals_behind():
    """Fills freed blocks of each size up to 2 MiB with denormals: kernels get scratch memory above 8 KiB from these."""
    kept = []
    for n in (eighths << power for power in range(3, 16) for eighths in range(8, 16)):
        kept += [lamella.empty(n, dtype=lamella.float32).fill_(1e-40) for _ in range(3)]


def meets_denormals(call):
    lamella.set_num_threads(1)  # each thread has its own flags, so the kernel must run on this one
    leave_denormals_behind()
    words = environment()
    words[MXCSR] &= ~FLAGS
    libm.fesetenv(words)
    call()
    return bool(environment()[MXCSR] & DENORMAL)


def whole(*shape):
    return lamella.tensor(np.random.default_rng(0).integers(1, 5, shape).astype("float32"))


def test_the_processor_tells():
    ones, denormals = lamella.ones(8), lamella.full((8,), 1e-40)
    assert not meets_denormals(lambda: ones * 2) and meets_denormals(lambda: denormals * 2)
    for n in (4096, 300_000):  # empty() returns such a block
        assert meets_denormals(lambda n=n: lamella.empty(n) * 2)


@pytest.mark.parametrize("dtype", [lamella.float32, lamella.float64])
@pytest.mark.parametrize("last", [False, True], ids=["plain", "channels_last"])
@pytest.mark.parametrize(
    "image, weight, stride, padding, groups",
    [
        ((1, 128, 7, 7), (128, 128, 3, 3), 1, 1, 1),
        ((1, 128, 14, 14), (128, 128, 3, 3), 2, 1, 1),
        ((8, 32, 13, 13), (64, 32, 3, 3), 1, 0, 1),
        ((8, 1, 58, 58), (32, 1, 5, 5), 1, 0, 1),
        ((4, 20, 12, 12), (20, 20, 5, 5), 1, 0, 1),
        ((1, 64, 56, 56), (64, 1, 3, 3), 1, 1, 64),
        ((2, 6, 35, 35), (4, 3, 3, 3), 1, 1, 2),
        ((2, 3, 39, 41), (5, 3, 2, 3), 2, 0, 1),
    ],
)
def test_convolutions(image, weight, stride, padding, groups, last, dtype):
    x, w = whole(*image).to(dtype), whole(*weight).to(dtype)
    if last:
        x, w = (t.contiguous(memory_format=lamella.channels_last) for t in (x, w))
    y = lamella.conv2d(x, w, None, stride, padding, 1, groups)
    assert not meets_denormals(lambda: lamella.conv2d(x, w, None, stride, padding, 1, groups))
    backward, grad = lamella.ops.aten.convolution_backward, lamella.ones_like(y)
    for mask in ([True, False, False], [False, True, False]):
        steps = [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups, mask
        assert not meets_denormals(lambda steps=steps: backward(grad, x, w, [weight[0]], *steps))


@pytest.mark.parametrize("dtype", [lamella.float32, lamella.float64])
@pytest.mark.parametrize("m, k, n", [(1, 64, 33), (3, 17, 5), (17, 300, 129), (49, 64, 1), (100, 7, 33)])
def test_products(m, k, n, dtype):
    a, b = whole(m, k).to(dtype), whole(k, n).to(dtype)
    for left, right in ((a, b), (a.t().contiguous().t(), b), (a, b.t().contiguous().t())):
        assert not meets_denormals(lambda left=left, right=right: left @ right)
