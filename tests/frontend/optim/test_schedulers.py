"""Schedulers follow closed formulas; their states, and warnings about the order of calls."""

import copy
import math
import pickle
import warnings

import lamella
import pytest
from lamella.optim import lr_scheduler as S
from lamella.optim.swa_utils import SWALR

pytestmark = pytest.mark.needs("autograd")


def sgd(**options):
    return lamella.optim.SGD([{"params": lamella.zeros(1)}, {"params": lamella.zeros(1), "lr": 0.1}], lr=1.0, **options)


def restart(t, length, factor):
    while t >= length:
        t, length = t - length, length * factor
    return (1 + math.cos(math.pi * t / length)) / 2


def triangle(t, up, down):
    t %= up + down
    return t / up if t <= up else 1 - (t - up) / down


# A scheduler, and the rate in step t of a group with the initial rate `lr`.
CASES = {
    "lambda": (lambda o: S.LambdaLR(o, lambda t: 0.9**t), lambda t, lr: lr * 0.9**t),
    "two lambdas": (
        lambda o: S.LambdaLR(o, [lambda t: 1.0, lambda t: 1 / (1 + t)]),
        lambda t, lr: lr if lr == 1 else lr / (1 + t),
    ),
    "multiplicative": (
        lambda o: S.MultiplicativeLR(o, lambda t: 1 / t),
        lambda t, lr: lr / math.factorial(t),
    ),
    "step": (lambda o: S.StepLR(o, 3, 0.5), lambda t, lr: lr * 0.5 ** (t // 3)),
    "milestones": (
        lambda o: S.MultiStepLR(o, [2, 5, 5], 0.5),
        lambda t, lr: lr * 0.5 ** ((t >= 2) + 2 * (t >= 5)),
    ),
    "constant": (lambda o: S.ConstantLR(o, 0.25, 4), lambda t, lr: lr * (0.25 if t < 4 else 1)),
    "linear": (lambda o: S.LinearLR(o, 0.25, 0.75, 8), lambda t, lr: lr * (0.25 + 0.5 * min(t, 8) / 8)),
    "exponential": (lambda o: S.ExponentialLR(o, 0.9), lambda t, lr: lr * 0.9**t),
    "polynomial": (lambda o: S.PolynomialLR(o, 12, 2.0), lambda t, lr: lr * max(0, 1 - t / 12) ** 2),
    "cosine": (
        lambda o: S.CosineAnnealingLR(o, 7, 0.01),
        lambda t, lr: 0.01 + (lr - 0.01) * (1 + math.cos(math.pi * t / 7)) / 2,
    ),
    "restarts": (lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2), lambda t, lr: lr * restart(t, 3, 2)),
    "equal restarts": (lambda o: S.CosineAnnealingWarmRestarts(o, 4), lambda t, lr: lr * restart(t, 4, 1)),
    "triangular": (
        lambda o: S.CyclicLR(o, 0.25, 0.75, 3, 5, cycle_momentum=False),
        lambda t, lr: 0.25 + 0.5 * triangle(t, 3, 5),
    ),
    "triangular2": (
        lambda o: S.CyclicLR(o, 0.0, 1.0, 3, mode="triangular2", cycle_momentum=False),
        lambda t, lr: triangle(t, 3, 3) / 2 ** (t // 6),
    ),
    "exp_range": (
        lambda o: S.CyclicLR(o, 0.0, 1.0, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
        lambda t, lr: triangle(t, 3, 3) * 0.9**t,
    ),
    "one cycle": (
        lambda o: S.OneCycleLR(o, 1.0, total_steps=21, pct_start=0.5, anneal_strategy="linear", cycle_momentum=False),
        lambda t, lr: 0.04 + 0.96 * t / 9.5 if t <= 9.5 else 1 + (4e-6 - 1) * (t - 9.5) / 10.5,
    ),
    "sequence": (
        lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 99), S.ExponentialLR(o, 0.5)], [4]),
        lambda t, lr: lr * (0.1 if t < 4 else 0.5 ** (t - 4)),
    ),
    "chain": (
        lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9)]),
        lambda t, lr: lr * 0.9**t * (0.1 if t < 4 else 1),
    ),
    "swa": (
        lambda o: SWALR(o, 0.5, 4),
        lambda t, lr: lr + (0.5 - lr) * (1 - math.cos(math.pi * min(t, 4) / 4)) / 2,
    ),
    "swa at once": (lambda o: SWALR(o, [0.5, 0.5], 0, "linear"), lambda t, lr: 0.5 if t else None),
}


@pytest.mark.parametrize("tensor", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_closed_formulas(name, tensor):
    make, rate = CASES[name]
    optimizer = sgd()
    if tensor:
        for group in optimizer.param_groups:
            group["lr"] = lamella.tensor(group["lr"], dtype=lamella.float64)
    rates = [group["lr"] for group in optimizer.param_groups]
    scheduler = make(optimizer)
    for t in range(20):
        now = [group["lr"] for group in optimizer.param_groups]
        expected = [rate(t, lr) for lr in (1.0, 0.1)]
        if None not in expected:
            assert list(map(float, now)) == pytest.approx(expected, rel=1e-9, abs=1e-12), t
        assert list(map(float, now)) == list(map(float, scheduler.get_last_lr()))
        optimizer.step()
        scheduler.step()
    if tensor:
        assert all(a is b["lr"] for a, b in zip(rates, optimizer.param_groups, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_it_goes_on_from_its_state(name):
    make, _ = CASES[name]
    one, two = sgd(), sgd()
    scheduler, other = make(one), make(two)
    for _ in range(5):
        one.step(), scheduler.step()
    state = copy.deepcopy(scheduler.state_dict())
    keys = sorted(state)
    other.load_state_dict(state)
    two.load_state_dict(one.state_dict())
    assert sorted(state) == keys
    for _ in range(10):
        one.step(), two.step(), scheduler.step(), other.step()
        assert scheduler.get_last_lr() == other.get_last_lr() and repr(one) == repr(two)


@pytest.mark.parametrize("name", ["step", "milestones", "linear", "exponential", "polynomial", "cosine", "restarts"])
def test_a_step_to_an_epoch(name):
    make, rate = CASES[name]
    optimizer = sgd()
    scheduler = make(optimizer)
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in (7, 2, 11):
            scheduler.step(t)
            assert scheduler.get_last_lr() == pytest.approx([rate(t, lr) for lr in (1.0, 0.1)])


def test_momentum_goes_against_the_rate():
    for options, key in (({"momentum": 0.5}, "momentum"), (None, "betas")):
        optimizer = sgd(**options) if options else lamella.optim.Adam([lamella.zeros(1)])
        scheduler = S.CyclicLR(optimizer, 0.0, 1.0, 4, base_momentum=0.5, max_momentum=0.9)
        for t in range(12):
            value = optimizer.param_groups[0][key]
            expected = 0.9 - 0.4 * triangle(t, 4, 4)
            assert (value[0] if key == "betas" else value) == pytest.approx(expected)
            optimizer.step(), scheduler.step()
    optimizer = sgd(momentum=0.5)
    scheduler = S.OneCycleLR(optimizer, 1.0, epochs=2, steps_per_epoch=10, three_phase=True)
    found = []
    for _ in range(19):
        found.append(optimizer.param_groups[0]["momentum"])
        optimizer.step(), scheduler.step()
    assert found[0] == 0.95 and min(found) == pytest.approx(0.85) and found[5] == min(found)
    optimizer.step(), scheduler.step()
    with pytest.raises(ValueError, match="number of total steps is 20"):
        scheduler.step()


def test_plateau():
    optimizer = sgd()
    scheduler = S.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=2, min_lr=[0.2, 0.0])
    rates = []
    for loss in (3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1):
        scheduler.step(lamella.tensor(float(loss)))
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2]
    best = S.ReduceLROnPlateau(sgd(), "max", patience=0, threshold=0.5, threshold_mode="abs")
    for value, bad in ((1.0, 0), (1.6, 0), (2.0, 0)):
        best.step(value)
        assert best.num_bad_epochs == bad
    assert best.best == 1.6 and best.get_last_lr() == pytest.approx([0.1, 0.01])
    optimizer.add_param_group({"params": lamella.ones(1)})
    with pytest.raises(RuntimeError, match="number of param groups"):
        for _ in range(9):
            scheduler.step(5.0)


def test_warnings():
    scheduler = S.StepLR(sgd(), 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    optimizer = sgd()
    scheduler = S.StepLR(optimizer, 1)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="overridden"):
        scheduler.step()
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()
    with pytest.warns(UserWarning, match="deprecated"):
        scheduler.step(3)
    optimizer = sgd()
    scheduler = S.StepLR(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            optimizer.step(), scheduler.step()


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda o: S.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (lambda o: S.StepLR(o, 1, last_epoch=3), KeyError, "initial_lr"),
        (lambda o: S.StepLR(o, 1, verbose=True), TypeError, "verbose"),
        (lambda o: S.LambdaLR(o, [abs]), ValueError, "Expected 2 lr_lambdas"),
        (lambda o: S.MultiplicativeLR(o, 3), TypeError, "should be a function"),
        (lambda o: S.ConstantLR(o, 2.0), ValueError, "between 0 and 1"),
        (lambda o: S.LinearLR(o, 0.0), ValueError, "greater than 0"),
        (lambda o: S.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer T_0"),
        (lambda o: S.CyclicLR(o, [0.1], 1.0), ValueError, "same length"),
        (lambda o: S.CyclicLR(o, 0.1, 1.0, mode="round", cycle_momentum=False), ValueError, "mode is invalid"),
        (lambda o: S.CyclicLR(lamella.optim.Adagrad([lamella.ones(1)]), 0.1, 1.0), ValueError, "cycle_momentum"),
        (lambda o: S.OneCycleLR(o, 1.0), ValueError, "total_steps OR"),
        (lambda o: S.OneCycleLR(o, 1.0, total_steps=-1), ValueError, "positive integer"),
        (lambda o: S.OneCycleLR(o, 1.0, total_steps=5, pct_start=2.0), ValueError, "pct_start"),
        (lambda o: S.OneCycleLR(o, 1.0, total_steps=5, anneal_strategy="x"), ValueError, "'cos' or 'linear'"),
        (lambda o: S.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor"),
        (lambda o: S.ReduceLROnPlateau(o, "best"), ValueError, "unknown"),
        (lambda o: S.SequentialLR(o, [], []), ValueError, "at least one"),
        (lambda o: S.SequentialLR(o, [S.StepLR(o, 1)], [1]), ValueError, "one more"),
        (lambda o: S.SequentialLR(o, [S.StepLR(sgd(), 1)], []), ValueError, "same optimizer"),
        (lambda o: S.ChainedScheduler([S.ReduceLROnPlateau(o)]), ValueError, "ReduceLROnPlateau"),
        (lambda o: SWALR(o, 0.1, -1), ValueError, "anneal_epochs"),
    ],
    ids=range(22),
)
def test_bad_arguments(make, error, text):
    with pytest.raises(error, match=text):
        make(sgd())


def test_a_callable_object_keeps_its_state():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, t):
            return self.by

    one, two = S.LambdaLR(sgd(), Scale(0.5)), S.LambdaLR(sgd(), Scale(0.25))
    two.load_state_dict(one.state_dict())
    assert two.lr_lambdas[0].by == 0.5 and two.lr_lambdas[0] is not one.lr_lambdas[0]


def test_a_pickled_scheduler():
    optimizer = sgd()
    scheduler = pickle.loads(pickle.dumps(S.ExponentialLR(optimizer, 0.5)))
    assert scheduler.optimizer is not optimizer and type(scheduler) is S.ExponentialLR
    assert scheduler.get_last_lr() == [1.0, 0.1]


def test_a_step_that_a_scaler_left_out_is_one():
    """A first step whose gradients are infinite is left out; the program has called all in the right order."""
    layer = lamella.nn.Linear(1, 1)
    optimizer = lamella.optim.SGD(layer.parameters(), lr=1.0)
    scheduler, scaler = S.StepLR(optimizer, 1), lamella.amp.GradScaler("cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaler.scale(layer(lamella.full((1, 1), math.inf)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    assert scheduler.get_last_lr() == [0.1]
