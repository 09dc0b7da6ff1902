"""How a tensor prints: aligned columns, four decimals, long ones summarized."""

from __future__ import annotations

import math

PRECISION, THRESHOLD, EDGE, WIDTH = 4, 1000, 3, 80


def float_formatter(values):
    """A function from a float to text, chosen for all of them: whole numbers, fixed point or powers of ten."""
    finite = [abs(v) for v in values if math.isfinite(v) and v != 0]
    whole = all(v == math.floor(v) for v in finite)
    largest, smallest = (max(finite), min(finite)) if finite else (0.0, 0.0)
    scientific = bool(finite) and (largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4)

    def text(v):
        if math.isnan(v):
            return "nan"
        if math.isinf(v):
            return "-inf" if v < 0 else "inf"
        if whole and not (finite and largest > 1e8):
            return f"{v:.0f}."
        return f"{v:.{PRECISION}e}" if scientific else f"{v:.{PRECISION}f}"

    return text


def column_formatter(values):
    if values and isinstance(values[0], complex):
        return lambda v: f"{v.real:.{PRECISION}f}{v.imag:+.{PRECISION}f}j"
    if values and isinstance(values[0], float):
        return float_formatter(values)
    return str


def shown(size, summarize):
    """The indices of one dimension that are printed; None stands for the dots."""
    if summarize and size > 2 * EDGE:
        return [*range(EDGE), None, *range(size - EDGE, size)]
    return list(range(size))


def collect(tensor, summarize, depth=0):
    """The printed elements as nested lists; None stands for the dots."""
    if tensor.ndim == 0:
        return tensor.item()
    if tensor.ndim == 1 and not summarize:
        return tensor.tolist()
    return [None if i is None else collect(tensor[i], summarize, depth + 1) for i in shown(tensor.shape[0], summarize)]


def flatten(nested):
    if isinstance(nested, list):
        return [v for x in nested for v in flatten(x)]
    return [] if nested is None else [nested]


def lay_out(nested, text, width, indent):
    if not isinstance(nested, list):
        return text(nested).rjust(width)
    if not nested or not any(isinstance(x, list) for x in nested):
        words = ["..." if x is None else text(x).rjust(width) for x in nested]
        per_line = max(1, (WIDTH - indent) // (width + 2))
        lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    depth = 1
    inner = next(x for x in nested if x is not None)
    while isinstance(inner, list) and any(isinstance(x, list) for x in inner):
        depth += 1
        inner = next(x for x in inner if x is not None)
    gap = "," + "\n" * depth + " " * (indent + 1)
    return "[" + gap.join("..." if x is None else lay_out(x, text, width, indent + 1) for x in nested) + "]"


def tensor_repr(tensor) -> str:
    """The text of ``repr(tensor)``."""
    import lattis

    notes = []
    natural = {lattis.int64, lattis.bool, lattis.get_default_dtype(), lattis.complex64}
    device = tensor.device
    if device != lattis.get_default_device():
        notes.append(f"device='{device}'")
    if tensor.dtype not in natural:
        notes.append(f"dtype={tensor.dtype}")
    if device.type == "meta":
        body, notes = "...", [f"device='{device}'", f"size={tuple(tensor.shape)}"] + notes[1:]
    elif tensor.numel() == 0:
        body = "[]"
        if tensor.shape != (0,):
            notes.insert(0, f"size={tuple(tensor.shape)}")
    else:
        host = tensor.detach().to("cpu")
        nested = collect(host, host.numel() > THRESHOLD)
        values = flatten(nested)
        text = column_formatter(values)
        width = max(len(text(v)) for v in values) if host.ndim else 0
        body = lay_out(nested, text, width, len("tensor("))
    name = type(tensor).__name__.lower() if type(tensor) is lattis.Tensor else type(tensor).__name__
    return f"{name}({', '.join([body, *notes])})"
