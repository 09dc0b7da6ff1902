"""Follows docs/write_a_layer.md literally: its package, its program, its table of the manifest, its C++ files."""

import doctest
import re
from pathlib import Path

import pytest
from lamella.library import Library
from lamella.plugins.manifests import MANIFEST

PAGE = (Path(__file__).resolve().parents[2] / "docs/write_a_layer.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_package(host, packages):
    module, program, *_ = blocks("python")
    (entry,) = blocks("toml")
    assert 'tally = "lamella_tally"' in entry
    made = packages("tally", module)
    made.rename(made.with_name("lamella_tally"))
    info = next(made.parent.glob("*.dist-info"))
    (info / "entry_points.txt").write_text("[lamella.plugins]\ntally = lamella_tally\n")
    assert host.run(program) == blocks("text")[0]


@pytest.mark.parametrize("number, name, lines", [(0, "counted_elements", 6), (1, "labels", 9)])
def test_the_files_in_cpp(number, name, lines, tmp_path, monkeypatch):
    text = blocks("cpp")[number]
    assert text.startswith(f"// {name}.cpp\n") and len(blocks("cpp")) == 2
    (tmp_path / f"{name}.cpp").write_text(text)
    monkeypatch.chdir(tmp_path)
    report = []
    program = blocks("python")[2 + number]
    test = doctest.DocTestParser().get_doctest(program, {}, "docs/write_a_layer.md", None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted == lines and not result.failed, "".join(report)


def test_names_of_dimensions():
    report = []
    test = doctest.DocTestParser().get_doctest(blocks("python")[4], {}, "docs/write_a_layer.md", None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted == 11 and not result.failed, "".join(report)


def test_every_key_of_the_manifest_is_there():
    section = PAGE.partition("## The manifest")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(MANIFEST)


def test_every_option_is_one_of_register_layer():
    section = PAGE.partition("## Its place")[2].partition("## The same")[0]
    options = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    import inspect

    assert len(options) == 6 and set(options) <= set(inspect.signature(Library.register_layer).parameters)
