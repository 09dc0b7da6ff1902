"""Keywords that plugins add to factories: the functions that accept them, values, conflicts, errors, withdrawal.

The second half tests the function that puts keywords in the place of unknown ones.
"""

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
    with pytest.raises(TypeError, match="has no argument 'sparkle'|follows from 'sparkle'"):
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


# ---- unknown keywords, which one library expands ---------------------------------------------------------------------

EXPANDING = {
    "empty": lambda **k: lamella.empty(**k),
    "zeros": lambda **k: lamella.zeros(**k),
    "ones": lambda **k: lamella.ones(**k),
    "full": lambda **k: lamella.full(fill_value=1.5, **k),
    "rand": lambda **k: lamella.rand(**k),
    "randn": lambda **k: lamella.randn(**k),
    "randint": lambda **k: lamella.randint(high=3, **k),
    "normal": lambda **k: lamella.normal(mean=0.0, std=1.0, **k),
    "namespace": lambda **k: lamella.ops.aten.zeros(**k),
    "overload": lambda **k: lamella.ones.default(**k),
    "new_zeros": lambda **k: X.new_zeros(**k),
    "new_ones": lambda **k: X.new_ones(**k),
    "new_empty": lambda **k: X.new_empty(**k),
}


@pytest.fixture
def sized(lib):
    """Makes sizes and `labels` of unknown keywords that are ints; returns (calls of expand, values of `labels`)."""
    calls, labels = [], []

    def expand(operator, keywords):
        calls.append((operator, keywords))
        sizes = {k: v for k, v in keywords.items() if type(v) is int}
        others = {k: v for k, v in keywords.items() if k not in sizes}
        return {"size": list(sizes.values()), "labels": tuple(sizes)} | others

    lib.register_keyword("labels", lambda tensor, value: labels.append((tensor, value)))
    lib.register_keywords(expand)
    return calls, labels


@pytest.mark.parametrize("make", EXPANDING.values(), ids=EXPANDING)
def test_sizes_by_name(sized, make):
    calls, labels = sized
    made = make(batch=2, height=1, width=3)
    assert made.shape == (2, 1, 3)
    assert [k for _, k in calls] == [{"batch": 2, "height": 1, "width": 3}]
    assert len(labels) == 1 and labels[0][0] is made and labels[0][1] == ["batch", "height", "width"]
    assert make(width=3, dtype=lamella.float64, batch=2).dtype is lamella.float64
    assert calls[1][1] == {"width": 3, "batch": 2} and labels[1][1] == ["width", "batch"]


def test_the_operators_name(lib, sized):
    lib.define("make(int[] size, *, ScalarType? dtype=None) -> Tensor", category="creation", out=True)
    lib.impl("make", lambda size, *, dtype=None: lamella.ones(size), "composite")
    out = lamella.zeros(2)
    lamella.randn(n=1), lamella.ops.keywords.make(n=2), lamella.ops.keywords.make(n=2, out=out)
    assert [name for name, _ in sized[0]] == ["aten::randn", "keywords::make", "keywords::make"]
    assert out.tolist() == [1, 1]


def test_beside_a_registered_keyword(lib, sized):
    lib.register_keyword("plus", lambda tensor, value: tensor.add_(value))
    made = lamella.zeros(plus=3, n=2, requires_grad=False) if hasattr(X, "grad") else lamella.zeros(plus=3, n=2)
    assert made.tolist() == [3, 3] and sized[0] == [("aten::zeros", {"n": 2})]


def test_known_keywords_are_not_expanded(sized):
    lamella.zeros(2), lamella.zeros(size=(2,), dtype=lamella.int64), lamella.zeros_like(input=X, dtype=lamella.int64)
    lamella.zeros(2, labels=("n",)), lamella.zeros(2, labels=())
    with pytest.raises(TypeError, match="zeros: argument 'out' must be Tensor"):
        lamella.zeros(2, out="no tensor")
    assert sized[0] == []


def test_what_stays_in_is_unknown(sized):
    for call in (
        lambda: lamella.zeros(n=2, glitter="no number"),
        lambda: lamella.zeros(n=2, glitter=None),
        lambda: lamella.zeros(n=2, glitter=X),
        lambda: lamella.zeros(n=2, glitter=[X, X]),
    ):
        with pytest.raises(TypeError, match="zeros: has no argument 'glitter'"):
            call()
    assert len(sized[0]) == 4 and sized[1] == []


def test_an_expanded_name_that_is_unknown(lib):
    lib.register_keywords(lambda operator, keywords: {"size": [1], "frobnicate": 2})
    with pytest.raises(TypeError, match="zeros: has no argument 'frobnicate'|two values for .* 'frobnicate'"):
        lamella.zeros(n=2)
    with pytest.raises(TypeError, match="zeros_like: has no argument '(size|frobnicate)'"):
        lamella.zeros_like(X, n=2)


def test_a_size_beside_names_of_sizes(sized):
    with pytest.raises(TypeError, match="zeros: has no argument 'n'"):
        lamella.zeros(2, n=2)
    with pytest.raises(TypeError, match="zeros: got two values for argument 'size': one is given, the other .* 'n'"):
        lamella.zeros(size=(2,), n=2)
    with pytest.raises(TypeError, match="zeros: got two values for argument 'labels': one is given"):
        lamella.zeros(n=2, labels=("m",))
    assert sized[1] == []


@pytest.mark.parametrize("value", [len, {1: 2}, 1 << 70], ids=repr)
def test_unknown_keywords_that_cannot_be(sized, value):
    with pytest.raises((TypeError, OverflowError)):
        lamella.zeros(n=2, glitter=value)
    assert sized == ([], [])


@pytest.mark.parametrize(
    "made", [None, 3, ["size"], "size", lamella.ones(1), [("size", [2])]], ids=lambda m: repr(m)[:9]
)
def test_expand_returns_no_dictionary(lib, made):
    lib.register_keywords(lambda operator, keywords: made)
    with pytest.raises(TypeError, match="zeros: "):
        lamella.zeros(n=2)


@pytest.mark.parametrize("made", [{1: 2}, {None: [2]}, {"size": len}, {"size": [len]}], ids=repr)
def test_expand_returns_a_dictionary_that_cannot_be(lib, made):
    lib.register_keywords(lambda operator, keywords: made)
    with pytest.raises(TypeError, match="zeros: the keywords in place of {'n': 2} cannot be passed on"):
        lamella.zeros(n=2)


def test_expand_returns_values_of_a_wrong_type(lib):
    lib.register_keywords(lambda operator, keywords: {"size": "two"})
    with pytest.raises(TypeError, match="zeros: argument 'size' must be list of int, got str"):
        lamella.zeros(n=2)


def test_expand_returns_what_it_got(lib):
    lib.register_keywords(lambda operator, keywords: keywords)
    with pytest.raises(TypeError, match="zeros: has no argument 'n'"):
        lamella.zeros(2, n=2)
    with pytest.raises(TypeError, match="add: has no argument 'n'"):
        X.add(X, n=2)


def test_expand_drops_keywords(lib):
    lib.register_keywords(lambda operator, keywords: {})
    assert lamella.zeros(2, n=3).shape == (2,)
    with pytest.raises(TypeError, match="zeros: missing argument 'size'"):
        lamella.zeros(n=3)


def test_expand_raises(lib):
    refusal = ValueError("no names today")

    def refuse(operator, keywords):
        raise refusal

    lib.register_keywords(refuse)
    with pytest.raises(ValueError) as caught:
        lamella.zeros(n=2)
    assert caught.value is refusal
    assert lamella.zeros(2).shape == (2,)


def test_values_pass_unchanged(lib):
    got = []
    lib.register_keyword("sparkle", lambda tensor, value: got.append(value))
    lib.register_keywords(lambda operator, keywords: {"size": [1], "sparkle": keywords["glitter"]})
    for value in VALUES:
        lamella.zeros(glitter=value)
    lamella.zeros(glitter=X)
    assert got[:-1] == VALUES and [type(g) for g in got[:-1]] == [type(v) for v in VALUES] and got[-1] is X


def test_tensor_does_not_expand(sized):
    with pytest.raises(TypeError, match="tensor: has no argument 'n'"):
        lamella.tensor([1], n=1)
    with pytest.raises(TypeError, match="'n'"):
        X.new_tensor([1], n=1)
    assert sized == ([], [])


def test_expand_may_make_tensors(lib):
    lib.register_keywords(lambda operator, keywords: {"size": lamella.zeros(size=(2,)).shape})
    assert lamella.ones(n=1).shape == (2,)


def test_two_who_expand(lib, sized):
    """The newest gets the keywords first, the one before what it leaves in; two that make one keyword are an error."""
    other, got = Library("other", "FRAGMENT", owner="somebody else"), []

    def expand(operator, keywords):
        got.append(dict(keywords))
        return {("m" if k == "halved" else k): v // (1 + (k == "halved")) for k, v in keywords.items() if k != "gone"}

    other.register_keywords(expand)
    with pytest.raises(TypeError, match="register_keywords: argument 'expand': expected a callable"):
        other.register_keywords({})
    assert lamella.zeros(halved=6, n=2, gone=1).shape == (3, 2)
    assert got == [{"halved": 6, "n": 2, "gone": 1}] and sized[0] == [("aten::zeros", {"m": 3, "n": 2})]
    other.register_keyword("expand", lambda tensor, value: None)  # another name than that of the function above
    lamella.zeros(n=2, expand=1)
    other.register_keywords(lambda operator, keywords: {"size": [1]} | keywords)
    with pytest.raises(TypeError, match="zeros: got two values for argument 'size': one is given"):
        lamella.zeros(n=2)
    other.close()
    assert lamella.zeros(n=2).shape == (2,)


def test_withdrawal_of_expand(lib):
    expand = lambda operator, keywords: {"size": [len(keywords) + 1]}  # noqa: E731
    watch = weakref.ref(expand)
    handle = lib.register_keywords(expand)
    del expand
    assert lamella.zeros(n="2").shape == (2,)
    lib.withdraw(handle)
    gc.collect()
    assert watch() is None
    with pytest.raises(TypeError, match="has no argument 'n'|missing argument 'size'"):
        lamella.zeros(n="2")
    handle = lib.register_keywords(lambda operator, keywords: lib.withdraw(handle) or {"size": [3]})
    assert lamella.zeros(n="2").shape == (3,)  # the call that withdraws it is its last one
    with pytest.raises(TypeError, match="has no argument 'n'|missing argument 'size'"):
        lamella.zeros(n="2")


def test_a_native_one_that_expands(face):
    face.rest(True)
    try:
        assert lamella.zeros(n=2, m=3, dtype=lamella.int64).tolist() == [[0, 0, 0]] * 2
        with pytest.raises(TypeError, match="has no argument 'glitter'"):
            lamella.zeros(n=2, glitter="no number")
    finally:
        face.rest(False)
    with pytest.raises(TypeError, match="has no argument 'n'|missing argument 'size'"):
        lamella.zeros(n="2")
