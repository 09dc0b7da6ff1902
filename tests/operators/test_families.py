"""Families are complete without a list of them: each file's declarations are registered, a family's list of structs is
complete, and an oracle is entered once."""

import os
import re
import subprocess

import lamella
import pytest
from oracles.base import ORACLES, entries
from pages import ROOT

INCLUDE = ROOT / "extensions/include"
SHOWN = {name: lamella._C._show(name) for name, _ in lamella._C._operator_names()}
DECLARED = {o["file"] for o in lamella._C._operators() if o["owner"] == "lamella"}


def files(folder, block):
    """Returns the files of a folder that have a block of registrations."""
    found = [
        p for p in sorted((ROOT / folder).glob("*.cpp")) if re.search(rf"^{re.escape(block)}", p.read_text(), re.M)
    ]
    assert found, f"no file of {folder} has {block}"
    return [pytest.param(p, id=p.name) for p in found]


@pytest.mark.parametrize("path", files("operators", "LAMELLA_FAMILY("))
def test_a_family_has_operators(path):
    pointwise = path.stem.removeprefix("pointwise_")
    own = f"operators/{path.name}" if pointwise == path.stem else f"extensions/include/lamella/pointwise/{pointwise}.h"
    assert own in DECLARED


HEADERS = [p for p in (INCLUDE / "lamella/pointwise").glob("*.h") if " Family<" in p.read_text()]


LIST = re.compile(r"(=\s*Family<[\w\s,]+),\s*(\w+)>;")  # groups: all but the last declaration, and the last


def forgotten(text):
    """Returns the declared operators that the lists of their families lack, and that would silently be missing."""
    members = {name for found in LIST.findall(text) for part in found for name in re.findall(r"\w+", part)}
    return set(re.findall(r"\bstruct (\w+) : [^{]*\{\s*static constexpr Signature signatures", text)) - members


@pytest.mark.parametrize("header", HEADERS, ids=lambda p: p.name)
def test_a_declaration_stands_in_its_family(header):
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-E", "-P", f"-I{INCLUDE}", header]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert forgotten(text) == set()
    assert forgotten(LIST.sub(r"\1>;", text)) == {last for _, last in LIST.findall(text)}


@pytest.mark.parametrize("path", files("backends/cpu", "LAMELLA_LIBRARY_IMPL("))
def test_a_file_of_kernels_has_kernels(path):
    kernel = f" cpu backends/cpu/{path.name}:"
    assert any(kernel in text for text in SHOWN.values())


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("path", files("plugins/autograd/derivatives", "LAMELLA_LIBRARY_FRAGMENT(autograd, m)"))
def test_a_table_of_derivatives_is_added(path):
    text = path.read_text()
    for table, first in re.findall(r"^constexpr Line (\w+)\[\] = \{[^{]*\{\"(\w+)", text, re.M):
        assert f"add_derivatives(m, {table});" in text
        assert "autograd (rule)" in SHOWN[f"aten::{first}"]


def test_an_operator_has_one_oracle():
    before = ORACLES["add"]
    with pytest.raises(ValueError, match="have an oracle already: add, mul"):
        entries(add=None, mul=None)
    assert ORACLES["add"] is before
