"""Scripted modules: they share the original's parameters, and give what it gives."""

import copy
import pickle
import sys

import lamella
import pytest
from lamella import nn
from lamella.plugins.graph import jit

x2, x4 = lamella.arange(12.0).view(2, 6) / 7 - 1, lamella.arange(512.0).view(2, 4, 8, 8).sin()

LAYERS = [
    (nn.Linear(6, 3), x2),
    (nn.Linear(6, 3, bias=False), x2),
    (nn.Conv2d(4, 4, 3, padding="same"), x4),
    (nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), x4),
    (nn.ConvTranspose2d(4, 2, 2, stride=2), x4),
    (nn.LayerNorm(6), x2),
    (nn.GroupNorm(2, 4), x4),
    (nn.Dropout(0.5).eval(), x2),
    (nn.GELU(), x2),
    (nn.ReLU(True), x2),
    (nn.Hardtanh(-0.5, 0.5), x2),
    (nn.Softmax(dim=1), x2),
    (nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), x4),
    (nn.AdaptiveAvgPool2d((2, None)), x4),
    (nn.Embedding(5, 3), lamella.tensor([[1, 2], [0, 3]])),
]


@pytest.mark.parametrize(("layer", "x"), LAYERS, ids=[type(m).__name__ for m, _ in LAYERS])
def test_layer(layer, x):
    scripted, other = jit.script(layer), copy.deepcopy(layer)
    found, wanted = scripted(x.clone()), other(x.clone())
    assert found.shape == wanted.shape and bool((found == wanted).all())


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.calls = 0
        self.register_buffer("seen", lamella.zeros(1))

    def forward(self, x):
        self.calls += 1
        self.seen = self.seen + x.sum()
        if self.training:
            return self.linear(x)
        return self.linear(x) * 2

    @jit.export
    def twice(self, x):
        return self.forward(x) + self.forward(x)

    @jit.ignore
    def width(self, x) -> int:
        return sys.getsizeof(x) * 0 + self.linear.out_features

    @jit.export
    def asks_python(self, x):
        return x + self.width(x)


def test_state():
    net, x = Counts(), lamella.ones(1, 3)
    scripted = jit.script(net)
    assert scripted.linear.weight is net.linear.weight and list(scripted.state_dict()) == list(net.state_dict())
    once = scripted(x)
    assert bool((scripted.twice(x) == once + once).all())
    assert scripted.calls == 3 and scripted.seen.item() == 9.0 and scripted.state_dict()["seen"].item() == 9.0
    assert net.calls == 0
    assert bool((scripted.eval()(x) == once * 2).all())
    assert bool((scripted.asks_python(x) == x + 2).all())


def test_conversion_reaches_the_program():
    scripted = jit.script(Counts()).double()
    assert scripted.linear.weight.dtype == lamella.float64
    assert scripted(lamella.ones(1, 3, dtype=lamella.float64)).dtype == lamella.float64


def test_other_parameters_for_a_call():
    """What others put into the module's dictionaries reaches the program, and so does what they put back."""
    net, x = jit.script(Counts()).eval(), lamella.ones(1, 3)
    wanted, zero = net(x), {"linear.weight": lamella.zeros(2, 3), "linear.bias": lamella.ones(2)}
    assert lamella.func.functional_call(net, zero, (x,)).tolist() == [[2.0, 2.0]]
    assert bool((net(x) == wanted).all())
    net.linear._parameters["bias"] = nn.Parameter(net.linear.bias.detach() + 1)
    assert bool(((net(x) - wanted - 2).abs() < 1e-5).all())


def test_gradients():
    """Gradients through a script are those through the module."""
    net, x = nn.Linear(3, 2), lamella.ones(4, 3)
    net(x).sin().sum().backward()
    wanted = net.weight.grad.clone()
    net.weight.grad = None
    jit.script(net)(x).sin().sum().backward()
    assert bool((net.weight.grad == wanted).all())


def test_freeze():
    net, x = jit.script(Counts().eval()), lamella.ones(1, 3)
    wanted = net(x)
    frozen = jit.freeze(net)
    text = str(frozen.inlined_graph)
    assert 'GetAttr[name="weight"]' not in text and 'GetAttr[name="training"]' not in text
    assert 'GetAttr[name="calls"]' in text  # since forward assigns it
    assert bool((frozen(x) == wanted).all())
    with pytest.raises(RuntimeError, match="freeze: the module is in training; call eval"):
        jit.freeze(jit.script(Counts()))
    with pytest.raises(TypeError, match="freeze: argument 'mod' has to be a ScriptModule, got Counts; script it first"):
        jit.freeze(Counts())


class Scale(jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(lamella.tensor([2.0]))

    @jit.script_method
    def forward(self, x):
        return x * self.weight


def test_script_method():
    net = Scale()
    assert net(lamella.ones(1)).item() == 2.0
    net.weight = nn.Parameter(lamella.tensor([3.0]))
    assert net(lamella.ones(1)).item() == 3.0
    assert "aten::mul" in str(net.graph)
    assert jit.script(net) is net


def test_a_scripted_module_in_another():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = jit.script(Scale())

        def forward(self, x):
            return self.inner(x) + 1

    assert jit.script(Outer())(lamella.ones(1)).item() == 3.0


def test_functions():
    @jit.script
    def scaled(x, n: int = 2):
        return x * n

    assert scaled(lamella.ones(1)).item() == 2.0 and scaled(x=lamella.ones(1), n=5).item() == 5.0
    assert scaled.name == "scaled" and "aten::mul.Scalar" in str(scaled.graph) and scaled.__name__ == "scaled"
    assert jit.script(scaled) is scaled
    with pytest.raises(jit.ScriptError, match="Scale: a class of modules cannot be scripted; script an instance of it"):
        jit.script(Scale)


def test_deep_copies():
    """A copy has tensors and attributes of its own, also for methods that stay in Python; what is shared stays so."""
    net, x = jit.script(Counts()), lamella.ones(1, 3)
    wanted = net(x)
    made = copy.deepcopy(net)
    assert type(made.linear.weight) is nn.Parameter and made.linear.weight is not net.linear.weight
    assert bool((made(x) == wanted).all()) and (net.calls, made.calls) == (1, 2)
    with lamella.no_grad():
        made.linear.weight.zero_(), made.linear.bias.zero_()
    assert made(x).tolist() == [[0.0, 0.0]] and bool((net(x) == wanted).all())
    assert made.eval().training is False and net.training
    assert bool((made.asks_python(x) == x + 2).all())
    assert jit.freeze(made)(x).tolist() == [[0.0, 0.0]]
    shared = nn.Linear(3, 3)
    for program in (jit.script(nn.Sequential(shared, shared)), jit.trace(nn.Sequential(shared, shared), x)):
        made = copy.deepcopy(program)
        assert made[0].weight is made[1].weight is not shared.weight and bool((made(x) == program(x)).all())
    scale = Scale()
    made = copy.deepcopy(scale)
    with lamella.no_grad():
        made.weight.fill_(5)
    assert (scale(lamella.ones(1)).item(), made(lamella.ones(1)).item()) == (2.0, 5.0)


def doubled(x):
    return x * 2


@pytest.mark.parametrize("thing", [jit.script(nn.Linear(3, 2)), Scale(), jit.script(doubled)], ids=["net", "own", "f"])
def test_pickles_are_refused(thing):
    with pytest.raises(pickle.PicklingError, match=r"cannot be pickled; jit.save or its method save\(\) write it"):
        pickle.dumps(thing)


def test_parametrized_modules_are_refused_and_traced():
    net, x = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)), lamella.ones(1, 3)
    with pytest.raises(jit.NotSupportedError, match="^Linear: a parametrized module cannot be scripted; trace it, or"):
        jit.script(nn.Sequential(net))
    traced = jit.trace(net, x)
    with lamella.no_grad():
        net.parametrizations.weight.original0.mul_(2)
    assert bool((traced(x) == net(x)).all())
