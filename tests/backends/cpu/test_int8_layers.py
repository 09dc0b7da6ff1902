"""_int_conv and _int_linear are exact with every kind of instructions; a child process forces each kind."""

import lamella
import numpy as np
import pytest
from test_int8_products import WAYS, run

aten = lamella.ops.aten
KERNELS = ["aten::_int_conv", "aten::_int_linear", "aten::_int_mm"]
KINDS = ("any", "extremes", "ends", "seven bits")
CASES = [  # input, weight, stride, padding, dilation, groups
    ((1, 3, 9, 8), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 64, 14, 14), (70, 64, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((1, 300, 20, 20), (260, 300, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 40, 35, 33), (33, 40, 3, 3), (2, 3), (2, 0), (1, 2), 1),
    ((3, 12, 7, 7), (24, 3, 3, 3), (1, 1), (1, 1), (1, 1), 4),
    ((2, 6, 11, 10), (12, 1, 5, 3), (2, 1), (2, 1), (1, 1), 6),
    ((2, 8, 1500), (16, 4, 5), (2,), (2,), (3,), 2),
    ((1, 9, 6, 7, 8), (11, 9, 3, 2, 3), (1, 2, 1), (1, 0, 2), (2, 1, 1), 1),
    ((1, 257, 3, 3), (300, 257, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((0, 3, 6, 6), (4, 3, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 0, 6, 6), (4, 0, 3, 3), (1, 1), (0, 0), (1, 1), 1),
]


def drawn(shape, low, high, kind, rng):
    if kind == "seven bits":
        return rng.integers(max(low, 0), min(high, 128), shape)
    if kind == "ends":
        return rng.choice([low, high - 1], shape)
    return np.full(shape, low or high - 1) if kind == "extremes" else rng.integers(low, high, shape)


def limits(dtype):
    return (0, 256) if dtype == "uint8" else (-128, 128)


def as_bytes(array, dtype):
    return lamella.from_numpy(array.astype(dtype))


def same(got, wanted, dtype=lamella.int32):
    return got.dtype is dtype and tuple(got.shape) == wanted.shape and np.array_equal(got.numpy(), wanted)


def convolved(x, w, stride, padding, dilation, groups):
    """Returns the convolution in int64, by numpy's windows."""
    places, taps = "uvw"[: x.ndim - 2], "xyz"[: x.ndim - 2]
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    padded = np.pad(x.astype(np.int64), [(0, 0), (0, 0), *((p, p) for p in padding)])
    seen = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(range(2, x.ndim)))
    seen = seen[(..., *(slice(None, None, s) for s in (*stride, *dilation)))]
    seen = seen.reshape(len(x), groups, w.shape[1], *seen.shape[2:])
    kernels = w.astype(np.int64).reshape(groups, len(w) // groups, *w.shape[1:])
    made = np.einsum(f"ngc{places}{taps},goc{taps}->ngo{places}", seen, kernels)
    return made.reshape(len(x), len(w), *made.shape[3:])


def conv_faults(cases=CASES, threads=(1, 2, 3)):
    found, rng = [], np.random.default_rng(0)
    for case in cases:
        shape, kernel, *how = case
        for dtype in ("int8", "uint8"):
            for kind in KINDS:
                x = drawn(shape, *limits(dtype), kind, rng)
                w = drawn(kernel, -128, 128, kind, rng)
                a, b, wanted = as_bytes(x, dtype), as_bytes(w, "int8"), convolved(x, w, *how)
                for n in threads:
                    lamella.set_num_threads(n)
                    if not same(aten._int_conv(a, b, *how), wanted):
                        found.append((case, dtype, kind, n))
    return found


def linear_faults():
    found, rng = [], np.random.default_rng(0)
    for m, k, n in [(1, 1, 1), (1, 300, 41), (4, 256, 34), (7, 70, 64), (100, 513, 70), (3, 0, 5), (0, 4, 5)]:
        for dtype in ("int8", "uint8"):
            for kind in KINDS:
                x = drawn((m, k), *limits(dtype), kind, rng)
                w = drawn((n, k), -128, 128, kind, rng)
                scale, bias = (rng.standard_normal(n).astype("float32") for _ in range(2))
                sums = x.astype(np.int64) @ w.astype(np.int64).T
                a, b8 = as_bytes(x, dtype), as_bytes(w, "int8")
                s, b = lamella.from_numpy(scale), lamella.from_numpy(bias)
                scaled = sums.astype("float32") * scale  # each step rounds to float32, as the kernel's do
                zeros = rng.integers(*limits(dtype), m).astype("int32")
                z, by = lamella.from_numpy(zeros), rng.random(m).astype("float32")
                shifted = (x.astype(np.int64) - zeros[:, None]) @ w.astype(np.int64).T
                if not same(aten._int_linear(a, b8), sums) or not same(aten._int_linear(a, b8, z), shifted):
                    found.append((m, k, n, dtype, kind, "sums"))
                of_w = lamella.from_numpy(w.astype(np.int64).sum(1).astype("int32"))
                both = shifted.astype("float32") * (by[:, None] * scale) + bias
                for got, wanted in [
                    (aten._int_linear(a, b8, None, None, s), scaled),
                    (aten._int_linear(a, b8, None, None, s, b), scaled + bias),
                    (aten._int_linear(a, b8, None, None, s[:1]), sums.astype("float32") * scale[0]),
                    (aten._int_linear(a, b8, z, lamella.from_numpy(by), s, b), both),
                    (aten._int_linear(a, b8, z, lamella.from_numpy(by), s, b, of_w), both),
                ]:
                    if got.dtype is not lamella.float32 or not np.array_equal(got.numpy(), wanted):
                        found.append((m, k, n, dtype, kind, "scaled"))
    return found


@pytest.mark.parametrize("composite", [False, True])
def test_convolutions(composite):
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        assert conv_faults(threads=(2,) if composite else (1, 2, 3)) == []


@pytest.mark.parametrize("composite", [False, True])
def test_linear(composite):
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        assert linear_faults() == []


@pytest.mark.parametrize("way", [w for w in WAYS if w in ("x86-64", "x86-64-v3", "x86-64-v4", "onednn")])
def test_every_way_is_exact(way):
    program = "import test_int8_layers as t; print(t.conv_faults(threads=(2,)) + t.linear_faults())"
    assert run(program, way) == "[]\n"


def test_saturated_sums_would_be_found():
    def saturating(x, w, stride, padding, dilation, groups=1):
        sums = aten.convolution(x.to(lamella.int32), w.to(lamella.int32), None, stride, padding, dilation, groups)
        return sums.clamp(-32768, 32767)

    lib = lamella.library.Library("aten", "IMPL")
    lib.impl("_int_conv", saturating, "cpu")
    try:
        found = conv_faults(CASES[:1], (1,))
    finally:
        lib.close()
    assert {kind for *_, kind, _ in found} >= {"extremes", "ends"}


def test_generated_convolutions():
    rng = np.random.default_rng(1)
    for _ in range(150):
        dims, groups, cin = (int(rng.integers(1, 4)) for _ in range(3))
        kernel = (groups * int(rng.choice([1, 2, 5, 70])), cin, *rng.integers(1, 4, dims).tolist())
        stride, dilation, padding = (rng.integers(a, b, dims).tolist() for a, b in ((1, 4), (1, 3), (0, 3)))
        least = [max(d * (k - 1) + 1 - 2 * p, 1) for d, k, p in zip(dilation, kernel[2:], padding, strict=True)]
        shape = (int(rng.integers(1, 4)), groups * cin, *(n + int(rng.integers(0, 9)) for n in least))
        case = (shape, kernel, stride, padding, dilation, groups)
        assert conv_faults([case], threads=(int(rng.integers(1, 5)),)) == []


def test_channels_last_is_kept():
    rng = np.random.default_rng(2)
    x, w = rng.integers(0, 256, (2, 6, 7, 20)), rng.integers(-128, 128, (9, 20, 3, 3))
    last = as_bytes(x, "uint8").permute(0, 3, 1, 2)
    got = aten._int_conv(last, as_bytes(w, "int8"), [1, 1], [1, 1], [1, 1])
    assert got.stride() == (9 * 6 * 7, 1, 9 * 7, 9)
    assert same(got, convolved(x.transpose(0, 3, 1, 2), w, (1, 1), (1, 1), (1, 1), 1))


def test_sums_wrap():
    x = lamella.full((1, 140_000, 1), -128, dtype=lamella.int8)  # the sum 128 · 128 · 140 000 exceeds 2³¹
    wrapped = np.int64(128 * 128 * 140_000).astype(np.int32)
    assert aten._int_conv(x, x.expand(2, 140_000, 1), [1], [0], [1]).tolist() == [[[wrapped]] * 2]
    assert aten._int_linear(x[0].t(), x[0].t()).tolist() == [[wrapped]]


def test_meta():
    x, w = (lamella.empty(*s, dtype=lamella.int8, device="meta") for s in ((8, 3, 224, 224), (64, 3, 7, 7)))
    got = aten._int_conv(x, w, [2, 2], [3, 3], [1, 1])
    assert got.shape == (8, 64, 112, 112) and got.dtype is lamella.int32
    w = lamella.empty(5, 10**6, dtype=lamella.int8, device="meta")
    rows = lamella.empty(2, 10**6, dtype=lamella.uint8, device="meta")
    assert aten._int_linear(rows, w).dtype is lamella.int32
    scaled = aten._int_linear(rows, w, None, None, lamella.empty(5, device="meta"))
    assert scaled.shape == (2, 5) and scaled.dtype is lamella.float32


def test_a_scale_gets_its_gradient():
    """The composite is recorded, so that scales and biases can be trained over fixed integers."""
    x = lamella.tensor([[1, 2], [3, 4]], dtype=lamella.int8)
    scale, bias = lamella.ones(2, requires_grad=True), lamella.zeros(2, requires_grad=True)
    aten._int_linear(x, x.t(), None, None, scale, bias).sum().backward()
    assert scale.grad.tolist() == [22.0, 32.0] and bias.grad.tolist() == [2.0, 2.0]
    rows, by_row = lamella.ones(1, 2, requires_grad=True), lamella.ones(2, 1, requires_grad=True)
    aten._weight_linear(rows, x.t(), by_row).sum().backward()
    assert rows.grad.tolist() == [[3.0, 7.0]] and by_row.grad.tolist() == [[4.0], [6.0]]


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda x: aten._int_conv(x.float(), x, [1], [0], [1]), "'input': expected dtype int8 or uint8, got"),
        (lambda x: aten._int_conv(x, x.to(lamella.uint8), [1], [0], [1]), "'weight': expected dtype int8, got"),
        (lambda x: aten._int_conv(x, x, [1], [0], [1], 2), "'groups'"),
        (lambda x: aten._int_linear(x[0], x[0].t()[:2]), "'weight': shape .* does not end in the in features"),
        (lambda x: aten._int_linear(x[0], x[0], bias=lamella.ones(3)), "'bias': belongs to scaled sums"),
        (
            lambda x: aten._int_linear(x[0], x[0], scale=lamella.ones(2)),
            r"'scale': expected one number or shape \(3,\)",
        ),
        (lambda x: aten._int_linear(x, x), "'weight': expected 2 dimensions"),
    ],
)
def test_bad_calls_say_what_they_need(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(lamella.ones(3, 3, 2, dtype=lamella.int8))
