"""waiting(), opcheck and strict mode report formulas that do not compile before a call is recorded."""

import ast
import sys

import lamella
import pytest
from children import run
from lamella.extensions import build_library
from lamella.utils.cpp_extension import load_inline

SOURCE = """
LAMELLA_LIBRARY({name}, m) {{
  m.def("twice(Tensor self) -> Tensor");
  m.infer("twice", [](const lamella::Tensor& self, lamella::Output out) {{ out.like(self); }});
  m.impl("twice", "cpu", [](const lamella::Tensor& self) {{ return self * 2; }});
  m.derivative("twice", "{formula}");
}}
"""


def built(name, formula):
    before = lamella.plugins.waiting()
    ops = load_inline(name, SOURCE.format(name=name, formula=formula))
    return ops, [w for w in lamella.plugins.waiting() if w not in before]


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name, formula, words",
    [
        ("formula_operator", "self: nosuch(grad)", "nosuch"),
        ("formula_name", "self: grad * exponent", "exponent"),
        ("formula_argument", "other: grad", "other"),
        ("formula_form", "self: grad * ", "twice"),
    ],
)
def test_a_formula_that_does_not_compile(name, formula, words):
    ops, (told,) = built(name, formula)
    assert told.kind == "formula" and told.what == f"a derivative of {name}::twice"
    assert words in told.awaited and f"a derivative of {name}::twice does not compile: " in str(told)
    with pytest.raises(lamella.library.OpCheckError, match=f"test_waiting: a derivative of {name}::twice"):
        lamella.library.opcheck(f"{name}::twice", (lamella.ones(2),))
    with pytest.raises(ValueError, match=words):  # otherwise the first recorded call raises
        ops.twice(lamella.ones(2, requires_grad=True))


def test_a_formula_may_name_what_comes_later():
    ops, (told,) = built("formula_early", "self: formula_late::doubled(grad)")
    assert "formula_late::doubled" in told.awaited
    library = lamella.library.Library("formula_late", "DEF")
    library.define("doubled(Tensor x) -> Tensor")
    library.impl("doubled", lambda x: x * 2, "composite")
    assert told not in lamella.plugins.waiting()
    x = lamella.ones(2, requires_grad=True)
    ops.twice(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    library.close()


@pytest.mark.long
def test_a_formula_that_is_not_used_any_more():
    ops, (told,) = built("formula_replaced", "self: nosuch(grad)")
    library = load_inline(
        "formula_better",
        """
        LAMELLA_LIBRARY_FRAGMENT(formula_replaced, m) { m.derivative("twice", "self: grad * 2"); }
        LAMELLA_LIBRARY(formula_better, m) { m.def("there() -> int", [] { return int64_t{1}; }); }
        """,
    )
    assert library is not None and told not in lamella.plugins.waiting()
    x = lamella.ones(2, requires_grad=True)
    ops.twice(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_strict_mode_blames_who_wrote_the_formula(tmp_path):
    """A package with such a formula is set aside, even if it is loaded before the layer that compiles formulas."""
    folder = tmp_path / "acme_ops"
    folder.mkdir()
    text = SOURCE.format(name="acme_formula", formula="self: nosuch(grad)")
    (tmp_path / "acme.cpp").write_text("#include <lamella/extension.h>\n" + text)
    library = build_library("acme", [tmp_path / "acme.cpp"])
    (folder / "__init__.py").write_text(
        f"""
from lamella.plugins import hookimpl

@hookimpl
def register(ctx):
    ctx.load_library({str(library)!r})
"""
    )
    info = tmp_path / "acme_ops-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ops\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lamella.plugins]\nacme = acme_ops\n")
    program = "import lamella; print({p.name: (p.state, p.reason) for p in lamella.plugins.status()})"
    said = run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(tmp_path), LAMELLA_STRICT="1")
    shown = ast.literal_eval(said)
    assert shown["autograd"][0] == "loaded" and shown["acme"][0] == "failed", shown
    assert "nosuch" in shown["acme"][1]


def test_those_of_the_catalogue_compile():
    assert [w for w in lamella.plugins.waiting() if w.owner in ("autograd", "lamella")] == []


MEANT = {
    "self: guess::twicee(grad)": "there is no operator 'guess::twicee'; did you mean 'guess::twice'?",
    "self: twice(grad)": "there is no operator 'twice'; did you mean 'guess::twice'?",
    "self: sigmoidd(grad)": "there is no operator 'sigmoidd'; did you mean 'aten::sigmoid'?",
    "self: nothing_like_it_at_all(grad)": "there is no operator 'nothing_like_it_at_all'",
    "self: gradd * 2": "'gradd' is no argument, result or gradient of the operator; did you mean 'grad'?",
    "sel: grad * 2": "'sel' is no tensor argument of the operator; did you mean 'self'?",
    "self: erf(grad, 2)": "operator 'erf' does not take these arguments: aten::erf(Tensor self) -> Tensor",
}


def test_what_may_be_meant():
    def operator(name, formula):
        return f"""
          m.def("{name}(Tensor self) -> Tensor");
          m.infer("{name}", [](const lamella::Tensor& self, lamella::Output out) {{ out.like(self); }});
          m.impl("{name}", "cpu", [](const lamella::Tensor& self) {{ return self * 2; }});
          m.derivative("{name}", "{formula}");
        """

    source = operator("twice", "self: grad * 2") + "".join(operator(f"f{i}", text) for i, text in enumerate(MEANT))
    ops = load_inline("guess", f"LAMELLA_LIBRARY(guess, m) {{ {source} }}")
    waiting = {w.what: w.awaited for w in lamella.plugins.waiting()}
    for i, (formula, words) in enumerate(MEANT.items()):
        wrong = f'guess::f{i}: its derivative "{formula}" is wrong: {words}'
        assert waiting[f"a derivative of guess::f{i}"] == wrong
        with pytest.raises(ValueError) as caught:
            getattr(ops, f"f{i}")(lamella.ones(2, requires_grad=True))
        assert wrong in str(caught.value)
