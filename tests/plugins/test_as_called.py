"""A handler calls operators with the layers that were on when its call began: its own, those passed, not those off."""

from contextlib import closing

import lamella
import pytest
from lamella.library import Library, as_called


@pytest.fixture
def lib():
    with closing(Library("aten", "IMPL")) as made:
        yield made


def test_only_within_the_block(lib):
    seen = []

    def handler(call, x):
        seen.append(len(seen))
        if len(seen) > 1:
            return call(x)
        before = lamella._C._thread_layers()
        with as_called(call):
            inner = lamella.neg(x)
        assert lamella._C._thread_layers() == before
        return lamella.neg(inner)  # this layer is off again

    layer = lib.register_layer("once_more", fallthrough=True, never_on_tensors=True)
    lib.impl("neg", handler, "once_more")
    with layer.on():
        assert lamella.neg(lamella.tensor(3.0)).item() == 3
    assert seen == [0, 1]


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("at", ["modes", "autocast", "backend"])
def test_gradients_as_the_caller_has_them(lib, at):
    """Inside and outside of autograd, operators of the block are recorded, unless the caller has recording off."""

    def handler(call, x):
        with as_called(call), layer.off():
            return (lamella.ones(2) * w).exp()

    layer = lib.register_layer(f"doubles_{at}", fallthrough=True, never_on_tensors=True, at=at)
    lib.impl("neg", handler, layer.name)
    w = lamella.tensor([1.0, 2.0], requires_grad=True)
    with layer.on():
        y = lamella.neg(lamella.zeros(2))
        with lamella.no_grad():
            assert not lamella.neg(lamella.zeros(2)).requires_grad
    assert y.requires_grad
    y.sum().backward()
    assert lamella.allclose(w.grad, w.detach().exp())


def test_a_call_that_is_over(lib):
    kept = []
    layer = lib.register_layer("keeps", fallthrough=True, never_on_tensors=True)
    lib.impl("neg", lambda call, x: kept.append(call) or call(x), "keeps")
    with layer.on():
        lamella.neg(lamella.ones(1))
    with pytest.raises(RuntimeError, match="as_called: the handler of this call has returned"), as_called(kept[0]):
        pass


def test_an_exception_leaves_the_layers_as_they_were(lib):
    def handler(call, x):
        before = lamella._C._thread_layers()
        with pytest.raises(ZeroDivisionError), as_called(call):
            1 / 0  # noqa: B018
        assert lamella._C._thread_layers() == before
        return call(x)

    layer = lib.register_layer("raises", fallthrough=True, never_on_tensors=True)
    lib.impl("neg", handler, "raises")
    with layer.on():
        assert lamella.neg(lamella.tensor(3.0)).item() == -3


def test_a_layer_that_calls_itself_without_end():
    calls = []

    def again(call, *args):
        calls.append(call.name)
        with lamella.library.as_called(call):
            return lamella.exp(*args)

    x = lamella.ones(2)
    with closing(Library("endless", "FRAGMENT")) as lib:
        layer = lib.register_layer("endless", again, at="modes", never_on_tensors=True)
        with layer.on(), pytest.raises(RecursionError):
            x.exp()
        assert len(calls) > 50
        calls.clear()
        assert lamella.allclose(x.exp(), lamella.tensor([2.7182817, 2.7182817]))  # off again
        assert calls == []
