"""Programs in C++ without Python run files of jit.save: <lamella/run.hpp>, liblamella_run.so, examples/cpp_program."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import lamella
import pytest
from children import clean_environment, run
from lamella.serialization import CheckpointError
from lamella.serialization.archive import ArchiveWriter
from native import STRICT, TOP, compiles, include, installed, output
from pages import blocks

EXAMPLE = TOP / "examples" / "cpp_program"
SOURCE = TOP / "tests" / "extensions" / "run_program.cpp"
GOLDEN = TOP / "tests" / "plugins" / "graph" / "golden"
OF_TORCH = TOP / "tests" / "plugins" / "graph" / "torch_archives"
LIBRARIES = ("liblamella.so", "liblamella_run.so", "backends/cpu/liblamella_cpu.so")
pytestmark = pytest.mark.needs("autograd")


class Layer(lamella.nn.Module):
    """Has a parameter, a buffer, a list of texts, a loop, and two methods."""

    def __init__(self):
        super().__init__()
        self.weight = lamella.nn.Parameter(lamella.tensor([[1.0, 0.25], [-0.5, 0.75]]))
        self.register_buffer("seen", lamella.tensor([0.5, 2.0]))
        self.names = ["a", "b"]

    def forward(self, x, n: int = 2):
        for i in range(n):
            x = x @ self.weight
            if i > 1:
                x = x.exp() + self.seen
        return x

    @lamella.jit.export
    def name(self, i: int) -> str:
        return self.names[i] + "!"


class Tied(lamella.nn.Module):
    """Two names for one layer, one parameter in two layers, and a buffer that is written."""

    def __init__(self):
        super().__init__()
        self.first = lamella.nn.Linear(2, 2)
        self.again = self.first
        self.second = lamella.nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.register_buffer("count", lamella.zeros(1))

    def forward(self, x):
        self.count += 1
        return self.second(self.again(self.first(x))) * self.count


def every_kind(
    ints: list[int],
    number: float,
    flag: bool,
    text: str,
    counts: dict[str, int],
    pair: tuple[int, lamella.Tensor],
    maybe: int | None,
    flags: list[bool],
    tensors: list[lamella.Tensor],
):
    return ints, number, flag, text, counts, pair, maybe, flags, tensors


def input_of_programs():
    return lamella.arange(6, dtype=lamella.float32).reshape(3, 2) / 4


def bits_of(t):
    """Returns a tensor as the programs print it."""
    sizes = "".join(f"{n} " for n in t.shape)
    values = t.to(lamella.float32).flatten().tolist()
    return f"{sizes}:" + "".join(f" {struct.unpack('<I', struct.pack('<f', x))[0]:08x}" for x in values)


def built(source: Path, folder: Path, compiler: str, *flags) -> Path:
    own = installed()
    links = (f"-L{own}", f"-Wl,-rpath,{own}", "-llamella_run", "-llamella", "-pthread")
    done = compiles(compiler, "-std=c++17", *flags, "-I", include(), source, *links, "-o", folder / source.stem)
    assert done.returncode == 0, done.stderr
    return folder / source.stem


@pytest.fixture(scope="module", params=["g++", "clang++"])
def program(request, tmp_path_factory):
    return built(SOURCE, tmp_path_factory.mktemp("run"), request.param, *STRICT)


def saved(module, path, **options):
    lamella.jit.save(lamella.jit.script(module), path, **options)
    return path


def test_calls_and_attributes(program, tmp_path):
    layer, x = Layer(), input_of_programs()
    lines = output(program, "calls", saved(layer, tmp_path / "layer.lamella")).splitlines()
    assert lines[:4] == [bits_of(layer(x)), *[bits_of(layer(x, 3))] * 3]
    assert lines[4:8] == ["b!", "a!", "forward name weight seen Layer 1 0 1 1 0", "c! 1"]
    assert lines[8:10] == ["1 1", bits_of(layer.double()(x.double()))]
    assert lines[10:] == [
        "Layer.forward: lacks its argument 'x'",
        "Layer.forward: has no argument 'm'",
        "Layer.forward: argument 'n' has to be int, got 'three'",
        "the module has no method 'inverse'; it has forward, name",
        "class Layer has no attribute 'height'",
        "Layer has no module 'inner'",
    ]


def test_every_kind_of_value(program, tmp_path):
    lines = output(program, "kinds", saved(every_kind, tmp_path / "kinds.lamella")).splitlines()
    assert lines == ["1 2 2 1 text a=1 b=2 7 1 0 1", "IValue: expected a Tensor, got a tuple"]


def test_shared_modules_and_tensors(program, tmp_path):
    module, x = Tied(), input_of_programs()
    path = saved(module, tmp_path / "tied.lamella", _extra_files={"note": "for you"})
    lines = output(program, "tensors", path).splitlines()
    names = [n for n, _ in module.named_parameters()]
    assert lines[0] == "".join(f"{n} 1 " for n in names) + "count Linear for you"
    first, second = bits_of(module(x)), bits_of(module(x))
    assert lines[1:] == [first, second, first]


def test_a_module_that_cpp_saves_is_read_by_python(program, tmp_path):
    module, x = Tied(), input_of_programs()
    path = saved(module, tmp_path / "tied.lamella", _extra_files={"note": "for you"}, hashes=True)
    lines = output(program, "save", path, tmp_path / "after.lamella").splitlines()
    extra = {"note": "", "producer": "", "more": ""}
    after = lamella.jit.load(tmp_path / "after.lamella", _extra_files=extra, verify=True)
    assert extra == {"note": b"by the hook", "producer": b"2 graphs", "more": b"a\0b"} and after.count.tolist() == [1]
    lamella.jit.load(tmp_path / "after.lamella.plain", _extra_files=extra, verify=True)
    assert extra == {"note": b"for you", "producer": b"", "more": b""}
    assert [n for n, _ in after.named_parameters()] == [n for n, _ in module.named_parameters()]
    assert all(isinstance(p, lamella.nn.Parameter) and p.requires_grad for p in after.parameters())
    assert after.again is after.first and after.second.weight is after.first.weight
    module(x).sum().backward()
    for ours, theirs in zip(module.parameters(), after.parameters(), strict=True):
        assert (ours - ours.grad * 0.5).tolist() == theirs.tolist()
    assert lines[:2] == [bits_of(after(x))] * 2
    assert lines[2] == "Linear is a part of another module: save that one"


def test_four_threads(program, tmp_path):
    layer, x = Layer(), input_of_programs()
    lines = output(program, "threads", saved(layer, tmp_path / "layer.lamella")).splitlines()
    assert lines == [bits_of(layer(x + i, 3)) for i in range(4)]


C_PROGRAM = """
#include <lamella/run.h>
#include <stdio.h>
int main(int argc, char** argv) {
  lamella_module* net;
  lamella_value result;
  lamella_run_keyword one = {"i", {LAMELLA_INT, 0, {1}}};
  if (argc != 2) return 2;
  if (lamella_run_load(argv[1], 0, NULL, &net)) return puts(lamella_run_error()), 1;
  if (lamella_run_call(net, "name", NULL, 0, &one, 1, &result)) return puts(lamella_run_error()), 1;
  printf("%s\\n", result.as.string);
  lamella_run_api(LAMELLA_TARGET_VERSION)->value_release(&result);
  if (lamella_run_call(net, "name", NULL, 0, NULL, 0, &result)) puts(lamella_run_error());
  lamella_run_release(net);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_c_program(compiler, tmp_path):
    (tmp_path / "program.c").write_text(C_PROGRAM)
    own = installed()
    links = (f"-L{own}", f"-Wl,-rpath,{own}", "-llamella_run", "-llamella")
    command = (
        compiler,
        "-std=c99",
        *STRICT,
        "-I",
        include(),
        tmp_path / "program.c",
        *links,
        "-o",
        tmp_path / "program",
    )
    done = compiles(*command)
    assert done.returncode == 0, done.stderr
    lines = output(tmp_path / "program", saved(Layer(), tmp_path / "layer.lamella")).splitlines()
    assert lines == ["b!", "Layer.name: lacks its argument 'i'"]


def test_golden_files_are_read(program):
    files = sorted(GOLDEN.glob("*.lamella"))
    assert output(program, "errors", *files).splitlines() == [f"{file} is read" for file in files for _ in range(2)]


def test_programs_of_torch_are_read_once_they_are_saved(program, tmp_path):
    files = []
    for path in sorted(OF_TORCH.glob("*.pt*")):
        if path.stem != "missing":
            files.append(tmp_path / f"{path.name}.lamella")
            lamella.jit.load(path).save(files[-1])
    assert output(program, "errors", *files).splitlines() == [f"{file} is read" for file in files for _ in range(2)]


# ---- files that are no programs, or damaged ----


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members, hashed=True):
    index = json.loads(members["index.json"])
    for name, data in members.items() if hashed else ():
        if name in index["members"]:
            index["members"][name] = {"sha256": hashlib.sha256(data).hexdigest()}
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    for name, data in {**members, "index.json": json.dumps(index).encode()}.items():
        writer.add(name, data)
    writer.finish()
    path.write_bytes(file.getvalue())


CODE = "code/Layer.forward.graph"
# A change of the text of a graph, or of the index, and a pattern of the error.
CODES = [
    ("(%x", "(%never", f"{CODE}' .*not defined before it is used"),
    ("aten::matmul(", "aten matmul(", f"{CODE}' .* is damaged: .*expected '::'"),
    ("aten::add.Tensor(%", "aten::add.int(%", f"{CODE}', line .* is damaged"),
    ("aten::matmul(", "mine::matmul(", "operators that are not here: mine::matmul; .*'mine'"),
    ("aten::add.Tensor(", "aten::add.Never(", "not here: aten::add.Never; .*'aten' 1"),
    ("aten::matmul(", 'prim::PythonCall[name="f"](', "calls a function of Python"),
    ('name="weight"', 'name="height"', f"{CODE}', line .*'?height'?"),
    ("return", "%c : Tensor = prim::Constant[value=<data/7>]() return", "names <data/7>, and the program has 0"),
    ("# op_version 1\n", "", "does not begin with '# op_version N'"),
    ("op_version 1\n", "op_version 7\n", "version 7 of the operators; .* has version 1"),
    ("op_version 1\n", "op_version 1\ngraph() { return () } with other = ", "a member has more than one graph"),
    ("%x : Tensor", "%x : " + "(" * 100_000, "damaged"),
    ("return", "prim::If(%n) block0() {" * 10_000 + " return", "damaged"),
]
INDEXES = [
    ('"format": "lamella.program"', '"format": "other"', "its format is not 'lamella.program'"),
    ('"format": "lamella.program"', '"format": "lamella"', "is of the kind 'lamella'"),
    ('"version": 1', '"version": 9', "has version 9 of the format; this Lamella reads up to 1"),
    ('"graphs": {', '"graphs": {"x": "code/x.graph", ', "'members' has no 'code/x.graph'"),
    ('"graphs": {', '"graphs": {"a b": "code/x.graph", ', "no name of a graph"),
    ('"graphs": {', '"graphs": {"x": "data/0", ', "has to be a member in code/"),
    ('"members": {', '"members": {"code/x.graph": {}, ', "which is not there"),
    ('["weight", "Tensor"]', '["} x", "Tensor"]', "no name of an attribute"),
    ('["weight", "Tensor"]', '["weight", "} graph"]', "no type"),
    ('["weight", "Tensor"]', '["weight", "Dict(str"]', "damaged"),
    ('"result": "Tensor"', '"result": "Never"', "there is no type 'Never'"),
    ('"result": "Tensor"', '"result": "' + "(" * 100_000 + '"', "damaged"),
    ('"$tensor": 0', '"$tensor": 99', "it has no tensor 99"),
    ('["weight", {"$tensor": 0}]', '["weight", 3]', "weight' has to be Tensor"),
    ('["weight", {"$tensor": 0}], ', "", "attribute 'weight' is missing"),
    ('["weight", {"$tensor": 0}]', '["height", 1]', "no attribute 'height'"),
    ('["weight", {"$tensor": 0}]', '["weight", {"$same": 5}]', "damaged"),
    ('{"$object": "Layer"', '{"$object": "Never"', "no class 'Never'"),
    ('"constants": []}', '"constants": [["c", {"$same": 0}]]}', "nothing is numbered"),
    ("[2, 2], null", "[2, 200], null", "damaged"),
    ('"parameters": ["weight"]', '"parameters": ["names"]', "names has to be a tensor"),
    ('"modules": []', '"modules": ["names"]', "an object of a class of modules"),
    ('"enums": {', '"enums": {"E": {"original": "E", "members": [["__class__", 1]]}', "which is no plain name"),
    ('"object": ', '"other": ' + "[" * 100_000 + "]" * 100_000 + ', "object": ', "nested too deeply"),
    ('"object": ', '"object": 7, "other": ', "no object of a class"),
    ('"object": ', '"object": {"$module": ["lamella.nn", "ReLU"], "state": []}, "other": ', "a module of Python"),
    ('"sha256": "', '"sha256": "0', "has another SHA-256"),
    ("{", "{,", "it is no JSON"),
]


def test_damaged_files(program, tmp_path):
    members = members_of(saved(Layer(), tmp_path / "layer.lamella"))
    text, index = members[CODE].decode(), json.dumps(json.loads(members["index.json"]))
    patterns = []
    for i, (old, new, pattern) in enumerate(CODES):
        assert old in text, old
        write(tmp_path / f"{i:03}.lamella", {**members, CODE: text.replace(old, new, 1).encode()})
        patterns.append(pattern)
    for old, new, pattern in INDEXES:
        assert old in index, old
        path = tmp_path / f"{len(patterns):03}.lamella"
        file = io.BytesIO()
        writer = ArchiveWriter(file)
        for name, data in {**members, "index.json": index.replace(old, new, 1).encode()}.items():
            writer.add(name, data)
        writer.finish()
        path.write_bytes(file.getvalue())
        patterns.append(pattern)
    files = [tmp_path / f"{i:03}.lamella" for i in range(len(patterns))]
    lines = output(program, "errors", *files).splitlines()
    assert len(lines) == len(patterns)
    for line, pattern, file in zip(lines, patterns, files, strict=True):
        assert line.startswith("load: ") and re.search(pattern, line), (file.name, pattern, line)


def test_other_files(program, tmp_path):
    path = saved(Layer(), tmp_path / "layer.lamella")
    whole = path.read_bytes()
    files = []
    for size in range(0, len(whole), 97):
        files.append(tmp_path / f"cut{size}")
        files[-1].write_bytes(whole[:size])
    archives = TOP / "tests/plugins/graph/torch_archives"
    files += [tmp_path / "missing", tmp_path, archives / "function.pt", archives / "layers.pt2"]
    lines = output(program, "errors", *files).splitlines()
    assert len(lines) == len(files) and all(line.startswith("load: ") for line in lines)
    assert "No such file" in lines[-4] and "no plain file" in lines[-3]
    assert "function/code/__torch__.py' is compressed" in lines[-2] and "a program of torch.export.save" in lines[-1]


PIECES = [
    *(
        "%1",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        '"',
        "int",
        "Tensor",
        "Layer",
        "0",
        "-1",
        "null",
        ",",
        ":",
        "1.5",
        "true",
        "[]",
    ),
    *('{"$tensor":0}', '{"$same":0}', '{"$tuple":[]}', '{"$dict":[]}', '{"$dtype":"float32"}', "{}"),
]


@pytest.mark.filterwarnings("ignore:a tensor is read without")
def test_both_readers_refuse_the_same_files(program, tmp_path):
    """A reader in Python and one in C++ read files whose index or graph was changed at random."""
    members, random_ = members_of(saved(Layer(), tmp_path / "layer.lamella")), random.Random(41)
    files, accepted = [], []
    while len(files) < 400:
        name = random_.choice((CODE, "index.json", "index.json"))
        text = members[name].decode()
        at = random_.randrange(len(text))
        if name == "index.json" and random_.random() < 0.7:  # the place of a value
            at = text.index(":", at) + 1 if ":" in text[at:] else at
            end = re.compile(r"[,}\]]").search(text, at)
            new = text[:at] + random_.choice(PIECES) + text[end.start() if end else at :]
        else:
            new = text[:at] + random_.choice(PIECES) + text[at + random_.randrange(6) :]
        files.append(tmp_path / f"{len(files):03}.lamella")
        try:
            write(files[-1], {**members, name: new.encode()}, hashed=name == CODE)
        except ValueError:  # no JSON
            files.pop()
            continue
        try:
            lamella.jit.load(files[-1])
            accepted.append(str(files[-1]))
        except CheckpointError:
            pass
    lines = output(program, "errors", *files).splitlines()
    read = {line.removesuffix(" is read") for line in lines if line.endswith(" is read")}
    stricter = [line for line in lines if re.search("the default of 'n' has to be int", line)]  # Python: in a call
    assert read | {line.split("'")[1] for line in stricter} == set(accepted) and 10 < len(read) < 300


# ---- the examples and the page ----


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_training_in_cpp_is_training_in_python(compiler, tmp_path):
    lamella.manual_seed(3)
    net = lamella.nn.Sequential(lamella.nn.Linear(4, 8), lamella.nn.Tanh(), lamella.nn.Linear(8, 1))
    path = saved(net, tmp_path / "net.lamella")
    train = built(EXAMPLE / "train.cpp", tmp_path, compiler, "-Wall", "-Wextra", "-Werror")
    losses = [line.split()[0] for line in output(train, path, 5).splitlines()]
    x = lamella.arange(32, dtype=lamella.float32).reshape(8, 4) / 32
    y, expected = x.sum(1, True), []
    for _ in range(5):
        error = net(x) - y
        loss = (error * error).mean()
        loss.backward()
        with lamella.no_grad():
            for p in net.parameters():
                p.sub_(p.grad * 0.1)
                p.grad.zero_()
        expected.append(bits_of(loss).split()[-1])
    assert losses == expected
    values = [struct.unpack("<f", bytes.fromhex(bits)[::-1])[0] for bits in losses]
    assert values[-1] < values[0]


@pytest.mark.sweep
def test_the_page_of_the_example_holds(tmp_path):
    """Runs the commands of its README as they are; both programs print the same."""
    commands = (EXAMPLE / "README.md").read_text().split("```sh\n")[1].split("```")[0]
    for name in ("resnet.cpp", "save.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "lamella").write_text(f'#!/bin/sh\nexec {sys.executable} -m lamella "$@"\n')
    (tools / "lamella").chmod(0o755)
    lines = run("sh", "-ec", commands, cwd=tmp_path, PATH=f"{tools}:{clean_environment()['PATH']}").splitlines()
    assert len(lines) == 2 and lines[0] == lines[1] and lines[0].startswith("best ")


@pytest.mark.sweep
def test_with_cmake(tmp_path):
    run("cmake", "-S", EXAMPLE, "-B", "build", f"-DLamella_DIR={installed() / 'cmake'}", cwd=tmp_path)
    run("cmake", "--build", "build", cwd=tmp_path)
    path = saved(lamella.nn.Linear(4, 1), tmp_path / "net.lamella")
    assert len(output(tmp_path / "build/train", path, 2).splitlines()) == 2


def test_the_section_of_the_page(tmp_path):
    [source], [commands] = blocks("docs/embed.md", r"c\+\+"), blocks("docs/embed.md", "bash")
    (tmp_path / "net.cpp").write_text(source)
    net = lamella.nn.Linear(3, 2)
    saved(net, tmp_path / "net.lamella")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "lamella").write_text(f'#!/bin/sh\nexec {sys.executable} -m lamella "$@"\n')
    (tools / "lamella").chmod(0o755)
    said = run("sh", "-ec", commands, cwd=tmp_path, PATH=f"{tools}:{clean_environment()['PATH']}")
    assert said == "{:g} {:g}\n".format(*net(lamella.ones(1, 3))[0].tolist())


def test_no_python_among_the_libraries(program):
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in needed.splitlines()]
    assert "liblamella_run.so" in names and "not found" not in needed
    assert not [name for name in names if "python" in name]


def test_the_libraries_are_small():
    plugins = (installed() / "plugins").glob("*/liblamella_*.so")
    assert sum(p.stat().st_size for p in [*(installed() / name for name in LIBRARIES), *plugins]) < 24 << 20


def test_only_the_functions_of_the_header_are_exported():
    found = subprocess.run(
        ["nm", "-D", "--defined-only", installed() / "liblamella_run.so"], capture_output=True, text=True, check=True
    ).stdout
    declared = re.findall(r"(lamella_run_\w+)\(", (include() / "lamella/run.h").read_text())
    assert {line.split()[-1] for line in found.splitlines()} == set(declared) - {"lamella_run_keyword"}
