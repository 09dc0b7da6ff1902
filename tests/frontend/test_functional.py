"""lamella.nn.functional has torch.nn.functional's functions, or error messages for those that are missing."""

import inspect
import json
import sys
from pathlib import Path

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from children import run

THERE = dir(F)
NAMES = json.loads((Path(__file__).resolve().parents[1] / "recorded" / "nn_names.json").read_text())
x = np.linspace(-3, 3, 13, dtype=np.float32)


INPLACE = "relu relu6 hardtanh hardsigmoid hardswish leaky_relu elu celu selu silu mish".split()


@pytest.mark.parametrize("name", INPLACE)
def test_an_activation_writes_into_its_input_where_asked(name):
    """The values are those of the operators, which tests/operators compares with formulas."""
    f, t = getattr(F, name), lamella.tensor(x)
    made = f(t)
    assert t.tolist() == x.tolist() and made.tolist() == getattr(lamella.ops.aten, name)(t).tolist()
    assert f(t, inplace=True) is t and t.tolist() == made.tolist()


@pytest.mark.parametrize("name", [n for n in ("softmax", "log_softmax", "softmin") if n in THERE])
@pytest.mark.parametrize("dim", [0, -1])
def test_along_a_dimension(name, dim):
    values = x[:12].reshape(3, 4).astype(np.float64)
    e = np.exp(-values if name == "softmin" else values)
    want = e / e.sum(dim, keepdims=True)
    got = getattr(F, name)(lamella.tensor(x[:12]).view(3, 4), dim=dim, dtype=lamella.float64)
    assert got.dtype is lamella.float64
    np.testing.assert_allclose(got.numpy(), np.log(want) if name == "log_softmax" else want, rtol=1e-12)
    with pytest.raises(TypeError, match=f"{name}: argument 'dim' is missing"):
        getattr(F, name)(lamella.ones(2))


@pytest.mark.parametrize("name", THERE)
def test_everything_there_is_documented(name):
    f = getattr(F, name)
    assert callable(f) and ">>> " in f.__doc__ and list(inspect.signature(f).parameters)


def test_every_public_name_of_torch_is_there():
    assert set(NAMES["functional"]) <= set(THERE) and set(NAMES["nn"]) <= set(dir(lamella.nn))


def test_unknown_names():
    with pytest.raises(AttributeError, match="relux does not exist and is not planned; did you mean 'relu'"):
        F.relux  # noqa: B018
    with pytest.raises(AttributeError, match="lamella.nn.nonsense does not exist"):
        lamella.nn.nonsense  # noqa: B018


def test_it_is_imported_when_it_is_named():
    code = (
        "import lamella, sys; print({'numpy', 'lamella.nn.functional', 'lamella._tensor.ufuncs'} & set(sys.modules),"
        "callable(lamella.nn.functional.relu), callable(lamella.testing.assert_close))"
    )
    assert run(sys.executable, "-c", code, cwd=".") == "set() True True\n"
