"""Programs that cannot be scripted, with the whole message of each; they stand in wrong_programs.txt.

A program there begins at ``=== name`` and makes ``f``, a function or a module; behind ``---`` stand the class of the
error and its message.
"""

import importlib.util
import linecache
import sys
from pathlib import Path

import lamella
import pytest
from lamella.plugins.graph import script

BLOCKS = (Path(__file__).with_name("wrong_programs.txt")).read_text("utf-8").split("=== ")[1:]
PROGRAMS = {block.partition("\n")[0]: block.partition("\n")[2].split("--- ") for block in BLOCKS}


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Returns a function that makes a module of a source, in a file wrong.py of the current folder."""
    monkeypatch.chdir(tmp_path)

    def load(source):
        Path("wrong.py").write_text(source, "utf-8")
        linecache.clearcache()
        spec = importlib.util.spec_from_file_location("wrong", tmp_path / "wrong.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "wrong", module)
        spec.loader.exec_module(module)
        return module

    return load


def compiled(program):
    if isinstance(program, lamella.nn.Module):
        return script.compile_module(program)
    return script.compile_function(program)


@pytest.mark.parametrize("name", PROGRAMS)
def test_message(name, load):
    source, message = PROGRAMS[name]
    with pytest.raises(script.ScriptError) as caught:
        compiled(load(source).f)
    assert f"{type(caught.value).__name__}: {caught.value}" == message.rstrip("\n")


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 40


def test_place_is_where_python_sees_it(load):
    """The line and the column of a message are those of the node in ``ast``, for characters of several bytes, too."""
    source, message = PROGRAMS["wide_characters"]
    line = source.splitlines()[1]
    shown, mark = message.splitlines()[2], message.splitlines()[3]
    assert line.strip() == shown.strip()
    start = mark.index("^") - 4
    assert shown[4 + start : 4 + start + len(mark.strip())] == '"äöü" + s + 1'


def test_no_source():
    names = {}
    exec("def f(x):\n    return x", names)
    with pytest.raises(script.ScriptError) as caught:
        script.compile_function(names["f"])
    text = str(caught.value)
    assert text.startswith("f: there is no source: ") and "'.py' files" in text and "loading an archive" in text


def test_other_objects():
    for thing in (3, "text", lamella.relu, [1]):
        with pytest.raises(script.ScriptError, match="cannot be scripted; a function, a class and a module can"):
            script.compile_function(thing)
