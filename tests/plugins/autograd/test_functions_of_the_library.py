"""Errors of steps that the library itself records name what the program has called: a module with hooks, checkpoint."""

import lamella
import pytest
from lamella import nn
from lamella.utils.checkpoint import checkpoint

ADVICE = "is being used in an in-place operation, which would go around its backward; write out of place, or to a clone"


def values(*shape):
    return lamella.ones(*shape, requires_grad=True) * 1


def hooked(module, hook=lambda module, grad_input, grad_output: None):
    module.register_full_backward_hook(hook)
    return module


class Pair(nn.Module):
    def forward(self, a, b):
        return a, b


class Written(nn.Module):
    def forward(self, a):
        return a.add_(1)


def write_the_base():
    base = values(2)
    y = hooked(nn.Identity())(base)
    base.add_(1)
    y.sum().backward()


WRITES = {
    "the result": (lambda: hooked(nn.Linear(2, 2))(values(2)).add_(1), "a view that BackwardHooksOfLinear returned"),
    "one of two": (lambda: hooked(Pair())(values(2), values(2))[1].mul_(2), "a view that BackwardHooksOfPair returned"),
    "an input": (lambda: hooked(Written())(values(2)), "a view that BackwardHooksOfWritten returned"),
    "by a layer": (lambda: hooked(nn.ReLU(inplace=True))(values(2)), "a view that BackwardHooksOfReLU returned"),
    "the base": (write_the_base, "a view that BackwardHooksOfIdentity returned, or its base"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_writes_to_tensors_of_a_module_with_hooks(name):
    write, words = WRITES[name]
    with pytest.raises(RuntimeError, match=words) as caught:
        write()
    assert ADVICE in str(caught.value) and "Function" not in str(caught.value)


def test_a_clone_may_be_written():
    x = lamella.ones(2, requires_grad=True)
    hooked(nn.Identity())(x).clone().mul_(3).sum().backward()
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize(
    "answer, error, words",
    [
        ((lamella.ones(3),), RuntimeError, r"returned a gradient of shape \(3,\) in place of one of \(2,\)"),
        ((7,), TypeError, "returned a gradient of type int; it must be a Tensor or None"),
        ((None, None), RuntimeError, "returned 2 gradients, and 1 are needed"),
    ],
)
def test_gradients_of_hooks(answer, error, words):
    with pytest.raises(error, match=f"Linear: a backward hook {words}"):
        hooked(nn.Linear(2, 2), lambda *_: answer)(values(2)).sum().backward()
    before = nn.Linear(2, 2)
    before.register_full_backward_pre_hook(lambda *_: answer)
    with pytest.raises(error, match=f"Linear: a backward pre-hook {words}"):
        before(values(2)).sum().backward()


@pytest.mark.parametrize("within", [False, True], ids=["after", "in the function"])
def test_an_argument_of_a_checkpoint_is_written(within):
    x = values(2)
    y = checkpoint(lambda z: (z.mul_(2) if within else z * z).sin(), x)
    if not within:
        x.add_(1)
    with pytest.raises(
        RuntimeError, match="checkpoint: an argument of its function has been modified by an inplace"
    ) as e:
        y.sum().backward()
    assert "an argument of shape [2] is at version 1; expected version 0" in str(e.value)
    assert "_Arguments" not in str(e.value)
