"""Restored state: a resumed run goes on bit for bit as one that was not interrupted, and shares nothing with its
source. The oracle is the uninterrupted run, and a deep copy of the saved dictionary."""

import copy
import warnings

import lamella
import numpy as np
import pytest
from lamella import nn, optim
from lamella.optim import lr_scheduler as rates
from lamella.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

OPTIMIZERS = {
    "ASGD": {},
    "Adadelta": {},
    "Adafactor": {},
    "Adagrad": {"lr": 0.1},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "Adamax": {},
    "LBFGS": {"max_iter": 3},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Rprop": {},
    "SGD": {"lr": 0.1, "momentum": 0.9},
}
SCHEDULERS = {
    "none": lambda o: None,
    "step": lambda o: rates.StepLR(o, 2),
    "constant": lambda o: rates.ConstantLR(o, 0.25, 4),
    "linear": lambda o: rates.LinearLR(o, 0.25, 1.0, 6),
    "lambda": lambda o: rates.LambdaLR(o, lambda n: 0.5**n),
    "cosine": lambda o: rates.CosineAnnealingLR(o, 5),
    "restarts": lambda o: rates.CosineAnnealingWarmRestarts(o, 3),
    "cyclic": lambda o: rates.CyclicLR(o, 0.01, 0.1, 3),
    "one cycle": lambda o: rates.OneCycleLR(o, 0.1, total_steps=20),
    "sequential": lambda o: rates.SequentialLR(
        o, [rates.ConstantLR(o, 0.1, 9), rates.ExponentialLR(o, 0.5)], milestones=[3]
    ),
    "chained": lambda o: rates.ChainedScheduler([rates.ConstantLR(o, 0.1, 9), rates.ExponentialLR(o, 0.5)]),
    "plateau": lambda o: rates.ReduceLROnPlateau(o, patience=1),
}


class Run:
    """A model in training, with all that has a state."""

    def __init__(self, name, scheduler, options):
        lamella.manual_seed(1)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
        self.average = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(0.5), use_buffers=True)
        self.name, self.make, self.options = name, scheduler, options
        self.scaler = lamella.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
        self.optimizer = getattr(optim, name)(self.model.parameters(), **options)
        self.scheduler = None

    def schedule(self):
        self.scheduler = self.make(self.optimizer)
        return self

    def step(self):
        def closure():
            self.optimizer.zero_grad()
            loss = (self.model(lamella.rand(5, 3)) ** 2).mean()
            loss.backward()
            return loss

        if self.name == "LBFGS":
            self.optimizer.step(closure)
        else:
            self.optimizer.zero_grad()
            self.scaler.scale((self.model(lamella.rand(5, 3)) ** 2).mean()).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        if self.scheduler is not None:
            self.scheduler.step(*([1.0] if self.make is SCHEDULERS["plateau"] else []))
        self.average.update_parameters(self.model)

    def parts(self):
        found = [self.model, self.average, self.optimizer, self.scaler]
        return found + ([self.scheduler] if self.scheduler is not None else [])

    def save(self):
        return [part.state_dict() for part in self.parts()], lamella.get_rng_state()

    def load(self, saved):
        states, random = saved
        for part, state in zip(self.parts(), states, strict=True):
            part.load_state_dict(state)
        lamella.set_rng_state(random)


def plain(state):
    """Returns a state as plain containers of bytes and numbers, to be compared by ==."""
    if isinstance(state, lamella.Tensor):
        return str(state.dtype), tuple(state.shape), state.detach().numpy().tobytes()
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    return [plain(value) for value in state] if isinstance(state, (list, tuple)) else state


def compare(name, make, options, scheduler_last):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        whole = Run(name, make, options).schedule()
        for _ in range(2):
            whole.step()
        saved = copy.deepcopy(whole.save())
        before = plain(saved)
        resumed = Run(name, make, options)
        if scheduler_last:  # the scheduler is made when the optimizer is loaded, and writes the rates of a first step
            resumed.optimizer.load_state_dict(saved[0][2])
            resumed.schedule()
            for part, state in zip(resumed.parts(), saved[0], strict=True):
                if part is not resumed.optimizer:
                    part.load_state_dict(state)
        else:
            resumed.schedule()
            resumed.load(saved)
        lamella.set_rng_state(saved[1])
        for _ in range(3):
            resumed.step()
        assert plain(saved) == before, "training has changed the saved state"
        theirs = plain(resumed.save())
        lamella.set_rng_state(saved[1])
        for _ in range(3):
            whole.step()
        assert plain(whole.save()) == theirs


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_goes_on(name):
    compare(name, SCHEDULERS["none"], OPTIMIZERS[name], False)


@pytest.mark.parametrize("scheduler_last", [False, True])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_schedule_goes_on(scheduler, scheduler_last):
    compare("SGD", SCHEDULERS[scheduler], OPTIMIZERS["SGD"], scheduler_last)


def test_the_state_of_a_scheduler_stays():
    optimizer = optim.SGD([lamella.zeros(1)], lr=lamella.tensor(1.0))
    for make in SCHEDULERS.values():
        scheduler = make(optimizer)
        if scheduler is None or make is SCHEDULERS["plateau"]:
            continue
        saved = scheduler.state_dict()
        before = plain(saved)
        optimizer.step()
        scheduler.step()
        assert plain(saved) == before


@pytest.mark.parametrize("use_buffers", [False, True])
def test_integer_buffers_of_an_average_are_copied(use_buffers):
    model = nn.BatchNorm1d(2)
    average = AveragedModel(model, use_buffers=use_buffers)
    means = []
    for n in (1, 4, 8):
        model.num_batches_tracked.fill_(n)
        model.running_mean.fill_(n)
        means.append(n)
        average.update_parameters(model)
        assert average.module.num_batches_tracked.item() == n
        expected = np.mean(means) if use_buffers else n
        np.testing.assert_allclose(average.module.running_mean.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("strict", [True, False])
def test_hooks_see_the_given_strict(strict):
    model, seen = nn.Sequential(nn.Linear(1, 1), nn.ReLU()), []
    for module in model.modules():
        module.register_load_state_dict_pre_hook(lambda *args: seen.append(args[4]))
    model.load_state_dict(model.state_dict(), strict=strict)
    assert seen == [strict] * 3
    keys = model.load_state_dict({"more": lamella.ones(1)}, strict=False)
    assert keys.missing_keys == ["0.weight", "0.bias"] and keys.unexpected_keys == ["more"]
