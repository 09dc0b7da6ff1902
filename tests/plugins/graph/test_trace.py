"""Tests of jit.trace: programs against the functions that were recorded, exits of values, sizes, modules."""

from __future__ import annotations

import operator
import pickle
import warnings

import lamella
import numpy as np
import pytest
from lamella import nn
from lamella.jit import TracerWarning, TracingCheckError


def traced(f, *inputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", TracerWarning)
        return lamella.jit.trace(f, inputs, **options)


def equal(a, b):
    """Compares results bit for bit."""
    if isinstance(a, lamella.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and lamella.equal(a.detach(), b.detach())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    return a == b


def structured(x, y):
    z = x @ y + 1
    z.relu_()
    a, b = z.split(1)
    z[0] = 5
    return {"a": a, "b": z * y.sum()}, [b, b + 1], (z.t(), 3)


def in_place_through_a_view(x):
    y = x.clone()
    y[1:].mul_(2)
    y.t()[0, 0] = -1
    return y, y.view(-1)[2:]


def creation(x):
    return lamella.ones(2, dtype=lamella.float64) + x.mean() + lamella.arange(2) + lamella.full((2,), 0.5)


def joined(x, y):
    return lamella.cat([x, y, x], 0), lamella.stack([x, y]), lamella.where(x > y, x, y)


def takes_structures(pair, by_name, more):
    a, (b, c) = pair
    return a + b * c + by_name["w"] + sum(more)


def dtypes(x):
    return x.to(lamella.float64), x.long(), x.bool().int(), (x + 1j).real, x.half()


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (structured, lambda r: (r(2, 2), r(2, 2))),
        (in_place_through_a_view, lambda r: (r(3, 3),)),
        (creation, lambda r: (r(2, 2),)),
        (joined, lambda r: (r(2, 3), r(2, 3))),
        (takes_structures, lambda r: ((r(2), (r(2), r(2))), {"w": r(2)}, [r(2), r(2)])),
        (dtypes, lambda r: (r(4),)),
        (lambda x: lamella.einsum("ij,jk->ik", x, x), lambda r: (r(3, 3),)),
        (lambda x: x.sort(1), lambda r: (r(3, 5),)),
        (lambda x: nn.functional.softmax(x, 1).topk(2), lambda r: (r(3, 5),)),
        (lambda x: x[:, None, ::2].expand(3, 4, 3)[..., [0, 2]], lambda r: (r(3, 5),)),
    ],
    ids=lambda f: getattr(f, "__name__", "")[:20],
)
def test_program_gives_what_the_function_gives(function, make):
    random = np.random.default_rng(0)

    def numbers(*shape):
        return lamella.from_numpy(random.standard_normal(shape).astype(np.float32))

    program = traced(function, *make(numbers))
    for _ in range(3):
        state = random.bit_generator.state
        expected = function(*make(numbers))
        random.bit_generator.state = state
        assert equal(program(*make(numbers)), expected)


EXITS = {
    "if": lambda x: x if x.sum() > 0 else -x,
    "int": lambda x: x + int(x.sum()),
    "float": lambda x: x + float(x.sum()),
    "item": lambda x: x + x.sum().item(),
    "index": lambda x: x + [1, 2, 3][operator.index(x.sum().long() * 0)],
    "format": lambda x: len(f"{x.sum():.2f}"),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy().sum(),
    "asarray": lambda x: np.asarray(x),
    "memoryview": lambda x: len(memoryview(x)),
    "dlpack": lambda x: np.from_dlpack(x),
    "address": lambda x: x.data_ptr(),
    "repr": lambda x: len(repr(x)),
    "pickle": lambda x: len(pickle.dumps(x)),
    "contains": lambda x: 1.0 in x,
    "equal": lambda x: lamella.equal(x, x),
}


@pytest.mark.parametrize("name", EXITS)
def test_each_exit_of_a_value_is_an_error_with_its_line(name):
    with pytest.raises((RuntimeError, TypeError, BufferError)) as caught:
        traced(EXITS[name], lamella.ones(2))
    if name != "address":
        assert "test_trace.py:" in str(caught.value) and "strict=False" in str(caught.value)


def test_values_of_tensors_that_are_no_inputs_may_be_read():
    steps = lamella.tensor(3)
    assert equal(traced(lambda x: x * int(steps), lamella.ones(2))(lamella.full((2,), 2.0)), lamella.full((2,), 6.0))


def my_function(x):
    if x.mean() > 1.0:
        r = lamella.tensor(1.0)
    else:
        r = lamella.tensor(2.0)
    return r


def test_not_strict_records_the_branch_that_was_taken_and_warns():
    with pytest.warns(TracerWarning, match=r"the value of a tensor is read \(item\) at .*test_trace.py:"):
        f = lamella.jit.trace(my_function, lamella.ones(2, 2), strict=False, check_trace=False)
    assert float(f(lamella.ones(2, 2))) == float(f(lamella.ones(2, 2) + 1)) == 2.0
    assert f.graph.inputs()[0].type == "Float(2, 2)"
    assert [n.op for n in f.graph.nodes()][-1] == "aten::to"


def test_check_finds_a_branch_by_other_inputs():
    with pytest.warns(TracerWarning) as caught:
        lamella.jit.trace(my_function, lamella.ones(2, 2), strict=False, check_inputs=[lamella.ones(2, 2) + 1])
    assert any("for other inputs, the graph and the function differ in tensor 0" in str(w.message) for w in caught)


def test_check_finds_a_function_that_changes_from_call_to_call():
    calls = []

    def counts(x):
        calls.append(1)
        return x + len(calls)

    with pytest.raises(TracingCheckError, match="for other inputs, the graph and the function differ in tensor 0"):
        traced(counts, lamella.ones(2))


def test_random_numbers_are_drawn_anew_and_checked():
    f = traced(lambda x: x + lamella.rand(3), lamella.zeros(3))
    lamella.manual_seed(1)
    a, b = f(lamella.zeros(3)), f(lamella.zeros(3))
    lamella.manual_seed(1)
    assert equal(a, lamella.rand(3)) and equal(b, lamella.rand(3))


# ---- sizes ----


def test_numbers_that_are_multiples_of_a_size_become_expressions():
    f = traced(lambda x: x.reshape(x.shape[0] * 2, -1) + x.shape[0] * 3 - 1, lamella.zeros(3, 4))
    for n in (1, 3, 7):
        x = lamella.arange(n * 4.0).view(n, 4)
        assert equal(f(x), x.reshape(n * 2, -1) + n * 3 - 1)


def test_sizes_of_several_inputs_vary_together():
    f = traced(lambda x, y: (x * y).view(x.shape[0], -1).sum(1), lamella.zeros(3, 2, 2), lamella.zeros(3, 2, 2))
    assert f(lamella.ones(5, 2, 2), lamella.ones(5, 2, 2)).tolist() == [4.0] * 5


@pytest.mark.parametrize(
    ("function", "report"),
    [
        (lambda x: x[: x.shape[0] // 2] + 0, "a number of aten::slice.* depends on size 0 of input 'x'"),
        (lambda x: x + 1 if x.shape[0] > 5 else x * 2, "depend on size 0 of input 'x': they differ from operator 0"),
        (lambda x: x.view(x.shape[0] * x.shape[1]), "depends on size 0 of input 'x' and size 1 of input 'x'"),
    ],
)  # fmt: skip
def test_other_dependences_on_sizes_are_reported(function, report):
    with pytest.warns(TracerWarning, match=report):
        lamella.jit.trace(function, lamella.zeros(3, 7))


def test_elements_of_a_list_may_depend_on_different_sizes():
    f = traced(lambda x: x[:, None].expand(x.shape[0], 5, x.shape[1] + 0) * 1, lamella.zeros(3, 4))
    for shape in ((1, 1), (2, 9), (7, 4)):
        x = lamella.arange(shape[0] * shape[1]).view(*shape)
        assert f(x).tolist() == [[row] * 5 for row in x.tolist()]


def test_an_attribute_that_depends_on_a_size_is_reported():
    class Chooses(nn.Module):
        def __init__(self):
            super().__init__()
            self.small, self.large = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            return (self.small if x.shape[0] < 5 else self.large)(x)

    report = r"depend on size 0 of input 'x': they differ from operator 0 on \(aten::linear at .*; aten::linear for"
    with pytest.warns(TracerWarning, match=report):
        lamella.jit.trace(Chooses(), lamella.zeros(3, 2))


def test_sizes_of_another_graph_are_refused():
    from lamella.plugins.graph._python import replace_sizes

    f, g = (traced(lambda x: x.view(x.shape[0]), lamella.zeros(3)).graph for _ in range(2))
    with pytest.raises(ValueError, match="input 'x': the value is of another graph"):
        replace_sizes(f, g.inputs(), ["x"], [])
    with pytest.raises(IndexError, match="a size of input 1, of 1"):
        replace_sizes(f, f.inputs(), ["x"], [(1, 0, 3, f, f)])
    with pytest.raises(ValueError, match="a size has to be positive, got 0"):
        replace_sizes(f, f.inputs(), ["x"], [(0, 0, 0, f, f)])
    with pytest.raises(ValueError, match="each input has one name"):
        replace_sizes(f, f.inputs(), [], [])


def test_fixed_sizes_are_no_reports():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 2))
    program = traced(net, lamella.randn(2, 3, 8, 8))
    x = lamella.randn(5, 3, 11, 9)
    assert equal(program(x), net(x))


# ---- modules ----


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(3, 4), nn.BatchNorm1d(4)
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.register_buffer("shift", lamella.ones(4))

    def forward(self, x):
        x = self.norm(self.first(x)) + self.shift
        for layer in self.layers:
            x = layer(x).relu()
        return x

    def inverse(self, y):
        return y - self.shift


def test_module_keeps_its_parameters_as_attributes():
    net = Net().eval()
    program = traced(net, lamella.randn(5, 3))
    assert list(program.state_dict()) == list(net.state_dict())
    assert all(a is b for a, b in zip(program.parameters(), net.parameters(), strict=True))
    names = [n.attributes["name"] for n in program.graph.nodes() if n.op == "prim::GetAttr"]
    assert {"first", "norm", "shift", "weight", "running_mean"} <= set(names)
    x = lamella.randn(7, 3)
    assert equal(program(x), net(x))
    with lamella.no_grad():
        net.first.weight.mul_(2)
    assert equal(program(x), net(x))


def test_module_trains_through_its_program():
    net = Net().eval()
    program = traced(net, lamella.randn(5, 3))
    x = lamella.randn(4, 3)
    net(x).square().sum().backward()
    expected = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    program(x).square().sum().backward()
    assert all(equal(p.grad, e) for p, e in zip(net.parameters(), expected, strict=True))


def test_training_mode_is_said_and_buffers_stay_as_they_were():
    net = Net().train()
    mean = net.norm.running_mean.clone()
    with pytest.warns(TracerWarning, match="aten::batch_norm.*was recorded in training mode"):
        lamella.jit.trace(net, lamella.randn(5, 3))
    assert equal(net.norm.running_mean, mean)


def test_several_methods_share_the_parameters():
    net = Net().eval()
    program = lamella.jit.trace_module(net, {"forward": lamella.randn(5, 3), "inverse": lamella.randn(5, 4)})
    y = lamella.randn(2, 4)
    assert equal(program.inverse(y), net.inverse(y))
    with pytest.raises(AttributeError):
        program.other(y)


def test_shared_submodule_has_one_class_and_one_object():
    layer = nn.Linear(3, 3)
    program = traced(nn.Sequential(layer, nn.ReLU(), layer), lamella.randn(2, 3))
    assert len(list(program.parameters())) == 2
    x = lamella.randn(4, 3)
    assert equal(program(x), layer(layer(x).relu()))


# ---- bad input ----


def test_stand_ins_are_of_no_use_behind_the_recording():
    kept = []
    traced(lambda x: kept.append(x) or x + 1, lamella.ones(2), check_trace=False)
    with pytest.raises(RuntimeError, match="add: this tensor stands for a value of a trace that has ended"):
        kept[0] + 1


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        (lambda x: object(), (lamella.ones(1),), "the result holds a object; a graph has tensors, numbers"),
        (lambda x: [x, 1], (lamella.ones(1),), r"has a list .* of types \['Tensor', 'int'\]; use a tuple"),
        (lambda x: x, (object(),), "input 'x' holds a object"),
        (lambda x: lamella.rand(2, generator=lamella.Generator()) + x, (lamella.ones(2),), "which a graph cannot hold"),
    ],
)  # fmt: skip
def test_what_a_graph_cannot_hold(function, inputs, message):
    with pytest.raises((RuntimeError, TypeError), match=message):
        traced(function, *inputs, check_trace=False)


def calls_back(x):
    return x.exp()


def test_places_are_lines_of_the_function_and_of_the_call_of_trace():
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    f = traced(lambda x: net(calls_back(x)) + 1, lamella.ones(2))
    lines = {n.op: n.source[1] for n in f.graph.nodes() if n.op != "prim::Constant"}
    first = test_places_are_lines_of_the_function_and_of_the_call_of_trace.__code__.co_firstlineno
    assert lines["aten::exp"] == calls_back.__code__.co_firstlineno + 1
    assert lines["aten::relu"] == lines["aten::tanh"] == lines["aten::add"] == first + 2
    module = traced(net, lamella.ones(2))  # its operators have no line of the user but the call in `traced`
    assert {n.source[1] for n in module.graph.nodes()} == {traced.__code__.co_firstlineno + 3}


def test_places_are_those_of_the_user():
    f = traced(lambda x: nn.functional.softmax(x, 0) + 1, lamella.ones(2))
    places = {n.source[0].rpartition("/")[2] for n in f.graph.nodes() if n.source}
    assert places == {"test_trace.py"}


def test_a_failing_function_leaves_the_thread_as_it_was():
    with pytest.raises(ZeroDivisionError):
        traced(lambda x: 1 // 0, lamella.ones(2))
    assert (lamella.ones(2) + 1).tolist() == [2.0, 2.0] and not lamella.jit.is_tracing()


def test_a_warning_stands_at_the_line_that_traces():
    def branch(x):
        return x if x.mean() > 1 else x * 2

    line = test_a_warning_stands_at_the_line_that_traces.__code__.co_firstlineno
    with pytest.warns(TracerWarning, match=rf"is read \(item\) at .*test_trace.py:{line + 2}") as caught:
        lamella.jit.trace(branch, lamella.ones(2), strict=False)
    module = nn.Sequential(nn.Dropout(0.5))
    with pytest.warns(TracerWarning, match="recorded in training mode") as modes:
        lamella.jit.trace_module(module, {"forward": lamella.ones(2)}, check_trace=False)
    assert [(w.filename, w.lineno) for w in (caught[0], modes[0])] == [(__file__, line + 6), (__file__, line + 9)]


def test_a_device_is_no_number_that_depends_on_a_size():
    def places(x):
        return x + lamella.arange(x.shape[1], device=x.device) + lamella.ones(x.shape[0], 1, device=x.device)

    program = traced(places, lamella.zeros(2, 8))
    for shape in ((2, 8), (3, 5), (1, 1)):
        assert equal(program(lamella.zeros(shape)), places(lamella.zeros(shape)))


def test_a_number_as_an_input_is_said():
    with pytest.warns(TracerWarning, match="input 'n' is 3, a constant of the graph: a call with another value gives"):
        program = lamella.jit.trace(lambda x, n: x * n, (lamella.ones(1), 3))
    assert program(lamella.ones(1), 3).item() == 3.0
    traced(lambda x, y: x if y is None else x + y, lamella.ones(1), None)  # without a warning


class Assigns(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", lamella.zeros(1))

    def forward(self, x):
        self.count = self.count + 1
        return x * self.count


class Writes(Assigns):
    def forward(self, x):
        self.count += 1
        return x * self.count


def test_a_module_that_assigns_a_buffer():
    net = Assigns()
    count = net.count
    with pytest.raises(RuntimeError, match="assigns the buffer 'count' of Assigns, and a recording has"):
        lamella.jit.trace(net, lamella.ones(1))
    assert net.count is count and count.tolist() == [0.0]
    assert jit_counts(lamella.jit.script(net)) == jit_counts(lamella.jit.trace(Writes(), lamella.ones(1))) == [1.0, 2.0]


def jit_counts(net):
    return [net(lamella.ones(1)).item() for _ in range(2)]
