"""Quantized layers with wrong configurations, states of other dtypes, empty batches and calibration in training."""

import lamella
import pytest
from lamella import nn, quantization
from lamella.quantization import AWQ, GPTQ
from references import refused

pytestmark = pytest.mark.needs("autograd", "quantization")
ALL = [
    quantization.Int8WeightOnly(),
    quantization.Int4WeightOnly(),
    quantization.Int8Dynamic(),
    quantization.Int8DynamicInt4Weight(),
    quantization.Static(lambda model: model(lamella.randn(9, 64))),
]


@pytest.mark.parametrize("config", ALL, ids=lambda c: type(c).__name__)
def test_empty_batches(config):
    layer = quantization.quantize_(nn.Sequential(nn.Linear(64, 3)), config)
    assert layer(lamella.zeros(0, 64)).shape == (0, 3)


@pytest.mark.parametrize(
    "config, words",
    [
        (quantization.Int8WeightOnly, "config.*Int8WeightOnly"),
        ("int8", "config.*'int8'"),
        ({nn.Linear: "int8"}, "config.*'int8' at <class"),
        ({5: quantization.Int8WeightOnly()}, "config.*a key, got 5"),
    ],
)
def test_wrong_configurations(config, words):
    model = nn.Sequential(nn.Linear(64, 3))
    with refused("quantize_: argument 'config'", words, error=TypeError):
        quantization.quantize_(model, config)
    assert type(model[0]) is nn.Linear


def test_wrong_arguments_of_configurations():
    with refused("Static: argument 'calibrate'", "NoneType", error=TypeError):
        quantization.Static(None)
    with refused("Static: argument 'qconfig'", "got 3", error=TypeError):
        quantization.Static(print, qconfig=3)
    for damping in ("x", None, True, 0.0, float("nan")):
        with refused("GPTQ: argument 'damping'", error=ValueError):
            GPTQ(print, damping=damping)
    with refused("AWQ: argument 'grid'", "got True", error=ValueError):
        AWQ(print, grid=True)
    for group in (0, -1, True, "x", 2.0):
        with refused("layer '0'", "argument 'group_size': expected an integer of at least 1", error=ValueError):
            quantization.quantize_(nn.Sequential(nn.Linear(64, 3)), quantization.Int8WeightOnly(group))


def test_calibration_runs_in_evaluation():
    """The statistics of batches stay, dropout leaves the data alone, and each module is in training again."""
    x = lamella.randn(20, 64) + 3
    model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.Dropout(0.9), nn.Linear(64, 4))
    model[2].eval()
    before = model[1].running_mean.clone()
    seen = []

    def calibrate(net):
        seen.append([m.training for m in net.modules()])
        net(x)

    quantization.quantize_(model, {"3": quantization.Int8WeightOnly(rounding=GPTQ(calibrate))})
    assert not any(seen[0]) and model[1].running_mean.equal(before)
    assert [m.training for m in model.modules()] == [True, True, True, False, True]


def test_a_state_of_another_dtype_becomes_the_layers():
    x = lamella.randn(30, 64)
    x[:, 5] *= 50
    made = quantization.quantize_(
        nn.Sequential(nn.Linear(64, 16)), quantization.Int4WeightOnly(rounding=AWQ(lambda net: net(x)))
    )
    half = quantization.quantize_(nn.Sequential(nn.Linear(64, 16)).half(), quantization.Int4WeightOnly())
    half.load_state_dict(made.state_dict())
    assert half[0].weight.dtype is half[0].input_divisor.dtype is lamella.float16
    assert (half(x.half()).float() - made(x)).abs().max() < 0.05 * made(x).abs().max()


def test_a_gradient_of_a_quantized_weight_can_be_dropped():
    model = quantization.quantize_(nn.Sequential(nn.Linear(64, 3)), quantization.Int8WeightOnly())
    model.requires_grad_(True)
    model(lamella.randn(2, 64)).sum().backward()
    with refused("integers carry no gradient", "set its .grad to None"):
        model.zero_grad()
    model[0].weight.grad = None
    model.requires_grad_(False).zero_grad()
    model.half()
