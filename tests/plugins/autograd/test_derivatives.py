"""Every derivative against finite differences, over the catalogue's samples, to second order; and none is missing."""

import re
from contextlib import contextmanager

import lamella
import pytest
from gradient_sweep import (
    CONSTANT,
    COUNTS,
    DECLARED,
    DRAWS,
    LIVE,
    REFUSED,
    ROUNDED,
    SAMPLED,
    UNKNOWN,
    Case,
    cases,
    faults,
)
from lamella.operators import samples


@pytest.mark.sweep
@pytest.mark.parametrize("operator", [t for t in SAMPLED if t not in DECLARED])
def test_against_differences(operator):
    found = [text for s in cases(operator) for text in faults(s) or ()]
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:6])


def test_what_is_declared_has_no_history():
    x = lamella.ones(2, requires_grad=True)
    assert set(DECLARED) == {
        *("detach", "view.dtype", "_int_linear", "_weight_linear", "_scale_gradient"),
        *("detach_copy", "view_copy.dtype", *COUNTS),
        *DRAWS,
        *ROUNDED,
        *REFUSED,
        *UNKNOWN,
    }
    assert not x.detach().requires_grad
    assert not x.view(lamella.int32).view(lamella.float32).requires_grad


@pytest.mark.long
def test_what_is_compared():
    """Each operator over floating numbers is compared for at least one sample."""
    floating = [t for t in SAMPLED if t not in DECLARED and any(gives_numbers(s) for s in cases(t))]
    alone = [t for t in floating if not any(faults(s) is not None for s in cases(t))]
    assert alone == []
    assert len(floating) > 480


def gives_numbers(sample):
    case = Case(sample)
    return bool(case.inputs) and case.values() is not None


@pytest.mark.parametrize("operator", ["cross_entropy", "nll_loss"])
def test_class_weights_have_no_derivative(operator):
    call = samples.call(operator)
    weight = lamella.rand(3, requires_grad=True)
    loss = call(lamella.randn(2, 3, requires_grad=True), lamella.tensor([0, 2]), weight)
    with pytest.raises(NotImplementedError, match="with respect to argument 'weight' is not implemented"):
        loss.backward()
    assert "weight" in CONSTANT[operator]


# ---- the lists -------------------------------------------------------------------------------------------------------


def answer(title):
    """Returns how the layer serves a call: "rule", "decomposed", "through", "fallback", or "kernel" for its own."""
    for block in re.split(r"\n(?=aten::)", lamella._C._show(f"aten::{title}")):
        if block.startswith(f"aten::{title}("):
            (found,) = re.findall(r"layer +\d+ autograd +(\S+)(?: (.*))?", block)
            return found[1].strip("()") or "kernel"
    raise LookupError(title)


IN_PLACE = ("t_", "transpose_", "swapaxes_", "squeeze_", "unsqueeze_", "as_strided_")


def test_no_operator_is_left_out():
    """Each operator has a rule, which may be `none`, or decomposes; the layer has kernels of its own for operators that
    give a tensor another geometry."""
    takes_tensors = [t for t, o in LIVE.items() if o["form"] != "out" and any("Tensor" in a["type"] for a in o["args"])]
    by = {t: answer(t) for t in takes_tensors}
    unknown = [t for t in UNKNOWN if not t.startswith("linalg_")]  # those decompose
    assert sorted(t for t, how in by.items() if how == "fallback") == sorted(unknown)
    assert [t for t, how in by.items() if how == "through"] == ["_materialize", "detach", "set_data"]
    geometry = [*(t for t in by if t.partition(".")[0] in IN_PLACE), *REFUSED]
    assert sorted(t for t, how in by.items() if how == "kernel") == sorted(geometry) and len(geometry) == 12
    assert set(by.values()) == {"rule", "decomposed", "through", "kernel", "fallback"}


# ---- planted defects -------------------------------------------------------------------------------------------------


@contextmanager
def forward_altered(operator, alter):
    """Alters the operator's results inside the block, so that its derivative is wrong."""

    def handler(call, *args, **kwargs):
        result = call(*args, **kwargs)
        if f"{call.name}.{call.overload}".strip(".") == f"aten::{operator}":
            with layer.off(), lamella.no_grad():
                alter(result)
        return result

    layer = lamella.library.register_layer("altered", handler)
    try:
        yield layer
    finally:
        layer.remove()


@pytest.mark.parametrize("operator", ["sin", "log", "gather", "index_select"])
@pytest.mark.parametrize(
    "alter",
    [lambda r: r.mul_(1.01), lambda r: r.neg_(), lambda r: r.add_(r * r * 0.01)],
    ids=["factor", "sign", "curve"],
)
def test_the_sweep_reports_a_wrong_derivative(operator, alter):
    usual = [s for s in cases(operator) if all(0 not in x.shape for x in s.specs())]
    assert faults(usual[0]) == []
    with forward_altered(operator, alter) as layer, layer.on():
        assert faults(usual[0])
