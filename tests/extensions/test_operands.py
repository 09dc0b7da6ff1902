"""Helpers of <lamella/operands.h> for kernels: operands and results in a layout, dimensions, quotients, windows."""

import itertools
from pathlib import Path

import lamella
import numpy as np
import pytest
from compiled import STRICT, compile_library, load

ops = lamella.ops.operands
HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module", autouse=True)
def operands(tmp_path_factory):
    """Loads the operators of operands.cpp."""
    load(compile_library(tmp_path_factory, HERE / "operands.cpp", *STRICT))


def layouts(dtype):
    """Returns the numbers 0 to 11 as a matrix (3, 4) in several layouts."""
    plain = lamella.arange(12).reshape(3, 4).to(dtype)
    return [plain, plain.t().contiguous().t(), lamella.zeros(3, 8, dtype=plain.dtype)[:, ::2].copy_(plain)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_a_kernel_of_plain_floats_serves_any_layout_and_dtype(dtype):
    expected = (3 * np.arange(12).reshape(3, 4)).tolist()
    for x in layouts(dtype):
        y = ops.tripled(x)
        assert y.tolist() == expected and y.dtype == x.dtype
        for out in layouts(dtype):
            assert ops.tripled(x, out=out) is out and out.tolist() == expected
        assert ops.tripled_(x) is x and x.tolist() == expected


def test_a_tensor_that_lies_so_is_taken_as_it_is():
    plain, turned, apart = layouts(lamella.float32)
    assert list(ops.themselves(plain, lamella.float32)) == [True] * 4
    for t in (turned, apart):
        assert list(ops.themselves(t, lamella.float32)) == [False, False, True, True]
    assert list(ops.themselves(plain, lamella.float64)) == [False] * 4
    assert ops.absent(None) and not ops.absent(plain)


def offsets(sizes, steps):
    return sorted(
        tuple(sum(i * s[k] for i, s in zip(at, steps, strict=True)) for k in range(2))
        for at in itertools.product(*(range(n) for n in sizes))
    )


@pytest.mark.parametrize("ordered", [False, True])
def test_joined_dimensions_reach_the_same_elements(ordered):
    """The joined dimensions give the same pairs of offsets in bytes as the tensors' strides."""
    a = lamella.zeros(2, 3, 1, 4)
    pairs = [
        (a, a, 1),
        (a, lamella.zeros(2, 3, 1, 4, dtype=lamella.int16), 1),
        (a, lamella.zeros(3, 1, 1), 3),
        (a, lamella.zeros(4), 2),
        (a.permute(3, 1, 0, 2), a.permute(3, 1, 0, 2), 1 if ordered else 3),
        (a[:, :, :, ::2], a[:, :, :, ::2], 1),
        (lamella.zeros(()), lamella.zeros(()), 0),
        (lamella.zeros(2, 0, 3), lamella.zeros(3), None),
    ]
    for x, y, count in pairs:
        *numbers, elements = ops.joined(x, y, ordered)
        sizes, first, second = numbers[::3], numbers[1::3], numbers[2::3]
        assert elements == x.numel() and count in (None, len(sizes))
        lies = [
            (
                x.stride(d) * x.element_size() * (x.size(d) != 1),
                0 if d < x.dim() - y.dim() or y.size(d - x.dim()) == 1 else y.stride(d - x.dim()) * y.element_size(),
            )
            for d in range(x.dim())
        ]
        assert offsets(sizes, list(zip(first, second, strict=True))) == offsets(x.shape, lies)


def test_quotients():
    top = 2**31 - 1
    near = [0, 1, 2, 3, 4, 5, 6, 7, top - 1, top]
    for by in [1, 2, 3, 5, 7, 10, 64, 641, 2**16 + 1, 2**30, 2**30 + 1, top]:
        numbers = sorted({n for x in near for n in (x, x * by - 1, x * by, x * by + 1) if 0 <= n <= top})
        assert list(ops.quotients(numbers, by)) == [n // by for n in numbers], by
    numbers = np.random.default_rng(5).integers(0, 2**31, 20000)
    for by in np.random.default_rng(6).integers(1, 2**31, 20):
        assert list(ops.quotients(numbers.tolist(), int(by))) == (numbers // by).tolist(), by


def test_windows():
    """Missing leading dimensions are filled in; one number stands for all; an empty stride means the kernel's size."""
    got = np.array(ops.window([8, 9], [3, 4], [2, 3], [], [1], [])).reshape(6, 3).tolist()
    assert got == [[1, 8, 9], [1, 3, 4], [1, 2, 3], [1, 2, 3], [0, 1, 1], [1, 1, 1]]
    got = np.array(ops.window([5, 6, 7], [1, 2, 3], [2], [3], [0, 1, 2], [2])).reshape(6, 3).tolist()
    assert got == [[5, 6, 7], [1, 2, 3], [2, 2, 2], [3, 3, 3], [0, 1, 2], [2, 2, 2]]


def test_dimensions_and_indices():
    assert [ops.wrapped(d, 3) for d in (0, 2, -1, -3)] == [0, 2, 2, 0]
    assert [ops.wrapped(d, 0) for d in (0, -1)] == [0, 0]
    assert ops.unindexed([]) and ops.unindexed([None, None]) and not ops.unindexed([None, lamella.tensor([0])])
