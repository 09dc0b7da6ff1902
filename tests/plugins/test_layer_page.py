"""Follows docs/write_a_layer.md and docs/state_on_a_tensor.md literally: package, programs, C++ files and tables."""

import doctest
import inspect
import re

import lamella
import numpy as np
import pytest
from lamella.library import Library
from lamella.plugins.manifests import MANIFEST
from pages import ROOT, blocks

PAGE, STATES = "docs/write_a_layer.md", "docs/state_on_a_tensor.md"
TEXT = (ROOT / PAGE).read_text()
FILES = {
    "counted_elements": (PAGE, 6),
    "labels": (STATES, 9),
    "unit": (STATES, 8),
    "eight_bits": (STATES, 12),
}  # by name: the page and the number of lines that its example runs


def follow(page, word, lines):
    """Runs the one example of a page that has a word."""
    [program] = [b for b in blocks(page, "python") if word in b and ">>>" in b]
    report = []
    test = doctest.DocTestParser().get_doctest(program, {}, page, None, 0)
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert result.attempted == lines and not result.failed, "".join(report)


def test_the_package(host, packages):
    module, program, *_ = blocks(PAGE, "python")
    (entry,) = blocks(PAGE, "toml")
    assert 'tally = "lamella_tally"' in entry
    made = packages("tally", module)
    made.rename(made.with_name("lamella_tally"))
    info = next(made.parent.glob("*.dist-info"))
    (info / "entry_points.txt").write_text("[lamella.plugins]\ntally = lamella_tally\n")
    assert host.run(program) == blocks(PAGE, "text")[0]


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("name", FILES)
def test_the_files_in_cpp(name, tmp_path, monkeypatch):
    page, lines = FILES[name]
    [text] = [b for b in blocks(page, "cpp") if b.startswith(f"// {name}.cpp\n")]
    (tmp_path / f"{name}.cpp").write_text(text)
    monkeypatch.chdir(tmp_path)
    follow(page, f'load("{name}"', lines)


def test_no_file_is_left_out():
    assert len(blocks(PAGE, "cpp") + blocks(STATES, "cpp")) == len(FILES)
    assert len(blocks(PAGE, "python") + blocks(STATES, "python")) == len(FILES) + 4  # those that tests name below


@pytest.mark.needs("autograd")
def test_a_layer_that_casts():
    follow(PAGE, "bfloat16", 11)


def test_names_of_dimensions():
    follow(PAGE, "register_dim_resolver", 13)


def test_every_anchor_is_there_outermost_first():
    section = TEXT.partition("## Its place")[2].partition("`outside`")[0]
    library = Library("anchors", "FRAGMENT")
    with pytest.raises(ValueError, match="the anchors are ") as error:
        library.register_layer("lost", print, at="nowhere")
    library.close()
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == str(error.value).rpartition("are ")[2].split(", ")


def test_every_way_to_carry_is_there():
    section = (ROOT / STATES).read_text().partition("## Views and copies carry the state")[2].partition("##")[0]
    header = (ROOT / "extensions/include/lamella/state.h").read_text()
    ways = re.findall(r"^  (LAMELLA_CARRY_\w+) = \d", header, re.MULTILINE)
    assert len(ways) >= 6 and re.findall(r"^\| `(LAMELLA\w+)` \|", section, re.MULTILINE) == ways


def calls_with_times():
    given = {"as_tensor": [1], "asarray": [1], "from_numpy": np.ones(1), "frombuffer": bytearray(8), "tensor": [1.0]}
    more = {"frombuffer": {"dtype": lamella.float64}}
    return {
        name: lambda name=name: getattr(lamella, name)(given[name], **more.get(name, {}), times=2) for name in given
    }


@pytest.fixture
def times():
    library = Library("times", "FRAGMENT")
    library.register_keyword("times", lambda tensor, value: tensor.add_(value))
    yield
    library.close()


@pytest.mark.parametrize("name", ["as_tensor", "asarray"])
def test_what_takes_no_keywords(name, times):
    assert "`as_tensor` and `asarray` take none" in TEXT
    with pytest.raises(TypeError, match="keyword"):
        calls_with_times()[name]()


@pytest.mark.parametrize(("name", "result"), [("from_numpy", 3), ("frombuffer", 2), ("tensor", 3)])
def test_what_takes_keywords(name, result, times):
    assert calls_with_times()[name]().tolist() == [result]


def test_every_key_of_the_manifest_is_there():
    section = TEXT.partition("## The manifest")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(MANIFEST)


def test_every_option_is_one_of_register_layer():
    section = TEXT.partition("| option of `register_layer`")[2].partition("## The same")[0]
    options = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert len(options) == 6 and set(options) <= set(inspect.signature(Library.register_layer).parameters)
