"""Uses of quantized tensors beside other layers and modes, on each device: the result is right, or there is an error
that names what is wrong. The table in docs/quantization.md is rendered from ROWS.

test_quantized_on_bank.py runs this file again on the example backends.
"""

import os
import re
from contextlib import nullcontext
from dataclasses import dataclass, field

import lamella
import matrix_rows as rows
import pytest
from matrix_uses import USES
from pages import ROOT

pytestmark = pytest.mark.needs("autograd", "quantization")
DEVICES = os.environ.get("QUANTIZED_ON", "cpu cuda" if lamella.cuda.is_available() else "cpu").split()


@dataclass(frozen=True)
class Refused:
    """The error of a cell: what the table says, its type, and patterns of which each is found in the text."""

    text: str
    error: type
    patterns: tuple


@dataclass(frozen=True)
class Row:
    """What runs beside the uses. The cells that are not in ``errors`` are right."""

    title: str
    checks: tuple
    errors: dict = field(default_factory=dict)
    needs: tuple = ()


INTEGERS = ("native", "fused", "composite", "static")
HOLDS_CODES = (*INTEGERS, "weight")
NO_GRADIENT = Refused("error: no gradient", RuntimeError, ("integers carry no gradient", "fake_quantize"))
NO_PLACE = Refused(
    "error: no place for codes", TypeError, ("save", "which torch does not read; .* format='lamella'", "'\\w+'")
)
NO_TRANSLATION = Refused(
    "error: no translation", RuntimeError, ("quantize_per_tensor", "translation to ONNX", "lamella.onnx.register")
)

ROWS = (
    Row("nothing", (rows.alone,)),
    Row("names of dimensions", (rows.names,), needs=("named_tensor",)),
    Row(
        "`backward`, with anomaly mode, with `checkpoint`",
        (rows.backward, rows.anomaly_mode, rows.checkpoint),
        dict.fromkeys(INTEGERS, NO_GRADIENT),
    ),
    Row("`no_grad`, `inference_mode`, `use_deterministic_algorithms`", (rows.no_grad, rows.deterministic)),
    Row(
        "profiles, observers, memory history, `nan_guard`",
        (rows.profile, rows.observer, rows.memory_history, rows.nan_guard),
        needs=("profiler",),
    ),
    Row(
        "`TorchFunctionMode`, `TorchDispatchMode`, layers of other packages",
        (rows.function_mode, rows.dispatch_mode, rows.python_layers, rows.example_layers),
    ),
    Row("a layer that casts to float16", (rows.autocast,)),
    Row("names, a profile, a guard, modes and a layer at once", (rows.together,), needs=("named_tensor", "profiler")),
    Row("threads, `DataLoader` workers, processes", (rows.threads, rows.workers, rows.process)),
    Row("files, safetensors, pickles, copies on other devices", (rows.files, rows.safetensors, rows.copies)),
    Row("files for torch", (rows.torch_file,), dict.fromkeys(HOLDS_CODES, NO_PLACE)),
    Row("export to ONNX", (rows.onnx,), dict.fromkeys((*INTEGERS, "fake"), NO_TRANSLATION), needs=("onnx",)),
)


def cells():
    for row in ROWS:
        marks = [pytest.mark.needs(plugin) for plugin in row.needs]
        for check in row.checks:
            for use in USES:
                yield pytest.param(check, use, row.errors.get(use), id=f"{check.__name__}-{use}", marks=marks)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("check, use, refused", list(cells()))
def test_a_cell(check, use, refused, device, tmp_path):
    case = rows.Case(use, device, tmp_path)
    if refused is None:
        check(case)
        return
    with pytest.raises(refused.error) as caught:
        check(case)
    for pattern in refused.patterns:
        assert re.search(pattern, str(caught.value)), (pattern, str(caught.value))


def table():
    """Returns the table in Markdown."""
    lines = [["beside", *(use.title for use in USES.values())], ["---"] * (len(USES) + 1)]
    for row in ROWS:
        errors = [row.errors.get(use) for use in USES]
        lines.append([row.title, *(e.text if e else "right" for e in errors)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace(" --- ", "---")


def test_the_page_has_the_table():
    page = (ROOT / "docs/quantization.md").read_text()
    assert f"\n\n{table()}\n" in page, f"docs/quantization.md lacks this table:\n{table()}"


def test_every_check_has_a_row():
    named = {check for row in ROWS for check in row.checks}
    takes_a_case = {f for f in vars(rows).values() if getattr(f, "__code__", None) and f.__module__ == rows.__name__}
    helpers = {rows.first, rows.answer, rows.written, rows.tensors_of}
    assert takes_a_case - helpers == named


def added(x, q):
    with lamella.quantization.out_scale(0.1):
        return x + q


def multiplied(x, q):
    with lamella.quantization.out_scale(0.1):
        return x * q


def written(x, q):
    q[:1] = x[:1]
    return q


PLAIN_OPERANDS = {
    "x + q": added,
    "x * q": multiplied,
    "q.copy_(x)": lambda x, q: q.copy_(x),
    "q.add_(x)": lambda x, q: q.add_(x),
    "q[:1] = x[:1]": written,
    "a quantized leaf": lambda x, q: q.requires_grad_().relu(),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("operation", PLAIN_OPERANDS)
def test_no_gradient_passes_through_quantized_results(operation, within, device):
    """A plain operand gets no gradient through codes either, nor one that out_scale rounds."""
    x = lamella.tensor([1.0, 2.0]).to(device).requires_grad_()
    q = lamella.quantize_per_tensor(lamella.tensor([0.3, -1.2]).to(device), 0.1, 0, "int8")
    made = PLAIN_OPERANDS[operation](x, q)
    assert made.is_quantized and made.requires_grad
    with pytest.raises(RuntimeError, match="integers carry no gradient.*fake_quantize"):
        with lamella.quantization.out_scale(0.25) if within else nullcontext():
            made.dequantize().sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("device", DEVICES)
def test_a_quantized_leaf_has_no_gradient(device):
    """One that is marked as requiring a gradient gets an error when that is read."""
    x = lamella.ones(2, 3).to(device)
    q = lamella.quantize_per_tensor(lamella.ones(4, 3).to(device), 0.1, 0, "int8").requires_grad_()
    (lamella.nn.functional.linear(x, q)).sum().backward()
    with pytest.raises(RuntimeError, match=r"integers carry no gradient.*requires_grad_\(False\)"):
        _ = q.grad


@pytest.mark.parametrize("defect", ["a code", "a plain result"])
def test_a_planted_wrong_result_is_reported(defect, tmp_path):
    """A module whose result has one wrong element fails the checks of all uses."""
    for use in USES:
        case = rows.Case(use, DEVICES[0], tmp_path)
        made = case.call()
        wrong = made.dequantize() if made.is_quantized and defect == "a plain result" else made.clone()
        wrong[1, 2] = -made[1, 2].item() + 1.5
        with pytest.raises(AssertionError):
            case.use.check(wrong)
