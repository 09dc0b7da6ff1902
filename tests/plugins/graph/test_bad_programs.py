"""Files that are no programs, or damaged ones: each is refused by an error that names the member or the line."""

from __future__ import annotations

import io
import json
import random
import time

import lamella
import pytest
from lamella.serialization import CheckpointError
from program_files import INDEX, file_of, members_of, saved, with_code, with_index

GRAPH = "code/Layer.forward.graph"


def load(file):
    return lamella.jit.load(file)


def set_item(*path):
    """Returns a function that sets the item of an index at a path; the last of ``path`` is the value."""
    *keys, last, value = path

    def change(index):
        for key in keys:
            index = index[key]
        index[last] = value

    return change


CODE = {
    "a value that is not defined": ("(%x", "(%never", "code/Layer.forward.graph' .*not defined before it is used"),
    "a name of no node": ("aten::matmul(", "aten matmul(", "code/Layer.forward.graph' .* is damaged: .*expected '::'"),
    "a wrong type": ("aten::add.Tensor(%", "aten::add.int(%", "code/Layer.forward.graph', line .* is damaged"),
    "an unknown operator": ("aten::matmul(", "mine::matmul(", "operators that are not here: mine::matmul; .*'mine'"),
    "an unknown overload": ("aten::add.Tensor(", "aten::add.Never(", "not here: aten::add.Never; .*'aten' 1"),
    "more arguments than here": (
        "aten::add.Tensor(",
        "aten::add.Tensor(%self, %self, %self, ",
        "code/Layer.forward.graph', line .* aten::add",
    ),
    "a call of Python": ("aten::matmul(", 'prim::PythonCall[name="f"](', "calls a function of Python"),
    "an unknown method": ("aten::matmul(", 'prim::CallMethod[name="f"](', "code/Layer.forward.graph"),
    "an unknown attribute": ('name="weight"', 'name="height"', "code/Layer.forward.graph', line .*'?height'?"),
    "a constant that is not there": (
        "graph(%self : Layer, %x : Tensor, %n : int) {",
        "graph(%self : Layer, %x : Tensor, %n : int) { %c : Tensor = prim::Constant[value=<data/7>]()",
        "names <data/7>, and the program has 0 constant tensors",
    ),
    "no version": ("# op_version 1\n", "", "does not begin with '# op_version N'"),
    "a newer version of operators": (
        "op_version 1\n",
        "op_version 7\n",
        "version 7 of the operators; .* has version 1",
    ),
    "two graphs in a member": (
        "# op_version 1\n",
        "# op_version 1\ngraph() { return () } with other = ",
        "a member has more than one graph",
    ),
    "deep nesting": ("%x : Tensor", "%x : " + "(" * 100_000, "damaged"),
    "deep blocks": ("return", "prim::If(%n) block0() {" * 10_000 + " return", "damaged"),
}


@pytest.mark.parametrize("kind", CODE)
def test_damaged_code(kind):
    old, new, message = CODE[kind]
    with pytest.raises(CheckpointError, match=f"(?s){message}"):
        load(with_code(old, new))


INDEXES = {
    "another kind": (set_item("format", "other"), "its format is not 'lamella.program'"),
    "a checkpoint's kind": (set_item("format", "lamella"), "is of the kind 'lamella'; lamella.load reads it"),
    "a newer version": (set_item("version", 9), "has version 9 of the format; this Lamella reads up to 1"),
    "no code": (set_item("graphs", {}), "has no graph|has no"),
    "a member that is not there": (set_item("members", "code/x.graph", {"sha256": ""}), "which is not there"),
    "a graph of no member": (set_item("graphs", "Layer.forward", "code/x.graph"), "'members' has no 'code/x.graph'"),
    "a graph outside code/": (set_item("graphs", "Layer.forward", "data/0"), "has to be a member in code/"),
    "a graph's name": (set_item("graphs", "a b", GRAPH), "no name of a graph"),
    "a class's name": (set_item("classes", "a {", {"attributes": []}), "no name of a class"),
    "an attribute's name": (set_item("classes", "Layer", "attributes", 0, ["} x", "int"]), "no name of an attribute"),
    "an attribute's type": (set_item("classes", "Layer", "attributes", 0, ["x", "} graph"]), "no type"),
    "a type that ends early": (set_item("classes", "Layer", "attributes", 0, ["weight", "Dict(str"]), "ends early"),
    "a type that nests deeply": (set_item("methods", "Layer.forward", "result", "(" * 100_000), "damaged|deeply"),
    "a type of no class": (set_item("methods", "Layer.forward", "result", "Never"), "there is no type 'Never'"),
    "an attribute of a wrong type": (set_item("object", "attributes", 0, ["weight", 3]), "weight' has to be Tensor"),
    "a missing attribute": (set_item("object", "attributes", []), "attribute 'weight' is missing"),
    "an unknown attribute": (set_item("object", "attributes", 0, ["height", 1]), "no attribute 'height'"),
    "an object of an unknown class": (set_item("object", "$object", "Never"), "no class 'Never'"),
    "an object that is none": (set_item("object", 7), "no object of a class"),
    "a number of a tensor": (set_item("constants", [99]), "damaged"),
    "a window beyond its storage": (set_item("tensors", 0, 2, [2, 200]), "damaged"),
    "a hash that is none": (set_item("members", GRAPH, {}), f"no SHA-256 of the member '{GRAPH}'"),
    "another hash": (set_item("members", GRAPH, "sha256", "0" * 64), f"'{GRAPH}' .* has another SHA-256"),
    "a parameter that is no tensor": (
        set_item("classes", "Layer", "parameters", ["names"]),
        "names has to be a tensor",
    ),
    "a submodule that is none": (set_item("classes", "Layer", "modules", ["names"]), "an object of a class of modules"),
    "an object that contains itself": (set_item("object", "attributes", 0, ["weight", {"$same": 5}]), "damaged"),
    "a module of Python": (set_item("object", {"$module": ["lamella.nn", "ReLU"], "state": []}), "a module of Python"),
    "an enum's member": (
        set_item("enums", "E", {"original": "E", "members": [["__class__", 1]]}),
        "which is no plain name",
    ),
    "deep nesting": (set_item("object", json.loads("[" * 400 + "]" * 400)), "no object of a class|deeply"),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_damaged_index(kind):
    change, message = INDEXES[kind]
    with pytest.raises(CheckpointError, match=f"(?s){message}"):
        load(with_index(change))


def test_containers_that_would_grow_exponentially():
    """Each list has the one before it twice, by its number: 2 ** 60 numbers in a short index."""

    def change(index):
        depth, node = 60, [1]
        for number in range(depth):
            node = [node, {"$same": number}]
        index["classes"]["Layer"]["attributes"].append(["many", "int" + "[]" * (depth + 1)])
        index["object"]["attributes"].insert(0, ["many", node])

    with pytest.raises(CheckpointError, match="'\\$same' stands for a list, which no file of this kind shares"):
        load(with_index(change))


def test_a_type_of_many_named_tuples():
    tuples = ", ".join(f"NamedTuple[T{i}](x : int)" for i in range(1100))
    with pytest.raises(CheckpointError, match="more than 1000 named tuples"):
        load(with_index(set_item("methods", "Layer.forward", "result", f"({tuples})")))


def test_the_deepest_index():
    members = members_of(saved())
    text = members[INDEX].replace(b'"object":', b'"other":' + b"[" * 100_000 + b"]" * 100_000 + b',"object":')
    with pytest.raises(CheckpointError, match="nested too deeply"):
        load(file_of({**members, INDEX: text}, hashed=False))


def test_classes_that_name_each_other_are_no_fault():
    def change(index):
        index["classes"] |= {"A": {"attributes": [["b", "B?"]]}, "B": {"attributes": [["a", "A?"]]}}

    assert load(with_index(change)).name(1) == "b!"


def test_every_cut():
    data = saved()
    for size in range(0, len(data), 97):
        with pytest.raises(CheckpointError):
            load(io.BytesIO(data[:size]))


def test_other_files():
    file = io.BytesIO()
    lamella.save({"a": 1}, file)
    file.seek(0)
    with pytest.raises(CheckpointError, match="of the kind 'lamella'; lamella.load reads it"):
        load(file)
    with pytest.raises(CheckpointError, match="of the kind 'lamella.program'; lamella.jit.load reads it"):
        lamella.load(io.BytesIO(saved()))
    with pytest.raises(TypeError, match="save: argument 'm' must be a ScriptModule or a ScriptFunction, got Linear"):
        lamella.jit.save(lamella.nn.Linear(1, 1), io.BytesIO())


def test_all_missing_operators_are_listed():
    file = with_code(" = aten::matmul(", " = mine::a.b(")
    members = members_of(file.getvalue())
    text = members[GRAPH].replace(b" = aten::add.Tensor(", b" = yours::c(")
    with pytest.raises(CheckpointError, match="not here: mine::a.b, yours::c; .*'mine', 'yours'"):
        load(file_of({**members, GRAPH: text}))


def test_mutations_of_bytes():
    """Of a file with any wrong bytes either nothing is wrong, as in padding, or it is refused."""
    data, random_ = saved(), random.Random(39)
    kept = 0
    for _ in range(200):
        changed = bytearray(data)
        for _ in range(random_.choice((1, 1, 4))):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
        kept += accepted(io.BytesIO(bytes(changed)))
    assert kept < 100


@pytest.mark.filterwarnings("ignore:a tensor is read without")
def test_mutations_of_members():
    """The hashes are right, so that the parsers of text and index meet the damage."""
    members, random_ = members_of(saved()), random.Random(40)
    pieces = [
        b"%1",
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"int",
        b"Tensor",
        b"Layer",
        b"0",
        b"-1",
        b"null",
        b",",
        b":",
    ]
    kept = 0
    for _ in range(300):
        name = random_.choice([n for n in members if n.startswith("code/")] + [INDEX])
        text = members[name]
        at = random_.randrange(len(text))
        new = text[:at] + random_.choice(pieces) + text[at + random_.randrange(6) :]
        try:
            file = file_of({**members, name: new}, hashed=name != INDEX)
        except ValueError:
            continue
        kept += accepted(file)
    assert kept < 150


def accepted(file):
    try:
        load(file)
    except CheckpointError:
        return False
    return True


def test_a_long_graph_takes_time_in_proportion():
    line = "  %{} : Tensor = aten::add.Tensor(%{}, %{})\n"
    times = []
    for count in (2_000, 20_000):
        body = "".join(line.format(f"v{i}", f"v{i - 1}" if i else "x", "x") for i in range(count))
        text = f"graph(%x : Tensor) {{\n{body}  return (%v{count - 1})\n}}\n"
        members = members_of(saved(lamella.jit.script(identity)))
        (name,) = [n for n in members if n.startswith("code/")]
        file = file_of({**members, name: b"# op_version 1\n" + text.encode()})
        start = time.perf_counter()
        load(file)
        times.append(time.perf_counter() - start)
    assert times[1] < 40 * times[0] + 0.5


def identity(x):
    return x
