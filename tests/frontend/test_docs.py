"""Every example in the documentation runs: of operators, of public Python names, and of the README."""

import doctest
import inspect
import re
import sys
from pathlib import Path

import children
import lamella
import lamella.serialization.options
import lamella.utils.tensorboard
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


# Names whose examples compute gradients, or switch them off.
WITH_GRADIENTS = (
    "lamella.optim",
    "lamella.distributions",
    "lamella.plugins.quantization",
    "lamella.plugins.sparse.as_sparse_gradcheck",
    "lamella.plugins.sparse.mm",
    "lamella.plugins.sparse.rows_of_table",
    "lamella.plugins.transforms",
    "lamella.utils.flop_counter",
)


def with_examples(docs):
    """Returns the names whose text has examples; those of optimizers and distributions need gradients.

    If several names share a text, as the forms of an operator do, only the first is taken.
    """
    names = {}
    for name, doc in docs.items():
        if doc and ">>> " in doc:
            names.setdefault(doc, name)
    found = [(name, doc) for doc, name in names.items()]
    needs = pytest.mark.needs("autograd")
    return [pytest.param(n, d, id=n, marks=needs if n.startswith(WITH_GRADIENTS) else ()) for n, d in found]


def public_objects():
    """Returns functions and classes of the namespace, of its Python modules, and their public methods."""
    found = {"lamella": lamella}
    for module in (
        lamella,
        lamella.accelerator,
        lamella.array_api,
        lamella.array_api.fft,
        lamella.array_api.linalg,
        lamella.compiler,
        lamella.cpu,
        lamella.cuda,
        lamella.cuda.memory,
        lamella.cuda.nvtx,
        lamella.distributed,
        lamella.distributions,
        lamella.distributions.constraint_registry,
        lamella.distributions.constraints,
        lamella.distributions.relaxed_bernoulli,
        lamella.distributions.relaxed_categorical,
        lamella.distributions.utils,
        *([lamella.func] if hasattr(lamella, "vmap") else []),
        lamella.graph,
        lamella.jit,
        lamella.library,
        lamella.nn,
        lamella.nn.attention.bias,
        lamella.nn.attention.flex_attention,
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
        lamella.named,
        lamella.quantization,
        lamella.quantization.quantizer,
        lamella.sparse,
        lamella.onnx,
        lamella.onnx.errors,
        lamella.optim,
        lamella.optim.lr_scheduler,
        lamella.optim.optimizer,
        lamella.optim.swa_utils,
        lamella.plugins,
        lamella.profiler.exporters,
        lamella.serialization.options,
        lamella.testing,
        lamella.utils.benchmark,
        *([lamella.utils.checkpoint] if hasattr(lamella, "no_grad") else []),  # it needs autograd
        lamella.utils.collect_env,
        lamella.utils.data,
        lamella.utils.data._utils.collate,
        lamella.utils.data._utils.pin_memory,
        lamella.utils.dlpack,
        lamella.utils.flop_counter,
        lamella.utils.model_zoo,
        lamella.utils.module_tracker,
        lamella.utils.tensorboard,
        lamella.utils.weak,
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


def shown(program):
    """Returns what a program's comments say that it prints: those after a `print`, and comment lines below it."""
    found = re.findall(r"^ *print\(.*\)  # (.*\n(?:# .*\n)*)", program, re.MULTILINE)
    return [re.sub(r"\n#", " ", text) for text in found]


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("number", range(len(blocks("README.md"))))
def test_each_program_of_the_readme_runs_when_it_is_pasted_alone(number, tmp_path):
    program = blocks("README.md")[number]
    printed = children.run(sys.executable, "-c", program, cwd=tmp_path)
    want = shown(program)
    assert want and "".join(printed.split()) == "".join("".join(want).split())


def test_the_readme_has_the_figures_of_the_benchmarks():
    """All figures of a row of the README's first table are in one line of the page that the benchmarks wrote."""
    table = (ROOT / "README.md").read_text().partition("|---|---|---|---|\n")[2].partition("\n\n")[0].splitlines()
    lines = (ROOT / "benchmarks" / "README.md").read_text().splitlines()
    assert len(table) > 2
    for row in table:
        figures = re.findall(r"[\d.]+ (?:ns|µs|ms|s|MiB)|0\.\d+", row)
        assert len(figures) == 3 and any(all(f in line for f in figures) for line in lines), row


@pytest.mark.needs("autograd")
@pytest.mark.needs("profiler")
def test_the_readme_counts_the_names_that_are_here(tmp_path):
    page = (ROOT / "README.md").read_text()
    (tmp_path / "README.md").write_text(page)
    children.run(
        sys.executable, ROOT / "tools" / "areas.py", "README.md", cwd=tmp_path, LAMELLA_PLUGINS=children.OWN_PLUGINS
    )
    assert (tmp_path / "README.md").read_text() == page, "run `make stubs`, or `python tools/areas.py README.md`"
    rows = dict(re.findall(r"^\| (.*?) \| \d+ \| (\d+|none) \|", page, re.MULTILINE))
    assert len(rows) > 25 and rows["`nn.init`"] == "26"
    assert rows["`distributed`"] == "60"
    assert rows["`nn.attention`, `nn.parallel`"] == "5"


@pytest.mark.needs("autograd")
@pytest.mark.parametrize(
    "page",
    [
        "docs/array_api.md",
        "docs/autocast.md",
        "docs/autograd.md",
        "docs/differences.md",
        "docs/distributed.md",
        "docs/custom_operators_python.md",
        "docs/train.md",
        "docs/transforms.md",
        "docs/export_to_onnx.md",
        "docs/graphs.md",
        "docs/script.md",
        "docs/write_a_pass.md",
        "docs/named_tensors.md",
        "docs/quantization.md",
        "docs/sparse.md",
        "docs/exporters.md",
        "docs/observability.md",
        "docs/profile.md",
        "docs/watch_a_training.md",
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
