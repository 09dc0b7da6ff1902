"""Modules: their members, calls, and state."""

import copy
import json
import pickle
import sys
from collections import OrderedDict
from pathlib import Path

import lamella
import numpy as np
import pytest
from lamella import nn

RECORDED = Path(__file__).resolve().parents[1] / "recorded"
sys.path.insert(0, str(RECORDED))
from module_inputs import MODULES, described  # noqa: E402

THEIRS = json.loads((RECORDED / "modules.json").read_text())
needs_autograd = pytest.mark.needs("autograd")


@pytest.mark.parametrize("text", MODULES)
def test_it_looks_as_in_torch(text):
    """The text, the keys of the state dict and the attributes equal those recorded from torch 2.13."""
    assert described(nn, text) == THEIRS[text]


@pytest.mark.parametrize("name", nn.modules.__all__)
def test_every_class_is_documented(name):
    found = getattr(nn, name)
    assert ">>> " in found.__doc__ and found.__module__.startswith("lamella.nn.modules.")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 2, bias=False)
        self.register_buffer("scale", lamella.ones(2))
        self.register_buffer("passing", lamella.zeros(1), persistent=False)
        self.kept = 5

    def forward(self, x, *, times=1):
        return self.second(self.first(x).relu()) * self.scale * times


def values(module):
    return {name: t.detach().numpy() for name, t in module.state_dict().items()}


def test_a_call_computes_what_numpy_computes():
    net, x = Net(), np.random.default_rng(0).standard_normal((5, 4)).astype("float32")
    w = values(net)
    hidden = np.maximum(x @ w["first.weight"].T + w["first.bias"], 0)
    got = net(lamella.from_numpy(x), times=3).detach().numpy()
    np.testing.assert_allclose(got, hidden @ w["second.weight"].T * 3, rtol=1e-5, atol=1e-6)


# ---- members ---------------------------------------------------------------------------------------------------------


def test_members():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["first.weight", "first.bias", "second.weight"]
    assert [n for n, _ in net.named_buffers()] == ["scale", "passing"]
    assert [n for n, _ in net.named_modules(prefix="net")] == ["net", "net.first", "net.second"]
    assert list(net.children()) == [net.first, net.second] and net.get_submodule("first") is net.first
    assert net.get_parameter("first.bias") is net.first.bias and net.get_buffer("scale") is net.scale
    assert net.first.weight is net._modules["first"]._parameters["weight"] and net.kept == 5
    assert {"first", "scale", "forward", "kept"} <= set(dir(net))
    net.first = net.second  # a tied module's parameters come once
    assert len(list(net.parameters())) == 1 and len(dict(net.named_parameters(remove_duplicate=False))) == 2
    net.further = net.second
    del net.further, net.second
    assert list(net._modules) == ["first"]
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'further'"):
        net.further  # noqa: B018


def test_what_is_assigned_takes_the_place_of_what_was_there():
    net = nn.Module()
    net.x = 1
    net.x = nn.Parameter(lamella.ones(1))
    assert "x" in net._parameters and "x" not in vars(net)
    net.x = None
    assert net.x is None and "x" in net._parameters
    del net.x
    net.x = nn.Identity()
    assert "x" in net._modules
    net.x = nn.Parameter(lamella.ones(1))
    assert "x" not in net._modules and "x" in net._parameters
    net.y = nn.Buffer(lamella.ones(1), persistent=False)
    assert list(net._buffers) == ["y"] and list(net.state_dict()) == ["x"]
    net.y = lamella.zeros(1)
    assert net._buffers["y"].tolist() == [0]
    net.z = lamella.zeros(1)  # a plain attribute
    assert "z" in vars(net) and list(net._buffers) == ["y"]
    net._parameters["x"] = nn.Parameter(lamella.zeros(1))  # as torch programs do
    assert net.x.tolist() == [0]


def test_classes_that_override_attributes():
    class Wrapped(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    wrapped = Wrapped(nn.Linear(2, 3))
    assert wrapped.in_features == 2 and wrapped.inner.weight is wrapped.weight
    with pytest.raises(AttributeError, match="nothing"):
        wrapped.nothing  # noqa: B018


class Early(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(lamella.ones(1))


class Self(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = self

    def __repr__(self):
        return "Self()"


@pytest.mark.parametrize(
    "call, error, words",
    [
        (Early, AttributeError, "Early: a parameter cannot be assigned before Module.__init__; call super"),
        (lambda: Early.__new__(Early)(1), AttributeError, "Early is called before Module.__init__; call super"),
        (lambda: nn.Module()(1), NotImplementedError, r"Module \[Module\] is missing the required \"forward\""),
        (lambda: nn.Module(3), TypeError, r"Module.__init__\(\) takes no arguments for Module, got 1"),
        (lambda: setattr(nn.Linear(1, 1), "weight", lamella.ones(1)), TypeError, "parameter 'weight' takes a Param"),
        (lambda: setattr(Net(), "first", 1), TypeError, "submodule 'first' takes a Module or None, got int"),
        (lambda: setattr(Net(), "scale", 1), TypeError, "buffer 'scale' takes a Tensor or None, got int"),
        (lambda: nn.Module().register_parameter("a.b", None), KeyError, "must not be empty nor contain '.'"),
        (lambda: nn.Module().register_parameter("forward", None), KeyError, "attribute 'forward' already exists"),
        (lambda: nn.Module().register_parameter("w", lamella.ones(1)), TypeError, "must be a Parameter or None"),
        (lambda: nn.Module().register_buffer("w", 1), TypeError, "buffer 'w' must be a Tensor or None, got int"),
        (lambda: nn.Module().add_module("m", 1), TypeError, "submodule 'm' must be a Module or None, got int"),
        (lambda: Net().get_submodule("first.gone"), AttributeError, "has no attribute `gone`"),
        (lambda: Net().get_parameter("first"), AttributeError, "`first` is no parameter"),
        (lambda: nn.Parameter([1.0]), TypeError, "'data' must be a Tensor, got list"),
        (lambda: nn.Linear(1, 1).to(lamella.int32), TypeError, "a dtype must be floating or complex"),
        (lambda: nn.Linear(1, 1).to("cpu", 1, 2, 3), TypeError, "Module.to: got 4 arguments"),
        (lambda: nn.Conv2d(3, 4, 1, groups=2), ValueError, "Conv2d: argument 'in_channels': 3 is no multiple of 2"),
        (lambda: nn.Conv2d(2, 4, 1, stride=2, padding="same"), ValueError, "padding='same' needs stride 1"),
        (lambda: nn.BatchNorm2d(3)(lamella.ones(2, 3)), ValueError, "BatchNorm2d: expected 4D input, got 2D"),
        (lambda: nn.Sequential()[0], IndexError, "index 0 is out of range for a Sequential of 0 modules"),
        (lambda: nn.Dropout(2.0), ValueError, "Dropout: argument 'p' must be a probability"),
        (lambda: nn.Identity().compile(), NotImplementedError, "no compiler"),
        (lambda: nn.Identity().train("on"), ValueError, "argument 'mode' must be a bool"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_module_that_contains_itself():
    net = Self()
    assert list(net.modules()) == [net] and list(net.parameters()) == []
    with pytest.raises(RecursionError):
        net.train()


# ---- state -----------------------------------------------------------------------------------------------------------


def test_state_goes_and_comes():
    net, other = Net(), Net()
    state = net.state_dict()
    assert list(state) == ["scale", "first.weight", "first.bias", "second.weight"]
    assert state["scale"].data_ptr() == net.scale.data_ptr() and state._metadata["first"] == {"version": 1}
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert all((values(other)[k] == v).all() for k, v in values(net).items())
    other.load_state_dict({k: lamella.zeros(*t.shape) for k, t in state.items()}, assign=True)
    assert type(other.first.weight) is nn.Parameter and values(other)["first.weight"].any() == np.False_


def test_what_does_not_fit_is_reported_at_once():
    net, state = Net(), Net().state_dict()
    before = values(net)["second.weight"].copy()
    del state["first.bias"]
    state["first.weight"], state["more"] = lamella.ones(1, 2), lamella.ones(1)
    state["second.weight"] = "text"
    with pytest.raises(RuntimeError) as raised:
        net.load_state_dict(state)
    text = str(raised.value)
    assert text.startswith("Error(s) in loading state_dict for Net:")
    for words in (
        'Missing key(s) in state_dict: "first.bias"',
        'Unexpected key(s) in state_dict: "more"',
        "size mismatch for first.weight: the state_dict has shape (1, 2), the module (3, 4)",
        '"second.weight" must be a Tensor, got str',
    ):
        assert words in text
    assert (values(net)["second.weight"] == before).all()
    state = {"scale": lamella.zeros(2), "more": 1}
    missing, unexpected = net.load_state_dict(state, strict=False)
    assert missing == ["first.weight", "first.bias", "second.weight"] and unexpected == ["more"]
    assert net.scale.tolist() == [0, 0] and list(state) == ["scale", "more"]
    with pytest.raises(TypeError, match="'state_dict' must be a mapping of tensors, got list"):
        net.load_state_dict([])


def test_old_batch_norms_count_no_batches():
    state = nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    del state._metadata[""]["version"]
    assert nn.BatchNorm1d(2).load_state_dict(state).missing_keys == []


@pytest.mark.parametrize("carry", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
def test_copies(carry):
    net = nn.Sequential(OrderedDict(a=nn.Linear(2, 2), b=nn.BatchNorm1d(2)))
    net.c = net.a  # one module under two names
    handle = net.register_forward_hook(doubled)
    other = carry(net)
    assert repr(other) == repr(net) and other.c is other.a and other.a.weight is not net.a.weight
    assert type(other.a.weight) is nn.Parameter and other.training
    x = lamella.ones(3, 2)
    assert other(x).tolist() == net(x).tolist()
    handle.remove()
    assert other(x).tolist() != net(x).tolist()


def doubled(module, args, output):
    return output * 2


# ---- conversions -----------------------------------------------------------------------------------------------------


def test_conversions_keep_the_parameters():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    weight = net[0].weight
    assert net.double() is net and net[0].weight is weight and weight.dtype is lamella.float64
    assert net[1].num_batches_tracked.dtype is lamella.int64 and net[1].running_mean.dtype is lamella.float64
    net.to(lamella.ones(1, dtype=lamella.float16))
    assert weight.dtype is lamella.float16 and net.half().bfloat16().float()[0].weight is weight
    assert net.to("meta")[0].weight.is_meta and net.to_empty(device="cpu")[0].weight.is_cpu
    image = nn.Conv2d(2, 3, 3).to(memory_format=lamella.channels_last)
    assert image.weight.is_contiguous(memory_format=lamella.channels_last) and image.cpu() is image
    assert not any(m.training for m in net.eval().modules())


def test_lazy_modules():
    net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    state = copy.deepcopy(net).state_dict()
    assert nn.parameter.is_lazy(state["0.weight"])
    for call in (lambda: net[0].weight.shape, lambda: net[0].weight + 1):
        with pytest.raises((RuntimeError, ValueError), match="before the first call of its lazy module"):
            call()
    net.double()
    assert net(lamella.ones(2, 3, 5, 5, dtype=lamella.float64)).shape == (2, 2)
    assert [type(m).__name__ for m in net] == ["Conv2d", "BatchNorm2d", "Flatten", "Linear"]
    assert net[3].in_features == 36 and net[0].weight.dtype is lamella.float64
    fresh = nn.LazyLinear(2)
    fresh.load_state_dict(nn.Linear(3, 2).state_dict())
    assert fresh(lamella.ones(1, 3)).shape == (1, 2) and type(fresh) is nn.Linear


# ---- hooks -----------------------------------------------------------------------------------------------------------


def test_forward_hooks():
    net, seen = Net(), []
    handles = [
        net.register_forward_pre_hook(lambda m, args: seen.append("pre")),
        net.register_forward_pre_hook(lambda m, args, kwargs: (args, kwargs | {"times": 0}), with_kwargs=True),
        net.register_forward_pre_hook(lambda m, args: seen.append("first"), prepend=True),
        net.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True),
        net.register_forward_hook(lambda m, args, out: out + 1),
    ]
    assert net(lamella.ones(4)).tolist() == [1, 1] and seen == ["first", "pre", {"times": 0}]
    for handle in handles:
        handle.remove()
    assert net(lamella.ones(4), times=0).tolist() == [0, 0] and len(seen) == 3
    with net.register_forward_pre_hook(lambda m, args, kwargs: 1, with_kwargs=True):
        with pytest.raises(RuntimeError, match=r"Net: a forward pre-hook with kwargs must return None or a tuple"):
            net(lamella.ones(4))
    net.forward = lambda x: "own"
    assert net(1) == "own"


def test_hooks_that_are_always_called():
    net, seen = nn.Linear(2, 2), []
    net.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    net.register_forward_hook(lambda m, args, out: 1 / 0, always_call=True)
    with pytest.warns(UserWarning, match="Linear: a forward hook with always_call=True raised ZeroDivisionError"):
        with pytest.raises(RuntimeError, match="linear"):
            net(lamella.ones(3))
    assert seen == [None]


def test_hooks_of_all_modules():
    from lamella.nn.modules.module import register_module_forward_hook

    net, seen = nn.Sequential(nn.Identity(), nn.ReLU()), []
    with register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__)):
        net(lamella.ones(1))
    net(lamella.ones(1))
    assert seen == ["Identity", "ReLU", "Sequential"]


@needs_autograd
def test_backward_hooks():
    net, seen = nn.Linear(2, 2, bias=False), []
    net.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 3,))
    net.register_full_backward_hook(lambda m, ins, outs: seen.append((ins, outs)))
    net.register_full_backward_hook(lambda m, ins, outs: None if ins[0] is None else (ins[0] * 0,))
    x = lamella.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    ((into,), (out,)) = seen[0]
    assert out.tolist() == [[3, 3]] and x.grad.tolist() == [[0, 0]]
    np.testing.assert_allclose(into.numpy(), 3 * net.weight.detach().numpy().sum(0, keepdims=True), rtol=1e-6)
    assert net.weight.grad.tolist() == [[3, 3], [3, 3]]
    net(lamella.ones(1, 2)).sum().backward()  # no input requires a gradient
    assert seen[1][0] == (None,) and seen[1][1][0].tolist() == [[3, 3]]
    with pytest.raises(RuntimeError, match="backward hooks of a module are of one kind"):
        net.register_backward_hook(print)


@needs_autograd
def test_gradients_of_a_whole_net():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.BatchNorm1d(4), nn.Linear(4, 2)).double()
    x = lamella.randn(5, 3, dtype=lamella.float64, requires_grad=True)
    assert lamella.autograd.gradcheck(net, x) and lamella.autograd.gradgradcheck(net, x)
    net(x).sum().backward()
    assert all(p.grad is not None and p.grad.shape == p.shape for p in net.parameters())
    net.float()
    assert net[0].weight.grad.dtype is lamella.float32
    net.zero_grad(set_to_none=False)
    assert net[0].weight.grad.abs().sum() == 0
    net.zero_grad()
    assert net[0].weight.grad is None and not net.requires_grad_(False)[0].weight.requires_grad


@needs_autograd
def test_a_training_step_lowers_the_loss():
    lamella.manual_seed(0)
    net, loss = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2)), nn.CrossEntropyLoss()
    x = lamella.randn(64, 2)
    y = (x[:, 0] * x[:, 1] > 0).long()
    losses = []
    for _ in range(60):
        net.zero_grad()
        losses.append(loss(net(x), y))
        losses[-1].backward()
        with lamella.no_grad():
            for p in net.parameters():
                p -= 0.5 * p.grad
    assert losses[-1].item() < losses[0].item() / 2


# ---- containers, layers, initialization ------------------------------------------------------------------------------


def test_containers():
    row = nn.Sequential(nn.ReLU(), nn.Tanh())
    row.append(nn.Identity()).insert(0, nn.Sigmoid())
    assert [type(m).__name__ for m in row] == ["Sigmoid", "ReLU", "Tanh", "Identity"]
    assert len(row[1:3]) == 2 and type(row.pop(-1)) is nn.Identity and len(row + row) == 6 and len(row * 2) == 6
    del row[0]
    row[0] = nn.Identity()
    assert list(row._modules) == ["0", "1"]
    layers = nn.ModuleList([nn.ReLU()]) + [nn.Tanh()]
    layers += [nn.Identity()]
    assert len(layers) == 3 and layers[-1] is layers[2] and len(layers[:2]) == 2
    named = nn.ModuleDict([("a", nn.ReLU())])
    named["b"] = nn.Tanh()
    assert list(named) == ["a", "b"] and "a" in named and type(named.pop("a")) is nn.ReLU and len(named) == 1
    weights = nn.ParameterList([lamella.ones(2), 5]).append(lamella.zeros(1))
    assert [type(w).__name__ for w in weights] == ["Parameter", "int", "Parameter"]
    assert len(list(weights.parameters())) == 2
    by_name = nn.ParameterDict({"left": lamella.ones(2)}) | {"right": lamella.zeros(1)}
    assert list(by_name) == ["left", "right"] and by_name["left"] is by_name.left and by_name.get("up") is None
    with pytest.raises(ValueError, match="element 0 must be a pair, got 3 values"):
        nn.ModuleDict([(1, 2, 3)])


def test_running_statistics():
    x = np.random.default_rng(0).standard_normal((8, 3)).astype("float32")
    for momentum, share in ((0.1, 0.1), (None, 1.0)):
        norm = nn.BatchNorm1d(3, momentum=momentum)
        norm(lamella.from_numpy(x))
        np.testing.assert_allclose(norm.running_mean.numpy(), share * x.mean(0), rtol=1e-4, atol=1e-6)
        want = (1 - share) + share * x.var(0, ddof=1)
        np.testing.assert_allclose(norm.running_var.numpy(), want, rtol=1e-5)
        assert norm.num_batches_tracked == 1
        frozen = (x - norm.running_mean.numpy()) / np.sqrt(norm.running_var.numpy() + 1e-5)
        np.testing.assert_allclose(norm.eval()(lamella.from_numpy(x)).detach().numpy(), frozen, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
def test_padding_modes(mode):
    conv = nn.Conv1d(1, 1, 3, padding=2, bias=False, padding_mode=mode)
    x = np.arange(5, dtype="float32")
    names = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    want = np.correlate(np.pad(x, 2, mode=names[mode]), values(conv)["weight"][0, 0], "valid")
    got = conv(lamella.from_numpy(x).view(1, 1, 5)).detach().numpy()[0, 0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_initial_values():
    lamella.manual_seed(0)
    w = lamella.empty(400, 300)
    init = nn.init
    for call, std in (
        (lambda: init.xavier_normal_(w, 2.0), 2 * np.sqrt(2 / 700)),
        (lambda: init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"), np.sqrt(2 / 400)),
        (lambda: init.kaiming_uniform_(w), np.sqrt(2 / 300)),
        (lambda: init.xavier_uniform_(w), np.sqrt(2 / 700)),
        (lambda: init.trunc_normal_(w, std=0.5), 0.5),
        (lambda: init.normal_(w, 1, 3), 3),
    ):
        assert call() is w
        assert abs(w.std().item() - std) < 0.02 * std
    rows = init.orthogonal_(lamella.empty(3, 2, 4), gain=2).reshape(3, 8).numpy()
    np.testing.assert_allclose(rows @ rows.T, 4 * np.eye(3), atol=1e-5)
    assert (init.sparse_(w, 0.25) == 0).sum(0).tolist() == [100] * 300
    weight = init.dirac_(lamella.empty(4, 2, 3, 3), groups=2)
    x = lamella.randn(1, 4, 5, 5)
    assert nn.functional.conv2d(x, weight, padding=1, groups=2).tolist() == x.tolist()
    with pytest.raises(ValueError, match="fan in and fan out: a tensor of shape"):
        init.xavier_normal_(lamella.empty(3))
    layer = nn.Linear(100, 50)
    assert layer.weight.abs().max().item() <= 0.1 and layer.bias.abs().max().item() <= 0.1


def test_a_device_of_a_plugin_has_its_method():
    from heaps import Heap

    library = lamella.library.register_backend("barest", Heap())
    net = nn.Linear(2, 2).barest()
    assert net.weight.is_barest and net.cpu().weight.is_cpu
    library.close()


def test_the_quick_walk_writes_what_the_slow_one_writes():
    def network():
        net = nn.Sequential(Net(), nn.BatchNorm1d(2), nn.ModuleDict({"a": nn.Embedding(3, 2), "b": nn.Sequential()}))
        net[0].first.bias, net[0].second = None, Own()
        return net

    quick, slow = network(), network()
    for module in slow.modules():
        module.register_state_dict_post_hook(lambda *_: None)
    a, b = quick.state_dict(prefix="x."), slow.state_dict(prefix="x.")
    assert list(a) == list(b) and "x.0.second._extra_state" in a and "x.0.passing" not in a
    assert a._metadata == b._metadata and list(a._metadata) == list(b._metadata)
    assert not any(getattr(t, "requires_grad", False) for t in a.values())
    into = {}
    assert quick.state_dict(destination=into, keep_vars=True) is into and into["2.a.weight"] is quick[2]["a"].weight
    quick[1].state_dict = lambda destination, prefix, keep_vars: destination.update({prefix + "own": 1})
    assert quick.state_dict()["1.own"] == 1
    with pytest.raises(TypeError):
        quick[2].state_dict(destination=3)


class Own(nn.Linear):
    def __init__(self):
        super().__init__(1, 1)

    def get_extra_state(self):
        return 7


# ---- unusual uses of modules -----------------------------------------------------------------------------------------


def test_hooks_and_forwards_that_are_written_into_the_dict_are_called():
    def hook(module, args, output):
        return "hooked"

    for put in (
        lambda m: setattr(m, "_forward_hooks", OrderedDict({0: hook})),
        lambda m: vars(m).update(_forward_hooks=OrderedDict({0: hook})),
        lambda m: vars(m).update(forward=lambda x: "hooked"),
        lambda m: m.__setstate__({"_forward_pre_hooks": OrderedDict({0: lambda m, a: ("hooked",)})}),
    ):
        m = nn.Identity()
        assert m(1) == 1
        put(m)
        assert m(1) == "hooked"
    m = nn.Identity()
    m(1)
    m._forward_hooks = OrderedDict()
    m(1)
    m.register_forward_hook(hook)
    m.__getattr__("_forward_hooks")
    assert m(1) == "hooked"


def test_attributes_as_python_finds_them():
    relu = nn.ReLU()
    m = nn.Linear(1, 1)
    object.__setattr__(m, "passed_by", relu)
    assert vars(m)["passed_by"] is relu and "passed_by" not in m._modules
    object.__delattr__(m, "passed_by")

    class Asked(nn.Linear):
        def __getattr__(self, name):
            return "asked" if name == "weight" and "on" in vars(self) else super().__getattr__(name)

    m = Asked(1, 1)
    assert m.weight is m._parameters["weight"]
    m.on = True
    assert m.weight == "asked"

    class Failing(nn.Module):
        @property
        def x(self):
            raise AttributeError("no x yet")

    m = Failing()
    with pytest.raises(AttributeError, match="no x yet"):
        m.x  # noqa: B018
    m._buffers["x"] = lamella.ones(1)
    assert m.x.tolist() == [1]

    class Named(nn.Module, dict):  # also inherits from a class in C
        def _name(self):
            return 1

    m = Named()
    m["a"], m.w = 1, nn.Parameter(lamella.ones(1))
    assert dict(m) == {"a": 1} and m.w is m._parameters["w"] and "w" not in vars(m)

    class Helpful(nn.Sequential):
        _assign = _name = _forget = _repeated = None  # a user's class may use these names

    m = Helpful(nn.ReLU())
    m.w = nn.Parameter(lamella.ones(1))
    assert type(m[0]) is nn.ReLU and "w" in m._parameters


def test_a_backend_named_as_a_method_takes_nothing_away():
    train = nn.Module.train
    from lamella._devices import names
    from lamella.nn.modules._moves import mover

    names.give(nn.Module, "train", mover)
    assert nn.Module.train is train
    names.give(nn.Module, "nowhere", mover)
    try:
        assert nn.Module.nowhere.is_mover and nn.Module.nowhere.__doc__
        net = nn.ModuleDict({"nowhere": nn.ReLU()})  # a member with a device's name
        assert net.nowhere is net["nowhere"] and net.add_module("nowhere", None) is None
        with pytest.raises(RuntimeError, match="nowhere"):
            nn.Identity().nowhere()
    finally:
        del nn.Module.nowhere


def test_small_differences():
    p = nn.Parameter(lamella.ones(2), requires_grad=False)
    p.note = 1
    other = copy.deepcopy(p)
    assert type(other) is nn.Parameter and not hasattr(other, "note") and other.data_ptr() != p.data_ptr()
    net = nn.Identity()
    net.x = nn.Buffer(lamella.ones(1), persistent=False)
    net.x = nn.Buffer(lamella.ones(1))
    assert list(net.state_dict()) == ["x"]
    held = nn.ParameterDict({"z": lamella.ones(1), "a": lamella.ones(1)})
    assert list(held) == ["a", "z"]
    with pytest.raises(KeyError):
        nn.ParameterDict().popitem()
    seen = []
    net.register_forward_hook(lambda m, a, o: 1 / 0)
    net.register_forward_hook(lambda m, a, o: seen.append(o), always_call=True)
    with pytest.raises(ZeroDivisionError):
        net(7)
    assert seen == [7]
    with pytest.raises(ValueError, match="has no shape before the first call"):
        sum(p.numel() for p in nn.LazyLinear(2).parameters())
    assert copy.deepcopy(nn.LazyLinear(2))(lamella.ones(1, 3)).shape == (1, 2)
