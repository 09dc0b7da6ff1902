"""Weights of 8 bits under autocast: the policies cast them as they cast other floats."""

import lamella
import pytest
from lamella.nn import functional as F

FLOAT8 = [lamella.float8_e4m3fn, lamella.float8_e5m2]


def tensors(*shape, seed=0):
    return lamella.randn(*shape, generator=lamella.Generator().manual_seed(seed))


@pytest.mark.parametrize("low", [lamella.bfloat16, lamella.float16])
@pytest.mark.parametrize("dtype", FLOAT8)
def test_products_cast_them_to_the_block_s_dtype(dtype, low):
    x, weight = tensors(3, 4), tensors(5, 4, seed=1).to(dtype)
    with pytest.raises(RuntimeError, match="its dtype float8"):
        F.linear(x, weight)
    with lamella.autocast("cpu", dtype=low):
        found = F.linear(x, weight), x @ weight.t(), F.conv1d(x[None, :, :3], tensors(2, 3, 3).to(dtype))
        own = F.linear(x.to(dtype), weight)
    assert all(t.dtype == low for t in (*found, own))
    assert lamella.equal(found[0], F.linear(x.to(low), weight.to(low))) and lamella.equal(found[0], found[1])
    assert lamella.equal(own, F.linear(x.to(dtype).to(low), weight.to(low)))


@pytest.mark.parametrize("dtype", FLOAT8)
def test_operators_that_are_computed_in_float32(dtype):
    weight = tensors(3, 4).to(dtype)
    with lamella.autocast("cpu"):
        found = F.mse_loss(weight, lamella.zeros(3, 4))
    assert found.dtype == lamella.float32
    assert lamella.allclose(found, F.mse_loss(weight.float(), lamella.zeros(3, 4)))


@pytest.mark.parametrize("dtype", FLOAT8)
@pytest.mark.parametrize("other", [lamella.float32, lamella.bfloat16, lamella.float16])
def test_the_wider_dtype_of_several_arguments(dtype, other):
    weight, rows = tensors(3, 4).to(dtype), tensors(2, 4, seed=1).to(other)
    with lamella.autocast("cpu"):
        for parts in ([weight, rows], [rows, weight]):
            found = lamella.cat(parts)
            assert found.dtype == other and lamella.equal(found, lamella.cat([p.to(other) for p in parts]))
        assert lamella.cat([weight, weight]).dtype == dtype
        both = lamella.cat([weight, weight.float().to(FLOAT8[dtype is FLOAT8[0]])])
    assert both.dtype == lamella.bfloat16


def test_gradients_of_what_they_are_multiplied_with():
    x, weight = tensors(3, 4).requires_grad_(), tensors(5, 4, seed=1).to(lamella.float8_e4m3fn)
    with lamella.autocast("cpu"):
        F.linear(x, weight).sum().backward()
    assert x.grad.dtype == lamella.float32 and lamella.allclose(x.grad, weight.float().sum(0).expand(3, 4), rtol=1e-2)
