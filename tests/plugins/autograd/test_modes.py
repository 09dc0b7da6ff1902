"""Grad mode: contexts and decorators, exceptions and generators in them, threads, and the mode inside hooks."""

import lamella
import pytest
from lamella.autograd import Function
from threads import in_threads

MODES = [(lamella.no_grad, False), (lamella.enable_grad, True), (lamella.inference_mode, False)]
BOTH = (True, False)


@pytest.mark.parametrize("mode, on", MODES)
@pytest.mark.parametrize("before", BOTH)
def test_a_block_switches_and_puts_back(mode, on, before):
    with lamella.set_grad_enabled(before):
        with mode():
            assert lamella.is_grad_enabled() is on
        assert lamella.is_grad_enabled() is before
        with pytest.raises(ZeroDivisionError), mode():
            1 / 0  # noqa: B018
        assert lamella.is_grad_enabled() is before
    assert lamella.is_grad_enabled()


@pytest.mark.parametrize("mode, on", MODES)
@pytest.mark.parametrize("parentheses", BOTH)
def test_it_decorates(mode, on, parentheses):
    @(mode() if parentheses else mode)
    def function(a, *, b):
        """Its text."""
        return lamella.is_grad_enabled(), a, b

    with lamella.set_grad_enabled(not on):
        assert function(1, b=2) == (on, 1, 2)
        assert lamella.is_grad_enabled() is not on
    assert function.__name__ == "function" and function.__doc__ == "Its text."


def test_it_decorates_methods_and_recursion():
    class Thing:
        @lamella.no_grad()
        def down(self, n):
            assert not lamella.is_grad_enabled()
            with lamella.enable_grad():
                return self.down(n - 1) if n else lamella.is_grad_enabled()

    assert Thing().down(5) and lamella.is_grad_enabled()


def test_it_decorates_generators():
    @lamella.no_grad()
    def steps():
        try:
            got = yield lamella.is_grad_enabled()
            got = yield (got, lamella.is_grad_enabled())
        except KeyError:
            yield ("caught", lamella.is_grad_enabled())
        finally:
            closed.append(lamella.is_grad_enabled())
        return "end"

    closed = []
    g = steps()
    assert next(g) is False and lamella.is_grad_enabled()
    assert g.send("sent") == ("sent", False) and lamella.is_grad_enabled()
    assert g.throw(KeyError()) == ("caught", False) and lamella.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value == "end" and closed == [False]
    g = steps()
    next(g)
    g.close()
    assert closed == [False, False] and lamella.is_grad_enabled()


@pytest.mark.parametrize("mode", [m for m, _ in MODES])
def test_a_class_is_not_decorated(mode):
    with pytest.raises(TypeError, match="class"):

        @mode()
        class Thing:
            pass


def test_set_grad_enabled_works_at_once_and_as_context_and_decorator():
    lamella.set_grad_enabled(False)
    assert not lamella.is_grad_enabled()
    lamella.set_grad_enabled(True)
    assert lamella.is_grad_enabled()
    with lamella.set_grad_enabled(False) as block:
        assert not lamella.is_grad_enabled() and block.mode is False
    assert lamella.is_grad_enabled()

    @lamella.set_grad_enabled(False)
    def function():
        return lamella.is_grad_enabled()

    assert lamella.is_grad_enabled() and not function() and lamella.is_grad_enabled()


def test_blocks_nest_and_one_object_serves_twice():
    block = lamella.no_grad()
    for _ in range(2):
        with block:
            with lamella.enable_grad():
                with lamella.inference_mode(False):
                    assert lamella.is_grad_enabled()
            assert not lamella.is_grad_enabled()
        assert lamella.is_grad_enabled()


def test_inference_mode_is_visible():
    assert not lamella.is_inference_mode_enabled()
    with lamella.inference_mode():
        assert lamella.is_inference_mode_enabled() and not lamella.is_grad_enabled()
        with lamella.inference_mode(mode=False):
            assert not lamella.is_inference_mode_enabled() and lamella.is_grad_enabled()
    assert not lamella.is_inference_mode_enabled()


def test_what_a_mode_means_for_results():
    x = lamella.ones(2, requires_grad=True)
    with lamella.no_grad():
        y = x * 2
        assert not y.requires_grad and y.grad_fn is None and y.is_leaf
        made = lamella.ones(2, requires_grad=True)
    assert made.requires_grad and made.is_leaf and x.requires_grad
    with lamella.no_grad():
        x.add_(1)  # such as an optimizer's step
    assert x.tolist() == [2, 2] and x.is_leaf and x.requires_grad


def test_a_new_thread_starts_enabled():
    seen = []
    with lamella.no_grad():
        in_threads(lambda: seen.append(lamella.is_grad_enabled()))
        assert not lamella.is_grad_enabled()
    assert seen == [True]


@pytest.mark.parametrize("around", BOTH)
@pytest.mark.parametrize("create_graph", BOTH)
def test_in_backward_it_is_on_with_create_graph_only(create_graph, around):
    seen = []

    class Step(Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(("forward", lamella.is_grad_enabled()))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(("backward", lamella.is_grad_enabled()))
            return g * 2

    x = lamella.ones(1, requires_grad=True)
    x.register_hook(lambda g: seen.append(("hook", lamella.is_grad_enabled())))
    y = Step.apply(x)
    with lamella.set_grad_enabled(around):
        lamella.autograd.grad(y, x, create_graph=create_graph)
        assert lamella.is_grad_enabled() is around
    assert seen == [("forward", False), ("backward", create_graph), ("hook", create_graph)]


def test_requires_grad_is_set_on_what_another_keyword_put_in_the_place():
    lib = lamella.library.Library("modes_keywords", "FRAGMENT", owner="the test")
    try:
        lib.register_keyword("wrapped", lambda tensor, value: tensor.to(lamella.float64) + value)
        both = {"requires_grad": True, "wrapped": 3}
        for made in (lamella.ones(2, **both), lamella.tensor([1.0, 1], **both)):
            assert made.requires_grad and made.is_leaf and made.dtype is lamella.float64 and made.tolist() == [4, 4]
    finally:
        lib.close()


def test_anomaly_mode_of_a_block():
    def message(block):
        x = lamella.tensor(0.0, requires_grad=True)
        y = x / x
        with block, pytest.raises(RuntimeError) as info:
            y.backward(retain_graph=True)
        y.backward(retain_graph=True)  # outside of the block NaN is no error
        return str(info.value)

    for block in (lamella.autograd.set_detect_anomaly(True), lamella.autograd.detect_anomaly()):
        assert "returned nan values" in message(block)
    lamella.autograd.set_detect_anomaly(True)
    with lamella.autograd.set_detect_anomaly(False):
        (lamella.tensor(0.0, requires_grad=True) / 0.0 * 0).backward()
    lamella.autograd.set_detect_anomaly(False)


def test_arguments_of_older_programs():
    x = lamella.tensor([1.0, 2.0], requires_grad=True)
    (g,) = lamella.autograd.grad(outputs=x * x, inputs=x, grad_outputs=lamella.ones(2), only_inputs=True)
    assert g.tolist() == [2, 4]
    unused = lamella.ones(1, requires_grad=True)
    assert lamella.autograd.grad(x.sum(), (x, unused), None, None, False, True, True)[1] is None
    with pytest.raises(RuntimeError, match="not have been used"):
        lamella.autograd.grad(x.sum(), (x, unused), None, None, False, True)
    with pytest.warns(FutureWarning, match="only_inputs"):
        lamella.autograd.grad(x.sum(), x, only_inputs=False)
    with pytest.warns(FutureWarning, match="grad_tensors"):
        lamella.autograd.backward(x * 1, grad_variables=lamella.tensor([1.0, 3.0]))
    assert x.grad.tolist() == [1, 3]


def test_variables_are_tensors():
    Variable, x = lamella.autograd.Variable, lamella.ones(2)
    v = Variable(x, requires_grad=True)
    assert v is not x and v.data_ptr() == x.data_ptr() and v.requires_grad and not x.requires_grad
    assert isinstance(x, Variable) and not isinstance(3, Variable) and not issubclass(lamella.Tensor, Variable)
    made = Variable(v * 2)
    assert made.grad_fn is None and not made.requires_grad and Variable().shape == (0,)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1.0])
    with pytest.warns(UserWarning, match="volatile"):
        assert not Variable(x, volatile=True).requires_grad
