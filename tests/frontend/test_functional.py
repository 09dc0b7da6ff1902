"""lamella.nn.functional: the functions of torch.nn.functional that exist here, and error messages for the others."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest

THERE = dir(F)
NAMES = json.loads((Path(__file__).resolve().parents[1] / "recorded" / "nn_names.json").read_text())
x = np.linspace(-3, 3, 13, dtype=np.float32)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


# Each function's textbook formula.
FORMULAS = {
    "relu": lambda v: np.maximum(v, 0),
    "relu6": lambda v: np.clip(v, 0, 6),
    "hardtanh": lambda v: np.clip(v, -1, 1),
    "hardsigmoid": lambda v: np.clip(v / 6 + 0.5, 0, 1),
    "hardswish": lambda v: v * np.clip(v / 6 + 0.5, 0, 1),
    "leaky_relu": lambda v: np.where(v > 0, v, 0.01 * v),
    "elu": lambda v: np.where(v > 0, v, np.expm1(v)),
    "celu": lambda v: np.where(v > 0, v, np.expm1(v)),
    "selu": lambda v: 1.0507009873554805 * np.where(v > 0, v, 1.6732632423543772 * np.expm1(v)),
    "silu": lambda v: v * sigmoid(v),
    "mish": lambda v: v * np.tanh(np.log1p(np.exp(v))),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "softplus": lambda v: np.log1p(np.exp(v)),
}


@pytest.mark.parametrize("name", [n for n in FORMULAS if n in THERE])
def test_activations(name):
    f, t = getattr(F, name), lamella.tensor(x)
    want = FORMULAS[name](x.astype(np.float64))
    np.testing.assert_allclose(f(t).numpy(), want, rtol=1e-5, atol=1e-6)
    assert t.tolist() == x.tolist()
    if name not in ("sigmoid", "tanh", "softplus"):
        assert f(t, inplace=True) is t
        np.testing.assert_allclose(t.numpy(), want, rtol=1e-5, atol=1e-6)


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
        "import lamella, sys; print({'numpy', 'lamella.nn.functional', 'lamella._arrays'} & set(sys.modules),"
        "callable(lamella.nn.functional.relu), callable(lamella.testing.assert_close))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == "set() True True", found.stderr
