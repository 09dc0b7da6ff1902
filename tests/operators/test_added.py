"""The changes of docs/add_an_operator.md, applied to a copy of the tree: values and gradients agree with oracles."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lamella
import pytest
from compiled import compile_library
from pages import ROOT, blocks

CHANGES = blocks("docs/add_an_operator.md", "diff")
FOLDERS = ["extensions/include", "core", "dispatcher", "operators", "plugins/autograd", "tests/operators"]
OPERATORS = {  # name: (the family's file, the function of its table)
    "logcosh": ("operators/pointwise_functions.cpp", "functions_operators"),
    "rms": ("operators/reduction.cpp", "reduction_operators"),
}
HAND_WRITTEN = 4

# Compiles the family's table from the changed tree, and registers the added operator.
SOURCE = """
#include FAMILY
#include "operators/shapes.cpp"  // its helpers are hidden in liblamella.so
LAMELLA_LIBRARY(added, m) {
  for (const lamella::operators::Declaration& d : lamella::operators::TABLE()) {
    if (std::string(d.schema.text).rfind(NAME "(", 0) != 0) continue;
    lamella_operator_def def{};
    def.size = sizeof def;
    def.schema = d.schema.text;
    def.category = d.category;
    def.forms = d.forms;
    def.infer = d.infer.run;
    def.pointwise = d.pointwise;
    m.define(def);
    if (d.composite.run) m.impl(NAME, "composite", d.composite.run);
    if (*DERIVATIVE) m.derivative(NAME, DERIVATIVE);
  }
}
"""

# A program for a child process, which uses the oracles of the changed tree.
PROGRAM = """
import sys
from pathlib import Path
import lamella
import numpy as np
from compare import differences, expected
from lamella.autograd import gradcheck
from lamella.operators.samples.parse import read
library, name, tree = sys.argv[1:]
operator = getattr(lamella.ops.load_library(library), name)
count = 0
for path in sorted(Path(tree, "operators/samples").glob("*.txt")):
    for sample in read(path):
        if sample.operator != name or sample.raises:
            continue
        args, kwargs = sample.build()
        got = operator(*args, **kwargs)
        found = [(str(got.dtype).removeprefix("lamella."), got.to(lamella.float32).numpy() if got.dtype is
                  lamella.bfloat16 else got.numpy())]
        assert not (wrong := differences(found, expected(sample))), (str(sample), wrong)
        count += 1
x = lamella.tensor(np.random.default_rng(0).normal(size=(3, 4)), requires_grad=True)
assert gradcheck(operator, (x,))
print(count)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Makes a copy of the files that the changes touch, and applies all changes."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for change in CHANGES:
        done = subprocess.run(
            ["git", "apply", "-p1", "-"], cwd=copy, input=change, text=True, capture_output=True,
            env=os.environ | {"GIT_CEILING_DIRECTORIES": str(copy.parent)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return copy


def test_few_files_are_edited():
    assert len(CHANGES) == len(OPERATORS)
    for change in CHANGES:
        edited = re.findall(r"^\+\+\+ b/(\S+)$", change, re.MULTILINE)
        assert 2 <= len(edited) <= HAND_WRITTEN, edited
        assert not any(name.endswith((".pyi", "operators.h", "tensor_methods.h")) for name in edited)


def derivative(tree, name):
    """Returns the operator's formula from the tree's derivatives, or ""."""
    text = "".join(p.read_text() for p in sorted((tree / "plugins/autograd/derivatives").glob("*.cpp")))
    found = re.search(rf'{{"{name}", "([^"]*)"}}', text)
    return found[1] if found else ""


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.long
def test_it_agrees_with_its_oracle(name, tree, tmp_path_factory):
    family, table = OPERATORS[name]
    core = Path(lamella.__file__).parent / "liblamella.so"
    library = compile_library(
        tmp_path_factory, SOURCE, f"-I{tree}", "-std=c++20", "-fvisibility=hidden", "-fopenmp-simd",
        "-include", f"{tree}/extensions/include/lamella/pointwise/functions.h",
        f'-DFAMILY="{tree}/{family}"', f"-DTABLE={table}", f'-DNAME="{name}"',
        f'-DDERIVATIVE="{derivative(tree, name)}"', f"-Wl,-rpath,{core.parent}", f"-l:{core.name}", f"-L{core.parent}",
    )  # fmt: skip
    path = os.pathsep.join(str(p) for p in (tree / "tests/operators", ROOT / "tests", ROOT / "tests/operators"))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, library, name, tree],
        env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 8
