"""Selective checkpoints: policies decide which results are saved; further options and helpers of utils.checkpoint."""

from collections import Counter
from functools import partial

import lamella
import pytest
from lamella.utils._python_dispatch import TorchDispatchMode
from lamella.utils.checkpoint import (
    CheckpointFunction,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    detach_variable,
    get_device_states,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
)

nn, ops = lamella.nn, lamella.ops.aten
POLICY = CheckpointPolicy


class Calls(TorchDispatchMode):
    """Counts the operators that run."""

    def __init__(self):
        self.found = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.found[str(func.schemas[0]).partition("(")[0].removeprefix("aten::")] += 1
        return func(*args, **(kwargs or {}))


@pytest.fixture
def model():
    lamella.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4), nn.Tanh()).double()


def second_run(model, context_fn, **options):
    """Returns the gradients of a checkpoint, and the operators that its second run and backward call."""
    x = lamella.linspace(-1, 1, 12, dtype=lamella.float64).view(3, 4).requires_grad_()
    y = checkpoint(model, x, context_fn=context_fn, use_reentrant=False, **options)
    with Calls() as calls:
        grads = lamella.autograd.grad(y.sum(), [x, *model.parameters()])
    want = lamella.autograd.grad(model(x).sum(), [x, *model.parameters()])
    assert all(lamella.equal(a, b) for a, b in zip(grads, want, strict=True))
    return calls.found


def names(chosen, saved):
    return lambda context, op, *args, **kwargs: saved if chosen in str(op) else POLICY.PREFER_RECOMPUTE


@pytest.mark.parametrize(
    "policy, linear, relu",
    [
        ([], 2, 1),
        ([ops.linear], 0, 1),
        ([ops.linear.default, ops.relu], 0, 0),
        (names("linear", POLICY.MUST_SAVE), 0, 1),
        (names("relu", POLICY.PREFER_SAVE), 2, 0),
        (names("linear", POLICY.MUST_CPU_OFFLOAD), 0, 1),
        (names("linear", POLICY.MUST_RECOMPUTE), 2, 1),
        (lambda context, op, *args, **kwargs: "linear" in str(op), 0, 1),
    ],
)
@pytest.mark.parametrize("early_stop", [False, True])
def test_what_runs_again(model, policy, linear, relu, early_stop):
    context_fn = partial(create_selective_checkpoint_contexts, policy)
    calls = second_run(model, context_fn, early_stop=early_stop)
    assert calls["linear"] == linear and calls["relu"] == relu


def test_a_policy_sees_arguments_and_results(model):
    seen = []

    def policy(context, op, *args, **kwargs):
        assert isinstance(context, SelectiveCheckpointContext)
        if "linear" in str(op):
            seen.append((context.is_recompute, args[1].shape[0], context.op_output is not None))
        return POLICY.MUST_SAVE if "linear" in str(op) and args[1].shape[0] == 8 else POLICY.PREFER_RECOMPUTE

    calls = second_run(model, partial(create_selective_checkpoint_contexts, policy))
    assert calls["linear"] == 1
    assert seen == [(False, 8, True), (False, 4, True), (True, 8, False), (True, 4, False)]


def test_saved_results_share_memory_and_are_not_kept_after_backward():
    held = []

    def policy(context, op, *args, **kwargs):
        if not context.is_recompute and "exp" in str(op):
            held.append(context.op_output.data_ptr())
        return "exp" in str(op)

    x = lamella.ones(3, requires_grad=True)
    y = checkpoint(lambda x: x.exp().sin(), x, context_fn=partial(create_selective_checkpoint_contexts, policy))
    y.sum().backward()
    assert len(held) == 1 and x.grad.allclose(x.exp() * x.exp().cos())


def test_a_saved_result_that_was_written():
    def f(x):
        y = x.exp()
        z = y.sin()
        with lamella.no_grad():
            y.add_(1)
        return z

    x = lamella.ones(2, requires_grad=True)
    context_fn = partial(create_selective_checkpoint_contexts, [ops.exp])
    with pytest.raises(RuntimeError, match="saved result of aten::exp has been written in place since"):
        checkpoint(f, x, context_fn=context_fn).sum().backward()
    context_fn = partial(create_selective_checkpoint_contexts, [ops.exp], allow_cache_entry_mutation=True)
    checkpoint(f, x, context_fn=context_fn)


def test_a_second_run_that_calls_more():
    calls = []

    def f(x):
        calls.append(1)
        y = x.exp()
        return (y if len(calls) == 1 else y.exp()).sin()

    context_fn = partial(create_selective_checkpoint_contexts, [ops.exp])
    with pytest.raises(RuntimeError, match="calls aten::exp more often than the first"):
        checkpoint(f, lamella.ones(2, requires_grad=True), context_fn=context_fn).sum().backward()


def test_two_backwards(model):
    x = lamella.ones(2, 4, dtype=lamella.float64, requires_grad=True)
    context_fn = partial(create_selective_checkpoint_contexts, [ops.linear])
    y = checkpoint(model, x, context_fn=context_fn).sum()
    (first,) = lamella.autograd.grad(y, x, retain_graph=True)
    (second,) = lamella.autograd.grad(y, x)
    assert lamella.equal(first, second)


def test_bad_policies():
    with pytest.raises(TypeError, match="must be a function or a list of operators, got int"):
        create_selective_checkpoint_contexts(3)
    with pytest.raises(TypeError, match="expected operators such as lamella.ops.aten.mm, got str"):
        create_selective_checkpoint_contexts(["aten::mm"])
    context_fn = partial(create_selective_checkpoint_contexts, lambda *args, **kwargs: "save")
    with pytest.raises(TypeError, match="must return a CheckpointPolicy, got str"):
        checkpoint(lamella.exp, lamella.ones(1, requires_grad=True), context_fn=context_fn)


def test_contexts_surround_both_runs():
    log = []

    class Logged:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(self.name)

        def __exit__(self, *error):
            log.append(f"end of {self.name}")

    x = lamella.ones(2, requires_grad=True)
    y = checkpoint(lambda x: log.append("run") or x.exp(), x, context_fn=lambda: (Logged("first"), Logged("second")))
    assert log == ["first", "run", "end of first"]
    y.sum().backward()
    assert log[3:] == ["second", "run", "end of second"]


def test_early_stop():
    log = []

    def f(x):
        y = x.exp()
        log.append(1)
        z = y.sin()
        log.append(2)
        return z + 1

    x = lamella.ones(2, requires_grad=True)
    for options, want in [({}, [1, 2]), ({"early_stop": True}, [1]), ({"early_stop": False}, [1, 2])]:
        y = checkpoint(f, x, **options)
        log.clear()
        y.sum().backward()
        assert log == want
    with set_checkpoint_early_stop(True):
        y = checkpoint(lambda x: checkpoint(f, x).cos(), x, early_stop=False)
    x.grad = None
    y.sum().backward()
    e = x.exp()
    assert x.grad.allclose(-(e.sin() + 1).sin() * e.cos() * e)
    with pytest.raises(KeyError), set_checkpoint_early_stop(False):
        raise KeyError


def test_sequential_takes_the_options():
    x = lamella.ones(2, requires_grad=True)
    parts = [lamella.exp, lamella.sin, lamella.cos, lamella.tanh]
    made = []
    y = checkpoint_sequential(parts, 2, x, context_fn=lambda: made.append(1) or noop_context_fn(), early_stop=True)
    (got,) = lamella.autograd.grad(y.sum(), x)
    (want,) = lamella.autograd.grad(x.exp().sin().cos().tanh().sum(), x)
    assert lamella.equal(got, want) and made == [1]
    with pytest.raises(ValueError, match="has no argument 'stop'"):
        checkpoint_sequential(parts, 2, x, stop=True)


class TestCheckpointFunction:
    def test_gradients_of_arguments_and_parameters(self, model):
        x = lamella.ones(2, 4, dtype=lamella.float64, requires_grad=True)
        want = lamella.autograd.grad(model(x).sum(), [x, *model.parameters()])
        CheckpointFunction.apply(model, True, x).sum().backward()
        assert all(lamella.equal(a.grad, b) for a, b in zip([x, *model.parameters()], want, strict=True))

    def test_the_first_run_is_not_recorded_and_random_numbers_are_the_same(self):
        modes, drawn = [], []

        def f(x, n):
            modes.append(lamella.is_grad_enabled())
            drawn.append(lamella.rand(n))
            return x * drawn[-1], n

        x = lamella.ones(3, requires_grad=True)
        y, n = CheckpointFunction.apply(f, True, x, 3)
        assert n == 3
        y.sum().backward()
        assert modes == [False, True] and lamella.equal(*drawn) and lamella.equal(x.grad, drawn[0])

    def test_without_gradients(self):
        assert not CheckpointFunction.apply(lamella.exp, True, lamella.ones(1)).requires_grad


def test_helpers():
    x = (lamella.ones(2, requires_grad=True) * 2, "text", lamella.ones(1))
    made = detach_variable(x)
    assert made[0].is_leaf and made[0].requires_grad and made[1] == "text" and not made[2].requires_grad
    with pytest.raises(RuntimeError, match="must be a tuple, got list"):
        detach_variable([1])
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        check_backward_validity([lamella.ones(1), 3])
    assert get_device_states(lamella.ones(1), lamella.ones(1, device="meta")) == ([], [])
    set_device_states([], [])
    with set_checkpoint_debug_enabled(True):
        checkpoint(lamella.exp, lamella.ones(1, requires_grad=True), debug=True).backward()
