"""Follows docs/write_a_layer.md literally: its package, its program, its table of the manifest, its C++."""

import doctest
import re
from pathlib import Path

from lamella.library import Library
from lamella.plugins.manifests import MANIFEST

PAGE = (Path(__file__).resolve().parents[2] / "docs/write_a_layer.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_package(host, packages):
    module, program, _ = blocks("python")
    (entry,) = blocks("toml")
    assert 'tally = "lamella_tally"' in entry
    made = packages("tally", module)
    made.rename(made.with_name("lamella_tally"))
    info = next(made.parent.glob("*.dist-info"))
    (info / "entry_points.txt").write_text("[lamella.plugins]\ntally = lamella_tally\n")
    assert host.run(program) == blocks("text")[0]


def test_the_layer_in_cpp(tmp_path, monkeypatch):
    (text,) = blocks("cpp")
    (tmp_path / "counted_elements.cpp").write_text(text)
    monkeypatch.chdir(tmp_path)
    report = []
    test = doctest.DocTestParser().get_doctest(blocks("python")[2], {}, "docs/write_a_layer.md", None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted == 6 and not result.failed, "".join(report)


def test_every_key_of_the_manifest_is_there():
    section = PAGE.partition("## The manifest")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(MANIFEST)


def test_every_option_is_one_of_register_layer():
    section = PAGE.partition("## Its place")[2].partition("## The same")[0]
    options = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    import inspect

    assert len(options) == 6 and set(options) <= set(inspect.signature(Library.register_layer).parameters)
