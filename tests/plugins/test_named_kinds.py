"""Kinds of errors that a plugin registers have classes of Python, which derive from the classes of their bases."""

import pickle
import re
import textwrap
from pathlib import Path

import lamella
import pytest
from compiled import compile_library, load
from lamella.library import error_class
from lamella.utils.cpp_extension import load_inline
from pages import ROOT


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory):
    load(compile_library(tmp_path_factory, Path(__file__).with_name("kinds.cpp")))


@pytest.mark.long
def test_each_kind_has_a_class():
    line, timeout = error_class("LineError"), error_class("LineTimeout")
    assert timeout.__mro__[:4] == (timeout, line, RuntimeError, Exception)
    assert [c.__name__ for c in (line, timeout)] == ["LineError", "LineTimeout"]
    assert error_class("LineError") is line


@pytest.mark.parametrize(("which", "name"), [(0, "LineError"), (1, "LineTimeout")])
def test_errors_are_of_it(which, name):
    with pytest.raises(RuntimeError, match="kinds: the line is cut") as caught:
        lamella.ops.line_kinds.fail(which)
    assert type(caught.value) is error_class(name)


def test_an_accelerator_error_is_a_runtime_error():
    with pytest.raises(lamella.AcceleratorError, match="the line is cut") as caught:
        lamella.ops.line_kinds.fail(12)
    assert isinstance(caught.value, RuntimeError)


def test_an_unknown_number_is_an_error_that_says_so():
    with pytest.raises(ValueError, match="no kind of errors has the number 9999"):
        lamella.ops.line_kinds.fail(9999)


def test_an_unknown_name():
    with pytest.raises(ValueError, match="error_class: no plugin has registered a kind of errors 'Nothing'"):
        error_class("Nothing")


@pytest.mark.parametrize("name", ["LineError", "LineTimeout"])
def test_pickles(name):
    made = pickle.loads(pickle.dumps(error_class(name)("the line is cut")))
    assert type(made) is error_class(name) is getattr(lamella.library, name)
    assert made.args == ("the line is cut",)


def test_a_name_that_is_no_text():
    with pytest.raises(TypeError, match="error_class: argument 'name': expected a str, got int"):
        error_class(3)


def test_the_lost_device_of_the_page():
    """docs/write_a_backend.md shows a kind of a vendor's own under AcceleratorError."""
    page = (ROOT / "docs/write_a_backend.md").read_text()
    [text] = re.findall(r"^  ```c\+\+\n  // lost.cpp\n(.*?)^  ```", page, re.MULTILINE | re.DOTALL)
    load_inline("frayed_health", textwrap.dedent(text).replace("yours", "frayed").replace("Yours", "Frayed"))
    with pytest.raises(lamella.AcceleratorError, match="frayed: the device does not answer") as caught:
        lamella.ops.frayed_health.temperature()
    assert type(caught.value) is error_class("FrayedLostError") and isinstance(caught.value, RuntimeError)
