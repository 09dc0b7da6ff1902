"""A layer that is not in backward sees the operators of the program and of hooks, and none that derivatives call."""

from contextlib import closing

import lamella
import pytest
from lamella.library import Library
from lamella.utils.checkpoint import checkpoint

pytestmark = pytest.mark.needs("autograd")


@pytest.fixture
def watched():
    """Returns a function that registers a layer, and the list of the calls that the layer sees."""
    seen = []
    with closing(Library("watched", "FRAGMENT")) as lib:

        def handler(call, *args, **kwargs):
            seen.append(call.name.removeprefix("aten::"))
            return call(*args, **kwargs)

        yield (
            lambda **options: lib.register_layer(
                "not_in_backward", handler, at="autocast", never_on_tensors=True, **options
            ),
            seen,
        )


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("off", [False, True])
def test_derivatives(watched, off, create_graph):
    register, seen = watched
    x = lamella.ones(3, requires_grad=True)
    with register(not_in_backward=off).on():
        y = (x.exp() * x).sum()
        forward = list(seen)
        y.backward(create_graph=create_graph)
        backward = seen[len(forward) :]
        assert forward == ["exp", "mul", "sum"] and (backward == []) is off
        x.exp()
        assert seen[-1] == "exp"  # it is on again
    assert lamella.allclose(x.grad.detach(), 2 * lamella.ones(3).exp())


def test_hooks(watched):
    """Hooks of tensors, of nodes, of leaves and a walk that a hook starts: the layer sees their operators."""
    register, seen = watched
    x = lamella.ones(3, requires_grad=True)
    with register(not_in_backward=True).on():
        y = x.exp()
        y.register_hook(lambda g: g.sin())
        y.grad_fn.register_hook(lambda after, before: (before[0].cos(), None)[1])
        x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.tan())

        def inner(g):
            z = lamella.ones(1, requires_grad=True)
            with lamella.enable_grad():
                z.log().backward()
            return g.sqrt()

        x.register_hook(inner)
        z = y.sum()
        del seen[:]
        z.backward()
    assert [name for name in seen if name not in ("item", "is_nonzero")] == ["sin", "cos", "ones", "log", "sqrt", "tan"]


def test_what_saved_tensors_unpack(watched):
    """A checkpoint computes again in backward; the layer sees these operators as it saw them the first time."""
    register, seen = watched
    x = lamella.ones(3, requires_grad=True)
    with register(not_in_backward=True).on():
        y = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False).sum()
        first = [name for name in seen if name in ("sin", "exp", "cos")]
        del seen[:]
        y.backward()
    assert first == ["sin", "exp"] == [name for name in seen if name in ("sin", "exp", "cos")]


def test_a_walk_within_a_nodes_backward(watched):
    """Hooks of a walk that a Function's backward starts see the layer, too; that walk's derivatives do not."""
    register, seen = watched

    class Inner(lamella.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            with lamella.enable_grad():
                z = lamella.ones(1, requires_grad=True)
                z.register_hook(lambda h: h.tan())
                z.log().backward()
            return g

    x = lamella.ones(1, requires_grad=True)
    with register(not_in_backward=True).on():
        y = Inner.apply(x)
        del seen[:]
        y.backward()
    assert seen == ["tan"]


def test_a_walk_that_fails_switches_it_on_again(watched):
    register, seen = watched
    x = lamella.ones(1, requires_grad=True)

    def fails(g):
        raise ValueError("a hook")

    x.register_hook(fails)
    with register(not_in_backward=True).on():
        with pytest.raises(ValueError, match="a hook"):
            x.exp().backward()
        del seen[:]
        x.exp()
    assert seen == ["exp"]


def test_a_layer_that_was_off_stays_off_in_hooks(watched):
    register, seen = watched
    x = lamella.ones(1, requires_grad=True)
    x.register_hook(lambda g: g.sin())
    layer = register(not_in_backward=True)
    with layer.on(), layer.off():
        x.exp().backward()
    assert seen == []
