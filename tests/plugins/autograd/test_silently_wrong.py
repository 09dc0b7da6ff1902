"""Silently wrong gradients and races that a review found, each with the smallest program that showed it."""

import gc
import threading
import weakref

import lamella
import pytest
from lamella.autograd import Function, gradcheck
from threads import in_threads


@pytest.fixture
def library():
    made = lamella.library.Library("reviewed", "DEF", owner="a test")
    yield made
    made.close()


def test_a_composite_that_writes_twice_counts_each_write(library):
    def twice_(x):
        x.exp_()
        x.mul_(2.0)
        return x

    library.define("twice_(Tensor(a!) self) -> Tensor(a!)")
    library.impl("twice_", twice_, "composite")
    x = lamella.tensor([0.5], requires_grad=True)
    y = lamella.ops.reviewed.twice_(x * 1)
    with pytest.raises(RuntimeError, match="ExpBackward0.*version 2; expected version 1"):
        y.sum().backward()


def test_an_operator_without_derivative_that_writes_two(library):
    library.define("two_(Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))")
    library.impl("two_", lambda a, b: (a.mul_(2), b.mul_(2)), "cpu")
    x = lamella.ones(2, requires_grad=True)
    a, b = x * 1, x * 1
    lamella.ops.reviewed.two_(a, b)
    for written in (a, b):
        with pytest.raises(NotImplementedError, match="reviewed::two_"):
            written.sum().backward()
    with pytest.raises(RuntimeError, match="leaf"):
        lamella.ops.reviewed.two_(x * 1, x)


def test_a_function_that_returns_and_saves_its_input():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x

    x = lamella.tensor(3.0, requires_grad=True)
    (first,) = lamella.autograd.grad(Same.apply(x), x, create_graph=True)
    assert first.item() == 3
    assert lamella.autograd.grad(first, x)[0].item() == 1


def test_a_function_that_saves_nothing_runs_again():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = lamella.ones(1, requires_grad=True)
    y = Double.apply(x)
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4]


def test_a_write_in_place_of_another_dtype_is_recorded():
    x = lamella.tensor([2.0], requires_grad=True)
    y = x * 3
    y.float_power_(2)
    y.sum().backward()
    assert x.grad.tolist() == [36]


def test_hooks_of_the_node_that_accumulates():
    x = lamella.ones(2, requires_grad=True)
    seen = []
    node = (x * 2).grad_fn.next_functions[0][0]
    node.register_hook(lambda grads, outs: seen.append(outs[0].tolist()))
    (x * 2).sum().backward()
    assert seen == [[2, 2]]


def test_a_retained_gradient_is_counted_once():
    x = lamella.ones(1, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(inputs=[y])
    assert y.grad.tolist() == [1]


def test_a_leaf_that_was_given_another_shape():
    x = lamella.ones(1, requires_grad=True)
    (x * 2).sum().backward()
    x.grad = None
    with lamella.no_grad():
        lamella.add(lamella.ones(3), 1, out=x)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_detach_in_place_of_a_leaf_keeps_its_gradient():
    x = lamella.ones(1, requires_grad=True)
    (x * 2).sum().backward()
    x.detach_()
    assert not x.requires_grad and x.grad.tolist() == [2]


def test_threads_that_meet_a_new_leaf_agree_on_its_node():
    size, rounds = 40000, 30  # large calls are recorded without the interpreter's lock
    for _ in range(rounds):
        x = lamella.ones(size, requires_grad=True)
        ready, nodes = threading.Barrier(2), []

        def work(x=x, ready=ready, nodes=nodes):
            ready.wait()
            nodes.append((x * 2).grad_fn.next_functions[0][0])

        in_threads(*[work] * 2)
        assert nodes[0] is nodes[1]


@pytest.mark.parametrize("part", (lambda y: y[0], lambda y: y[:1], lambda y: y.as_strided((3,), (1,), 1)))
def test_a_write_over_what_it_also_reads(part):
    def gradient(write):
        x = lamella.arange(9.0).reshape(3, 3).requires_grad_()
        y = x * 1
        (write(y) * lamella.arange(1.0, 10.0).reshape(3, 3)).sum().backward()
        return x.grad.tolist()

    assert gradient(lambda y: y.mul_(part(y))) == gradient(lambda y: y * part(y))


def test_threads_that_read_a_stale_view():
    for _ in range(200):
        x = lamella.ones(40000, requires_grad=True)
        y = x * 1
        view = y[1:]
        y.mul_(2)
        ready, sums = threading.Barrier(2), []

        def work(view=view, ready=ready, sums=sums):
            ready.wait()
            sums.append((view * 1).sum())

        in_threads(*[work] * 2)
    (sums[0] + sums[1]).backward()
    assert x.grad[:3].tolist() == [0, 4, 4]


def test_a_small_gradient_keeps_no_large_memory():
    w = lamella.ones(10, requires_grad=True)
    lamella.cat([w, lamella.ones(100000)]).exp().sum().backward()
    assert w.grad.untyped_storage().nbytes() < 1000


def test_a_function_s_class_goes_with_its_graph():
    def made():
        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        class Derived(Double):
            pass

        x = lamella.ones(1, requires_grad=True)
        y = Derived.apply(Double.apply(x))
        assert [n.name() for n in (y.grad_fn, y.grad_fn.next_functions[0][0])] == ["DerivedBackward", "DoubleBackward"]
        Double.result = y  # makes a reference cycle
        y.sum().backward(retain_graph=True)
        assert x.grad.tolist() == [4]
        return [weakref.ref(c) for c in (Double, Derived)]

    alive = made()
    gc.collect()
    assert [c() for c in alive] == [None, None]


@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
@pytest.mark.parametrize("shape, index", [((), 0), ((3,), 1)])
def test_a_scatter_by_an_index_without_dimensions(name, shape, index):
    x = lamella.rand(*shape, dtype=lamella.float64) if shape else lamella.tensor(1.5, dtype=lamella.float64)
    source = lamella.tensor(2.5, dtype=lamella.float64, requires_grad=True)
    at = lamella.tensor(index)
    assert gradcheck(lambda x, source: getattr(x, name)(0, at, source), (x.requires_grad_(), source))
