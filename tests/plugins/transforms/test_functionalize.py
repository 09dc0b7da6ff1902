"""functionalize: values and writes of a function beside the function itself, nestings, refusals."""

import copy

import lamella
import numpy as np
import pytest
from lamella import func, nn, vmap
from lamella.func import functionalize
from lamella.library import custom_op
from lamella.utils._python_dispatch import TorchDispatchMode


@pytest.fixture(autouse=True)
def no_level_stays_open():
    before = lamella._C._thread_layers()
    yield
    assert lamella._C._thread_layers() == before
    assert functionalize(lambda x: x.add_(1))(lamella.zeros(1)).item() == 1


def tensors(*shape, seed=0):
    return lamella.randn(*shape, generator=lamella.Generator().manual_seed(seed))


def in_place(x):
    x.mul_(2)
    x[0] = 7
    return x.sum()


def views(x):
    row, flat = x[1], x.view(-1)
    row.add_(1)
    flat[2:5].mul_(3)
    x.t()[0].neg_()
    return row, flat, x.t().contiguous()


def made_inside(x):
    out = lamella.zeros(2, 3)
    out[0].copy_(x[0])
    out.diagonal().fill_(5)
    halves = out.split(1)
    halves[1].sub_(x[1])
    return out, halves[0].clone()


def of_other_dtypes(x):
    z = lamella.complex(x, x * 2)
    z.real.add_(1)
    z.imag[0] = 3
    bits = x.view(lamella.int32)
    bits[1].bitwise_and_(0)
    return z, x


def expanded(x):
    y = x.unsqueeze(0).expand(4, *x.shape)
    x.add_(1)
    return y.sum(0)


def swapped(x):
    y = x.clone()
    y.t_()
    y[0].add_(2)
    y.unsqueeze_(0)
    return y, y.squeeze(0).t()


def twice(x):
    a = x.detach()
    a.add_(1)
    b = x.view(x.shape)
    b.mul_(2)
    return x + a + b


FUNCTIONS = [in_place, views, made_inside, of_other_dtypes, expanded, swapped, twice]


def leaves_of(made):
    return list(made) if isinstance(made, tuple) else [made]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
def test_values_and_writes(function, remove, layout):
    def given():
        x = tensors(3, 3)
        if layout == "rows" or function in (views, of_other_dtypes):
            return x
        return x.t() if layout == "columns" else lamella.stack([x, x], -1)[..., 0]

    x, y = given(), given()
    right, found = function(x), functionalize(function, remove=remove)(y)
    for f, r in zip(leaves_of(found), leaves_of(right), strict=True):
        assert not f.is_opaque and f.dtype == r.dtype and f.shape == r.shape
        assert np.array_equal(f.numpy(), r.numpy(), equal_nan=True)
    assert lamella.equal(x, y) and x.stride() == y.stride()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_samples(function):
    """Mapped over samples, a functionalized function gives what a loop gives."""
    x = tensors(4, 3, 3)
    y = x.clone()
    right = [leaves_of(function(row)) for row in x]
    found = leaves_of(vmap(functionalize(function))(y))
    for f, rows in zip(found, zip(*right, strict=True), strict=True):
        assert lamella.allclose(f, lamella.stack(list(rows)))
    assert lamella.allclose(x, y)


def test_a_function_that_writes_to_a_tensor_made_inside_can_be_mapped():
    def squares(x):
        out = lamella.zeros(2)
        out[0] = x[0] * x[0]
        return out

    x = lamella.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(RuntimeError, match="which all samples share"):
        vmap(squares)(x)
    assert vmap(functionalize(squares))(x).tolist() == [[1, 0], [9, 0]]


def test_a_tensor_outside_that_is_written():
    total, part = lamella.zeros(3), lamella.zeros(3)
    view = part[1:]

    def add(x):
        total.add_(x)
        view.add_(x[1:])
        view[0] = 9
        return part * 1

    found = functionalize(add)(lamella.ones(3))
    assert total.numpy().tolist() == [1, 1, 1] and part.numpy().tolist() == [0, 9, 1] == found.tolist()
    assert not total.is_opaque and not view.is_opaque and view.tolist() == [9, 1]
    with pytest.raises(RuntimeError, match="copy_: argument 'src' differs between samples"):
        vmap(functionalize(add))(lamella.ones(2, 3))
    assert total.tolist() == [1, 1, 1] and not total.is_opaque


@pytest.mark.parametrize(
    "write",
    [
        lambda c: c[0].add_(1),
        lambda c: c.__setitem__(0, 5.0),
        lambda c: c.view(-1).mul_(2),
        lambda c: c.reshape(6)[1:].add_(1),
        lambda c: c.T.unbind()[1].neg_(),
        lambda c: c.diagonal().fill_(4),
        lambda c: c.detach().add_(1),
        lambda c: c.data.mul_(3),
        lambda c: nn.init.constant_(c, 4.0),
        lambda c: c.view(lamella.int32)[0].zero_(),
    ],
)
def test_views_of_a_tensor_outside_that_are_made_inside(write):
    one, other = tensors(2, 3), tensors(2, 3)
    seen = functionalize(lambda x: (write(one), one * 1)[1])(lamella.ones(1))
    write(other)
    assert lamella.equal(one, other) and lamella.equal(seen, other)


def test_copies_of_tensors_stay_apart():
    """A tensor that was copied, and one that it was copied to, have values of their own."""

    def swap(a, b):
        t = b.clone()
        b.copy_(a)
        a.copy_(t)

    def kept(a):
        o = lamella.zeros(2)
        o.copy_(a)
        a.zero_()
        return o

    a, b = lamella.ones(2), lamella.zeros(2)
    functionalize(swap)(a, b)
    assert a.tolist() == [0, 0] and b.tolist() == [1, 1]
    assert functionalize(kept)(b).tolist() == [1, 1] and b.tolist() == [0, 0]
    c = lamella.ones(2)
    found = functionalize(lambda x: lamella.empty(2).copy_(c))(c)
    found.add_(5)
    assert c.tolist() == [1, 1]
    assert functionalize(lambda x: (c.copy_(c), c * 2)[1])(c).tolist() == [2, 2]
    d = lamella.zeros(2)
    assert functionalize(lambda x: (d.copy_(c), c.copy_(d), c * 1)[2])(c).tolist() == [1, 1] == d.tolist()


@pytest.mark.parametrize(
    "function, right",
    [
        (lambda x: lambda a, b: (a.add_(1), x.mul_(3)), 3.0),
        (lambda x: lambda a, b: (x.add_(2), a.mul_(4), b.add_(1)), 9.0),
        (lambda x: lambda a, b: (b.add_(1), a.add_(10)), 11.0),
    ],
)
@pytest.mark.parametrize("other", [lambda x: x[:2], lambda x: x.detach(), lambda x: x.view(2, 2).t(), lambda x: x])
def test_arguments_and_tensors_outside_that_share_memory(function, right, other):
    one, same = lamella.zeros(4), lamella.zeros(4)
    function(same)(same, other(same))
    functionalize(function(one))(one, other(one))
    assert lamella.equal(one, same) and one[0].item() == right


def test_a_tensor_of_an_outer_level_that_is_written_within_an_inner_one():
    def f(x):
        y = x.clone()
        functionalize(lambda z: y.mul_(2).add_(z))(x)
        return y * 1

    x = tensors(2, 3)
    assert lamella.equal(functionalize(f)(x), x * 3) and lamella.allclose(vmap(f)(x), x * 3)
    assert lamella.allclose(func.jvp(f, (x,), (x,))[1], x * 3)
    outer = lamella.zeros(2)

    def raises(x):
        outer.add_(5)
        with pytest.raises(KeyError):
            functionalize(lambda z: (outer.add_(1), {}["no"]))(x)
        return outer * 1

    assert functionalize(raises)(x).tolist() == [5, 5] == outer.tolist()


def test_a_leaf_that_is_written_under_no_grad():
    w = lamella.ones(2, requires_grad=True)

    def step(x):
        with lamella.no_grad():
            w.sub_(x)

    functionalize(step)(lamella.ones(2))
    assert w.tolist() == [0, 0] and w.requires_grad and w.is_leaf
    with pytest.raises(RuntimeError, match="a leaf"):
        functionalize(lambda x: w.mul_(x * w))(lamella.ones(2))
    assert not (lamella.ones(2) + 1).is_opaque and w.tolist() == [0, 0]


def test_a_step_of_training():
    one = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
    other = copy.deepcopy(one)
    x = tensors(5, 3)

    def step(model, optimizer):
        def run(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        return run

    plain = step(other, lamella.optim.SGD(other.parameters(), 0.1, momentum=0.9))
    functional = functionalize(step(one, lamella.optim.SGD(one.parameters(), 0.1, momentum=0.9)))
    for _ in range(3):
        assert lamella.allclose(functional(x), plain(x), rtol=1e-4)
    for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True):
        assert not a.is_opaque and lamella.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_an_argument_that_is_expanded():
    base = lamella.arange(3.0)
    x = base.expand(2, 3)
    assert functionalize(lambda x: x.sum())(x).item() == 6 and x.stride() == (0, 1)
    with pytest.raises(RuntimeError, match="add_: elements of the tensor that is written share memory"):
        functionalize(lambda x: x.add_(1))(x)
    with pytest.raises(RuntimeError, match="add_: elements of the tensor that is written share memory"):
        functionalize(lambda y: base.expand(2, 3).add_(1))(x)
    assert base.tolist() == [0, 1, 2]


def test_views_in_another_dtype_of_a_base_of_another_shape():
    def f(x):
        y = x * 1
        lamella.view_as_complex(y.reshape(3, 2)).mul_(2)
        return y

    def bits(x):
        y = f(x)
        y.view(lamella.int32)[0].zero_()
        return y

    x = tensors(6)
    assert lamella.equal(functionalize(bits)(x), bits(x))
    assert all(lamella.equal(found, f(x)) for found in func.jvp(f, (x,), (x,)))
    assert all(lamella.equal(found, f(x)) for found in func.jvp(functionalize(f), (x,), (x,)))


def test_tensors_of_other_layers_stay_what_they_are():
    sparse = lamella.eye(2).to_sparse()
    assert functionalize(lambda x: (x.to_sparse() * 2).to_dense())(lamella.eye(2)).tolist() == [[2, 0], [0, 2]]
    assert functionalize(lambda x: (sparse * x.sum()).to_dense())(lamella.ones(3)).tolist() == [[3, 0], [0, 3]]


def test_functions_that_draw_in_place_can_be_mapped():
    x = lamella.zeros(50, 2)
    found = vmap(functionalize(lambda x: lamella.empty(2).uniform_() + x), randomness="different")(x)
    assert found.unique().numel() == 100 and 0 <= found.min() and found.max() <= 1
    same = vmap(functionalize(lambda x: lamella.empty(2).uniform_()), randomness="same")(x)
    assert same.unique().numel() == 2
    with pytest.raises(RuntimeError, match="uniform_ draws random numbers"):
        vmap(functionalize(lambda x: lamella.empty(2).uniform_()))(x)


def test_nothing_is_written_if_the_function_raises():
    x, other = lamella.zeros(2), lamella.zeros(2)

    def fail(x):
        x.add_(1)
        other.add_(x)
        raise KeyError("stop")

    with pytest.raises(KeyError):
        functionalize(fail)(x)
    assert x.tolist() == other.numpy().tolist() == [0, 0]


def test_an_argument_that_is_given_twice():
    x = lamella.ones(2)
    found = functionalize(lambda a, b, *, c: (a.add_(1), b + c["x"]))(x, x, c={"x": x})
    assert found[0].tolist() == [2, 2] and found[1].tolist() == [4, 4] and x.tolist() == [2, 2]


def test_sizes_that_a_function_changes():
    x = tensors(2, 3)
    y = x.clone()
    functionalize(lambda x: x.t_().add_(1))(x)
    assert lamella.equal(x, y.t() + 1) and x.shape == (3, 2)
    found = functionalize(lambda x: x.resize_(2))(tensors(4))
    assert lamella.equal(found, tensors(4)[:2])
    out = functionalize(lambda x: lamella.add(x, x, out=lamella.empty(0)))(lamella.ones(2))
    assert out.tolist() == [2, 2]


def test_batch_norm_keeps_its_statistics():
    one, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    x = tensors(5, 3)
    assert lamella.allclose(functionalize(one)(x), other(x))
    for name, buffer in other.named_buffers():
        assert lamella.allclose(dict(one.named_buffers())[name], buffer), name
    assert one.num_batches_tracked.numpy() == 1


def polynomial(x):
    y = x * x
    y.mul_(x)
    y[0].add_(x[1])
    return y.sin_().sum()


def test_derivatives():
    x = tensors(4)

    def plain(x):
        y = x**3
        return lamella.cat([(y[0] + x[1]).reshape(1), y[1:]]).sin().sum()

    right = func.grad(plain)(x)
    assert lamella.allclose(func.grad(functionalize(polynomial))(x), right)
    assert lamella.allclose(functionalize(func.grad(polynomial))(x), right)
    assert lamella.allclose(func.hessian(functionalize(polynomial))(x), func.hessian(plain)(x), atol=1e-5)
    direction = tensors(4, seed=1)
    found = func.jvp(functionalize(polynomial), (x,), (direction,))[1]
    assert lamella.allclose(found, (right * direction).sum())
    batch = tensors(3, 4)
    per_sample = lamella.stack([func.grad(plain)(row) for row in batch])
    assert lamella.allclose(vmap(func.grad(functionalize(polynomial)))(batch), per_sample)
    assert lamella.allclose(functionalize(vmap(func.grad(polynomial)))(batch), per_sample)
    leaf = x.clone().requires_grad_()
    functionalize(polynomial)(leaf).backward()
    assert lamella.allclose(leaf.grad, right)
    assert lamella.func.linearize(functionalize(polynomial), x)[1](direction).allclose((right * direction).sum())


def test_a_value_that_backward_reads_is_kept():
    x = tensors(3).requires_grad_()
    y = x * 1
    functionalize(lambda y: y.sin_())(y).sum().backward()
    assert lamella.allclose(x.grad, x.detach().cos())


def test_nested_levels():
    def inner(x):
        x.add_(1)
        return x * 2

    def outer(x):
        y = functionalize(inner)(x)
        x.mul_(10)
        return y + x

    x = lamella.zeros(2)
    assert functionalize(outer)(x).tolist() == [12, 12] and x.tolist() == [10, 10]


def test_random_numbers_are_those_of_the_function():
    def noise(x):
        return x.normal_(), lamella.rand(3).bernoulli_(0.5), nn.functional.dropout(x, 0.5)

    lamella.manual_seed(3)
    right = noise(lamella.zeros(4))
    lamella.manual_seed(3)
    for f, r in zip(functionalize(noise)(lamella.zeros(4)), right, strict=True):
        assert lamella.equal(f, r)


def test_numbers_of_the_program():
    def f(x):
        x.add_(1)
        assert bool(x.sum() > 0) and x.sum().item() == 2 and x.tolist() == [1, 1] and float(x[0]) == 1
        assert "value=" in repr(x) and lamella.arange(2).tolist() == [0, 1]
        return 3, x, None, "text"

    assert functionalize(f)(lamella.zeros(2))[::2] == (3, None)


def test_custom_operators():
    @custom_op("functionalize_test::scale", mutates_args=("x",))
    def scale(x: lamella.Tensor, by: float) -> None:
        x.mul_(by)

    @custom_op("functionalize_test::plus", mutates_args=())
    def plus(x: lamella.Tensor, by: float) -> lamella.Tensor:
        return x + by

    scale.register_vmap(lambda info, in_dims, x, by: (scale(x, by), None))
    x = lamella.ones(3)
    try:

        def f(x):
            y = plus(x, 1.0)
            scale(y[1:], 3.0)
            scale(x, 2.0)
            return y

        assert functionalize(f)(x).tolist() == [2, 6, 6] and x.tolist() == [2, 2, 2]
    finally:
        scale.close()
        plus.close()


class Cube(lamella.autograd.Function if hasattr(lamella, "autograd") else object):
    """A cube whose backward says the double of the derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return grad * 6 * ctx.saved_tensors[0] ** 2


def test_functions_of_autograd():
    x = tensors(3)
    leaf = x.clone().requires_grad_()
    functionalize(lambda x: Cube.apply(x * 1).add_(1).sum())(leaf).backward()
    assert lamella.allclose(leaf.grad, 6 * x**2)
    assert lamella.allclose(functionalize(func.grad(lambda x: Cube.apply(x).sum()))(x), 6 * x**2)
    assert lamella.allclose(functionalize(Cube.apply)(x), x**3)


@pytest.mark.parametrize(
    "function, error, message",
    [
        (lambda x: x.add_(lamella.ones(3, 2)), RuntimeError, r"add_: the result has shape \[3, 2\]"),
        (lambda x: x.long().add_(1.5), RuntimeError, "add_: result type float32 cannot be cast to the type int64"),
        (lambda x: x.resize_(9), NotImplementedError, "resize_: functionalize keeps the memory of a tensor"),
        (lambda x: x.set_(lamella.ones(3)), NotImplementedError, "set_: functionalize keeps the memory of a tensor"),
        (lambda x: x.numpy(), NotImplementedError, "functionalize does not give memory away"),
    ],
)
def test_refusals(function, error, message):
    x = lamella.zeros(2)
    with pytest.raises(error, match=message):
        functionalize(function)(x)
    assert x.shape == (2,) and x.tolist() == [0, 0]


def test_bad_argument():
    with pytest.raises(RuntimeError, match="argument 'remove' must be 'mutations' or 'mutations_and_views', got 'all'"):
        functionalize(lambda x: x, remove="all")


def test_a_tensor_that_is_kept_counts_as_its_value():
    kept = []
    functionalize(lambda x: kept.append(x.add_(1)))(lamella.zeros(2))
    assert (kept[0] * 2).tolist() == [2, 2] and not (kept[0] * 2).is_opaque


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_calls_that_reach_the_layers_inside(remove):
    """These are calls of functional forms, and with "mutations_and_views" of copying forms; one write is at the end."""
    names = []

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            names.append(str(op).partition("::")[2].partition(".")[0])
            return op(*args, **(kwargs or {}))

    x = lamella.zeros(2, 2)
    with Names():
        functionalize(lambda x: x.t().select(0, 1).add_(1), remove=remove)(x)
    assert x.tolist() == [[0, 1], [0, 1]]
    assert [name for name in names if name.endswith("_")] == ["copy_"] == names[-1:]
    copies = remove == "mutations_and_views"
    assert ("t_copy" in names, "select_copy" in names, "as_strided" in names) == (copies, copies, not copies)
