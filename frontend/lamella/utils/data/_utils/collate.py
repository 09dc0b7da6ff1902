"""Collating: makes one batch of a list of samples, by functions for the samples' types."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

import lamella
import lamella.utils.data._utils.arena as arena

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
CollateFunctions = dict[type | tuple[type, ...], Callable[..., Any]]


def default_convert(data: Any) -> Any:
    """Returns the data with each numpy array, except of text or objects, and each numpy scalar converted to a tensor. A
    plain tuple becomes a list.

    A DataLoader applies it to each sample if ``batch_size`` is None.

    >>> import numpy as np
    >>> from lamella.utils.data import default_convert
    >>> default_convert({"x": np.array([1, 2]), "name": "two"})
    {'x': tensor([1, 2]), 'name': 'two'}
    """
    kind = type(data)
    if isinstance(data, lamella.Tensor):
        return data
    if isinstance(data, np.ndarray):
        return data if data.dtype.kind in "SUO" else lamella.as_tensor(data)
    if isinstance(data, np.generic) and not isinstance(data, (str, bytes)):
        return lamella.as_tensor(data)
    if isinstance(data, Mapping):
        return _same_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*(default_convert(part) for part in data))
    if isinstance(data, tuple):
        return [default_convert(part) for part in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _same_sequence(data, [default_convert(part) for part in data])
    return data


def _same_mapping(like: Any, parts: dict[Any, Any]) -> Any:
    """Returns the parts in a mapping of the same type and attributes; in a dict if its type does not allow that."""
    try:
        if isinstance(like, MutableMapping):
            made = copy.copy(like)
            made.update(parts)
            return made
        return type(like)(parts)  # type: ignore[call-arg]
    except TypeError:
        return parts


def _same_sequence(like: Any, parts: list[Any]) -> Any:
    """Returns the parts in a sequence of the same type and attributes; in a list if its type does not allow that."""
    if type(like) is list:
        return parts
    try:
        if isinstance(like, MutableSequence):
            made = copy.copy(like)
            for k, part in enumerate(parts):
                made[k] = part
            return made
        return type(like)(parts)  # type: ignore[call-arg]
    except TypeError:
        return parts


def collate(batch: Sequence[Any], *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Returns one batch of a list of samples: dicts, named tuples and sequences are collated part by part.

    Args:
        batch: the samples
        collate_fn_map: functions by the type of a sample, called with the list and ``collate_fn_map``. The entry of
            the exact type is used, else the first entry that the sample is an instance of

    Raises:
        RuntimeError: sequences have different lengths
        TypeError: there is no function for the type

    >>> from lamella.utils.data._utils.collate import collate
    >>> collate([(1, 2), (3, 4)], collate_fn_map={int: lambda batch, collate_fn_map: sum(batch)})
    [4, 6]
    """
    sample = batch[0]
    kind = type(sample)
    if collate_fn_map is not None:
        function = collate_fn_map.get(kind)
        if function is None:
            function = next((f for of, f in collate_fn_map.items() if isinstance(sample, of)), None)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(sample, Mapping):
        columns = {key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map) for key in sample}
        return _same_mapping(sample, columns)
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return kind(*(collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)))
    if isinstance(sample, Sequence):
        if any(len(other) != len(sample) for other in batch):
            lengths = sorted({len(other) for other in batch})
            raise RuntimeError(f"each element in list of batch should be of equal size; the sizes are {lengths}")
        parts = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)]
        return parts if isinstance(sample, tuple) else _same_sequence(sample, parts)
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch: Sequence[lamella.Tensor], *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Returns the tensors stacked; in a worker they are written into shared memory.

    Tensors that a layer follows are stacked without ``out=``: the layer's rule makes the batch, which may be opaque.
    """
    first = batch[0]
    if arena.current is not None and not any(x._keys for x in batch):
        kind, shape = first.dtype, first.shape
        if all(x.dtype is kind and x.shape == shape for x in batch):
            out = arena.place(first, (len(batch), *shape))
            if out is not None:
                return lamella.stack(batch, 0, out=out)
    return lamella.stack(batch, 0)


def collate_numpy_array_fn(batch: Sequence[np.ndarray], *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Collates the arrays as tensors."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([lamella.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence[np.generic], *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Returns a vector of numpy scalars, of their dtype."""
    return lamella.as_tensor(batch)


def collate_float_fn(batch: Sequence[float], *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Returns a vector of float64."""
    return lamella.tensor(batch, dtype=lamella.float64)


def collate_int_fn(batch: Sequence[int], *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Returns a vector of int64, or of bools."""
    made = lamella.tensor(batch)
    # Numbers above int64 give uint64; as int64 they raise an error.
    return made if made.dtype is not lamella.uint64 else lamella.tensor(batch, dtype=lamella.int64)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateFunctions | None = None) -> Any:
    """Returns the list of strings unchanged."""
    return batch


default_collate_fn_map: CollateFunctions = {
    lamella.Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
"""The functions of ``default_collate``; a program may add or replace entries."""
_ORIGINAL = dict(default_collate_fn_map)


def default_collate(batch: Sequence[Any]) -> Any:
    """Returns one batch of a list of samples, by the functions in ``default_collate_fn_map``.

    Tensors, arrays and numbers become a tensor with a first dimension for the samples, float64 for Python's floats.
    Strings stay a list. Dicts, named tuples, tuples and other sequences are collated part by part; a plain tuple
    becomes a list.

    Raises:
        RuntimeError: shapes or lengths differ
        TypeError: a sample is of another type

    >>> from lamella.utils.data import default_collate
    >>> default_collate([{"x": lamella.ones(2), "y": 0}, {"x": lamella.zeros(2), "y": 1}])
    {'x': tensor([[1., 1.],
            [0., 0.]]), 'y': tensor([0, 1])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def is_untouched() -> bool:
    """Returns whether no function of the table has been replaced or removed."""
    return all(default_collate_fn_map.get(kind) is function for kind, function in _ORIGINAL.items())
