"""The schemas of scripts' operators: all of the registry are read, and the builtins are no second ones."""

import lamella
import pytest
from lamella.plugins.graph import _python
from lamella.plugins.graph.script import signatures
from lamella.plugins.graph.script.types import FLOAT, INT, TENSOR, List, Optional, Tuple

BUILTINS = _python.builtin_schemas()


def registry():
    for name in dir(lamella.ops.aten):
        yield from getattr(getattr(lamella.ops.aten, name), "schemas", ())


def test_every_schema_of_the_registry_is_read():
    """The names of the arguments are those of Python's own reading of the text."""
    for text in registry():
        schema = signatures.read(text)
        inside = text[text.index("(") + 1 : text.rindex(") -> ")]
        names = [part.partition("=")[0].split()[-1] for part in split(inside) if part.strip() != "*"]
        assert [a.name for a in schema.arguments] == names, text


def split(text):
    """Splits at commas outside of brackets."""
    depth, parts = 0, [""]
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p for p in parts if p.strip()]


def test_builtins_have_one_name_each():
    names = [line.partition("(")[0] for line in BUILTINS]
    assert len(set(names)) == len(names)
    assert not set(names) & {text.partition("(")[0] for text in registry()}


def test_parts_of_a_schema():
    schema = signatures.read(
        "aten::f.over(Tensor(a!) self, int[2] size=1, *, float? p=None) -> (Tensor(a!) x, int[] y)"
    )
    assert schema.full_name == "aten::f.over"
    assert [a.type for a in schema.arguments] == [TENSOR, List(INT), Optional(FLOAT)]
    assert [a.size for a in schema.arguments] == [0, 2, 0]
    assert [a.keyword_only for a in schema.arguments] == [False, False, True]
    assert [a.default for a in schema.arguments] == [signatures.NO_DEFAULT, 1, None]
    assert schema.returns == (TENSOR, List(INT)) and schema.names == ("x", "y")


def test_results():
    (items,) = signatures.overloads("aten::items")
    assert isinstance(items.returns[0], List) and isinstance(items.returns[0].element, Tuple)
    assert signatures.overloads("aten::no_such_operator") == ()


@pytest.mark.parametrize("name", ["add", "max", "eq", "index", "sort"])
def test_letters_come_last(name):
    """An overload that takes any type does not hide one for tensors."""
    found = [s.generic for s in signatures.overloads(f"aten::{name}")]
    assert found == sorted(found)
