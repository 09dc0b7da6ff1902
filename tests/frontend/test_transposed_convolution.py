"""Transposed convolutions are the transposes of convolutions; modules of any size."""

import itertools

import lamella
import numpy as np
import pytest
from arrays import numbers, to_lamella, to_numpy, values
from lamella import nn

F = nn.functional
KERNELS = ["aten::_convolution_backward_input", "aten::convolution"]


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_it_is_the_transpose_of_a_convolution(dims, composite):
    """The scalar product of conv(x) with y equals that of x with conv_transpose(y)."""
    forward, back = getattr(F, f"conv{dims}d"), getattr(F, f"conv_transpose{dims}d")
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for stride, padding, dilation, groups in itertools.product((1, 2, 3), (0, 1), (1, 2), (1, 2)):
            x, w = numbers(2, 4, *(7, 8, 6)[:dims]), numbers(6, 4 // groups, *(2, 3, 2)[:dims], seed=1)
            made = forward(x, w, None, stride, padding, dilation, groups)
            y = numbers(*made.shape, seed=2)
            reach = [dilation * (k - 1) + 1 for k in w.shape[2:]]
            more = [(n + 2 * padding - r) % stride for n, r in zip(x.shape[2:], reach, strict=True)]
            got = back(y, w, None, stride, padding, more, groups, dilation)
            assert got.shape == x.shape
            np.testing.assert_allclose((made * y).sum().item(), (x * got).sum().item(), rtol=1e-10)


def test_an_output_padding_of_a_stride_or_more():
    """Places past the kernel's last one contain only the bias."""
    got = F.conv_transpose1d(lamella.ones(1, 1, 2), lamella.ones(1, 1, 2), lamella.tensor([0.5]), 1, 0, 2, 1, 3)
    assert got.tolist() == [[[1.5, 1.5, 0.5, 1.5, 1.5, 0.5, 0.5]]]


@pytest.mark.parametrize("last", [False, True])
def test_layouts(last):
    x, w = values("float32", 2 * 8 * 5 * 6, 1, -3, 3).reshape(2, 8, 5, 6), values("float32", 8 * 4 * 9, 2, -3, 3)
    t, w = to_lamella(x), to_lamella(w.reshape(8, 4, 3, 3))
    image = t.contiguous(memory_format=lamella.channels_last) if last else t[..., ::1]
    got = F.conv_transpose2d(image, w, None, 2, 1)
    assert got.is_contiguous(memory_format=lamella.channels_last) == last
    np.testing.assert_allclose(to_numpy(got), to_numpy(F.conv_transpose2d(t, w, None, 2, 1)), rtol=1e-5, atol=1e-4)


# ---- modules ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d])
def test_sizes_that_are_asked_for(kind):
    n = int(kind.__name__[-2])
    module, x = kind(3, 2, 3, stride=2, padding=1), lamella.ones(1, 3, *[4] * n)
    for size in (7, 8):
        assert module(x, [size] * n).shape == module(x, (1, 2, *[size] * n)).shape == (1, 2, *[size] * n)
        assert module(x[0], output_size=[size] * n).shape == (2, *[size] * n)
    with pytest.raises(ValueError, match=r"requested an output size of .*9.* valid sizes range from .*7.* to .*8"):
        module(x, [9] * n)
    with pytest.raises(ValueError, match="argument 'output_size': expected"):
        module(x, [7] * (n + 1))


def test_modules_are_the_functions():
    module = nn.ConvTranspose2d(4, 6, (3, 2), 2, 1, 1, groups=2, dilation=2)
    x = lamella.randn(2, 4, 5, 6)
    want = F.conv_transpose2d(x, module.weight, module.bias, 2, 1, 1, 2, 2)
    assert (module(x) == want).all() and module.weight.shape == (4, 3, 3, 2) and module.bias.shape == (6,)
    lazy = nn.LazyConvTranspose2d(6, (3, 2), 2, 1, 1, 2, dilation=2)
    assert lazy(x).shape == want.shape and type(lazy) is nn.ConvTranspose2d and lazy.weight.shape == (4, 3, 3, 2)
    lazy.load_state_dict(module.state_dict())
    assert (lazy(x) == want).all()


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: nn.ConvTranspose1d(1, 1, 2, padding_mode="reflect"), ValueError, "'padding_mode' must be 'zeros'"),
        (lambda: nn.ConvTranspose1d(1, 1, 2, padding="same"), TypeError, "argument 'padding' must be numbers"),
        (lambda: nn.ConvTranspose2d(3, 4, 2, groups=2), ValueError, "'in_channels': 3 is no multiple of 2 groups"),
        (lambda: F.conv_transpose1d(lamella.ones(1, 1, 2), lamella.ones(1, 1, 2), stride=2, output_padding=2),
         RuntimeError, "argument 'output_padding': 2 must be smaller than the stride, 2, or the dilation, 1"),
    ],
)  # fmt: skip
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
