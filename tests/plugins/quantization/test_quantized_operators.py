"""Operators on quantized tensors, beside integer references: each call is native, fused, composite or an error."""

import operator

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import RANGES, plain, quantized, refused, rounded, same
from test_quantized_tensors import DEVICE, drawn, here, pair

pytestmark = pytest.mark.needs("autograd", "quantization")
quantization = lamella.quantization
HOST = DEVICE == "cpu"
FUSED = "fused" if HOST else "composite"


def ways(calls):
    return [c.way for c in calls]


def by_scale(values, type, scale, zero):
    return quantized(values, type, scale, zero)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(0, 2, shape).astype(np.float32)


# ---- pointwise: fused, in pieces ------------------------------------------------------------------------------------

POINTWISE = {
    "add": (lambda a, b: a + b, 2),
    "sub": (lambda a, b: a - b, 2),
    "mul": (lambda a, b: a * b, 2),
    "neg": (lambda a: -a, 1),
    "times a number": (lambda a: a * 1.5, 1),
    "abs": (lambda a: abs(a), 1),
}


@pytest.mark.parametrize("name", POINTWISE)
@pytest.mark.parametrize("shape", [(3, 4), (70001,), (0, 3), ()])
@pytest.mark.parametrize("type", ["int8", "uint8", "int4", "int16"])
def test_pointwise_operators_compute_in_float32(name, shape, type):
    function, count = POINTWISE[name]
    tensors, arrays = [], []
    for k in range(count):
        x = numbers(*shape, seed=k)
        tensors.append(lamella.quantize_per_tensor(here(x), 0.05 + 0.1 * k, 3 if type != "int4" else 1, type))
        arrays.append(quantized(x, type, 0.05 + 0.1 * k, 3 if type != "int4" else 1).values())
    with quantization.out_scale(0.07, 2), quantization.trace() as calls:
        made = function(*tensors)
    same(made, by_scale(function(*arrays).astype(np.float32), type, 0.07, 2))
    assert made.q_scale() == 0.07 and made.q_zero_point() == 2
    assert ways(calls) == [FUSED if np.prod(shape) else "composite"] and calls[0].operator.startswith("aten::")


def test_operands_of_other_schemes_shapes_and_kinds():
    q, a = pair((4, 6), spread=1.0)
    p, b = pair((4, 6), "int4", "channel", seed=3, spread=1.0)
    g, c = pair((4, 6), "uint8", "group", axis=1, group=3, seed=4, spread=1.0)
    row = numbers(6)
    for made, values in (
        (lambda: q + p, a.values() + b.values()),
        (lambda: p * g, b.values() * c.values()),
        (lambda: q.T * g.T, (a.values() * c.values()).T),
        (lambda: q + q[0], a.values() + a.values()[0]),
        (lambda: q[:, ::2] - p[:, 1::2], a.values()[:, ::2] - b.values()[:, 1::2]),
        (lambda: q + here(row), a.values() + row),
        (lambda: here(row) * p, row * b.values()),
    ):
        with quantization.out_scale(0.5, 1, lamella.int16):
            same(made(), by_scale(values, "int16", 0.5, 1))


@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh", "sin"])
def test_the_whole_declaration_is_served(name):
    """The codes are those of the operator on the values, since these are the same numbers."""
    q, _ = pair((300, 301), "uint8", spread=1.0)
    wanted = getattr(q.dequantize(), name)()
    with quantization.out_scale(0.02, 100, "uint8"), quantization.trace() as calls:
        made = getattr(q, name)()
    assert ways(calls) == [FUSED]
    assert made.int_repr().equal(lamella.quantize_per_tensor(wanted, 0.02, 100, "uint8").int_repr())


def test_in_place_and_out_round_by_the_targets_scale():
    q, a = pair((4, 6), spread=1.0)
    p, b = pair((4, 6), "int4", "channel", seed=3, spread=1.0)
    c = q.clone()
    before = c._version
    assert c.add_(p) is c and c._version == before + 1
    same(c, by_scale(a.values() + b.values(), "int8", 0.25, q.q_zero_point()))
    c = q.clone()
    c[1:, ::2].mul_(2.0)
    wanted = a.values().copy()
    wanted[1:, ::2] *= 2
    same(c, by_scale(wanted, "int8", 0.25, q.q_zero_point()))
    out = p.clone()
    assert lamella.add(q, q, out=out) is out
    assert out.qscheme() is p.qscheme()
    np.testing.assert_array_equal(
        out.int_repr().cpu().numpy(), rounded(2 * a.values(), b.scale, b.zero, *RANGES["int4"])
    )
    x = here(np.zeros((4, 6), np.float32))
    plain(lamella.mul(q, p, out=x), a.values() * b.values())
    with refused("add", "shape"):
        lamella.add(q, q, out=q[:2].clone())


def test_predicates_are_plain():
    q, a = pair((4, 6))
    p, b = pair((4, 6), "int16", "channel", seed=2)
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        with quantization.trace() as calls:
            plain(compare(q, q.flip(0)), compare(a.values(), a.values()[::-1]))
            plain(compare(q, p), compare(a.values(), b.values()))
            plain(compare(q, 0.5), compare(a.values(), np.float32(0.5)))
        assert ways(calls) == ["native", "native", FUSED, FUSED]
    plain(q.isnan(), np.isnan(a.values()))


# ---- native ---------------------------------------------------------------------------------------------------------

LIMITS = {
    "relu": (lambda t: t.relu(), (0, None)),
    "clamp": (lambda t: t.clamp(-0.3, 1.1), (-0.3, 1.1)),
    "clamp_min": (lambda t: t.clamp(min=0.2), (0.2, None)),
    "clamp_max": (lambda t: t.clamp(max=0.2), (None, 0.2)),
    "hardtanh": (lambda t: F.hardtanh(t, -0.5, 0.6), (-0.5, 0.6)),
    "relu6": (lambda t: F.relu6(t), (0, 6)),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("type", list(RANGES))
def test_limits_are_limits_of_codes(name, type):
    function, (low, high) = LIMITS[name]
    q, a = pair((5, 6), type, seed=3)
    wanted = by_scale(np.clip(a.values(), low, high), type, 0.25, q.q_zero_point())
    with quantization.strict(), quantization.trace() as calls:
        made = function(q)
    assert set(ways(calls)) == {"native"}
    if type != "int32":  # whose values have no room in float32
        same(made, wanted)
    view = q.t()[1:]
    assert function(view).int_repr().equal(function(view.clone()).int_repr())
    c = q.clone()
    if hasattr(c, name + "_") and name in ("relu",):
        getattr(c[1:], name + "_")()
        assert c[1:].int_repr().equal(made[1:].int_repr()) and c[0].int_repr().equal(q[0].int_repr())


MOVES = {
    "index_select": (lambda t: t.index_select(1, here(np.array([3, 0, 0]))), lambda a: a[:, [3, 0, 0]]),
    "index": (lambda t: t[here(np.array([3, 0])), here(np.array([1, 5]))], lambda a: a[[3, 0], [1, 5]]),
    "gather": (lambda t: t.gather(0, here(np.array([[1, 2]]))), lambda a: np.stack([[a[1, 0], a[2, 1]]])),
    "flip": (lambda t: t.flip(0, 1), lambda a: a[::-1, ::-1]),
    "roll": (lambda t: t.roll(2, 1), lambda a: np.roll(a, 2, 1)),
    "repeat": (lambda t: t.repeat(2, 1, 3), lambda a: np.tile(a, (2, 1, 3))),
    "take": (lambda t: t.take(here(np.array([7, 0]))), lambda a: a.ravel()[[7, 0]]),
    "mask": (lambda t: t[here(np.eye(4, 6) > 0)], lambda a: a[np.eye(4, 6) > 0]),
    "cat": (lambda t: lamella.cat([t, t[:1]]), lambda a: np.concatenate([a, a[:1]])),
    "stack": (lambda t: lamella.stack([t, t], 1), lambda a: np.stack([a, a], 1)),
    "cat of views": (lambda t: lamella.cat([t.T, t.T[:2]]), lambda a: np.concatenate([a.T, a.T[:2]])),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("type", ["int8", "uint4", "int32"])
def test_elements_move_as_codes(name, type):
    move, moved = MOVES[name]
    q, a = pair((4, 6), type)
    with quantization.strict(), quantization.trace() as calls:
        made = move(q)
    assert set(ways(calls)) == {"native"}
    same(made, a.map(moved))
    made.zero_()
    same(q, a)


def test_max_pools_are_of_codes():
    q, a = pair((2, 3, 8, 8), "uint8")
    with quantization.strict():
        made = F.max_pool2d(q, 2)
    same(made, a.map(lambda x: x.reshape(2, 3, 4, 2, 4, 2).max((3, 5))))


def test_average_pools_round_means_of_codes():
    q, a = pair((2, 3, 8, 6), "uint8")
    steps = (a.codes - a.zero).astype(np.float32)
    zero = q.q_zero_point()

    def averaged(means):
        codes = np.clip(np.rint(means.astype(np.float32)) + zero, 0, 255)
        return quantized((codes - zero) * np.float32(0.25), "uint8", 0.25, zero)

    with quantization.strict(), quantization.trace() as calls:
        same(F.avg_pool2d(q, 2), averaged(steps.reshape(2, 3, 4, 2, 3, 2).sum((3, 5)) / np.float32(4)))
        same(F.adaptive_avg_pool2d(q, 1), averaged(steps.sum((2, 3), keepdims=True) / np.float32(48)))
        same(q.mean((2, 3)), averaged(steps.sum((2, 3)) / np.float32(48)))
        same(F.avg_pool1d(q[0], 3), averaged(steps[0].reshape(3, 8, 2, 3).sum(3) / np.float32(3)))
    assert {c.way for c in calls} == {"native"}
    p, _ = pair((2, 3, 8, 6), scheme="channel", axis=1)
    with refused("avg_pool2d", "scales of their own", error=NotImplementedError):
        F.avg_pool2d(p, 2)


def test_cat_needs_one_scale():
    q, _ = pair((4, 6))
    for other in (pair((4, 6), "int16")[0], pair((4, 6), scheme="channel")[0], here(numbers(4, 6))):
        with refused("cat", "'tensors'", "dequantize", error=NotImplementedError):
            lamella.cat([q, other])


# ---- sums and products with their own scale -------------------------------------------------------------------------


def torch_like(op, a, b, scale, zero, type):
    values = a.values() + b.values() if op.startswith("add") else a.values() * b.values()
    return by_scale(np.maximum(values, 0) if op.endswith("relu") else values, type, scale, zero)


@pytest.mark.parametrize("op", ["add", "mul", "add_relu", "mul_relu"])
@pytest.mark.parametrize("type", ["int8", "uint8", "int4", "int16"])
def test_quantized_sums_and_products(op, type):
    function = getattr(lamella.ops.quantized, op)
    zero = 1 if type == "int4" else 5
    for shape in ((1,), (7, 9), (70001,), (0, 2), ()):
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            x, y = numbers(*shape, seed=1), numbers(*shape, seed=2)
            q = lamella.quantize_per_tensor(here(x), 0.05, zero, type)
            p = lamella.quantize_per_tensor(here(y), 0.025, 0, type)
            wanted = torch_like(op, quantized(x, type, 0.05, zero), quantized(y, type, 0.025), 0.1, 2, type)
            made = function(q, p, 0.1, 2)
            same(made, wanted)
            same(made.relu(), by_scale(np.maximum(wanted.values(), 0), type, 0.1, 2))
    q, a = pair((4, 6), type)
    same(function(q, q[0], 0.1, 2), torch_like(op, a, a.map(lambda v: np.broadcast_to(v[0], (4, 6))), 0.1, 2, type))
    for call, argument in (
        (lambda: function(here(x), p, 0.1, 2), "'qa'"),
        (lambda: function(q, here(x), 0.1, 2), "'qb'"),
        (lambda: function(q, q, 0.0, 2), "'scale'"),
        (lambda: function(q, q, 0.1, 2**20), "'zero_point'"),
        (lambda: function(q, q.to("cpu"), 0.1, 2**20), "'zero_point'"),
        (lambda: function(q, lamella.quantize_per_tensor(here(a.values()), 0.1, 0, "int32"), 0.1, 2), "'qb'"),
    ):
        with pytest.raises((ValueError, TypeError), match=argument):
            call()


# ---- linear layers --------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9), st.integers(1, 70), st.integers(1, 40), st.data())
def test_linear_layers_are_exact(rows, depth, features, data):
    """Sums of products of integers are exact; then float(sum) * (scale of x * scale of w) + bias, rounded once each."""
    seed = data.draw(st.integers(0, 100))
    x, w, bias = drawn((rows, depth), seed), drawn((features, depth), seed + 1), numbers(features, seed=seed)
    of_x, of_w = data.draw(st.sampled_from(["int8", "uint8"])), data.draw(st.sampled_from(["int8", "uint8", "int4"]))
    zero_x, zero_w = data.draw(st.integers(*RANGES[of_x])), data.draw(st.integers(*RANGES[of_w]))
    by_channel, with_bias = data.draw(st.booleans()), data.draw(st.booleans())
    q, a = lamella.quantize_per_tensor(here(x), 0.05, zero_x, of_x), quantized(x, of_x, 0.05, zero_x)
    if by_channel:
        scales = np.random.default_rng(seed).uniform(0.01, 0.1, features).astype(np.float32)
        zeros = np.full(features, zero_w)
        p, b = (lamella.quantize_per_channel(here(w), here(scales), here(zeros), 0, of_w),
                quantized(w, of_w, scales, zeros, 0))  # fmt: skip
    else:
        p, b = lamella.quantize_per_tensor(here(w), 0.02, zero_w, of_w), quantized(w, of_w, 0.02, zero_w)
    sums = (a.codes - a.zero) @ (b.codes - b.zero).T
    values = sums.astype(np.int32).astype(np.float32) * (np.float32(0.05) * b.scale[:, 0])
    if with_bias:
        values = values + bias
    with quantization.out_scale(0.3, 7, "uint8"), quantization.strict(), quantization.trace() as calls:
        made = F.linear(q, p, here(bias) if with_bias else None)
    assert ways(calls) == ["native"]
    same(made, by_scale(values.astype(np.float32), "uint8", 0.3, 7))


@pytest.mark.parametrize("of_x", ["int8", "uint8"])
def test_long_sums_are_exact(of_x):
    """The sums are beyond 2 ** 24, from where on float32 lacks integers."""
    rng, (_, high) = np.random.default_rng(0), RANGES[of_x]
    x, w = rng.integers(high - 40, high, (3, 4005)), rng.integers(87, 127, (5, 4005))
    sums = x @ w.T
    assert sums.min() > 2**24 and (sums != sums.astype(np.float32)).any()
    q, p = (lamella.quantize_per_tensor(here(c.astype(np.float32)), 1.0, 0, t) for c, t in ((x, of_x), (w, "int8")))
    with quantization.out_scale(0.5, 0, "int32"), quantization.strict():
        same(F.linear(q, p), by_scale(sums.astype(np.float32), "int32", 0.5, 0))
        made = F.conv2d(q.view(3, 445, 3, 3), p.view(5, 445, 3, 3))
        same(made, by_scale(sums.astype(np.float32)[..., None, None], "int32", 0.5, 0))


@pytest.mark.parametrize("type, scheme, affine", [("int4", "group", 1), ("int4", "group", 0), ("int8", "channel", 0)])
def test_weights_alone_may_be_quantized(type, scheme, affine):
    axis, group = (1, 8) if scheme == "group" else (0, None)
    x, (p, b) = numbers(3, 24), pair((5, 24), type, scheme, axis, group, affine, spread=1.0)
    for layer in (lambda t: F.linear(t, p), lambda t: t @ p.t(), lambda t: F.linear(t[None], p)[0]):
        with quantization.trace() as calls:
            made = layer(here(x))
        assert not made.is_quantized and ways(calls) == ["composite" if affine else "native"]
        np.testing.assert_allclose(made.cpu().numpy(), x @ b.values().T, 1e-4, 1e-4)
    leaf = here(x).requires_grad_()
    F.linear(leaf, p).sum().backward()
    np.testing.assert_allclose(leaf.grad.cpu().numpy(), np.broadcast_to(b.values().sum(0), x.shape), 1e-4, 1e-4)


# ---- refusals -------------------------------------------------------------------------------------------------------


def test_a_result_without_a_scale_is_an_error():
    q, _ = pair((4, 6))
    for call in (
        lambda: q + q,
        lambda: q.exp(),
        lambda: q * 2,
        lambda: F.linear(q, q),
        lambda: q + here(numbers(4, 6)),
    ):
        with refused("per_tensor_affine, int8", "out_scale", "dequantize"):
            call()
    with quantization.out_scale(0.1, 1000), refused("'zero_point'", "int8", error=ValueError):
        q + q


def test_what_has_no_rule_names_the_operator_and_the_scheme():
    q, _ = pair((4, 6))
    for call in (q.sum, q.sort, lambda: q.cumsum(0), q.prod, q.std, lambda: q.topk(2)):
        with refused("quantized \\(per_tensor_affine, int8\\)", "dequantize", error=NotImplementedError):
            call()
    p, _ = pair((4, 6), scheme="channel")
    with refused("flip", "per_channel_affine", error=NotImplementedError):
        p.flip(0)
    with refused("linear", "'input'", "weight", error=NotImplementedError):
        F.linear(q, here(numbers(3, 6)))
    with refused("to", "int_repr", error=NotImplementedError):
        q.to(lamella.int32)


def test_strict_mode_forbids_values():
    q, _ = pair((4, 6))
    with quantization.out_scale(0.1):
        _ = q + q
        with quantization.strict():
            with refused("add", "strict", "dequantize", error=NotImplementedError):
                q + q
            with quantization.strict(False):
                _ = q + q
            _ = q.relu()
        _ = q + q
    with quantization.strict(), refused("linear", "strict", error=NotImplementedError):
        F.linear(here(numbers(2, 6)), q)


def test_settings_belong_to_the_thread_and_go_with_its_state():
    from threads import in_threads

    q, a = pair((4, 6))
    with quantization.out_scale(0.5), quantization.trace() as calls:
        state = lamella.capture_state()

        def other():
            with pytest.raises(RuntimeError, match="out_scale"):
                q + q
            with state:
                return (q + q).q_scale()

        assert in_threads(other) == [0.5]
        with quantization.out_scale(0.25):
            assert (q + q).q_scale() == 0.25
        assert (q + q).q_scale() == 0.5
    assert len(calls) == 3


def test_plain_tensors_take_no_part():
    x = here(numbers(3))
    with quantization.out_scale(0.5), quantization.strict(), quantization.trace() as calls:
        y = x + x
    assert not y.is_quantized and calls == []


@pytest.mark.needs("named_tensor")
def test_names_go_along():
    names = ("n", "c")
    x = here(numbers(4, 6)).rename(*names)
    q = lamella.quantize_per_tensor(x, 0.1, 0, "int8")
    p = lamella.quantize_per_channel(x, here(np.ones(6, np.float32)), None, "c", "int8")
    g = lamella.quantize_per_group(x, here(np.ones((4, 2), np.float32)), None, 3, "int4")
    for t in (q, p, g):
        assert t.names == t.dequantize().names == t.int_repr().names == t.clone().names == names
        assert t.t().names == ("c", "n") and t[0].names == ("c",)
    with quantization.out_scale(0.1):
        assert (q + q).names == (q == q).names == q.relu().names == names
        assert F.linear(q, q.rename(None)).names == ("n", None)
        with pytest.raises(RuntimeError, match="'n' and 'other'|names"):
            q + q.rename("other", "c")
    assert lamella.ops.quantized.add(q, q, 0.1, 0).names == names
    assert lamella.ops.quantized.linear_dynamic(x, q.rename(None), None).names == ("n", None)
    with refused("dimension 'nothing'|no dimension"):
        lamella.quantize_per_channel(x, here(np.ones(6, np.float32)), None, "nothing", "int8")


def test_gradients_into_integers_are_errors():
    q = lamella.quantize_per_tensor(here(numbers(2, 3)).requires_grad_(), 0.1, 0, "int8")
    w = lamella.quantize_per_tensor(here(numbers(4, 3)), 0.1, 0, "int8")
    for made in (
        lamella.ops.quantized.add(q, q, 0.1, 0),
        lamella.ops.quantized.linear(q, w, None, 0.1, 0, "int8"),
        lamella.ops.quantized.requantize(q, 0.2, 0, "int8"),
    ):
        assert made.requires_grad
        with refused("integers carry no gradient"):
            made.dequantize().sum().backward()


def test_copies_to_other_scales_are_seen():
    q, a = pair((4, 6), spread=1.0)
    other = lamella.quantize_per_tensor(here(numbers(4, 6)), 0.5, 1, "uint8")
    alike = q.clone().zero_()
    with quantization.trace() as calls:
        alike.copy_(q)
        other.copy_(q)
        lamella.clamp(q, 0, 1, out=other)
        lamella.ops.quantized.requantize(q, 0.5, 1, "int8")
        lamella.ops.quantized.requantize(q, 0.25, q.q_zero_point(), "int8")
    assert ways(calls) == ["native", "composite", "composite", "composite"]
    same(alike, a)


def test_targets_of_other_shapes_and_dtypes():
    q = lamella.quantize_per_tensor(here(numbers(2, 3)), 0.1, 0, "int8")
    assert lamella.add(q, q, out=here(np.zeros(6, np.float32))).shape == (2, 3)
    for dtype in (np.int32, bool):
        with refused("add", "'out'", "dtype"):
            lamella.add(q, q, out=here(np.zeros((2, 3), dtype)))
    assert lamella.add(q, q, out=here(np.zeros((2, 3)))).dtype == lamella.float64


def test_integers_can_be_written():
    q, a = pair((3,), "int16", spread=1.0)
    q.copy_(here(np.array([1, 2, 3])))
    assert q.tolist() == [1, 2, 3]
    q[1:] = here(np.array([True, False]))
    assert q.tolist() == [1, 1, 0]


def test_sums_of_weights_follow_views():
    w = quantization.quantize(here(numbers(4, 6)), "int8")
    x = lamella.quantize_per_tensor(here(numbers(2, 12)), 0.1, 10, "uint8")
    with quantization.out_scale(0.01, 0, "int16"):
        for rows, depth in ((4, 6), (6, 4), (2, 12)):
            made = F.linear(x[:, :depth].clone(), w.view(rows, depth))
            wanted = x[:, :depth].dequantize() @ w.dequantize().view(rows, depth).T
            assert (made.dequantize() - wanted).abs().max().item() < 0.006


def test_large_numbers_times_four_bits():
    w = quantization.quantize(here(np.ones((3, 32), np.float32)), "int4", group_size=32)
    x = np.zeros((1, 32), np.float32)
    x[0, 3] = np.inf
    assert F.linear(here(x), w).tolist() == [[np.inf] * 3]
    x[0] = np.where(np.arange(32) % 2, 3e37, -3e37)
    assert F.linear(here(x), w).tolist() == [[0.0] * 3]
