"""Oracles of views, joining, creation and copies."""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.linalg
import scipy.signal

from oracles.base import OF_SAMPLE, entries, narrow_entries

# ---- views -----------------------------------------------------------------------------------------------------------


def view(x, size):
    return x.reshape(size) if isinstance(size, tuple) else np.ascontiguousarray(x).reshape(x.shape).view(size)


def same_memory(sample):
    """as_strided reads the storage, not the tensor's elements."""
    spec, size, strides, *offset = sample.args
    flat = spec.flat()
    at = np.lib.stride_tricks.as_strided
    return at(flat[offset[0] if offset else spec.offset :], size, [s * flat.itemsize for s in strides])


def itself(x, *a, **k):
    return x


def flatten(x, start=0, end=-1):
    shape = np.atleast_1d(x).shape
    start, end = start % len(shape), end % len(shape)
    return x.reshape(
        shape[:start] + (-1,) + shape[end + 1 :]
        if x.size
        else shape[:start] + (math.prod(shape[start : end + 1]),) + shape[end + 1 :]
    )


def squeeze(x, dim=None):
    if x.ndim == 0:
        return x
    chosen = range(x.ndim) if dim is None else [d % x.ndim for d in np.atleast_1d(dim)]
    return np.squeeze(x, tuple(d for d in chosen if x.shape[d] == 1))


def split(x, size, dim=0):
    if isinstance(size, int):
        n = x.shape[dim]
        return np.split(x, range(size, n, size), dim)
    return np.split(x, np.cumsum(size)[:-1], dim)


def chunk(x, chunks, dim=0):
    return split(x, -(-x.shape[dim] // chunks), dim) if x.shape[dim] else [x] * chunks


def slice_(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def unfold(x, dim, size, step):
    if x.ndim == 0:
        return x.reshape(1)
    return slice_(np.lib.stride_tricks.sliding_window_view(x, size, dim), dim % x.ndim, step=step)


def expand(x, size):
    lead = len(size) - x.ndim
    return np.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(size)])


def parted(f):
    return lambda x, where: f(x, where if isinstance(where, int) else list(where))


def each(f):
    return lambda x: [f(t) for t in x] if isinstance(x, list) else f(x)


def transpose(x, a, b):
    return np.swapaxes(x, a, b)


def unflatten(x, dim, sizes):
    dim %= x.ndim
    return x.reshape(x.shape[:dim] + tuple(sizes) + x.shape[dim + 1 :])


def over_memory(sample):
    """resize_ and resize_as_ keep the elements in memory order, from the first one on; equal sizes change nothing."""
    spec, size = sample.args
    if not sample.kwargs and tuple(spec.shape) == tuple(size if isinstance(size, tuple) else size.shape):
        return spec.array()
    last = sample.kwargs.get("memory_format") is not None
    size = size if isinstance(size, tuple) else size.shape
    n, channels, *rest = size if last else (0, 0)
    shape = (n, *rest, channels) if last else size
    made = spec.flat()[spec.offset :][: math.prod(shape)].reshape(shape)
    return np.moveaxis(made, -1, 1) if last else made


def other_memory(sample):
    """set_ reads the memory of `source`; sizes without strides are contiguous."""
    _, source, *part = sample.args
    if not part:
        return source.array()
    offset, size, *strides = part
    steps = strides[0] if strides else [math.prod(size[d + 1 :]) for d in range(len(size))]
    flat = source.flat()
    return np.lib.stride_tricks.as_strided(flat[offset:], size, [s * flat.itemsize for s in steps])


OF_SAMPLE.update({"as_strided": same_memory, "resize_": over_memory, "resize_as_": over_memory, "set_": other_memory})
narrow_entries(view=view)
entries(
    alias=itself,
    detach=itself,
    squeeze=squeeze,
    ravel=np.ravel,
    t=np.transpose,
    transpose=transpose,
    swapaxes=transpose,
    movedim=np.moveaxis,
    permute=np.transpose,
    adjoint=lambda x: np.conj(np.swapaxes(x, -1, -2)),
    reshape=lambda x, shape: x.reshape(shape),
    view_as=lambda x, y: x.reshape(y.shape),
    flatten=flatten,
    unflatten=unflatten,
    expand=expand,
    broadcast_to=expand,
    expand_as=lambda x, y: np.broadcast_to(x, y.shape),
    atleast_1d=each(np.atleast_1d),
    atleast_2d=each(np.atleast_2d),
    atleast_3d=each(np.atleast_3d),
    hsplit=parted(np.hsplit),
    vsplit=parted(np.vsplit),
    dsplit=parted(np.dsplit),
    broadcast_tensors=lambda ts: np.broadcast_arrays(*ts),
    unsqueeze=lambda x, d: np.expand_dims(x, d),
    meshgrid=lambda ts, indexing="ij": np.meshgrid(*ts, indexing=indexing),
    select=lambda x, d, i: np.take(x, i, axis=d),
    slice=slice_,
    narrow=lambda x, d, start, n: np.take(x, range(start % max(x.shape[d], 1), start % max(x.shape[d], 1) + n), axis=d),
    diagonal=np.diagonal,
    unfold=unfold,
    unbind=lambda x, d=0: list(np.moveaxis(x, d, 0)),
    chunk=chunk,
    split=split,
    split_with_sizes=split,
    tensor_split=lambda x, s, d=0: np.array_split(x, int(s) if np.ndim(s) == 0 else list(s), d),
)


# ---- joining ---------------------------------------------------------------------------------------------------------


def cat(ts, dim=0):
    return np.concatenate([t for t in ts if t.shape != (0,)] or ts, dim)


def rot90(x, k=1, dims=(0, 1)):
    return np.rot90(x, k, dims)


def padded(x, pad, mode="constant", value=None):
    """Crops after a mirror or copied edge is added, which begin at the array's end; other modes crop first."""
    if not isinstance(mode, str):
        mode, value = "constant", mode
    numpy_mode = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    given = {} if mode != "constant" else {"constant_values": value or 0}
    for i in range(0, len(pad), 2):
        d = x.ndim - 1 - i // 2
        low, high = pad[i], pad[i + 1]
        around = [(max(low, 0), max(high, 0)) if j == d else (0, 0) for j in range(x.ndim)]
        if mode in ("constant", "circular"):
            x = slice_(x, d, max(-low, 0), x.shape[d] + min(high, 0))
        x = np.pad(x, around, mode=numpy_mode, **given) if any(map(any, around)) else x
        if mode not in ("constant", "circular"):
            x = slice_(x, d, max(-low, 0), x.shape[d] + min(high, 0))
    return x


def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    n = x.shape[-1] + abs(offset)
    made = np.zeros((*x.shape[:-1], n, n), x.dtype)
    i = np.arange(x.shape[-1])
    made[..., i + max(-offset, 0), i + max(offset, 0)] = x
    return np.moveaxis(made, (-2, -1), (dim1, dim2))


def roll(x, shifts, dims=()):
    dims = dims if isinstance(dims, int) else tuple(dims)
    return np.roll(x, shifts, None if dims == () else dims)


def repeat_interleave(x, n=None, dim=None, output_size=None):
    return np.repeat(np.arange(len(x)), x) if n is None else np.repeat(x, n, dim)


entries(
    cat=cat,
    column_stack=np.column_stack,
    diagflat=np.diagflat,
    stack=lambda ts, dim=0: np.stack(ts, dim),
    hstack=np.hstack,
    vstack=np.vstack,
    dstack=np.dstack,
    repeat=lambda x, n: np.tile(x, n),
    tile=np.tile,
    roll=roll,
    repeat_interleave=repeat_interleave,
    flip=np.flip,
    fliplr=np.fliplr,
    flipud=np.flipud,
    rot90=rot90,
    tril=np.tril,
    triu=np.triu,
    diag=np.diag,
    diag_embed=diag_embed,
    constant_pad_nd=padded,
    pad=padded,
)


def block_diag(ts):
    return scipy.linalg.block_diag(*[np.atleast_2d(t) for t in ts])


def combinations(x, r=2, with_replacement=False):
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(x, r))).reshape(-1, r) if r else x[:0]


def cross(x, y, dim=None):
    x, y = np.broadcast_arrays(x, y)
    return np.cross(x, y, axis=x.shape.index(3) if dim is None else dim)


entries(
    block_diag=block_diag,
    cartesian_prod=lambda ts: np.array(list(itertools.product(*ts))).reshape(-1, len(ts)) if len(ts) > 1 else ts[0],
    combinations=combinations,
    vander=np.vander,
    linalg_cross=cross,
    cross=cross,
)


def taper(name):
    """Returns scipy's window, which calls a periodic window not symmetric."""

    def window(n, periodic=True, *coefficients, dtype=None):
        if coefficients:
            return scipy.signal.windows.general_cosine(n, coefficients, sym=not periodic)
        return getattr(scipy.signal.windows, name)(n, sym=not periodic)

    return window


# ---- creation and copies ---------------------------------------------------------------------------------------------


def arange(*a, dtype=None):
    """Computes the number of steps, then start + i * step, as docs/primitives.md defines it."""
    start, end, step = (0, a[0], 1) if len(a) == 1 else (*a, 1)[:3]
    count = math.ceil((end - start) / step)
    return start + np.arange(count) * step


def copied(x, y, *a):
    return np.broadcast_to(y, x.shape)


def filled(x, value, *a, **k):
    return np.full(x.shape, value)


entries(
    zeros=lambda size, dtype=None: np.zeros(size),
    ones=lambda size, dtype=None: np.ones(size),
    full=lambda size, value, dtype=None: np.full(size, value),
    zeros_like=lambda x, **k: np.zeros(x.shape),
    ones_like=lambda x, **k: np.ones(x.shape),
    full_like=filled,
    new_zeros=lambda x, size, dtype=None: np.zeros(size),
    new_ones=lambda x, size, dtype=None: np.ones(size),
    new_full=lambda x, size, value, dtype=None: np.full(size, value),
    arange=arange,
    hann_window=taper("hann"),
    hamming_window=taper("hamming"),
    blackman_window=taper("blackman"),
    bartlett_window=taper("bartlett"),
    eye=lambda n, m=None, dtype=None: np.eye(n, m),
    linspace=lambda a, b, n, dtype=None: np.linspace(a, b, n),
    logspace=lambda a, b, n, base=10.0, dtype=None: np.logspace(a, b, n, base=base),
    tril_indices=lambda r, c, o=0, dtype=None: np.stack(np.tril_indices(r, o, c)),
    triu_indices=lambda r, c, o=0, dtype=None: np.stack(np.triu_indices(r, o, c)),
    scalar_tensor=lambda s, dtype=None: np.asarray(s),
    clone=itself,
    contiguous=itself,
    copy_=copied,
    to=itself,
    type_as=itself,
    item=lambda x: x.item(),
    equal=np.array_equal,
    is_nonzero=lambda x: x.item() != 0,
    fill_=filled,
    fill=filled,
    zero_=lambda x: np.zeros(x.shape),
)
