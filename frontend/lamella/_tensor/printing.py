"""The text of ``repr(tensor)`` in torch's format: aligned columns, wrapped lines, large tensors summarized."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lamella._devices import host
from lamella.plugins import contributions


@dataclass
class Options:
    """The options that ``set_printoptions`` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}
options = Options()


def set_options(given: dict, profile: str | None, sci_mode: bool | None) -> None:
    """Checks all values, then sets the options: those of the profile, then those in ``given``, then ``sci_mode``."""
    if profile is not None and profile not in PROFILES:
        known = ", ".join(PROFILES)
        raise ValueError(f"set_printoptions: argument 'profile': expected one of {known}, got {profile!r}")
    if not (sci_mode is None or isinstance(sci_mode, bool)):
        raise TypeError(f"set_printoptions: argument 'sci_mode' must be bool or None, got {sci_mode!r}")
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        if name == "threshold" and value == math.inf:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"set_printoptions: argument '{name}' must be int, got {type(value).__name__}")
        if value < 0:
            raise ValueError(f"set_printoptions: argument '{name}' must not be negative, got {value}")
    if profile is not None:
        vars(options).update(vars(PROFILES[profile]))
    vars(options).update(given)
    options.sci_mode = sci_mode


class Column:
    """The format and width of a tensor's numbers. Floats print as whole numbers, with decimals, or scientific."""

    def __init__(self, values, floating):
        self.spec, self.dot, self.width = "", "", 1
        if floating:
            # Zeros, NaN and infinities affect neither the format nor the width.
            values = [v for v in values if v != 0 and math.isfinite(v)]
            self.choose(values)
        self.width = max((len(self.plain(v)) for v in values), default=1)

    def choose(self, values):
        self.spec, self.dot = ".0f", "."
        if not values:
            return
        sizes = [abs(v) for v in values]
        smallest, largest = min(sizes), max(sizes)
        scientific = options.sci_mode
        if scientific is None:
            scientific = largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4
        if scientific or not all(v.is_integer() for v in values):
            self.spec, self.dot = f".{options.precision}{'e' if scientific else 'f'}", ""

    def plain(self, value):
        text = format(value, self.spec) if self.spec else str(value)
        return text + self.dot if self.dot and math.isfinite(value) else text

    def __call__(self, value):
        return self.plain(value).rjust(self.width)


class ComplexColumn:
    """The formats of all complex numbers of a tensor, one for the real parts and one for the imaginary parts."""

    def __init__(self, values):
        self.real = Column([v.real for v in values], True)
        self.imag = Column([v.imag for v in values], True)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value):
        imag = self.imag(value.imag).lstrip()
        return self.real(value.real) + ("" if imag[0] in "+-" else "+") + imag + "j"


def elements(tensor, summarize):
    """Returns the elements to print as nested lists; None stands for omitted elements, printed as dots."""
    if not summarize or tensor.ndim == 0:
        return tensor.tolist()
    size, edge = tensor.shape[0], options.edgeitems
    cut = size > 2 * edge
    if tensor.ndim == 1:
        return [*tensor[:edge].tolist(), None, *tensor[size - edge :].tolist()] if cut else tensor.tolist()
    rows = [*range(edge), None, *range(size - edge, size)] if cut else range(size)
    return [None if i is None else elements(tensor[i], summarize) for i in rows]


def flatten(nested):
    """Returns the elements of nested lists in one list, without None."""
    if isinstance(nested, list):
        return [v for x in nested for v in flatten(x)]
    return [] if nested is None else [nested]


def vector(values, column, indent):
    """Returns the text of one row, broken into lines that fit ``linewidth``."""
    dots = " ..." if options.edgeitems else "..."
    words = [dots if v is None else column(v) for v in values]
    per_line = max(1, (options.linewidth - indent) // (column.width + 2))
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def lay_out(nested, ndim, column, indent):
    """Returns the text of nested lists: rows below each other, higher dimensions separated by empty lines."""
    if ndim == 0:
        return column(nested)
    if ndim == 1:
        return vector(nested, column, indent)
    gap = "," + "\n" * (ndim - 1) + " " * (indent + 1)
    return "[" + gap.join("..." if x is None else lay_out(x, ndim - 1, column, indent + 1) for x in nested) + "]"


def body(tensor, indent):
    """Returns the text of the elements in brackets."""
    nested = elements(tensor, tensor.numel() > options.threshold)
    values = flatten(nested)
    column = ComplexColumn(values) if tensor.is_complex() else Column(values, tensor.is_floating_point())
    return lay_out(nested, tensor.ndim, column, indent)


def append(text, notes, indent):
    """Appends the notes and a parenthesis to the text. A note that does not fit on the line begins a new line."""
    used = len(text) - text.rfind("\n") + 1
    for note in notes:
        if used + len(note) + 2 > options.linewidth:
            text += ",\n" + " " * indent + note
            used = indent + len(note)
        else:
            text += ", " + note
            used += len(note) + 2
    return text + ")"


def readable(tensor):
    """Returns a plain tensor with the values of an opaque tensor; None if no layer provides the values."""
    from lamella import _C

    try:
        return _C._packet("aten::_materialize")(tensor)
    except NotImplementedError:
        return None


def part_text(part, indent):
    """Returns the text of a part: its elements, or ``...`` and its size if it has none or they cannot be read."""
    if part.device.type == "meta":
        return f"..., size={tuple(part.shape)}"
    if part.numel() == 0:
        return f"[], size={tuple(part.shape)}"
    return body(part, indent)


def parted(tensor, prefix, natural, parts, numbers, apart):
    """Returns the text of a tensor that consists of parts: each part begins a line.

    Args:
        natural: the dtypes that are not printed
        numbers: notes that follow the size
        apart: whether the notes begin a line of their own
    """
    indent = len(prefix)
    lines = []
    for name, part in parts.items():
        start = f"{name}=tensor("
        lines.append(f"{start}{part_text(part, indent + len(start))})")
    text = prefix + (",\n" + " " * indent).join(lines)
    notes = [f"device='{tensor.device}'"] if tensor.device.type != host().type else []
    notes += [f"size={tuple(tensor.shape)}", *numbers]
    if tensor.dtype not in natural:
        notes.append(f"dtype={tensor.dtype}")
    notes.append(f"layout={tensor.layout}")
    notes += [said for note in contributions.place("repr").objects if (said := note(tensor)) is not None]
    if apart:
        text += ",\n" + " " * indent + notes.pop(0)
    return append(text, notes, indent)


def tensor_repr(tensor, name: str | None = None) -> str:
    """Returns the text of ``repr(tensor)``. It begins with ``name``, else its class's name, else "tensor"."""
    from lamella import _C

    kind = type(tensor)
    prefix = f"{name or ('tensor' if kind is _C.Tensor else kind.__name__)}("
    default = _C.get_default_dtype()
    natural = {default}
    whole = {default, _C.int64, _C.bool, _C.complex128 if default is _C.float64 else _C.complex64}
    if tensor.is_opaque:
        for parts_of in contributions.place("parts").objects:
            if (found := parts_of(tensor)) is not None:
                return parted(tensor, prefix, whole, *found)
    size = False
    shown = readable(tensor) if tensor.is_opaque else tensor
    if tensor.device.type == "meta" or shown is None:
        text, size = "...", True
    elif tensor.numel() == 0:
        text, size = "[]", tensor.ndim != 1
    else:
        natural = whole
        text, size = body(shown.detach(), len(prefix)), not options.edgeitems
    notes = ["opaque"] if tensor.is_opaque else []
    if tensor.device.type != host().type:
        notes.append(f"device='{tensor.device}'")
    if size:
        notes.append(f"size={tuple(tensor.shape)}")
    if tensor.dtype not in natural:
        notes.append(f"dtype={tensor.dtype}")
    notes += [said for note in contributions.place("repr").objects if (said := note(tensor)) is not None]
    return append(prefix + text, notes, len(prefix))
