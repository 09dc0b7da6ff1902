"""interpolate and its modules: every form of arguments equals formulas and scipy."""

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn
from scipy import ndimage

x = np.random.default_rng(0).standard_normal((2, 3, 5, 4))
T = lamella.from_numpy(x)


def test_forms_of_sizes():
    twice = np.repeat(np.repeat(x, 2, 2), 2, 3)
    for more in ({"size": (10, 8)}, {"size": [10, 8]}, {"scale_factor": 2}, {"scale_factor": (2.0, 2)}):
        np.testing.assert_array_equal(F.interpolate(T, **more).numpy(), twice)
    assert F.interpolate(T, 7).shape == (2, 3, 7, 7)
    assert F.interpolate(T, scale_factor=1.7).shape == (2, 3, 8, 6)
    np.testing.assert_array_equal(F.interpolate(T[..., 0], 10).numpy(), np.repeat(x[..., 0], 2, 2))
    np.testing.assert_array_equal(F.interpolate(T[..., None], scale_factor=(2, 2, 1)).numpy()[..., 0], twice)


def test_scales_count_unless_they_are_computed_anew():
    """With scale 1.7 place i is at (i + 0.5) / 1.7 - 0.5; with recompute_scale_factor the scale is 8 / 5."""
    line = x[0, :1]
    for recompute, scale in ((None, 1.7), (False, 1.7), (True, 8 / 5)):
        at = np.clip((np.arange(8) + 0.5) / scale - 0.5, 0, 4)
        want = np.array([np.interp(at, np.arange(5), line[0, :, k]) for k in range(4)])
        got = F.interpolate(
            lamella.from_numpy(line.transpose(0, 2, 1).copy()),
            None,
            1.7,
            "linear",
            False,
            recompute_scale_factor=recompute,
        )
        np.testing.assert_allclose(got.numpy()[0], want, rtol=1e-12, atol=1e-14)


def test_aligned_corners_against_scipy():
    wanted = np.stack(
        [[ndimage.zoom(plane, (9 / 5, 11 / 4), order=1, grid_mode=False) for plane in part] for part in x]
    )
    got = F.interpolate(T, (9, 11), mode="bilinear", align_corners=True)
    np.testing.assert_allclose(got.numpy(), wanted, atol=1e-12)
    with pytest.warns(UserWarning, match="upsample_bilinear` is deprecated"):
        assert (F.upsample_bilinear(T, (9, 11)) == got).all()
    assert (nn.UpsamplingBilinear2d((9, 11))(T) == got).all()
    with pytest.warns(UserWarning, match="upsample` is deprecated"):
        assert (F.upsample(T, (9, 11), mode="bilinear", align_corners=True) == got).all()
    with pytest.warns(UserWarning, match="upsample_nearest` is deprecated"):
        assert (F.upsample_nearest(T, scale_factor=2) == nn.UpsamplingNearest2d(scale_factor=2)(T)).all()


def test_area_is_the_mean():
    box = np.random.default_rng(1).standard_normal((1, 2, 4, 6, 8))
    want = box.reshape(1, 2, 2, 2, 3, 2, 4, 2).mean((3, 5, 7))
    np.testing.assert_allclose(
        F.interpolate(lamella.from_numpy(box), (2, 3, 4), mode="area").numpy(), want, rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(
        F.interpolate(lamella.from_numpy(box[0]), scale_factor=0.5, mode="area").numpy(),
        box[0].reshape(2, 4, 3, 2, 4, 2).mean((3, 5)),
        rtol=1e-12,
        atol=1e-14,
    )


def test_smoothing_keeps_constants_and_means():
    ones = lamella.ones(1, 1, 16, 12, dtype=lamella.float64)
    for mode in ("bilinear", "bicubic", "lanczos"):
        assert np.allclose(F.interpolate(ones, (5, 7), mode=mode, antialias=True).numpy(), 1)
    small = F.interpolate(T, (1, 1), mode="bilinear", antialias=True)
    assert small.shape == (2, 3, 1, 1)


def test_old_modules_have_no_recomputed_scale():
    layer = nn.Upsample(scale_factor=1.7)
    state = dict(vars(layer))
    del state["recompute_scale_factor"]
    other = nn.Upsample.__new__(nn.Upsample)
    other.__setstate__(state)
    assert other.recompute_scale_factor is True and other(T).shape == (2, 3, 8, 6)


@pytest.mark.parametrize(
    "more, error, words",
    [
        ({}, ValueError, "either size or scale_factor should be defined"),
        ({"size": 3, "scale_factor": 2}, ValueError, "only one of size or scale_factor should be defined"),
        ({"size": (3,)}, ValueError, "argument 'size': expected one number or 2"),
        ({"size": (3.0, 2.0)}, TypeError, "argument 'size': expected whole numbers"),
        ({"scale_factor": (2, 2, 2)}, ValueError, "argument 'scale_factor': expected one number or 2"),
        ({"size": 3, "recompute_scale_factor": True}, ValueError, "not meaningful with an explicit size"),
        ({"size": 3, "align_corners": False}, ValueError, "align_corners option can only be set with"),
        ({"size": 3, "antialias": True}, ValueError, "antialias"),
        ({"size": 3, "mode": "lanczos"}, ValueError, "requires antialias=True"),
        ({"size": 3, "mode": "lanczos", "antialias": True, "align_corners": True}, ValueError, "does not support"),
        ({"size": 3, "mode": "linear"}, NotImplementedError, "Got 4D input, but linear mode needs 3D input"),
        ({"size": 3, "mode": "trilinear"}, NotImplementedError, "Got 4D input, but trilinear mode needs 5D input"),
        ({"size": 3, "mode": "cubic"}, NotImplementedError, "only 3D, 4D and 5D inputs"),
        ({"size": 0}, RuntimeError, "argument 'output_size': must be at least 1"),
        ({"scale_factor": float("nan")}, ValueError, "expected finite numbers above 0, got nan"),
        ({"scale_factor": (2, float("inf"))}, ValueError, r"expected finite numbers above 0, got \(2, inf\)"),
        ({"scale_factor": -1}, ValueError, "expected finite numbers above 0, got -1"),
        ({"scale_factor": 1e-30}, RuntimeError, "argument 'output_size': must be at least 1"),
    ],
)
def test_refused(more, error, words):
    with pytest.raises(error, match=words):
        F.interpolate(T, **more)
