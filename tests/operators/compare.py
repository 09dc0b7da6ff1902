"""Compares results with oracles; returns the differences as text, an empty list if there are none."""

from __future__ import annotations

import numpy as np
from lamella.operators.samples import Named, Sample, Spec
from lamella.operators.samples.lists import singles
from lamella.operators.samples.parse import FORMATS
from lamella.operators.samples.spec import rounded
from oracles import NARROW, OF_SAMPLE, ORACLES
from streams import ORACLES as STREAMS

SINGLES = singles()
TOLERANCE = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float16": 4e-3,
    "bfloat16": 2e-2,
}


def base(operator: str) -> str:
    """Returns the oracle's name: the operator's without overload, and without `_` of in-place forms except fill_."""
    name = operator.partition(".")[0]
    return name if name in ORACLES or name in OF_SAMPLE else name.removesuffix("_")


def has_oracle(operator: str) -> bool:
    operator = SINGLES.get(operator, operator)
    return base(operator) in ORACLES or base(operator) in OF_SAMPLE or operator in STREAMS


def widened(array):
    return array.astype({"f": np.float64, "c": np.complex128}.get(array.dtype.kind, array.dtype))


def expected(sample: Sample):
    """Returns the oracle's arrays for a sample; for lists, those of the single operator at each place."""
    if sample.places:
        return [result for place in sample.places for result in expected(place)]
    name = base(SINGLES.get(sample.operator, sample.operator))

    def argument(leaf):
        if isinstance(leaf, Spec):
            return leaf.array() if name in NARROW else widened(leaf.array())
        if isinstance(leaf, Named):
            return np.dtype({"bfloat16": "float32"}.get(leaf.name, leaf.name)) if leaf.name not in FORMATS else None
        return leaf

    with np.errstate(all="ignore"):
        if sample.operator in STREAMS:
            made = STREAMS[sample.operator](sample)
        elif name in OF_SAMPLE:
            made = OF_SAMPLE[name](sample)
        else:
            args, kwargs = sample.map(argument)
            made = ORACLES[name](*args, **kwargs)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def differences(got, wanted, size=0.0) -> list[str]:
    """Compares results: ``got`` has (dtype's name, array) for each, ``wanted`` an array, or None for one to ignore. The
    tolerance is relative to numbers of at least ``size``."""
    if len(got) != len(wanted):
        return [f"{len(got)} results instead of {len(wanted)}"]
    found = []
    for i, ((dtype, array), want) in enumerate(zip(got, wanted, strict=True)):
        found += [
            f"result {i}: {what}" for what in ([] if want is None else difference(dtype, array, np.asarray(want), size))
        ]
    return found


def difference(dtype: str, got, want, size=0.0) -> list[str]:
    if got.shape != want.shape:
        return [f"shape {got.shape} instead of {want.shape}"]
    if want.dtype.kind == "c" and "complex" not in dtype:
        return [f"dtype {dtype} for complex numbers"]
    if dtype not in TOLERANCE:
        with np.errstate(all="ignore"):
            whole = want.astype(dtype) if want.dtype.kind != "f" or dtype == "bool" else np.trunc(want).astype(dtype)
        return shown(got != whole, got, whole)
    with np.errstate(all="ignore"):
        near = widened(rounded(want, dtype))
        if "complex" in dtype:  # the error of each part is relative to the numbers, not to this part of them
            size = np.abs(near[np.isfinite(near)]).max(initial=size)
            return off(dtype, widened(got).real, near.real, want.real, size) + off(
                dtype, widened(got).imag, near.imag, want.imag, size
            )
        return off(dtype, widened(got), near, want, size)


def off(dtype: str, got, near, want, size) -> list[str]:
    """Returns the elements whose error exceeds the dtype's tolerance, relative to the result's largest element."""
    tolerance = TOLERANCE[dtype]
    finite = np.isfinite(near)
    size = np.abs(near[finite]).max(initial=size)
    with np.errstate(all="ignore"):
        close = finite & (np.abs(got - near) <= tolerance * (np.abs(near) + min(size, 1.0)))
    edge = np.isinf(near) & np.isfinite(want)  # beyond the dtype's range: its largest number or infinity
    same = close | (got == near) | (np.isnan(got) & np.isnan(near)) | (edge & (np.abs(got) > 6e4))
    return shown(~same, got, near)


def shown(wrong, got, want) -> list[str]:
    if not np.any(wrong):
        return []
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return [f"{np.count_nonzero(wrong)} of {wrong.size} elements, first at {at}: {got[at]!r} instead of {want[at]!r}"]
