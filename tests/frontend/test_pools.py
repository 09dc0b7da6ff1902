"""Pools, im2col and their modules in nn.functional: sizes, and refused arguments."""

import lamella
import numpy as np
import pytest
from lamella import nn

F = nn.functional
needs_autograd = pytest.mark.needs("autograd")


def distinct(*shape):
    """Returns numbers so far apart that finite differences do not change the largest."""
    count = int(np.prod(shape))
    return lamella.tensor(np.random.default_rng(0).permutation(count).reshape(shape) / 7.0)


SMOOTH = {
    "lp_pool1d": (lambda x: F.lp_pool1d(x + 1, 3, 2), (2, 5)),
    "lp_pool2d": (lambda x: F.lp_pool2d(x + 1, 1.5, (2, 3), 2), (1, 4, 5)),
    "lp_pool3d": (lambda x: F.lp_pool3d(x + 1, 2, 2, ceil_mode=True), (1, 3, 2, 2)),
}


@needs_autograd
@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name):
    call, shape = SMOOTH[name]
    x = distinct(*shape).requires_grad_()
    assert lamella.autograd.gradcheck(call, x) and lamella.autograd.gradgradcheck(call, x)


# ---- against numpy's windows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float32", "int64", "uint8", "float16"])
def test_volumes_are_pooled_as_their_windows_say(name):
    x = np.random.default_rng(1).integers(0, 9, (2, 3, 5, 6, 7)).astype(name)
    x[0, 0, 1, 2, 3:5] = 9 if "int" in name else np.inf
    seen = np.lib.stride_tricks.sliding_window_view(x, (2, 3, 2), (2, 3, 4))[:, :, ::2, ::3, ::2]
    got, where = F.max_pool3d(lamella.tensor(x), (2, 3, 2), return_indices=True)
    assert (got.numpy() == seen.max((-3, -2, -1))).all() and (F.max_pool3d(lamella.tensor(x), (2, 3, 2)) == got).all()
    assert (np.take_along_axis(x.reshape(6, -1), where.numpy().reshape(6, -1), 1) == got.numpy().reshape(6, -1)).all()


def test_a_window_of_padding_alone_stands_nowhere():
    value, where = F.max_pool3d(lamella.ones(1, 2, 2, 2), 2, 1, 1, 3, return_indices=True)
    assert (value == -np.inf).all() and (where == -1).all()


def test_halves_are_averaged_in_single_precision():
    x = lamella.full((1, 4, 64, 64), 30.0, dtype=lamella.float16)
    assert F.avg_pool3d(x, (4, 64, 64)).item() == 30 and F.adaptive_avg_pool3d(x, 1).item() == 30


def test_windows_at_random_places():
    lamella.manual_seed(0)
    x = lamella.arange(100.0).view(1, 1, 10, 10)
    drawn = [F.fractional_max_pool2d(x, 2, output_ratio=0.6, return_indices=True) for _ in range(2)]
    assert drawn[0][0].shape == (1, 1, 6, 6) and (drawn[0][1] != drawn[1][1]).any()
    assert all((values.long() == where).all() and where.max().item() == 99 for values, where in drawn)
    module = nn.FractionalMaxPool2d(2, 3, _random_samples=lamella.full((1, 1, 2), 0.5))
    assert (module(x) == module(x)).all() and list(module.state_dict()) == ["_random_samples"]


def test_unpooling_is_the_way_back():
    for n in (1, 2, 3):
        x = distinct(1, 2, *[6] * n)
        pool, unpool = getattr(nn, f"MaxPool{n}d")(2, return_indices=True), getattr(nn, f"MaxUnpool{n}d")(2)
        values, where = pool(x)
        back = unpool(values, where)
        assert back.shape == x.shape and (back[back != 0] == x[back != 0]).all() and (pool(back)[0] == values).all()
        assert unpool(values, where, output_size=[7] * n).shape == unpool(values, where, (1, 2, *[7] * n)).shape


def test_columns_and_images():
    x = distinct(2, 3, 5, 6)
    columns = F.unfold(x, (2, 3), stride=(1, 2))
    weight = distinct(4, 3, 2, 3)
    product = weight.view(4, -1) @ columns
    np.testing.assert_allclose(product.view(2, 4, 4, 2).numpy(), F.conv2d(x, weight, stride=(1, 2)).numpy(), rtol=1e-12)
    counts = F.fold(F.unfold(lamella.ones(1, 1, 5, 6), 2, 2), (5, 6), 2, 2)
    assert (F.fold(F.unfold(x, 2, 2), (5, 6), 2, 2) == x * counts).all()
    assert (nn.Unfold(2, 2)(x) == F.unfold(x, 2, 2)).all() and nn.Fold((5, 6), 2, 2)(
        nn.Unfold(2, 2)(x)
    ).shape == x.shape


def test_modules_are_the_functions():
    x = distinct(1, 2, 6, 7, 5)
    for module, want in (
        (nn.MaxPool3d(3, 2, 1, ceil_mode=True), F.max_pool3d(x, 3, 2, 1, ceil_mode=True)),
        (nn.AvgPool3d(3, 2, 1, True, False), F.avg_pool3d(x, 3, 2, 1, True, False)),
        (nn.AvgPool3d(2, divisor_override=3), F.avg_pool3d(x, 2, divisor_override=3)),
        (nn.LPPool3d(3, 2, 1), F.lp_pool3d(x, 3, 2, 1)),
        (nn.AdaptiveAvgPool3d((None, 2, 3)), F.adaptive_avg_pool3d(x, (6, 2, 3))),
        (nn.AdaptiveMaxPool3d((None, 2, 3)), F.adaptive_max_pool3d(x, (6, 2, 3))),
        (nn.FractionalMaxPool3d(2, 3, _random_samples=lamella.zeros(1, 2, 3, dtype=lamella.float64)),
         F.fractional_max_pool3d(x, 2, 3, _random_samples=lamella.zeros(1, 2, 3, dtype=lamella.float64))),
    ):  # fmt: skip
        assert (module(x) == want).all()
    values, where = nn.AdaptiveMaxPool2d((None, 2), return_indices=True)(x[0])
    assert values.shape == where.shape == (2, 6, 7, 2) and (values == F.adaptive_max_pool2d(x[0], (7, 2))).all()


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x: F.max_unpool2d(x, x.long(), 2, output_size=(9, 4)), ValueError, "must be between 6 and 10"),
        (lambda x: F.max_unpool2d(x, x.long(), 2, output_size=[8]), ValueError, "containing 2 or 4 elements"),
        (lambda x: F.max_unpool2d(x, x.long() + 64, 2), RuntimeError, "'indices': found an invalid max index"),
        (lambda x: F.max_unpool2d(x, x.int(), 2), RuntimeError, "'indices': expected dtype int64, got .*int32"),
        (lambda x: F.fractional_max_pool2d(x, 2), ValueError, "either an output_size or an output_ratio"),
        (lambda x: F.fractional_max_pool2d(x, 3, 3), RuntimeError, "'kernel_size': 3 windows of 3 do not fit into"),
        (lambda x: F.fractional_max_pool2d(x[0, 0], 3, 3), IndexError, "'input': expected 4 dimensions, or 3"),
        (lambda x: nn.FractionalMaxPool2d(2), ValueError, "either an output size, or a pooling ratio"),
        (lambda x: nn.FractionalMaxPool2d(2, 2, 0.5), ValueError, "only one of output_size and output_ratio"),
        (lambda x: nn.FractionalMaxPool3d(2, None, 1.5), ValueError, "'output_ratio' must be between 0 and 1"),
        (lambda x: nn.FractionalMaxPool3d(0, 2), ValueError, "kernel_size must be greater than 0, but got 0"),
        (lambda x: F.adaptive_max_pool2d(x, (1, 2, 3)), RuntimeError, "'output_size': expected 2 sizes"),
        (lambda x: F.adaptive_max_pool2d(x.bool(), 2), NotImplementedError, "has no largest element"),
        (lambda x: F.avg_pool3d(x.int(), 2), NotImplementedError, "a mean needs a floating dtype or int64"),
        (lambda x: F.max_pool3d(x, 5), RuntimeError, "a window of 5 .* does not fit into size 1"),
        (lambda x: F.unfold(x, 5), RuntimeError, "im2col: argument 'self': a window of 5"),
        (lambda x: F.fold(x[0], (4, 4), 3), RuntimeError, r"expected channels \* 9"),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(lamella.ones(2, 1, 4, 4))
