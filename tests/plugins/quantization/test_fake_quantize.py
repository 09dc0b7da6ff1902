"""Fake quantization: values of codes, straight-through gradients, and gradients of learned scales."""

import lamella
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import RANGES, plain, quantized, same
from test_quantized_tensors import drawn

pytestmark = pytest.mark.needs("autograd", "quantization")
quantization = lamella.quantization


def finite(shape, seed=0):
    return np.nan_to_num(drawn(shape, seed), nan=0.5, posinf=30, neginf=-30).astype(np.float32)


@settings(deadline=None, max_examples=80)
@given(st.sampled_from(["int8", "uint8", "int4"]), st.floats(2**-7, 2, width=32), st.data())
def test_values_are_those_of_quantized_tensors(type, scale, data):
    """Bit for bit those of quantizing and dequantizing; the gradient passes where the code is within the range."""
    low, high = RANGES[type]
    zero, x = data.draw(st.integers(low, high)), drawn((7, 9), data.draw(st.integers(0, 50)))
    leaf = lamella.tensor(x).requires_grad_()
    made = lamella.fake_quantize_per_tensor_affine(leaf, scale, zero, low, high)
    wanted = quantized(x, type, np.float32(scale), zero)
    np.testing.assert_array_equal(made.detach().numpy(), wanted.values())
    q = lamella.quantize_per_tensor(lamella.tensor(x), scale, zero, type)
    assert made.detach().equal(q.dequantize())
    seed = lamella.randn(7, 9)
    made.backward(seed)
    with np.errstate(over="ignore", invalid="ignore"):
        code = np.rint(x / np.float32(scale)).astype(np.float64) + zero
    inside = (code >= low) & (code <= high)
    np.testing.assert_array_equal(leaf.grad.numpy(), np.where(inside, seed.numpy(), 0))


def test_numbers_near_halves():
    """The quotient is rounded to float32 before it is rounded to an integer, and it is no product with 1 / scale."""
    steps = np.arange(-120, 120) + 0.5
    for scale in np.float32([0.05, 0.07, 0.3, 1.7, 3.3e-3]):
        x = (steps * scale).astype(np.float32)
        wanted = quantized(x, "int8", scale, 3)
        same(lamella.quantize_per_tensor(lamella.tensor(x), float(scale), 3, "int8"), wanted)
        plain(lamella.fake_quantize_per_tensor_affine(lamella.tensor(x), float(scale), 3, -128, 127), wanted.values())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_channels(axis):
    x, n = finite((4, 5, 6)), (4, 5, 6)[axis]
    scales = np.linspace(0.05, 0.5, n).astype(np.float32)
    zeros = np.arange(n).astype(np.int32) * 3 - 5
    leaf = lamella.tensor(x).requires_grad_()
    made = lamella.fake_quantize_per_channel_affine(leaf, lamella.tensor(scales), lamella.tensor(zeros), axis, -20, 20)
    p = lamella.ops.quantized.quantize_per_channel(
        lamella.tensor(x), lamella.tensor(scales), lamella.tensor(zeros), axis, "int8", quant_min=-20, quant_max=20
    )
    assert made.detach().equal(p.dequantize())
    made.sum().backward()
    along = [1, 1, 1]
    along[axis] = n
    code = np.rint(x / scales.reshape(along)) + zeros.reshape(along)
    np.testing.assert_array_equal(leaf.grad.numpy(), ((code >= -20) & (code <= 20)).astype(np.float32))


def test_tensors_as_scales():
    x = lamella.tensor(finite((5, 6)))
    by_number = lamella.fake_quantize_per_tensor_affine(x, 0.25, 3, -10, 10)
    for scale, zero in (([0.25], [3]), (0.25, 3)):
        pair = lamella.tensor(scale), lamella.tensor(zero, dtype=lamella.int32)
        assert lamella.fake_quantize_per_tensor_affine(x, *pair, -10, 10).equal(by_number)


@pytest.mark.parametrize("by_channel", [False, True])
def test_learned_scales_have_the_gradients_of_lsq(by_channel):
    """Esser et al., equation 3: the code less the quotient within the range, the bound beyond it."""
    x, low, high, factor = finite((6, 40), 3), -8, 7, 0.3
    scale = np.linspace(0.2, 0.9, 6).astype(np.float32) if by_channel else np.float32([0.4])
    zero = (np.arange(6) - 2).astype(np.float32) if by_channel else np.float32([1.0])
    op = "_fake_quantize_learnable_per_" + ("channel" if by_channel else "tensor") + "_affine"
    leaves = [lamella.tensor(a).requires_grad_() for a in (x, scale, zero)]
    more = (0,) if by_channel else ()
    made = getattr(lamella.ops.aten, op)(*leaves, *more, low, high, factor)
    grad = np.random.default_rng(0).normal(size=x.shape).astype(np.float32)
    made.backward(lamella.tensor(grad))
    s, z = scale[:, None], zero[:, None]
    quotient = x / s
    steps = np.rint(quotient)
    inside, bounded = (steps >= low - z) & (steps <= high - z), np.clip(steps, low - z, high - z)
    axes = 1 if by_channel else None
    np.testing.assert_allclose(made.detach().numpy(), bounded * s, rtol=1e-6)
    np.testing.assert_allclose(leaves[0].grad.numpy(), grad * inside, rtol=1e-6)
    slope = np.where(inside, bounded - quotient, bounded)
    wanted = (grad * slope).sum(axes) * factor
    np.testing.assert_allclose(leaves[1].grad.numpy().ravel(), np.ravel(wanted), rtol=1e-4, atol=1e-4)
    wanted = (grad * np.where(inside, 0, -s)).sum(axes) * factor
    np.testing.assert_allclose(leaves[2].grad.numpy().ravel(), np.ravel(wanted), rtol=1e-4, atol=1e-4)


def test_learned_scales_shrink_the_error():
    lamella.manual_seed(0)
    x = lamella.randn(2000)
    fake = quantization.LearnableFakeQuantize(dtype="int4")
    error = lambda: (fake(x) - x).square().mean()  # noqa: E731
    before = error().item()
    optimizer = lamella.optim.Adam(fake.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        error().backward()
        optimizer.step()
    assert error().item() < 0.9 * before
    q = fake.quantize(x)
    assert q.dequantize().equal(fake(x).detach())


def test_second_derivatives_are_zero_or_errors():
    x = lamella.randn(5, requires_grad=True)
    y = lamella.fake_quantize_per_tensor_affine(x * 2, 0.1, 0, -128, 127)
    [g] = lamella.autograd.grad((y * y).sum(), x, create_graph=True)
    [h] = lamella.autograd.grad(g.sum(), x)
    assert h.tolist() == pytest.approx([8.0] * 5)
