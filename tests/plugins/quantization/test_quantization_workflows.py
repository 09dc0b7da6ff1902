"""Observers, and models that are quantized after training and in training; files of quantized modules."""

import copy
import math
import pickle

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn
from references import refused

pytestmark = pytest.mark.needs("autograd", "quantization")
quantization = lamella.quantization


# ---- observers ------------------------------------------------------------------------------------------------------


def test_bounds_of_observers():
    x, y = lamella.tensor([[-1.0, 2.0], [0.5, 3.0]]), lamella.tensor([[-3.0, 1.0], [0.0, 5.0]])
    whole = quantization.MinMaxObserver(dtype="uint8")
    assert whole(x) is x and whole(y) is y
    assert [b.item() for b in whole.bounds()] == [-3.0, 5.0]
    scale, zero = whole.calculate_qparams()
    assert scale.item() == pytest.approx(8 / 255) and zero.item() == round(3 * 255 / 8)
    moving = quantization.MovingAverageMinMaxObserver(averaging_constant=0.5)
    moving(x), moving(y)
    assert [b.item() for b in moving.bounds()] == [-2.0, 4.0]
    channels = quantization.PerChannelMinMaxObserver(ch_axis=1, dtype="int8")
    channels(x), channels(y)
    assert [b.tolist() for b in channels.bounds()] == [[-3.0, 1.0], [0.5, 5.0]]
    moving = quantization.MovingAveragePerChannelMinMaxObserver(ch_axis=0, averaging_constant=0.5)
    moving(x), moving(y)
    assert [b.tolist() for b in moving.bounds()] == [[-2.0, 0.25], [1.5, 4.0]]


@pytest.mark.parametrize("kind", ["MinMaxObserver", "HistogramObserver", "PercentileObserver"])
def test_what_observers_refuse(kind):
    observer = getattr(quantization, kind)()
    with refused("seen no tensor", "calibration"):
        observer.calculate_qparams()
    observer(lamella.ones(0))
    with refused("seen no tensor"):
        observer.calculate_qparams()
    with refused("NaN", error=ValueError):
        observer(lamella.tensor([1.0, math.nan]))
        observer.calculate_qparams()


def test_constant_tensors_have_scales():
    for kind in ("MinMaxObserver", "HistogramObserver", "PercentileObserver"):
        for value in (0.0, 3.0, -2.0):
            observer = getattr(quantization, kind)()
            observer(lamella.full((4,), value))
            q = observer.quantize(lamella.full((4,), value))
            assert q.dequantize().tolist() == pytest.approx([value] * 4, abs=1e-2)


def test_percentiles_leave_out_the_ends():
    x = lamella.linspace(-1, 1, 10001)
    x[0], x[1] = -100.0, 100.0
    whole, most = quantization.MinMaxObserver(), quantization.PercentileObserver(percentile=99.9)
    whole(x), most(x)
    assert whole.calculate_qparams()[0].item() == pytest.approx(200 / 255)
    assert most.calculate_qparams()[0].item() < 3 / 255
    with pytest.raises(ValueError, match="percentile"):
        quantization.PercentileObserver(percentile=10)


def test_histograms_make_the_error_least():
    """The scale has at most the error of the full range, and about the least of a search over ranges in numpy."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 20000), rng.normal(0, 8, 40)]).astype(np.float32)
    observer = quantization.HistogramObserver(dtype="uint8", quant_min=0, quant_max=15)
    for part in np.array_split(x, 5):
        observer(lamella.tensor(part))

    def error(low, high):
        scale, zero = quantization.choose_scales(lamella.tensor(low), lamella.tensor(high), "uint8", False, 0, 15)
        near = lamella.fake_quantize_per_tensor_affine(lamella.tensor(x), scale.item(), int(zero.item()), 0, 15)
        return float(((near.numpy() - x) ** 2).mean())

    scale, zero = observer.calculate_qparams()
    near = lamella.fake_quantize_per_tensor_affine(lamella.tensor(x), scale.item(), int(zero.item()), 0, 15)
    got = float(((near.numpy() - x) ** 2).mean())
    best = min(error(-a, b) for a in np.linspace(1, 12, 23) for b in np.linspace(1, 12, 23))
    assert got < 0.5 * error(float(x.min()), float(x.max())) and got < 1.1 * best


# ---- layers ---------------------------------------------------------------------------------------------------------


def close(got, wanted, relative):
    """Raises unless the error is small beside the values."""
    error = (got - wanted).norm() / wanted.norm()
    assert error.item() < relative, error.item()


@pytest.mark.parametrize("config", ["Int8WeightOnly", "Int4WeightOnly", "Int8Dynamic", "Int8DynamicInt4Weight"])
def test_linear_layers_by_config(config):
    lamella.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32, bias=False))
    x = lamella.randn(10, 64)
    wanted = model(x).detach()
    made = quantization.quantize_(copy.deepcopy(model), getattr(quantization, config)())
    close(made(x), wanted, 0.2 if "Int4" in config else 0.03)
    assert (
        not made(x).is_quantized
        and made[0].weight.is_quantized
        and not list(filter(lambda p: p.requires_grad, made.parameters()))
    )
    nbytes = sum(p.untyped_storage().nbytes() for p in made.parameters())
    assert nbytes < (64 * 128 + 128 * 32) * (0.5 if "Int4" in config else 1) + 128 * 4 + 10
    leaf, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    made(leaf).sum().backward()
    model(other).sum().backward()
    close(leaf.grad, other.grad, 0.3)


def test_dynamic_layers_are_exact():
    """What a dynamic layer computes equals a reference of integers, bit for bit, whatever the threads."""
    rng = np.random.default_rng(0)
    for rows, depth, features in ((1, 1024, 33), (7, 70, 5), (130, 256, 64)):
        x, w = rng.normal(size=(rows, depth)).astype("float32"), rng.normal(size=(features, depth)).astype("float32")
        bias = rng.normal(size=features).astype("float32")
        layer = nn.Linear(depth, features)
        with lamella.no_grad():
            layer.weight.copy_(lamella.tensor(w))
            layer.bias.copy_(lamella.tensor(bias))
        made = quantization.DynamicLinear.from_float(layer)
        codes = made.weight.int_repr().numpy().astype(np.int64)
        scales = made.weight.q_per_channel_scales().numpy()
        least, most = np.minimum(x.min(1), 0), np.maximum(x.max(1), 0)
        scale = ((most - least) / np.float32(127)).astype(np.float32)
        zero = np.clip(0 - np.rint(least / scale), 0, 127).astype(np.int64)
        of_x = np.clip(np.rint(x / scale[:, None]) + zero[:, None], 0, 127).astype(np.int64)
        sums = ((of_x - zero[:, None]) @ codes.T).astype(np.int32).astype(np.float32)
        wanted = sums * (scale[:, None] * scales) + bias
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            np.testing.assert_array_equal(made(lamella.tensor(x)).detach().numpy(), wanted)


def test_embeddings():
    table = nn.Embedding(50, 32)
    at = lamella.tensor([[3, 0, 49]])
    for config, error in ((quantization.Int8WeightOnly(), 0.02), (quantization.Int4WeightOnly(group_size=16), 0.2)):
        made = quantization.quantize_(nn.Sequential(copy.deepcopy(table)), config)
        close(made(at), table(at).detach(), error)


def test_choices_by_name_type_and_function():
    model = nn.Sequential(nn.Linear(32, 32), nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 8)), nn.Embedding(4, 32))
    int4, int8 = quantization.Int4WeightOnly(), quantization.Int8WeightOnly()
    made = quantization.quantize_(
        model, {"1.0": None, (lambda name, module: name.endswith("1.1")): int4, nn.Linear: int8}
    )
    kinds = [
        quantization.scheme(m.weight)["type"] if m.weight.is_quantized else "" for m in (made[0], *made[1], made[2])
    ]
    assert made is model and kinds == ["int8", "", "int4", ""]
    for bad, error in (({"1.0": int4, "nothing": int8}, None), ({nn.Conv2d: int8}, "no layer"), ({}, "no layer")):
        fresh = nn.Sequential(nn.Linear(32, 32), nn.Sequential(nn.Linear(32, 32)))
        if error is None:
            fresh = nn.Sequential(nn.Linear(31, 32), nn.Sequential(nn.Linear(31, 32)))
            bad, error = int4, "layer '0'.*31"
        with refused(error, error=ValueError):
            quantization.quantize_(fresh, bad)
        assert all(type(m) is nn.Linear for m in (fresh[0], fresh[1][0]))


# ---- static: prepare, calibrate, convert ----------------------------------------------------------------------------


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.second, self.act = nn.Conv2d(8, 16, 3), nn.ReLU()
        self.plus = quantization.FloatFunctional()
        self.fc = nn.Linear(16 * 9, 10)

    def forward(self, x):
        x = self.features(self.quant(x))
        x = self.act(self.second(x))
        x = F.max_pool2d(x, 2)
        x = self.plus.add(x, x)
        return self.dequant(self.fc(x.flatten(1)))


def trained_net():
    lamella.manual_seed(0)
    net = Net()
    net.train()
    for _ in range(5):
        net(lamella.randn(16, 1, 16, 16))
    return net.eval()


def test_static_quantization():
    net, x = trained_net(), lamella.randn(8, 1, 16, 16)
    wanted = net(x).detach()
    net.qconfig = quantization.get_default_qconfig("x86")
    prepared = quantization.prepare(quantization.fuse_modules(net, [["second", "act"]]))
    close(prepared(x).detach(), wanted, 1e-5)
    made = quantization.convert(prepared)
    with quantization.strict(), quantization.trace() as calls, lamella.no_grad():
        got = made(x)
    assert {c.way for c in calls} == {"native"} and len(calls) >= 6
    close(got, wanted, 0.1)
    assert isinstance(made.features[0], quantization.QuantizedConv) and made.features[0].relu and made.second.relu
    assert isinstance(made.features[1], nn.Identity) and isinstance(made.fc, quantization.QuantizedLinear)
    assert "relu" in repr(made.second) and "weight=int8 per_channel_symmetric" in repr(made.fc)
    assert isinstance(net.fc, nn.Linear)


def test_converted_layers_are_exact():
    """A converted convolution equals a reference of integers, bit for bit."""
    rng = np.random.default_rng(1)
    conv = nn.Conv2d(3, 5, 3, stride=2, padding=1, groups=1).eval()
    x = rng.normal(size=(2, 3, 9, 8)).astype("float32")
    model = quantization.QuantWrapper(nn.Sequential(conv, nn.ReLU())).eval()
    model.qconfig = quantization.get_default_qconfig()
    prepared = quantization.prepare(model)
    prepared(lamella.tensor(x))
    made = quantization.convert(prepared)
    stub, layer = made.quant, made.module[0]
    codes = np.clip(np.rint(x / np.float32(stub.scale)) + stub.zero_point, 0, 127).astype(np.int64) - stub.zero_point
    w = layer.weight.int_repr().numpy().astype(np.int64)
    padded = np.pad(codes, [(0, 0), (0, 0), (1, 1), (1, 1)])
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    sums = np.einsum("nchwij,ocij->nohw", seen, w).astype(np.float32)
    factor = (np.float32(stub.scale) * layer.weight.q_per_channel_scales().numpy())[:, None, None]
    values = np.maximum(sums * factor + conv.bias.detach().numpy()[:, None, None], 0)
    wanted = np.clip(np.rint(values / np.float32(layer.scale)) + layer.zero_point, 0, 127)
    got = layer(stub(lamella.tensor(x)))
    np.testing.assert_array_equal(got.int_repr().numpy(), wanted)


def test_models_that_cannot_be_converted():
    net = trained_net()
    with refused("no layer has a qconfig", error=ValueError):
        quantization.prepare(net)
    with refused("no layer has an observer", "prepare"):
        quantization.convert(net)
    net.qconfig = quantization.default_qconfig
    with refused("training", "prepare_qat", error=ValueError):
        quantization.prepare(net.train())
    prepared = quantization.prepare(net.eval())
    with refused("layer '", "seen no tensor"):
        quantization.convert(prepared)
    with refused("fuse_modules", "fc", error=ValueError):
        quantization.fuse_modules(net, ["fc", "second"])
    with refused("layer '", "seen no tensor"):
        quantization.quantizer.quantize(net, lambda model: None)
    with refused("backend", error=ValueError):
        quantization.get_default_qconfig("gpu")


def test_layers_may_stay_in_floating_numbers():
    net = trained_net()
    net.qconfig = quantization.default_qconfig
    net.fc.qconfig = None
    prepared = quantization.prepare(net)
    assert not hasattr(prepared.fc, "activation_post_process") and hasattr(prepared.second, "activation_post_process")


def test_the_talks_quantizer(tmp_path):
    """quantizer.quantize(model, eval_fn, eval_args), with a qconfig by submodule, and save."""
    from lamella.quantization import quantizer

    lamella.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 36, 10)).eval()
    data = [lamella.randn(4, 1, 16, 16) for _ in range(3)]

    def eval_fn(net, batches):
        for batch in batches:
            net(batch)

    for qconfig in (None, quantization.default_qconfig):
        if qconfig is not None:
            model[0].qconfig = model[4].qconfig = qconfig
        made = quantizer.quantize(model, eval_fn, (data,))
        x = lamella.randn(4, 1, 16, 16)
        close(made(x).detach(), model(x).detach(), 0.15)
        made.save(tmp_path / "mymodule.pt")
        state = lamella.load(tmp_path / "mymodule.pt")
        assert state["model.module.0.weight"].is_quantized
        again = quantizer.quantize(model, eval_fn, (data,))
        again.load_state_dict(state, assign=True)
        assert again(x).equal(made(x))
    assert all(type(m) in (nn.Conv2d, nn.ReLU, nn.MaxPool2d, nn.Flatten, nn.Linear) for m in model)


def test_static_layers_among_floating_ones():
    lamella.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))
    x = lamella.randn(64, 16)
    wanted = model(x).detach()
    made = quantization.quantize_(copy.deepcopy(model), quantization.Static(lambda net: net(x)))
    close(made(x).detach(), wanted, 0.1)
    assert isinstance(made[0].layer, quantization.QuantizedLinear)
    untouched = copy.deepcopy(model)
    with refused("layer '0'", "seen no tensor"):
        quantization.quantize_(untouched, quantization.Static(lambda net: None))
    assert all(not hasattr(m, "qconfig") for m in untouched) and type(untouched[0]) is nn.Linear


# ---- quantization-aware training ------------------------------------------------------------------------------------


def test_training_for_quantization():
    """A net that is trained with rounding loses less by conversion to four-bit results than one that is not."""
    lamella.manual_seed(0)
    net = trained_net()
    net.qconfig = quantization.get_default_qat_qconfig("x86")
    prepared = quantization.prepare_qat(quantization.fuse_modules(net, [["second", "act"]])).train()
    x, target = lamella.randn(32, 1, 16, 16), lamella.randint(10, (32,))
    optimizer = lamella.optim.SGD(prepared.parameters(), lr=0.05)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = F.cross_entropy(prepared(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    prepared.eval()
    wanted = prepared(x).detach()
    made = quantization.convert(prepared)
    with quantization.strict(), lamella.no_grad():
        got = made(x)
    close(got, wanted, 0.1)
    assert isinstance(made.features[0], quantization.QuantizedConv)


def test_learned_scales_convert():
    lamella.manual_seed(0)
    qconfig = quantization.QConfig(
        lambda: quantization.LearnableFakeQuantize(dtype="int8", symmetric=False),
        lambda: quantization.LearnableFakeQuantize(dtype="int8"),
    )
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)))
    model.qconfig = qconfig
    prepared = quantization.prepare_qat(model)
    x = lamella.rand(32, 8)
    prepared(x).square().sum().backward()
    assert prepared.module[0].weight_fake_quant.scale.grad is not None
    made = quantization.convert(prepared.eval())
    close(made(x).detach(), prepared(x).detach(), 0.1)
    with refused("seen no tensor"):
        quantization.convert(quantization.prepare_qat(model))


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", ["Int8WeightOnly", "Int4WeightOnly", "Int8Dynamic"])
def test_quantized_modules_are_copied_and_saved(config, tmp_path):
    lamella.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64))
    lamella.save(model.state_dict(), tmp_path / "float.lamella")
    made = quantization.quantize_(model, getattr(quantization, config)())
    x = lamella.randn(3, 256)
    wanted = made(x)
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert twin(x).equal(wanted) and repr(twin) == repr(made)
    lamella.save(made.state_dict(), tmp_path / "q.lamella")
    sizes = [(tmp_path / f"{name}.lamella").stat().st_size for name in ("float", "q")]
    assert sizes[0] / sizes[1] > (5.5 if "Int4" in config else 3.6)
    fresh = quantization.quantize_(
        nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64)), getattr(quantization, config)()
    )
    fresh.load_state_dict(lamella.load(tmp_path / "q.lamella"), assign=True)
    assert fresh(x).equal(wanted)


def test_a_dynamic_layers_input_has_the_gradient_of_the_layer_by_values():
    layer = quantization.DynamicLinear.from_float(nn.Linear(6, 4))
    x, seed = lamella.randn(3, 6, requires_grad=True), lamella.randn(3, 4)
    layer(x).backward(seed)
    assert x.grad.allclose(seed @ layer.weight.dequantize(), atol=1e-5)


def calibrated(scale, seed=0):
    lamella.manual_seed(seed)
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))).eval()
    model.qconfig = quantization.get_default_qconfig()
    prepared = quantization.prepare(model)
    prepared(lamella.randn(64, 4) * scale)
    return quantization.convert(prepared)


@pytest.mark.parametrize("assign", [False, True])
def test_states_have_the_scales_of_results(assign, tmp_path):
    one, other, x = calibrated(1.0), calibrated(20.0, 1), lamella.randn(5, 4)
    lamella.save(one.state_dict(), tmp_path / "one.lamella")
    other.load_state_dict(lamella.load(tmp_path / "one.lamella"), assign=assign)
    assert other(x).equal(one(x)) and repr(other) == repr(one)


def test_states_of_layers_have_their_scales():
    for config in (quantization.Int8WeightOnly(), quantization.Int4WeightOnly(group_size=16)):
        layers = [nn.Linear(16, 8), nn.Linear(16, 8), nn.Embedding(3, 16), nn.Embedding(3, 16)]
        with lamella.no_grad():
            layers[1].weight.mul_(0.1)
            layers[3].weight.mul_(0.1)
        made = [quantization.quantize_(nn.Sequential(m), config)[0] for m in layers]
        for one, other in (made[:2], made[2:]):
            other.load_state_dict(one.state_dict())
            assert other.weight.dequantize().equal(one.weight.dequantize())
            assert other.weight.untyped_storage() is not one.weight.untyped_storage()


@pytest.mark.parametrize("qconfig", ["default_qat_qconfig", "x86", "learned"])
def test_states_of_training(qconfig):
    lamella.manual_seed(0)
    learned = quantization.QConfig(*[lambda: quantization.LearnableFakeQuantize(dtype="int8")] * 2)
    config = {"default_qat_qconfig": quantization.default_qat_qconfig, "learned": learned}.get(qconfig)
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3)))
    model.qconfig = config or quantization.get_default_qat_qconfig(qconfig)
    one, other = quantization.prepare_qat(model), quantization.prepare_qat(model)
    one(lamella.randn(16, 8))
    other.load_state_dict(one.state_dict())
    x = lamella.randn(5, 8)
    assert other.eval()(x).equal(one.eval()(x))
    assert quantization.convert(other)(x).equal(quantization.convert(one)(x))


def test_observers_keep_what_they_have_seen():
    one, other = quantization.PerChannelMinMaxObserver(), quantization.PerChannelMinMaxObserver()
    one(lamella.tensor([[-1.0, 2.0], [0.5, 3.0]]))
    other.load_state_dict(one.state_dict())
    other(lamella.tensor([[0.0, 1.0], [0.5, 4.0]]))
    assert other.seen == 2 and [b.tolist() for b in other.bounds()] == [[-1.0, 0.5], [2.0, 4.0]]
    for options in ({"quant_min": 5, "quant_max": 5}, {"dtype": "int8", "quant_max": 200}, {"dtype": "nf4"}):
        with refused("'quant_m|'dtype'", error=ValueError):
            quantization.MinMaxObserver(**options)
    assert quantization.MinMaxObserver(dtype="int8", quant_min=0).quant_max == 127


def test_a_layer_at_several_places_is_one_layer():
    shared = nn.Linear(4, 4)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    for made in (
        quantization.quantize_(copy.deepcopy(model), quantization.Int8WeightOnly()),
        quantization.quantize_dynamic(model),
    ):
        assert made[0] is made[2] and made[0].weight.is_quantized
    wrapped = quantization.QuantWrapper(model).eval()
    wrapped.qconfig = quantization.default_qconfig
    prepared = quantization.prepare(wrapped, fuse=False)
    x = lamella.randn(16, 4)
    prepared(x)
    assert prepared.module[0].activation_post_process.seen == 2
    made = quantization.convert(prepared)
    assert made.module[0] is made.module[2]
    close(made(x).detach(), model(x).detach(), 0.2)


def test_what_prepare_refuses():
    model = quantization.QuantWrapper(nn.Sequential(nn.Conv1d(1, 1, 3, padding=1, padding_mode="reflect")))
    model.qconfig = quantization.get_default_qat_qconfig()
    with refused("padding_mode", error=NotImplementedError):
        quantization.prepare_qat(model)
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 4)))
    model.qconfig = quantization.get_default_qconfig()
    with refused("rounds nothing", "get_default_qat_qconfig", error=ValueError):
        quantization.prepare_qat(model)
    prepared = quantization.prepare(model.eval())
    with refused("observers already", error=ValueError):
        quantization.prepare(prepared)
    model.qconfig = quantization.get_default_qat_qconfig()
    with refused("already", error=ValueError):
        quantization.prepare_qat(quantization.prepare_qat(model))
    plain = nn.Sequential(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2, affine=False)).eval()
    plain.qconfig = quantization.default_qconfig
    assert isinstance(quantization.prepare(plain)[1], nn.BatchNorm1d)


def test_a_quantizer_leaves_the_model_as_it_was():
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
    model[1].eval()

    def fails(net):
        raise KeyError("no data")

    with pytest.raises(KeyError):
        quantization.quantizer.quantize(model, fails)
    assert model.training and not model[1].training and not hasattr(model, "qconfig")


def test_evaluation_does_not_move_scales():
    fake = quantization.FakeQuantize()
    fake(lamella.ones(0))
    fake(lamella.tensor([-1.0, 1.0]))
    before = fake.eval()(lamella.tensor([0.3]))
    fake(lamella.tensor([100.0]))
    assert fake(lamella.tensor([0.3])).equal(before)
