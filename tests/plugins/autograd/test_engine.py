"""The engine: depth, freeing, order, threads, interruption, and the thread's state inside backward."""

import gc
import os
import signal
import sys
import tempfile
import threading
import time
import weakref

import lamella
import numpy as np
import pytest
from children import run
from lamella.autograd import Function
from threads import in_threads

grad = lamella.autograd.grad


def child(program):
    return run(sys.executable, "-c", program, cwd=tempfile.gettempdir())


def live_bytes():
    return lamella._C._memory_stats("cpu")["live_bytes"]


# ---- depth -----------------------------------------------------------------------------------------------------------


def chain(n):
    x = lamella.ones(1, requires_grad=True)
    y = x
    for _ in range(n):
        y = y + 1
    return x, y


def test_a_million_nodes():
    def work():
        x, y = chain(1_000_000)
        y.backward()
        return x.grad.item(), y

    ((value, y),) = in_threads(work, stack=256 * 1024)
    assert value == 1
    in_threads(lambda: (y.grad_fn.name(), y.detach_()), stack=256 * 1024)


def test_a_deep_graph_that_is_never_walked_is_freed():
    def work():
        x = lamella.ones(1, requires_grad=True)
        y = x
        for _ in range(300_000):
            y = y * x  # this node also saves tensors
        z = x * 1
        for _ in range(100_000):
            z = z.exp_().view(1)[:1]
        del y, z

    in_threads(work, stack=256 * 1024)


def test_depth_with_selected_inputs_and_hooks():
    def work():
        x, y = chain(200_000)
        (g,) = grad(y, x, create_graph=True)
        assert g.item() == 1
        return True

    assert in_threads(work, stack=256 * 1024) == [True]


def test_a_deep_graph_of_functions_is_freed():
    class Step(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x + 1

        @staticmethod
        def backward(ctx, g):
            return g

    def work():
        x = lamella.ones(1, requires_grad=True)
        y = x
        for _ in range(20_000):
            y = Step.apply(y)
        y.backward()
        assert x.grad.item() == 1
        y = x
        for _ in range(20_000):
            y = Step.apply(y)
        del y
        gc.collect()

    in_threads(work, stack=1024 * 1024)


def test_freeing_from_another_thread():
    _, y = chain(100_000)
    held = [y]
    del y
    in_threads(held.clear)
    gc.collect()


def test_memory_comes_back():
    def once():
        x = lamella.ones(100, requires_grad=True)
        w = lamella.ones(100, requires_grad=True)
        y = ((x * w).tanh() + x[:50].sum()).exp().sum()
        (g,) = grad(y, x, create_graph=True)
        g.sum().backward()
        h = x * 1
        h[:10].mul_(w[:10])
        h.sum().backward()
        x.grad = w.grad = None
        with pytest.raises(RuntimeError):
            y.backward()
            y.backward()

    once()
    gc.collect()
    live = live_bytes()
    for _ in range(20):
        once()
    gc.collect()
    assert live_bytes() == live


def test_backward_frees_as_it_goes():
    x = lamella.ones(10, requires_grad=True)
    seen = []
    a = x.exp()
    b = a * a
    alive = weakref.ref(a)
    a.register_hook(lambda g: seen.append(1))
    del a
    b.sum().backward()
    assert seen == [1] and alive() is None


# ---- order -----------------------------------------------------------------------------------------------------------


def tangled(seed):
    rng = np.random.default_rng(seed)
    x = lamella.tensor(rng.standard_normal(1000), dtype=lamella.float32, requires_grad=True)
    tensors = [x]
    for _ in range(60):
        i, j = rng.integers(0, len(tensors), 2)
        kind = rng.integers(0, 4)
        a, b = tensors[i], tensors[j]
        steps = (
            lambda a, b: a * b * 0.5,
            lambda a, b: (a + b).tanh(),
            lambda a, b: a - b.sin(),
            lambda a, b: a.cos() * b,
        )
        tensors.append(steps[kind](a, b))
    (g,) = grad(sum(t.sum() for t in tensors[-10:]), x)
    return g.numpy().tobytes()


def test_sums_are_the_same_bits_every_time():
    wanted = tangled(3)
    for threads in (1, 2, 1, 2):
        lamella.set_num_threads(threads)
        assert tangled(3) == wanted
    assert in_threads(lambda: tangled(3)) == [wanted]


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_another_thread_advances_during_backward():
    x = lamella.rand(400, 400, requires_grad=True)
    y = x
    for _ in range(60):
        y = (y @ x) * 5e-3  # the factor keeps the size, as denormal numbers would be slow
    y = y.sum()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.perf_counter()
    y.backward()
    ended = time.perf_counter()
    stop.set()
    thread.join()
    inside = [t for t in ticks if started < t < ended]
    assert len(inside) > min(5, (ended - started) / 0.02), (len(inside), ended - started)


def test_two_threads_over_shared_parts_that_are_retained():
    x = lamella.ones(64, requires_grad=True)
    shared = x * 2
    for _ in range(30):
        shared = shared.tanh() + shared * 0.5
    roots = [(shared * k).sum() for k in (1.0, 3.0)]
    (one,) = grad(roots[0], x, retain_graph=True)

    def work(root):
        for _ in range(20):
            root.backward(retain_graph=True)

    in_threads(*[lambda i=i: work(roots[i % 2]) for i in range(4)])
    np.testing.assert_allclose(x.grad.numpy(), one.numpy() * (1 + 3) * 2 * 20, rtol=1e-4)


def test_two_threads_over_shared_parts_that_are_not_retained():
    for _ in range(30):
        x = lamella.ones(16, requires_grad=True)
        shared = x * 1
        for _ in range(20):
            shared = shared.tanh()
        results = []

        def work(root):
            try:
                root.backward()  # noqa: B023
                results.append(None)  # noqa: B023
            except RuntimeError as error:
                results.append(str(error))  # noqa: B023

        roots = [(shared * k).sum() for k in (1.0, 2.0)]
        in_threads(*[lambda root=root: work(root) for root in roots])
        assert len(results) == 2
        assert all(r is None or "second time" in r for r in results), results


def test_two_threads_with_hooks_functions_and_second_order():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 + ctx.saved_tensors[0] * 0

    x = lamella.ones(8, requires_grad=True)
    shared = Double.apply(x * x)
    shared.register_hook(lambda g: g * 1)
    shared.retain_grad()
    root, results = shared.sum(), []

    def work():
        for _ in range(30):
            (g,) = grad(root, x, create_graph=True)
            (h,) = grad(g.sum(), x, retain_graph=True)
            results.append((g.tolist(), h.tolist()))
            x.register_hook(lambda g: None).remove()

    in_threads(*[work] * 4)
    assert len(results) == 120 and all(g == [4] * 8 and h == [4] * 8 for g, h in results)


def test_accumulation_from_many_threads():
    x = lamella.zeros(32, requires_grad=True)

    def work():
        for _ in range(50):
            (x * 1).sum().backward()

    in_threads(*[work] * 4)
    assert x.grad.tolist() == [200.0] * 32


def test_a_graph_made_in_one_thread_is_walked_in_another():
    x = lamella.ones(3, requires_grad=True)
    (y,) = in_threads(lambda: (x * 2).exp())
    in_threads(lambda: y.sum().backward())
    assert x.grad.tolist() == pytest.approx([2 * np.exp(2)] * 3)


# ---- interruption and the end ----------------------------------------------------------------------------------------

LONG = """
import os, signal, threading, time
import lamella
x = lamella.rand(500, 500, requires_grad=True)
y = x
for _ in range({steps}):
    y = (y @ x) * 1e-3
y = y.sum()
def press():
    time.sleep(0.3)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
sent = []
threading.Thread(target=press).start()
try:
    y.backward()
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
    assert late < 1, late
    print("interrupted")
else:
    print("finished")
x.grad = None
(x * 2).sum().backward()
assert x.grad[0, 0].item() == 2 and lamella.is_grad_enabled()
"""


def test_ctrl_c_ends_a_long_backward():
    assert child(LONG.format(steps=200)).split() == ["interrupted"]


def test_ctrl_c_in_a_python_function():
    class Slow(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
            return g

    x = lamella.ones(1, requires_grad=True)
    with pytest.raises(KeyboardInterrupt):
        Slow.apply(x).backward()
    x.sum().backward()
    assert x.grad.item() == 1


def test_a_process_may_end_with_graphs_alive():
    out = child("""
import lamella, threading
class F(lamella.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.own = ctx
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
x = lamella.ones(3, requires_grad=True)
y = F.apply(x.exp()).sin()
y.register_hook(lambda g: y)
y.retain_grad()
with lamella.autograd.graph.saved_tensors_hooks(lambda t: [t], lambda p: p[0]):
    z = y.exp().sum()
z.grad_fn.metadata["z"] = z
z.backward(retain_graph=True)
keep = [z.grad_fn, x.register_hook(print)]
class Late:
    def __del__(self):
        globals()
late = Late(); late.z = z
threading.Thread(target=lambda: setattr(late, "deep", (z * 2).sum())).start()
print("end")
""")
    assert out.split() == ["end"]


def test_after_a_fork():
    child("""
import os, lamella
x = lamella.rand(300, 300, requires_grad=True)
y = (x @ x).sum()
grads = lamella.autograd.grad(y, x, retain_graph=True)[0].tolist()
pid = os.fork()
if pid == 0:
    try:
        y.backward()
        ok = x.grad.tolist() == grads
        z = (x * 2).sum(); x.grad = None; z.backward()
        os._exit(0 if ok and x.grad[0, 0].item() == 2 else 3)
    except BaseException:
        os._exit(4)
_, status = os.waitpid(pid, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
y.backward()
""")


def test_wide_nodes_and_long_lists():
    leaves = [lamella.full((2,), float(i), requires_grad=True) for i in range(300)]
    y = lamella.stack(leaves)
    parts = lamella.unbind(lamella.cat([y, y * 2]), 0)
    total = sum((p * (i + 1)).sum() for i, p in enumerate(parts))
    got = grad(total, leaves)
    assert [g[0].item() for g in got] == [(i + 1) + 2 * (i + 301) for i in range(300)]


def test_tensors_of_many_dimensions():
    x = lamella.ones(1, 2, 1, 2, 1, 2, 1, 2, requires_grad=True)
    (x * x).permute(7, 6, 5, 4, 3, 2, 1, 0).sum().backward()
    assert x.grad.shape == x.shape and x.grad.sum().item() == 32


def test_backward_has_the_state_of_the_thread_that_calls_it():
    """Layers that the thread switched on see backward's operators, and hooks run in that same thread."""
    seen, where = [], []

    def watch(call, *args, **kwargs):
        seen.append(call.name)
        return call(*args, **kwargs)

    layer = lamella.library.register_layer("watch_backward", watch)
    x = lamella.ones(3, requires_grad=True)
    y = (x * x.detach()).sum()
    x.register_hook(lambda g: where.append((threading.get_ident(), lamella.is_grad_enabled())))
    try:
        with layer.on():
            y.backward()
    finally:
        layer.remove()
    assert "aten::mul" in seen
    assert where == [(threading.get_ident(), False)]
