"""Every example in the documentation runs: of operators, of public Python names, and of the README."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import lamella
import pytest
from lamella.nn.utils import prune

ROOT = Path(__file__).resolve().parents[2]
OPERATORS = {o["schema"].partition("(")[0]: o["doc"] for o in lamella._C._operators() if o["doc"]}
PARSER = doctest.DocTestParser()


def run(text, name):
    """Runs a text's examples, with `lamella` imported."""
    report = []
    test = PARSER.get_doctest(text, {"lamella": lamella}, name, None, 0)
    assert test.examples, f"{name}: no example"
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert result.attempted and not result.failed, "".join(report)


def with_examples(docs):
    """Returns the names whose text has examples; those of optimizers and distributions need gradients.

    If several names share a text, as the forms of an operator do, only the first is taken.
    """
    names = {}
    for name, doc in docs.items():
        if doc and ">>> " in doc:
            names.setdefault(doc, name)
    found = [(name, doc) for doc, name in names.items()]
    needs, heavy = pytest.mark.needs("autograd"), ("lamella.optim", "lamella.distributions")
    return [pytest.param(n, d, id=n, marks=needs if n.startswith(heavy) else ()) for n, d in found]


def public_objects():
    """Returns functions and classes of the namespace, of its Python modules, and their public methods."""
    found = {"lamella": lamella}
    for module in (
        lamella,
        lamella.accelerator,
        lamella.compiler,
        lamella.cpu,
        lamella.cuda,
        lamella.distributed,
        lamella.distributions,
        lamella.func,
        lamella.jit,
        lamella.library,
        lamella.nn,
        lamella.nn.functional,
        lamella.nn.init,
        lamella.nn.modules.module,
        lamella.nn.parallel,
        lamella.nn.parameter,
        lamella.nn.utils,
        lamella.nn.utils.parametrizations,
        lamella.nn.utils.parametrize,
        prune,
        lamella.nn.utils.stateless,
        lamella.onnx,
        lamella.onnx.errors,
        lamella.optim,
        lamella.optim.lr_scheduler,
        lamella.optim.optimizer,
        lamella.optim.swa_utils,
        lamella.plugins,
        lamella.profiler.exporters,
        lamella.testing,
        lamella.utils.data,
        lamella.utils.data._utils.collate,
        lamella.utils.data._utils.pin_memory,
    ):
        for name in dir(module):
            o = getattr(module, name)
            ours = (getattr(o, "__module__", None) or "").startswith("lamella")
            if not name.startswith("_") and ours and (inspect.isroutine(o) or inspect.isclass(o)):
                found[f"{module.__name__}.{name}"] = o
    for path, o in list(found.items()):
        if inspect.isclass(o):
            members = {n: m for n, m in vars(o).items() if callable(m) or isinstance(m, property)}
            found.update({f"{path}.{n}": m for n, m in members.items() if not n.startswith("_")})
    return {path: inspect.getdoc(o) for path, o in found.items()}


PUBLIC = public_objects()


@pytest.mark.parametrize("name, doc", with_examples(OPERATORS))
def test_operators(name, doc):
    run(doc, name)


@pytest.mark.parametrize("name, doc", with_examples(PUBLIC))
def test_public_names(name, doc):
    run(doc, name)


def test_every_public_operator_has_an_example():
    ours = [o for o in lamella._C._operators() if o["owner"] == "lamella"]
    names = {o["name"] for o in ours if not o["private"] and o["form"] == "functional"}
    shown = {o["name"] for o in lamella._C._operators() if ">>> " in o["doc"]}
    assert len(names) > 50 and not names - shown


def test_every_public_name_is_documented():
    silent = [path for path, doc in PUBLIC.items() if not doc]
    assert len(PUBLIC) > 100 and not silent


def blocks(page):
    return re.findall(r"^```(?:python|pycon|py)\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def test_readme_examples():
    for i, block in enumerate(b for b in blocks("README.md") if ">>> " in b):
        run(block, f"README.md, example {i + 1}")


@pytest.mark.needs("autograd")
def test_readme_programs():
    """The README's examples run one after the other in a new interpreter, as if a reader pasted them."""
    programs = [b for b in blocks("README.md") if ">>> " not in b]
    assert programs, "README.md shows no program"
    found = subprocess.run([sys.executable, "-c", "\n".join(programs)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


@pytest.mark.needs("autograd")
@pytest.mark.parametrize(
    "page",
    [
        "docs/autograd.md",
        "docs/differences.md",
        "docs/custom_operators_python.md",
        "docs/train.md",
        "docs/export_to_onnx.md",
        "docs/exporters.md",
        "docs/observability.md",
        "docs/profile.md",
    ],
)
def test_pages(page):
    """A page's examples are one session."""
    run("\n".join(blocks(page)), page)


@pytest.mark.parametrize("page, folder", [("docs/architecture.md", "."), ("docs/autograd.md", "plugins/autograd")])
def test_pages_lead_to_files_that_are_there(page, folder):
    """For each `file`: `name` in a page, the file exists and contains the name."""
    text = (ROOT / page).read_text()
    sources = {
        p.relative_to(ROOT / folder).as_posix(): p for p in (ROOT / folder).rglob("*.*") if "build" not in p.parts
    }
    named = re.findall(r"`([\w/]+\.(?:cpp|h|py))`: ((?:`[\w:]+`(?:, | → |))+)", text)
    assert len(named) > 10
    for file, names in named:
        source = sources[file] if file in sources else ROOT / file
        beside = source.with_suffix(".cpp")
        content = source.read_text() + (beside.read_text() if source.suffix == ".h" and beside.exists() else "")
        for name in re.findall(r"`([\w:]+)`", names):
            assert name.rpartition("::")[2] in content, f"{page}: {file} has no {name}"


def test_the_worked_example_has_the_formulas_of_the_table():
    """docs/autograd.md quotes derivatives."""
    lines = "".join(p.read_text() for p in (ROOT / "plugins" / "autograd" / "derivatives").glob("*.cpp"))
    quoted = re.findall(r"^\| `\w+Backward0` \| `(.*?)` \|", (ROOT / "docs/autograd.md").read_text(), re.MULTILINE)
    assert len(quoted) == 3 and all(f'"{formula}"' in lines for formula in quoted)
