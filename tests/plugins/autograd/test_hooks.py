"""Hooks: on tensors, leaves and nodes, their order, their replacements, errors in them, and what they keep alive."""

import gc
import threading
import weakref

import lamella
import pytest
from arrays import leaf
from lamella.autograd.graph import save_on_cpu, saved_tensors_hooks

grad = lamella.autograd.grad


def times(factor):
    return lambda g: g * factor


# ---- on tensors ------------------------------------------------------------------------------------------------------


def test_hooks_run_in_order_and_replace():
    x, seen = leaf(), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("first", g.tolist())))
    y.register_hook(times(10))
    y.register_hook(lambda g: seen.append(("third", g.tolist())))
    y.sum().backward()
    assert seen == [("first", [1, 1]), ("third", [10, 10])] and x.grad.tolist() == [20, 20]


def test_a_hook_of_a_leaf_sees_the_whole_gradient_once():
    x, seen = leaf(), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [[5, 5]]
    assert grad((x * 2).sum(), x)[0].tolist() == [2, 2] and len(seen) == 2


def test_what_grad_gives_has_been_through_the_tensor_s_hooks_and_not_the_node_s():
    x = leaf()
    y = x * 2
    y.register_hook(times(10))
    y.grad_fn.register_prehook(lambda g: (g[0] * 7,))
    got, before = grad(y.sum(), [y, x])
    assert got.tolist() == [10, 10] and before.tolist() == [140, 140]


@pytest.mark.parametrize("hook_first", [True, False])
def test_a_retained_gradient_is_what_the_hooks_made_of_it(hook_first):
    y = leaf() * 2
    if hook_first:
        y.register_hook(times(10))
        y.retain_grad()
    else:
        y.retain_grad()
        y.register_hook(times(10))
    y.sum().backward()
    assert y.grad.tolist() == [10, 10]


def test_handles_remove():
    x, seen = leaf(), []
    handle = x.register_hook(lambda g: seen.append(1))
    with x.register_hook(lambda g: seen.append(2)):
        x.sum().backward()
    assert seen == [1, 2]
    handle.remove()
    handle.remove()
    x.sum().backward()
    assert seen == [1, 2]


def test_hooks_that_remove_and_add_hooks_while_they_run():
    x, seen = leaf(), []
    handles = []

    def first(g):
        seen.append("first")
        handles[0].remove()
        handles[1].remove()
        for _ in range(20):
            handles.append(x.register_hook(lambda g: seen.append("new")))

    handles += [x.register_hook(first), x.register_hook(lambda g: seen.append("removed"))]
    x.sum().backward()
    assert seen == ["first"]
    x.sum().backward()
    assert seen == ["first"] + ["new"] * 20


def live_bytes():
    gc.collect()
    return lamella._C._memory_stats("cpu")["live_bytes"]


@pytest.mark.parametrize("register", ["tensor", "node", "before", "accumulated"])
def test_a_handle_keeps_no_graph(register):
    def made():
        x = lamella.ones(100000, requires_grad=True)
        y = x.exp()
        return {
            "tensor": y.register_hook,
            "node": y.grad_fn.register_hook,
            "before": y.grad_fn.register_prehook,
            "accumulated": x.register_post_accumulate_grad_hook,
        }[register](print)

    before = live_bytes()
    handle = made()
    assert live_bytes() == before
    handle.remove()
    with handle:
        pass


def test_a_hook_that_holds_its_own_handle_is_collected():
    class Big:
        pass

    def made():
        y, big = leaf() * 2, Big()
        handle = y.register_hook(lambda g: handle.remove() or big)
        return weakref.ref(y), weakref.ref(big)

    assert collected(made) == [True, True]


def test_a_hook_that_removes_itself():
    x, seen = leaf(), []
    handle = x.register_hook(lambda g: seen.append(handle.remove()))
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.sum().backward()
    x.sum().backward()
    assert seen == [None, [1, 1], [1, 1]]


def test_what_a_removed_hook_held_goes_at_once():
    class Big:
        def __call__(self, g):
            return None

    x, big = leaf(), Big()
    alive = weakref.ref(big)
    handle = x.register_hook(big)
    del big
    handle.remove()
    assert alive() is None


def test_threads_that_remove_while_the_graph_goes():
    for _ in range(200):
        x = leaf()
        nodes = [x * 2 for _ in range(8)]
        handles = [y.register_hook(times(2)) for y in nodes for _ in range(4)]
        ready = threading.Barrier(3)

        def remove(handles=handles, ready=ready):
            ready.wait()
            for handle in handles:
                handle.remove()

        threads = [threading.Thread(target=remove) for _ in range(2)]
        for t in threads:
            t.start()
        ready.wait()
        nodes.clear()
        for t in threads:
            t.join()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_hook_belongs_to_the_history_it_was_put_on():
    x, seen = leaf(), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1, 1]), ("before", [3, 3])]


def test_hooks_of_views():
    x, seen = leaf(1.0, 2.0, 3.0), []
    y = x * 2
    v = y[:2]
    v.register_hook(times(10))
    y.register_hook(lambda g: seen.append(g.tolist()))
    (v.sum() + y.sum()).backward()
    assert seen == [[11, 11, 1]] and x.grad.tolist() == [22, 22, 2]


def test_what_a_hook_may_be_and_return():
    x = leaf()
    with pytest.raises(TypeError, match="callable"):
        x.register_hook(1)
    with pytest.raises(RuntimeError, match="require gradient"):
        lamella.ones(1).register_hook(print)
    with x.register_hook(lambda g: 1), pytest.raises(TypeError, match="must be a Tensor or None"):
        x.sum().backward()
    with x.register_hook(lambda g: lamella.ones(5)), pytest.raises(RuntimeError, match="shape"):
        x.sum().backward()
    with x.register_hook(lambda g: lamella.ones(2, device="meta")), pytest.raises(RuntimeError, match="device"):
        x.sum().backward()
    assert x.grad is None
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_replacement_that_the_hook_keeps_is_not_written():
    x, kept = leaf(), lamella.tensor([5.0, 6.0])
    x.register_hook(lambda g: kept)
    x.sum().backward()
    x.sum().backward()
    assert kept.tolist() == [5, 6] and x.grad.tolist() == [10, 12]


# ---- after accumulation ----------------------------------------------------------------------------------------------


def test_hooks_after_accumulation():
    x, seen = leaf(), []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.tolist())))
    x.sum().backward()
    x.sum().backward()
    grad(x.sum(), x)  # grad() accumulates nothing
    assert seen == [(True, [1, 1]), (True, [2, 2])]
    x.sum().backward(inputs=[x])
    assert seen[2:] == [(True, [3, 3])]
    handle.remove()
    x.sum().backward()
    assert len(seen) == 3
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_an_optimizer_in_backward():
    x = leaf()

    def step(p):
        with lamella.no_grad():
            p.add_(p.grad, alpha=-0.5)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    assert x.tolist() == [0, 1] and x.grad is None


# ---- on nodes --------------------------------------------------------------------------------------------------------


def test_hooks_of_nodes():
    x, w, seen = leaf(), leaf(), []
    y = x * w
    before = y.grad_fn.register_prehook(lambda g: seen.append(("before", [t.tolist() for t in g])))
    y.grad_fn.register_prehook(lambda g: (g[0] * 10,))
    after = y.grad_fn.register_hook(
        lambda made, came: seen.append(("after", [t.tolist() for t in made], [t.tolist() for t in came]))
    )
    y.grad_fn.register_hook(lambda made, came: (made[0] * 2, None))
    y.sum().backward(retain_graph=True)
    assert seen == [("before", [[1, 1]]), ("after", [[10, 20], [10, 20]], [[10, 10]])]
    assert x.grad.tolist() == [20, 40] and w.grad is None
    before.remove()
    after.remove()
    y.sum().backward()
    assert len(seen) == 2


def test_a_node_s_hook_returns_as_many_as_there_are():
    x, w = leaf(), leaf()
    y = x * w
    with y.grad_fn.register_hook(lambda made, came: (made[0],)), pytest.raises(RuntimeError, match="tuple of 2"):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.grad.tolist() == [1, 2]


# ---- errors ----------------------------------------------------------------------------------------------------------


class Trouble(Exception):
    pass


@pytest.mark.parametrize("where", ["leaf", "result", "before", "after", "accumulated"])
def test_an_error_in_a_hook_leaves_everything_usable(where):
    x, error = leaf(), Trouble("mine")

    def fails(*_):
        raise error

    h = x * 2
    y = (h * h).sum()
    add = {
        "leaf": x.register_hook,
        "result": h.register_hook,
        "before": h.grad_fn.register_prehook,
        "after": h.grad_fn.register_hook,
        "accumulated": x.register_post_accumulate_grad_hook,
    }[where]
    handle = add(fails)
    for _ in range(3):
        with pytest.raises(Trouble) as caught:
            y.backward(retain_graph=True)
        assert caught.value is error
        error.__traceback__ = None
    handle.remove()
    x.grad = None
    y.backward()
    assert x.grad.tolist() == [8, 16] and lamella.is_grad_enabled()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_an_error_leaks_nothing():
    gc.collect()
    live = lamella._C._memory_stats("cpu")["live_bytes"]

    def once():
        x = lamella.ones(1000, requires_grad=True)
        h = x * 2
        alive = weakref.ref(h)

        def fails(g):
            raise Trouble

        h.register_hook(fails)
        with pytest.raises(Trouble):
            (h.exp() * h).sum().backward()
        return alive

    alive = once()
    gc.collect()
    assert alive() is None
    assert lamella._C._memory_stats("cpu")["live_bytes"] == live


def test_a_hook_may_run_backward():
    x, w, seen = leaf(), leaf(3.0, 4.0), []

    def inner(g):
        with lamella.enable_grad():
            z = (w * w * g.detach()).sum()
            seen.append(grad((w * 2).sum(), [w, x], allow_unused=True)[1])
        z.backward()

    y = x * 2
    y.register_hook(inner)
    (y * 1).sum().backward()
    assert x.grad.tolist() == [2, 2] and w.grad.tolist() == [6, 8] and seen == [None]


def test_a_hook_may_run_backward_over_the_same_graph():
    x, depth = leaf(), []
    y = (x * x).sum()

    def again(g):
        if len(depth) < 5:
            depth.append(1)
            y.backward(retain_graph=True)

    x.register_hook(again)
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [12, 24]


def test_deep_reentrance():
    def nested(n):
        x = leaf()
        with lamella.enable_grad():
            y = x * 2
            z = y.sum()
        if n:
            y.register_hook(lambda g: g * nested(n - 1))
        z.backward()
        return x.grad

    assert nested(30).tolist() == [2.0**31, 2.0**31]


# ---- cycles ----------------------------------------------------------------------------------------------------------


def collected(make):
    alive = make()
    gc.collect()
    gc.collect()
    return [a() is None for a in alive]


@pytest.mark.long
def test_cycles_through_hooks_are_collected():
    class Big:
        pass

    def of_leaf():
        x, big = leaf(), Big()
        big.tensor = x
        x.register_hook(lambda g: big)
        return weakref.ref(x), weakref.ref(big)

    def of_result():
        x, big = leaf(), Big()
        y = x * 2
        big.tensor = y
        y.register_hook(lambda g: big)
        return weakref.ref(y), weakref.ref(big)

    def after_accumulation():
        x, big = leaf(), Big()
        big.tensor = x
        x.register_post_accumulate_grad_hook(lambda p: big)
        return weakref.ref(x), weakref.ref(big)

    def further_down():
        x, big = leaf(), Big()
        y = x * 2
        y.register_hook(lambda g: big)
        z = (y * 3).sum()
        del y
        big.tensor = z
        return weakref.ref(z), weakref.ref(big)

    for make in (of_leaf, of_result, after_accumulation, further_down):
        assert collected(make) == [True, True], make.__name__


def test_cycles_that_are_in_use_are_kept():
    def make():
        x = leaf()
        x.register_hook(lambda g: seen.append(x))
        return (x * 2).sum(), weakref.ref(x)

    seen = []
    y, alive = make()
    gc.collect()
    y.backward()
    assert seen[0] is alive() and seen[0].grad.tolist() == [2, 2]


# ---- saved tensors ---------------------------------------------------------------------------------------------------


def test_saved_tensors_go_through_the_hooks():
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.tolist())
        return len(packed) - 1

    def unpack(i):
        unpacked.append(i)
        return lamella.tensor(packed[i])

    x, w = leaf(), leaf(3.0, 4.0)
    with saved_tensors_hooks(pack, unpack):
        y = (x * w).sum()
    z = x * w
    assert sorted(packed) == [[1, 2], [3, 4]] and unpacked == []
    y.backward(retain_graph=True)
    y.backward()
    assert sorted(unpacked) == [0, 0, 1, 1] and x.grad.tolist() == [6, 8] and w.grad.tolist() == [2, 4]
    z.sum().backward()
    assert len(unpacked) == 4


def test_saved_tensor_hooks_nest_and_the_inner_ones_win():
    seen = []
    outer = saved_tensors_hooks(lambda t: seen.append("outer") or t, lambda t: t)
    inner = saved_tensors_hooks(lambda t: seen.append("inner") or t, lambda t: t)
    x = leaf()
    with outer:
        x.exp()
        with inner:
            x.exp()
        x.exp()
    x.exp()
    assert seen == ["outer", "inner", "outer"]


def test_a_pack_hook_may_leave_its_own_block():
    x, blocks = leaf(), []

    def pack(t):
        if blocks:
            blocks.pop().__exit__(None, None, None)  # now nothing else keeps the hooks alive
        return t

    block = saved_tensors_hooks(pack, lambda t: t * 2)
    blocks.append(block)
    block.__enter__()
    del block, pack
    y = x.exp().sum()
    gc.collect()
    y.backward()
    assert x.grad.tolist() == (x.detach().exp() * 2).tolist() and blocks == []


def test_errors_of_saved_tensor_hooks():
    error = Trouble("pack")

    def fails(_):
        raise error

    x = leaf()
    with saved_tensors_hooks(fails, lambda t: t), pytest.raises(Trouble) as caught:
        x.exp()
    assert caught.value is error
    with saved_tensors_hooks(lambda t: t, fails):
        y = x.exp().sum()
    with pytest.raises(Trouble):
        y.backward()
    with saved_tensors_hooks(lambda t: t, lambda t: 5):
        y = x.exp().sum()
    with pytest.raises(TypeError, match="unpack_hook must return a Tensor"):
        y.backward()
    x.exp().sum().backward()
    with pytest.raises(TypeError):
        with saved_tensors_hooks(1, 2):
            pass


def test_saved_tensor_hooks_see_what_is_recorded_in_them_only():
    seen = []
    with saved_tensors_hooks(lambda t: seen.append(t.requires_grad) or t, lambda t: t):
        lamella.ones(2).exp()
        with lamella.no_grad():
            leaf().exp()
        assert seen == []
        leaf().sin()
        assert len(seen) == 1


def test_double_backward_through_packed_tensors():
    x = leaf()
    with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x * 3
    (g,) = grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [3, 3]
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (x * x * x).sum()
    (g,) = grad(y, x, create_graph=True)
    assert grad(g.sum(), x)[0].tolist() == [6, 12]


def test_save_on_cpu():
    x = leaf()
    with save_on_cpu():
        y = (x * x).exp().sum()
    y.backward()
    wanted = leaf()
    (wanted * wanted).exp().sum().backward()
    assert x.grad.tolist() == wanted.grad.tolist()


def test_packed_objects_go_with_the_graph():
    class Packed:
        def __init__(self, t):
            self.t = t

    alive = []

    def pack(t):
        p = Packed(t)
        alive.append(weakref.ref(p))
        return p

    with saved_tensors_hooks(pack, lambda p: p.t):
        y = leaf().exp().sum()
    assert alive and all(a() for a in alive)
    y.backward()
    gc.collect()
    assert not any(a() for a in alive)


# ---- anomaly mode ----------------------------------------------------------------------------------------------------


def notes(error):
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


def test_anomaly_mode_shows_the_forward_line():
    x = leaf(-1.0, 2.0)
    with lamella.autograd.detect_anomaly():
        y = lamella.sqrt(x)  # the line that anomaly mode shows
        z = y.sum()
        with pytest.raises(RuntimeError, match="SqrtBackward0 returned nan values in its output 0") as caught:
            z.backward()
    assert "the line that anomaly mode shows" in notes(caught.value)
    assert __file__ in notes(caught.value)
    lamella.sqrt(x).sum().backward()  # anomaly mode is off again


def test_anomaly_mode_shows_the_line_for_other_errors_too():
    x = leaf()
    with lamella.autograd.detect_anomaly(check_nan=False):
        y = x.exp()  # here
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            y.sum().backward()
    assert "y = x.exp()  # here" in notes(caught.value)
    with lamella.autograd.detect_anomaly(check_nan=False):
        lamella.sqrt(leaf(-1.0)).sum().backward()


def test_an_error_of_backward_names_the_node():
    x = leaf()
    y = x * 2
    y.grad_fn.register_hook(lambda made, came: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        y.sum().backward()
    assert "MulBackward0" in notes(caught.value)
