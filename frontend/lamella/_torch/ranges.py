"""range, which torch has replaced by arange, and programs still call."""

from __future__ import annotations

import math
import warnings
from typing import Any

from lamella import _C


def range(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Makes the vector ``start, start + step, ...`` up to and including ``end``; ``arange`` leaves the end out.

    The call warns, since ``arange`` has replaced it. Without ``dtype`` and ``out``, the result has the default dtype.

    Args:
        start: the first element; ``range(end=3)`` begins at 0
        out: a tensor that is resized and filled, in place of a new one

    Raises:
        TypeError: there is no ``end``
        RuntimeError: the step is 0, or leads away from the end, or a bound is not finite

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     lamella.range(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000, 2.5000])
    """
    if end is None:
        raise TypeError("range: argument 'end' is missing")
    first, last = start, end
    warnings.warn("range: it includes its end, and is deprecated; use lamella.arange", UserWarning, stacklevel=2)
    if step == 0:
        raise RuntimeError("range: argument 'step' must not be 0")
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"range: arguments 'start' and 'end' must be finite, got {first} and {last}")
    if (last - first) / step < 0:
        raise RuntimeError(f"range: argument 'step', {step}, leads from 'start', {first}, away from 'end', {last}")
    if out is not None and dtype not in (None, out.dtype):
        raise RuntimeError(f"range: argument 'out' has dtype {out.dtype}, and argument 'dtype' is {dtype}")
    target = out.dtype if out is not None else _C.get_default_dtype() if dtype is None else dtype
    whole = not target.is_floating_point and not target.is_complex
    first, step = (int(first), int(step)) if whole else (first, step)
    if step == 0:
        raise RuntimeError(f"range: argument 'step' is 0 as {target}")
    count = math.floor((last - first) / step) + 1
    where = out.device if out is not None and device is None else device
    made = _C._packet("aten::arange")(count, dtype=_C.int64 if whole else _C.float64, layout=layout, device=where)
    made = (made * step + first).to(target)
    if out is not None:
        made = out.resize_(count).copy_(made)
    elif pin_memory:
        made = made.pin_memory()
    return made.requires_grad_() if requires_grad else made
