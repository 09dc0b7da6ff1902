"""Autocast where blocks end in odd orders, where it is off, and where tensors whose casts are kept change."""

import copy
import pickle
import threading
import weakref
from contextlib import closing

import lamella
import pytest
from lamella import ops
from lamella.library import Library

pytestmark = pytest.mark.needs("autograd", "autocast")
LOW, FULL, HALF = lamella.bfloat16, lamella.float32, lamella.float16


def weight(*shape):
    return lamella.ones(*(shape or (2, 2)), requires_grad=True)


def product():
    return (lamella.ones(2, 2) @ lamella.ones(2, 2)).dtype


# ---- casts that are kept -------------------------------------------------------------------------------------------


def test_a_finalizer_opens_a_block_while_casts_are_dropped():
    seen = []

    def finalizer():
        with lamella.autocast("cpu"):
            seen.append((lamella.ones(2, 2) @ weight()).dtype)

    with lamella.autocast("cpu"):
        for _ in range(5):
            w = weight()
            weakref.finalize(w, finalizer)
            lamella.ones(2, 2) @ w
        del w
    assert seen == 5 * [LOW] and ops.autocast.cached() == 0


def test_a_write_to_an_alias_of_a_cast_leaves_the_weight_alone():
    """An operator that returns its argument hands out the cast that is kept."""
    with closing(Library("autocast_alias", "DEF")) as library:
        library.define("same(Tensor(a) x) -> Tensor(a)")
        library.impl("same", lambda x: x.view(2, 2), "composite")
        library.rule("same", "autocast", "lower")
        w = weight()
        with lamella.autocast("cpu"):
            ops.autocast_alias.same(w).detach().mul_(10)
            assert (lamella.eye(2) @ w).tolist() == [[1, 1], [1, 1]]


def replace_by_other_memory(w):
    w.data = lamella.full((2, 2), 3.0)
    w.data = lamella.full((2, 2), 7.0)  # may lie where the first memory was


@pytest.mark.parametrize(
    "change",
    [
        lambda w: setattr(w, "data", w.data.t()),
        lambda w: setattr(w, "data", w.data[:, :1]),
        lambda w: w.set_(w.detach().t()),
        replace_by_other_memory,
    ],
)
def test_a_weight_with_other_data_is_cast_again(change):
    w = lamella.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with lamella.autocast("cpu"):
        lamella.eye(2) @ w
        with lamella.no_grad():
            change(w)
        assert (lamella.eye(2) @ w).tolist() == w.tolist()


# ---- blocks --------------------------------------------------------------------------------------------------------


def generator():
    with lamella.autocast("cpu"):
        yield product()
    yield product()


def test_a_generators_block_ends_under_another_one():
    g = generator()
    assert next(g) is LOW
    with lamella.autocast("cpu", enabled=False):
        g.close()
        assert product() is FULL
    assert product() is FULL and not lamella.is_autocast_enabled()


def test_blocks_of_two_generators_end_in_the_order_of_their_beginnings():
    one, two = generator(), generator()
    assert (next(one), next(two)) == (LOW, LOW)
    assert next(one) is LOW  # the other one's block is open
    assert next(two) is FULL


def test_a_block_that_is_not_open_cannot_end():
    block, seen = lamella.autocast("cpu"), []
    with lamella.autocast("cpu"):
        with pytest.raises(RuntimeError, match="autocast: __exit__ of a block that is not open on this thread"):
            block.__exit__(None, None, None)
        assert product() is LOW
    with block:

        def leave():
            with pytest.raises(RuntimeError, match="on this thread"):
                block.__exit__(None, None, None)
            seen.append(True)

        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert seen == [True]


def in_backward(function):
    """Returns what a function gives within the backward of a Function, in a block for the CPU."""
    found = []

    class Node(lamella.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            found.append(function())
            return grad

    with lamella.autocast("cpu"):
        Node.apply(weight()).sum().backward()
        assert product() is LOW
    return found[0]


def within(*args, **kwargs):
    with lamella.autocast(*args, **kwargs):
        return product()


def switched():
    lamella.set_autocast_enabled("cpu", True)
    return lamella.is_autocast_enabled("cpu"), product()


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (product, FULL),
        (lambda: lamella.is_autocast_enabled("cpu"), False),
        (lambda: within("cpu", enabled=False), FULL),
        (lambda: within("meta", enabled=False), FULL),
        (lambda: within("meta", dtype=LOW), FULL),
        (lambda: within("cpu"), LOW),
        (switched, (True, LOW)),
    ],
)
def test_backward_is_without_autocast_unless_a_block_of_its_own_switches_it_on(function, wanted):
    assert in_backward(function) == wanted


def test_operators_of_a_composite_have_no_policy_of_their_own():
    """`lower` would make the product's dtype bfloat16, were it called within the block."""
    with closing(Library("autocast_parts", "DEF")) as library:
        library.define("kept(Tensor x) -> Tensor")
        library.impl("kept", lambda x: x @ x, "composite")
        with lamella.autocast("cpu"):
            assert ops.autocast_parts.kept(lamella.ones(2, 2)).dtype is FULL


# ---- dtypes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [lamella.int64, FULL, lamella.float64])
def test_a_dtype_that_is_not_low_cannot_be_set(dtype):
    with pytest.raises(ValueError, match="set_autocast_dtype: argument 'dtype' must be one of floats below float32"):
        lamella.set_autocast_dtype("cpu", dtype)
    assert lamella.get_autocast_dtype("cpu") is LOW


def test_a_block_with_a_wrong_dtype_leaves_the_devices_dtype():
    with lamella.autocast("cpu"):
        with pytest.warns(UserWarning, match="float32 is no dtype of floats below float32; autocast is off"):
            block = lamella.autocast("cpu", dtype=FULL)
        with block:
            assert product() is FULL
            with lamella.autocast("cpu"):
                assert product() is LOW


def test_fast_dtype_and_copies():
    assert lamella.autocast("cpu").fast_dtype is LOW and lamella.autocast("meta").fast_dtype is HALF
    block = lamella.autocast("cpu", dtype=HALF, enabled=False, cache_enabled=False)
    for again in (copy.copy(block), copy.deepcopy(block), pickle.loads(pickle.dumps(lamella.autocast("cpu", HALF)))):
        assert (again.device, again.fast_dtype) == ("cpu", HALF)
    assert not copy.copy(block)._enabled
    with copy.deepcopy(lamella.autocast("cpu")):
        assert product() is LOW


# ---- policies ------------------------------------------------------------------------------------------------------


def test_policies_of_single_devices():
    with closing(Library("autocast_devices", "DEF")) as library:
        library.define("scaled(Tensor x) -> Tensor")
        library.impl("scaled", lambda x: x.clone(), "composite")
        scaled = ops.autocast_devices.scaled
        library.rule("scaled", "autocast", "meta: refuse first; refuse second")
        for device, instead in (("meta", "first"), ("cpu", "second")):
            with (
                lamella.autocast(device),
                pytest.raises(RuntimeError, match=f'call {instead}, .*autocast."{device}", enabled=False'),
            ):
                scaled(lamella.ones(2, device=device))
        library.rule("scaled", "autocast", "cpu: float16; keep")
        library.rule("scaled", "autocast", "cpu: keep")  # of one device the last one counts
        assert lamella.amp.find_policy("autocast_devices::scaled") == "cpu: keep; keep"
        library.rule("scaled", "autocast", "host: lower")  # a part for the host is one for the CPU, too
        assert lamella.amp.find_policy("autocast_devices::scaled") == "host: lower; keep"
        with lamella.autocast("cpu"):
            assert scaled(lamella.ones(2)).dtype is LOW


def test_custom_bwd_names_what_is_missing():
    with pytest.raises(RuntimeError, match="custom_bwd: the forward of this function is not decorated"):
        lamella.amp.custom_bwd(lambda ctx, grad: grad, device_type="cpu")(object(), None)
