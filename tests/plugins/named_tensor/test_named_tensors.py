"""Named tensors on one device after another: how names begin, meet, go along and are refused.

test_named_on_bank.py runs this file again on the example backend.
"""

import copy
import io
import os
import pickle

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella.library import Library
from lamella.utils.data import DataLoader, default_collate

pytestmark = pytest.mark.needs("autograd", "named_tensor")
DEVICE = "cpu"


@pytest.fixture(params=os.environ.get("NAMED_ON", "cpu meta").split(), autouse=True)
def device(request):
    """Sets the device on which the tests make their tensors."""
    global DEVICE
    DEVICE = request.param
    yield DEVICE
    DEVICE = "cpu"


def ones(*size, **more):
    return lamella.ones(*size, device=DEVICE, **more)


def numbers(*size, names=None, **more):
    """Returns different numbers in a shape, with the numpy array of the same."""
    array = np.arange(1, 1 + np.prod(size), dtype="float32").reshape(size) / 8
    return lamella.tensor(array.tolist(), device=DEVICE, names=names, **more), array


def same(tensor, array, names):
    assert tensor.names == ((None,) * tensor.ndim if names is None else tuple(names))
    assert tuple(tensor.shape) == np.shape(array), (tensor.shape, np.shape(array))
    assert tensor.device.type == DEVICE
    if DEVICE != "meta":
        np.testing.assert_allclose(np.array(tensor.tolist()), array, rtol=1e-5)


def refused(*patterns, error=RuntimeError):
    """Expects an error whose text matches each pattern."""
    return pytest.raises(error, match="".join(f"(?=(?s:.*){p})" for p in patterns))


X = ("n", "c")


# ---- how names begin ------------------------------------------------------------------------------------------------


def test_factories():
    made = [
        lamella.zeros(2, 3, device=DEVICE, names=X),
        lamella.full((2, 3), 1.5, device=DEVICE, names=list(X)),
        lamella.randn(2, 3, device=DEVICE, names=X),
        lamella.empty_like(ones(2, 3), names=X),
        lamella.tensor([[1, 2]], device=DEVICE, names=X),
    ]
    assert all(t.names == X for t in made)
    assert ones(2, 3).names == ones(2, 3, names=[None, None]).names == ones(2, 3, names=None).names == (None, None)
    assert ones(2, 3, names=["n", None]).names == ("n", None) and ones((), names=[]).names == ()


@pytest.mark.parametrize(
    "names, error, words",
    [
        (["n"], RuntimeError, "got 1 names for a tensor of 2 dimensions"),
        (["n", "c", "h"], RuntimeError, "got 3 names"),
        (["n", "n"], RuntimeError, "dimensions 0 and 1 would both have the name 'n'"),
        (["n", ""], RuntimeError, "the name of dimension 1 is '', which is no identifier"),
        (["n", "2d"], RuntimeError, "'2d', which is no identifier"),
        (["n", "a b"], RuntimeError, "'a b', which is no identifier"),
        ([1, 2], TypeError, "dimension 0 is neither a str nor None"),
        (["n", 2], TypeError, "dimension 1 is neither a str nor None"),
        ([["n"], "c"], TypeError, "dimension 0 is neither"),
        ("nc", TypeError, "expected a list"),
        (3, TypeError, "expected a list"),
    ],
)
def test_wrong_names(names, error, words):
    with pytest.raises(error, match=f"^names: .*{words}"):
        ones(2, 3, names=names)
    x = ones(2, 3, names=X)
    with pytest.raises(error, match=f"names: .*{words}"):
        x.names = names
    assert x.names == X
    x.names = None
    assert x.names == (None, None)


def test_sizes_by_keyword():
    x = lamella.randn(batch=2, height=3, device=DEVICE)
    assert x.names == ("batch", "height") and x.shape == (2, 3)
    assert lamella.full(fill_value=2, batch=4, device=DEVICE, dtype=lamella.int64).names == ("batch",)
    with refused("randn: argument 'height' is a dimension beside others, and its size is no int", error=TypeError):
        lamella.randn(batch=2, height="three", device=DEVICE)
    with refused("zeros_like", "batch", error=TypeError):
        lamella.zeros_like(x, batch=2)
    with refused("dtype", error=TypeError):
        lamella.ones(batch=2, dtype=3)
    with refused("ones: has no argument 'batch'", error=TypeError):
        lamella.ones(2, 3, batch=2)
    with refused("got two values for argument 'names': one is given, the other follows from 'batch'", error=TypeError):
        lamella.ones(batch=2, names=["n"])


def test_repr():
    assert "names=('n', 'c')" in repr(ones(2, 3, names=X)) and "names=('n', None)" in repr(
        ones(2, 3, names=["n", None])
    )
    assert "names" not in repr(ones(2, 3))


def test_saved_names_are_checked():
    data = pickle.dumps(ones(2, 3, names=X))
    assert data.count(b"\x01n") == 1
    with refused("would both have the name 'c'"):
        pickle.loads(data.replace(b"\x01n", b"\x01c"))


# ---- how names meet -------------------------------------------------------------------------------------------------


def test_broadcast():
    (x, a), (y, b) = numbers(2, 3, names=X), numbers(3, names=["c"])
    same(x + y, a + b, X)
    same(y * x, a * b, X)
    same(x / numbers(2, 3)[0], a / numbers(2, 3)[1], X)
    same(x.exp() - 1, np.exp(a) - 1, X)
    same(lamella.where(x > 1, x, y), np.where(a > 1, a, b), X)
    same(x + ones(2, 1, names=["n", None]), a + 1, X)


def test_disagreement():
    x, y = ones(3, 1, names=["batch", None]), ones(3, names=["batch"])
    with refused("sub", r"\['batch', None\]", r"\['batch'\]", "both have the name 'batch'"):
        (x - y) ** 2
    with refused("add", "'c' meets one with the name 'h'", r"\['n', 'c'\]", r"\['h'\]"):
        ones(2, 3, names=X) + ones(3, names=["h"])


def test_matmul():
    (x, a), (w, b) = numbers(2, 3, names=X), numbers(3, 4, names=["c", "k"])
    same(x @ w, a @ b, ["n", "k"])
    same(x @ numbers(3, 4)[0], a @ b, ["n", None])
    same(x @ numbers(3)[0], a @ numbers(3)[1], ["n"])
    with refused("matmul|mm", "'c' meets one with the name 'n'"):
        x @ ones(3, 4, names=["n", "k"])
    with refused("both have the name 'n'"):
        x @ x.t()


def test_cat_and_stack():
    (x, a), (y, _) = numbers(2, 3, names=X), numbers(2, 3, names=["n", None])
    same(lamella.cat([x, y]), np.concatenate([a, a]), X)
    same(lamella.cat([y, x], dim=1), np.concatenate([a, a], 1), X)
    same(lamella.stack([x, y], dim=1), np.stack([a, a], 1), ["n", None, "c"])
    with refused("cat", "'c' meets one with the name 'h'"):
        lamella.cat([x, ones(2, 3, names=["n", "h"])], "n")


# ---- dimensions by name ---------------------------------------------------------------------------------------------


def test_reductions():
    x, a = numbers(2, 3, names=X)
    for dim in ("c", 1, -1):
        same(x.sum(dim), a.sum(1), ["n"])
        same(lamella.mean(x, dim), a.mean(1), ["n"])
        same(x.sum(dim, keepdim=True), a.sum(1, keepdims=True), X)
        values, indices = x.max(dim)
        same(values, a.max(1), ["n"])
        same(indices, a.argmax(1), ["n"])
        same(x.argmax(dim), a.argmax(1), ["n"])
    same(x.sum(), a.sum(), None)
    same(x.sum(["n", "c"]), a.sum(), None)
    same(x.sum(("c", "n"), keepdim=True), a.sum(keepdims=True).reshape(1, 1), X)
    with refused("no dimension 'h'", "'n', 'c'"):
        x.sum("h")
    with refused("no dimension 'c'"):
        ones(2, 3).sum("c")


def test_softmax():
    x, a = numbers(2, 3, names=X)
    e = np.exp(a) / np.exp(a).sum(1, keepdims=True)
    same(x.softmax("c"), e, X)
    same(F.softmax(x, dim="c"), e, X)
    same(x.log_softmax("c"), np.log(e), X)
    same(x.cumsum("n"), a.cumsum(0), X)


def test_transposes():
    (x, a), (y, b) = numbers(2, 3, names=X), numbers(2, 3, 4, names=["n", "c", "w"])
    for t in (x.t(), x.T, x.mT, x.transpose("n", "c"), x.transpose(0, -1), x.swapaxes("n", "c"), x.permute("c", "n")):
        same(t, a.T, ["c", "n"])
    same(y.transpose("w", "n"), b.transpose(2, 1, 0), ["w", "c", "n"])
    same(y.permute(2, 0, -2), b.transpose(2, 0, 1), ["w", "n", "c"])


def test_size_by_name():
    x = ones(2, 3, names=X)
    assert x.size("c") == 3 and [part.shape for part in x.unbind("c")] == [(2,)] * 3


# ---- views ----------------------------------------------------------------------------------------------------------


def test_indexing():
    x, a = numbers(2, 3, 4, names=["n", "c", "w"])
    same(x[0], a[0], ["c", "w"])
    same(x[:, 1], a[:, 1], ["n", "w"])
    same(x[..., -1], a[..., -1], ["n", "c"])
    same(x[1:, None, :, ::2], a[1:, None, :, ::2], ["n", None, "c", "w"])
    same(x[0, 1, 2], a[0, 1, 2], None)
    same(x.select("c", 1), a[:, 1], ["n", "w"])


def test_iteration():
    x, a = numbers(2, 3, names=X)
    for part, row in zip(x, a, strict=True):
        same(part, row, ["c"])
    assert [part.names for part in x.unbind(1)] == [("n",)] * 3


def test_other_views():
    x, a = numbers(2, 1, 3, names=["n", "c", "w"])
    same(x.squeeze(), a.squeeze(), ["n", "w"])
    same(x.squeeze("c"), a[:, 0], ["n", "w"])
    same(x.squeeze(0), a, ["n", "c", "w"])
    same(x.squeeze((0, 1)), a[:, 0], ["n", "w"])
    same(x.unsqueeze(-1), a[..., None], ["n", "c", "w", None])
    same(x.expand(2, 5, 3), np.broadcast_to(a, (2, 5, 3)), ["n", "c", "w"])
    same(x.expand(4, 2, 1, 3), np.broadcast_to(a, (4, 2, 1, 3)), [None, "n", "c", "w"])
    same(x.flatten(1), a.reshape(2, 3), ["n", None])
    same(x.flatten("c", "w"), a.reshape(2, 3), ["n", None])
    same(x.flatten(), a.reshape(-1), None)
    same(x.view(6), a.reshape(6), None)
    same(x.view(2, 3), a.reshape(2, 3), ["n", "w"])
    same(x.reshape(2, -1), a.reshape(2, 3), ["n", "w"])
    same(x.reshape(1, 2, 3, 1), a.reshape(1, 2, 3, 1), [None, "n", "w", None])
    same(x.reshape(3, 2), a.reshape(3, 2), None)
    same(x.as_strided((2,), (1,)), a.reshape(-1)[:2], None)


def test_views_in_place():
    x, a = numbers(2, 3, names=X)
    same(x.t_(), a.T, ["c", "n"])
    same(x.transpose_("n", "c"), a, X)
    same(x.unsqueeze_(0), a[None], [None, *X])
    same(x.squeeze_(0), a, X)
    same(x.swapaxes_(0, 1), a.T, ["c", "n"])
    assert x.names == ("c", "n") and x.shape == (3, 2)
    assert x.resize_(2, 2, 1).names == (None,) * 3 and x.shape == (2, 2, 1)
    assert ones(2, 3, names=X).as_strided_((2,), (1,)).names == (None,)


def test_other_memory():
    x, (y, b) = ones(2, 3, names=X), numbers(4, names=["w"])
    x.set_(y)
    same(x, b, ["w"])
    x.data = ones(2, 2, names=["a", "b"])
    assert x.names == ("a", "b") and x.data.names == ("a", "b")
    x.data = ones(2)
    assert not x.has_names()
    x.set_(y, 1, (2,), (1,))
    same(x, b[1:3], None)


# ---- copies ---------------------------------------------------------------------------------------------------------


def test_copies():
    x, a = numbers(2, 3, names=X)
    for t in (x.clone(), x.detach(), x.double(), x.data, copy.copy(x), copy.deepcopy(x), x.contiguous(), x.to(DEVICE)):
        same(t, a, X)
    same(x.t().contiguous(), a.T, ["c", "n"])
    assert x.to("meta").names == X
    same(lamella.zeros_like(x), np.zeros((2, 3)), X)


def test_pickles_and_files():
    x, a = numbers(2, 3, names=X)
    same(pickle.loads(pickle.dumps(x)), a, X)
    file = io.BytesIO()
    lamella.save({"x": [x, ones(2)]}, file)
    file.seek(0)
    x, y = lamella.load(file)["x"]
    same(x, a, X)
    assert not y.has_names()


def test_collate():
    x, a = numbers(3, names=["c"])
    same(default_collate([x, x]), np.stack([a, a]), [None, "c"])
    if DEVICE == "cpu":
        [batch] = DataLoader([x, x], batch_size=2, num_workers=1)
        same(batch, np.stack([a, a]), [None, "c"])


# ---- writes ---------------------------------------------------------------------------------------------------------


def test_in_place():
    (x, a), y = numbers(2, 3, names=X), ones(3, names=["c"])
    same(x.add_(y), a + 1, X)
    same(x.mul_(2).fill_(3), np.full((2, 3), 3), X)
    with refused("add_", "'c' meets one with the name 'h'"):
        x.add_(ones(3, names=["h"]))
    same(x, np.full((2, 3), 3), X)  # nothing was written
    z = ones(2, 3)
    z += x
    same(z, np.full((2, 3), 4), X)
    x[0] = y
    x[:, 1] = 5
    same(x, [[1, 5, 1], [3, 5, 3]], X)
    with refused("copy_", "'c' meets one with the name 'h'"):
        x[0] = ones(3, names=["h"])


def test_out():
    x, a = numbers(2, 3, names=X)
    out = ones(2, 3)
    assert lamella.add(x, 1, out=out) is out
    same(out, a + 1, X)
    named = ones(2, names=["other"])
    lamella.sum(x, "c", out=named)
    same(named, a.sum(1), ["n"])
    lamella.stack([x, x], out=(both := ones(2, 2, 3)))
    same(both, np.stack([a, a]), [None, *X])


@pytest.mark.parametrize("other", ["none", "same names", "no names"])
@pytest.mark.parametrize("shape", [(2, 3), (0,)])
def test_out_of_operators_that_broadcast(other, shape):
    x, a = numbers(2, 3, names=X)
    y, b = numbers(2, 3, names=X if other == "same names" else None)
    call, expected = (lamella.add, a + b) if other != "none" else (lambda x, _, out: lamella.neg(x, out=out), -a)
    out = ones(*shape, names=[f"other{d}" for d in range(len(shape))])
    call(x, y, out=out)
    same(out, expected, X)
    call(x, y, out=x)  # the result is an argument
    same(x, expected, X)


def test_equal_names_with_a_gap_are_no_match_by_name():
    x, y = ones(2, 3, names=["n", None]), ones(2, 3, names=["n", None])
    for way in ("positional", "checked"):
        with lamella.named.matching(way):
            assert (x + y).names == ("n", None)
    with lamella.named.matching("by_name"):
        assert x.exp().names == ("n", None)
        with pytest.raises(RuntimeError, match="dimensions are matched by name, and one has none"):
            x + y


# ---- networks and gradients -----------------------------------------------------------------------------------------


def test_linear():
    linear = lamella.nn.Linear(3, 4, device=DEVICE)
    assert linear(ones(2, 3, names=X)).names == ("n", None)
    linear.weight.data.names = None
    linear.weight.names = ["k", "c"]
    assert linear(ones(2, 3, names=X)).names == ("n", "k")
    with refused("linear", "'w' meets one with the name 'c'"):
        linear(ones(2, 3, names=["n", "w"]))


def test_training():
    losses = []
    for names in (None, ["n", "c"]):
        lamella.manual_seed(0)
        net = lamella.nn.Sequential(lamella.nn.Linear(3, 8), lamella.nn.ReLU(), lamella.nn.Linear(8, 1)).to(DEVICE)
        optimizer = lamella.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        x, _ = numbers(4, 3, names=names)
        for _ in range(2):
            optimizer.zero_grad()
            loss = ((net(x) - ones(4, 1)) ** 2).mean()
            loss.backward()
            optimizer.step()
            assert not loss.has_names() and all(not p.has_names() and not p.grad.has_names() for p in net.parameters())
        losses.append(loss.item() if DEVICE != "meta" else 0)
    assert losses[0] == losses[1]


def test_gradients():
    before, _ = numbers(2, 3, names=X)
    before.requires_grad_()
    after = ones(2, 3).requires_grad_()
    after.names = X
    parameter = lamella.nn.Parameter(ones(2, 3, names=X))
    made = ones(2, 3, requires_grad=True, names=X)
    for leaf in (before, after, parameter, made):
        assert leaf.names == X and leaf.is_leaf
        (leaf.exp() * 2).sum().backward()
        assert leaf.grad.names == X
        leaf.grad.sum("c")
        (leaf.mean("c") * 3).sum().backward()  # adds to it
        assert leaf.grad.names == X
    plain = ones(2, 3, requires_grad=True)
    (plain * ones(3, names=["c"])).sum().backward()
    assert not plain.grad.has_names()


def test_values_of_gradients():
    (x, a), (w, b) = numbers(2, 3, names=X, requires_grad=True), numbers(3, 4, names=["c", "k"], requires_grad=True)
    (x @ w).softmax("k").sum("n").mean().backward()
    assert x.grad.names == X and w.grad.names == ("c", "k")
    x.grad = w.grad = None
    (x @ w).sum().backward()
    same(x.grad, np.broadcast_to(b.sum(1), (2, 3)), X)
    same(w.grad, np.broadcast_to(a.sum(0)[:, None], (3, 4)), ["c", "k"])


# ---- operators of others, and none ----------------------------------------------------------------------------------


def test_operators_of_others():
    library = Library("names_third", "DEF")
    try:
        library.define("kept(Tensor self, int dim=-1) -> Tensor", dims="keep", inplace=True, out=True)
        for lie in ({"dims": "reduce"}, {}):
            with refused("names_third::lies", "pointwise", error=ValueError):
                library.define("lies(Tensor self) -> Tensor", category="pointwise", **lie)
        library.define("silent(Tensor self, Tensor other) -> Tensor")
        library.impl("kept", lambda x, dim=-1: x.cumsum(dim))
        library.impl("silent", lambda x, y: x + y)
        third, (x, a) = lamella.ops.names_third, numbers(2, 3, names=X)
        same(third.kept(x), a.cumsum(1), X)
        assert lamella.named.find_rule("names_third::silent") is None
        same(third.kept(x, "n"), a.cumsum(0), X)
        same(third.kept(x, dim="n", out=(out := ones(2, 3))), a.cumsum(0), X)
        assert out.names == X
        same(third.kept_(x.clone(), dim="n"), a.cumsum(0), X)
        for given in ((x, ones(2, 3)), (ones(2, 3), x)):
            with refused("names_third::silent: it has no rule for names"):
                third.silent(*given)
        same(third.silent(ones(3), ones(3)), np.full(3, 2), None)
    finally:
        library.close()
