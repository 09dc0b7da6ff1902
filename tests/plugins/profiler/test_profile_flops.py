"""Floating-point operations of profiles: convolutions and attention, counted by integers; each operation once."""

import math
from concurrent.futures import ThreadPoolExecutor

import lamella
import lamella.nn.functional as F
import pytest
from lamella.profiler import ProfilerAction, profile

pytestmark = pytest.mark.needs("autograd")


def random(*shape):
    return lamella.randn(*shape, requires_grad=True)


def flops(run):
    """Returns the operations by name; of operators that have some."""
    with profile(with_flops=True) as prof:
        run()
    return {row.key.removeprefix("aten::"): row.flops for row in prof.key_averages() if row.flops}


def multiplications(input, weight, stride, padding, dilation, groups):
    """Counts a convolution's products of an element and a weight one output place after the other, as if the padding
    had elements."""
    places = [
        sum(1 for first in range(0, n + 2 * padding - (k - 1) * dilation, stride))
        for n, k in zip(input[2:], weight[2:], strict=True)
    ]
    assert input[1] == weight[1] * groups
    return sum(weight[1] * math.prod(weight[2:]) for _ in range(input[0] * weight[0] * math.prod(places)))


@pytest.mark.parametrize(
    "input, weight, stride, padding, dilation, groups",
    [
        ((2, 3, 8), (2, 3, 3), 1, 0, 1, 1),
        ((2, 4, 9, 9), (6, 2, 3, 3), 2, 1, 1, 2),
        ((3, 4, 7, 6), (4, 1, 2, 3), 1, 2, 2, 4),
        ((1, 2, 5, 6, 7), (4, 2, 2, 3, 3), 1, 0, 2, 1),
    ],
)
def test_convolutions(input, weight, stride, padding, dilation, groups):
    x, w, b = random(*input), random(*weight), random(weight[0])
    convolution = (F.conv1d, F.conv2d, F.conv3d)[len(input) - 3]
    found = flops(lambda: convolution(x, w, b, stride, padding, dilation, groups).sum().backward())
    once = 2 * multiplications(input, weight, stride, padding, dilation, groups)
    want = ("convolution", "_convolution_backward_input", "_convolution_backward_weight")
    assert {name: found.get(name) for name in want} == dict.fromkeys(want, once)
    assert sum(found.values()) == 3 * once


def test_convolutions_as_torch_counts_them():
    """Stated from torch 2.13's FlopCounterMode: (forward, backward)."""
    found = flops(lambda: F.conv1d(random(3, 8), random(2, 3, 3)).sum().backward())
    assert (found.pop("convolution"), sum(found.values())) == (216, 432)
    x, w = random(1, 2, 5, 6, 7), random(4, 2, 2, 3, 3)
    found = flops(lambda: F.conv3d(x, w, dilation=2).sum().backward())
    assert (found.pop("convolution"), sum(found.values())) == (5184, 10368)
    x, w = random(2, 4, 5, 5), random(4, 3, 3, 3)
    assert sum(flops(lambda: F.conv_transpose2d(x, w, stride=2)).values()) == 10800
    assert sum(flops(lambda: F.conv_transpose2d(x, w, stride=2).sum().backward()).values()) == 10800 + 21600


def test_strides_that_sizes_do_not_tell():
    """Calls with the same sizes and other strides share a row, which has the operations of both."""
    x, w = lamella.ones(1, 1, 9), lamella.ones(1, 1, 3)
    with profile(with_flops=True) as prof:
        F.conv1d(x, w)
        F.conv1d(x, w, stride=3)
    want = 2 * 3 * (7 + 3)
    assert sum(row.flops for row in prof.key_averages()) == want
    assert sum(row.flops for row in prof.key_averages(group_by_input_shape=True)) == want


def test_each_profile_counts_its_own_on_all_threads():
    x, w = lamella.ones(1, 1, 9), lamella.ones(1, 1, 3)
    with profile(with_flops=True) as outer:
        F.conv1d(x, w)
        with profile(with_flops=True) as inner, ThreadPoolExecutor(1) as pool:
            pool.submit(F.conv1d, x, w).result()
    F.conv1d(x, w)
    assert [sum(row.flops for row in prof.key_averages()) for prof in (outer, inner)] == [84, 42]
    actions = [ProfilerAction.NONE, ProfilerAction.RECORD_AND_SAVE] * 2 + [ProfilerAction.NONE] * 9
    found = []
    ready = lambda prof: found.append(sum(row.flops for row in prof.key_averages()))  # noqa: E731
    with profile(with_flops=True, schedule=actions.__getitem__, on_trace_ready=ready) as prof:
        for step in range(4):
            F.conv1d(x, w, stride=step + 1)
            prof.step()
    assert found == [2 * 3 * 4, 2 * 3 * 2]  # of the strides 2 and 4


@pytest.mark.parametrize("mask", [False, True])
def test_attention(mask):
    batch, heads, queries, keys, size, values = 2, 3, 5, 7, 8, 6
    q, k, v = random(batch, heads, queries, size), random(batch, heads, keys, size), random(batch, heads, keys, values)
    bias = random(queries, keys) if mask else None
    found = flops(lambda: F.scaled_dot_product_attention(q, k, v, bias).sum().backward())
    pairs = 2 * batch * heads * queries * keys
    want = {"_attention": pairs * (size + values), "_attention_backward": pairs * (3 * size + 2 * values)}
    if mask:
        want["_attention_mask_backward"] = pairs * (size + values)
    assert found == want


@pytest.mark.parametrize("need_weights", [False, True])
def test_multi_head_attention(need_weights):
    batch, length, size, heads = 2, 5, 8, 2
    layer = lamella.nn.MultiheadAttention(size, heads, batch_first=True)
    x = lamella.randn(batch, length, size)
    found = flops(lambda: layer(x, x, x, need_weights=need_weights))
    products = 2 * batch * length * size * (3 * size) + 2 * batch * length * size * size
    attention = 2 * 2 * batch * length * length * size
    scaling = found.pop("mul", 0)  # the queries, where the weights are wanted
    assert sum(found.values()) == products + attention and scaling == need_weights * batch * length * size


def test_on_a_device_without_kernels_of_its_own(guest):
    """The example device composes mm of bmm, linear of matmul, convolutions and attention of products: each product
    counts once, and what is around it counts what is left."""
    guest.run(
        """
        import lamella
        import lamella.nn.functional as F
        from lamella.profiler import profile

        def flops(run):
            with profile(with_flops=True) as prof:
                run()
            rows = {row.key: row.flops for row in prof.key_averages()}
            kinds = {e.name for e in prof.events()}
            assert "aten::bmm" in kinds and rows["aten::bmm"] == max(rows.values()), rows
            return sum(rows.values())

        a, b = lamella.ones(4, 5, device="bank"), lamella.ones(5, 6, device="bank")
        assert flops(lambda: a @ b) == 2 * 4 * 5 * 6
        assert flops(lambda: F.linear(a, b.t())) == 2 * 4 * 5 * 6
        x, w = lamella.ones(2, 3, 8, device="bank"), lamella.ones(4, 3, 3, device="bank")
        assert flops(lambda: F.conv1d(x, w, stride=2)) == 2 * (2 * 4 * 3) * (3 * 3)
        """
    )


def test_work_of_a_device_is_in_the_total_once(guest):
    """Work has a row, and so has the operator that launched it; totals count it once."""
    guest.run(
        """
        import lamella
        from lamella.profiler import profile

        a = lamella.ones(64, 64, device="bank")
        with profile() as prof:
            for _ in range(3):
                a @ a
        work = [e.time_range.elapsed_us() for e in prof.events() if e.is_device]
        sums = prof.key_averages()
        (launching,) = [row for row in sums if row.key == "aten::bmm"]
        assert launching.count == len(work) == 3
        for total in (sum(work), launching.self_device_time_total):
            assert abs(sums.self_device_time_total - total) < 1e-6 * total, (sums.self_device_time_total, total)
        assert sum(row.self_cpu_time_total for row in sums if row.is_device) == 0
        times = [e.cpu_time_total for e in prof.events() if not e.is_device and not e.cpu_parent]
        assert abs(sums.self_cpu_time_total - sum(times)) < 1e-6 * sum(times)
        """
    )


def test_a_call_that_the_host_serves_is_one_call(guest):
    """The numpy device has no kernel for xor: the host serves it, with a call of its own inside the first."""
    guest.run(
        """
        import lamella
        from lamella.profiler import profile

        x = lamella.arange(4096).to("numpy")
        host = lamella.arange(5)
        lamella.reset_fallback_counts()
        with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
            for _ in range(3):
                y = x ^ x
            host ^ host
            z = x * 2
        served = {f.operator: f.calls for f in lamella.fallback_counts()}
        assert served == {"aten::bitwise_xor.Tensor": 3, "aten::mul.Scalar": 1}, served
        events = prof.events()
        inner = [e for e in events if e.name == "aten::bitwise_xor" and e.cpu_parent]
        outer = [e for e in events if e.name == "aten::bitwise_xor" and not e.cpu_parent]
        assert {e.backend for e in inner} == {"cpu"} and [e.backend for e in outer] == ["numpy"] * 3 + ["cpu"]
        (multiplied,) = [row for row in prof.key_averages() if row.key == "aten::mul"]
        assert (multiplied.count, multiplied.flops) == (1, 4096)

        def near(a, b):
            return abs(a - b) < 1e-6 * max(1, abs(b))

        for sums in (prof.key_averages(), events.key_averages()):
            (row,) = [row for row in sums if row.key == "aten::bitwise_xor"]
            assert row.count == len(outer) == 4
            assert near(row.cpu_time_total, sum(e.cpu_time_total for e in outer))
            assert near(row.self_cpu_time_total, sum(e.self_cpu_time_total for e in inner + outer))
            assert near(row.most, max(e.cpu_time_total for e in outer))
            assert near(row.least, min(e.cpu_time_total for e in outer))
        (row,) = [row for row in prof.key_averages() if row.key == "aten::bitwise_xor"]
        # The outer calls make three results on the device; what the inner ones make on the host is gone at their ends.
        # The last call's result is on the host: five numbers of eight bytes.
        assert (row.device_memory_usage, row.cpu_memory_usage) == (3 * 4096 * 8, 5 * 8)
        by_shapes = prof.key_averages(group_by_input_shape=True)
        assert [row.count for row in by_shapes if row.key == "aten::bitwise_xor"] == [3, 1]
        """
    )
