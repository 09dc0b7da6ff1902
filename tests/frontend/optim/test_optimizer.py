"""The base class of optimizers: groups, bad input, hooks, state dicts, pickles, users' own classes."""

import copy
import pickle
import warnings

import lamella
import pytest
from lamella.optim.optimizer import (
    Optimizer,
    _use_grad_for_differentiable,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)

pytestmark = pytest.mark.needs("autograd")
NAMES = "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax NAdam RAdam RMSprop Rprop SGD LBFGS".split()


def make(name="Adam", size=2, **options):
    w = lamella.nn.Parameter(lamella.arange(1.0, size + 1.0))
    return getattr(lamella.optim, name)([w], lr=0.1, **options), w


def step(optimizer):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = lamella.ones_like(p.detach())
    return optimizer.step((lambda: 1.0) if isinstance(optimizer, lamella.optim.LBFGS) else None)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "params, error, text",
    [
        ([], ValueError, "empty parameter list"),
        (lamella.zeros(2), TypeError, "iterable of Tensors or dicts"),
        ([1], TypeError, "can only optimize Tensors"),
        ([lamella.zeros(1), "w"], TypeError, "can only optimize Tensors"),
        (
            [lamella.ones(1, requires_grad=True) * 2] if hasattr(lamella, "no_grad") else [],
            ValueError,
            "non-leaf|empty",
        ),
        ([{"params": {lamella.zeros(1)}}], TypeError, "ordered collections"),
        ([("a", lamella.zeros(1)), lamella.zeros(1)], ValueError, "with/without names"),
    ],
    ids=range(7),
)
def test_bad_parameters(name, params, error, text):
    if isinstance(params, str):
        params = [lamella.ones(1, requires_grad=True) * 2]
    with pytest.raises(error, match=text):
        getattr(lamella.optim, name)(params)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lr", [-1.0, float("nan"), lamella.tensor([0.1, 0.2])])
def test_bad_rates(name, lr):
    with pytest.raises(ValueError, match="learning rate|1-element"):
        getattr(lamella.optim, name)([lamella.zeros(1)], lr=lr)


@pytest.mark.parametrize(
    "name, options, text",
    [
        ("SGD", {"momentum": -1}, "momentum"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires"),
        ("SGD", {"fused": True, "foreach": True}, "together"),
        ("Adam", {"betas": (1.0, 0.9)}, "index 0"),
        ("Adam", {"betas": (0.9, float("nan"))}, "index 1"),
        ("Adam", {"betas": (0.9, lamella.tensor(0.9))}, "both floats or both Tensors"),
        ("Adam", {"eps": -1.0}, "epsilon"),
        ("Adam", {"fused": True, "differentiable": True}, "does not support"),
        ("Adam", {"lr": lamella.tensor(0.1), "foreach": True}, "capturable=False"),
        ("Adadelta", {"rho": 1.5}, "rho"),
        ("Adagrad", {"lr_decay": -1}, "lr_decay"),
        ("NAdam", {"momentum_decay": -1}, "momentum_decay"),
        ("Rprop", {"etas": (1.5, 2.0)}, "eta values"),
        ("RMSprop", {"alpha": -1}, "alpha"),
        ("Adafactor", {"d": 0.5}, "threshold"),
        ("Muon", {}, "2D"),
    ],
)
def test_bad_options(name, options, text):
    with pytest.raises((ValueError, RuntimeError), match=text):
        getattr(lamella.optim, name)([lamella.zeros(1)], **options)


def test_groups():
    a, b, c = (lamella.zeros(1) for _ in range(3))
    optimizer = lamella.optim.SGD([{"params": a, "lr": 0.5}, {"params": [b], "momentum": 0.9}], lr=0.1)
    assert [(g["lr"], g["momentum"]) for g in optimizer.param_groups] == [(0.5, 0), (0.1, 0.9)]
    for bad in (a, [c, b]):
        with pytest.raises(ValueError, match="more than one parameter group"):
            optimizer.add_param_group({"params": bad})
    with pytest.raises(ValueError, match="with/without names"):
        optimizer.add_param_group({"params": [("c", c)]})
    with pytest.raises(TypeError, match="must be a dict"):
        optimizer.add_param_group([c])
    assert len(optimizer.param_groups) == 2
    with pytest.warns(UserWarning, match="duplicate"):
        lamella.optim.SGD([a, a])
    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Optimizer([a], {"lr": required})


def test_names():
    model = lamella.nn.Linear(2, 1)
    optimizer = lamella.optim.Adam(model.named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    other = lamella.optim.Adam(model.parameters())
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["param_names"] == ["weight", "bias"]


def test_repr():
    assert repr(lamella.optim.SGD([lamella.zeros(1)], lr=0.1)) == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n    fused: None\n"
        "    lr: 0.1\n    maximize: False\n    momentum: 0\n    nesterov: False\n    weight_decay: 0\n)"
    )
    both = repr(Optimizer([{"params": [lamella.zeros(1)]}, {"params": [lamella.zeros(1)]}], {"lr": 1}))
    assert both == "Optimizer (\nParameter Group 0\n    lr: 1\n\nParameter Group 1\n    lr: 1\n)"


def test_zero_grad():
    optimizer, w = make()
    step(optimizer)
    kept = w.grad
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is kept and w.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert w.grad is None
    w.grad = lamella.ones(2, requires_grad=True) * 2
    optimizer.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0, 0] and not w.grad.requires_grad


def test_hooks_of_a_step():
    optimizer, w = make("SGD")
    seen = []
    handles = [
        register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append(("all before", args[0] is o))),
        optimizer.register_step_pre_hook(lambda o, args, kwargs: (args[:1] + (lambda: 5,), kwargs)),
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(("after", args[1]()))),
        register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append(("all after", kwargs))),
    ]
    assert optimizer.step() == 5
    assert seen == [("all before", True), ("after", 5), ("all after", {})]
    for handle in handles:
        handle.remove()
    assert optimizer.step() is None and len(seen) == 3
    with optimizer.register_step_pre_hook(lambda *_: 1), pytest.raises(RuntimeError, match="None or a tuple"):
        optimizer.step()


def test_hooks_of_state_dicts():
    optimizer, _ = make("SGD")
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append(2))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append(1), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: state | {"more": 3})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(state.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append(4))
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert seen == [1, 2, 3, 4] and state["more"] == 3


@pytest.mark.parametrize("name", [n for n in NAMES if n != "LBFGS"])
@pytest.mark.parametrize("way", ["state_dict", "pickle", "deepcopy"])
def test_it_goes_on_from_a_copy(name, way):
    optimizer, w = make(name)
    for _ in range(3):
        step(optimizer)
    if way == "state_dict":
        other, v = make(name)
        with lamella.no_grad():
            v.copy_(w)
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    else:
        other = pickle.loads(pickle.dumps(optimizer)) if way == "pickle" else copy.deepcopy(optimizer)
        v = other.param_groups[0]["params"][0]
        assert v is not w and (not optimizer.state or v in other.state)
    step(optimizer), step(other)
    assert w.tolist() == v.tolist() and repr(other) == repr(optimizer)


def test_the_layout_of_a_state_dict():
    a, b, c = (lamella.ones(n) for n in (1, 2, 3))
    optimizer = lamella.optim.Adam([{"params": [a, b]}, {"params": [c], "lr": 0.5}])
    step(optimizer)
    state = optimizer.state_dict()
    assert [g["params"] for g in state["param_groups"]] == [[0, 1], [2]] and list(state["state"]) == [0, 1, 2]
    assert list(state["state"][2]) == ["step", "exp_avg", "exp_avg_sq"] and state["state"][2]["exp_avg"].shape == (3,)


def test_loading_casts_but_not_the_step():
    optimizer, _ = make()
    step(optimizer)
    w = lamella.ones(2, dtype=lamella.float64)
    other = lamella.optim.Adam([w])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[w]["exp_avg"].dtype is lamella.float64 and other.state[w]["step"].dtype is lamella.float32
    state = optimizer.state_dict()
    state["state"] = {0: state["state"][0] | {"step": 7}}  # older programs saved a number as step
    other.load_state_dict(state)
    assert other.state[w]["step"].item() == 7
    step(other)


@pytest.mark.parametrize(
    "spoil, error",
    [
        (lambda s: s.pop("state"), KeyError),
        (lambda s: s.pop("param_groups"), KeyError),
        (lambda s: s["param_groups"].append(s["param_groups"][0]), ValueError),
        (lambda s: s["param_groups"][0]["params"].append(1), ValueError),
        (lambda s: s["state"][0].update(step="seven"), ValueError),
    ],
    ids=range(5),
)
def test_a_wrong_state_dict_changes_nothing(spoil, error):
    optimizer, w = make()
    step(optimizer)
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["lr"] = 9.0
    spoil(state)
    before, groups, own = repr(optimizer), optimizer.param_groups, optimizer.state
    with pytest.raises(error):
        optimizer.load_state_dict(state)
    assert repr(optimizer) == before and optimizer.param_groups is groups and optimizer.state is own
    step(optimizer)


def test_a_class_of_ones_own():
    class Momentum(Optimizer):
        def __init__(self, params, lr=required):
            super().__init__(params, {"lr": lr})

        @_use_grad_for_differentiable
        def step(self, closure=None):
            loss = None
            if closure is not None:
                with lamella.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if "buffer" not in state:
                        state["buffer"] = lamella.zeros_like(p)
                    state["buffer"].mul_(0.5).add_(p.grad)
                    p.add_(state["buffer"], alpha=-group["lr"])
            return loss

    w = lamella.nn.Parameter(lamella.tensor([4.0]))
    optimizer = Momentum([w], lr=0.25)
    called = []
    optimizer.register_step_post_hook(lambda *_: called.append(1))

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum() / 2
        loss.backward()
        return loss

    assert [optimizer.step(closure).item() for _ in range(2)] == [8.0, 4.5] and called == [1, 1]
    assert not w.grad.requires_grad and w.requires_grad

    class Plain(Optimizer):
        pass

    with pytest.raises(NotImplementedError, match="Plain"):
        Plain([w], {}).step()


@pytest.mark.parametrize("name", "SGD Adam AdamW Adagrad Adadelta Adamax NAdam RAdam RMSprop".split())
def test_differentiable_steps_have_a_gradient(name):
    """The loss after three steps is differentiated by the first parameters, and compared with central differences."""
    more = {"momentum": 0.5} if name in ("SGD", "RMSprop") else {"amsgrad": True} if name == "Adam" else {}

    def loss(start):
        w = start.clone()
        w.grad = None
        optimizer = getattr(lamella.optim, name)([w], lr=0.1, weight_decay=0.1, differentiable=True, **more)
        for _ in range(3):
            w.grad = start * start + 0.5
            optimizer.step()
        return (w * w).sum()

    start = lamella.tensor([1.0, -0.5, 2.0], dtype=lamella.float64, requires_grad=True)
    loss(start).backward()
    for i in range(3):
        moved = [start.detach().clone() for _ in range(2)]
        for m, sign in zip(moved, (1, -1), strict=True):
            m[i] += sign * 1e-6
        numeric = (loss(moved[0]) - loss(moved[1])).item() / 2e-6
        assert abs(start.grad[i].item() - numeric) < 1e-5 * max(1, abs(numeric))


def test_a_rate_that_is_a_tensor():
    for name in ("SGD", "Adam", "Adagrad", "RMSprop", "Adafactor", "ASGD", "Rprop"):
        results = []
        for lr in (0.1, lamella.tensor(0.1, dtype=lamella.float64), lamella.tensor([0.1], dtype=lamella.float64)):
            for foreach in (None, False):
                w = lamella.ones(3, dtype=lamella.float64)
                step(getattr(lamella.optim, name)([w], lr=lr, foreach=foreach))
                results.append(w.tolist())
        for r in results[1:]:
            assert r == pytest.approx(results[0], rel=1e-6), name
    lr = lamella.tensor(0.5, requires_grad=True)
    w = lamella.zeros(1)
    step(lamella.optim.SGD([w], lr=lr, differentiable=True))
    w.sum().backward()
    assert lr.grad.item() == -1


def test_a_swapped_state_goes_back_after_an_error():
    optimizer, w = make()
    step(optimizer)
    other = lamella.zeros(2)
    before, group = optimizer.state, dict(optimizer.param_groups[0])
    with pytest.raises(ZeroDivisionError):
        with lamella.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, optimizer.state_dict()):
            assert optimizer.param_groups[0]["params"] == [other]
            raise ZeroDivisionError
    assert optimizer.state is before and optimizer.param_groups[0] == group


def test_it_is_loaded_when_it_is_used():
    import subprocess
    import sys

    code = (
        "import sys, lamella; lamella.optim.SGD([lamella.zeros(1)]); "
        "assert not {'lamella.nn.modules', 'lamella.optim.adam', 'lamella.optim.lr_scheduler'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_functions_of_modules():
    from lamella.optim.adam import adam
    from lamella.optim.sgd import sgd

    w, steps = lamella.zeros(1), lamella.tensor(0.0)
    options = {"amsgrad": False, "beta1": 0.9, "beta2": 0.999, "lr": 0.5, "weight_decay": 0.0, "eps": 0.0}
    adam([w], [lamella.ones(1)], [lamella.zeros(1)], [lamella.zeros(1)], [], [steps], **options, maximize=False)
    assert w.item() == pytest.approx(-0.5, rel=1e-5) and steps.item() == 1
    buffers = [None]
    options = {"weight_decay": 0.0, "momentum": 0.9, "lr": 0.5, "dampening": 0.0, "nesterov": False, "maximize": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sgd([w], [lamella.ones(1)], buffers, **options)
    assert buffers[0].item() == 1
