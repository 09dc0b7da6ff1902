"""Descriptions of operators and of calls: bind() agrees with Python's own binding for every operator."""

import inspect
from contextlib import closing

import lamella
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lamella.library import Library, describe

ALL = sorted({d["name"] + ("." + d["overload"] if d["overload"] else "") for d in lamella._C._operators()})


def signature(d):
    """Returns the schema's arguments as a signature of Python."""
    parameters = []
    for a in d.arguments:
        kind = inspect.Parameter.KEYWORD_ONLY if a.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = a.default if a.has_default else inspect.Parameter.empty
        # A schema may have an argument without a default behind one that has a default; Python may not.
        parameters.append(inspect.Parameter(a.name, kind, default=default))
    return inspect.Signature(parameters)


def binding(bind):
    try:
        return dict(bind())
    except TypeError:
        return "refused"


@given(st.sampled_from(ALL), st.integers(0, 6), st.data())
def test_bind_is_pythons(name, positional, data):
    d = describe(name)
    try:
        python = signature(d)
    except ValueError:
        return
    names = [a.name for a in d.arguments] + ["nonsense"]
    args = [object() for _ in range(positional)]
    kwargs = {n: object() for n in data.draw(st.lists(st.sampled_from(names), unique=True, max_size=4))}
    rest = [a.name for a in d.arguments[positional:] if not a.has_default]
    if data.draw(st.booleans()):
        kwargs.update({n: object() for n in rest})

    def by_python():
        bound = python.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    assert binding(lambda: d.bind(args, kwargs)) == binding(by_python)


def test_forms():
    forms = {name: describe(name) for name in ALL}
    assert {d.form for d in forms.values()} == {"functional", "in-place", "out"}
    for name, d in forms.items():
        assert forms[d.functional].form == "functional" and (d.functional == name) is (d.form == "functional"), name
        written = [a.name for a in d.arguments if a.written]
        assert written or d.form == "functional", name
        assert d.form != "out" or all(a.keyword_only for a in d.arguments if a.written), name


def test_a_rule_for_reductions_finds_their_dims():
    """One handler serves all ways to write a call: it reads `dim` and `keepdim` by their names."""
    seen = []

    def rule(call, *args, **kwargs):
        bound = describe(call).bind(args, kwargs)
        seen.append((describe(call).form, bound["dim"], bound["keepdim"]))
        return call(*args, **kwargs)

    x = lamella.ones(2, 3)
    with closing(Library("dims", "FRAGMENT")) as lib:
        layer = lib.register_layer("dims", fallthrough=True, never_on_tensors=True)
        for op in ("aten::sum.dim_IntList", "aten::sum.dim_IntList_out"):
            lib.impl(op, rule, "dims")
        with layer.on():
            x.sum(1)
            lamella.sum(x, dim=[0, 1], keepdim=True)
            lamella.sum(x, -1, True)
            lamella.sum(x, 0, out=lamella.empty(3))
    assert [(form, list(dim), keep) for form, dim, keep in seen] == [
        ("functional", [1], False),
        ("functional", [0, 1], True),
        ("functional", [-1], True),
        ("out", [0], False),
    ]


def test_a_redefined_operator_is_described_anew():
    for schema, names in (("f(Tensor x) -> Tensor", ["x"]), ("f(Tensor y, int n=3) -> Tensor", ["y", "n"])):
        with closing(Library("anew", "DEF")) as lib:
            lib.define(schema)
            assert [a.name for a in describe("anew::f").arguments] == names


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        ([1, 2, 3], {}, "takes 2 positional arguments, got 3"),
        ([1, 2], {"other": 3}, "two values for argument 'other'"),
        ([1], {}, "no value for argument 'other'"),
        ([1, 2], {"beta": 3}, "has no argument 'beta'"),
    ],
)
def test_bad_calls(args, kwargs, text):
    with pytest.raises(TypeError, match=f"bind: aten::add .*{text}"):
        describe("aten::add.Tensor").bind(args, kwargs)


def test_bad_operators():
    with pytest.raises(RuntimeError, match="there is no aten::nothing_of_the_kind"):
        describe("aten::nothing_of_the_kind")
    with pytest.raises(TypeError, match="describe: argument 'op'"):
        describe(3)
    kept = []
    with closing(Library("keeps", "FRAGMENT")) as lib:
        layer = lib.register_layer("kept_calls", lambda call, *a, **k: kept.append(call) or call(*a, **k))
        with layer.on():
            lamella.ones(1)
    with pytest.raises(RuntimeError, match="the handler of this call has returned"):
        describe(kept[0])
