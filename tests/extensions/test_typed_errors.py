"""Operators in C++: calls and registrations that are refused, and exceptions that become errors."""

import re
import shutil
import subprocess
from pathlib import Path

import lamella
import pytest
from compiled import INCLUDE, STRICT, compile_library, load
from lamella.extensions import CompileError, build_library

ops = lamella.ops
HERE = Path(__file__).resolve().parent
HEAD = "#include <lamella/extension.h>\nusing namespace lamella;\n"


@pytest.fixture(scope="module", autouse=True)
def typed(tmp_path_factory):
    load(compile_library(tmp_path_factory, HERE / "typed.cpp", "-DWITH_LAYER", *STRICT))


THROWN = {
    "runtime": (RuntimeError, "thrown here"),
    "memory": (lamella.OutOfMemoryError, "out of memory"),
    "number": (RuntimeError, "unknown exception"),
    "value": (ValueError, "a value"),
    "undefined": (RuntimeError, "this tensor is undefined"),
    "undefined operator": (TypeError, "add: argument 'self' must be Tensor, got None"),
    "undefined element": (TypeError, "cat: argument 'tensors' must be .* got a list with a null"),
    "dtype": (TypeError, "the elements are float32, not float64"),
    "size": (IndexError, r"dimension 2 is out of range for a tensor of shape \[2, 3\]"),
    "operator": (RuntimeError, r"shapes \(2,\) .* and \(3,\) .* do not broadcast"),
    "device": (RuntimeError, "no backend 'nowhere'"),
    "item": (RuntimeError, "item"),
    "meta": (NotImplementedError, "device meta has a shape and no elements"),
    "dispatch": (NotImplementedError, "dispatch: not implemented for dtype int64"),
    "index": (IndexError, r"index 3 of \[1, 2\]"),
    "type": (TypeError, r"expected false \(.*:\d+\)"),
    "not implemented": (NotImplementedError, "not 1.5 true"),
    "what": (RuntimeError, "unknown: what"),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("in_parallel", [False, True])
@pytest.mark.parametrize("what", THROWN)
def test_what_is_thrown_becomes_its_exception(what, in_parallel, threads):
    lamella.set_num_threads(threads)
    kind, message = THROWN[what]
    with pytest.raises(kind, match=message):
        ops.typed.fails(what, in_parallel)
    assert ops.typed.count(0) > 0  # a later call works


def test_an_error_that_was_caught_is_over():
    assert ops.typed.survives(lamella.ones(3)) == "true 3"


@pytest.mark.parametrize("caught", [False, True])
def test_an_exception_of_python_passes_through_cpp_as_it_is(caught):
    raised = KeyError("from Python")

    def fail(x):
        raise raised

    library = lamella.library.Library("typed_python", "DEF")
    library.define("fail(Tensor x) -> Tensor")
    library.impl("fail", fail, "composite")
    try:
        with pytest.raises(KeyError) as found:
            ops.typed.through(lamella.ones(1), caught)
        assert found.value is raised
    finally:
        library.close()
    with pytest.raises(RuntimeError, match="no operator typed_python::fail"):
        ops.typed.through(lamella.ones(1), caught)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda t: t.scaled(lamella.ones(1)), TypeError),
        (lambda t: t.scaled(lamella.ones(1), 1.0, 2), TypeError),
        (lambda t: t.scaled(None, 1.0), TypeError),
        (lambda t: t.count("many"), TypeError),
        (lambda t: t.count(), TypeError),
    ],
)
def test_wrong_arguments(call, kind):
    with pytest.raises(kind):
        call(ops.typed)


# ---- wrong registrations -------------------------------------------------------------------------------------------

MISFITS = {
    "schema": ('m.def("f(Tensor self -> Tensor");', ValueError, ["schema: expected", "column", "^"]),
    "type": (
        'm.def("f(Tensor self, int n) -> Tensor", [](const Tensor& x, double) { return x; });',
        TypeError,
        ["does not fit the schema", "f(Tensor self, int n) -> Tensor", "Tensor (const Tensor&, double)",
         "argument 'n': int is int64_t, the function takes double"],
    ),
    "optional": (
        'm.def("f(Tensor self, int? n) -> Tensor", [](const Tensor& x, int64_t) { return x; });',
        TypeError,
        ["argument 'n': int? is std::optional<int64_t>, the function takes int64_t"],
    ),
    "list": (
        'm.def("f(Tensor[] all) -> Tensor", [](const Tensor& x) { return x; });',
        TypeError,
        ["argument 'all': Tensor[] is TensorList, the function takes const Tensor&"],
    ),
    "arity": (
        'm.def("f(Tensor self) -> Tensor", [](const Tensor& x, int64_t, bool) { return x; });',
        TypeError,
        ["the schema has 1 argument, the function takes 3", "Tensor (const Tensor&, int64_t, bool)"],
    ),
    "left_out": (
        'm.def("f(Tensor self, int n=1) -> Tensor", [](const Tensor& x) { return x; });',
        TypeError,
        ["the schema has 2 arguments, the function takes 1"],
    ),
    "results": (
        'm.def("f(Tensor self) -> (Tensor, Tensor)", [](const Tensor& x) { return x; });',
        TypeError,
        ["the schema has 2 results, the function returns 1"],
    ),
    "result": (
        'm.def("f(Tensor self) -> int", [](const Tensor& x) { return x; });',
        TypeError,
        ["result 0: int, the function returns Tensor"],
    ),
    "void": (
        'm.def("f(Tensor self) -> Tensor", [](const Tensor&) {});',
        TypeError,
        ["the schema has 1 result, the function returns 0", "void (const Tensor&)"],
    ),
    "void_list": (
        'm.def("f(Tensor self) -> Tensor[]"); m.impl("f", "cpu", [](const Tensor&, TensorList) {});',
        TypeError,
        ["the schema has 1 argument, the function takes 2"],
    ),
    "void_composite": (
        'm.def("f(Tensor self) -> Tensor"); m.infer("f", [](const Tensor& x, Output out) { out.like(x); });'
        'm.impl("f", "composite", [](const Tensor&, const Tensor&) {});',
        TypeError,
        ["the schema has 1 argument, the function takes 2"],
    ),
    "void_call": (
        '(void)m; Operator<void(const Tensor&, const Tensor&)>("aten::neg");',
        TypeError,
        ["the schema has 1 argument, the function takes 2"],
    ),
    "written": (
        'm.def("f(Tensor self) -> Tensor", [](Tensor& x) { return x; });',
        TypeError,
        ["argument 'self': Tensor is const Tensor&, the function takes Tensor&"],
    ),
    "rule": (
        'm.def("f(Tensor self) -> Tensor"); m.infer("f", [](const Tensor&, int64_t, Output) {});',
        TypeError,
        ["infer: the C++ function does not fit"],
    ),
    "unknown": ('m.impl("nobody", [](const Tensor& x) { return x; });', RuntimeError, ["no operator", "nobody"]),
    "twice": (
        'm.def("f(Tensor self) -> Tensor"); m.def("f(Tensor self) -> Tensor");',
        RuntimeError,
        ["already defined by first owner"],
    ),
    "thrown": ('(void)m; throw std::runtime_error("in a block");', RuntimeError, ["in a block"]),
    "undefined": ("(void)m; Tensor().dim();", RuntimeError, ["undefined"]),
    "conflict": ('m.def("aten::abs(Tensor self) -> Tensor");', RuntimeError, ["defined by lamella", "first owner"]),
    "category": ('m.impl_category("pointwise", nullptr);', RuntimeError, ["LAMELLA_LIBRARY_IMPL"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def misfits(tmp_path_factory):
    """Compiles all of them into one library; the variable MISFIT selects the one that registers."""
    blocks = "".join(
        f'LAMELLA_LIBRARY(misfit_{name}, m) {{ if (std::getenv("MISFIT") == std::string("{name}")) {{ {body} }} }}\n'
        for name, (body, *_) in MISFITS.items()
    )
    head = f'#define LAMELLA_PLUGIN_NAME "first owner"\n#include <cstdlib>\n#include <stdexcept>\n{HEAD}'
    return compile_library(tmp_path_factory, head + blocks, "-O0")


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_refused_and_leaves_nothing(name, misfits, monkeypatch):
    _, kind, messages = MISFITS[name]
    monkeypatch.setenv("MISFIT", name)
    with pytest.raises(kind) as caught:
        load(misfits)
    for message in messages:
        assert message in str(caught.value)
    assert not [o for o in lamella._C._operators() if o["name"].startswith(f"misfit_{name}::")]


BAD_SOURCES = {
    "int": ('m.def("f(int n) -> int", [](int n) { return n; });', "Parameter<int>", "int is int64_t"),
    "float": ('m.def("f(float x) -> int", [](float) { return int64_t{1}; });', "Parameter<float>", "float is double"),
    "result": ('m.def("f() -> int", [] { return 1; });', "Results<int>", "no type of a schema is this result's"),
    "output before": ('m.infer("f", [](Output o, const Tensor& x) { o.like(x); });', "Output", "last parameters are"),
    "no output": ('m.infer("f", [](const Tensor&) {});', "Rule<", "last parameters are"),
    "a reference": ('Operator<Tensor&(Tensor)> f("f"); f(Tensor());', "Tensor&", "is a value: Tensor, not Tensor&"),
    "reference": ('m.def("f(int n) -> int", [](int64_t& n) { return n; });', "long int&", "value or a const reference"),
}


AMBIGUOUS = """
LAMELLA_LIBRARY(ambiguous, m) {
  m.def("f(Tensor self, Tensor? w=None) -> Tensor");
  m.def("f.out(Tensor self, Tensor? w=None, *, Tensor(a!) out) -> Tensor(a!)");
}
LAMELLA_LIBRARY_IMPL(ambiguous, cpu, m) {
  m.impl("f.out", [](const Tensor&, const Tensor&, const Tensor&) {});
}
"""


def test_an_output_of_the_schema_is_no_result(tmp_path_factory):
    """If this were accepted, the function's `w` would be the tensor that the caller gave as `out`."""
    with pytest.raises(TypeError, match="the schema has 1 result, the function returns 0"):
        load(compile_library(tmp_path_factory, HEAD + AMBIGUOUS))


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_a_type_of_no_schema_is_refused_by_the_compiler(name, tmp_path):
    body, *messages = BAD_SOURCES[name]
    (tmp_path / "bad.cpp").write_text(f"{HEAD}LAMELLA_LIBRARY(bad, m) {{ {body} }}\n")
    command = ("g++", "-std=c++17", "-DLAMELLA_NO_OPERATORS", "-fsyntax-only", "-I", INCLUDE, tmp_path / "bad.cpp")
    said = subprocess.run(command, capture_output=True, text=True).stderr
    assert all(m in said for m in messages), said


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize(
    "parameter, line",
    [
        ("int n", 'm.def("power(Tensor self, int n) -> Tensor", power);'),
        ("Tensor* n", 'm.def("power(Tensor self, Tensor n) -> Tensor", power);'),
    ],
)
def test_a_type_that_no_schema_has_points_at_the_registration(compiler, parameter, line, tmp_path, monkeypatch):
    """The compiler finds the error in our headers, but the message shows the line of the source that is wrong."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}: apt-get install {'clang' if compiler == 'clang++' else 'g++'}")
    monkeypatch.setenv("CXX", compiler)
    monkeypatch.setenv("LAMELLA_EXTENSIONS_DIR", str(tmp_path / "cache"))
    source = tmp_path / "wrong_type.cpp"
    function = f"static Tensor power(const Tensor& x, {parameter}) {{ return x; }}"
    source.write_text(f"{HEAD}{function}\nLAMELLA_LIBRARY(wrong_type, m) {{\n  {line}\n}}\n")
    with pytest.raises(CompileError) as error:
        build_library("wrong_type", [source])
    first = str(error.value).partition("\n")[0]
    assert re.search(r"wrong_type\.cpp:5:\d+: error: stati\w+.*no type of a schema is this parameter's", first), first
