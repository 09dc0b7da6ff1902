"""The graph of a ``.pt2`` as one of Lamella: nodes with their arguments, by the operators of Lamella."""

from __future__ import annotations

import re
from typing import Any

import lamella.plugins.graph.script.library_torch as library_torch
from lamella.plugins.graph.script.builtin_calls import Builtins
from lamella.plugins.graph.script.emit import Value, Word
from lamella.plugins.graph.script.errors import Reporter
from lamella.plugins.graph.script.functions import Compiler
from lamella.plugins.graph.script.loops import Loops
from lamella.plugins.graph.script.types import (
    ANY,
    BOOL,
    DEVICE,
    DTYPE,
    FLOAT,
    INT,
    LAYOUT,
    MEMORY_FORMAT,
    STR,
    TENSOR,
    Dict,
    List,
    Optional,
    Tuple,
    Type,
)
from lamella.plugins.graph.torch_files.operators import TorchOperators, is_here
from lamella.plugins.graph.torch_files.specs import Spec

MEMBER = "models/model.json"
# The numbers that the JSON has for dtypes, which are not those of TorchScript.
DTYPES = {
    **{1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64"},
    **{10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn"},
    **{30: "float8_e5m2", 34: "uint32", 35: "uint64"},
}
FORMATS = {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format"}
LAYOUTS = {7: "strided"}
WORDS = {
    "as_scalar_type": (DTYPE, DTYPES),
    "as_memory_format": (MEMORY_FORMAT, FORMATS),
    "as_layout": (LAYOUT, LAYOUTS),
}
# Functions of Python on sizes.
ON_SIZES = {
    **{f"_operator.{n}": f"aten::{n}" for n in ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge", "neg", "pow")},
    "_operator.floordiv": "aten::floordiv",
    "_operator.truediv": "aten::div",
    "_operator.mod": "aten::remainder",
    "_operator.and_": "aten::__and__",
    "_operator.or_": "aten::__or__",
    "torch.sym_not": "aten::__not__",
    "torch.sym_max": "aten::max",
    "torch.sym_min": "aten::min",
    "torch.sym_float": "aten::Float",
    "math.trunc": "aten::trunc",
    "math.floor": "aten::floor",
    "math.ceil": "aten::ceil",
}
OTHER_NAMES = {
    "aten::sym_size": "aten::size",
    "aten::sym_stride": "aten::stride",
    "aten::sym_numel": "aten::numel",
    "aten::sym_storage_offset": "aten::storage_offset",
}
# Checks of what a compiler assumed, which need not run.
GUARDS = frozenset(
    f"torch.ops.aten.{n}"
    for n in (
        "_assert_tensor_metadata.default",
        "sym_constrain_range.default",
        "sym_constrain_range_for_size.default",
    )
)
# Checks that the program has, each of a condition and a message.
ASSERTIONS = frozenset({"torch.ops.aten._assert_scalar.default", "torch.ops.aten._assert_async.msg"})
TARGET = re.compile(r"torch\.ops\.(\w+)\.(\w+)\.(\w+)", re.ASCII)
LARGEST = 2**63 - 1


def operator_of(target: str) -> str:
    """Returns the operator that a node's target names; empty for a function of Python that is none.

    >>> operator_of("torch.ops.aten.sym_size.int"), operator_of("_operator.mul"), operator_of("os.system")
    ('aten::size', 'aten::mul', '')
    """
    found = TARGET.fullmatch(target)
    if found is None:
        return ON_SIZES.get(target, "")
    name = f"{found[1]}::{found[2]}"
    full = f"{name}.{found[3]}"
    return full if full in library_torch.OPERATORS else OTHER_NAMES.get(name, name)


def missing(nodes: list[dict]) -> dict[str, str]:
    """Returns the targets of nodes that no operator here stands for, each with the place of its first node."""
    found: dict[str, str] = {}
    for node in nodes:
        target = str(node["target"])
        name = operator_of(target)
        if target not in GUARDS | ASSERTIONS and not (name and is_here(name)):
            found.setdefault(name or target, f"{MEMBER}: node {str(node.get('name'))!r}")
    return found


class NodeReader(TorchOperators, Compiler, Builtins):
    """Appends the nodes of a graph to a function.

    Args:
        program: the program of the function
        sizes: the least and the greatest value of each symbol of a size
    """

    def __init__(self, program: Any, sizes: dict[str, tuple[int, int]]):
        Loops.__init__(self, program, Reporter(MEMBER, MEMBER, [], 1))  # type: ignore[arg-type]
        self.values_by_name: dict[str, Value] = {}
        self.sizes = sizes
        self.symbols: dict[str, tuple[Value, str]] = {}
        """The sizes that the inputs have for symbols, each with the name of its place."""
        self.caller = None

    def node(self, node: dict) -> None:
        """Appends one node."""
        target = str(node["target"])
        self.reporter.name = f"{MEMBER}: node {str(node.get('name'))!r}"
        if target in GUARDS:
            return
        args, kwargs = [], {}
        for given in node["inputs"]:
            value = self.read(given["arg"])
            if given.get("kind") == 2:
                kwargs[str(given["name"])] = value
            else:
                args.append(value)
        if target in ASSERTIONS:
            self.check_assertion(*args, *kwargs.values())
            return
        result = self.torch_operator(operator_of(target), args, kwargs)
        outputs = node["outputs"]
        if len(outputs) == 1 and "as_tensors" in outputs[0]:
            names = [part["name"] for part in outputs[0]["as_tensors"]]
            parts = list(self.add("prim::ListUnpack", [result], *[TENSOR] * len(names)).outputs)
        else:
            names = [_name_of(part) for part in outputs]
            parts = [result] if len(names) == 1 else self.parts(result, len(names))
        for name, part in zip(names, parts, strict=False):
            self.give(name, part)

    def parts(self, result: Value, count: int) -> list[Value]:
        found = self.unpacked(result) if isinstance(result.type, Tuple) else []
        if len(found) < count:
            raise self.error(f"the operator gives {len(found) or 1} results here, and {count} in torch")
        return found

    def give(self, name: str, value: Value) -> None:
        """Gives a name of the graph a value."""
        if not name:
            return
        if name in self.values_by_name:
            raise self.error(f"the value '{name[:80]}' is given twice")
        self.values_by_name[name] = value
        if not value.name:
            value.name = name

    def named(self, name: Any) -> Value:
        if name not in self.values_by_name:
            raise self.error(f"there is no value '{str(name)[:80]}' before this place")
        return self.values_by_name[name]

    # ---- arguments ----

    def read(self, arg: dict) -> Value:
        """Returns the value of an argument, which has one key, its kind."""
        if not isinstance(arg, dict) or len(arg) != 1:
            raise self.error("an argument has to have one kind")
        kind, x = next(iter(arg.items()))
        if kind == "as_none":
            return self.constant(None)
        if kind in ("as_tensor", "as_optional_tensor"):
            return self.read(x) if "name" not in x else self.named(x["name"])
        if kind in ("as_int", "as_bool", "as_string"):
            return self.constant(x)
        if kind == "as_float":
            return self.constant(float(x))
        if kind == "as_complex":
            return self.constant(complex(x["real"], x["imag"]))
        if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
            return self.named(x["as_name"]) if "as_name" in x else self.read(x)
        if kind == "as_device":
            index = f":{int(x['index'])}" if x.get("index") is not None else ""
            return self.block.constant(Word("Device", f"{x['type']}{index}"), DEVICE)
        if kind in WORDS:
            t, words = WORDS[kind]
            if x not in words:
                raise self.error(f"torch's {t} number {x} is none that is here")
            return self.word(t, words[x])
        lists: dict[str, Type] = {"as_ints": INT, "as_sym_ints": INT, "as_floats": FLOAT, "as_sym_floats": FLOAT}
        lists |= {"as_bools": BOOL, "as_sym_bools": BOOL, "as_strings": STR, "as_tensors": TENSOR}
        lists["as_optional_tensors"] = Optional(TENSOR)
        if kind not in lists:
            raise self.error(f"an argument of the kind {kind[:40]!r} is not read here")
        return self.list_of([self.element(e, lists[kind]) for e in x], lists[kind])

    def element(self, e: Any, t: Type) -> Value:
        if not isinstance(e, dict):
            return self.constant(float(e) if t == FLOAT else e)
        if "name" in e or "as_name" in e:
            return self.named(e.get("name", e.get("as_name")))
        return self.read(e)

    # ---- trees of inputs and outputs ----

    def type_of(self, spec: Spec, leaves: list[Type]) -> Type:
        """Returns the type of a tree; takes the types of its leaves from the front of ``leaves``."""
        if spec.kind == "leaf":
            return leaves.pop(0)
        parts = [self.type_of(child, leaves) for child in spec.children]
        if spec.kind == "tuple":
            return Tuple(tuple(parts))
        element = parts[0] if parts else TENSOR
        if any(part != element for part in parts):
            element = ANY
        if spec.kind == "list":
            return List(element)
        keys = {type(key) for key in spec.keys} or {str}
        key = {str: STR, int: INT, float: FLOAT, bool: BOOL}[keys.pop()]
        if keys:
            raise self.error("a dictionary among the inputs or outputs has keys of several types")
        return Dict(key, element)

    def leaves_of(self, spec: Spec, value: Value, found: list[Value]) -> None:
        """Appends to ``found`` the leaves of a value that has the form of a tree."""
        if spec.kind == "leaf":
            found.append(value)
        elif spec.kind == "tuple":
            for child, part in zip(spec.children, self.unpacked(value), strict=True):
                self.leaves_of(child, part, found)
        else:
            keys = spec.keys if spec.kind == "dict" else range(len(spec.children))
            for key, child in zip(keys, spec.children, strict=True):
                self.leaves_of(child, self.op("aten::__getitem__", value, self.constant(key)), found)

    def tree_of(self, spec: Spec, leaves: list[Value]) -> Value:
        """Returns the value of a tree; takes its leaves from the front of ``leaves``."""
        if spec.kind == "leaf":
            return leaves.pop(0)
        parts = [self.tree_of(child, leaves) for child in spec.children]
        if spec.kind == "tuple":
            return self.tuple_of(parts)
        t = self.type_of(spec, [leaf for part in parts for leaf in [part.type]]) if _is_flat(spec) else None
        if spec.kind == "list":
            return self.list_of(parts, t.element if isinstance(t, List) else self.common(parts))
        keys = [self.constant(key) for key in spec.keys]
        return self.dict_of(keys, parts, Dict(keys[0].type if keys else STR, self.common(parts)))

    def common(self, parts: list[Value]) -> Type:
        types = {str(part.type) for part in parts}
        return TENSOR if not parts else parts[0].type if len(types) == 1 else ANY

    # ---- checks ----

    def check_input(self, name: str, value: Value, meta: dict) -> None:
        """Appends the check that a tensor has the sizes for which the program was exported."""
        least, most = [], []
        for size in meta["sizes"]:
            low, high = self.limits_of(size)
            least.append(self.constant(low))
            most.append(self.constant(high))
        bounds = [self.list_of(least, INT), self.list_of(most, INT)]
        self.call_function(library_torch.check_sizes, [value, self.constant(name), *bounds], {})
        for i, size in enumerate(meta["sizes"]):
            if symbol := _symbol_of(size):
                self.check_symbol(symbol, self.op("aten::size", value, self.constant(i)), f"dimension {i} of '{name}'")

    def check_symbol(self, symbol: str, size: Value, place: str) -> None:
        """Appends the check that a size is the one of the first input that has the same symbol."""
        if symbol not in self.symbols:
            self.symbols[symbol] = size, place
            return
        first, of_first = self.symbols[symbol]
        self.require(
            self.op("aten::eq", size, first),
            f"forward: {place} has to have the size of {of_first}; the program was exported for equal sizes alone",
            "ValueError",
        )

    def check_assertion(self, condition: Value, message: Value) -> None:
        """Appends an assertion of the program."""
        if condition.type != BOOL:
            condition = self.op("aten::Bool", condition)
        self.require(condition, message.constant if isinstance(message.constant, str) else "", "RuntimeError")

    def require(self, condition: Value, text: str, kind: str) -> None:
        """Appends a branch that raises an error unless a condition is true."""

        def failed() -> None:
            self.add("prim::RaiseException", [self.constant(text)], kind=kind)

        self.branch(condition, lambda: None, failed)

    def limits_of(self, size: dict) -> tuple[int, int]:
        if "as_int" in size:
            return int(size["as_int"]), int(size["as_int"])
        return self.sizes.get(_symbol_of(size), (0, LARGEST))

    def check_constant(self, name: str, value: Value, wanted: Value) -> None:
        """Appends the check that a number or a text is the one for which the program was exported."""
        text = f"the program was exported for {name}={wanted.constant!r}, and computes nothing for another value"
        self.require(self.op("aten::eq", value, wanted), text, "ValueError")


def _symbol_of(size: dict) -> str:
    """Returns the symbol of a size; empty for a number, and for an expression of symbols."""
    found = re.match(r"Symbol\('(\w+)'[^()]*\)$", str(size.get("as_expr", {}).get("expr_str")))
    return found[1] if found else ""


def _is_flat(spec: Spec) -> bool:
    return all(child.kind == "leaf" for child in spec.children)


def _name_of(output: dict) -> str:
    """Returns the name that a node gives a result; empty for one that is not there."""
    ((kind, x),) = output.items()
    return str(x.get("name", x.get("as_name", ""))) if isinstance(x, dict) and kind != "as_none" else ""
