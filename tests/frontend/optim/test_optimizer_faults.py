"""Wrong options in groups, wrong state dicts, failing steps: the right error, and an unchanged optimizer."""

import copy

import lamella
import pytest

pytestmark = pytest.mark.needs("autograd")
NAN = float("nan")
OPTIONS = {
    "SGD": dict(lr=NAN, momentum=-1, dampening=NAN, weight_decay=NAN, nesterov=True),
    "Adam": dict(lr=-1, betas=(2.0, -1.0), eps=-1, weight_decay=NAN),
    "AdamW": dict(lr=NAN, betas=(0.9, NAN), eps=NAN, weight_decay=-1),
    "Adamax": dict(lr=-1, betas=(-0.1, 0.9), eps=NAN, weight_decay=-1),
    "NAdam": dict(lr=NAN, betas=(0.9, 1.0), eps=-1, weight_decay=-1, momentum_decay=NAN),
    "RAdam": dict(lr=NAN, betas=(1.0, 0.9), eps=NAN, weight_decay=NAN),
    "Adadelta": dict(lr=-1, rho=1.5, eps=NAN, weight_decay=-1),
    "Adagrad": dict(lr=NAN, lr_decay=-1, weight_decay=NAN, eps=-1, initial_accumulator_value=NAN),
    "ASGD": dict(lr=NAN, lambd=NAN, alpha=-1, t0=NAN, weight_decay=NAN),
    "RMSprop": dict(lr=-1, alpha=NAN, eps=-1, weight_decay=-1, momentum=NAN),
    "Rprop": dict(lr=NAN, etas=(0.5, 0.9), step_sizes=(1, -1)),
    "Adafactor": dict(lr=NAN, beta2_decay=0.1, eps=(None, NAN), d=NAN, weight_decay=-1),
    "Muon": dict(lr=-1, momentum=NAN, weight_decay=-1, eps=NAN, ns_steps=100, ns_coefficients=(1, 2, NAN)),
    "LBFGS": dict(lr=NAN, max_iter=-1, max_eval=-1, tolerance_grad=NAN, tolerance_change=NAN, history_size=0),
}


def parameter(seed=0):
    return lamella.nn.Parameter(lamella.arange(6.0).reshape(2, 3) + seed)


@pytest.mark.parametrize("name, option", [(n, o) for n, options in OPTIONS.items() for o in options])
def test_wrong_options_are_refused_wherever_they_are_given(name, option):
    make, bad = getattr(lamella.optim, name), {option: OPTIONS[name][option]}
    with pytest.raises(ValueError):
        make([parameter()], **bad)
    with pytest.raises(ValueError):
        make([{"params": [parameter()], **bad}])
    if name != "LBFGS":  # LBFGS takes one group
        optimizer, group = make([parameter()]), {"params": [parameter()], **bad}
        with pytest.raises(ValueError):
            optimizer.add_param_group(group)
        assert len(optimizer.param_groups) == 1


def test_options_of_a_wrong_type_are_named():
    with pytest.raises(TypeError, match="Invalid lr: '0.1' of type str"):
        lamella.optim.SGD([parameter()], lr="0.1")
    with pytest.raises(TypeError, match="Invalid betas: 0.9 of type float"):
        lamella.optim.Adam([{"params": [parameter()], "betas": 0.9}])
    with pytest.raises(RuntimeError, match="together"):
        lamella.optim.Adam([{"params": [parameter()], "fused": True, "foreach": True}])


def stepped(name, size=None, **options):
    w = parameter() if size is None else lamella.nn.Parameter(lamella.ones(size))
    optimizer = getattr(lamella.optim, name)([("w", w)], **options)

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    closure()
    for _ in range(2):
        optimizer.step(closure)
    return optimizer


STATES = dict.fromkeys(OPTIONS, {}) | {"SGD": {"momentum": 0.5}, "RMSprop": {"momentum": 0.5, "centered": True}}
STATES |= {"Adam": {"amsgrad": True}}


@pytest.mark.parametrize("name", STATES)
def test_a_state_of_wrong_shapes_is_refused_at_load(name):
    optimizer, good = stepped(name, **STATES[name]), stepped(name, **STATES[name]).state_dict()
    optimizer.load_state_dict(good)
    before = copy.deepcopy(optimizer.state_dict())
    arrays = [k for k, v in good["state"][0].items() if isinstance(v, lamella.Tensor) and v.dim()]
    assert arrays
    for key in arrays:
        bad = copy.deepcopy(good)
        bad["state"][0][key] = lamella.zeros(5)
        shape = tuple(good["state"][0][key].shape)
        with pytest.raises(ValueError) as info:
            optimizer.load_state_dict(bad)
        assert f"{name}.load_state_dict: parameter 0 (w): its '{key}' has shape (5,)" in str(info.value)
        assert f"expected a tensor of shape {shape}" in str(info.value)
        del bad["state"][0][key]
        if name not in ("SGD", "Muon", "LBFGS"):  # these make missing state
            with pytest.raises(ValueError, match=rf"parameter 0 \(w\): its state has no '{key}'"):
                optimizer.load_state_dict(bad)
    assert str(optimizer.state_dict()) == str(before)
    assert optimizer.state[optimizer.param_groups[0]["params"][0]] is not good["state"][0]


@pytest.mark.parametrize("name", [n for n in OPTIONS if n not in ("SGD", "Adam", "AdamW")])
def test_the_state_of_another_optimizer_is_refused_at_load(name):
    optimizer = stepped(name)
    with pytest.raises(ValueError, match=f"{name}.load_state_dict: parameter (group )?0 .*has no '"):
        optimizer.load_state_dict(stepped("SGD", momentum=0.5).state_dict())
    optimizer.step(lambda: 1.0)


def test_other_wrong_states():
    optimizer = stepped("Adam")
    good = optimizer.state_dict()
    with pytest.raises(ValueError, match="parameter group 0 has no 'eps'; it is that of another optimizer"):
        optimizer.load_state_dict(stepped("SGD").state_dict())
    with pytest.raises(ValueError, match="its state has no 'exp_avg'; expected a tensor of shape .2, 3."):
        optimizer.load_state_dict(good | {"state": {0: {"step": 3}}})
    with pytest.raises(ValueError, match="its 'exp_avg' is float; expected a tensor"):
        optimizer.load_state_dict(good | {"state": {0: good["state"][0] | {"exp_avg": 1.0}}})
    with pytest.raises(ValueError, match="its state is int, not a dict"):
        optimizer.load_state_dict(good | {"state": {0: 3}})
    with pytest.raises(ValueError, match="'state' is list, not a dict"):
        optimizer.load_state_dict(good | {"state": []})
    assert optimizer.state_dict()["state"][0]["step"].item() == 2
    bad = stepped("LBFGS").state_dict()
    bad["state"][0]["old_dirs"] = [lamella.ones(3)]
    with pytest.raises(ValueError, match="'old_dirs' has tensors of another shape"):
        stepped("LBFGS").load_state_dict(bad)


def test_a_class_of_ones_own_loads_what_it_saves():
    class Own(lamella.optim.Adam):
        def step(self, closure=None):
            for p in self.param_groups[0]["params"]:
                self.state[p]["times"] = self.state[p].get("times", 0) + 1

    one, other = Own([parameter()]), Own([parameter()])
    one.step()
    other.load_state_dict(one.state_dict())
    assert other.state_dict()["state"] == {0: {"times": 1}}


@pytest.mark.parametrize("foreach", [None, True, False])
@pytest.mark.parametrize(
    "name", ["Adam", "NAdam", "RAdam", "Adagrad", "Adamax", "ASGD", "RMSprop", "Adadelta", "Rprop"]
)
def test_a_step_that_fails_is_not_counted(name, foreach):
    optimizer = stepped(name, foreach=foreach)
    (w,) = optimizer.param_groups[0]["params"]
    state = optimizer.state[w]
    key = next(k for k, v in state.items() if v.dim())
    kept, state[key] = state[key], lamella.zeros(5)
    before = w.tolist()
    with pytest.raises(RuntimeError):
        optimizer.step()
    assert state["step"].item() == 2
    assert w.tolist() == before or foreach is not None  # else some parameters were updated before the error
    state[key] = kept
    optimizer.step()
    assert state["step"].item() == 3 and w.tolist() != before


@pytest.mark.parametrize("name", [n for n in OPTIONS if n not in ("LBFGS", "Muon", "Adafactor")])
def test_a_parameter_in_the_memory_of_its_gradient_is_refused(name):
    b = lamella.arange(10.0)
    optimizer = getattr(lamella.optim, name)([b[1:]], lr=0.1)
    (w,) = optimizer.param_groups[0]["params"]
    w.grad = b[:-1]
    with pytest.raises(RuntimeError, match=r"argument 'grads\[0\]': some of its elements .* single memory location"):
        optimizer.step()
    assert b.tolist() == list(range(10))
    assert "step" not in optimizer.state[w] or optimizer.state[w]["step"].item() == 0


def schedulers():
    s = lamella.optim.lr_scheduler
    yield lambda o: s.StepLR(o, 0), "step_size"
    yield lambda o: s.StepLR(o, -2), "step_size"
    yield lambda o: s.CosineAnnealingLR(o, 0), "T_max"
    yield lambda o: s.CyclicLR(o, 0.1, 1.0, step_size_up=0), "step_size_up"
    yield lambda o: s.CyclicLR(o, 0.1, 1.0, step_size_up=1, step_size_down=-1), "step_size_down"

    def sequential(o, milestones):
        return s.SequentialLR(o, [s.ConstantLR(o, 0.1) for _ in range(3)], milestones)

    yield lambda o: sequential(o, [4, 2]), "ascending"


@pytest.mark.parametrize("make, text", list(schedulers()))
def test_schedulers_without_a_length_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make(lamella.optim.SGD([parameter()], lr=1.0, momentum=0.5))


def test_a_constant_factor_of_0_ends():
    optimizer = lamella.optim.SGD([parameter()], lr=0.5)
    scheduler, rates = lamella.optim.lr_scheduler.ConstantLR(optimizer, 0.0, total_iters=2), []
    for _ in range(4):
        rates += scheduler.get_last_lr()
        optimizer.step()
        scheduler.step()
    assert rates == [0, 0, 0.5, 0.5]


def test_a_milestone_of_0_begins_with_the_second():
    s, optimizer = lamella.optim.lr_scheduler, lamella.optim.SGD([parameter()], lr=1.0)
    both = [s.ConstantLR(optimizer, 0.1), s.ExponentialLR(optimizer, 0.5)]
    scheduler = s.SequentialLR(optimizer, both, [0])
    assert scheduler.get_last_lr() == [1.0] == [optimizer.param_groups[0]["lr"]]
