"""Kernels that decline a call: the composite serves it, else the host, in each form; without either it is an error."""

import os
import subprocess
import sys
from pathlib import Path

import lamella
import pytest
from compiled import STRICT, compile_library, load
from heaps import Heap

HERE = Path(__file__).resolve().parent
ops = lamella.ops.choosy


class Choosy(Heap):
    fallback = True


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_library(tmp_path_factory, HERE / "declining.cpp", *STRICT)


@pytest.fixture(scope="module", autouse=True)
def choosy(library):
    registered = lamella.library.register_backend("choosy", Choosy())
    load(library)
    yield registered
    registered.close()


@pytest.fixture(autouse=True)
def counts():
    """Returns a function that counts the host's calls for each operator of these tests."""
    lamella.reset_fallback_counts()
    yield lambda: {c.operator: c.calls for c in lamella.fallback_counts() if c.operator.startswith("choosy::")}
    lamella.set_fallback("allow")


def short():
    return lamella.tensor([1.0, 2.0, 3.0]).to("choosy")


def long():
    return lamella.arange(6.0).to("choosy")


def ran():
    """Returns how many composites ran since the last call of this function."""
    now = ops.composites()
    before, ran.before = getattr(ran, "before", 0), now
    return now - before


def test_the_kernel_serves_what_it_takes(counts):
    ran()
    assert ops.halved(short()).tolist() == [0.5, 1, 1.5] and ops.hosted(short()).tolist() == [0.5, 1, 1.5]
    assert ops.alone(short()).tolist() == [0.5, 1, 1.5]
    assert ran() == 0 and counts() == {}


@pytest.mark.parametrize("name, by", [("halved", "composite"), ("hosted", "host")])
def test_forms(name, by, counts):
    """Each form puts the results into the right tensor and counts one write."""
    ran()
    halves = [0, 0.5, 1, 1.5, 2, 2.5]
    function, inplace = getattr(ops, name), getattr(ops, name + "_")
    y = function(long())
    assert y.device == lamella.device("choosy") and y.tolist() == halves
    x = long()
    before = x._version
    assert inplace(x) is x and x.tolist() == halves and x._version == before + 1
    out = lamella.zeros(6, device="choosy")
    before = out._version
    assert function(long(), out=out) is out and out.tolist() == halves and out._version == before + 1
    out = lamella.zeros(2, 6, device="choosy").t()[:, 0]  # an output with gaps
    assert function(long(), out=out) is out and out.tolist() == halves
    out = lamella.zeros(0, device="choosy")
    assert function(long(), out=out) is out and out.tolist() == halves
    assert (ran(), counts()) == ((5, {}) if by == "composite" else (0, {"choosy::hosted": 5}))


def test_several_results_and_results_that_the_kernel_makes():
    ran()
    up, down = ops.both(long())
    assert (up.tolist(), down.tolist()) == ([1, 2, 3, 4, 5, 6], [-1, 0, 1, 2, 3, 4])
    assert ops.alone(long()).tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    assert ran() == 2


def test_gradients():
    x = long().requires_grad_()
    ops.halved(x).sum().backward()
    assert x.grad.tolist() == [0.5] * 6
    y = short().requires_grad_()
    ops.halved(y).sum().backward()
    assert y.grad.tolist() == [0.5] * 3


def test_the_host_is_counted_and_may_be_forbidden(counts):
    assert ops.hosted(long()).tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    (count,) = [c for c in lamella.fallback_counts() if c.operator == "choosy::hosted"]
    assert count.calls == 1 and "'choosy' declined" in count.reason
    lamella.set_fallback("error")
    with pytest.raises(NotImplementedError, match="choosy::hosted: .* 'choosy' declined .*set_fallback"):
        ops.hosted(long())
    assert ops.hosted(short()).tolist() == [0.5, 1, 1.5]
    assert counts() == {"choosy::hosted": 1}


@pytest.mark.parametrize("name", ["nowhere", "never"])
def test_with_neither_it_is_an_error(name):
    with pytest.raises(NotImplementedError, match=f"choosy::{name}: the kernel of device 'choosy' declined this call"):
        getattr(ops, name)(long())
    if name == "nowhere":
        assert ops.nowhere(short()).tolist() == [0.5, 1, 1.5]


def test_on_the_host_it_says_nothing_of_moving():
    with pytest.raises(NotImplementedError, match="device 'cpu' declined this call, and nothing else there serves it$"):
        ops.never(lamella.zeros(2))


def test_kernels_in_python(choosy, counts):
    """A Python kernel of an operator or of a category declines by returning ``NotImplemented``."""
    lib = lamella.library.Library("aten", "IMPL", "choosy")
    seen = []

    def softplus(x, beta=1, threshold=20):
        seen.append(x.numel())
        return NotImplemented if x.numel() > 4 else x + 100

    def pointwise(call, *args, **kwargs):
        seen.append(call.name)
        return NotImplemented

    lib.impl("softplus", softplus)
    x = long()
    expected = lamella.nn.functional.softplus(lamella.arange(6.0)).tolist()
    assert lamella.nn.functional.softplus(x).tolist() == expected and seen == [6]
    lib.impl_category("pointwise", pointwise)
    assert lamella.sin(x).tolist() == lamella.sin(lamella.arange(6.0)).tolist() and seen[-1].endswith("sin")
    assert x.neg_() is x and x.tolist() == [0, -1, -2, -3, -4, -5] and seen[-1].endswith("neg_")
    assert lamella.nn.functional.softplus(short()).tolist() == [101, 102, 103] or seen[-1].endswith("add")
    lib.close()
    composite = lamella.library.Library("choosy_python", "DEF")
    composite.define("f(Tensor self) -> Tensor")
    composite.impl("f", lambda x: NotImplemented)  # only kernels of devices may decline
    with pytest.raises(TypeError, match="NotImplementedType"):
        lamella.ops.choosy_python.f(long())
    composite.close()


CHILD = """
    import sys
    sys.path[:0] = {paths!r}
    import lamella
    from heaps import Heap
    lamella.library.register_backend("choosy", type("Choosy", (Heap,), dict(fallback=True))())
    lamella._C._load_plugin({library!r})
    for f in (lamella.ops.choosy.halved, lamella.ops.choosy.hosted):
        print(f(lamella.arange(6.0).to("choosy")).tolist())
"""


def test_it_is_traced_and_checked(library):
    """The trace names the kernel that declined, then the one that served; a checked kernel may decline."""
    program = "\n".join(line[4:] for line in CHILD.format(paths=[str(HERE.parent)], library=str(library)).split("\n"))
    environment = {**os.environ, "LAMELLA_TRACE_DISPATCH": "1", "LAMELLA_CHECK_KERNELS": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout == "[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]\n" * 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if " choosy::" in line]
    who = [line.partition("choosy::")[2].partition(" keys")[0] for line in lines]
    assert [w.partition(" by ")[0] for w in who] == ["halved -> choosy", "halved -> choosy"] + [
        "hosted -> choosy", "hosted -> choosy", "hosted -> cpu"
    ]  # fmt: skip
    assert who[1].endswith("(composite)") and who[3].endswith("cpu (fallback, counted)")
