"""The tenant vmap: results and gradients are those of a loop over the examples; what has no meaning is refused."""

from contextlib import closing
from pathlib import Path

import lamella
import pytest
from lamella.library import Library, register_vmap
from lamella.nn import functional as F

from . import loop, over, same

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def data():
    """Returns examples: x of shape (4,), y of (4,), m of (4, 2), s of (), and w of shape (5, 4) that all share."""
    return [lamella.randn(*shape) for shape in ((3, 4), (3, 4), (3, 4, 2), (3,), (5, 4))]


FUNCTIONS = {
    "broadcast": lambda x, y, m, s, w: (x * s + w).exp().where(y > 0, 0.0),
    "scalars": lambda x, y, m, s, w: (1 - x) / 2 + s,
    "reduce": lambda x, y, m, s, w: (m.sum(0), m.mean(-1, keepdim=True), m.amax((0, 1)), s.sum()),
    "reduce all": lambda x, y, m, s, w: (m.sum(), m.max(), m.var(), m.prod(), m.amax(keepdim=True), x.argmax()),
    "numbers": lambda x, y, m, s, w: (
        s.sum(0),
        s.sum(0, keepdim=True),
        s.cumsum(-1),
        s.softmax(0),
        *s.sort(),
        s.mean(),
    ),
    "several results": lambda x, y, m, s, w: (*m.max(0), *lamella.sort(m, -1)),
    "keep": lambda x, y, m, s, w: (m.softmax(0), m.cumsum(-1), m.flip(0), lamella.cat([x, y, w[0]])),
    "images": lambda x, y, m, s, w: F.max_pool2d(F.conv2d(x.view(1, 2, 2), w[:3, :1].view(3, 1, 1, 1)), 2),
    "matmul": lambda x, y, m, s, w: (x @ m, w @ m, m.t() @ x, m.t().mm(m), x.dot(y), w.mv(x), lamella.outer(x, y)),
    "linear": lambda x, y, m, s, w: (F.linear(x, w, w[:, 0]), F.linear(w, m.t()), F.linear(x, m.t())),
    "views": lambda x, y, m, s, w: (
        m.view(8)[2:5],
        m.t()[1],
        m[:, 1],
        x.expand(2, 4),
        x[None].squeeze(),
        m.permute(1, 0),
    ),
    "buffers of composites": lambda x, y, m, s, w: (F.pad(m, (1, 2)), lamella.diag(x), F.one_hot(x.argmax(), 4)),
    "composites": lambda x, y, m, s, w: (F.gelu(x), lamella.stack([x, y], 1), m.flatten(), *x.split(2), m.std(0)),
    "norms and losses": lambda x, y, m, s, w: (F.layer_norm(x, (4,), w[0], w[1]), F.mse_loss(x, y), x.log_softmax(0)),
    "factories": lambda x, y, m, s, w: (lamella.zeros_like(x) + 1, lamella.arange(4) * x, lamella.ones(2), x.double()),
    "in place": lambda x, y, m, s, w: (x * 1).add_(y).mul_(w[0]).clamp_(min=s),
    "in place through views": lambda x, y, m, s, w: ((z := m * 1), z[0].add_(1), z.t()[1].zero_(), z.sum(0))[-1],
    "assignment": lambda x, y, m, s, w: ((z := m * 1), z.__setitem__((slice(None), 0), x), z + 0)[-1],
    "out": lambda x, y, m, s, w: lamella.add(x, y, out=x * 0),
    "the shared tensor": lambda x, y, m, s, w: w.sum(),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_values(device, vmap, f):
    dims, args = (0, 0, 0, 0, None), data()
    wanted = loop(f, *args, in_dims=dims)
    assert same(vmap(f, dims)(*args), wanted, **CLOSE)


def test_dims_of_arguments_and_results(device, vmap):
    x, m = lamella.randn(4, 3), lamella.randn(5, 2, 3)
    f = lambda x, m: x * m.sum()  # noqa: E731
    wanted = loop(f, x, m, in_dims=(1, 2))
    assert same(vmap(f, (1, -1))(x, m), wanted, **CLOSE)
    assert same(vmap(f, (1, 2), 1)(x, m), wanted.t(), **CLOSE)
    with pytest.raises(ValueError, match=r"the arguments have \[3, 4\] examples"):
        vmap(f)(x, m.movedim(2, 0))


NESTED = {
    "both": lambda r, x: r * x + 1,
    "reduce": lambda r, x: (r * x).sum(),
    "matmul": lambda r, x: (r.unsqueeze(0) @ x.unsqueeze(-1)).squeeze(),
    "in place": lambda r, x: (r * x).exp_().add_(x[0]),
    "shared inside": lambda r, x: F.softmax(x, 0) + r[1],
}


@pytest.mark.parametrize("f", NESTED.values(), ids=NESTED)
def test_nested(device, vmap, f):
    """Every row of w with every example of x."""
    x, w = lamella.randn(3, 4), lamella.randn(5, 4)
    wanted = loop(lambda x: loop(lambda r: f(r, x), w), x)
    assert same(vmap(lambda x: vmap(lambda r: f(r, x))(w))(x), wanted, **CLOSE)


# ---- refusals -------------------------------------------------------------------------------------------------------

REFUSED = {
    "item": (lambda x: x.sum().item(), "aten::item asks for one value, and each example has its own"),
    "branch": (lambda x: x if x.sum() > 0 else -x, "asks for one value, and each example has its own"),
    "float": (lambda x: float(x[0]), "asks for one value, and each example has its own"),
    "numpy": (lambda x: x.numpy(), "aten::_materialize asks for one value"),
    "shape by values": (lambda x: x.nonzero(), "aten::nonzero has no rule; see lamella.library.register_vmap"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_each_example_decides(device, vmap, kind):
    f, text = REFUSED[kind]
    with pytest.raises(NotImplementedError, match=text):
        vmap(f)(lamella.randn(3, 4))


def test_a_write_to_what_examples_share(device, vmap):
    shared, x = lamella.zeros(4), lamella.randn(3, 4)
    before = shared._version
    for f in (lambda x: shared.add_(x), lambda x: lamella.exp(x, out=shared), lambda x: shared.copy_(x)):
        with pytest.raises(RuntimeError, match="would write the values of 3 examples to '(self|out)', which all"):
            vmap(f)(x)
    assert device == "meta" or (shared.tolist() == [0] * 4 and shared._version == before)
    assert same(vmap(lambda x: x + shared.add_(1))(x), x + 1)  # a write that is the same for each example


def test_a_box_outside_of_its_vmap(device, vmap):
    kept = []
    vmap(lambda x: kept.append(x) or x)(lamella.randn(3, 4))
    with pytest.raises(RuntimeError, match="aten::add: a tensor of a vmap that has ended"):
        kept[0] + 1
    assert "opaque" in repr(kept[0]) and "size=(4,)" in repr(kept[0])


# ---- operators of others --------------------------------------------------------------------------------------------


@pytest.fixture
def theirs(device):
    with closing(Library("tenants_theirs", "DEF")) as lib:
        lib.define("scaled(Tensor x, float by=2) -> Tensor")
        lib.define("ends(Tensor x, *, int many=1) -> (Tensor, Tensor)")
        lib.impl("scaled", lambda x, by=2.0: x * by, device)
        lib.impl("ends", lambda x, *, many=1: (x[:many].clone(), x[-many:].clone()), device)
        yield lib


def test_a_rule_in_one_line(device, vmap, theirs):
    x, ops = lamella.randn(3, 4), lamella.ops.tenants_theirs
    with pytest.raises(NotImplementedError, match="tenants_theirs::scaled has no rule; see lamella.library.register"):
        vmap(lambda x: ops.scaled(x))(x)
    register_vmap("scaled", lambda info, dims, x, by: (ops.scaled(x, by), dims[0]), lib=theirs)
    assert same(vmap(lambda x: ops.scaled(x, 3.0) + ops.scaled(x))(x), x * 5, **CLOSE)
    assert same(vmap(vmap(lambda x: ops.scaled(x)))(x), x * 2)


def test_a_rule_for_several_results(device, vmap, theirs):
    def rule(info, dims, x, many):
        assert info.batch_size == 3
        first, last = lamella.ops.tenants_theirs.ends(x.movedim(dims[0], -1), many=many)
        return (first, last), (-1, -1)

    register_vmap("ends", rule, lib=theirs)
    f = lambda x: lamella.ops.tenants_theirs.ends(x, many=2)  # noqa: E731
    x = lamella.randn(3, 4)
    assert same(over(lambda t: t, vmap(f)(x)), (x[:, :2], x[:, 2:]))


def test_a_text_in_one_word(device, vmap):
    """An operator that says how its dimensions map needs no rule."""
    with closing(Library("tenants_theirs", "DEF")) as lib:
        lib.define("centered(Tensor x, int dim) -> Tensor", dims="keep")
        lib.impl("centered", lambda x, dim: x - x.mean(dim, keepdim=True), "composite")
        f = lambda m: lamella.ops.tenants_theirs.centered(m, 0)  # noqa: E731
        m = lamella.randn(3, 4, 2)
        assert same(vmap(f)(m), loop(f, m), **CLOSE)


def test_it_is_small():
    files = [Path(__file__).with_name(name) for name in ("vmap.py", "boxes.cpp")]
    assert sum(len(file.read_text().splitlines()) for file in files) < 250
