"""Optimizers take defaults, ranges, state and options from the updates' structs; options in tensors have gradients."""

import inspect

import lamella
import pytest

pytestmark = pytest.mark.needs("autograd")

BETAS = {"betas": (0.9, 0.999), "eps": 1e-8}
# The defaults that torch documents.
DEFAULTS = {
    "SGD": {"lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False},
    "Adam": {"lr": 1e-3, **BETAS, "weight_decay": 0, "amsgrad": False},
    "AdamW": {"lr": 1e-3, **BETAS, "weight_decay": 1e-2, "amsgrad": False},
    "Adagrad": {"lr": 1e-2, "lr_decay": 0, "weight_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10},
    "Adadelta": {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0},
    "Adamax": {"lr": 2e-3, **BETAS, "weight_decay": 0},
    "NAdam": {"lr": 2e-3, **BETAS, "weight_decay": 0, "momentum_decay": 4e-3, "decoupled_weight_decay": False},
    "RAdam": {"lr": 1e-3, **BETAS, "weight_decay": 0, "decoupled_weight_decay": False},
    "ASGD": {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0},
    "Rprop": {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50)},
    "RMSprop": {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0, "centered": False},
}


def test_every_update_has_a_class():
    assert {f"_fused_{name.lower()}_" for name in DEFAULTS} == {made["operator"] for made in lamella._C._updates()}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_and_their_order(name):
    signature = inspect.signature(getattr(lamella.optim, name))
    found = {k: p.default for k, p in signature.parameters.items()}
    assert list(found)[: len(DEFAULTS[name]) + 1] == ["params", *DEFAULTS[name]]
    assert {k: found[k] for k in DEFAULTS[name]} == DEFAULTS[name]
    assert lamella.optim.SGD([lamella.zeros(1)]).defaults["maximize"] is False


STATES = {
    "Adam": (dict(amsgrad=True), {"step": 0, "exp_avg": 0, "exp_avg_sq": 0, "max_exp_avg_sq": 0}),
    "Adagrad": (dict(initial_accumulator_value=0.5), {"step": 0, "sum": 0.5}),
    "ASGD": (dict(lr=0.25), {"step": 0, "ax": 0, "mu": 1, "eta": 0.25}),
    "NAdam": ({}, {"step": 0, "exp_avg": 0, "exp_avg_sq": 0, "mu_product": 1}),
    "Rprop": (dict(lr=0.25), {"step": 0, "prev": 0, "step_size": 0.25}),
    "RMSprop": (dict(momentum=0.5), {"step": 0, "square_avg": 0, "momentum_buffer": 0}),
}


@pytest.mark.parametrize("name", STATES)
def test_state_begins_as_the_papers_say(name):
    options, wanted = STATES[name]
    for dtype in (lamella.float64, lamella.complex64):
        w, found = lamella.zeros(2, dtype=dtype), {}
        optimizer = getattr(lamella.optim, name)([w], **options)
        optimizer._init_state(w, found, optimizer.param_groups[0])
        assert list(found) == list(wanted)
        for key, value in wanted.items():
            assert found[key].shape in ((), (2,))
            start = complex(value, value) if found[key].is_complex() else value
            assert (found[key] == start).all(), key


def loss(name, start, values, **options):
    """Returns the loss after three steps from a point; some of the options are tensors."""
    w = start.clone()
    optimizer = getattr(lamella.optim, name)([w], differentiable=True, **options, **values)
    for _ in range(3):
        w.grad = start * start + 0.5
        optimizer.step()
    return (w * w).sum()


OPTIONS = [(name, "lr") for name in DEFAULTS if name not in ("ASGD", "Rprop")]
OPTIONS += [(name, "weight_decay") for name in ("SGD", "Adam", "AdamW")] + [("Adam", "betas"), ("AdamW", "betas")]


@pytest.mark.parametrize("name, option", OPTIONS)
def test_options_in_tensors_have_gradients(name, option):
    """The gradients equal central differences."""
    start = lamella.tensor([1.0, -0.5, 2.0], dtype=lamella.float64)
    numbers = (0.5, 0.75) if option == "betas" else (0.25,)
    more = {} if option == "weight_decay" else {"weight_decay": 0.125}

    def given(values):
        return {option: tuple(values) if option == "betas" else values[0]}

    tensors = [lamella.tensor(x, dtype=lamella.float64, requires_grad=True) for x in numbers]
    loss(name, start, given(tensors), **more).backward()
    for i, t in enumerate(tensors):
        moved = [[x + sign * 1e-6 * (i == k) for k, x in enumerate(numbers)] for sign in (1, -1)]
        high, low = (loss(name, start, given(m), **more).item() for m in moved)
        assert t.grad.item() == pytest.approx((high - low) / 2e-6, rel=1e-5, abs=1e-8)
