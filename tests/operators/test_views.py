"""Views equal numpy's: shapes, elements, shared storage, root tensors and versions."""

import lamella
import numpy as np
import pytest
from arrays import assert_same, layouts, lt_dtype, pairs, shapes, to_lamella, to_numpy
from hypothesis import assume, given
from hypothesis import strategies as st


def assert_view(view, of, expected):
    """Requires that `view` has the numpy view's elements at the same places in memory."""
    assert_same(view, expected)
    assert view.storage().data_ptr() == of.storage().data_ptr()
    assert view._base is (of if of._base is None else of._base)
    if expected.size:
        strides = [s // expected.itemsize for s in expected.strides]
        for n, s, want in zip(expected.shape, view.stride(), strides, strict=True):
            assert n == 1 or s == want


@st.composite
def tensors(draw, max_dims=4, min_dims=0, max_size=4):
    shape = draw(st.lists(st.integers(0, max_size), min_size=min_dims, max_size=max_dims))
    return draw(pairs("int32", tuple(shape)))


def dims(draw, ndim):
    return draw(st.integers(-ndim, ndim - 1))


@st.composite
def factorizations(draw, count):
    """Makes a shape of `count` elements, perhaps with ones in it."""
    shape, rest = [], count
    while rest > 1:
        n = draw(st.sampled_from([d for d in range(2, rest + 1) if rest % d == 0]))
        shape.append(n)
        rest //= n
    for _ in range(draw(st.integers(0, 2))):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    return shape


@given(st.data())
def test_view_succeeds_exactly_where_numpy_needs_no_copy(data):
    x, t = data.draw(tensors())
    assume(x.size)
    shape = data.draw(factorizations(x.size))
    try:
        expected = np.reshape(x, shape, copy=False)
    except ValueError:
        with pytest.raises(RuntimeError, match=r"view: .*strides.*reshape"):
            t.view(shape)
        result = t.reshape(shape)
        assert result.data_ptr() != t.data_ptr() and result.is_contiguous()
        assert_same(result, np.reshape(x, shape))
        return
    assert_view(t.view(shape), t, expected)
    assert_view(t.view(*shape or [()]), t, expected)
    assert_view(t.reshape(shape), t, expected)


@given(st.data())
def test_view_of_nothing_always_succeeds(data):
    shape = data.draw(shapes().filter(lambda s: 0 in s))
    other = data.draw(shapes().filter(lambda s: 0 in s))
    t = lamella.zeros(shape).permute(list(range(len(shape)))[::-1])
    assert tuple(t.view(other).shape) == other and tuple(t.reshape(other).shape) == other


@given(st.data())
def test_one_size_may_be_inferred(data):
    x = data.draw(shapes(3).filter(all))
    t = lamella.zeros(x)
    shape = data.draw(factorizations(t.numel()))
    assume(shape)
    at = data.draw(st.integers(0, len(shape) - 1))
    asked = [-1 if i == at else n for i, n in enumerate(shape)]
    assert tuple(t.view(asked).shape) == tuple(shape)


@pytest.mark.parametrize("shape", [(5,), (-1, -1), (-1, 4), (-2, 3), (7, 0), (2**62, 2**62)])
def test_view_refuses_other_sizes(shape):
    t = lamella.arange(6)
    for f in (t.view, t.reshape):
        with pytest.raises(RuntimeError, match="(view|reshape): argument '(size|shape)'"):
            f(shape)
    with pytest.raises(RuntimeError, match="ambiguous"):
        lamella.zeros(0, 3).view(-1, 0)


@given(tensors(max_dims=2))
def test_t(pair):
    x, t = pair
    assert_view(t.t(), t, x.T)
    assert_view(lamella.t(t), t, x.T)


@given(tensors())
def test_reversed_dimensions(pair):
    x, t = pair
    assert_view(t.T, t, x.T)


@given(st.data())
def test_transpose(data):
    x, t = data.draw(tensors(min_dims=1))
    i, j = dims(data.draw, x.ndim), dims(data.draw, x.ndim)
    assert_view(t.transpose(i, j), t, np.swapaxes(x, i, j))
    assert_view(lamella.transpose(t, i, j), t, np.swapaxes(x, i, j))


@given(st.data())
def test_permute(data):
    x, t = data.draw(tensors())
    order = data.draw(st.permutations(range(x.ndim)))
    asked = [d - x.ndim if data.draw(st.booleans()) else d for d in order]
    assert_view(t.permute(asked), t, np.transpose(x, order))
    assert_view(lamella.permute(t, asked), t, np.transpose(x, order))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda t: t.permute(0), RuntimeError),
        (lambda t: t.permute(0, 2), IndexError),
        (lambda t: t.transpose(-3, 0), IndexError),
        (lambda t: t.select(2, 0), IndexError),
        (lambda t: t.select(0, -3), IndexError),
        (lambda t: t.unsqueeze(-4), IndexError),
        (lambda t: t.expand(3), RuntimeError),
        (lambda t: t.expand(-1, 2, 3), RuntimeError),
        (lambda t: t.as_strided((2, 4), (4, 1)), RuntimeError),
        (lambda t: t.as_strided((2,), (-1,)), RuntimeError),
        (lambda t: t.as_strided((2,), (1, 1)), RuntimeError),
        (lambda t: t.as_strided((-1,), (1,)), RuntimeError),
        (lambda t: t.as_strided((1,), (1,), -1), RuntimeError),
        (lambda t: t.as_strided((2**40,), (2**40,)), RuntimeError),
    ],
)
def test_views_out_of_range(call, error):
    t = lamella.zeros(2, 3)
    name = call.__code__.co_names[0]
    with pytest.raises(error, match=rf"^{name}: "):
        call(t)


@given(st.data())
def test_expand(data):
    x, t = data.draw(tensors(max_dims=3))
    lead = data.draw(st.lists(st.integers(0, 3), max_size=2))
    kept = [data.draw(st.integers(0, 3)) if n == 1 else n for n in x.shape]
    asked = lead + [-1 if n == m and data.draw(st.booleans()) else m for n, m in zip(x.shape, kept, strict=True)]
    assert_view(t.expand(asked), t, np.broadcast_to(x, lead + kept))
    assert_view(t.expand(*asked or [()]), t, np.broadcast_to(x, lead + kept))


@given(st.data())
def test_slice(data):
    x, t = data.draw(tensors(min_dims=1))
    dim = dims(data.draw, x.ndim)
    bound = st.none() | st.integers(-6, 6) | st.sampled_from([2**62, -(2**62)])
    start, end, step = data.draw(bound), data.draw(bound), data.draw(st.integers(1, 3))
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, end, step)
    assert_view(lamella.ops.aten.slice(t, dim, start, end, step), t, x[tuple(index)])


@given(st.data())
def test_select(data):
    x, t = data.draw(tensors(min_dims=1))
    dim = dims(data.draw, x.ndim)
    n = x.shape[dim]
    assume(n)
    i = data.draw(st.integers(-n, n - 1))
    assert_view(t.select(dim, i), t, np.moveaxis(x, dim, 0)[i])


@given(st.data())
def test_squeeze(data):
    shape = data.draw(st.lists(st.sampled_from([1, 1, 2, 0]), max_size=4))
    x, t = data.draw(pairs("int32", tuple(shape)))
    ones = [d for d, n in enumerate(shape) if n == 1]
    assert_view(t.squeeze(), t, np.squeeze(x))
    chosen = data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True)) if shape else []
    assert_view(t.squeeze(chosen), t, np.squeeze(x, tuple(d for d in chosen if d in ones)))
    for d in range(len(shape)):
        assert_view(t.squeeze(d - len(shape)), t, np.squeeze(x, d) if d in ones else x)


@given(st.data())
def test_unsqueeze(data):
    x, t = data.draw(tensors())
    dim = data.draw(st.integers(-x.ndim - 1, x.ndim))
    assert_view(t.unsqueeze(dim), t, np.expand_dims(x, dim))


@given(st.data())
def test_as_strided(data):
    layout = data.draw(layouts(data.draw(shapes())))
    flat = np.arange(layout.span, dtype=np.int32)
    t = to_lamella(flat)
    view = layout.tensor(t)
    assert_view(view, t, layout.array(flat))
    assert view.storage_offset() == layout.offset and view.stride() == layout.strides
    again = view.t()[:1] if view.ndim == 2 else view
    assert_view(layout.tensor(again), t, layout.array(flat))  # offsets count from the storage's begin, not the view's


def test_as_strided_keeps_the_offset_unless_told():
    t = lamella.arange(6)[2:]
    assert t.as_strided((2,), (1,)).tolist() == [2, 3]
    assert t.as_strided((2,), (1,), 0).tolist() == [0, 1]


def test_detach_shares_storage_and_version():
    t = lamella.ones(3)
    d = t.detach()
    version = t._version
    d.add_(1)
    assert t.tolist() == [2.0] * 3 and t._version == d._version == version + 1


VIEWS = {
    "view": lambda t: t.view(-1),
    "reshape": lambda t: t.reshape(4, 3),
    "t": lambda t: t.t(),
    "transpose": lambda t: t.transpose(0, 1),
    "permute": lambda t: t.permute(1, 0),
    "slice": lambda t: t[1:],
    "select": lambda t: t[1],
    "squeeze": lambda t: t.squeeze(),
    "unsqueeze": lambda t: t.unsqueeze(1),
    "as_strided": lambda t: t.as_strided((2, 2), (1, 3)),
    "none": lambda t: t[None],
    "ellipsis": lambda t: t[...],
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_writes_go_through(make):
    t = lamella.arange(12).view(3, 4).clone()
    x = to_numpy(t)
    v = make(t)
    version = t._version
    v.mul_(10)
    assert t._version == v._version == version + 1
    touched = to_numpy(t) != x
    touched[0, 0] = touched[0, 0] or 0 in to_numpy(v)
    assert touched.sum() == v.numel()
    np.testing.assert_array_equal(to_numpy(t), np.where(touched, x * 10, x))
    t.fill_(7)
    assert set(to_numpy(v).ravel()) == {7} and v._version == version + 2


@given(st.data())
def test_chains_have_one_root(data):
    t = lamella.zeros(3, 4, 2)
    v = t
    for _ in range(data.draw(st.integers(1, 6))):
        v = data.draw(st.sampled_from([lambda v: v.T, lambda v: v[None], lambda v: v[..., :1], lambda v: v.squeeze()]))(
            v
        )
        assert v._base is t
    version = t._version
    v.add_(1)
    assert t._version == version + 1
    assert lamella.sum(t).item() == v.numel()


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_views_work_on_meta(make):
    t, m = lamella.zeros(3, 4), lamella.empty(3, 4, device="meta")
    assert make(m).shape == make(t).shape and make(m).stride() == make(t).stride()
    assert make(m)._base is m


def test_a_view_survives_its_base():
    v = lamella.arange(10)[5:]
    assert lamella.zeros(1000).numel() == 1000  # new memory, which may reuse freed memory
    assert v.tolist() == [5, 6, 7, 8, 9]


def test_contiguous():
    t = lamella.arange(6).view(2, 3)
    assert t.contiguous() is t
    c = t.t().contiguous()
    assert c.is_contiguous() and c.tolist() == [[0, 3], [1, 4], [2, 5]] and c.data_ptr() != t.data_ptr()


# ---- the rest of the family ------------------------------------------------------------------------------------------


@given(st.data())
def test_moved_swapped_and_joined_dimensions(data):
    x, t = data.draw(tensors(min_dims=1))
    n = x.ndim
    source = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    to = data.draw(st.permutations(range(n)))[: len(source)]
    signed = [d - n if data.draw(st.booleans()) else d for d in source]
    for f in (lamella.movedim, lamella.moveaxis):
        assert_view(f(t, signed, to), t, np.moveaxis(x, source, to))
    i, j = dims(data.draw, n), dims(data.draw, n)
    assert_view(t.movedim(i, j), t, np.moveaxis(x, i, j))
    assert_view(t.swapaxes(i, j), t, np.swapaxes(x, i, j))
    assert_view(t.swapdims(i, j), t, np.swapaxes(x, i, j))
    first, last = sorted(d % n for d in (i, j))
    shape = (*x.shape[:first], int(np.prod(x.shape[first : last + 1])), *x.shape[last + 1 :])
    assert_same(t.flatten(first, last), x.reshape(shape))
    assert_same(t.flatten(), x.reshape(-1))
    assert_same(t.ravel(), x.reshape(-1))
    assert t.ravel().is_contiguous()
    if n > 1:
        k = data.draw(st.integers(-5, 5))
        assume(i % n != j % n)
        assert_view(t.diagonal(k, i, j), t, np.diagonal(x, k, i, j))


@given(st.data())
def test_windows(data):
    x, t = data.draw(tensors(min_dims=1))
    d = dims(data.draw, x.ndim)
    size, step = data.draw(st.integers(0, x.shape[d])), data.draw(st.integers(1, 3))
    if size:
        every = np.lib.stride_tricks.sliding_window_view(x, size, d)
        at = tuple(slice(None, None, step) if k == d % x.ndim else slice(None) for k in range(x.ndim))
        assert_same(t.unfold(d, size, step), every[at])
    assert t.unfold(d, size, step).storage().data_ptr() == t.storage().data_ptr()
    start = data.draw(st.integers(0, x.shape[d]))
    length = data.draw(st.integers(0, x.shape[d] - start))
    assert_same(t.narrow(d, start, length), np.take(x, range(start, start + length), d))


@given(st.data())
def test_expansions(data):
    x, t = data.draw(pairs("int16", data.draw(shapes(3))))
    wide = tuple(3 if n == 1 else n for n in (1, *x.shape))
    want = np.broadcast_to(x, wide)
    assert_view(t.expand_as(lamella.empty(wide)), t, want)
    assert_view(lamella.broadcast_to(t, wide), t, want)
    y, u = data.draw(pairs("int8", (2, 1)))
    if x.ndim <= 1:
        for got, w in zip(lamella.broadcast_tensors(t, u), np.broadcast_arrays(x, y), strict=True):
            assert_same(got, w)
    assert_same(lamella.ones(4).view_as(lamella.empty(2, 2)), np.ones((2, 2), np.float32))
    for f, g in (
        (lamella.atleast_1d, np.atleast_1d),
        (lamella.atleast_2d, np.atleast_2d),
        (lamella.atleast_3d, np.atleast_3d),
    ):
        assert_same(f(t), g(x))


def assert_pieces(got, of, expected):
    """Requires a tuple of views that equal numpy's, one for each."""
    assert type(got) is tuple and len(got) == len(expected)
    for view, want in zip(got, expected, strict=True):
        assert_view(view, of, want)


@given(st.data())
def test_pieces(data):
    x, t = data.draw(tensors(min_dims=1, max_size=6))
    d = dims(data.draw, x.ndim)
    n, k = x.shape[d], data.draw(st.integers(1, 7))
    assert_pieces(t.tensor_split(k, d), t, np.array_split(x, k, d))
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=3)))
    assert_pieces(t.tensor_split(cuts, d), t, np.array_split(x, cuts, d))
    sizes = np.diff([0, *cuts, n]).tolist()
    assert_pieces(t.split(sizes, d), t, np.split(x, cuts, d))
    assert_pieces(t.split_with_sizes(sizes, d), t, np.split(x, cuts, d))
    assert_pieces(t.split(k, d), t, np.split(x, range(k, max(n, 1), k), d))
    step = max(-(-n // k), 1)
    want = np.split(x, range(step, n, step), d) if n else [x] * k
    assert_pieces(t.chunk(k, d), t, want)
    assert_pieces(t.unbind(d), t, [np.moveaxis(x, d, 0)[i] for i in range(n)])
    if x.shape[0] % k == 0:
        assert_pieces(t.vsplit(k), t, np.vsplit(x, k)) if x.ndim > 1 else None
    assert_pieces(t.hsplit([1]), t, np.hsplit(x, [1]))


def test_pieces_are_views_with_one_version():
    t = lamella.zeros(4, 2)
    first, second = t.chunk(2)
    first.add_(1)
    assert t._version == second._version == 1 and t[:2].tolist() == [[1, 1], [1, 1]]
    for row in t.unbind():
        row.fill_(7)
    assert t.tolist() == [[7, 7]] * 4 and t._version == 5


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_meshgrid(indexing):
    arrays = [np.arange(3), np.arange(2), np.arange(4)]
    got = lamella.meshgrid(*[to_lamella(x) for x in arrays], indexing=indexing)
    for g, w in zip(got, np.meshgrid(*arrays, indexing=indexing), strict=True):
        assert_same(g, w)


@given(st.data())
def test_unflatten(data):
    x, t = data.draw(tensors(min_dims=1))
    d = dims(data.draw, x.ndim)
    assume(x.shape[d])
    sizes = data.draw(factorizations(x.shape[d])) or [1]
    want = x.reshape((*x.shape[: d % x.ndim], *sizes, *x.shape[d % x.ndim + 1 :]))
    assert_same(t.unflatten(d, sizes), want)


BAD_VIEWS = [
    (lambda t: t[0].diagonal(), "diagonal: argument 'self'"),
    (lambda t: t.narrow(0, 3, 0), "narrow: argument 'start'"),
    (lambda t: lamella.tensor(1).unbind(), "unbind: argument 'self': a zero-dim tensor"),
    (lambda t: t.expand_as(t[0]), "expand"),
]


@pytest.mark.parametrize("call, words", BAD_VIEWS)
def test_wrong_arguments_of_views(call, words):
    with pytest.raises((RuntimeError, IndexError), match=words):
        call(lamella.zeros(2, 3))


@given(st.data())
def test_bytes_as_another_dtype(data):
    names = ["uint8", "int16", "float32", "int64", "complex128", "bool"]
    of, to = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    shape = (*data.draw(shapes(2)), 16)
    x = np.arange(int(np.prod(shape)) * np.dtype(of).itemsize, dtype=np.uint8).view(of).reshape(shape)
    x = x[..., : data.draw(st.sampled_from([16, 8, 1]))]
    t = to_lamella(np.ascontiguousarray(np.broadcast_to(x, x.shape)))
    assume(to != "bool")
    if x.shape[-1] * np.dtype(of).itemsize % np.dtype(to).itemsize == 0:
        got = t.view(lt_dtype(to))
        assert_same(got, np.ascontiguousarray(x).view(to))
        assert got._base is t and got.data_ptr() == t.data_ptr()
    else:
        with pytest.raises(RuntimeError, match="view: argument 'dtype'"):
            t.view(lt_dtype(to))


def test_bytes_with_gaps_keep_their_size():
    t = lamella.arange(8, dtype=lamella.int32).view(2, 4).t()
    assert t.view(lamella.float32).stride() == (1, 4)
    with pytest.raises(RuntimeError, match="without gaps"):
        t.view(lamella.int64)
