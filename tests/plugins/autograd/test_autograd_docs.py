"""Every public name of the package is documented, and every example in these texts runs."""

import doctest
import importlib
import inspect

import lamella
import lamella.utils.checkpoint
import pytest

MODULES = "anomaly_mode api checkpoint function functional grad_mode gradcheck graph rules tensor".split()
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", [*(f"lamella.autograd.{m}" for m in MODULES), "lamella.utils.checkpoint"])
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name), extraglobs={"lamella": lamella}, optionflags=FLAGS)
    assert not found.failed


@pytest.mark.parametrize("module", MODULES)
def test_public_names_have_an_example(module):
    """Modules are excepted, and the class Node, of which users cannot make objects."""
    module = importlib.import_module(f"lamella.autograd.{module}")
    public = getattr(module, "__all__", getattr(module, "methods", ()))
    bare = [n for n in public if ">>> " not in (inspect.getdoc(getattr(module, n, None) or module.methods[n]) or "")]
    assert [n for n in bare if n not in ("function", "graph", "Node")] == []


def test_names():
    assert callable(lamella.autograd.gradcheck) and callable(lamella.autograd.gradgradcheck)
    from lamella.autograd.gradcheck import GradcheckError, gradcheck

    assert gradcheck is lamella.autograd.gradcheck and issubclass(GradcheckError, RuntimeError)
    assert lamella.utils.checkpoint.checkpoint is lamella.autograd.checkpoint.checkpoint
