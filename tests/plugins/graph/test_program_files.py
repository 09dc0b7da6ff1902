"""jit.save and jit.load: what a file has, what comes back, further files, hooks, hashes, versions, `lamella show`."""

from __future__ import annotations

import enum
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from typing import NamedTuple

import lamella
import pytest
from lamella.plugins.graph.jit import upgrades
from lamella.serialization import CheckpointError
from program_files import INDEX, Layer, file_of, members_of, saved, with_index

X = lamella.tensor([[1.0, -1.0]])


class Color(enum.Enum):
    RED = "r"
    GREEN = "g"


class Pair(NamedTuple):
    first: int
    second: lamella.Tensor


class Item:
    """A class of a script."""

    def __init__(self, x: int):
        self.x = x

    def twice(self) -> int:
        return self.x * 2


class Tied(lamella.nn.Module):
    """Two names for one layer, one parameter in two layers, and attributes of several types."""

    def __init__(self):
        super().__init__()
        self.first = lamella.nn.Linear(2, 2)
        self.again = self.first
        self.second = lamella.nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.register_parameter("none", None)
        self.register_buffer("seen", lamella.zeros(1))
        self.register_buffer("scratch", lamella.ones(1), persistent=False)
        self.sizes: dict[str, list[int]] = {"a": [1, 2]}
        self.maybe: int | None = None
        self.plain = lamella.tensor([7.0])
        self.scale = 0.1

    def forward(self, x):
        self.seen += 1
        self.sizes["a"].append(3)
        self.maybe = 4
        return self.second(self.again(self.first(x))) * self.scale + self.plain + self.scratch


def load(file, **options):
    """Loads a file from its beginning."""
    if isinstance(file, io.BytesIO):
        file.seek(0)
    return lamella.jit.load(file, **options)


def reloaded(program, **options):
    return load(io.BytesIO(saved(program)), **options)


def test_a_file_is_a_zip_that_others_read(tmp_path):
    path = tmp_path / "net.lamella"
    lamella.jit.script(Layer()).save(path, {"labels.json": '["cat"]'})
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        index = json.loads(archive.read(INDEX))
        text = archive.read("code/Layer.forward.graph").decode()
        assert archive.read("extra/labels.json") == b'["cat"]'
        assert archive.namelist()[0] == INDEX
    assert text.startswith("# op_version 1\ngraph(%self : Layer, %x : Tensor, %n : int) {\n")
    assert index["format"] == "lamella.program" and index["needs"]["aten"] >= 1
    assert index["members"]["code/Layer.forward.graph"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert index["methods"]["Layer.forward"]["parameters"][1] == {"name": "n", "type": "int", "default": 2}
    assert lamella.graph.parse(text).outputs()[0].node() is not None


def test_the_same_program_gives_the_same_bytes():
    scripted = lamella.jit.script(Layer())
    assert saved(scripted) == saved(scripted)
    assert saved(load(io.BytesIO(saved(scripted)))) == saved(scripted)


def test_a_module_comes_back_whole():
    scripted = lamella.jit.script(Tied())
    scripted(X)
    loaded = reloaded(scripted)
    assert isinstance(loaded, lamella.jit.ScriptModule) and loaded.original_name == "Tied"
    assert loaded.again is loaded.first and loaded.second.weight is loaded.first.weight
    assert list(loaded.state_dict()) == list(scripted.state_dict()) == list(Tied().state_dict())
    assert [n for n, _ in loaded.named_parameters()] == [n for n, _ in scripted.named_parameters()]
    assert all(isinstance(p, lamella.nn.Parameter) and p.requires_grad for p in loaded.parameters())
    assert loaded.none is None and loaded.seen.tolist() == [1] and loaded.scratch.tolist() == [1]
    assert loaded.sizes == {"a": [1, 2, 3]} and loaded.maybe == 4 and loaded.scale == 0.1
    assert loaded(X).tolist() == scripted(X).tolist()
    assert loaded.seen.tolist() == [2] and loaded.sizes == {"a": [1, 2, 3, 3]}
    assert str(loaded.graph) == str(scripted.graph) and loaded.code == scripted.code


def test_modes_devices_and_gradients():
    loaded = reloaded(lamella.jit.script(Layer()))
    assert loaded.training and not loaded.eval().training
    assert not reloaded(loaded).training
    loaded(X, 1).sum().backward()
    expected = Layer()
    expected(X, 1).sum().backward()
    assert loaded.weight.grad.tolist() == expected.weight.grad.tolist()
    assert loaded.to(lamella.float64)(X.double(), 1).dtype == lamella.float64
    placed = reloaded(loaded, map_location="meta")
    assert placed.weight.is_meta and placed(lamella.empty(3, 2, dtype=lamella.float64, device="meta")).shape == (3, 2)


def test_several_entries():
    loaded = reloaded(lamella.jit.script(Layer()))
    assert loaded.name(0) == "a!" and loaded.name(i=1) == "b!"
    assert loaded(X).tolist() == loaded.forward(x=X, n=2).tolist()
    with pytest.raises(TypeError, match="lacks its argument 'x'"):
        loaded()


def test_functions_with_enums_tuples_and_classes():
    def choose(color: Color, pair: Pair, fallback: Color = Color.GREEN, by: float = 2):
        item = Item(pair.first)
        if color == Color.RED:
            return Pair(item.twice(), pair.second * by), fallback
        return pair, color

    function = lamella.jit.script(choose)
    loaded = reloaded(function)
    pair, color = loaded(Color.RED, Pair(3, X))
    assert pair._fields == ("first", "second") and type(pair).__name__ == "Pair"
    assert (pair.first, pair.second.tolist()) == (6, [[2, -2]])
    assert (type(color).__name__, color.name, color.value) == ("Color", "GREEN", "g")
    assert loaded(color, pair)[1] is color
    with pytest.raises(TypeError, match="expected a member of Color, got 'RED'"):
        loaded("RED", pair)


def test_recorded_programs():
    def halves(x):
        a, b = x.chunk(2, 1)
        return a * b + x.shape[0]

    traced = lamella.jit.trace(halves, lamella.ones(2, 4))
    loaded = reloaded(traced)
    assert loaded(lamella.ones(3, 4)).tolist() == [[4, 4]] * 3 and str(loaded.graph) == str(traced.graph)
    module = lamella.jit.trace(Tied().first, lamella.ones(1, 2))
    again = reloaded(module)
    assert again(X).tolist() == module(X).tolist() and list(again.state_dict()) == ["weight", "bias"]


def test_loaded_programs_in_scripts():
    loaded, function = reloaded(lamella.jit.script(Layer())), reloaded(lamella.jit.script(twice))

    class Outer(lamella.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = loaded

        def forward(self, x):
            return function(self.inner(x, 1))

    outer = lamella.jit.script(Outer())
    for program in (outer, reloaded(outer)):
        assert program(X).tolist() == (2 * loaded(X, 1)).tolist()
        assert [n for n, _ in program.named_parameters()] == ["inner.weight"]
        assert program.inner.original_name == "Layer"
    assert outer.inner.weight is loaded.weight


def twice(x):
    return x * 2


def test_constants_of_frozen_modules():
    frozen = lamella.jit.freeze(lamella.jit.script(Layer().eval()))
    data = saved(frozen)
    assert b"<data/0>" in members_of(data)["code/Layer.forward.graph"]
    loaded = load(io.BytesIO(data))
    assert loaded(X).tolist() == frozen(X).tolist()
    with pytest.raises(RuntimeError, match="freeze: the module was loaded from a file"):
        lamella.jit.freeze(loaded)


def test_mapped_and_plain_loads_are_equal(tmp_path):
    path = tmp_path / "net.lamella"
    lamella.jit.save(lamella.jit.script(Layer()), path)
    mapped, read = load(path, mmap=True), load(str(path))
    assert mapped(X).tolist() == read(X).tolist()
    assert load(open(path, "rb"))(X).tolist() == read(X).tolist()


def test_further_files():
    data = saved(_extra_files={"a.txt": "é", "sub/b.bin": b"\xff\0"})
    found = {"a.txt": "", "sub/b.bin": None, "none": "x"}
    load(io.BytesIO(data), _extra_files=found)
    assert found == {"a.txt": "é".encode(), "sub/b.bin": b"\xff\0", "none": b""}  # as torch 2.13 gives
    for wrong, message in (({"a": 1}, "'a' must be text or bytes, got int"), ({1: "a"}, "a name must be text, got 1")):
        with pytest.raises(TypeError, match=message):
            saved(_extra_files=wrong)


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_of_further_files_that_a_zip_cannot_have(name):
    with pytest.raises(
        ValueError, match=re.escape(f"the name {name!r} has the character 0, or one that UTF-8 does not")
    ):
        saved(_extra_files={name: "x"})
    remove = lamella.jit.register_export_hook(lambda program, extra: extra.update({name: b"x"}))
    try:
        with pytest.raises(ValueError, match=re.escape(f"the name {name!r}")):
            saved()
    finally:
        remove()
    with pytest.raises(ValueError, match="the text of 'note' has a character that UTF-8 does not have; give bytes"):
        saved(_extra_files={"note": "\ud800"})


def test_hooks():
    def hook(program, extra):
        extra["producer"] = f"{len(program.names)} graphs"
        program.rewrite(
            "graph(%a : Tensor, %b : Tensor) { %c : Tensor = aten::matmul(%a, %b) return (%c) }",
            "graph(%a : Tensor, %b : Tensor) { %c : Tensor = aten::mm(%a, %b) return (%c) }",
        )

    scripted = lamella.jit.script(Layer())
    remove = lamella.jit.register_export_hook(hook)
    try:
        found = {"producer": ""}
        loaded = load(io.BytesIO(saved(scripted)), _extra_files=found)
    finally:
        remove()
    assert found == {"producer": b"2 graphs"}
    assert "aten::mm(" in str(loaded.graph) and "aten::mm(" not in str(scripted.graph)
    assert loaded(X).tolist() == scripted(X).tolist()
    assert "extra/producer" not in members_of(saved(scripted))
    with pytest.raises(TypeError, match="register_export_hook: expected a function, got int"):
        lamella.jit.register_export_hook(3)


def test_a_hook_that_raises_leaves_the_file(tmp_path):
    path = tmp_path / "net.lamella"
    path.write_bytes(b"before")

    def hook(program, extra):
        raise ValueError("no producer")

    remove = lamella.jit.register_export_hook(hook)
    try:
        with pytest.raises(ValueError, match="no producer"):
            lamella.jit.script(Layer()).save(path)
    finally:
        remove()
    assert path.read_bytes() == b"before"


def test_calls_of_python_are_refused_with_the_place():
    @lamella.jit.ignore
    def outside(x: int) -> int:
        return x

    def calls(x: int) -> int:
        return outside(x)

    with pytest.raises(RuntimeError, match=r"calls calls outside of Python at \S*test_program_files.py:\d+:\d+, which"):
        saved(lamella.jit.script(calls))


def test_unused_functions_raise_after_loading():
    @lamella.jit.unused
    def outside(x: int) -> int:
        return x

    def calls(x: int) -> int:
        if x > 3:
            return outside(x)
        return x

    loaded = reloaded(lamella.jit.script(calls))
    assert loaded(3) == 3
    with pytest.raises(RuntimeError, match="outside is under jit.unused"):
        loaded(4)


def test_hashes():
    plain, hashed = saved(), saved(hashes=True)
    with pytest.raises(CheckpointError, match="no SHA-256 of the member 'data/0'; save it with hashes=True"):
        load(io.BytesIO(plain), verify=True)
    assert load(io.BytesIO(hashed), verify=True)(X).shape == (1, 2)
    members = members_of(hashed)
    index = json.loads(members[INDEX])
    assert index["members"]["data/0"]["sha256"] == hashlib.sha256(members["data/0"]).hexdigest()
    changed = file_of({**members, "data/0": members["data/0"][::-1]}, hashed=False)
    assert load(changed)(X).shape == (1, 2)
    with pytest.raises(CheckpointError, match="the member 'data/0' of a BytesIO has another SHA-256"):
        load(changed, verify=True)
    extra = members_of(saved(_extra_files={"a": "b"}))
    with pytest.raises(CheckpointError, match="the member 'extra/a' of a BytesIO has another SHA-256"):
        load(file_of({**extra, "extra/a": b"c"}, hashed=False), _extra_files={"a": ""})


OLD = "graph(%x : Tensor) { %y : Tensor = aten::doubled(%x) return (%y) }"
NEW = "graph(%x : Tensor) { %n : int = prim::Constant[value=2]() %y : Tensor = aten::mul.Scalar(%x, %n) return (%y) }"


def test_upgrades(monkeypatch):
    def double(x):
        return x.exp() * 2

    text = b"# op_version 1\n" + OLD.replace(") {", ") {\n").replace("return", "\n  return").encode()
    members = members_of(saved(lamella.jit.script(double)))
    old = file_of({**members, "code/double.graph": text})
    with pytest.raises(CheckpointError, match="not here: aten::doubled"):
        load(old)
    monkeypatch.setattr(upgrades, "VERSION", 3)
    monkeypatch.setattr(upgrades, "table", lambda: upgrades.read(f"# changes\nversion 2\n{OLD}\n->\n{NEW}\n"))
    loaded = load(old)
    assert loaded(X).tolist() == [[2, -2]] and "aten::mul.Scalar" in str(loaded.inlined_graph)
    assert members_of(saved(loaded))["code/double.graph"].startswith(b"# op_version 3\n")
    with pytest.raises(ValueError, match="version 2 has no line '->'"):
        upgrades.read(f"version 2\n{OLD}\n")
    with pytest.raises(ValueError, match="the old graph of version 2 has 2 nodes; it must have one"):
        upgrades.read(f"version 2\n{NEW}\n->\n{NEW}\n")


def test_the_operators_of_a_plugin_are_named():
    library = lamella.library.Library("shipped", "DEF", version=4)
    library.define("twice(Tensor x) -> Tensor", since=4)
    library.impl("twice", lambda x: x * 2, "composite")
    text = "graph(%x : Tensor) { %y : Tensor = shipped::twice(%x) return (%y) }"
    members = members_of(saved(lamella.jit.script(identity)))
    data = file_of({**members, "code/identity.graph": b"# op_version 1\n" + text.encode()}).getvalue()
    loaded = load(io.BytesIO(data))
    assert loaded(X).tolist() == [[2, -2]]
    again = saved(loaded)
    assert json.loads(members_of(again)[INDEX])["needs"]["shipped"] == 4
    library.close()
    with pytest.raises(
        CheckpointError, match="not here: shipped::twice; it was written with the operators of 'shipped' 4"
    ):
        load(io.BytesIO(again))


def test_operators_that_hand_values_to_the_host():
    library = lamella.library.Library("handed", "DEF")
    library.define("out(Tensor x) -> Tensor", category="host")
    library.impl("out", lambda x: x, "composite")
    text = b"# op_version 1\ngraph(%x : Tensor) { %y : Tensor = handed::out(%x) return (%y) }"
    data = file_of({**members_of(saved(lamella.jit.script(identity))), "code/identity.graph": text})
    with pytest.raises(CheckpointError, match="hand values to the host: handed::out; pass allow_host=True"):
        load(data)
    assert load(data, allow_host=True)(X).tolist() == X.tolist()
    library.close()


def identity(x):
    return x


def test_show(tmp_path):
    path = tmp_path / "net.lamella"
    lamella.jit.script(Layer()).save(path, {"labels.json": "{}"})
    text = lamella.graph.show(path)
    for line in (
        "kind        lamella.program, version 1",
        f"written by  lamella {lamella.__version__}",
        "  Layer: 1 objects, 4 numbers in parameters of their own (Layer)",
        "  Layer.forward(x : Tensor, n : int = 2) -> Tensor",
        "  labels.json: 2 bytes",
    ):
        assert line in text.split("\n"), text
    run = subprocess.run(
        [sys.executable, "-m", "lamella", "show", str(path), "--code"], capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith(text) and 'prim::GetAttr[name="weight"](%self)' in run.stdout
    path.write_bytes(with_index(lambda index: index.update(version=5)).getvalue())
    failed = subprocess.run([sys.executable, "-m", "lamella", "show", str(path)], capture_output=True, text=True)
    assert failed.returncode == 1 and "has version 5 of the format" in failed.stderr


def test_names_of_a_file_cannot_steer_a_terminal():
    def change(index):
        index["written_by"] = "\x1b[31mred"

    assert "\x1b" not in lamella.graph.show(with_index(change))
