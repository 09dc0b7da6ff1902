"""Averages of models equal means computed in numpy; the statistics of batch norms."""

import copy

import lamella
import numpy as np
import pytest
from lamella import nn
from lamella.optim import swa_utils

pytestmark = pytest.mark.needs("autograd")


def models(count=5):
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    for _ in range(count):
        with lamella.no_grad():
            for t in (*model.parameters(), model[1].running_mean):
                t.copy_(lamella.tensor(rng.standard_normal(tuple(t.shape))))
            model[1].num_batches_tracked.add_(2)
        yield model


FUNCTIONS = {
    "mean": ({}, None),
    "mean each": ({"avg_fn": swa_utils.get_swa_avg_fn()}, None),
    "mean lists": ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, None),
    "ema each": ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, 0.75),
    "ema lists": ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}, 0.75),
}


@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_averages(name, use_buffers):
    options, decay = FUNCTIONS[name]
    averaged, seen = None, []
    for model in models():
        averaged = averaged or swa_utils.AveragedModel(model, use_buffers=use_buffers, **options)
        averaged.update_parameters(model)
        tensors = [*model.parameters(), model[1].running_mean]
        seen.append([t.detach().numpy().astype(np.float64) for t in tensors])
    found = [*averaged.module.parameters(), averaged.module[1].running_mean]
    for i, t in enumerate(found):
        values = [s[i] for s in seen]
        expected = values[0]
        for n, value in enumerate(values[1:], 1):
            share = 1 / (n + 1) if decay is None else 1 - decay
            expected = expected + (value - expected) * share
        if i == len(found) - 1 and not use_buffers:
            expected = values[-1]  # AveragedModel has a copy
        np.testing.assert_allclose(t.detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    assert averaged.n_averaged.item() == 5 and found[0].requires_grad
    state = copy.deepcopy(averaged.state_dict())
    assert "n_averaged" in state and "module.0.weight" in state
    other = swa_utils.AveragedModel(model)
    other.load_state_dict(state)
    assert other.n_averaged.item() == 5


def test_bad_arguments():
    model = nn.Linear(1, 1)
    with pytest.raises(AssertionError, match="Only one of"):
        swa_utils.AveragedModel(model, avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=lambda *_: None)
    for make in (swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn):
        for decay in (-0.1, 1.1, float("nan")):
            with pytest.raises(ValueError, match="Invalid decay"):
                make(decay)


def test_statistics_of_batch_norms():
    rng = np.random.default_rng(0)
    batches = [rng.standard_normal((8, 2)).astype(np.float32) for _ in range(3)]
    model = nn.Sequential(nn.BatchNorm1d(2, momentum=0.3)).eval()
    swa_utils.update_bn([(lamella.tensor(b), None) for b in batches], model)
    np.testing.assert_allclose(model[0].running_mean.numpy(), np.mean([b.mean(0) for b in batches], 0), rtol=1e-4)
    expected = np.mean([b.var(0, ddof=1) for b in batches], 0)
    np.testing.assert_allclose(model[0].running_var.numpy(), expected, rtol=1e-4)
    assert model[0].momentum == 0.3 and not model.training

    def failing():
        yield lamella.tensor(batches[0])
        raise OSError("the disk is gone")

    with pytest.raises(OSError):
        swa_utils.update_bn(failing(), model)
    assert model[0].momentum == 0.3 and not model.training
