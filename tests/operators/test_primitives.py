"""With only the kernels of docs/primitives.md, the whole catalogue gives the oracles' results."""

import re
from pathlib import Path

import checks
import lamella
import pytest
from catalogue import BY_TITLE, SAMPLED
from lamella.operators import samples

PAGE = (Path(__file__).resolve().parents[2] / "docs/primitives.md").read_text()
ROWS = re.findall(r"^\| (`.*?|category `.*?) \|", PAGE, re.MULTILINE)
NAMES = [n for row in ROWS for n in re.findall(r"`([\w.]+)", row)]
REDUCE = {"sum", "prod", "amax", "amin"}  # this primitive has four kinds, which count once
OPERATORS = set(NAMES) - {"pointwise"}


def is_primitive(title):
    return title in OPERATORS or BY_TITLE[title]["category"] == "pointwise"


def on_the_host(title):
    """Returns whether the operator is one of linear algebra, which runs by the host fallback without its kernels."""
    return BY_TITLE[title]["category"] == "linalg"


@pytest.fixture(scope="module", autouse=True)
def nothing_but_primitives():
    """Disables every other kernel of the cpu, and forbids the fallback."""
    native = {op.removeprefix("aten::") for op, kind in lamella._C._support("cpu") if kind == "native"}
    others = sorted("aten::" + t for t in native & BY_TITLE.keys() if not (is_primitive(t) or on_the_host(t)))
    lamella.set_fallback("error")
    try:
        with lamella.library.kernels_disabled(others, "cpu"):
            yield others
    finally:
        lamella.set_fallback("allow")


def test_the_page_counts_at_most_thirty():
    assert "pointwise" in NAMES and REDUCE <= {n.partition(".")[0] for n in NAMES}
    assert len({"reduce" if n.partition(".")[0] in REDUCE else n for n in NAMES}) <= 30


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_it_exists(name):
    assert name in BY_TITLE


def test_nothing_else_is_native(nothing_but_primitives):
    assert len(nothing_but_primitives) > 50
    native = [op.removeprefix("aten::") for op, kind in lamella._C._support("cpu") if kind == "native"]
    assert [t for t in native if t in BY_TITLE and not (is_primitive(t) or on_the_host(t))] == []
    kinds = {kind for op, kind in lamella._C._support("cpu") if op.removeprefix("aten::") in BY_TITLE}
    assert kinds == {"native", "composite", "shape rule"}


@pytest.mark.sweep
@pytest.mark.parametrize("operator", [t for t in SAMPLED if not is_primitive(t)])
def test_values(operator):
    # Composites of maths functions round differently from kernels: their tolerance is that of numbers of size 1.
    size = float(BY_TITLE[operator]["category"] == "random")
    found = [f"{s}: {what}" for s in samples.of(operator) for what in checks.value_faults(s, size=size)]
    assert not found, f"{len(found)} faults\n" + "\n".join(found[:12])
