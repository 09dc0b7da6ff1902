"""Dimensions by name, whose numbers a resolver gives: calls that take them, values, errors, nonsense, withdrawal."""

import gc
import weakref

import lamella
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lamella.library import Library

F = lamella.nn.functional
NAMES = "abcdefgh"
NOBODY = "load a plugin|tensor of the call has no names"  # without a resolver, and with one of another plugin


@pytest.fixture
def lib():
    made = Library("dims", "FRAGMENT", owner="the test")
    yield made
    made.close()


@pytest.fixture
def seen(lib):
    """Names the dimensions of every tensor a, b, c, …; returns a list that gets (tensor, name) for each question."""
    found = []

    def find(tensor, name):
        found.append((tensor, name))
        names = NAMES[: tensor.ndim]
        if name not in list(names):
            raise LookupError(f"there is no dimension {name!r} among {', '.join(names)}")
        return names.index(name)

    lib.register_dim_resolver(find)
    return found


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


ARRAY = numbers(2, 3, 4)
X = lamella.tensor(ARRAY)

# Calls by name, with numpy's result.
CALLS = {
    "one": (lambda: lamella.sum(X, "b"), lambda: ARRAY.sum(1)),
    "keyword": (lambda: lamella.sum(X, dim="b"), lambda: ARRAY.sum(1)),
    "all keywords": (lambda: lamella.sum(dim="b", input=X), lambda: ARRAY.sum(1)),
    "numpy's keyword": (lambda: X.sum(axis="b", keepdims=True), lambda: ARRAY.sum(1, keepdims=True)),
    "numpy's function": (lambda: np.sum(X, axis="b"), lambda: ARRAY.sum(1)),
    "method": (lambda: X.sum("c", keepdim=True), lambda: ARRAY.sum(2, keepdims=True)),
    "list": (lambda: X.sum(["a", "c"]), lambda: ARRAY.sum((0, 2))),
    "tuple": (lambda: X.sum(("c", "a")), lambda: ARRAY.sum((0, 2))),
    "mixed": (lambda: X.amax([0, "c"]), lambda: ARRAY.max((0, 2))),
    "mixed with negative": (lambda: X.amax(("b", -1)), lambda: ARRAY.max((1, 2))),
    "numpy's number": (lambda: X.sum(["b", np.int64(2)]), lambda: ARRAY.sum((1, 2))),
    "int": (lambda: X.cumsum("b"), lambda: ARRAY.cumsum(1)),
    "optional int": (lambda: X.argmax("c"), lambda: ARRAY.argmax(2)),
    "several overloads": (lambda: X.max("b").values, lambda: ARRAY.max(1)),
    "overloads by number of names": (lambda: X[:, :1].squeeze("b"), lambda: ARRAY[:, 0]),
    "two arguments": (lambda: X.transpose("a", "c"), lambda: ARRAY.transpose(2, 1, 0)),
    "one of two": (lambda: X.transpose(-1, "a"), lambda: ARRAY.transpose(2, 1, 0)),
    "spelled out": (lambda: X.permute("c", "a", "b"), lambda: ARRAY.transpose(2, 0, 1)),
    "spelled out, mixed": (lambda: X.permute("c", 0, "b"), lambda: ARRAY.transpose(2, 0, 1)),
    "spelled out, number first": (lambda: X.permute(2, "a", "b"), lambda: ARRAY.transpose(2, 0, 1)),
    "one in a list without size": (lambda: X.flip("c"), lambda: np.flip(ARRAY, 2)),
    "one in a list by keyword": (lambda: X.flip(dims="c"), lambda: np.flip(ARRAY, 2)),
    "range": (lambda: X.flatten("a", "b"), lambda: ARRAY.reshape(6, 4)),
    "list of tensors": (lambda: lamella.stack([X, X], dim="c"), lambda: np.stack([ARRAY, ARRAY], 2)),
    "tuple of tensors": (lambda: lamella.cat((X, X), "c"), lambda: np.concatenate([ARRAY, ARRAY], 2)),
    "overload": (lambda: lamella.sum.dim_IntList(X, "b"), lambda: ARRAY.sum(1)),
    "namespace": (lambda: lamella.ops.aten.sum(X, ["b"]), lambda: ARRAY.sum(1)),
    "namespace and overload": (lambda: lamella.ops.aten.sum.dim_IntList(X, ["b"]), lambda: ARRAY.sum(1)),
    "in place": (lambda: X.clone().cumsum_("b"), lambda: ARRAY.cumsum(1)),
    "out": (lambda: lamella.sum(X, "b", out=lamella.empty(2, 4)), lambda: ARRAY.sum(1)),
    "softmax": (lambda: F.softmax(X, dim="b").sum(1), lambda: np.ones((2, 4), np.float32)),
    "normalize": (lambda: F.normalize(X, 1.0, dim="c").sum(2), lambda: np.ones((2, 3), np.float32)),
    "hard gumbel": (lambda: F.gumbel_softmax(X, hard=True, dim="b").sum(1), lambda: np.ones((2, 4), np.float32)),
    "module": (lambda: lamella.nn.Softmax(dim="c")(X).sum(2), lambda: np.ones((2, 3), np.float32)),
    "unflatten": (lambda: lamella.nn.Unflatten("c", (2, 2))(X), lambda: ARRAY.reshape(2, 3, 2, 2)),
    "tensordot": (lambda: lamella.tensordot(X, X[0], (["b", 2], ["a", "b"])), lambda: np.tensordot(ARRAY, ARRAY[0])),
    "tensordot of one": (lambda: lamella.tensordot(X, X[0], ("c", "b")), lambda: ARRAY @ ARRAY[0].T),
    "size": (lambda: lamella.tensor(X.size("c")), lambda: np.int64(4)),
    "stride": (lambda: lamella.tensor(X.stride("a")), lambda: np.int64(12)),
}  # fmt: skip


@pytest.mark.parametrize("call, oracle", CALLS.values(), ids=CALLS)
def test_values(seen, call, oracle):
    np.testing.assert_allclose(np.asarray(call()), oracle(), rtol=1e-6)
    assert seen


@pytest.mark.parametrize("call", [c for c, _ in CALLS.values()], ids=CALLS)
def test_without_a_resolver(call):
    with pytest.raises((TypeError, RuntimeError), match=NOBODY):
        call()


OPERATIONS = {
    "sum": lambda x, d: x.sum(d),
    "mean": lambda x, d: x.mean(d, keepdim=True),
    "prod": lambda x, d: x.prod(d),
    "amin": lambda x, d: x.amin(d),
    "argmin": lambda x, d: x.argmin(d),
    "any": lambda x, d: x.any(d),
    "logsumexp": lambda x, d: x.logsumexp(d),
    "std": lambda x, d: x.std(d, correction=0),
    "cumprod": lambda x, d: x.cumprod(d),
    "sort": lambda x, d: x.sort(d, descending=True)[0],
    "median": lambda x, d: x.median(d)[1],
    "unbind": lambda x, d: lamella.cat([t.flatten() for t in x.unbind(d)]),
    "select": lambda x, d: x.select(d, 0),
    "narrow": lambda x, d: x.narrow(d, 0, 1),
    "index_select": lambda x, d: x.index_select(d, lamella.tensor([0, 0])),
    "roll": lambda x, d: x.roll(1, d),
    "split": lambda x, d: x.split(1, d)[0],
    "unsqueeze": lambda x, d: x.unsqueeze(d),
    "norm": lambda x, d: x.norm(2, d),
    "topk": lambda x, d: x.topk(1, d)[1],
    "log_softmax": lambda x, d: F.log_softmax(x, d),
    "cosine_similarity": lambda x, d: F.cosine_similarity(x, x, dim=d),
    "softmin": lambda x, d: F.softmin(x, d),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@given(data=st.data())
def test_a_name_is_its_number(operation, data):
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    d = data.draw(st.integers(0, len(shape) - 1))
    x = lamella.tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))
    library = Library("dims", "FRAGMENT", owner="the test")
    library.register_dim_resolver(lambda tensor, name: NAMES[: tensor.ndim].index(name))
    try:
        by_name = operation(x, NAMES[d])
    finally:
        library.close()
    np.testing.assert_array_equal(by_name.numpy(), operation(x, d).numpy())


def test_numbers_ask_nobody(seen):
    X.sum(1), X.sum([0, -1]), X.permute(2, 0, 1), X.max(), X.transpose(0, 1), lamella.stack([X, X], dim=1)
    assert seen == []


def test_the_first_tensor_of_the_call_is_asked(seen):
    y = X[0]
    lamella.cat([X, X], "b"), lamella.stack((y, y), dim="b"), X.index_select("c", lamella.tensor([0]))
    assert [t for t, _ in seen] == [X, y, X] and [n for _, n in seen] == ["b", "b", "c"]


def test_a_string_is_one_name(seen):
    for call in (lambda: X.sum("abc"), lambda: X.flip("abc"), lambda: X.flip(dims="abc"), lambda: X.sum(["abc"])):
        with pytest.raises(LookupError, match="there is no dimension 'abc' among a, b, c"):
            call()
    assert [n for _, n in seen] == ["abc"] * 4


def test_a_subclass_of_str(seen):
    class Name(str):
        pass

    assert X.sum(Name("b")).shape == (2, 4)


def test_one_name_stands_for_a_list_as_one_number_does(lib, seen):
    lib.define("pair(Tensor x, int[2] dims) -> Tensor")
    lib.impl("pair", lambda x, dims: lamella.tensor(list(dims)), "composite")
    assert lamella.ops.dims.pair(X, "b").tolist() == lamella.ops.dims.pair(X, 1).tolist() == [1, 1]


def test_operators_of_others(lib, seen):
    lib.define("along(Tensor x, int dim, *, int? end_dim=None) -> Tensor")
    lib.impl("along", lambda x, dim, *, end_dim=None: lamella.tensor([dim, -9 if end_dim is None else end_dim]))
    lib.define("behind(int dim, Tensor? x, Tensor[] ys) -> Tensor")
    lib.impl("behind", lambda dim, x, ys: lamella.tensor(dim))
    lib.define("bare(int dim) -> Tensor")
    lib.impl("bare", lambda dim: lamella.tensor(dim))
    along, behind = lamella.ops.dims.along, lamella.ops.dims.behind
    assert along(X, "c").tolist() == [2, -9] and along(X, dim="a", end_dim="b").tolist() == [0, 1]
    assert behind("b", X, []).item() == 1 == behind("b", None, [X[0]]).item()
    with pytest.raises(TypeError, match="bare: argument 'dim': got names of dimensions, but the call has no tensor"):
        lamella.ops.dims.bare("b")
    with pytest.raises(TypeError, match="the call has no tensor"):
        behind("b", None, [])


def test_an_overload_for_strings_goes_first(lib, seen):
    lib.define("pick(Tensor x, int dim) -> Tensor")
    lib.impl("pick", lambda x, dim: lamella.tensor(dim))
    lib.define("pick.name(Tensor x, str dim) -> Tensor")
    lib.impl("pick.name", lambda x, dim: lamella.tensor(len(dim)))
    assert lamella.ops.dims.pick(X, "c").item() == 1 and seen == []
    assert lamella.ops.dims.pick.default(X, "c").item() == 2


def test_arguments_that_count_no_dimensions(seen):
    for call in (
        lambda: lamella.zeros("a"),
        lambda: X.reshape("a"),
        lambda: X.select(0, "a"),
        lambda: X.split("a", 0),
        lambda: X.repeat("a", "b", "c"),
        lambda: X + "a",
        lambda: X.sum("a", "b"),
        lambda: X.cumsum(["a"]),
        lambda: X.sum(["a", None]),
        lambda: X.sum(["a", 1.5]),
        lambda: X.sum(["a", True]),
        lambda: X.permute("a", 1.5),
        lambda: X.sum([["a"]]),
    ):
        with pytest.raises(TypeError, match=r"(?s)^((?!load a plugin).)*$"):
            call()
    assert seen == []


def test_the_rest_of_the_call_is_checked_first(seen):
    with pytest.raises(TypeError, match="argument 'keepdim' must be bool, got float"):
        lamella.sum(X, "a", keepdim=1.5)
    with pytest.raises(TypeError, match="cumsum: missing argument 'dim'"):
        lamella.cumsum(X)
    with pytest.raises(TypeError, match="has no argument 'glitter'"):
        lamella.cumsum(X, "a", glitter=1)
    assert seen == []


def test_overriding_gets_the_string(seen):
    got = []

    class Seeing(lamella.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            got.append((args[1:], kwargs))
            return 5

    assert X.as_subclass(Seeing).sum("anything", keepdim=True) == 5
    assert got == [(("anything",), {"keepdim": True})] and seen == []


def test_layers_get_numbers(lib, seen):
    got = []
    layer = lib.register_layer("dims_seen", lambda call, *a, **k: got.append(a[1:]) or call(*a, **k))
    try:
        with layer.on():
            X.transpose("c", "a"), X.sum(["b", 0])
    finally:
        layer.remove()
    assert got == [(2, 0), ([1, 0],)]


def test_a_layer_may_go_on_with_names(lib, seen):
    layer = lib.register_layer("dims_named", lambda call, x, *a, **k: call(x, "b"))
    try:
        with layer.on():
            made = X.cumsum(0)
    finally:
        layer.remove()
    np.testing.assert_array_equal(made.numpy(), ARRAY.cumsum(1))


@pytest.mark.needs("autograd")
def test_gradients(seen):
    x = lamella.ones(2, 3, requires_grad=True)
    (x.cumsum("b") * lamella.tensor([1.0, 2.0, 3.0])).sum(["a", "b"]).backward()
    assert x.grad.tolist() == [[6, 5, 3]] * 2


NONSENSE = {
    "too large": (3, RuntimeError, "^sum: argument 'dim': the resolver of the test found dimension 3 for the name 'q'"),
    "negative": (-1, RuntimeError, "found dimension -1 for the name 'q', but the tensor has 3"),
    "no number": ("b", TypeError, "^sum: argument 'dim': the resolver of names must return an int for 'q', got str"),
    "None": (None, TypeError, "must return an int for 'q', got None"),
    "a bool": (True, TypeError, "must return an int for 'q', got bool"),
    "a float": (1.0, TypeError, "must return an int for 'q', got float"),
    "very large": (1 << 70, OverflowError, ""),
}  # fmt: skip


@pytest.mark.parametrize("answer, kind, match", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_answers(lib, answer, kind, match):
    lib.register_dim_resolver(lambda tensor, name: answer if name == "q" else 0)
    for call in (lambda: X.sum("q"), lambda: X.sum(["a", "q"]), lambda: lamella.sum(X, dim="q")):
        with pytest.raises(kind, match=match):
            call()
    with pytest.raises(kind, match=match.replace("sum", "size")):
        X.size("q")
    out = lamella.full((2, 3), 7.0)
    with pytest.raises(kind):
        lamella.sum(X, "q", out=out)
    assert (out == 7).all()


def test_a_tensor_without_dimensions(lib):
    lib.register_dim_resolver(lambda tensor, name: 0)
    with pytest.raises(RuntimeError, match="the tensor has 0 dimensions"):
        lamella.tensor(1.0).sum("a")


def test_an_exception_passes_as_it_is(lib):
    refusal = ValueError("no such name")

    def refuse(tensor, name):
        raise refusal

    lib.register_dim_resolver(refuse)
    for call in (lambda: X.sum("a"), lambda: X.max("a"), lambda: X.size("a"), lambda: X + X.sum(["a", "b"])):
        with pytest.raises(ValueError) as caught:
            call()
        assert caught.value is refusal


def test_odd_names(seen):
    with pytest.raises(ValueError, match="since it is no text"):
        X.sum("\ud800")
    with pytest.raises(ValueError, match="no name holds a zero character"):
        X.sum("a\0")
    with pytest.raises(LookupError, match="there is no dimension '' among"):
        X.sum("")
    with pytest.raises(LookupError, match="Ä"):
        X.sum("Ä")


def test_the_list_may_change_meanwhile(lib):
    given_names = ["a", "b"]

    def find(tensor, name):
        given_names.clear()
        return NAMES.index(name)

    lib.register_dim_resolver(find)
    assert X.sum(given_names).shape == (4,)


def test_a_resolver_may_use_names(lib):
    def find(tensor, name):
        if name == "last":
            assert tensor.sum("a").shape == tensor.shape[1:]
        return {"a": 0, "last": tensor.ndim - 1}[name]

    lib.register_dim_resolver(find)
    assert X.sum("last").shape == (2, 3)


def test_two_owners(lib, seen):
    """A function that declines leaves the name to the one that was registered before it."""
    other = Library("other", "FRAGMENT", owner="somebody else")
    other.register_dim_resolver(lambda tensor, name: 0 if name == "first" else NotImplemented)
    with pytest.raises(TypeError, match="expected a callable"):
        other.register_dim_resolver("a")
    assert X.sum("first").shape == (3, 4) and X.sum("b").shape == (2, 4)  # the newest is called first, and declines
    assert [name for _, name in seen] == ["b"]
    lib.close()
    assert X.sum("first").shape == (3, 4)
    with pytest.raises(
        RuntimeError,
        match="sum: argument 'dim': there is no dimension 'b', since the first tensor .* has no names",
    ):
        X.sum("b")
    other.close()
    with pytest.raises(RuntimeError, match="is closed"):
        other.register_dim_resolver(lambda tensor, name: 0)


def test_withdrawal(lib):
    find = lambda tensor, name: 1  # noqa: E731
    watch = weakref.ref(find)
    handle = lib.register_dim_resolver(find)
    del find
    assert X.sum("b").shape == (2, 4)
    lib.withdraw(handle)
    gc.collect()
    assert watch() is None
    with pytest.raises((TypeError, RuntimeError), match=NOBODY):
        X.sum("b")
    lib.register_dim_resolver(lambda tensor, name: 2)
    assert X.sum("b").shape == (2, 3)


@pytest.mark.parametrize("count", [1, 3, 10])
def test_each_name_is_resolved_once(seen, count):
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        lamella.movedim(X, ["a"] * count, ["c"] * count + ["b"])
    assert [name for _, name in seen] == ["a"] * count + ["c"] * count + ["b"]


def test_a_number_beside_a_name_does_not_fit(seen):
    with pytest.raises(RuntimeError, match="^sum: argument 'dim': the number does not fit 64 bits"):
        X.sum(["a", 10**30])


def test_an_overload_that_takes_the_str_is_tried_before(seen):
    made = Library("dimstext", "DEF", owner="the test")
    made.define("f.d(Tensor self, ScalarType dtype) -> Tensor")
    made.define("f.n(Tensor self, int dim) -> Tensor")
    made.impl("f.d", lambda x, dtype: x.to(dtype))
    made.impl("f.n", lambda x, dim: x.sum(dim))
    try:
        assert lamella.ops.dimstext.f(X, "float64").dtype == lamella.float64 and not seen
        assert lamella.ops.dimstext.f(X, "b").shape == (2, 4)
    finally:
        made.close()


def test_withdrawal_during_a_call(lib):
    handle = lib.register_dim_resolver(lambda tensor, name: lib.withdraw(handle) or 1)
    assert X.sum("b").shape == (2, 4)
    handle = lib.register_dim_resolver(lambda tensor, name: lib.withdraw(handle) or 1)
    with pytest.raises(
        RuntimeError,
        match="no dimension 'a'(: no plugin resolves names of dimensions|, since the first tensor .* has no names)",
    ):
        X.sum(["b", "a"])


def test_a_native_one(face):
    face.resolver(True)
    try:
        assert X.sum("first").shape == (3, 4) and X.sum(["first", "last"]).shape == (3,)
        with pytest.raises(IndexError, match="^sum: argument 'dim': there is no dimension 'middle'"):
            X.sum("middle")
        with pytest.raises(RuntimeError, match="the resolver of face.cpp found dimension 99 for the name 'far'"):
            X.sum("far")
    finally:
        face.resolver(False)
    with pytest.raises((TypeError, RuntimeError), match=NOBODY):
        X.sum("first")
