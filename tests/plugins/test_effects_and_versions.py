"""Effects of operators beyond their schemas, and the versions of a namespace in which operators got their arguments."""

import lamella
import pytest
from compiled import compile_library, load
from lamella.library import Library, custom_op, describe

SOURCE = """
#include <lamella/extension.h>
LAMELLA_LIBRARY_VERSION(ticking, 5, m) {
  m.def("plain(Tensor x) -> Tensor", [](const lamella::Tensor& x) { return x + 1; });
  m.effects(LAMELLA_EFFECT_STATE).since(4);
  m.def("now() -> int", [] { return int64_t{7}; });
  m.effects(LAMELLA_EFFECT_NONE).since(5);
  m.def("later(Tensor x, *, int by=1) -> Tensor", [](const lamella::Tensor& x, int64_t by) { return x + by; });
}
"""


@pytest.fixture
def lib():
    library = Library("kept_versions", "DEF", version=3)
    yield library
    library.close()


def test_the_catalogue():
    """Random operators advance a generator, and those of category "host" hand values to the program."""
    by_category = {}
    for d in lamella._C._operators():
        if d["owner"] != "lamella":  # another test's
            continue
        full = d["name"] + ("." + d["overload"] if d["overload"] else "")
        by_category.setdefault(d["category"], set()).add(describe(full).effects)
    assert by_category.pop("random") == by_category.pop("host") == {"state"}
    assert set.union(*by_category.values()) == {""}
    assert describe("aten::dropout_").effects == "state" and describe("aten::add.Tensor").since == 1


def test_definitions_from_python(lib):
    lib.define("log(Tensor x) -> Tensor", inplace=True, out=True, effects="state", since=2)
    for name in ("kept_versions::log", "kept_versions::log_", "kept_versions::log.out"):
        assert describe(name)[-2:] == ("state", 2)
    lib.define("pure(Tensor x) -> Tensor")
    assert describe("kept_versions::pure")[-2:] == ("", 1)


def test_another_definition_with_the_same_schema(lib):
    for effects, since in (("state", 1), ("", 2), ("state", 3)):
        handle = lib.define("cell(Tensor x) -> Tensor", effects=effects, since=since)
        assert describe("kept_versions::cell")[-2:] == (effects, since)
        lib.withdraw(handle)


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"effects": "clock"}, ValueError, "argument 'effects': expected 'state' or nothing, got 'clock'"),
        ({"effects": True}, TypeError, "argument 'effects': expected a str, got bool"),
        ({"since": 0}, ValueError, "argument 'since': expected a whole number from 1 on, got 0"),
        ({"since": "2"}, TypeError, "argument 'since': expected an int, got str"),
        (
            {"since": 4},
            ValueError,
            "'since' is 4, and the namespace 'kept_versions' has version 3; open the library with",
        ),
    ],
)
def test_wrong_definitions(lib, options, error, text):
    with pytest.raises(error, match=text):
        lib.define("wrong(Tensor x) -> Tensor", **options)
    assert not hasattr(lamella.ops.kept_versions, "wrong")


@pytest.mark.parametrize("version", [0, -1, 2**32])
def test_a_wrong_version(version):
    with pytest.raises(ValueError, match=f"Library: argument 'version': .*, got {version}"):
        Library("never", "DEF", version=version)


def test_custom_op():
    @custom_op("kept_alone::stamp", mutates_args=(), effects="state", since=2)
    def stamp(x: lamella.Tensor) -> lamella.Tensor:
        return x + 1

    assert describe("kept_alone::stamp")[-2:] == ("state", 2)
    stamp.close()
    with pytest.raises(ValueError, match="custom_op: argument 'since'"):
        custom_op("kept_alone::stamp", lambda x: x, mutates_args=(), since=0)


@pytest.mark.long
def test_a_library_in_cpp(tmp_path_factory):
    load(compile_library(tmp_path_factory, SOURCE))
    assert [describe(f"ticking::{n}")[-2:] for n in ("plain", "now", "later")] == [("", 1), ("state", 4), ("", 5)]
    assert lamella.ops.ticking.now() == 7


def test_the_command_prints_them():
    shown = run_ops_show("dropout")
    assert "has effects on state" in shown and "since version" not in shown
    assert "effects" not in run_ops_show("add.Tensor")


def run_ops_show(name):
    return lamella._C._show(name)


def test_show_prints_the_version(lib):
    lib.define("newer(Tensor x) -> Tensor", since=3)
    assert ", since version 3 of its namespace" in run_ops_show("kept_versions::newer")
