"""An operator names the module that publishes it: operators from Python and C++, in modules that are made for them."""

import importlib
import sys

import lamella
import pytest
from compiled import compile_library
from lamella.library import Library

SOURCE = """
#include <lamella/extension.h>
static lamella::Tensor twice(const lamella::Tensor& self) { return self + self; }
LAMELLA_LIBRARY(doubling, m) {
  m.def("alone(Tensor self) -> Tensor", twice);
  m.module("stranger.rows").def("twice(Tensor self) -> Tensor", twice).def("rows_twice(Tensor self) -> Tensor", twice);
}
"""


@pytest.fixture
def lib():
    made = Library("modules", "DEF")
    yield made
    made.close()


def test_a_module_is_made_and_goes_with_its_names(lib):
    lib.define("strange_halved(Tensor self) -> Tensor", module="strange")
    lib.impl("strange_halved", lambda t: t / 2, "composite")
    assert lamella.strange.halved is lamella.ops.modules.strange_halved
    assert importlib.import_module("lamella.strange").halved(lamella.tensor([4.0])).tolist() == [2.0]
    assert "shown in the module strange" in lamella._C._show("modules::strange_halved")
    assert not hasattr(lamella, "halved")
    lib.close()
    assert not hasattr(lamella, "strange") and "lamella.strange" not in sys.modules


def test_a_module_that_exists_keeps_its_names(lib):
    before = lamella.testing.assert_close
    lib.define("assert_close(Tensor self) -> Tensor", module="testing")
    lib.define("assert_far(Tensor self) -> Tensor", module="testing")
    assert lamella.testing.assert_close is before
    assert lamella.testing.assert_far is lamella.ops.modules.assert_far
    lib.close()
    assert lamella.testing.assert_close is before and not hasattr(lamella.testing, "assert_far")


@pytest.mark.parametrize("name", ["lin-alg", ".linalg", "linalg.", "a..b", "2d"])
def test_a_name_that_is_none(lib, name):
    with pytest.raises(ValueError, match="'module' must be a module's name below lamella"):
        lib.define("f(Tensor self) -> Tensor", module=name)
    assert not hasattr(lamella.ops.modules, "f")


def test_a_block_in_cpp(tmp_path_factory):
    """The library stays loaded, so its names stay."""
    doubling = lamella.ops.load_library(compile_library(tmp_path_factory, SOURCE))
    x = lamella.tensor([1.0, 2.0])
    for operator in (lamella.stranger.rows.twice, lamella.stranger.rows.rows_twice, doubling.twice, doubling.alone):
        assert operator(x).tolist() == [2.0, 4.0]
    assert not hasattr(lamella.stranger.rows, "alone")
