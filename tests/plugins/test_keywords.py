"""Keywords that plugins add to factories: the functions that accept them, values, conflicts, errors, withdrawal."""

import gc
import weakref

import lamella
import pytest
from lamella.library import Library


@pytest.fixture
def lib():
    made = Library("keywords", "FRAGMENT", owner="the test")
    yield made
    made.close()


@pytest.fixture
def seen(lib):
    """Returns a list that gets (tensor, value) for each use of the keyword `sparkle`."""
    found = []
    lib.register_keyword("sparkle", lambda tensor, value: found.append((tensor, value)))
    return found


X = lamella.ones(2)
FACTORIES = {
    "empty": lambda **k: lamella.empty(2, **k),
    "empty_like": lambda **k: lamella.empty_like(X, **k),
    "empty_strided": lambda **k: lamella.empty_strided((2,), (1,), **k),
    "zeros": lambda **k: lamella.zeros(2, **k),
    "zeros of a tuple": lambda **k: lamella.zeros((2, 3), **k),
    "zeros_like": lambda **k: lamella.zeros_like(X, **k),
    "ones": lambda **k: lamella.ones(size=(2,), **k),
    "ones_like": lambda **k: lamella.ones_like(X, **k),
    "full": lambda **k: lamella.full((2,), 1.5, **k),
    "full_like": lambda **k: lamella.full_like(X, 2, **k),
    "arange": lambda **k: lamella.arange(3, **k),
    "arange.start": lambda **k: lamella.arange(1, 3, **k),
    "eye": lambda **k: lamella.eye(2, **k),
    "linspace": lambda **k: lamella.linspace(0, 1, 3, **k),
    "logspace": lambda **k: lamella.logspace(0, 1, 3, **k),
    "scalar_tensor": lambda **k: lamella.scalar_tensor(1, **k),
    "tril_indices": lambda **k: lamella.tril_indices(2, 2, **k),
    "rand": lambda **k: lamella.rand(2, **k),
    "randn": lambda **k: lamella.randn(2, **k),
    "rand_like": lambda **k: lamella.rand_like(X, **k),
    "randint": lambda **k: lamella.randint(3, (2,), **k),
    "randperm": lambda **k: lamella.randperm(3, **k),
    "normal": lambda **k: lamella.normal(0.0, 1.0, (2,), **k),
    "tensor": lambda **k: lamella.tensor([1, 2], **k),
    "new_tensor": lambda **k: X.new_tensor([1, 2], **k),
    "new_zeros": lambda **k: X.new_zeros(2, **k),
    "new_empty": lambda **k: X.new_empty(2, **k),
    "new_full": lambda **k: X.new_full((2,), 3, **k),
}
OTHERS = {
    "add": lambda **k: X.add(X, **k),
    "to": lambda **k: X.to(lamella.float64, **k),
    "view": lambda **k: X.view(lamella.int32, **k),
    "sum": lambda **k: X.sum(dtype=lamella.float64, **k),
    "cumsum": lambda **k: X.cumsum(0, dtype=lamella.float64, **k),
    "bernoulli": lambda **k: lamella.bernoulli(X, **k),
}


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_what_makes_tensors_takes_them(seen, make):
    plain = make()
    made = make(sparkle="bright")
    assert len(seen) == 1 and seen[0][0] is made and seen[0][1] == "bright"
    assert (made.shape, made.dtype) == (plain.shape, plain.dtype)
    beside = make(dtype=lamella.float64, sparkle=1)
    assert beside.dtype is lamella.float64 and seen[1][0] is beside


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_what_makes_none_does_not(seen, call):
    with pytest.raises(TypeError, match="sparkle"):
        call(sparkle=1)
    assert seen == []


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_without_the_plugin_nobody_takes_them(make):
    with pytest.raises(TypeError, match="has no argument 'sparkle'"):
        make(sparkle=1)


VALUES = [None, True, 3, 0.5, "names", lamella.float16, [1, 2], [True], ["N", "C"], [], {}, [1, None, "a", [2.5]]]
VALUES += [{"a": 1, "b": ["x", None]}, {"of": {"of": [{}]}}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values(lib, seen, value):
    made = lamella.zeros(2, sparkle=value), lamella.tensor([1], sparkle=value)
    assert all(tensor is result for (tensor, _), result in zip(seen, made, strict=True))
    assert all(got == value and type(got) is type(value) for _, got in seen)


@pytest.mark.parametrize("value", [len, {1: 2}, [len], {"a": len}, {"a": {2: 1}}, 1 << 70], ids=repr)
def test_values_that_cannot_be(lib, seen, value):
    with pytest.raises((TypeError, OverflowError)):
        lamella.zeros(2, sparkle=value)
    assert seen == []


def test_a_list_in_itself(lib, seen):
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        lamella.zeros(2, sparkle=endless)
    assert seen == []


def test_a_tensor_takes_the_place_of_the_result(lib):
    lib.register_keyword("wrapped", lambda tensor, value: tensor.to(lamella.float64) + value)
    for made in (lamella.ones(2, wrapped=3), lamella.tensor([1, 1], wrapped=3)):
        assert made.dtype is lamella.float64 and made.tolist() == [4, 4]


def test_those_of_inner_layers_are_applied_first(lib):
    order = []
    layers = {name: lamella.library.register_layer(name, lambda call, *a, **k: call(*a, **k), at=at)
              for name, at in (("key_outer", "modes"), ("key_inner", "backend"))}  # fmt: skip
    try:
        for name in ("key_outer", "key_inner", ""):
            lib.register_keyword(f"of_{name}", lambda t, v, name=name: order.append(name), layer=name)
        lamella.ones(1, of_key_outer=1, of_key_inner=2, of_=3)
        assert order == ["", "key_inner", "key_outer"]
    finally:
        for layer in layers.values():
            layer.remove()


def test_a_claimed_keyword_goes_before_the_operators_own(lib):
    pinned = []
    with pytest.raises(ValueError, match="'pin_memory' is an argument already"):
        lib.register_keyword("pin_memory", print)
    handle = lib.register_keyword("pin_memory", lambda t, v: pinned.append(v), claims=True)
    lamella.ones(1, pin_memory=True)
    lamella.ones(1, pin_memory=False)
    lamella.ones(1)
    assert pinned == [True, False]
    lamella.tensor([1.0], pin_memory=True)
    lamella.ones(1).new_tensor([1.0], pin_memory=True)
    assert pinned == [True, False, True, True]
    lib.withdraw(handle)
    lamella.ones(1, pin_memory=False)
    with pytest.raises(RuntimeError, match="no loaded device pins"):
        lamella.tensor(1.0, pin_memory=True)
    assert len(pinned) == 4


def test_several_are_applied_in_the_calls_order(lib):
    lib.register_keyword("plus", lambda tensor, value: tensor.add_(value))
    lib.register_keyword("times", lambda tensor, value: tensor.mul_(value))
    assert lamella.ones(1, plus=2, times=5).item() == 15 == lamella.tensor(1, plus=2, times=5).item()
    assert lamella.ones(1, times=5, dtype=lamella.int64, plus=2).item() == 7


def test_out(lib):
    lib.register_keyword("plus", lambda tensor, value: tensor.add_(value))
    lib.define("make(int n, *, ScalarType? dtype=None) -> Tensor", category="creation", out=True)
    lib.impl("make", lambda n, *, dtype=None: lamella.ones(n), "composite")
    out = lamella.zeros(2)
    assert lamella.ops.keywords.make(2, out=out, plus=1) is out and out.tolist() == [2, 2]


def test_an_operators_own_argument_goes_first(lib, seen):
    lib.define("make(int n, *, ScalarType? dtype=None, int sparkle=0) -> Tensor", category="creation")
    lib.impl("make", lambda n, *, dtype=None, sparkle=0: lamella.full((n,), sparkle), "composite")
    assert lamella.ops.keywords.make(2, sparkle=4).tolist() == [4, 4] and seen == []


def test_a_strangers_factory_takes_them(lib, seen):
    lib.define("make(int n, *, ScalarType? dtype=None) -> Tensor", category="random")
    lib.impl("make", lambda n, *, dtype=None: lamella.zeros(n), "composite")
    lamella.ops.keywords.make(2, sparkle=4)
    assert seen[0][1] == 4


def test_a_refusal_is_the_calls_error_and_drops_the_result(lib):
    refusal, kept = ValueError("no sparkle today"), []

    def refuse(tensor, value):
        kept.append(weakref.ref(tensor))
        raise refusal

    lib.register_keyword("sparkle", refuse)
    for make in (lamella.zeros, lamella.tensor):
        with pytest.raises(ValueError) as caught:
            make(2, sparkle=1)
        assert caught.value is refusal
        del caught
        refusal.__traceback__ = None
    gc.collect()
    assert [w() for w in kept] == [None, None]


def test_the_rest_of_the_call_is_still_checked(seen):
    with pytest.raises(TypeError, match="has no argument 'glitter'"):
        lamella.zeros(2, sparkle=1, glitter=2)
    with pytest.raises(TypeError, match="has no argument 'glitter'"):
        lamella.tensor(2, glitter=2)
    with pytest.raises(RuntimeError, match="zeros"):
        lamella.zeros(-1, sparkle=1)
    assert seen == []


def test_two_owners(lib, seen):
    other = Library("other", "FRAGMENT", owner="somebody else")
    with pytest.raises(RuntimeError, match="'sparkle' is taken by the test; somebody else cannot"):
        other.register_keyword("sparkle", print)
    with pytest.raises(ValueError, match="expected an identifier"):
        other.register_keyword("no name", print)
    with pytest.raises(TypeError, match="expected a callable"):
        other.register_keyword("glitter", 3)
    other.close()


def test_withdrawal(lib):
    apply = lambda tensor, value: tensor.fill_(value)  # noqa: E731
    watch = weakref.ref(apply)
    handle = lib.register_keyword("filled", apply)
    del apply
    assert lamella.zeros(1, filled=2).item() == 2
    lib.withdraw(handle)
    gc.collect()
    assert watch() is None
    with pytest.raises(TypeError, match="has no argument 'filled'"):
        lamella.zeros(1, filled=2)
    lib.register_keyword("filled", lambda tensor, value: tensor.fill_(value + 1))
    assert lamella.zeros(1, filled=2).item() == 3


def test_a_native_one(face):
    face.keyword(True)
    assert lamella.ones(2, scaled=3).tolist() == [3, 3] == lamella.tensor([1.0, 1.0], scaled=3).tolist()
    with pytest.raises(ValueError, match="'scaled' is zero"):
        lamella.ones(2, scaled=0)
    with pytest.raises(RuntimeError, match="'scaled' is taken by face.cpp"):
        Library("keywords", "FRAGMENT", owner="the test").register_keyword("scaled", print)
    face.keyword(False)
    with pytest.raises(TypeError, match="has no argument 'scaled'"):
        lamella.ones(2, scaled=3)
