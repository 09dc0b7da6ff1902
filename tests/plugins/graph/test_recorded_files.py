"""Tests that the files of torch_graphs/ and torch_archives/ are whole, small, and without names of folders."""

import json
import re
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
GRAPHS = sorted((HERE / "torch_graphs").glob("*.txt"))
ARCHIVES = sorted((HERE / "torch_archives").glob("*.pt*"))
CALLS = json.loads((HERE / "torch_archives" / "archives.json").read_text())
# A folder, as torch writes it into debug information, or an address.
OF_A_MACHINE = re.compile(r"(?<![\w.>])/(work|root|home|tmp|usr|opt)/|0x[0-9a-f]{6}")


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_graph_is_one_of_torch(path):
    text = path.read_text()
    assert text.startswith("graph(") and "  return (" in text
    assert OF_A_MACHINE.search(text) is None


def test_graphs_have_each_form_that_torch_prints():
    texts = "".join(path.read_text() for path in GRAPHS)
    forms = """prim::If prim::Loop prim::Constant[ prim::GetAttr[ prim::SetAttr[ prim::CallMethod[ prim::CallFunction(
    prim::ListConstruct prim::ListUnpack prim::TupleConstruct prim::TupleUnpack prim::TupleIndex prim::DictConstruct
    prim::Print prim::RaiseException prim::Uninitialized prim::CreateObject prim::fork prim::Enter prim::unchecked_cast
    prim::isinstance NamedTuple( Union( Enum< InterfaceType< Future[ Dict( strides=[ scope: block0 block1 ->
    CPUFloatType annotate( aten::wait aten::format prim::device prim::RequiresGradCheck[ with""".split()
    assert [form for form in forms if form not in texts] == []
    assert len(GRAPHS) >= 40


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.name)
def test_archive_is_whole_and_has_recorded_calls(path):
    assert path.stat().st_size < 20_000
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        texts = [archive.read(name).decode("latin-1") for name in archive.namelist()]
    assert not any(OF_A_MACHINE.search(text) for text in texts)
    assert CALLS[path.name] and all(set(call) == {"method", "inputs", "result"} for call in CALLS[path.name])


def test_each_recorded_call_has_its_archive():
    assert sorted(CALLS) == [path.name for path in ARCHIVES]
