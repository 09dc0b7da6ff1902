"""Oracles of rearranged pixels, and of images read at the places of a grid: scipy's, except for cubics."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import ndimage

from oracles.base import entries
from oracles.resampling import keys


def pixel_shuffle(x, r):
    *more, c, h, w = x.shape
    made = np.empty((*more, c // r**2, h * r, w * r), x.dtype)
    for k, y, z in np.ndindex(made.shape[-3:]):
        made[..., k, y, z] = x[..., k * r * r + y % r * r + z % r, y // r, z // r]
    return made


def pixel_unshuffle(x, r):
    *more, c, h, w = x.shape
    made = np.empty((*more, c * r**2, h // r, w // r), x.dtype)
    for k, y, z in np.ndindex(made.shape[-3:]):
        made[..., k, y, z] = x[..., k // r**2, y * r + k // r % r, z * r + k % r]
    return made


def channel_shuffle(x, groups):
    each = x.shape[1] // groups
    return x[:, [g * each + k for k in range(each) for g in range(groups)]]


def cubic_at(plane, places, padding, align):
    """Returns Keys' cubic at one place of a plane, which is extended by the rule `padding`."""
    beyond = {0: "constant", 1: "edge", 2: "reflect" if align else "symmetric"}[padding]
    wide = 40
    big = np.pad(plane, wide, mode=beyond)
    at = [int(np.floor(p)) for p in places]
    total = 0.0
    for steps in itertools.product(range(-1, 3), repeat=2):
        weight = np.prod([keys(p - a - s, -0.75) for p, a, s in zip(places, at, steps, strict=True)])
        total += weight * big[tuple(a + s + wide for a, s in zip(at, steps, strict=True))]
    return total


def grid_sampler(x, grid, mode, padding, align):
    sizes = np.array(x.shape[2:])
    places = grid[..., ::-1]
    places = (places + 1) / 2 * (sizes - 1) if align else ((places + 1) * sizes - 1) / 2
    made = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    beyond = {0: "grid-constant", 1: "nearest", 2: "mirror" if align else "reflect"}[padding]
    for n, c in np.ndindex(x.shape[:2]):
        if mode == 2:
            for at in np.ndindex(grid.shape[1:-1]):
                made[(n, c, *at)] = cubic_at(x[n, c], places[(n, *at)], padding, align)
        elif made.size:
            along = np.moveaxis(places[n], -1, 0)
            made[n, c] = ndimage.map_coordinates(x[n, c], along, order=1 - mode, mode=beyond)
    return made


def affine_grid(theta, size, align):
    axes = [np.linspace(-1, 1, n) * (1 if align else (n - 1) / n) if n > 1 else np.zeros(1) for n in size[2:]]
    places = np.stack([*np.meshgrid(*axes, indexing="ij")][::-1] + [np.ones(size[2:])], -1)
    return np.einsum("...j,nij->n...i", places, theta)


entries(
    pixel_shuffle=pixel_shuffle,
    pixel_unshuffle=pixel_unshuffle,
    channel_shuffle=channel_shuffle,
    native_channel_shuffle=channel_shuffle,
    grid_sampler=grid_sampler,
    grid_sampler_2d=grid_sampler,
    grid_sampler_3d=grid_sampler,
    affine_grid_generator=affine_grid,
)
