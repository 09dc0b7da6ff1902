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


@pytest.mark.parametrize("name", [n for n in ("softmax", "log_softmax", "softmin") if n in THERE])
@pytest.mark.parametrize("shape, dim", [((), 0), ((4,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 4, 2), 1)])
def test_without_a_dimension(name, shape, dim):
    """Programs of before dim was an argument get the dimension that torch chooses, and a warning at their own line."""
    values = lamella.rand(shape)
    module = {"softmax": "Softmax", "log_softmax": "LogSoftmax", "softmin": "Softmin"}[name]
    for call in (getattr(F, name), getattr(lamella.nn, module)()):
        with pytest.warns(UserWarning, match=f"{name}: argument 'dim' is missing, and {dim} is taken") as told:
            got = call(values)
        assert lamella.equal(got, getattr(F, name)(values, dim=dim))
        assert [w.filename for w in told] == [__file__]


def test_a_small_net_of_old():
    class Net(lamella.nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = lamella.nn.Linear(4, 8), lamella.nn.Linear(8, 3)
            self.soft = lamella.nn.Softmax()

        def forward(self, x):
            x = self.out(F.relu(self.hidden(x)))
            return self.soft(x), F.log_softmax(x)

    with pytest.warns(UserWarning):
        soft, logs = Net()(lamella.rand(5, 4))
    np.testing.assert_allclose(soft.sum(1).tolist(), [1.0] * 5, rtol=1e-6)
    np.testing.assert_allclose(logs.exp().tolist(), soft.tolist(), rtol=1e-5)


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
