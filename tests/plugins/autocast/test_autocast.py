"""Autocast on one device after another: dtypes by policy, blocks within blocks, what is kept, and what is refused.

test_autocast_networks.py runs this file again on the example backend.
"""

import asyncio
import os
import threading
from contextlib import closing

import lamella
import lamella.nn.functional as F
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lamella import ops
from lamella.library import Library, custom_op
from lamella.utils.checkpoint import checkpoint

pytestmark = pytest.mark.needs("autograd", "autocast")
LOW, FULL, HALF, WIDE = lamella.bfloat16, lamella.float32, lamella.float16, lamella.float64
FLOATS = [LOW, FULL, HALF, WIDE]


@pytest.fixture(params=os.environ.get("AUTOCAST_ON", "cpu meta").split())
def device(request):
    lamella.set_default_device(request.param)
    yield request.param
    lamella.set_default_device(None)


def cast(device, *args, **kwargs):
    return lamella.autocast(device, *args, dtype=LOW, **kwargs)


def kept():
    """Returns how many casts this thread keeps."""
    return ops.autocast.cached()


# ---- policies ------------------------------------------------------------------------------------------------------


@given(st.sampled_from(FLOATS), st.sampled_from(FLOATS), st.sampled_from([LOW, HALF]))
def test_lower_gives_the_dtype_of_the_block(a, b, low):
    x, y = lamella.ones(2, 3, dtype=a), lamella.ones(3, 2, dtype=b)
    with lamella.autocast("cpu", dtype=low):
        if WIDE not in (a, b):
            assert (x @ y).dtype is low and F.linear(x, y.t(), y[0, :2]).dtype is low
        elif a is b:
            assert (x @ y).dtype is WIDE
        else:
            with pytest.raises(RuntimeError):
                x @ y


@given(st.sampled_from(FLOATS), st.sampled_from(FLOATS))
def test_widest_and_promote(a, b):
    x, y = lamella.rand(2, 3, dtype=a), lamella.rand(2, 3, dtype=b)
    with cast("cpu"):
        assert F.mse_loss(x, y).dtype is (WIDE if WIDE in (a, b) else FULL)
        assert lamella.cat([x, y]).dtype is lamella.promote_types(a, b)
    with cast("meta"):
        x, y = x.to("meta"), y.to("meta")
        assert x.exp().dtype is x.sum().dtype is (WIDE if a is WIDE else FULL)
        assert lamella.addcmul(x, y, y).dtype is lamella.promote_types(a, b)


@pytest.mark.parametrize("dtype", [lamella.int64, lamella.bool, lamella.complex64])
def test_other_dtypes_are_not_cast(dtype):
    x = lamella.ones(2, 2).to(dtype)
    with cast("cpu"):
        assert lamella.stack([x, x]).dtype is dtype
        if dtype is not lamella.bool:
            assert (x @ x).dtype is dtype


def test_refuse_names_a_better_function():
    x = lamella.rand(3, device="meta")
    with cast("meta"), pytest.raises(RuntimeError, match="^binary_cross_entropy: .*binary_cross_entropy_with_logits"):
        F.binary_cross_entropy(x, x)
    with cast("cpu"):
        y = lamella.rand(3)
        assert F.binary_cross_entropy(y.to(LOW), y).dtype is FULL


def test_values_are_those_of_casts_by_hand():
    x, w, b = lamella.randn(4, 5), lamella.randn(3, 5), lamella.randn(3)
    with cast("cpu"):
        got = F.linear(x, w, b)
    assert lamella.equal(got, F.linear(x.to(LOW), w.to(LOW), b.to(LOW)))


def test_forms_that_write_are_left_alone(device):
    x = lamella.ones(2, 2)
    out = lamella.empty(2, 2)
    with cast(device):
        assert lamella.mm(x, x, out=out).dtype is FULL and x.clone().exp_().dtype is FULL
        with pytest.raises(RuntimeError):
            lamella.empty(2, 2).addmm_(x, x.to(LOW))


def test_tensors_of_other_devices_are_not_cast():
    with cast("meta"):
        assert (lamella.ones(2, 2) @ lamella.ones(2, 2)).dtype is FULL


# ---- blocks --------------------------------------------------------------------------------------------------------


def test_nested(device):
    x = lamella.ones(2, 2)
    seen = []
    with cast(device) as block:
        with lamella.autocast(device, enabled=False):
            seen.append((x @ x).dtype)
            with block, lamella.autocast(device, dtype=HALF):
                seen.append((x @ x).dtype)
            seen.append((x @ x).dtype)
        seen.append((x @ x).dtype)
        with pytest.raises(ZeroDivisionError), lamella.autocast(device, enabled=False):
            1 / 0  # noqa: B018
        seen.append((x @ x).dtype)
    seen.append((x @ x).dtype)
    assert seen == [FULL, HALF, FULL, LOW, LOW, FULL] and not lamella.is_autocast_enabled()


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([LOW, HALF])), max_size=5))
def test_each_block_restores_what_was_before(settings):
    x = lamella.ones(2, 2)

    def state():
        return (x @ x).dtype, lamella.is_autocast_enabled("cpu"), lamella.get_autocast_dtype("cpu")

    def opened(rest):
        before = state()
        if rest:
            (on, dtype), *others = rest
            with lamella.autocast("cpu", dtype, on):
                assert state() == (dtype if on else FULL, on, dtype)
                opened(others)
        assert state() == before

    opened(settings)


def test_decorator_and_recursion():
    @lamella.autocast("cpu")
    def f(x, n):
        """Its text."""
        return [(x @ x).dtype] + (f(x, n - 1) if n else [])

    x = lamella.ones(2, 2)
    assert f(x, 2) == [LOW] * 3 and (x @ x).dtype is FULL and f.__doc__ == "Its text."


def test_several_devices_at_once():
    with cast("cpu"), lamella.autocast("meta", dtype=HALF):
        assert (lamella.ones(2, 2) @ lamella.ones(2, 2)).dtype is LOW
        m = lamella.ones(2, 2, device="meta")
        assert (m @ m).dtype is HALF
        assert lamella.is_autocast_enabled("cpu") and lamella.is_autocast_enabled("meta")


def test_a_derived_class():
    class mine(lamella.autocast):
        def __init__(self):
            super().__init__("cpu", LOW)

    class lazy(lamella.autocast):
        def __init__(self):
            pass

    with mine() as block:
        assert (lamella.ones(2, 2) @ lamella.ones(2, 2)).dtype is LOW and block.device == "cpu"
    with pytest.raises(RuntimeError, match="has not called __init__"), lazy():
        pass


def test_state_is_of_the_thread_and_can_be_captured():
    x, seen = lamella.ones(2, 2), []

    def look():
        seen.append((x @ x).dtype)

    with cast("cpu"):
        state = lamella.capture_state()
        for work in (look, lambda: state.run(look)):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        async def coroutine():
            look()

        asyncio.run(coroutine())
    state.run(look)
    look()
    assert seen == [FULL, LOW, LOW, LOW, FULL]


def test_functions_of_the_state():
    x = lamella.ones(2, 2)
    assert lamella.get_autocast_dtype("cpu") is LOW and lamella.get_autocast_dtype("meta") is HALF
    assert lamella.get_autocast_cpu_dtype() is LOW and lamella.get_autocast_gpu_dtype() is HALF
    lamella.set_autocast_dtype("cpu", HALF)
    lamella.set_autocast_enabled("cpu", True)
    try:
        assert (x @ x).dtype is HALF and lamella.is_autocast_cpu_enabled() and lamella.is_autocast_enabled()
        with lamella.autocast("cpu"):
            assert (x @ x).dtype is HALF
    finally:
        lamella.set_autocast_cpu_enabled(False)
        lamella.set_autocast_cpu_dtype(LOW)
    assert (x @ x).dtype is FULL and lamella.amp.is_autocast_available("cpu")
    assert not lamella.amp.is_autocast_available("no such device")


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: lamella.autocast(3), ValueError, "autocast: argument 'device_type' must be str, got int"),
        (lambda: lamella.autocast("cpu", "bfloat16"), TypeError, "argument 'dtype' must be a dtype, got str"),
        (lambda: lamella.autocast("nothing"), RuntimeError, "no backend 'nothing'"),
        (lambda: lamella.autocast(), TypeError, "device_type"),
        (lambda: lamella.autocast("cpu", speed=2), TypeError, "speed"),
        (lambda: lamella.set_autocast_dtype("cpu", 2), TypeError, "must be a dtype"),
        (lambda: lamella.set_autocast_enabled("nothing", True), RuntimeError, "no backend 'nothing'"),
        (lambda: lamella.amp.find_policy("nothing"), RuntimeError, "there is no operator"),
        (lambda: lamella.amp.custom_fwd(device_type=None), ValueError, "must be str"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("dtype", [FULL, WIDE, lamella.int8])
def test_a_dtype_that_is_not_lower_warns_and_switches_off(dtype):
    with pytest.warns(UserWarning, match="autocast is off"), lamella.autocast("cpu", dtype=dtype):
        assert (lamella.ones(2, 2) @ lamella.ones(2, 2)).dtype is FULL


# ---- casts that are kept -------------------------------------------------------------------------------------------


def test_casts_of_weights_are_kept_until_the_outermost_block_ends():
    w, x = lamella.randn(3, 3, requires_grad=True), lamella.randn(3, 3)
    with cast("cpu"):
        first = x @ w
        with cast("cpu"):
            second = x @ w
        assert kept() == 1  # x is no weight
        assert first.grad_fn.next_functions[1][0] is second.grad_fn.next_functions[1][0]
        lamella.clear_autocast_cache()
        assert kept() == 0
        x @ w
    assert kept() == 0
    (first + second).sum().backward()
    assert w.grad.dtype is FULL


def test_a_tensor_that_is_two_arguments_is_cast_once():
    x = lamella.randn(3, 3, requires_grad=True) * 1
    with cast("cpu"):
        y = x @ x
    (left, _), (right, _) = y.grad_fn.next_functions
    assert left is right and lamella.equal(y, x.to(LOW) @ x.to(LOW))


def test_nothing_is_kept_of_views_results_and_with_the_cache_off():
    w = lamella.randn(3, 3, requires_grad=True)
    with cast("cpu"):
        w.t() @ (w * 2)
        assert kept() == 0
        lamella.set_autocast_cache_enabled(False)
        w @ w
        assert kept() == 0 and not lamella.is_autocast_cache_enabled()
    lamella.set_autocast_cache_enabled(True)
    with cast("cpu", cache_enabled=False):
        w @ w
        assert kept() == 0
    assert lamella.is_autocast_cache_enabled()


def test_a_weight_that_was_written_is_cast_again():
    w = lamella.ones(2, 2, requires_grad=True)
    with cast("cpu"):
        assert (w @ w)[0, 0] == 2
        with lamella.no_grad():
            w.mul_(2)
        assert (w @ w)[0, 0] == 8
        w.data = lamella.full((2, 2), 3.0)
        assert (w @ w)[0, 0] == 18


def test_a_cast_under_no_grad_is_not_used_where_gradients_are_recorded():
    w = lamella.ones(2, 2, requires_grad=True)
    with cast("cpu"):
        with lamella.no_grad():
            w @ w
        assert kept() == 0
        (w @ w).sum().backward()
        with lamella.no_grad():
            assert not (w @ w).requires_grad
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_two_backwards_within_a_block():
    w, x = lamella.ones(2, 2, requires_grad=True), lamella.ones(2, 2)
    with cast("cpu"):
        for _ in range(2):
            (x @ w).sum().backward()
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_nesting_that_is_counted_by_hand():
    w = lamella.ones(2, 2, requires_grad=True)
    lamella.autocast_increment_nesting()
    with cast("cpu"):
        w @ w
    assert kept() == 1 and lamella.autocast_decrement_nesting() == 0
    lamella.clear_autocast_cache()


# ---- autograd ------------------------------------------------------------------------------------------------------


def test_gradients_are_those_of_casts_by_hand():
    w, x = lamella.randn(3, 3, requires_grad=True), lamella.randn(3, 3)
    (wanted,) = lamella.autograd.grad((x.to(LOW) @ w.to(LOW)).float().square().sum(), w)
    for inside in (False, True):
        with cast("cpu"):
            loss = F.mse_loss(x @ w, lamella.zeros(3, 3, dtype=LOW), reduction="sum")
            if inside:
                (got,) = lamella.autograd.grad(loss, w)
        if not inside:
            (got,) = lamella.autograd.grad(loss, w)
        assert lamella.equal(got, wanted) and got.dtype is FULL


def test_backward_on_another_thread():
    w, x = lamella.randn(3, 3, requires_grad=True), lamella.randn(3, 3)
    with cast("cpu"):
        loss = (x @ w).sum()
        thread = threading.Thread(target=loss.backward)
        thread.start()
        thread.join()
    assert lamella.equal(w.grad, (x.to(LOW).t() @ lamella.ones(3, 3, dtype=LOW)).float())


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_computes_again_in_the_same_dtypes(reentrant):
    w, x, seen = lamella.randn(3, 3, requires_grad=True), lamella.randn(3, 3, requires_grad=True), []

    def f(x):
        y = x @ w
        seen.append(y.dtype)
        return y.exp()

    with cast("cpu"):
        (wanted,) = lamella.autograd.grad(f(x).sum(), w)
        y = checkpoint(f, x, use_reentrant=reentrant)
    y.sum().backward()  # after the block
    assert seen == [LOW] * 3 and lamella.equal(w.grad, wanted)
    assert not lamella.is_autocast_enabled()


def test_the_reentrant_checkpoint_computes_again_in_the_same_dtypes():
    w, x, seen = lamella.randn(3, 3, requires_grad=True), lamella.randn(3, 3, requires_grad=True), []

    def f(x):
        y = x @ w
        seen.append(y.dtype)
        return y

    with cast("cpu"):
        y = lamella.utils.checkpoint.CheckpointFunction.apply(f, True, x)
    y.sum().backward()
    assert seen == [LOW] * 2


def function(cast_inputs, seen):
    class Product(lamella.autograd.Function):
        @staticmethod
        @lamella.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx, a, b, more):
            ctx.save_for_backward(a, b)
            seen.append((a.dtype, lamella.is_autocast_enabled("cpu"), more["t"][0].dtype))
            return a @ b

        @staticmethod
        @lamella.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            seen.append(((a.float() @ b.float()).dtype, lamella.is_autocast_enabled("cpu")))
            return grad @ b.t(), a.t() @ grad, None

    return Product


@pytest.mark.parametrize(
    "on, cast_inputs, wanted",
    [
        (True, None, [(FULL, True, FULL), (LOW, True)]),
        (True, LOW, [(LOW, False, LOW), (FULL, False)]),
        (False, LOW, [(FULL, False, FULL), (FULL, False)]),
        (False, None, [(FULL, False, FULL), (FULL, False)]),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
def test_custom_functions(on, cast_inputs, wanted, inside):
    seen = []
    a, b = lamella.ones(2, 2, requires_grad=True), lamella.ones(2, 2, requires_grad=True)
    with lamella.autocast("cpu", enabled=on):
        y = function(cast_inputs, seen).apply(a, b, {"t": [lamella.ones(1)]})
        if inside:
            y.sum().backward()
    if not inside:
        y.sum().backward()
    assert seen == wanted and a.grad.dtype is FULL and a.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert not lamella.is_autocast_enabled()


# ---- operators of others -------------------------------------------------------------------------------------------


@pytest.fixture
def theirs():
    with closing(Library("autocast_theirs", "DEF")) as lib:
        lib.define("scaled(Tensor x, float by) -> Tensor")
        lib.impl("scaled", lambda x, by: x * by, "composite")
        yield lib


def test_a_third_partys_policy(theirs, device):
    x, scaled = lamella.ones(2), lamella.ops.autocast_theirs.scaled
    with cast(device):
        assert scaled(x, 2.0).dtype is FULL
        rule = theirs.rule("scaled", "autocast", "lower")
        assert scaled(x, 2.0).dtype is LOW
        other = theirs.rule("scaled", "autocast", "float16")  # the last one counts
        assert scaled(x, 2.0).dtype is HALF
        other.remove()
        assert scaled(x, 2.0).dtype is LOW
        rule.remove()
        assert scaled(x, 2.0).dtype is FULL


def test_a_policy_of_single_devices(theirs):
    theirs.rule("scaled", "autocast", "meta: float16; host: lower; keep")
    assert lamella.amp.find_policy("autocast_theirs::scaled") == "meta: float16; host: lower; keep"
    scaled = lamella.ops.autocast_theirs.scaled
    with cast("cpu"), cast("meta"):
        assert scaled(lamella.ones(2), 2.0).dtype is LOW
        assert scaled(lamella.ones(2, device="meta"), 2.0).dtype is HALF


@pytest.mark.parametrize("text", ["lo", "cpu: lower; nothing", ""])
def test_an_unknown_policy_is_refused(theirs, text):
    with pytest.raises(ValueError, match="autocast_theirs::scaled .*none of lower, keep, widest, promote, refuse"):
        theirs.rule("scaled", "autocast", text)


def test_register_autocast():
    @custom_op("autocast_theirs::negative", mutates_args=())
    def negative(x: lamella.Tensor) -> lamella.Tensor:
        return -x

    negative.register_fake(lambda x: lamella.empty_like(x))
    negative.register_autocast("cpu", HALF)
    negative.register_autocast("meta", LOW)
    x = lamella.ones(2)
    assert negative(x).dtype is FULL
    with cast("cpu"):
        assert negative(x).dtype is HALF and negative(x.double()).dtype is WIDE
    with cast("meta"):
        assert negative(x.to("meta")).dtype is LOW and negative(x).dtype is FULL
