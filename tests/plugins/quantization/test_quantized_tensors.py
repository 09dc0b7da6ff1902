"""Quantized tensors: their codes and values, views, copies, files and errors, beside a reference of integers in numpy.

test_quantized_on_bank.py runs this file again on the example backend.
"""

import copy
import io
import os
import pickle

import lamella
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import RANGES, plain, quantized, refused, same

pytestmark = pytest.mark.needs("autograd", "quantization")
DEVICE = os.environ.get("QUANTIZED_ON", "cpu")
TYPES = list(RANGES)
SCHEMES = ("tensor", "channel", "group")


def here(array):
    return lamella.tensor(np.array(array, order="C")).to(DEVICE)


def drawn(shape, seed=0, spread=3.0):
    """Returns float32 numbers, some of them halves of a scale of 0.25, infinities or NaN."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, spread, shape).astype(np.float32)
    x = np.where(rng.random(shape) < 0.2, np.rint(x) * 0.25 + 0.125, x).astype(np.float32)
    special = np.array([np.inf, -np.inf, np.nan, -0.0, 1e30], np.float32)
    return np.where(rng.random(shape) < 0.05, rng.choice(special, shape), x).astype(np.float32)


def pair(shape, type="int8", scheme="tensor", axis=0, group=None, affine=True, seed=0, order=None, spread=3.0):
    """Returns a quantized tensor and the reference of it."""
    rng = np.random.default_rng(seed + 1)
    x = drawn(shape, seed, spread)
    low, high = RANGES[type]
    t = here(x)
    if order is not None:  # the same elements in another order in memory
        t = t.permute(*order).contiguous().permute(*np.argsort(order).tolist())
    if scheme == "tensor":
        zero = int(rng.integers(low, high, endpoint=True)) if affine and type != "int32" else 0
        return lamella.quantize_per_tensor(t, 0.25, zero, type), quantized(x, type, 0.25, zero)
    sizes = list(shape)
    if scheme == "group":
        sizes[axis] //= group
    else:
        sizes = [shape[axis]]
    scales = rng.uniform(0.01, 1, sizes).astype(np.float32)
    zeros = rng.integers(low // 4, high // 4 + 1, sizes) if affine else np.zeros(sizes, np.int64)
    given_zeros = here(zeros.astype(np.int32)) if affine else None
    if scheme == "group":
        made = lamella.quantize_per_group(t, here(scales), given_zeros, group, type, axis)
        return made, quantized(x, type, scales, zeros, axis, group)
    made = lamella.quantize_per_channel(t, here(scales), given_zeros, axis, type)
    return made, quantized(x, type, scales, zeros, axis)


@st.composite
def pairs(draw):
    """Draws a quantized tensor of any type, scheme, shape and order, with its reference."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    axis = draw(st.integers(0, len(shape) - 1))
    scheme = draw(st.sampled_from(SCHEMES))
    group = None
    if scheme == "group":
        group = draw(st.integers(1, 4))
        shape = (*shape[:axis], shape[axis] * group, *shape[axis + 1 :])
    order = draw(st.permutations(range(len(shape))))
    return pair(shape, draw(st.sampled_from(TYPES)), scheme, axis, group, draw(st.booleans()),
                draw(st.integers(0, 100)), order)  # fmt: skip


# ---- codes and values -----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(pairs())
def test_codes_and_values_are_those_of_the_reference(drawn_pair):
    same(*drawn_pair)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("type", TYPES)
def test_the_dtype_of_arithmetic_stays(dtype, type):
    x = drawn((5, 7))
    narrow = lamella.tensor(x).to(getattr(lamella, dtype))
    q = lamella.quantize_per_tensor(narrow.to(DEVICE), 0.25, 1, type)
    assert str(q.dtype) == f"lamella.{dtype}" and q.dequantize().dtype == q.dtype == q.t().dtype == q.clone().dtype
    wanted = quantized(narrow.float().numpy(), type, 0.25, 1)
    np.testing.assert_array_equal(q.int_repr().cpu().numpy(), wanted.codes)
    values = lamella.tensor(wanted.values()).to(getattr(lamella, dtype))
    assert q.dequantize().cpu().equal(values)


def test_a_range_of_codes_may_be_narrower():
    x = drawn((40,))
    q = lamella.ops.quantized.quantize_per_tensor(here(x), 0.25, 5, "uint8", quant_min=0, quant_max=127)
    wanted = np.clip(quantized(x, "uint8", 0.25, 5).codes, 0, 127)
    np.testing.assert_array_equal(q.int_repr().cpu().numpy(), wanted)


def test_the_talks_spelling():
    x = here(np.array([-1.0, 0.0, 2.0], np.float32))
    y = x.quantize_linear(0.5, 2)
    assert y.q_scale() == 0.5 and y.q_zero_point() == 2 and y.is_quantized and not x.is_quantized
    assert y.int_repr().tolist() == [0, 2, 6] and str(y.int_repr().dtype) == "lamella.uint8"
    plain(y.dequantize(), np.array([-1, 0, 2], np.float32))


def test_schemes():
    q, _ = pair((3, 4))
    assert q.qscheme() is lamella.per_tensor_affine and pickle.loads(pickle.dumps(q.qscheme())) is q.qscheme()
    assert pair((3, 4), affine=False)[0].qscheme() is lamella.per_tensor_symmetric
    p, wanted = pair((3, 4), scheme="channel", axis=1)
    assert p.qscheme() is lamella.per_channel_affine and p.q_per_channel_axis() == 1
    np.testing.assert_array_equal(p.q_per_channel_scales().cpu().numpy(), wanted.scale[0])
    np.testing.assert_array_equal(p.q_per_channel_zero_points().cpu().numpy(), wanted.zero[0])
    assert p.t().q_per_channel_axis() == 0 and p[None].q_per_channel_axis() == 2
    assert pair((3, 4), scheme="channel", affine=False)[0].q_per_channel_zero_points().tolist() == [0, 0, 0]
    assert pair((3, 4), scheme="group", axis=1, group=2, affine=False)[0].qscheme() is lamella.per_group_symmetric
    with refused("q_scale", "channel"):
        p.q_scale()
    with refused("q_per_channel_axis", "not a dimension"):
        p.flatten().q_per_channel_axis()
    with refused("q_per_channel_scales", "per_tensor"):
        q.q_per_channel_scales()
    for call in (here(drawn((2,))).q_scale, here(drawn((2,))).qscheme, here(drawn((2,))).int_repr):
        with refused("not quantized"):
            call()


def test_bytes():
    for type, bits in (("int8", 8), ("uint8", 8), ("int16", 16), ("int32", 32), ("int4", 4), ("uint4", 4)):
        for shape in ((6, 4), (3, 5), (1,), (0, 3)):
            q = (
                pair(shape, type)[0]
                if 0 not in shape
                else lamella.quantize_per_tensor(here(drawn(shape)), 1.0, 0, type)
            )
            assert q.untyped_storage().nbytes() == (int(np.prod(shape)) * bits + 7) // 8


def test_no_elements_and_no_dimensions():
    for type in TYPES:
        for shape in ((0,), (0, 3), (3, 0)):
            same(lamella.quantize_per_tensor(here(np.zeros(shape, np.float32)), 0.5, 0, type),
                 quantized(np.zeros(shape, np.float32), type, 0.5))  # fmt: skip
        x = np.float32(1.3)
        same(lamella.quantize_per_tensor(here(x), 0.5, 0, type), quantized(x, type, 0.5))


# ---- views ----------------------------------------------------------------------------------------------------------

VIEWS = {
    "a row": lambda t: t[1],
    "an element": lambda t: t[-1, 2],
    "slices": lambda t: t[1:, :4],
    "steps": lambda t: t[::2, 1::3],
    "odd": lambda t: t[1:3, 1:4],
    "reshaped": lambda t: t.reshape(8, 3),
    "flat": lambda t: t.reshape(-1),
    "a new dimension": lambda t: t[:, None],
    "views of views": lambda t: t[1:].T[::2][1],
    "transposed": lambda t: t.T,
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("type", ["int8", "int4", "int16"])
@pytest.mark.parametrize("view", VIEWS)
def test_views_share_the_codes(type, scheme, view):
    q, wanted = pair((4, 6), type, scheme, axis=1, group=2)
    seen = VIEWS[view](q)
    same(seen, wanted.map(VIEWS[view]))
    assert seen.untyped_storage() is q.untyped_storage() and seen._version == q._version
    assert seen.is_quantized and seen._base is q


@pytest.mark.parametrize("scheme", SCHEMES)
def test_more_views(scheme):
    q, wanted = pair((4, 6), "int4", scheme, axis=1, group=3)
    same(q[0].expand(3, 6), wanted.map(lambda a: np.broadcast_to(a[0], (3, 6))))
    same(q.diagonal(), wanted.map(np.diagonal))
    same(q.chunk(2)[1], wanted.map(lambda a: a[2:]))
    same(q.unfold(1, 2, 2)[1], wanted.map(lambda a: a[1].reshape(3, 2)))
    same(q.as_strided((2, 2), (6, 1), 7),
         wanted.map(lambda a: np.array([[a[1, 1], a[1, 2]], [a[2, 1], a[2, 2]]])))  # fmt: skip
    same(q.unsqueeze(1).squeeze(1).detach(), wanted)
    c = q.clone()
    c.t_()
    same(c, wanted.map(np.transpose))
    assert q[4:4, 1:3].shape == q[4:4, 1:3].dequantize().shape == q[4:4, 1:3].int_repr().shape == (0, 2)
    with refused("beyond"):
        q.as_strided((5, 6), (6, 1), 0)
    with refused("dtype", error=NotImplementedError):
        q.view(lamella.int32)


@settings(deadline=None, max_examples=100)
@given(pairs(), st.data())
def test_copies_of_any_view(drawn_pair, data):
    """A copy has the values of the view, and memory of its own."""
    q, wanted = drawn_pair
    index = tuple(slice(data.draw(st.integers(0, n - 1)), None, data.draw(st.integers(1, 2))) for n in q.shape)
    order = data.draw(st.permutations(range(q.ndim)))
    view = lambda a: np.transpose(a[index], order)  # noqa: E731
    t, expected = q[index].permute(*order), wanted.map(view)
    for made in (t.clone(), copy.deepcopy(t), pickle.loads(pickle.dumps(t)), t.to("cpu", copy=True)):
        same(made, expected)
        assert made.dtype == q.dtype and made.data_ptr is not q.data_ptr
        made.zero_()
    same(t, expected)
    try:
        dense = t.contiguous()
    except NotImplementedError:  # scales by group in another order
        assert "group" in q.qscheme().name or "channel" in q.qscheme().name
    else:
        assert dense.is_contiguous()
        same(dense, expected)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_memory_formats(scheme):
    q, wanted = pair((2, 3, 4, 4), "int8", scheme, axis=1 if scheme == "channel" else 3, group=2)
    last = lamella.channels_last
    if scheme == "group":
        with refused("clone|contiguous", "dequantize", error=NotImplementedError):
            q.contiguous(memory_format=last)
        return
    for made in (q.contiguous(memory_format=last), q.clone(memory_format=last), q.to(memory_format=last)):
        same(made, wanted)
        assert made.is_contiguous(memory_format=last) and made.clone().is_contiguous(memory_format=last)
        same(made.contiguous(), wanted)


# ---- writes ---------------------------------------------------------------------------------------------------------


def requantized(wanted, where, values):
    """Returns the reference after a write of values to a part of it, by the scales there."""
    made = wanted.map(np.copy)
    low, high = RANGES[wanted.type]
    part = rounded_like(wanted, where, values, low, high)
    where(made.codes)[...] = part
    return made


def rounded_like(wanted, where, values, low, high):
    from references import rounded

    scale, zero = where(wanted.scale), where(wanted.zero)
    return rounded(np.broadcast_to(np.float32(values), scale.shape), scale, zero, low, high)


WINDOWS = {
    "all": lambda a: a,
    "a row": lambda a: a[1],
    "a column": lambda a: a[:, 2],
    "steps": lambda a: a[::2, 1::2],
    "odd": lambda a: a[1:2, 1:4],
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("type", ["int8", "int4", "int32"])
def test_writes_round_by_the_scales_there(type, scheme, window):
    where = WINDOWS[window]
    q, wanted = pair((4, 6), type, scheme, axis=1, group=2, spread=1.0)
    values = drawn(where(wanted.codes).shape, seed=7, spread=1.0)
    for write, given_values in (
        (lambda t: t.copy_(here(values)), values),
        (lambda t: t.fill_(0.6), 0.6),
        (lambda t: t.zero_(), 0.0),
    ):
        c = q.clone()
        before = c._version
        write(where(c))
        assert c._version == before + 1
        same(c, requantized(wanted, where, given_values))
    same(q, wanted)


def test_writes_between_quantized_and_plain():
    q, wanted = pair((4, 6))
    p, other = pair((4, 6), "int16", "channel", seed=5)
    c = p.clone()
    c.copy_(q)
    same(c, requantized(other, lambda a: a, wanted.values()))
    x = here(np.zeros((4, 6), np.float32))
    plain(x.copy_(q), wanted.values())
    q2 = q.clone()
    q2[1:] = p[1:]
    same(q2, requantized(wanted, lambda a: a[1:], other.values()[1:]))
    q2[0, 3] = 1.0
    assert q2[0, 3].item() == requantized(wanted, lambda a: a[0, 3:4], 1.0).values()[0, 3]


# ---- exits of values, printing, files -------------------------------------------------------------------------------


def test_values_leave_dequantized():
    for q, wanted in (pair((3, 4)), pair((3, 4), "int4", "channel")):
        assert q.tolist() == wanted.values().tolist() or np.isinf(wanted.values()).any()
        np.testing.assert_array_equal(q.cpu().numpy(), wanted.values())
        np.testing.assert_array_equal(np.asarray(q.cpu()), wanted.values())
        assert q[1, 2].item() == float(q[1, 2]) == wanted.values()[1, 2]


def test_printing():
    x = here(np.array([[0.5, 1.0], [2.0, -1.0]], np.float32))
    where = "" if DEVICE == "cpu" else f"device='{DEVICE}:0', "
    text = repr(lamella.quantize_per_tensor(x[0], 0.5, 3, "int8")).replace("\n       ", " ")
    assert text == f"tensor([0.5000, 1.0000], opaque, {where}quantized=int8, scale=0.5, zero_point=3)", text
    by_channel = lamella.quantize_per_channel(x, here(np.array([0.5, 0.25], np.float32)), None, 0, "int4")
    assert "quantized=int4, 2 scales along 0" in repr(by_channel)
    assert "quantized=int4, 2 scales along 1" in repr(by_channel.t())
    assert "2 scales)" in repr(by_channel.flatten())
    by_group = lamella.quantize_per_group(x, here(np.full((2, 1), 0.5, np.float32)), None, 2, "int4")
    assert "scales for groups of 2" in repr(by_group)
    assert "quantized" not in repr(x)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("type", TYPES)
def test_files_hold_the_integers(type, scheme, tmp_path):
    q, wanted = pair((64, 66), type, scheme, axis=1, group=11)
    saved = {"q": q, "again": q, "part": q[3:, ::2], "t": q.t()}
    lamella.save(saved, tmp_path / "q.lamella")
    for options in ({}, {"mmap": True}, {"map_location": "cpu"}):
        read = lamella.load(tmp_path / "q.lamella", **options)
        assert read["q"] is read["again"] and read["q"].device.type == (
            DEVICE if not options.get("map_location") else "cpu"
        )
        same(read["q"], wanted)
        same(read["part"], wanted.map(lambda a: a[3:, ::2]))
        same(read["t"], wanted.map(np.transpose))
    lamella.save(q, tmp_path / "one.lamella")
    bits = {"int4": 4, "uint4": 4, "int16": 16, "int32": 32}.get(type, 8)
    scales = {"tensor": 0, "channel": 66, "group": 64 * 6}[scheme]
    assert os.path.getsize(tmp_path / "one.lamella") < 64 * 66 * bits // 8 + 8 * scales + 4096
    buffer = io.BytesIO()
    lamella.save(q, buffer)
    buffer.seek(0)
    same(lamella.load(buffer), wanted)


def test_forged_states_are_errors():
    """A pickle whose parts do not fit is an error, and never reads beyond its memory."""

    class Sly:
        def __init__(self, of, parts):
            self.of, self.parts = of, parts

        def __reduce__(self):
            rebuild, (kind, device, dtype, size, stride, held, [(name, saved)]), *_ = self.of.__reduce__()
            saved = {k: v for k, v in {**saved, **self.parts}.items() if v is not None}
            return rebuild, (kind, device, dtype, size, stride, held, [(name, saved)])

    def forge(of, **parts):
        with pytest.raises((ValueError, TypeError)):
            pickle.loads(pickle.dumps(Sly(of, parts)))

    q, wanted = pair((4, 6))
    p, _ = pair((4, 6), "int4", "channel")
    same(pickle.loads(pickle.dumps(Sly(q, {}))), wanted)
    codes, blocks = lamella.quantization.memory(q).clone(), [24, 1, 0, -128, 127, 0]
    for name in ("type", "codes", "scale", "blocks"):
        forge(q, **{name: None})
        forge(p, **{name: None})
    for type in ("int16", "int4", "nothing", 3):
        forge(q, type=type)
    for made in (codes[:3], codes.to(lamella.int16), codes.view(4, 6), codes.to("meta"), codes[::2], 3):
        forge(q, codes=made)
    for scale in (0.0, -1.0, float("nan"), float("inf"), 1e-50, "1", 3, here(np.ones((2, 2), np.float32))):
        forge(q, scale=scale)
    for zero in (0.5, 200, "0", codes):
        forge(q, zero_point=zero)
    for k, value in ((0, 23), (0, -1), (0, 2**62), (1, 0), (1, 2**62), (2, -1), (2, 3), (3, -129), (4, 128), (4, -129)):
        forge(q, blocks=[*blocks[:k], value, *blocks[k + 1 :]])
    forge(q, blocks=blocks[:5])
    forge(q, blocks=3)
    for scales in (here(np.ones(0, np.float32)), here(np.ones(4, np.float64)), here(np.ones((4, 1), np.float32))):
        forge(p, scale=scales)
    forge(p, zero_point=here(np.zeros(3, np.int32)))
    forge(p, zero_point=here(np.zeros(4, np.int64)))


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.0, -0.5, float("nan"), float("inf"), 1e-60, 1e60])
def test_scales_must_be_positive(scale):
    x = here(np.ones((2, 2), np.float32))
    with refused("quantize_per_tensor", "'scale'", "positive", error=ValueError):
        lamella.quantize_per_tensor(x, scale, 0, "int8")
    with refused("quantize_per_channel", "'scales'", "positive", error=ValueError):
        lamella.quantize_per_channel(x, here(np.array([1.0, scale])), None, 0, "int8")
    with refused("out_scale|begin_out", "'scale'", error=ValueError), lamella.quantization.out_scale(scale):
        pass


@pytest.mark.parametrize("type", TYPES)
def test_zero_points_must_be_codes(type):
    x, (low, high) = here(np.ones((2, 2), np.float32)), RANGES[type]
    for zero in (low - 1, high + 1):
        with refused("'zero_point'", "from", error=ValueError):
            lamella.quantize_per_tensor(x, 1.0, zero, type)
        with refused("'zero_points'", "from", error=ValueError):
            lamella.quantize_per_channel(x, here(np.ones(2, np.float32)), here(np.array([0, zero])), 0, type)
    with pytest.raises(TypeError):
        lamella.quantize_per_tensor(x, 1.0, 0.5, type)
    with refused("'zero_points'", "integers", error=TypeError):
        lamella.quantize_per_channel(x, here(np.ones(2, np.float32)), here(np.zeros(2, np.float32)), 0, type)


def test_scales_must_fit_the_tensor():
    x, ones = here(np.ones((2, 6), np.float32)), here(np.ones(3, np.float32))
    for axis in (0, 1):
        with refused("'scales'", r"shape"):
            lamella.quantize_per_channel(x, ones, None, axis, "int8")
    with refused("'axis'", error=IndexError):
        lamella.quantize_per_channel(x, ones, None, 2, "int8")
    with refused("'zero_points'", "shape"):
        lamella.quantize_per_channel(x, ones[:2], here(np.zeros(3, np.int32)), 0, "int8")
    for size in (4, 0, -1):
        with refused("'group_size'", "divide", error=ValueError):
            lamella.quantize_per_group(x, ones, None, size, "int8")
    with refused("'scales'", r"\[2, 3\]"):
        lamella.quantize_per_group(x, ones, None, 2, "int8")
    with refused("no numeric type 'int5'", "int4", error=ValueError):
        lamella.quantize_per_tensor(x, 1.0, 0, "int5")
    with refused("floating", error=TypeError):
        lamella.quantize_per_tensor(x.to(lamella.int32), 1.0, 0, "int8")
    with refused("quantized already", error=TypeError):
        lamella.quantize_per_tensor(lamella.quantize_per_tensor(x, 1.0, 0, "int8"), 1.0, 0, "int8")
    with refused("quant_min", error=ValueError):
        lamella.ops.quantized.quantize_per_tensor(x, 1.0, 0, "int8", quant_min=-200)


def test_integers_carry_no_gradient():
    w = here(np.ones((2, 3), np.float32)).requires_grad_()
    q = lamella.quantize_per_tensor(w, 0.5, 0, "int8")
    with refused("integers carry no gradient", "fake_quantize"):
        q.dequantize().sum().backward()
    x = here(np.ones((1, 3), np.float32)).requires_grad_()
    lamella.nn.functional.linear(x, q.detach()).sum().backward()
    plain(x.grad, np.full((1, 3), 2, np.float32))


# ---- scales that are chosen -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("type", ["int8", "uint8", "int4", "uint4", "int16"])
def test_chosen_scales_reach_all_values(type, symmetric):
    x = np.random.default_rng(0).normal(0.3, 1, (8, 12)).astype(np.float32)
    for options in ({}, {"axis": 0}, {"axis": 1}, {"group_size": 4}, {"axis": 0, "group_size": 2}):
        q = lamella.quantization.quantize(here(x), type, symmetric=symmetric, **options)
        scale = lamella.quantization.scheme(q)["scale"]
        largest = scale if isinstance(scale, float) else scale.max().item()
        assert np.abs(q.dequantize().cpu().numpy() - x).max() <= largest * 0.5001 + 1e-6
        zeros = lamella.quantize_per_tensor(here(np.zeros(1, np.float32)), 1.0, 0, type)
        assert zeros.dequantize().item() == 0


def test_choosing_refuses_other_axes():
    for axis, shape in ((5, (2, 2)), (-3, (2, 2)), (0, ())):
        with refused("'axis'", error=IndexError):
            quantization_of(np.ones(shape, np.float32), axis=axis)
    with refused("'axis'", error=IndexError):
        quantization_of(np.ones((), np.float32), group_size=1)
    with refused("'input'", "no elements", error=ValueError):
        quantization_of(np.ones((0, 4), np.float32))


def quantization_of(array, **options):
    return lamella.quantization.quantize(here(array), "int8", **options)


def test_choosing_refuses_nan():
    x = here(np.array([1.0, np.nan], np.float32))
    for type in ("int8", "uint4"):
        with refused("NaN", error=ValueError):
            lamella.quantization.quantize(x, type)
