"""Views against numpy: shapes, elements, shared storage, root tensors and versions."""

import lattis
import numpy as np
import pytest
from arrays import assert_same, layouts, pairs, shapes, to_lattis, to_numpy
from hypothesis import assume, given
from hypothesis import strategies as st


def assert_view(view, of, expected):
    """`view` shows the numpy view's elements at the numpy view's places in memory."""
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
    """A shape of `count` elements, perhaps with ones in it."""
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
    t = lattis.zeros(shape).permute(list(range(len(shape)))[::-1])
    assert tuple(t.view(other).shape) == other and tuple(t.reshape(other).shape) == other


@given(st.data())
def test_one_size_may_be_inferred(data):
    x = data.draw(shapes(3).filter(all))
    t = lattis.zeros(x)
    shape = data.draw(factorizations(t.numel()))
    assume(shape)
    at = data.draw(st.integers(0, len(shape) - 1))
    asked = [-1 if i == at else n for i, n in enumerate(shape)]
    assert tuple(t.view(asked).shape) == tuple(shape)


@pytest.mark.parametrize("shape", [(5,), (-1, -1), (-1, 4), (-2, 3), (7, 0), (2**62, 2**62)])
def test_view_refuses_other_sizes(shape):
    t = lattis.arange(6)
    for f in (t.view, t.reshape):
        with pytest.raises(RuntimeError, match="(view|reshape): argument '(size|shape)'"):
            f(shape)
    with pytest.raises(RuntimeError, match="ambiguous"):
        lattis.zeros(0, 3).view(-1, 0)


@given(tensors(max_dims=2))
def test_t(pair):
    x, t = pair
    assert_view(t.t(), t, x.T)
    assert_view(lattis.t(t), t, x.T)


def test_t_of_three_dimensions():
    with pytest.raises(RuntimeError, match=r"t: argument 'self'.*2 dimensions.*\(1, 2, 3\)"):
        lattis.ones(1, 2, 3).t()


@given(tensors())
def test_reversed_dimensions(pair):
    x, t = pair
    assert_view(t.T, t, x.T)


@given(st.data())
def test_transpose(data):
    x, t = data.draw(tensors(min_dims=1))
    i, j = dims(data.draw, x.ndim), dims(data.draw, x.ndim)
    assert_view(t.transpose(i, j), t, np.swapaxes(x, i, j))
    assert_view(lattis.transpose(t, i, j), t, np.swapaxes(x, i, j))


@given(st.data())
def test_permute(data):
    x, t = data.draw(tensors())
    order = data.draw(st.permutations(range(x.ndim)))
    asked = [d - x.ndim if data.draw(st.booleans()) else d for d in order]
    assert_view(t.permute(asked), t, np.transpose(x, order))
    assert_view(lattis.permute(t, asked), t, np.transpose(x, order))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda t: t.permute(0, 0), RuntimeError),
        (lambda t: t.permute(0), RuntimeError),
        (lambda t: t.permute(0, 2), IndexError),
        (lambda t: t.transpose(0, 2), IndexError),
        (lambda t: t.transpose(-3, 0), IndexError),
        (lambda t: t.select(2, 0), IndexError),
        (lambda t: t.select(0, 2), IndexError),
        (lambda t: t.select(0, -3), IndexError),
        (lambda t: t.squeeze(2), IndexError),
        (lambda t: t.unsqueeze(3), IndexError),
        (lambda t: t.unsqueeze(-4), IndexError),
        (lambda t: t.expand(3, 3), RuntimeError),
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
    t = lattis.zeros(2, 3)
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
    assert_view(lattis.ops.aten.slice(t, dim, start, end, step), t, x[tuple(index)])


@pytest.mark.parametrize("step", [0, -1])
def test_slice_steps_are_positive(step):
    with pytest.raises(ValueError, match="slice: argument 'step'"):
        lattis.ops.aten.slice(lattis.ones(3), 0, 0, 3, step)


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
    t = to_lattis(flat)
    view = layout.tensor(t)
    assert_view(view, t, layout.array(flat))
    assert view.storage_offset() == layout.offset and view.stride() == layout.strides
    again = view.t()[:1] if view.ndim == 2 else view
    assert_view(layout.tensor(again), t, layout.array(flat))  # offsets count from the storage, not from the view


def test_as_strided_keeps_the_offset_unless_told():
    t = lattis.arange(6)[2:]
    assert t.as_strided((2,), (1,)).tolist() == [2, 3]
    assert t.as_strided((2,), (1,), 0).tolist() == [0, 1]


def test_detach_shares_storage_and_version():
    t = lattis.ones(3)
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
    t = lattis.arange(12).view(3, 4).clone()
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
    t = lattis.zeros(3, 4, 2)
    v = t
    for _ in range(data.draw(st.integers(1, 6))):
        v = data.draw(st.sampled_from([lambda v: v.T, lambda v: v[None], lambda v: v[..., :1], lambda v: v.squeeze()]))(
            v
        )
        assert v._base is t
    version = t._version
    v.add_(1)
    assert t._version == version + 1
    assert lattis.sum(t).item() == v.numel()


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_views_work_on_meta(make):
    t, m = lattis.zeros(3, 4), lattis.empty(3, 4, device="meta")
    assert make(m).shape == make(t).shape and make(m).stride() == make(t).stride()
    assert make(m)._base is m


def test_a_view_survives_its_base():
    v = lattis.arange(10)[5:]
    assert lattis.zeros(1000).numel() == 1000  # memory that could be reused
    assert v.tolist() == [5, 6, 7, 8, 9]


def test_contiguous():
    t = lattis.arange(6).view(2, 3)
    assert t.contiguous() is t
    c = t.t().contiguous()
    assert c.is_contiguous() and c.tolist() == [[0, 3], [1, 4], [2, 5]] and c.data_ptr() != t.data_ptr()
