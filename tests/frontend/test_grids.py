"""Images sampled at the places of a grid, and grids of affine maps: rotations, warnings, errors."""

import itertools

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn


def test_the_identity_reads_the_image():
    for shape, theta in (((2, 3, 4, 5), np.eye(2, 3)), ((2, 3, 2, 4, 5), np.eye(3, 4))):
        image = lamella.rand(*shape)
        for align, mode in itertools.product((False, True), ("bilinear", "nearest")):
            maps = lamella.from_numpy(np.stack([theta] * 2).astype("float32"))
            grid = F.affine_grid(maps, shape, align_corners=align)
            assert grid.shape == (2, *shape[2:], len(shape) - 2)
            got = F.grid_sample(image, grid, mode, "border", align)
            np.testing.assert_allclose(got.numpy(), image.numpy(), atol=1e-6)


def test_a_quarter_turn():
    image = lamella.rand(1, 1, 4, 4)
    grid = F.affine_grid(lamella.tensor([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]]), (1, 1, 4, 4), align_corners=False)
    got = F.grid_sample(image, grid, align_corners=False).numpy()[0, 0]
    np.testing.assert_allclose(got, np.rot90(image.numpy()[0, 0]), atol=1e-6)


FAR = [np.inf, -np.inf, np.nan, 3e38, -3e38, 1e30]


def edge(x, size):
    """The place at the border of an axis for a coordinate beyond it; NaN is at the first, as in torch."""
    return size - 1 if x > 0 else 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["2 bilinear", "2 nearest", "2 bicubic", "3 bilinear", "3 nearest"])
def test_places_far_outside(mode, padding, align, dtype):
    """One coordinate, or all of them, are far outside or not numbers: zeros, the border, or some pixel, never NaN. The
    gradients are finite, and that of the far coordinate is 0."""
    axes, mode = int(mode[0]), mode[2:]
    size = (3, 4, 5)[:axes]
    pixels = np.arange(1.0, np.prod(size) + 1).reshape(size)
    image = lamella.tensor(pixels[None, None]).to(getattr(lamella, dtype)).requires_grad_()
    rest = [0.0] * (axes - 1)
    places = [[x, *rest] for x in FAR] + [[*rest, x] for x in FAR] + [[x] * axes for x in FAR]
    grid = lamella.tensor([places], dtype=lamella.float64).to(image.dtype)
    grid = grid.view(1, *[1] * (axes - 1), len(places), axes).requires_grad_()
    got = F.grid_sample(image, grid, mode, padding, align)
    got.sum().backward()
    found, slopes = got.detach().flatten().tolist(), grid.grad.view(-1, axes).numpy()
    assert image.grad.isfinite().all() and np.isfinite(slopes).all()
    assert (slopes[np.array(places) != 0] == 0).all()
    if padding == "zeros":
        assert found == [0.0] * len(places) and (image.grad == 0).all() and (slopes == 0).all()
    elif padding == "border":
        corners = [pixels[tuple(edge(x, n) for n in size)] for x in FAR]
        assert found[-len(FAR) :] == corners
    else:
        assert all(1 <= x <= pixels.size for x in found)


def test_unset_corners_warn():
    grid = lamella.zeros(1, 1, 1, 2)
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        assert F.grid_sample(lamella.ones(1, 1, 2, 2), grid).item() == 1
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        F.affine_grid(lamella.zeros(1, 2, 3), (1, 1, 2, 2))
    with pytest.warns(UserWarning, match="a size of 1"):
        assert F.affine_grid(lamella.ones(1, 2, 3), (1, 1, 1, 1), align_corners=True).tolist() == [[[[1, 1]]]]


def test_shuffles_undo_each_other():
    image = lamella.rand(2, 8, 3, 6)
    assert (nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(image)) == image).all()
    assert (nn.ChannelShuffle(4)(nn.ChannelShuffle(2)(image)) == image).all()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: F.grid_sample(0, 0, "cubic"), ValueError, "argument 'mode': expected 'bilinear' or 'nearest'"),
        (lambda: F.grid_sample(0, 0, "nearest", "edge"), ValueError, "argument 'padding_mode'"),
        (lambda: F.affine_grid(lamella.zeros(1, 2, 3), (1, 2, 3), False), NotImplementedError, "argument 'size'"),
        (lambda: F.affine_grid(lamella.zeros(1, 2, 2), (1, 1, 2, 3), False), ValueError, "argument 'theta'"),
        (lambda: F.affine_grid(lamella.tensor([[[1]]]), (1, 1, 2, 3), False), ValueError, "a floating dtype"),
        (lambda: F.affine_grid(lamella.zeros(1, 2, 3), (1, 1, 0, 3), False), ValueError, "expected positive sizes"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
