"""The tenant tracer: a replay on other inputs gives the values that the program gives for them, on meta the sizes."""

from contextlib import closing

import lamella
import pytest
from lamella import nn
from lamella.library import Library
from lamella.nn import functional as F

from . import same
from .tracer import Tracer

LABELS = [0, 1, 2, 0, 1]


def check_replay(program, inputs, others, constants=0):
    """Traces ``program(**inputs)``, and replays it on the others; both may be written. Returns the tracer."""
    wanted = program(**{name: t.clone() for name, t in others.items()})
    with closing(Tracer(**inputs)) as tracer:
        with tracer.on():
            got = program(**inputs)
        names = [tracer.name(t) for t in got]
        assert len(tracer.constants) == constants, tracer
        given = {name: t.clone() for name, t in others.items()}
        values = tracer.replay(**given)
    assert same([values[name] for name in names], wanted), tracer
    return tracer


def pair(*shape):
    return lamella.randn(*shape), lamella.randn(*shape)


PROGRAMS = {
    "functions": lambda x, y: [(x @ y).relu().sum(0), x.softmax(-1)],
    "factories": lambda x, y: [lamella.zeros(3, 3) + x, lamella.full_like(x, 2) * y, lamella.arange(3) * x],
    "in place": lambda x, y: [x.add_(1).mul_(y), y.copy_(x), x],
    "out": lambda x, y: [lamella.add(x, y, out=(z := lamella.empty(3, 3))), z.exp()],
    "several outputs": lambda x, y: [*lamella.max(x, 0, out=(lamella.empty(3), lamella.empty(3, dtype=lamella.int64)))],
    "writes through views": lambda x, y: [x[0].fill_(7), x.t()[1].mul_(2), x, y.view(-1)[::2].zero_(), y],
    "indexing": lambda x, y: [x[[2, 0]], x[1:, ::2], x.where(x > 0, 1.0), x.flatten()[-1]],
    "assignment": lambda x, y: [x.__setitem__(0, y[1]) or x, y.__setitem__((slice(None), 1), 3.0) or y],
    "lists": lambda x, y: [lamella.cat([x, y]), *x.unbind(), *lamella.split(y, 2), lamella.stack((x, y), 1)],
    "several results": lambda x, y: [*x.max(0), *lamella.sort(y)],
    "an argument twice": lambda x, y: [x * x, lamella.addmm(x, x, y)],
    "numbers": lambda x, y: [x * y.shape[0] + 0.5, x.sum().square()],
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_programs(device, program):
    constants = program in (PROGRAMS["indexing"],)  # the list of indices becomes a tensor
    x, x2 = pair(3, 3)
    y, y2 = pair(3, 3)
    check_replay(program, {"x": x, "y": y}, {"x": x2, "y": y2}, constants)


def turned(x, y):
    z = x * 2
    z.t_()
    z.unsqueeze_(0)
    w = x + y
    z.mul_(w)  # the view in place decides which elements meet
    v = y.clone()
    v.resize_(6)
    return [z, z.sum(1), v * 2]


def other_memory(x, y):
    z = x + 1
    z.data = y * 2
    w = z.exp()
    v = x.clone()
    v.set_(y)
    v.mul_(3)  # writes to y
    return [w, z, v, y.sum()]


@pytest.mark.parametrize("program", [turned, other_memory])
def test_a_tensor_gets_other_sizes_or_other_memory(device, program):
    x, x2 = pair(3, 3)
    y, y2 = pair(3, 3)
    check_replay(program, {"x": x, "y": y}, {"x": x2, "y": y2})


def test_conversions_and_comparisons_are_calls(device):
    def program(x):
        return [x.to(lamella.float64), x.half(), x.to(x.device)]

    x, x2 = pair(3)
    tracer = check_replay(program, {"x": x}, {"x": x2})
    assert [n.about.name for n in tracer.nodes] == ["aten::to"] * 3
    if device != "meta":
        with closing(Tracer(x=x)) as tracer:
            with tracer.on():
                assert not lamella.equal(x, x2)
            assert [n.about.name for n in tracer.nodes] == ["aten::equal"]


# ---- a network ------------------------------------------------------------------------------------------------------


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))


def steps(net, x, labels, count=2):
    """Trains for some steps; returns the losses and the parameters."""
    optimizer, losses = lamella.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), []
    for _ in range(count):
        losses.append(F.cross_entropy(net(x), labels))
        losses[-1].backward()
        optimizer.step()
        optimizer.zero_grad()
    return [*losses, *net.parameters()]


@pytest.mark.needs("autograd")
def test_a_training(device):
    """Forward, backward and optimizer: the trace of one network trains another one, on other data."""
    net, other = network(), network()
    x, x2 = pair(5, 4)
    labels, labels2 = lamella.tensor(LABELS), lamella.tensor(LABELS[::-1])
    begin = {name: p.detach().clone() for name, p in other.named_parameters()}
    wanted = steps(other, x2, labels2)
    with closing(Tracer(x=x, labels=labels, **dict(net.named_parameters()))) as tracer:
        with tracer.on():
            got = steps(net, x, labels)
        values = tracer.replay(x=x2, labels=labels2, **begin)
        assert tracer.constants == {}, tracer
        assert same([values[tracer.name(t)] for t in got], wanted), tracer


@pytest.mark.needs("autograd")
def test_a_trace_on_meta_runs_on_a_device(device):
    with lamella.device("meta"):
        net, x, labels = network(), lamella.randn(5, 4), lamella.tensor(LABELS)
        with closing(Tracer(x=x, labels=labels, **dict(net.named_parameters()))) as tracer, tracer.on():
            got = steps(net, x, labels)
    other, x, labels = network(), lamella.randn(5, 4), lamella.tensor(LABELS)
    begin = {name: p.detach().clone() for name, p in other.named_parameters()}
    wanted = steps(other, x, labels)
    values = tracer.replay(x=x, labels=labels, **begin)
    assert same([values[tracer.name(t)] for t in got], wanted), tracer


@pytest.mark.needs("autograd")
def test_the_printed_form():
    net = nn.Sequential(nn.Linear(2, 1, bias=False), nn.ReLU())
    x = lamella.ones(3, 2)
    with closing(Tracer(x=x, **dict(net.named_parameters()))) as tracer:
        with tracer.on():
            y = net(x)
            y.sum().backward()
            y.detach().add_(lamella.ones(1, dtype=lamella.float64), alpha=2)
        assert str(tracer).splitlines() == [
            "%0 = linear(x, 0.weight)",
            "%1 = relu(%0)",
            "%2 = sum(%1)",
            "%3 = ones_like(%2)",
            "%4 = expand(%3, [3, 1])",
            "%5 = threshold_backward(%4, %1, 0)",
            "%6 = autograd::_linear_weight_backward(%5, x)",
            "%7 = clone(%6)",
            "%8 = detach(%1)",
            "%9 = ones([1], dtype=lamella.float64)",
            "%8 = add_.Tensor(%8, %9, alpha=2)",
        ]


def test_a_constant_has_the_values_that_it_had(device):
    c = lamella.ones(2)

    def program(x):
        return [(x * c.add_(1)).clone()]

    with closing(Tracer(x=lamella.zeros(2))) as tracer:
        with tracer.on():
            (y,) = program(tracer.inputs["x"])
        for _ in range(2):
            got = tracer.replay(x=lamella.ones(2))[tracer.name(y)]
            assert same(got, lamella.full((2,), 2.0))


def test_a_third_partys_operator(device):
    with closing(Library("tenants_theirs", "DEF")) as lib:
        lib.define("pair(Tensor x, *, int by=2) -> (Tensor, Tensor)")
        lib.impl("pair", lambda x, *, by=2: (x * by, x + by), "composite")
        x, x2 = pair(3)
        tracer = check_replay(lambda x: [*lamella.ops.tenants_theirs.pair(x, by=3)], {"x": x}, {"x": x2})
        assert str(tracer) == "(%0, %1) = tenants_theirs::pair(x, by=3)"


def test_a_failed_call_is_no_node():
    with closing(Tracer(x=lamella.ones(2))) as tracer, tracer.on():
        with pytest.raises(RuntimeError, match="broadcast|sizes|shapes"):
            tracer.inputs["x"] + lamella.ones(3)
        assert [n.about.name for n in tracer.nodes] == ["aten::ones"]


def test_a_stranger_has_no_name():
    with closing(Tracer()) as tracer, pytest.raises(KeyError, match=r"made this tensor of shape \(2,\)"):
        tracer.name(lamella.ones(2))
