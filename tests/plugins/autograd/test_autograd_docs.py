"""Every public name of the package is documented, and every example in its texts runs."""

import doctest
import importlib
import inspect

import lattis
import lattis.utils.checkpoint
import pytest

MODULES = "anomaly_mode api checkpoint function functional grad_mode gradcheck graph rules tensor".split()
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", [*(f"lattis.autograd.{m}" for m in MODULES), "lattis.utils.checkpoint"])
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name), extraglobs={"lattis": lattis}, optionflags=FLAGS)
    assert not found.failed


@pytest.mark.parametrize("module", ["checkpoint", "functional", "gradcheck"])
def test_public_names_have_an_example(module):
    module = importlib.import_module(f"lattis.autograd.{module}")
    assert [n for n in module.__all__ if ">>> " not in (inspect.getdoc(getattr(module, n)) or "")] == []


def test_names():
    assert callable(lattis.autograd.gradcheck) and callable(lattis.autograd.gradgradcheck)
    from lattis.autograd.gradcheck import GradcheckError, gradcheck

    assert gradcheck is lattis.autograd.gradcheck and issubclass(GradcheckError, RuntimeError)
    assert lattis.utils.checkpoint.checkpoint is lattis.autograd.checkpoint.checkpoint
