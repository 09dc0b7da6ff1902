"""vmap against a loop over the samples: dimensions, levels, random numbers, views, writes, dtypes, refusals."""

import lamella
import pytest
from lamella import func, vmap
from lamella.testing import assert_close
from lamella.utils import _pytree as pytree


@pytest.fixture(autouse=True)
def no_level_stays_open():
    """The layers of the thread are the same before and after each test, and vmap works after it."""
    before = lamella._C._thread_layers()
    yield
    assert lamella._C._thread_layers() == before
    assert vmap(lambda x: x.sum())(lamella.ones(2, 3)).tolist() == [3, 3]


def normal(*shape, dtype=lamella.float64):
    lamella.manual_seed(sum(shape))
    return lamella.randn(*shape, dtype=dtype)


def loop(function, *args, in_dims=0, out_dims=0):
    """Returns the stacked results of the function's calls with each sample; ``in_dims`` is an int or a tuple."""
    dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
    [size, *_] = (a.shape[d] for a, d in zip(args, dims, strict=True) if d is not None)
    made = [
        function(*(a if d is None else a.select(d, i) for a, d in zip(args, dims, strict=True))) for i in range(size)
    ]
    leaves = [pytree.tree_flatten(m)[0] for m in made]
    places = pytree.tree_flatten(out_dims)[0] if isinstance(out_dims, tuple) else [out_dims] * len(leaves[0])
    stacked = [lamella.stack(list(parts), dim) for parts, dim in zip(zip(*leaves, strict=True), places, strict=True)]
    return pytree.tree_unflatten(stacked, pytree.tree_flatten(made[0])[1])


def check(function, *args, in_dims=0, out_dims=0, **kwargs):
    """Compares vmap with the loop: the results, and the arguments afterwards."""
    mine, theirs = [a.clone() for a in args], [a.clone() for a in args]
    found = vmap(function, in_dims, out_dims, **kwargs)(*mine)
    expected = loop(function, *theirs, in_dims=in_dims, out_dims=out_dims)
    for f, e in zip(pytree.tree_leaves(found), pytree.tree_leaves(expected), strict=True):
        assert_close(f, e)
    for m, t in zip(mine, theirs, strict=True):
        assert_close(m, t)
    return found


# ---- in_dims and out_dims ----------------------------------------------------------------------------------


@pytest.mark.parametrize("in_dim", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("out_dim", [0, 1, -1, -2])
def test_one_dim(in_dim, out_dim):
    check(lambda x: x.sin().cumsum(0)[0], normal(2, 3, 4), in_dims=in_dim, out_dims=out_dim)


@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (None, 1), (-1, 0), (1, -2), (-3, None)])
def test_dims_of_each_argument(in_dims):
    x, y = normal(3, 3, 3), normal(3, 3, 3) + 1
    check(lambda a, b: a * b - a, x, y, in_dims=in_dims)
    check(lambda a, b: a @ b, x, y, in_dims=in_dims, out_dims=-1)


def test_nestings_of_arguments_and_results():
    x, y, z = normal(2, 3), normal(3, 2), normal(3)

    def f(pair, named, rest):
        a, b = pair
        return {"sum": a + named["b"], "rest": (rest[0] * b, [a * 1, named["c"] + a])}

    found = vmap(f, ((0, 1), {"b": None, "c": 0}, [None]), {"sum": 1, "rest": (0, [-1, 0])})(
        (x, y), {"b": z, "c": x}, [z]
    )
    assert_close(found["sum"], (x + z).T.contiguous())
    assert_close(found["rest"][0], z * y.T)
    assert isinstance(found["rest"], tuple) and isinstance(found["rest"][1], list)
    assert_close(found["rest"][1][0], x.T.contiguous())
    assert_close(found["rest"][1][1], x + x)


def test_one_dim_stands_for_a_nesting():
    x = normal(2, 3)
    made = vmap(lambda p, n: (p[0] + n["x"], {"y": p[1]}), (0, None), (1, 0))((x, x * 2), {"x": x[0]})
    assert_close(made[0], (x + x[0]).T.contiguous())
    assert_close(made[1]["y"], x * 2)
    assert_close(vmap(lambda p: p[0] * p[1])((x, x)), x * x)
    assert_close(vmap(lambda x: (x, x), out_dims=(0, 1))(x)[1], x.T.contiguous())
    assert_close(vmap(lambda x: x * 2, out_dims=(1,))(x), x.T.contiguous() * 2)


def test_results_that_all_samples_share():
    x, shared = normal(2, 3), normal(3)
    assert_close(vmap(lambda x: shared * 2)(x), (shared * 2).expand(2, 3).contiguous())
    assert_close(vmap(lambda x: shared, out_dims=1)(x), shared[:, None].expand(3, 2).contiguous())
    both = vmap(lambda x: (x, shared * 2), out_dims=(0, None))(x)
    assert_close(both[1], shared * 2)
    assert vmap(lambda x: (x, None), out_dims=(0, None))(x)[1] is None


def test_keyword_arguments_are_not_mapped():
    x, w = normal(2, 3), normal(2, 3)
    assert_close(vmap(lambda x, w: (w * x).sum(), 0)(x, w=w), (w * x[:, None]).sum((1, 2)))
    assert_close(vmap(lambda x, *, power: x**power)(x, power=2), x * x)


def test_the_function_sees_samples():
    seen = []
    vmap(lambda x, y: seen.append((x.shape, x.ndim, x.dtype, x.numel(), len(x), y.shape)) or x, (1, None))(
        normal(2, 3), normal(4)
    )
    assert seen == [((2,), 1, lamella.float64, 2, 2, (4,))]


def test_names_of_functions():
    def documented(x):
        """Doubles."""
        return x * 2

    assert vmap(documented).__name__ == "documented" and vmap(documented).__doc__ == "Doubles."
    assert vmap is func.vmap


# ---- levels ------------------------------------------------------------------------------------------------


def test_levels_within_levels():
    x, y = normal(2, 3, 4), normal(4)
    assert_close(vmap(vmap(vmap(lambda a: a.exp())))(x), x.exp())
    assert_close(vmap(vmap(lambda a: a.sum(), 1), 0, 1)(x), x.sum(1).T.contiguous())
    assert_close(vmap(vmap(lambda a, b: a * b, (0, None)), (0, None))(x, y), x * y)
    assert_close(vmap(lambda a: vmap(lambda b: a @ b, 1)(x[0].T.contiguous()[:, :2]))(x[:, 0]), x[:, 0] @ x[0, :2].T)


@pytest.mark.parametrize("outer", [0, 1, -1])
@pytest.mark.parametrize("inner", [0, -1])
def test_all_pairs_of_two_lists(outer, inner):
    x, y = normal(3, 3), normal(3, 3) * 2
    found = vmap(lambda a: vmap(lambda b: (a * b).sum(), inner)(y), outer)(x)
    expected = (x.movedim(outer, 0)[:, None] * y.movedim(inner, 0)[None]).sum(-1)
    assert_close(found, expected)


def test_samples_of_the_outer_level_in_the_inner_one():
    x, y = normal(2, 3), normal(4)

    def outer(a):
        scale = a.sum()
        inner = vmap(lambda b: (b * scale, scale * 1, b + 1))(y)
        return inner[0].sum() + a.prod(), inner[1], inner[2]

    found = vmap(outer)(x)
    scale = x.sum(1)
    assert_close(found[0], scale * y.sum() + x.prod(1))
    assert_close(found[1], scale[:, None].expand(2, 4).contiguous())
    assert_close(found[2], (y + 1).expand(2, 4).contiguous())


def test_an_inner_level_over_a_tensor_of_the_outer_one():
    x = normal(2, 3, 4)
    assert_close(vmap(lambda a: vmap(lambda b: b - a.mean(0), 0)(a))(x), x - x.mean(1, keepdim=True))
    assert_close(vmap(lambda a: vmap(lambda b, c: b @ c, (None, 1))(a.T, a), 1)(x), vmap(lambda a: (a.T @ a).T, 1)(x))


def test_writes_of_the_inner_level_into_its_own_tensors():
    x, y = normal(2, 3), normal(4, 3)

    def inner(a, b):
        c = b * a
        c.add_(a)
        c[0] = a[1]
        return c

    found = vmap(lambda a: vmap(inner, (None, 0))(a, y))(x)
    expected = lamella.stack([loop(inner, a, y, in_dims=(None, 0)) for a in x])
    assert_close(found, expected)
    with pytest.raises(RuntimeError, match="all samples share"):
        vmap(lambda a: vmap(lambda b: a.add_(b))(y))(x)
    copied = vmap(lambda a: vmap(lambda b: b.clone().add_(a))(y))(x)
    assert_close(copied, lamella.stack([y + a for a in x]))


# ---- chunks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 5, 7])
def test_chunks(chunk_size):
    x, y = normal(3, 5), normal(5, 3)
    calls = []

    def f(a, b):
        calls.append(a.shape)
        return a * b, {"dot": a @ b}

    found = vmap(f, (1, 0), (1, 0), chunk_size=chunk_size)(x, y)
    assert_close(found[0], x * y.T)
    assert_close(found[1]["dot"], (x.T * y).sum(1))
    assert calls == [(3,)] * -(-5 // chunk_size)
    shared = vmap(lambda a: (a, y), (1,), (0, None), chunk_size=chunk_size)(x)
    assert_close(shared[1], y)
    assert_close(vmap(vmap(lambda a: a * 2, chunk_size=chunk_size), chunk_size=2)(x), x * 2)


# ---- random numbers ----------------------------------------------------------------------------------------

DRAWS = {
    "rand": lambda x: lamella.rand(3),
    "rand of a box's sizes": lambda x: x + lamella.rand(x.shape),
    "randn": lambda x: lamella.randn(2, 3),
    "randint": lambda x: lamella.randint(0, 1 << 40, (3,)),
    "randperm": lambda x: lamella.randperm(50),
    "normal": lambda x: lamella.normal(0.0, 1.0, (3,)),
    "rand_like": lambda x: lamella.rand_like(x),
    "randn_like": lambda x: lamella.randn_like(x),
    "normal_": lambda x: lamella.zeros_like(x).normal_(),
    "uniform_": lambda x: x.new_zeros(4).uniform_(),
    "bernoulli_": lambda x: x.new_zeros(60).bernoulli_(0.5),
    "bernoulli of a shared tensor": lambda x: lamella.full((60,), 0.5).bernoulli(),
    "dropout of a shared tensor": lambda x: lamella.nn.functional.dropout(lamella.ones(60)),
    "multinomial": lambda x: lamella.multinomial(lamella.ones(60), 30),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_random_numbers(draw):
    x = lamella.ones(4, 3, dtype=lamella.float64)
    with pytest.raises(RuntimeError, match="random"):
        vmap(draw)(x)
    same = vmap(draw, randomness="same")(x)
    assert (same == same[0]).all()
    different = vmap(draw, randomness="different")(x)
    assert all((a != b).any() for i, a in enumerate(different) for b in different[:i])
    assert same.shape == different.shape and same.dtype == different.dtype
    assert (vmap(draw, randomness="same")(x) != same).any(), "the next call draws others"


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_dropout_keeps_the_mean(randomness):
    x = lamella.ones(3, 2000)
    made = vmap(lambda x: lamella.nn.functional.dropout(x, 0.25), randomness=randomness)(x)
    assert ((made == 0) | (made - 4 / 3).abs().lt(1e-6)).all()
    assert (made.mean(1) - 1).abs().max() < 0.1
    assert ((made[0] == made[1]).all().item()) == (randomness == "same")
    layer = lamella.nn.Dropout(0.5).eval()
    assert_close(vmap(layer)(x), x)


def test_probabilities_that_differ_between_samples():
    p = lamella.tensor([0.0, 1.0, 0.5]).unsqueeze(1).expand(3, 1000)
    made = vmap(lambda p: p.bernoulli(), randomness="different")(p)
    assert made[0].sum() == 0 and made[1].sum() == 1000 and 300 < made[2].sum() < 700
    with pytest.raises(RuntimeError, match="differs between samples"):
        vmap(lambda p: p.bernoulli(), randomness="same")(p)


def test_a_shared_tensor_cannot_get_different_random_numbers():
    shared, x = lamella.zeros(3), lamella.zeros(2, 3)
    with pytest.raises(RuntimeError, match="all samples share"):
        vmap(lambda x: x + shared.normal_(), randomness="different")(x)
    assert (shared == 0).all()
    made = vmap(lambda x: x + shared.normal_(), randomness="same")(x)
    assert_close(made, shared.expand(2, 3).contiguous())


@pytest.mark.parametrize("outer", ["same", "different"])
@pytest.mark.parametrize("inner", ["same", "different"])
@pytest.mark.parametrize("draw", ["rand", "normal_", "x + rand"])
def test_random_numbers_at_two_levels(outer, inner, draw):
    draw = {
        "rand": lambda x: lamella.rand(5),
        "normal_": lambda x: x.new_zeros(5).normal_(),
        "x + rand": lambda x: x + lamella.rand(5),
    }[draw]
    made = vmap(vmap(draw, randomness=inner), randomness=outer)(lamella.ones(2, 3, 5))
    assert made.shape == (2, 3, 5)
    assert (made[0, 0] == made[0, 1]).all().item() == (inner == "same")
    assert (made[0, 0] == made[1, 0]).all().item() == (outer == "same")


def test_an_outer_level_refuses_random_numbers_of_an_inner_one():
    with pytest.raises(RuntimeError, match="random"):
        vmap(vmap(lambda x: x + lamella.rand(()), randomness="same"))(lamella.ones(2, 3))
    with pytest.raises(RuntimeError, match="random"):
        vmap(vmap(lambda x: x + lamella.rand(()), randomness="different"))(lamella.ones(2, 3))


def test_a_seed_gives_the_same_numbers_again():
    def draw():
        lamella.manual_seed(3)
        return vmap(lambda x: x + lamella.rand(3), randomness="different")(lamella.zeros(4, 3))

    assert_close(draw(), draw())


# ---- views, writes, factories ------------------------------------------------------------------------------

VIEWS = {
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(2, 0, 1),
    "movedim": lambda x: x.movedim(-1, 0),
    "mT": lambda x: x.mT,
    "select": lambda x: x.select(1, -1),
    "narrow": lambda x: x.narrow(0, 1, 1),
    "slices": lambda x: x[:, 1:, ::2],
    "None and ...": lambda x: x[None, ..., 0],
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x[:1].squeeze(),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(-1, (2, 2)),
    "expand": lambda x: x[0].expand(2, -1, -1),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "view": lambda x: x.contiguous().view(-1, 4),
    "reshape": lambda x: x.reshape(4, -1),
    "chunk": lambda x: x.chunk(2, 1)[1],
    "split": lambda x: x.split([1, 3], -1)[1],
    "unbind": lambda x: x.unbind(1)[0],
    "view_as": lambda x: x.contiguous().view_as(x.new_zeros(6, 4)),
    "detach": lambda x: x.detach(),
    "a view of a view": lambda x: x.transpose(0, 2)[1:].diagonal()[..., None],
}


@pytest.mark.parametrize("in_dim", [0, 2])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views(view, in_dim):
    check(view, normal(5, 2, 3, 4).movedim(0, in_dim).contiguous(), in_dims=in_dim)
    check(view, normal(2, 3, 5, 4).movedim(2, in_dim), in_dims=in_dim)


MANY_NAMES = {"expand", "unfold"}  # views with several places for one element
MAYBE_COPIES = {"view", "view_as", "reshape"}


@pytest.mark.parametrize("view", [n for n in VIEWS if n not in MANY_NAMES | MAYBE_COPIES])
@pytest.mark.parametrize("in_dim", [0, 2])
def test_writes_through_views(view, in_dim):
    def f(x):
        part = VIEWS[view](x)
        part.mul_(2)
        part += x.sum()
        return x * 1, part

    check(f, normal(5, 2, 3, 4).movedim(0, in_dim).contiguous(), in_dims=in_dim)


WRITES = {
    "add_": lambda x, y: x.add_(y, alpha=2),
    "mul_ of a shared tensor": lambda x, y: x.mul_(lamella.arange(3.0, dtype=x.dtype)),
    "copy_": lambda x, y: x.copy_(y),
    "copy_ of a broadcast one": lambda x, y: x.copy_(y[0]),
    "fill_": lambda x, y: x.fill_(2),
    "fill_ with a sample": lambda x, y: x.fill_(y[0]),
    "zero_": lambda x, y: x.zero_(),
    "clamp_": lambda x, y: x.clamp_(min=0),
    "relu_": lambda x, y: lamella.relu_(x),
    "an element": lambda x, y: x.__setitem__(0, y[1]),
    "a slice": lambda x, y: x.__setitem__(slice(1, None), y[:2]),
    "indices": lambda x, y: x.__setitem__(lamella.tensor([0, 2]), y[1:]),
    "indices of samples": lambda x, y: x.__setitem__(y.argmax()[None], y.sum()),
    "a mask that is shared": lambda x, y: x.__setitem__(lamella.tensor([True, False, True]), 7),
    "masked_fill_": lambda x, y: x.masked_fill_(y > 0, 3),
    "index_add_": lambda x, y: x.index_add_(0, lamella.tensor([2, 2]), y[:2]),
    "scatter_": lambda x, y: x.scatter_(0, y.argsort(), y),
    "sort, then": lambda x, y: x.sub_(y.sort().values).abs_(),
    "out=": lambda x, y: lamella.add(x, y, out=x),
    "where": lambda x, y: x.copy_(lamella.where(y > 0, x, y)),
    "transposed": lambda x, y: x[None].T.add_(y[:, None]),
    "a new one": lambda x, y: lamella.zeros_like(x).add_(y).mul_(x),
    "new_zeros": lambda x, y: x.new_zeros(3).copy_(y),
    "empty_like": lambda x, y: lamella.empty_like(y).copy_(x),
    "full_like": lambda x, y: lamella.full_like(x, 2).sub_(y),
    "new_tensor": lambda x, y: x.new_tensor([1.0, 2.0, 3.0]) * y,
    "zeros": lambda x, y: lamella.zeros(3, dtype=x.dtype) + y,
    "zeros that a shared tensor fills": lambda x, y: lamella.zeros(3, dtype=x.dtype).add_(1) * y,
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("in_dims", [(0, 0), (1, 0), (0, -1)])
def test_writes(write, in_dims):
    def f(x, y):
        made = write(x, y)
        return x * 1 if made is None else made * 1

    check(f, normal(3, 3), normal(3, 3) + 0.5, in_dims=in_dims)


def test_writes_into_shared_tensors():
    x, shared = normal(2, 3), lamella.zeros(3, dtype=lamella.float64)
    for write in (
        lambda x: shared.add_(x),
        lambda x: shared.copy_(x),
        lambda x: shared.__setitem__(0, x[0]),
        lambda x: lamella.zeros(3, dtype=x.dtype).mul_(x),
        lambda x: lamella.sin(x, out=shared),
        lambda x: shared[1:].sub_(x[1:]),
        lambda x: shared.index_add_(0, lamella.tensor([0]), x[:1]),
        lambda x: shared.fill_(x[0]),
    ):
        with pytest.raises(RuntimeError, match="share"):
            vmap(write)(x)
    assert (shared == 0).all()
    vmap(lambda x: (shared.add_(1), x)[1])(x)
    assert (shared == 1).all(), "a write of shared values runs once"


# ---- dtypes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [(), (2,), (1, 2)])
@pytest.mark.parametrize("dtypes", [
    (lamella.float64, lamella.float32), (lamella.float32, lamella.float64), (lamella.int64, lamella.float32),
    (lamella.float32, lamella.int64), (lamella.int64, lamella.int32), (lamella.int32, lamella.int64),
    (lamella.bool, lamella.uint8), (lamella.float16, lamella.bfloat16), (lamella.complex64, lamella.float64),
])  # fmt: skip
@pytest.mark.parametrize("in_dims", [(0, None), (0, 0), (None, 0)])
def test_samples_without_dimensions_promote_as_in_the_loop(dtypes, other, in_dims):
    x = lamella.tensor([1, 0, 3]).to(dtypes[0])
    y = lamella.arange(1, 4).to(dtypes[1]).view(3, *[1] * len(other)).expand(3, *other).clone()
    x, y = (t if d == 0 else t[0] for t, d in zip((x, y), in_dims, strict=True))
    check(lambda a, b: (a + b, b * a, lamella.where(b != 0, a, b), a * 2.5, b + 1), x, y, in_dims=in_dims)
    check(lambda a, b: a == b, x, y, in_dims=in_dims)
    check(lambda a, b: b.new_zeros(2, 2).add(a).mul(b.sum()), x, y, in_dims=in_dims)


def test_writes_keep_the_dtype():
    x, y = lamella.arange(3.0), lamella.arange(6.0, dtype=lamella.float64).reshape(3, 2)
    check(lambda a, b: lamella.ones_like(b, dtype=lamella.float32).mul_(b) + a, x, y)
    with pytest.raises(RuntimeError):
        vmap(lambda a: lamella.ones_like(a, dtype=lamella.int64).add_(a))(x)
    for error in (lambda a: a.long().add_(a), lambda a: a.long().mul_(1.5)):
        with pytest.raises(RuntimeError):
            error(x)
        with pytest.raises(RuntimeError):
            vmap(error)(x)


def test_batches_without_samples():
    empty = lamella.zeros(0, 3, dtype=lamella.float64)
    assert vmap(lambda x: x * 2)(empty).shape == (0, 3)
    assert vmap(lambda x: x.sum())(empty).shape == (0,)
    assert vmap(lambda x: x @ lamella.ones(3, 2, dtype=x.dtype), out_dims=1)(empty).shape == (2, 0)
    assert vmap(lambda x: (x, lamella.ones(2)), 0, (0, 1))(empty)[1].shape == (2, 0)
    assert vmap(vmap(lambda x: x.exp()))(empty).shape == (0, 3)
    assert vmap(func.grad(lambda x: (x * x).sum()))(empty).shape == (0, 3)
    assert vmap(lambda x: lamella.linalg.qr(x)[1])(lamella.zeros(0, 3, 2)).shape == (0, 2, 2)
    assert vmap(lambda x: x + lamella.rand(3), randomness="different")(empty).shape == (0, 3)
    assert vmap(lambda x: x.max(0).values, 1)(lamella.zeros(2, 0)).shape == (0,)


def test_printing():
    texts = []
    found = vmap(lambda x: texts.append((repr(x), str(x))) or x * 2)(lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert "tensor(" in texts[0][0] and "4." in texts[0][0] and texts[0][0] == texts[0][1]
    assert_close(found, lamella.tensor([[2.0, 4.0], [6.0, 8.0]]))
    vmap(vmap(lambda x: texts.append(repr(x)) or x))(lamella.tensor([[1.0, 2.0], [3.0, 5.0]]))
    assert "5." in texts[1]


@pytest.mark.parametrize("dtype", [lamella.float32, lamella.float64, lamella.int64, lamella.complex64])
def test_a_condition_without_dimensions_stays_a_bool(dtype):
    x = lamella.randn(5, 4).to(dtype)
    found = vmap(lambda x, c: lamella.where(c, x, -x))(x, lamella.arange(5) > 2)
    assert found.dtype == dtype and lamella.equal(found, lamella.where((lamella.arange(5) > 2)[:, None], x, -x))


def test_jacobians_of_functions_of_numbers():
    x = lamella.tensor([1.5, 2.0])
    for jacobian in (lamella.func.jacfwd, lamella.func.jacrev):
        assert lamella.allclose(vmap(jacobian(lambda x: x**3))(x), 3 * x**2)
        assert lamella.allclose(vmap(jacobian(jacobian(lambda x: x**3)))(x), 6 * x)
