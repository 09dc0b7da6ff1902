"""Weights that are rounded by calibration data. The oracles are numpy's: GPTQ by the Cholesky factor of the inverse, as
its authors compute it, and AWQ as a search over powers of the channels' sizes."""

import copy
import math
import pickle

import lamella
import numpy as np
import pytest
import references
from lamella import nn
from references import refused

pytestmark = pytest.mark.needs("autograd", "quantization")
quantization = lamella.quantization
GPTQ, AWQ = quantization.GPTQ, quantization.AWQ

CONFIGS = ["Int8WeightOnly", "Int4WeightOnly", "Int8Dynamic", "Int8DynamicInt4Weight"]


def correlated(features, rows=400, seed=0, large=()):
    """Returns inputs of which few directions have most of the variance; ``large`` channels are 50 times larger."""
    rng = np.random.default_rng(seed)
    mix = np.random.default_rng(99).normal(size=(features // 8, features))
    x = rng.normal(size=(rows, features // 8)) @ mix + 0.2 * rng.normal(size=(rows, features))
    x[:, list(large)] *= 50
    return lamella.tensor(x.astype("float32"))


def linear(features, out, seed=0, bias=True):
    """Returns a model of one layer with weights of a normal distribution."""
    lamella.manual_seed(seed)
    model = nn.Sequential(nn.Linear(features, out, bias=bias))
    with lamella.no_grad():
        model[0].weight.normal_()
    return model


def rounded(model, config, rounding):
    """Returns a quantized copy of a model."""
    return quantization.quantize_(copy.deepcopy(model), config(rounding=rounding))


def squared_error(made, model, x):
    """Returns the mean squared error of a layer's results, of weights that numpy multiplies in float64."""
    divisor = 1.0 if made[0].input_divisor is None else made[0].input_divisor.numpy().astype("float64")
    weight = made[0].weight.dequantize().numpy().astype("float64") / divisor
    error = weight - model[0].weight.detach().numpy().astype("float64")
    return float(np.square(x.numpy().astype("float64") @ error.T).mean())


def test_second_moments():
    from lamella.plugins.quantization.rounding import Moments

    x, moments = correlated(16), Moments(16)
    for part in (x[:1], x[1:1], x[1:181].reshape(3, 60, 16), x[181:].double()):
        moments(part)
    moments(x[0, :])
    rows = np.concatenate([x.numpy(), x.numpy()[:1]]).astype("float64")
    assert moments.mean().dtype == lamella.float32
    np.testing.assert_allclose(moments.mean().numpy(), rows.T @ rows / 401, rtol=1e-4, atol=1e-4)


# ---- GPTQ -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 64, 65, 200])
def test_factors(n):
    from lamella.plugins.quantization.rounding import factors

    a = np.random.default_rng(n).normal(size=(n, n + 3))
    h = a @ a.T / n
    upper, pivots = (t.numpy() for t in factors(lamella.tensor(h)))
    assert upper.dtype == np.float64 and (np.diag(upper) == 1).all() and (np.tril(upper, -1) == 0).all()
    np.testing.assert_allclose(upper @ np.diag(pivots) @ upper.T, h, atol=1e-12 * h.max())
    flipped = np.linalg.cholesky(h[::-1, ::-1])[::-1, ::-1]  # upper triangular, h = flipped flippedᵀ
    np.testing.assert_allclose(pivots, np.diag(flipped) ** 2, rtol=1e-9)


def textbook(weight, h, damping, near):
    """Returns codes of GPTQ as in Frantar et al., algorithm 1: the error of a column is divided by the diagonal of the
    Cholesky factor of the inverse and subtracted, times a row of the factor, from the columns that are left."""
    weight, columns = weight.astype("float64"), weight.shape[1]
    inverse = np.linalg.inv(h + damping * np.diag(h).mean() * np.eye(columns))
    factor = np.linalg.cholesky(inverse).T
    codes = np.empty(weight.shape, "int64")
    for k in range(columns):
        codes[:, k], values = near(weight[:, k], k)
        error = (weight[:, k] - values) / factor[k, k]
        weight[:, k:] -= error[:, None] * factor[k, k:]
    return codes


@pytest.mark.parametrize("name, group, damping", [("int4", 32, 0.01), ("int8", None, 0.01), ("uint4", 16, 0.1)])
def test_codes_are_those_of_the_textbook(name, group, damping):
    model, x = linear(160, 48), correlated(160)
    config = quantization.Int8WeightOnly(group, name, GPTQ(lambda net: net(x), damping))
    plain = quantization.quantize(model[0].weight, name, axis=None if group else 0, group_size=group)
    made = quantization.quantize_(copy.deepcopy(model), config)[0].weight
    found, kept = quantization.scheme(plain), quantization.scheme(made)
    assert kept["kind"] == found["kind"] and kept["inner"] == found["inner"] and kept["scale"].equal(found["scale"])
    scales = found["scale"].numpy().astype("float64").reshape(48, -1)
    zero = 8 if name == "uint4" else 0
    low, high = references.RANGES[name]

    def near(column, k):
        scale = scales[:, k // (group or 160)]
        codes = np.clip(np.rint(column / scale) + zero, low, high)
        return codes, (codes - zero) * scale

    inputs, weight = x.numpy().astype("float64"), model[0].weight.detach().numpy()
    h = inputs.T @ inputs / len(inputs)
    codes = textbook(weight, h, damping, near)
    # A quotient near a half may go either way in float32, and the codes of its row after it may then differ.
    same = (made.int_repr().numpy() == codes).all(1)
    assert same.mean() > 0.85, same.mean()
    values = (codes - zero) * np.repeat(scales, group or 160, 1)
    errors = [np.square(inputs @ (q - weight).T).mean() for q in (values, made.dequantize().numpy(), plain.numpy())]
    assert errors[1] == pytest.approx(errors[0], rel=0.02) and errors[1] < 0.3 * errors[2]


@pytest.mark.parametrize("config", CONFIGS)
def test_results_on_other_data_have_a_lower_error(config):
    model, x, other = linear(128, 64), correlated(128), correlated(128, seed=1)
    config = getattr(quantization, config)
    plain, made = rounded(model, config, None), rounded(model, config, GPTQ(lambda net: net(x)))
    assert type(made[0]) is type(plain[0]) and list(made.state_dict()) == list(plain.state_dict())
    assert squared_error(made, model, other) < 0.25 * squared_error(plain, model, other)
    error = (made(other) - model(other)).square().mean()
    assert error < (plain(other) - model(other)).square().mean()


def test_independent_inputs_round_to_the_nearest():
    """For moments that are diagonal, the codes of GPTQ are the nearest ones."""
    model, x = linear(64, 16), lamella.eye(64) * lamella.linspace(0.5, 3, 64)
    made, plain = (rounded(model, quantization.Int4WeightOnly, r) for r in (GPTQ(lambda net: net(x)), None))
    assert made[0].weight.int_repr().equal(plain[0].weight.int_repr())
    silent = rounded(model, quantization.Int4WeightOnly, GPTQ(lambda net: net(x * 0)))
    assert silent[0].weight.int_repr().equal(plain[0].weight.int_repr())


def test_the_size_of_inputs_does_not_count():
    model, x = linear(64, 16), correlated(64)
    made = [rounded(model, quantization.Int4WeightOnly, GPTQ(lambda net, s=s: net(x * s)))[0] for s in (1, 2.0**-30)]
    assert made[0].weight.int_repr().equal(made[1].weight.int_repr())


@pytest.fixture
def powers():
    """Registers a type of a sign and a power of two, and one that does not encode its own values as themselves."""

    def encode(x):
        return (x.abs().clamp(2.0**-7, 1).log2().round() + 7 + 8 * (x < 0)).to(lamella.uint8)

    def decode(codes):
        size = 2.0 ** (codes.bitwise_and(7).float() - 7)
        return lamella.where(codes > 7, -size, size)

    def halves(codes):
        return decode(codes) * 0.5

    made = [
        quantization.register_type("powers", bits=4, largest=1.0, encode=encode, decode=decode),
        quantization.register_type("halves", bits=4, largest=1.0, encode=encode, decode=halves),
    ]
    yield
    for kind in made:
        kind.close()


def test_types_of_packages(powers):
    model, x, other = linear(64, 32), correlated(64), correlated(64, seed=1)
    plain = quantization.quantize_(copy.deepcopy(model), quantization.Int4WeightOnly(32, "powers"))
    for rounding in (GPTQ(lambda net: net(x)), AWQ(lambda net: net(x))):
        made = quantization.quantize_(copy.deepcopy(model), quantization.Int4WeightOnly(32, "powers", rounding))
        assert quantization.scheme(made[0].weight)["type"] == "powers"
        part = 0.4 if isinstance(rounding, GPTQ) else 1.0
        assert squared_error(made, model, other) < part * squared_error(plain, model, other)
    with refused("layer '0'", "'halves'", "encode", error=ValueError):
        config = quantization.Int4WeightOnly(32, "halves", GPTQ(lambda net: net(x)))
        quantization.quantize_(copy.deepcopy(model), config)


@pytest.mark.parametrize("dtype", [lamella.float16, lamella.bfloat16, lamella.float64])
@pytest.mark.parametrize("rounding", [GPTQ, AWQ])
def test_other_floats(dtype, rounding):
    """Layers of other floats keep their dtype, and have the codes of a float32 layer with the same weights."""
    model, x = linear(64, 16).to(dtype), correlated(64, large=[3]).to(dtype)
    made = rounded(model, quantization.Int4WeightOnly, rounding(lambda net: net(x)))
    assert made[0].weight.dtype == made(x).dtype == dtype
    wide = rounded(model.float(), quantization.Int4WeightOnly, rounding(lambda net: net(x.float())))
    if rounding is GPTQ:
        assert made[0].weight.int_repr().equal(wide[0].weight.int_repr())
    else:
        assert made[0].input_divisor.dtype == dtype
        assert made[0].input_divisor.float().allclose(wide[0].input_divisor, rtol=1e-2)
        scaled = model[0].weight.float() * made[0].input_divisor.float()  # by the numbers that the layer divides by
        wanted = quantization.quantize(scaled, "int4", group_size=32)
        assert made[0].weight.int_repr().equal(wanted.int_repr())


# ---- AWQ ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, group", [("int4", 32), ("int8", None)])
def test_the_divisor_is_that_of_a_search(name, group):
    model, x = linear(96, 24), correlated(96, large=[7, 40])
    config = quantization.Int8WeightOnly(group, name, AWQ(lambda net: net(x), grid=8))
    made = quantization.quantize_(copy.deepcopy(model), config)[0]
    inputs, weight = x.numpy().astype("float64"), model[0].weight.detach().numpy()
    sizes = np.sqrt(np.square(inputs).mean(0))
    found = []
    for alpha in np.arange(9) / 8:
        s = sizes**alpha / np.sqrt((sizes**alpha).min() * (sizes**alpha).max())
        scaled = (weight * s.astype("float32")).reshape(24, -1, group or 96)
        scale = (np.abs(scaled).max(2) / np.float32(127 if name == "int8" else 7)).astype("float32")
        array = references.quantized(scaled.reshape(24, 96), name, scale, axis=1, group=group or 96)
        found.append((np.square(inputs @ (array.values() / s - weight).T).mean(), alpha, s, array))
    _, alpha, s, array = min(found, key=lambda f: f[0])
    assert 0 < alpha < 1
    np.testing.assert_allclose(made.input_divisor.numpy(), s, rtol=1e-4)
    assert (made.weight.int_repr().numpy() == array.codes).mean() > 0.999


@pytest.mark.parametrize("config", CONFIGS)
def test_large_channels(config):
    large = [3, 77]
    model, x, other = linear(128, 64), correlated(128, large=large), correlated(128, seed=1, large=large)
    config = getattr(quantization, config)
    plain, made = rounded(model, config, None), rounded(model, config, AWQ(lambda net: net(x)))
    part = 0.8 if "Int8W" in str(config) or config is quantization.Int8Dynamic else 0.4
    assert squared_error(made, model, other) < part * squared_error(plain, model, other)
    assert (made(other) - model(other)).square().mean() < (plain(other) - model(other)).square().mean()
    assert "input_divisor=True" in repr(made) and list(made.state_dict()) == ["0.weight", "0.bias", "0.input_divisor"]
    assert "input_divisor" not in repr(plain) and list(plain.state_dict()) == ["0.weight", "0.bias"]
    # The layer is that of the scaled weight, and gets the divided input.
    bare = copy.deepcopy(made)
    bare[0].input_divisor = None
    assert made(other).equal(bare(other / made[0].input_divisor))
    leaf = other.clone().requires_grad_()
    made(leaf).sum().backward()
    wide = (made[0].weight.dequantize() / made[0].input_divisor).sum(0)
    assert leaf.grad[0].allclose(wide, rtol=1e-3, atol=1e-3)


def test_a_grid_of_one_tries_the_power_of_one():
    model, x = linear(64, 16), correlated(64, large=[5])
    made = rounded(model, quantization.Int4WeightOnly, AWQ(lambda net: net(x), grid=1))
    sizes = np.sqrt(np.square(x.numpy().astype("float64")).mean(0))
    np.testing.assert_allclose(made[0].input_divisor.numpy(), sizes / np.sqrt(sizes.min() * sizes.max()), rtol=1e-4)


def test_layers_that_gain_nothing_have_no_divisor():
    model, x = linear(32, 8), lamella.eye(32)
    for inputs in (x, x * 0):
        made = rounded(model, quantization.Int8WeightOnly, AWQ(lambda net, inputs=inputs: net(inputs)))
        assert made[0].input_divisor is None
        assert made[0].weight.int_repr().equal(rounded(model, quantization.Int8WeightOnly, None)[0].weight.int_repr())
    x = lamella.randn(50, 32)
    x[:, 4] = 0  # a channel without data has a finite divisor
    x[:, 9] *= 100
    made = rounded(model, quantization.Int4WeightOnly, AWQ(lambda net: net(x)))
    assert made[0].input_divisor.isfinite().all() and made(x).isfinite().all()


# ---- states ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", ["Int4WeightOnly", "Int8Dynamic"])
@pytest.mark.parametrize("rounding", [GPTQ, AWQ])
def test_states(config, rounding, tmp_path):
    model, x = linear(64, 16), correlated(64, large=[5])
    config = getattr(quantization, config)
    made = rounded(model, config, rounding(lambda net: net(x)))
    wanted = made(x)
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert twin(x).equal(wanted) and repr(twin) == repr(made)
    lamella.save(made.state_dict(), tmp_path / "made.lamella")
    for assign in (False, True):
        fresh = rounded(linear(64, 16, seed=1), config, None)
        plain_state, plain_result = copy.deepcopy(fresh.state_dict()), fresh(x)
        state = lamella.load(tmp_path / "made.lamella")
        assert str(fresh.load_state_dict(state, assign=assign)) == "<All keys matched successfully>"
        assert fresh(x).equal(wanted) and repr(fresh) == repr(made)
        # A state of a layer without a divisor takes the divisor away.
        fresh.load_state_dict(plain_state, assign=assign)
        assert fresh(x).equal(plain_result) and fresh[0].input_divisor is None


def test_a_divisor_of_another_size_is_refused():
    x = correlated(64, large=[5])
    made = rounded(linear(64, 16), quantization.Int8WeightOnly, AWQ(lambda net: net(x)))
    wanted = made(x)
    state = {**made.state_dict(), "0.input_divisor": lamella.ones(63)}
    with refused("input_divisor", "63", "64"):
        made.load_state_dict(state)
    assert made(x).equal(wanted)
    with refused("input_divisor", "63", "64"):
        rounded(linear(64, 16), quantization.Int8WeightOnly, None).load_state_dict(state)


# ---- models ---------------------------------------------------------------------------------------------------------


class Net(nn.Module):
    """A layer at two places, one that gets its input by keyword, and a table."""

    def __init__(self):
        super().__init__()
        self.table, self.shared, self.last = nn.Embedding(20, 32), nn.Linear(32, 32), nn.Linear(32, 8)

    def forward(self, at):
        x = self.shared(self.table(at))
        return self.last(input=self.shared(x).relu())


def test_models():
    lamella.manual_seed(0)
    model, at = Net(), lamella.randint(0, 20, (16, 5))
    calls = []

    def calibrate(net):
        calls.append(net)
        for part in at.split(4):
            assert not net(part).requires_grad

    rounding = GPTQ(calibrate)
    made = copy.deepcopy(model)
    config = {
        "last": quantization.Int8Dynamic(rounding=rounding),
        (lambda *_: True): quantization.Int4WeightOnly(rounding=rounding),
    }
    assert quantization.quantize_(made, config) is made
    assert len(calls) == 1 and isinstance(made.table, quantization.QuantizedEmbedding)
    assert not any(m._forward_pre_hooks for m in made.modules())
    # All layers are rounded by the inputs of the floating model; the shared one by those of both places.
    seen = []
    model.shared.register_forward_pre_hook(lambda module, given: seen.append(given[0].detach().flatten(0, -2)))
    with lamella.no_grad():
        model(at)
    alone = nn.Sequential(copy.deepcopy(model.shared))
    quantization.quantize_(alone, quantization.Int4WeightOnly(rounding=GPTQ(lambda net: net[0](lamella.cat(seen)))))
    assert (alone[0].weight.int_repr() == made.shared.weight.int_repr()).float().mean() > 0.99
    table = quantization.QuantizedEmbedding.from_float(model.table, "int4", 32)
    assert table.weight.int_repr().equal(made.table.weight.int_repr())


def test_one_run_for_each_function():
    """Layers with a function of their own see its data alone, also beside static ones."""
    model = nn.Sequential(*(nn.Linear(32, 32) for _ in range(3)))
    data, calls = correlated(32), []
    one, other = (lambda net: calls.append(1) or net(data)), (lambda net: calls.append(2) or net(-data * 100))
    config = {
        "0": quantization.Int4WeightOnly(rounding=GPTQ(one)),
        "1": quantization.Static(one),
        "2": quantization.Int4WeightOnly(rounding=AWQ(other)),
    }
    made = quantization.quantize_(copy.deepcopy(model), config)
    assert sorted(calls) == [1, 2]
    alone = quantization.quantize_(copy.deepcopy(model), {"1": quantization.Static(one)})
    assert made[1].quant.scale == alone[1].quant.scale and made[1].layer.scale == alone[1].layer.scale


@pytest.mark.needs("named_tensor")
def test_named_inputs():
    model, x = linear(64, 16), correlated(64)
    named = x.rename("batch", "features")
    made = [rounded(model, quantization.Int4WeightOnly, GPTQ(lambda net, x=x: net(x))) for x in (x, named)]
    assert made[0][0].weight.int_repr().equal(made[1][0].weight.int_repr())


# ---- errors ---------------------------------------------------------------------------------------------------------


def unchanged(model, before):
    """Raises unless a model has its floating layers, its weights and no hook."""
    assert all(type(m) in (nn.Sequential, nn.Linear) for m in model.modules())
    assert all(model.state_dict()[name].equal(tensor) for name, tensor in before.items())
    assert not any(m._forward_pre_hooks or m._forward_hooks for m in model.modules())


@pytest.mark.parametrize("rounding", [GPTQ, AWQ])
def test_data_that_is_refused(rounding):
    model = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32))
    before = copy.deepcopy(model.state_dict())
    x = lamella.randn(8, 32)

    def fails(net):
        net(x)
        raise KeyError("no data")

    for calibrate, error, patterns in (
        (lambda net: None, RuntimeError, ("layer '0'", "never fed", "None")),
        (lambda net: net[0](x), RuntimeError, ("layer '1'", "never fed")),
        (lambda net: net(x[:0]), RuntimeError, ("layer '0'", "never fed")),
        (lambda net: net(x * math.nan), ValueError, ("layer '0'", "not finite", "NaN")),
        (lambda net: net[1](net[0](x) * 1e30), ValueError, ("layer '1'", "not finite")),
        (fails, KeyError, ("no data",)),
    ):
        with refused(*patterns, error=error):
            quantization.quantize_(model, quantization.Int4WeightOnly(rounding=rounding(calibrate)))
        unchanged(model, before)
    calls = []
    with refused("layer '0'", "group_size", "24", error=ValueError):
        quantization.quantize_(model, quantization.Int8WeightOnly(24, rounding=rounding(calls.append)))
    assert not calls  # the error comes before the data
    unchanged(model, before)


def test_arguments_that_are_refused():
    for damping in (0, -0.1, math.nan, math.inf):
        with refused("GPTQ", "'damping'", "positive", error=ValueError):
            GPTQ(print, damping)
    for grid in (0, -1, 2.5):
        with refused("AWQ", "'grid'", "at least 1", error=ValueError):
            AWQ(print, grid)
    for rounding in (GPTQ, AWQ):
        with refused(rounding.__name__, "'calibrate'", "function", "list", error=TypeError):
            rounding([1, 2])
    for name in CONFIGS:
        with refused(name, "'rounding'", "GPTQ", "'gptq'", error=TypeError):
            getattr(quantization, name)(rounding="gptq")
        assert getattr(quantization, name)().rounding is None


def test_damping_that_is_too_small():
    model, x = linear(32, 8), lamella.ones(4, 32)
    before = copy.deepcopy(model.state_dict())
    with refused("layer '0'", "damping=1e-20", "greater", error=ValueError):
        quantization.quantize_(model, quantization.Int4WeightOnly(rounding=GPTQ(lambda net: net(x), 1e-20)))
    unchanged(model, before)
    made = rounded(model, quantization.Int4WeightOnly, GPTQ(lambda net: net(x)))  # one direction alone has data
    plain = rounded(model, quantization.Int4WeightOnly, None)
    assert squared_error(made, model, x) < 0.1 * squared_error(plain, model, x)
