"""Scripts under layers: autograd, names, quantization, the profiler, and layers of others see their operators."""

import io

import lamella
import pytest
from lamella import jit, nn


def branches_and_loops(x, w, n: int):
    y = x
    for i in range(n):
        if i % 2 == 0:
            y = y @ w
        elif bool(y.sum() > 0):
            y = y.sin() * y
        else:
            y = y.tanh() + x
        if i == 3:
            y[0] = y[1] * 2
    k = 0
    while bool(y.abs().max() > 1.5) and k < 4:
        y = y / 2
        k += 1
    return (y * y).sum(), y


def gradients(function, n):
    """Returns results, gradients, and the gradients of the gradients' squares."""
    numbers = lamella.Generator().manual_seed(n)
    x, w = (lamella.randn(3, 3, generator=numbers).requires_grad_() for _ in range(2))
    loss, y = function(x, w, n)
    first = lamella.autograd.grad(loss, (x, w), create_graph=True)
    second = lamella.autograd.grad(sum((g * g).sum() for g in first), (x, w))
    return loss, y, *first, *second


@pytest.mark.parametrize("n", range(1, 9))
def test_gradients_of_any_order_are_those_of_eager_calls(n):
    scripted = jit.script(branches_and_loops)
    for found, wanted in zip(gradients(scripted, n), gradients(branches_and_loops, n), strict=True):
        assert lamella.equal(found, wanted)


def test_a_gradient_is_that_of_a_finite_difference():
    scripted, numbers = jit.script(branches_and_loops), lamella.Generator().manual_seed(5)
    w = lamella.randn(3, 3, generator=numbers, dtype=lamella.float64)
    x = lamella.randn(3, 3, generator=numbers, dtype=lamella.float64).requires_grad_()
    scripted(x, w, 5)[0].backward()
    for place in ((0, 0), (1, 2), (2, 1)):
        step = lamella.zeros(3, 3, dtype=lamella.float64)
        step[place] = 1e-6
        ends = [scripted(x.detach() + s, w, 5)[0].item() for s in (step, -step)]
        assert abs((ends[0] - ends[1]) / 2e-6 - x.grad[place].item()) < 1e-6


def test_hooks_of_tensors_and_modes_of_gradients():
    def halves(x):
        with lamella.no_grad():
            y = x * 2
        return y, x * 3

    x, seen = lamella.ones(2, requires_grad=True), []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    constant, result = jit.script(halves)(x)
    assert not constant.requires_grad and result.requires_grad
    result.sum().backward()
    assert seen == [[3.0, 3.0]]
    with lamella.no_grad():
        assert not jit.script(halves)(x)[1].requires_grad


# ---- names ----


def with_names(x, y):
    z = x + y
    for _ in range(3):
        z = z.t()
    if bool(z.sum() > 0):
        z = z.exp()
    return z.sum(0), z


@pytest.mark.needs("named_tensor")
def test_names():
    x = lamella.ones(2, 3, names=("batch", "feature"))
    scripted = jit.script(with_names)
    for found, wanted in zip(scripted(x, x), with_names(x, x), strict=True):
        assert found.names == wanted.names
        assert lamella.equal(found.rename(None), wanted.rename(None))
    assert scripted(x, x)[1].names == ("feature", "batch")
    with pytest.raises(RuntimeError, match="a dimension with the name 'feature' meets one with the name 'time'"):
        scripted(x, lamella.ones(2, 3, names=("batch", "time")))


# ---- quantization ----


def small_model():
    lamella.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).eval()


def inputs():
    return lamella.randn(4, 64, generator=lamella.Generator().manual_seed(1))


CONFIGURATIONS = {
    "Int8WeightOnly": {},
    "Int4WeightOnly": {"group_size": 32},
    "Int8Dynamic": {},
    "Int8DynamicInt4Weight": {"group_size": 32},
    "Static": {"calibrate": lambda model: model(inputs())},
}


@pytest.mark.needs("quantization")
@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("make", [jit.script, lambda m: jit.trace(m, inputs())], ids=["script", "trace"])
def test_quantized_modules(name, make):
    """A program of a quantized model computes by codes, and so does the one that is loaded from its file."""
    quantization = lamella.quantization
    model = quantization.quantize_(small_model(), getattr(quantization, name)(**CONFIGURATIONS[name]))
    wanted, program = model(inputs()), make(model)
    file = io.BytesIO()
    program.save(file)
    file.seek(0)
    loaded = jit.load(file)
    for found in (program, loaded, jit.freeze(jit.script(model))):
        with quantization.trace() as calls:
            assert lamella.equal(found(inputs()), wanted)
        with quantization.trace() as eager:
            model(inputs())
        assert calls == eager and len(calls) >= 2
    weights = [p for p in loaded.parameters() if p.is_quantized]
    assert len(weights) == 2 and weights[0].nbytes < 64 * 64 * 2


@pytest.mark.needs("quantization")
def test_awq_divides_in_a_script_as_in_the_model():
    quantization = lamella.quantization
    rounding = quantization.AWQ(lambda m: m(inputs()))
    model = quantization.quantize_(small_model(), quantization.Int4WeightOnly(group_size=32, rounding=rounding))
    assert lamella.equal(jit.script(model)(inputs()), model(inputs()))
    assert "aten::div" in str(jit.script(model).inlined_graph)


@pytest.mark.needs("quantization")
def test_tensors_are_quantized_in_a_script():
    """The talk's calls: the codes are those of numpy's rounding."""

    def quantized(x):
        y = x.quantize_linear(0.25, 3)
        z = lamella.quantize_per_tensor(x, 0.5, 0, "int4")
        return y.int_repr(), y.dequantize(), z.int_repr(), lamella.dequantize(z), y.is_quantized

    x = lamella.tensor([-0.3, 0.1, 0.375, 0.9, 2.0])
    scripted = jit.script(quantized)
    codes, values, small, half, quantized_ = scripted(x)
    rounded = (x.numpy() / 0.25).round() + 3
    assert codes.tolist() == rounded.clip(0, 255).tolist() and quantized_ is True
    assert values.tolist() == ((rounded - 3) * 0.25).tolist()
    assert small.tolist() == (x.numpy() / 0.5).round().clip(-8, 7).tolist()
    assert half.tolist() == (small.numpy() * 0.5).tolist()
    for found, wanted in zip(scripted(x)[:4], quantized(x)[:4], strict=True):
        assert lamella.equal(found, wanted)


@pytest.mark.needs("quantization")
def test_the_scale_of_a_block_holds_in_a_script():
    square = jit.script(squared)
    q = lamella.quantize_per_tensor(lamella.tensor([1.0, 2.0]), 0.1, 0, lamella.uint8)
    with lamella.quantization.out_scale(0.5, 1):
        assert square(q).int_repr().tolist() == [3, 9]
    with pytest.raises(RuntimeError, match="mul: the arguments are quantized .* nothing says the scale of the result"):
        square(q)


def squared(x):
    return x * x


# ---- the profiler, and layers of others ----


@pytest.mark.needs("profiler")
def test_a_profile_names_the_lines_of_a_script():
    scripted = jit.script(branches_and_loops)
    x = lamella.eye(3)
    with lamella.profiler.profile(activities=["cpu"], with_stack=True) as profile:
        scripted(x, x, 3)
    counts = {e.key: e.count for e in profile.key_averages()}
    with lamella.profiler.profile(activities=["cpu"]) as eager:
        branches_and_loops(x, x, 3)
    assert counts == {e.key: e.count for e in eager.key_averages()} and counts["aten::matmul"] == 2
    line = branches_and_loops.__code__.co_firstlineno + 4
    (top,) = {e.stack[0] for e in profile.events() if e.key == "aten::matmul"}
    assert top.endswith(f"test_layers_of_scripts.py({line}): branches_and_loops")


def test_a_layer_of_python_sees_and_answers_the_operators():
    seen = []

    def watch(call, *args, **kwargs):
        seen.append(call.name)
        return lamella.full((2,), 7.0) if call.name == "aten::exp" else call(*args, **kwargs)

    def computed(x):
        return (x * 2).exp() + 1

    scripted, x = jit.script(computed), lamella.zeros(2)
    layer = lamella.library.register_layer("script_watch", watch, at="profiler")
    try:
        with layer.on():
            assert scripted(x).tolist() == [8.0, 8.0]
    finally:
        layer.remove()
    assert seen == ["aten::mul", "aten::exp", "aten::add"]
    assert scripted(x).tolist() == [2.0, 2.0]
