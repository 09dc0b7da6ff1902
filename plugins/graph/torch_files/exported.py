"""Modules of a ``.pt2``: parameters and buffers by their names, and ``forward`` of its graph."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from typing import Any

import lamella
from lamella import nn
from lamella.plugins.graph.jit.description import Description, ModuleClass
from lamella.plugins.graph.jit.modules import ScriptModule
from lamella.plugins.graph.script.emit import Value, drop_unused
from lamella.plugins.graph.script.errors import ScriptError
from lamella.plugins.graph.script.functions import Function, Parameter
from lamella.plugins.graph.script.types import BOOL, FLOAT, INT, NONE, STR, TENSOR, Object, Type
from lamella.plugins.graph.torch_files.nodes import DTYPES, LARGEST, MEMBER, NodeReader, missing
from lamella.plugins.graph.torch_files.program import TorchProgram, plain, program_of
from lamella.plugins.graph.torch_files.specs import DEEPEST, read_spec
from lamella.plugins.graph.torch_files.syntax import Code
from lamella.plugins.graph.torch_files.zips import TorchZip
from lamella.serialization.errors import CheckpointError
from lamella.serialization.locations import Locations
from lamella.serialization.torch_programs import window

NAME = "Exported"
MAJOR = 8  # the newest form of the JSON
FAULTS = (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)
TENSORS = {
    "parameter": ("parameter_name", "data/weights/model_weights_config.json"),
    "buffer": ("buffer_name", "data/weights/model_weights_config.json"),
    "tensor_constant": ("tensor_constant_name", "data/constants/model_constants_config.json"),
}
SINGLE: dict[str, Type] = {"as_int": INT, "as_float": FLOAT, "as_bool": BOOL, "as_string": STR, "as_none": NONE}


class Part:
    """A module of the program: tensors and further modules by names."""

    def __init__(self, type: Object):
        self.type = type
        self.tensors: dict[str, Any] = {}
        self.parts: dict[str, Part] = {}
        self.kinds: dict[str, str] = {}
        """"parameter", "buffer" or "transient" by the names of tensors."""


def load_exported(archive: TorchZip, map_location: Any) -> ScriptModule:
    """Returns the module of a file of ``torch.export.save``."""
    archive.check()
    try:
        return Exported(archive, Locations(map_location)).module()
    except ScriptError as error:
        raise CheckpointError(f"load: {archive.name}: {error}") from None


class Exported:
    """Reads one file."""

    def __init__(self, archive: TorchZip, locations: Locations):
        self.archive, self.locations = archive, locations
        self.program = TorchProgram(Code(), ())
        self.model = self.json(MEMBER)
        self.read: dict[str, Any] = {}
        self.steps: Counter[str] = Counter()
        self.root = self.part(NAME)
        self.configs = {member: self.json(member).get("config") for _, member in TENSORS.values()}

    def json(self, member: str) -> Any:
        """Returns the contents of a member in JSON, an object."""
        try:
            text = self.archive.text(member)
            self.archive.check_forms(member, text.count(b"[") + text.count(b"{"))
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.archive.damage(f"the member {member!r} is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise self.archive.damage(f"the member {member!r} is no object of JSON")
        return found

    def module(self) -> ScriptModule:
        """Returns the module."""
        try:
            major = self.model["schema_version"]["major"]
            if major != MAJOR:
                raise CheckpointError(
                    f"load: {self.archive.name} has version {major} of the form of exported programs, and {MAJOR} is "
                    "read here; export the program again by torch 2.13"
                )
            self.archive.check_version(self.model["opset_version"]["aten"])
            graph = self.model["graph_module"]
            if found := missing(graph["graph"]["nodes"]):
                listed = ", ".join(f"{name} ({place})" for name, place in sorted(found.items()))
                raise CheckpointError(
                    f"load: {self.archive.name} uses operators that are not here: {listed}; install the plugin that "
                    "has them, or export the program without them; lamella.plugins.status() lists the plugins here"
                )
            return self.made(self.forward(graph))
        except (CheckpointError, ScriptError):
            raise
        except FAULTS as error:
            if error is self.locations.error:  # the user's map_location function has failed
                raise
            raise self.archive.damage(f"the member {MEMBER!r}: {type(error).__name__}: {error}") from None

    def made(self, forward: Function) -> ScriptModule:
        """Returns the module of the function of its graph."""
        classes = self.classes(self.root)
        text = "".join(map(_class_text, classes)) + f"with {forward.name} = {forward.text()}\n" + self.program.text()
        program = program_of(self.archive, text, self.program.tensors)
        functions = {f.name: f for f in (forward, *self.program.order)}
        signatures = {name: plain(f) for name, f in functions.items()}
        description = Description(NAME, signatures, {c.name: c for c in classes})
        return ScriptModule(description, program, self.object(program, self.root))

    # ---- the graph ----

    def forward(self, graph: dict) -> Function:
        """Returns the function of the graph."""
        reader = NodeReader(self.program, self.bounds())
        self_value = Value(self.root.type, "self")
        reader.top.parameters.append(self_value)
        signature = graph["module_call_graph"][0]["signature"]
        tensors = graph["graph"]["tensor_values"]
        places: dict[str, Value] = {"": self_value}
        buffers: dict[str, Value] = {}
        of_user: list[tuple[str, dict]] = []
        for spec in graph["signature"]["input_specs"]:
            ((kind, entry),) = spec.items()
            if kind in TENSORS:
                name = entry[TENSORS[kind][0]]
                transient = kind == "tensor_constant" or (kind == "buffer" and not entry["persistent"])
                self.add_tensor(name, kind, transient)
                buffers[name] = self.tensor(reader, places, name)
                reader.give(entry["arg"]["name"], buffers[name])
            elif kind in ("user_input", "constant_input"):
                of_user.append((kind, entry))
            else:
                raise reader.unsupported(f"an input of the kind {str(kind)[:40]!r} is not read here")
        function = Function(f"{NAME}.forward", None, None)  # type: ignore[arg-type]
        function.self_type = self.root.type
        self.parameters(reader, function, signature, of_user, tensors)
        for node in graph["graph"]["nodes"]:
            reader.node(node)
        reader.reporter.name = MEMBER
        self.results(reader, graph, signature, buffers)
        drop_unused(reader.top)
        function.block, function.returned = reader.top, reader.top.results[0].type
        return function

    def parameters(
        self, reader: NodeReader, function: Function, signature: dict, of_user: list[tuple[str, dict]], tensors: dict
    ) -> None:
        """Gives the function its parameters, and the inputs of the graph their values."""
        spec = read_spec(signature["in_spec"])
        args, kwargs = spec.children
        names = list(signature.get("forward_arg_names") or ())
        names = [str(n) for n in names[: len(args.children)]]
        names += [f"argument_{i}" for i in range(len(names), len(args.children))] + [str(k) for k in kwargs.keys]
        if spec.leaves() != len(of_user) or len(set(names)) != len(names):
            raise ValueError("its inputs do not fit their tree")
        waiting = list(of_user)
        for i, (name, child) in enumerate(zip(names, [*args.children, *kwargs.children], strict=True)):
            own = [waiting.pop(0) for _ in range(child.leaves())]
            t = reader.type_of(child, [_type_of(kind, entry) for kind, entry in own])
            default = inspect.Parameter.empty
            if child.kind == "leaf" and own[0][0] == "constant_input":
                default = _constant(own[0][1]["value"])
            value = Value(t, name)
            reader.top.parameters.append(value)
            function.parameters.append(Parameter(name, t, default, i >= len(args.children)))
            leaves: list[Value] = []
            reader.leaves_of(child, value, leaves)
            for (kind, entry), leaf in zip(own, leaves, strict=True):
                self.input(reader, name, kind, entry, leaf, tensors)

    def input(self, reader: NodeReader, name: str, kind: str, entry: dict, leaf: Value, tensors: dict) -> None:
        if kind == "constant_input":
            wanted = _constant(entry["value"])
            if wanted is not None:
                reader.check_constant(name, leaf, reader.constant(wanted))
            return
        ((how, x),) = entry["arg"].items()
        reader.give(str(x.get("name", x.get("as_name", ""))), leaf)
        if how == "as_tensor":
            reader.check_input(name, leaf, tensors[x["name"]])

    def results(self, reader: NodeReader, graph: dict, signature: dict, buffers: dict[str, Value]) -> None:
        """Writes changed buffers and inputs back, and gives the function its result."""
        leaves = []
        for spec in graph["signature"]["output_specs"]:
            ((kind, entry),) = spec.items()
            value = reader.read({"as_tensor": entry["arg"]} if "name" in entry["arg"] else entry["arg"])
            if kind == "user_output":
                leaves.append(value)
            elif kind == "buffer_mutation":
                reader.op("aten::copy_", buffers[entry["buffer_name"]], value)
            elif kind == "user_input_mutation":
                reader.op("aten::copy_", reader.named(entry["user_input_name"]), value)
            else:
                raise reader.unsupported(f"an output of the kind {str(kind)[:40]!r} is not read here")
        spec = read_spec(signature["out_spec"])
        if spec.leaves() != len(leaves):
            raise ValueError("its outputs do not fit their tree")
        reader.top.results.append(reader.tree_of(spec, leaves))

    def bounds(self) -> dict[str, tuple[int, int]]:
        """Returns the least and the greatest value of each symbol of a size. 0 and 1 are admitted, as in torch."""
        found = {}
        for name, limits in self.model.get("range_constraints", {}).items():
            least, most = limits.get("min_val"), limits.get("max_val")
            found[name] = (0 if least is None or least <= 2 else int(least), LARGEST if most is None else int(most))
        return found

    # ---- modules and tensors ----

    def part(self, name: str) -> Part:
        return Part(Object(self.program.unique(name), None))

    def part_named(self, step: str) -> Part:
        """Returns a module whose class is named by the last step of its name, and by a number after the first one."""
        self.steps[step] += 1
        number = f"_{self.steps[step] - 1}" if self.steps[step] > 1 else ""
        return self.part(f"{NAME}_{step}{number}")

    def add_tensor(self, name: str, kind: str, transient: bool) -> None:
        """Reads a tensor, and gives it to the module that its name tells."""
        if name.count(".") > DEEPEST or not re.fullmatch(r"\w+(\.\w+)*", name, re.ASCII):
            raise ValueError(f"{name[:80]!r} is no name of a tensor, or has more than {DEEPEST} dots")
        *path, last = name.split(".")
        part = self.root
        for step in path:
            if step not in part.parts:
                part.parts[step] = self.part_named(step)
            part = part.parts[step]
        if last in part.tensors:
            raise ValueError(f"the tensor {name[:80]!r} is given twice")
        part.tensors[last] = self.weight(name, kind, transient)
        part.kinds[last] = "transient" if transient else kind

    def weight(self, name: str, kind: str, transient: bool) -> Any:
        members = [TENSORS["tensor_constant" if transient else kind][1], *self.configs]
        member = next((m for m in members if name in self.configs[m]), None)
        if member is None:
            raise ValueError(f"the tensor {name[:80]!r} is not in the file")
        entry = self.configs[member][name]
        path, meta = f"{member.rpartition('/')[0]}/{entry['path_name']}", entry["tensor_meta"]
        key = f"{path} {kind == 'parameter'} {json.dumps(meta, sort_keys=True)}"
        if key not in self.read:
            if entry.get("use_pickle"):
                raise ValueError(f"the tensor {name[:80]!r} is a pickle, which is not read here")
            made = self.window(path, meta)
            grad = bool(meta.get("requires_grad"))
            self.read[key] = nn.Parameter(made, requires_grad=grad) if kind == "parameter" else made
        return self.read[key]

    def window(self, path: str, meta: dict) -> Any:
        """Returns the tensor that a description makes of a member's bytes."""
        if meta["dtype"] not in DTYPES or meta["layout"] != 7:
            raise ValueError(f"{path!r} has a dtype or a layout that is not here")
        dtype = getattr(lamella, DTYPES[meta["dtype"]])
        size, stride = ([int(n["as_int"]) for n in meta[k]] for k in ("sizes", "strides"))
        device, nbytes = meta["device"], self.archive.size(path)
        where = device["type"] + (f":{device['index']}" if device.get("index") is not None else "")
        key = f"{path} {self.locations.target(where)}"
        if key not in self.read:
            self.read[key] = self.locations.place(where, nbytes, lambda: self.archive.flat(path))
        offset = int(meta["storage_offset"]["as_int"])
        try:
            return window(self.read[key], dtype, tuple(size), tuple(stride), offset)
        except ValueError as error:
            raise self.archive.damage(f"the member {path!r}: {error}") from None

    def tensor(self, reader: NodeReader, places: dict[str, Value], name: str) -> Value:
        """Appends the nodes that take a tensor of the module."""
        *path, last = name.split(".")
        part, full, value = self.root, "", places[""]
        for step in path:
            part, full = part.parts[step], f"{full}.{step}"
            if full not in places:
                places[full] = reader.one("prim::GetAttr", [value], part.type, name=step)
            value = places[full]
        return reader.one("prim::GetAttr", [value], TENSOR, name=last)

    def classes(self, part: Part) -> list[ModuleClass]:
        """Returns the classes of a module and of those in it."""

        def those(*kinds: str) -> tuple[str, ...]:
            return tuple(n for n, kind in part.kinds.items() if kind in kinds)

        attributes: dict[str, Type] = dict.fromkeys(part.tensors, TENSOR)
        attributes |= {name: inner.type for name, inner in part.parts.items()}
        lists = those("parameter"), those("buffer", "transient"), tuple(part.parts), those("transient")
        own = ModuleClass(part.type.name, part.type.name, attributes, *lists)
        return [own, *(c for inner in part.parts.values() for c in self.classes(inner))]

    def object(self, program: Any, part: Part) -> Any:
        inner = {name: self.object(program, p) for name, p in part.parts.items()}
        return program.new_object(part.type.name, {**part.tensors, **inner})


def _class_text(own: ModuleClass) -> str:
    lines = "".join(f"  {name} : {t}\n" for name, t in own.attributes.items())
    return f"class {own.name} {{\n{lines}}}\n"


def _type_of(kind: str, entry: dict) -> Type:
    """Returns the type of an input."""
    if kind == "constant_input":
        ((how, _),) = entry["value"].items()
        return SINGLE[how]
    ((how, _),) = entry["arg"].items()
    return {"as_sym_int": INT, "as_sym_float": FLOAT, "as_sym_bool": BOOL}.get(how, TENSOR)


def _constant(value: dict) -> Any:
    ((how, x),) = value.items()
    return None if how == "as_none" else float(x) if how == "as_float" else x
