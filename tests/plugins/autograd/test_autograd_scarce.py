"""Each allocation of recording and backward fails once: the call raises an error, and everything works afterwards.

The failing allocations are Lamella's own, and those that Python makes for autograd's Python module.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from children import run

SHIM = Path(__file__).resolve().parents[2] / "faults/scarce.cpp"

PROGRAM = """
import ctypes, gc
import lamella

shim = ctypes.PyDLL(None)

class Square(lamella.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]

def plain(x, w):
    ((x * w).tanh() + x.sum()).sum().backward()
def twice(x, w):
    (g,) = lamella.autograd.grad((x * w).exp().sum(), x, create_graph=True)
    g.sum().backward()
def in_place(x, w):
    h = x * 1
    h[:2].mul_(w[:2])
    h.add_(1)[2:].copy_(w[2:])
    h.sum().backward()
def function(x, w):
    Square.apply(x * w).sum().backward()
def hooks(x, w):
    h = x * w
    h.register_hook(lambda g: g * 2)
    h.retain_grad()
    with lamella.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = h.exp().sum()
    y.backward()
def lists(x, w):
    lamella.stack([x, w] * 6).unbind(0)[3].sum().backward(inputs=[w])

def leaves():
    x = lamella.tensor([0.5, -1.0, 2.0, 0.25], requires_grad=True)
    w = lamella.tensor([1.0, 2.0, -0.5, 0.75], requires_grad=True)
    x.grad, w.grad = lamella.zeros(4), lamella.zeros(4)
    return x, w

def gradients(f):
    x, w = leaves()
    f(x, w)
    found = x.grad.tolist(), w.grad.tolist()
    x.grad = w.grad = None
    return found

faults, failed, least = [], 0, 20
for f in (plain, twice, in_place, function, hooks, lists):
    usual = gradients(f)
    gc.collect()
    live = lamella._C._memory_stats("cpu")["live_bytes"]
    for n in range(2000):
        x, w = leaves()
        lamella._C._trim("cpu", 0)
        shim.scarce_arm(ctypes.c_long(n))
        error = None
        try:
            f(x, w)
        except (MemoryError, lamella.OutOfMemoryError) as e:
            error = e.with_traceback(None)
        except Exception as e:
            error = e.with_traceback(None)
            faults.append((f.__name__, n, type(e).__name__, str(e)[:200]))
        reached = shim.scarce_disarm()
        x.grad = w.grad = None
        failed += error is not None
        if not lamella.is_grad_enabled():
            faults.append((f.__name__, n, "recording is off"))
            lamella.set_grad_enabled(True)
        if gradients(f) != usual:
            faults.append((f.__name__, n, "other gradients afterwards"))
        if not reached:
            break
    del error, x, w
"""
END = """
    gc.collect()
    more = lamella._C._memory_stats("cpu")["live_bytes"] - live
    if more:
        faults.append((f.__name__, "leaks", more))
print(*faults[:40], sep="\\n")
print(failed, "failures,", len(faults), "faults")
raise SystemExit(bool(faults) or failed < least)
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed: apt-get install g++")
def test_every_allocation_may_fail(tmp_path):
    made = tmp_path / "scarce.so"
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", SHIM, "-o", made], check=True)
    run(sys.executable, "-c", PROGRAM + END, cwd=tmp_path, timeout=300, LD_PRELOAD=str(made))


PYTHON = """
import gc
import _testcapi
import lamella

class Pair(lamella.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x, x
    @staticmethod
    def backward(ctx, g, h):
        return g * 2 * ctx.saved_tensors[0] + h

class Product(lamella.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x * w
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, g * x

def functions(x, w):
    Product.apply(*Pair.apply(x * w)).sum().backward()
def new_class(x, w):
    class Other(Pair):
        pass
    Other.apply(x * w)[0].sum().backward()
def hooks(x, w):
    h = x * w
    h.register_hook(lambda g: g * 1)
    h.grad_fn.register_hook(lambda made, came: made)
    h.grad_fn.register_prehook(lambda came: came)
    x.register_post_accumulate_grad_hook(lambda p: None)
    h.grad_fn.metadata["key"] = h.grad_fn.next_functions
    with lamella.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = h.exp().sum()
    y.backward()
def others(x, w):
    lamella.autograd.grad((x * w).sum(), [x, w])
    with lamella.no_grad(), lamella.autograd.detect_anomaly(), lamella.enable_grad():
        (x * w).sum().backward()

def gradients(f):
    x, w = lamella.ones(4, requires_grad=True), lamella.ones(4, requires_grad=True)
    f(x, w)
    return x.grad.tolist(), w.grad.tolist()

faults, failed, least = [], 0, 50
for f in (functions, new_class, hooks, others):
    usual = gradients(f)
    gc.collect()
    live = lamella._C._memory_stats("cpu")["live_bytes"]
    for n in range(1, 150):
        for span in (1, 10):
            x, w = lamella.ones(4, requires_grad=True), lamella.ones(4, requires_grad=True)
            error = None
            _testcapi.set_nomemory(n, n + span)
            try:
                f(x, w)
            except MemoryError:
                error = True
            finally:
                _testcapi.remove_mem_hooks()
            failed += error is not None
            if not lamella.is_grad_enabled():
                faults.append((f.__name__, n, span, "recording is off"))
                lamella.set_grad_enabled(True)
            if gradients(f) != usual:
                faults.append((f.__name__, n, span, "other gradients afterwards"))
    del x, w
"""


def test_every_allocation_of_python_may_fail(tmp_path):
    pytest.importorskip("_testcapi", reason="CPython's _testcapi is absent: apt-get install libpython3-testsuite")
    run(sys.executable, "-c", PYTHON + END, cwd=tmp_path, timeout=300)
