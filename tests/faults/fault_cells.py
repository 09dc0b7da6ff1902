"""Cells: operator x argument x fault, generated from the live schemas. Each makes one thing in a valid call wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import lamella
from fault_samples import arguments, bare, fits_by_type, invoke, kind, mask, matrix, on_meta, outputs

OVERFLOW = (OverflowError, RuntimeError, ValueError, TypeError)
SIZE = (RuntimeError, ValueError, OverflowError)  # OutOfMemoryError is a RuntimeError
DTYPE = (RuntimeError, TypeError, NotImplementedError)
SHAPE = (RuntimeError, ValueError, IndexError)
RANK = (RuntimeError, IndexError)
INDEX = (IndexError, RuntimeError)


@dataclass(frozen=True)
class Cell:
    """One broken call.

    The message must quote one of ``names``; they are empty if the fault is in the call as a whole. ``allowed`` is empty
    for a valid call, which must not raise.
    """

    op: dict
    argument: str
    fault: str
    allowed: tuple[type, ...]
    given: Callable[[], dict]
    names: tuple[str, ...] = ()
    extra: tuple = ()
    keywords: dict = field(default_factory=dict)
    opens: tuple[str, ...] | None = ()  # possible beginnings of the message; None if Python itself raises

    def __str__(self) -> str:
        overload = "." + self.op["overload"] if self.op["overload"] else ""
        return f"{self.op['name']}{overload} [{self.argument or 'call'}: {self.fault}]"

    def run(self, given: dict):
        return invoke(self.op, given, self.extra, self.keywords)


# Arguments of which only the combination is wrong: the message may name any of them.
RELATED = {
    "as_strided": ("size", "stride", "storage_offset"),
    "empty_strided": ("size", "stride"),
    "set": ("self", "source", "size", "stride", "storage_offset"),
    "arange": ("start", "end", "step"),
    "uniform": ("from", "to"),
    "mm": ("self", "mat2"),
    "bmm": ("self", "mat2"),
    "matmul": ("self", "other"),
}


class Operator:
    """Returns an operator's schema, and those of its overloads."""

    def __init__(self, op: dict, overloads: list[dict]):
        self.op = op
        self.base = bare(op["name"])
        self.args = op["args"]
        self.out = outputs(op)
        self.siblings = [o for o in overloads if o["form"] != "out"]

    def inputs(self) -> list[dict]:
        return [a for a in self.args if a["name"] not in self.out]

    def tensors(self) -> list[str]:
        return [a["name"] for a in self.inputs() if kind(a["type"]) == "Tensor"]

    def alike(self, argument: dict) -> list[dict]:
        """Returns other overloads' arguments at this place: the message may name them, or they may take the value."""
        if argument["keyword_only"]:
            return [a for o in self.siblings for a in o["args"] if a["name"] == argument["name"]] or [argument]
        at = self.args.index(argument)
        others = [o["args"][at] for o in self.siblings if at < len(o["args"])]
        return [a for a in others if not a["keyword_only"]] + [argument]

    def related(self, name: str) -> list[str]:
        """Returns arguments that the message may name instead of this one; all if the values' types do not fit."""
        if self.base in RELATED:
            return [n for n in RELATED[self.base] if name in RELATED[self.base]]
        return [] if fits_by_type(self.op["schema"]) else [a["name"] for a in self.inputs()]

    def cell(
        self, name: str, fault: str, allowed: tuple, value: Callable[[], object], scene: dict | None = None
    ) -> Cell:
        """Makes a call with one argument replaced (and others, if the fault needs them)."""

        def given() -> dict:
            values = arguments(self.op)
            values.update({k: make() for k, make in (scene or {}).items()})
            values[name] = value()
            return values

        argument = next(a for a in self.args if a["name"] == name)
        if name in self.out:
            return Cell(self.op, name, fault, allowed, given, ("out", name))
        related = [n for n in self.related(name) if allowed != (TypeError,)]
        if fault in NAMES_OF_DIMENSIONS:
            related = [a["name"] for a in self.inputs()]
        names = dict.fromkeys([a["name"] for a in self.alike(argument)] + related)
        return Cell(self.op, name, fault, allowed, given, tuple(names))

    def call(self, fault: str, allowed: tuple, without: tuple = (), names: tuple = (), **how) -> Cell:
        def given() -> dict:
            return {k: v for k, v in arguments(self.op).items() if k not in without}

        return Cell(self.op, "", fault, allowed, given, names, **how)


# ---- faults by type ----

STRANGE = {
    "a str": lambda: "x",
    "None": lambda: None,
    "an object": object,
    "a list of str": lambda: ["x"],
    "a dict": dict,
    "a tuple of None": lambda: (None,),
}
ALSO_WRONG = {
    "Tensor": {"a list of numbers": lambda: [1.0, 2.0], "a type": lambda: int},
    "Scalar": {"a matrix": lambda: matrix(2, 3)},
    "int": {"a float": lambda: 1.5, "a matrix": lambda: matrix(2, 3)},
    "SymInt": {"a float": lambda: 1.5, "a matrix": lambda: matrix(2, 3)},
    "SymInt[]": {"a float": lambda: 1.5, "floats": lambda: (1.5, 2.0), "nested": lambda: ((2,), 3)},
    "int[]": {"a float": lambda: 1.5, "floats": lambda: (1.5, 0.0)},
    "int[1]": {"a float": lambda: 1.5, "floats": lambda: (0.5,)},
    "float": {"a complex number": lambda: 1j},
    "bool": {"a float": lambda: 1.5},
    "ScalarType": {"an int": lambda: 3, "a device": lambda: lamella.device("cpu")},
    "Device": {"a float": lambda: 1.5, "a dtype": lambda: lamella.float32},
    "Layout": {"an int": lambda: 3, "a dtype": lambda: lamella.float32},
    "MemoryFormat": {"an int": lambda: 3, "a layout": lambda: lamella.strided},
    "Generator": {"an int": lambda: 3, "the class": lambda: lamella.Generator},
    "str": {"an int": lambda: 3},
}


def is_tensor(value) -> bool:
    return isinstance(value, lamella.Tensor)


OTHERS = {
    "a type": "ScalarType",  # Python's int, float and bool are dtypes
    "a dtype": "ScalarType",
    "a device": "Device",
    "a matrix": "Tensor",
    "an int": "Scalar",
}


def taken(label: str, argument: dict, o: Operator) -> bool:
    """Returns whether the argument, or that of another overload, accepts the value."""
    types = [a["type"] for a in o.alike(argument)]
    if label == "None":  # for a list that is empty by default None means that list
        return any(t.endswith("?") for t in types) or any(a.get("default") == "[]" for a in o.alike(argument))
    if label == "a tuple of None":
        return any(t.endswith("?[]") for t in types)
    if label == "a str":  # unknown names of devices and modes are separate faults, below
        return any(kind(t) in ("Device", "str") for t in types)
    if label == "a matrix" and "Tensor[]" in map(kind, types):  # a list of one
        return True
    if label == "a list of numbers" and "Scalar[]" in map(kind, types):
        return True
    if label == "an int" and any(t.partition("[")[0] in ("int", "SymInt") for t in types):  # one for all dimensions
        return True
    return OTHERS.get(label) in map(kind, types)


NAMES_OF_DIMENSIONS = ("a str", "a list of str")
TAKEN_BY_PLUGINS = {("aten::flatten", "a list of str"), ("aten::unflatten", "a dict")}  # by overloads that they add


def wrong_types(o: Operator) -> Iterator[Cell]:
    for argument in o.inputs():
        wrong = STRANGE | ALSO_WRONG.get(kind(argument["type"]), {})
        for label, value in wrong.items():
            if not taken(label, argument, o) and (o.op["name"], label) not in TAKEN_BY_PLUGINS:
                # A str may be the name of a dimension, also for another overload, and the tensor does not have it.
                named = label in NAMES_OF_DIMENSIONS
                yield o.cell(argument["name"], label, (TypeError, RuntimeError) if named else (TypeError,), value)


def overflows(o: Operator) -> Iterator[Cell]:
    for argument in o.inputs():
        name, k = argument["name"], kind(argument["type"])
        if k in ("int", "SymInt", "Scalar"):
            large = 2**64 if k == "Scalar" else 2**63
            for label, n in {"10**30": 10**30, "-10**30": -(10**30), str(large): large}.items():
                yield o.cell(name, label, OVERFLOW, lambda n=n: n)
        if k.endswith("]") and k != "Tensor[]":
            yield o.cell(name, "10**30 in a list", OVERFLOW, lambda: (10**30,))
            yield o.cell(name, "-10**30 in a list", OVERFLOW, lambda: [-(10**30)])
        if k == "float":
            yield o.cell(name, "10**400", OVERFLOW, lambda: 10**400)


DEVICES = ("nope", "cpu:7", "cpu:-1", "cpu:x", "cpu:", "", "cpu:99999999999999999999", "CPU", "nope:0", "c\0pu")


def unknown_devices(o: Operator) -> Iterator[Cell]:
    for argument in o.inputs():
        if kind(argument["type"]) == "Device":
            for name in DEVICES:
                yield o.cell(argument["name"], f"device {name!r}", (RuntimeError, ValueError), lambda name=name: name)
        if kind(argument["type"]) == "ScalarType":
            if not taken("a str", argument, o):
                yield o.cell(argument["name"], "dtype 'nope'", (TypeError,), lambda: "nope")


def indices(o: Operator) -> Iterator[Cell]:
    """Makes dimensions and positions out of range; the arguments' names identify them."""
    for argument in o.inputs():
        name, k = argument["name"], kind(argument["type"])
        if not (name.startswith("dim") or name == "index"):
            continue
        for n in (7, -8, 2**62, -(2**62)):
            if k in ("int", "SymInt"):
                yield o.cell(name, f"{n} is out of range", INDEX, lambda n=n: n)
            elif k in ("int[]", "int[1]"):
                both = (0, n) if k == "int[]" else (n,)
                yield o.cell(name, f"{n} is out of range", INDEX, lambda both=both: both)
        if k in ("int[]", "int[1]"):
            yield o.cell(name, "a dimension twice", INDEX, lambda: (0, 0))
            ndim = next((v.ndim for v in arguments(o.op).values() if is_tensor(v)), 2)
            yield o.cell(name, "a dimension twice, once from the end", INDEX, lambda n=ndim: (1, 1 - n))
            yield o.cell(name, "a hundred dimensions", INDEX, lambda: (0,) * 100)


SIZES = {
    "a negative size": (-2, 3),
    "2**62 elements": (2**62, 1),
    "2**62 by 2**62": (2**62, 2**62),
    "2**31 by 2**33 by 2": (2**31, 2**33, 2),
    "more than the memory": (2**45, 1),
    "a hundred dimensions": (1,) * 98 + (2, 3),
    "INT64_MIN": (-(2**63), 2),
}


def sizes(o: Operator) -> Iterator[Cell]:
    for argument in o.inputs():
        name = argument["name"]
        if kind(argument["type"]) != "SymInt[]" or name in ("stride", "indices"):
            continue
        for label, value in SIZES.items():
            if name == "pad" and label == "a negative size":  # a negative padding is valid: it crops
                continue
            strided = any(a["name"] == "stride" for a in o.args)
            scene = {"stride": lambda value=value: (1,) * len(value)} if strided else {}
            yield o.cell(name, label, SIZE, lambda value=value: value, scene)


# ---- faults by relation ----

ACROSS = {"copy", "to"}  # operators that copy between devices
ELSEWHERE = {"resize_as", "set_data"}  # operators that take a tensor of any device beside the first
# Operators that give their first argument another geometry or other memory, and store no element.
GEOMETRY = {"t_", "transpose_", "swapaxes_", "squeeze_", "unsqueeze_", "as_strided_", "resize_", "resize_as_", "set_",
            "set_data"}  # fmt: skip


def mixed_devices(o: Operator) -> Iterator[Cell]:
    given = arguments(o.op) if len(o.tensors()) > 1 else {}
    names = [k for k in o.tensors() if is_tensor(given.get(k))]
    for name in names if len(names) > 1 and o.base not in ELSEWHERE else ():
        scalar = any(given[k].ndim == 0 for k in names if k != name)
        if o.base == "to" or (name == names[0] and (o.base in ACROSS or scalar)):
            continue
        allowed = (RuntimeError, NotImplementedError)
        yield o.cell(name, "on meta beside cpu", allowed, lambda name=name: on_meta(arguments(o.op)[name]))
    reads = [a for a in o.inputs() if "Tensor" in a["type"]]  # a creation without one takes the device of its target
    for name in o.out if reads else ():
        yield o.cell(name, "out on meta", (RuntimeError,), lambda name=name: on_meta(arguments(o.op)[name]))


def written(o: Operator) -> Iterator[Cell]:
    for argument in o.args if o.op["name"].rpartition("::")[2] not in GEOMETRY else ():
        name = argument["name"]
        if argument["written"] and name not in o.out:
            yield from expanded(o, name, arguments(o.op)[name])


def expanded(o: Operator, name: str, valid) -> Iterator[Cell]:
    rest = list(valid[1:]) if isinstance(valid, (list, tuple)) else None  # the first tensor of a list is wrong
    if rest is not None and not valid:
        return
    first = valid if rest is None else valid[0]
    shape, dtype = tuple(first.shape) if first.numel() > 1 else (2, 3), first.dtype

    def with_first(tensor):
        return tensor if rest is None else [tensor, *rest]

    row = (1, *shape[1:])
    yield o.cell(name, "expanded", (RuntimeError,), lambda: with_first(matrix(*row, dtype=dtype).expand(*shape)))
    yield o.cell(name, "expanded from one", (RuntimeError,), lambda: with_first(matrix(1, dtype=dtype).expand(*shape)))


def bad_out(o: Operator) -> Iterator[Cell]:
    for name in o.out:
        yield from bad_output(o, name, arguments(o.op)[name])
    if len(o.out) > 1:
        for label, value in {
            "one tensor": matrix(2),
            "too few": (matrix(2),),
            "too many": (matrix(2),) * (len(o.out) + 1),
        }.items():
            yield o.call(label, (TypeError,), tuple(o.out), ("out",), keywords={"out": value})
    elif o.out:
        yield o.call("a tuple for out", (TypeError,), tuple(o.out), ("out",), keywords={"out": (matrix(2),) * 2})


def bad_output(o: Operator, name: str, result) -> Iterator[Cell]:
    shape, dtype = tuple(result.shape), result.dtype
    for label, value in {"a str": "x", "an int": 3, "a dict": {}}.items():
        yield o.cell(name, label, (TypeError,), lambda value=value: value)
    if dtype is not lamella.bool:
        yield o.cell(name, "of dtype bool", DTYPE, lambda: lamella.zeros(shape, dtype=lamella.bool))
    if dtype.is_floating_point:
        yield o.cell(name, "of an integer dtype", DTYPE, lambda: lamella.zeros(shape, dtype=lamella.int32))
    if result.numel() > 1:
        yield o.cell(name, "expanded", (RuntimeError,), lambda: lamella.zeros(1, dtype=dtype).expand(*shape))
    yield o.cell(name, "a view of another shape", (RuntimeError,), lambda: lamella.zeros(9, dtype=dtype)[2:])


def required(op: dict) -> int:
    return sum(1 for a in op["args"] if not a["has_default"])


def calls(o: Operator) -> Iterator[Cell]:
    """Makes the faults in the call as a whole."""
    yield o.call("no arguments", (TypeError,), tuple(a["name"] for a in o.args))
    yield o.call("an unknown keyword", (TypeError,), names=("nope",), keywords={"nope": 1})
    first = o.args[0]["name"]
    if not any(a["name"] == first for s in o.siblings for a in s["args"][1:]):  # such as arange(2, end=5)
        yield o.call("an argument twice", (TypeError,), names=(first,), keywords={first: arguments(o.op)[first]})
    positional = max(sum(not a["keyword_only"] for a in s["args"]) for s in o.siblings)
    mine = sum(not a["keyword_only"] for a in o.inputs())
    yield o.call("too many arguments", (TypeError,), extra=(object(),) * (positional - mine + 1))
    for argument in o.inputs()[1:]:
        name = argument["name"]
        place = required(o.op) - len(o.out) - 1
        if not argument["has_default"] and not any(required(s) <= place for s in o.siblings):
            mine = {a["name"] for a in o.args}  # a call without an overload's own argument may fit another overload
            others = [
                a["name"] for s in o.siblings for a in s["args"] if not a["has_default"] and a["name"] not in mine
            ]
            names = tuple(dict.fromkeys([*(a["name"] for a in o.alike(argument)), *others]))
            yield o.call(f"without '{name}'", (TypeError,), (name,), names)


# ---- faults of single operators: a table ----

C64, I64 = "complex64", "int64"
ORDERED = ("clamp", "maximum", "minimum", "lt", "le", "gt", "ge", "relu", "floor_divide", "trunc_divide")
ORDERED_REDUCTIONS = ("max", "min", "argmax", "argmin")
FLOAT_ONLY = ("uniform", "normal", "mean")


def to(dtype: str):
    return lambda: matrix(2, 3, dtype=getattr(lamella, dtype))


def dtypes(o: Operator) -> Iterator[Cell]:
    if o.base in ORDERED + ORDERED_REDUCTIONS:
        for argument in o.inputs():
            if kind(argument["type"]) == "Tensor":
                yield o.cell(argument["name"], "complex has no order", DTYPE, to(C64))
                yield o.cell(argument["name"], "complex128 has no order", DTYPE, to("complex128"))
            elif kind(argument["type"]) == "Scalar":
                yield o.cell(argument["name"], "complex has no order", DTYPE, lambda: 1j)
    scalar = o.args and o.args[0]["name"] == "self" and "Tensor" in o.args[0]["type"] and o.op["form"] != "out"
    if o.base in FLOAT_ONLY and scalar and "dtype" not in {a["name"] for a in o.args}:
        for dtype in (I64, "bool", "uint8"):
            yield o.cell("self", f"of dtype {dtype}", DTYPE, to(dtype))
    if o.base == "mean" and scalar:
        for dtype in (I64, "bool"):
            yield o.cell("self", f"of dtype {dtype}", DTYPE, to(dtype), {"dtype": lambda: None})
    if o.base in ("mm", "bmm", "matmul"):
        other = o.tensors()[1]
        yield o.cell(other, "another dtype", DTYPE, lambda: arguments(o.op)[other].to(lamella.float64))
    for name in ("mask", "condition"):
        if name in o.tensors()[1:] or (name in o.tensors() and len(o.args) > 1):
            for dtype in ("float32", I64):
                yield o.cell(name, f"of dtype {dtype}", SHAPE, to(dtype))
    if o.op["form"] == "inplace" and o.base in ("add", "sub", "mul", "div", "pow", "rsub") and len(o.tensors()) == 2:
        yield o.cell("self", "too narrow for the result", DTYPE, to(I64))
    if o.base in ("add", "sub", "rsub") and o.op["form"] == "functional":
        yield o.cell("alpha", "a fraction for integers", DTYPE, lambda: 1.5, {"self": to(I64), "other": lambda: 1})
    if o.base in ("fill", "masked_fill") and kind(o.args[-1]["type"]) == "Scalar":
        yield o.cell("value", "complex into float", DTYPE, lambda: 1j)
    if o.base == "arange" and o.op["form"] == "functional":
        for argument in o.inputs():
            if kind(argument["type"]) == "Scalar":
                yield o.cell(argument["name"], "complex", DTYPE, lambda: 1j)
    yield from unsigned(o)


def unsigned(o: Operator) -> Iterator[Cell]:
    """Pairs uint64 with a signed integer: no dtype holds both."""
    if o.base in ("add", "mul", "maximum", "eq") and o.op["form"] == "functional" and o.tensors() == ["self", "other"]:
        yield o.cell("other", "uint64 beside int64", DTYPE, to("uint64"), {"self": to(I64)})
    if o.base == "pow" and o.op["overload"] == "Tensor_Scalar":
        yield o.cell("exponent", "negative for integers", DTYPE, lambda: -1, {"self": to(I64)})


SHAPES = {  # (operator, argument): shapes that do not fit
    ("copy", "src"): ((4,), (3, 2, 3)),
    ("masked_select", "mask"): ((4,), (3, 2)),
    ("masked_fill", "mask"): ((4,), (3, 2)),
    ("mm", "mat2"): ((2, 2), (3,), (1, 3, 4), ()),
    ("mm", "self"): ((2, 2), (3,), (1, 2, 3), ()),
    ("bmm", "mat2"): ((2, 2, 2), (3, 3, 4), (3, 4)),
    ("bmm", "self"): ((2, 2, 2), (3, 2, 3), (2, 3)),
    ("matmul", "other"): ((2, 2), (4,), ()),
    ("matmul", "self"): ((2, 2), (4,), ()),
    ("t", "self"): ((2, 3, 4), (1, 1, 1, 1)),
    ("item", "self"): ((2,), (0,), (2, 3)),
    ("select", "self"): ((),),
    ("slice", "self"): ((),),
    ("max", "self"): ((0,), (0, 0)),
    ("min", "self"): ((0,), (0, 0)),
    ("argmax", "self"): ((0,), (0, 0)),
    ("argmin", "self"): ((0,), (0, 0)),
}
VALUES = {  # (operator, argument): values that do not fit
    ("view", "size"): ((7,), (-1, -1), (4, -1), (), (0, -1)),
    ("reshape", "shape"): ((7,), (-1, -1), (4, -1), (), (0, -1)),
    ("expand", "size"): ((3, 3), (3,), (-1, 2, 3), (2, 0)),
    ("permute", "dims"): ((0,), (), (0, 1, 2)),
    ("as_strided", "size"): ((7,), (2,), (2, 2, 2), (3, 3)),
    ("as_strided", "stride"): ((-1, 1), (2**62, 2**62), (1,), (2**40, 1)),
    ("as_strided", "storage_offset"): (-1, 6, 2**62, -(2**63)),
    ("empty_strided", "stride"): ((-1, 1), (1,), (2**62, 2**62), (2**40, 1)),
    ("slice", "step"): (0, -1, -(2**63)),
    ("arange", "step"): (0, -1, float("nan"), float("inf"), 0.0),
    ("arange", "end"): (float("nan"), float("inf"), 2**62, 2**63 - 1, 1e300),
    ("div", "rounding_mode"): ("nope", "", "FLOOR", "fl\0or", "floor "),
    ("normal", "std"): (-1.0, float("nan")),
    ("uniform", "to"): (float("nan"), float("inf"), -1.0),
    ("uniform", "from"): (float("nan"), float("-inf"), 9.0),
}


def tables(o: Operator) -> Iterator[Cell]:
    for argument in o.inputs():
        name = argument["name"]
        boolean = kind(argument["type"]) == "Tensor" and name in ("mask", "condition")
        for shape in SHAPES.get((o.base, name), ()):
            value = (lambda s=shape: mask(*s)) if boolean else (lambda s=shape: matrix(*s))
            yield o.cell(name, f"shape {shape}", SHAPE, value)
        for value in VALUES.get((o.base, name), ()) if kind(argument["type"]) != "Tensor" else ():
            yield o.cell(name, f"value {value!r}", SIZE + (IndexError,), lambda v=value: v)
    if o.op["category"] == "pointwise" and len(o.tensors()) > 1:
        for name in o.tensors():
            for shape in ((4,), (3, 3), (2, 2, 2)):
                value = (lambda s=shape: mask(*s)) if name == "condition" else (lambda s=shape: matrix(*s))
                yield o.cell(name, f"shape {shape} does not broadcast", (RuntimeError,), value)
    if o.op["form"] == "inplace" and o.tensors()[1:] == ["other"]:
        yield o.cell("self", "smaller than the result", (RuntimeError,), lambda: matrix(3))
    if "value" in o.tensors():
        yield o.cell("value", "a vector", (RuntimeError,), lambda: matrix(3))


FAULTS = (
    calls,
    wrong_types,
    overflows,
    unknown_devices,
    indices,
    sizes,
    mixed_devices,
    written,
    bad_out,
    dtypes,
    tables,
)


NO_VALID_CALL = frozenset(["aten::pin_memory"])  # if no device pins the host's memory


def operators(namespace: str = "aten") -> list[Operator]:
    live = [op for op in lamella._C._operators() if op["name"].startswith(namespace + "::")]
    live = [op for op in live if op["name"] not in NO_VALID_CALL]
    if namespace == "aten":
        live = [op for op in live if op["owner"] == "lamella"]  # not the overloads that plugins add
    by_name: dict[str, list[dict]] = {}
    for op in live:
        by_name.setdefault(op["name"], []).append(op)
    return [Operator(op, by_name[op["name"]]) for op in live]


def valid_cells(chosen: list[Operator]) -> list[Cell]:
    """Makes a valid call of every operator: if that fails, an error of a broken call proves nothing."""
    return [o.call("nothing, it is valid", ()) for o in chosen]


def cells(chosen: list[Operator]) -> list[Cell]:
    """Makes every broken call of the operators."""
    return [cell for o in chosen for fault in FAULTS for cell in fault(o)]
