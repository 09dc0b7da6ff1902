"""docs/operators is true: each public operator has a section, whose schemas and facts are those of the registry."""

import re
import sys
from pathlib import Path

import children
import lamella
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "operators"
sys.path.append(str(ROOT / "tests" / "backends" / "cuda"))

from standins import guest  # noqa: E402

PUBLIC = [o for o in lamella._C._operators() if o["owner"] == "lamella" and not o["private"]]


def read(folder):
    """Returns the text of each page, and in it of each section by the operator's name."""
    found = {}
    for path in sorted(folder.glob("*.md")):
        head, *sections = path.read_text().split("\n## ")
        found[path.name] = {"": head} | {s.partition("\n")[0].strip("`"): s for s in sections}
        assert len(found[path.name]) == len(sections) + 1, f"{path.name}: an operator has two sections"
    return found


PAGES = read(FOLDER)
SECTIONS = {n: text for page, found in PAGES.items() if page != "README.md" for n, text in found.items() if n}


@pytest.mark.needs("autograd")
@pytest.mark.needs("profiler")
def test_the_pages_are_true(tmp_path_factory):
    cuda, made = guest(tmp_path_factory), tmp_path_factory.mktemp("operators")
    tool = ROOT / "tools" / "operator_pages.py"
    env = cuda.env | {"LAMELLA_PLUGINS": children.OWN_PLUGINS}
    children.run(sys.executable, tool, made, cwd=cuda.folder, **env)
    want = read(made)
    old = [
        f"{page}: {name or 'its beginning'}"
        for page in sorted({*want, *PAGES})
        for name in sorted({*want.get(page, {}), *PAGES.get(page, {})})
        if want.get(page, {}).get(name) != PAGES.get(page, {}).get(name)
    ]
    assert not old, "run `make stubs`, or `python tools/operator_pages.py docs/operators`; old are\n" + "\n".join(old)
    assert all((made / page).read_text() == (FOLDER / page).read_text() for page in want)


def test_each_public_operator_has_one_section():
    assert len(SECTIONS) == sum(len(found) - 1 for page, found in PAGES.items() if page != "README.md") > 500
    named = set(SECTIONS)
    for text in SECTIONS.values():
        named |= set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\* forms: (.*)$", text, re.MULTILINE))))
    assert named == {o["name"].removeprefix("aten::") for o in PUBLIC}


def test_each_schema_is_in_the_section_of_its_operator():
    declared = [o["schema"].removeprefix("aten::") for o in PUBLIC if o["form"] == "functional"]
    for schema in declared:
        name = re.match(r"\w+", schema)[0]
        section = SECTIONS.get(name.removesuffix("_"), "") + SECTIONS.get(name, "")
        assert f"\n{schema}\n" in section, schema
    assert sum(len(re.findall(r"^\w+(?:\.\w+)?\(.*\) -> .*$", t, re.MULTILINE)) for t in SECTIONS.values()) == len(
        declared
    )


def test_each_section_has_an_example_of_the_documentation():
    docs = "\n".join(o["doc"] for o in PUBLIC)
    for name, text in SECTIONS.items():
        [example] = re.findall(r"^```pycon\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        assert example.startswith(">>> ") and example.strip() in docs, name


def test_names_are_those_by_which_python_calls_it():
    for name, text in SECTIONS.items():
        [names] = re.findall(r"^\* names: (.*)$", text, re.MULTILINE)
        for path in re.findall(r"`([\w.]+)`", names):
            place = lamella
            for part in path.removeprefix("lamella.").split("."):
                place = getattr(place, part)
            assert callable(place) or isinstance(place, property) or path in ("Tensor.real", "Tensor.imag"), (
                name,
                path,
            )


@pytest.mark.parametrize(
    "name, facts",
    [
        ("add", ["category: `pointwise`", "dims: `broadcast`", "cpu: kernel", "cuda: kernel", "gradients: yes"]),
        ("bmm", ["category: `matmul`", "cpu: kernel", "cuda: kernel", "gradients: yes"]),
        ("argmax", ["category: `reduction`", "dims: `reduce`", "cpu: kernel", "gradients: no"]),
        ("linalg_inv", ["names: `lamella.linalg.inv`", "cpu: composite", "gradients: yes"]),
        ("view", ["cpu: shape rule", "cuda: shape rule", "gradients: yes (`view`), no (`view.dtype`)"]),
        ("mul", ["also named: `multiply`, `multiply_`", "forms: `mul_`, `out=`"]),
        ("zeros", ["gradients: no"]),
    ],
)
def test_facts(name, facts):
    assert [f for f in facts if f"\n* {f}\n" not in SECTIONS[name]] == []


def test_the_index_leads_to_each_section():
    index = (FOLDER / "README.md").read_text()
    links = dict(re.findall(r"\[`(\w+)`\]\(([\w#.]+)\)", index))
    assert links == {n: f"{p}#{n}" for p, found in PAGES.items() if p != "README.md" for n in found if n}


def test_the_pages_are_small():
    assert sum(p.stat().st_size for p in FOLDER.glob("*.md")) < 450_000
