"""The tenant autocast: dtypes and values are those of casts by hand, and gradients of weights stay in float32."""

from contextlib import closing

import lamella
import pytest
from lamella import nn
from lamella.library import Library, rules
from lamella.nn import functional as F
from lamella.utils.checkpoint import checkpoint

from . import same
from .autocast import NAME, Autocast
from .vmap import NAME as VMAP
from .vmap import Vmaps

pytestmark = pytest.mark.needs("autograd")
LOW, FULL = lamella.bfloat16, lamella.float32


@pytest.fixture
def cast():
    with closing(Autocast(LOW)) as made:
        yield made


def low(t):
    return t.to(LOW)


# The call, and the same call with casts by hand, of tensors x and w in float32 and y in bfloat16, all 3 by 3.
CALLS = {
    "linear": (lambda x, w, y: F.linear(x, w, w[0]), lambda x, w, y: F.linear(low(x), low(w), low(w)[0])),
    "linear without bias": (lambda x, w, y: F.linear(x, w), lambda x, w, y: F.linear(low(x), low(w))),
    "mm": (lambda x, w, y: x.mm(w), lambda x, w, y: low(x).mm(low(w))),
    "matmul": (lambda x, w, y: x @ y, lambda x, w, y: low(x) @ y),
    "addmm": (lambda x, w, y: lamella.addmm(x, w, y), lambda x, w, y: lamella.addmm(low(x), low(w), y)),
    "einsum": (lambda x, w, y: lamella.einsum("ij,jk", x, w), lambda x, w, y: lamella.einsum("ij,jk", low(x), low(w))),
    "softmax": (lambda x, w, y: y.softmax(0), lambda x, w, y: y.float().softmax(0)),
    "exp": (lambda x, w, y: y.exp(), lambda x, w, y: y.float().exp()),
    "sum": (lambda x, w, y: y.sum(), lambda x, w, y: y.float().sum()),
    "layer_norm": (lambda x, w, y: F.layer_norm(y, (3,)), lambda x, w, y: F.layer_norm(y.float(), (3,))),
    "cat": (lambda x, w, y: lamella.cat([y, x]), lambda x, w, y: lamella.cat([y.float(), x])),
    "cat of low ones": (lambda x, w, y: lamella.cat([y, y]), lambda x, w, y: lamella.cat([y, y])),
    "addcmul": (lambda x, w, y: lamella.addcmul(y, y, x), lambda x, w, y: lamella.addcmul(y.float(), y.float(), x)),
    "no policy": (lambda x, w, y: (x + 1, y.relu()), lambda x, w, y: (x + 1, y.relu())),
    "integers": (lambda x, w, y: lamella.arange(3).sum(), lambda x, w, y: lamella.arange(3).sum()),
    "float64": (lambda x, w, y: x.double() @ w.double(), lambda x, w, y: x.double() @ w.double()),
    "in place": (lambda x, w, y: x.clone().exp_(), lambda x, w, y: x.clone().exp_()),
}


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("recorded", [False, True])
def test_policies(device, cast, kind, recorded):
    call, by_hand = CALLS[kind]
    x, w, y = lamella.randn(3, 3), lamella.randn(3, 3), lamella.randn(3, 3, dtype=LOW)
    for t in (x, w, y):
        t.requires_grad_(recorded)
    wanted = by_hand(x, w, y)
    with cast():
        got = call(x, w, y)
    assert same(got, wanted)


@pytest.mark.parametrize(
    "f", [lambda y: y.nansum(), lambda y: F.l1_loss(y, y), lambda y: y.trace(), lambda y: F.binary_cross_entropy(y, y)]
)
@pytest.mark.parametrize("recorded", [False, True])
def test_operators_within_a_composite_keep_its_dtypes(device, cast, f, recorded):
    """A composite may run where a kernel is missing, or where autograd takes it apart; its sums have no policy then."""
    y = lamella.rand(3, 3, dtype=LOW).requires_grad_(recorded)
    with cast():
        assert f(y).dtype is LOW


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3))


def by_hand(net, x, labels):
    first, norm, _, last = net
    y = F.linear(low(x), low(first.weight), low(first.bias)).float()
    y = F.layer_norm(y, (8,), norm.weight, norm.bias).relu()
    y = F.linear(low(y), low(last.weight), low(last.bias))
    return y, F.cross_entropy(y.float(), labels)


@pytest.mark.parametrize("inside", [False, True])
def test_a_network(device, cast, inside):
    net, x, labels = network(), lamella.randn(5, 4), lamella.tensor([0, 1, 2, 0, 1])
    y, loss = by_hand(net, x, labels)
    loss.backward()
    wanted = [p.grad for p in net.parameters()]
    net.zero_grad()
    with cast():
        got_y = net(x)
        got_loss = F.cross_entropy(got_y, labels)
        if inside:
            got_loss.backward()
    if not inside:
        got_loss.backward()
    assert same([got_y, got_loss], [y, loss]) and got_y.dtype is LOW and got_loss.dtype is FULL
    assert same([p.grad for p in net.parameters()], wanted)
    assert {p.grad.dtype for p in net.parameters()} == {FULL}


def test_a_training(device, cast):
    net, x, labels = network(), lamella.randn(5, 4), lamella.tensor([0, 1, 2, 0, 1])
    optimizer, losses = lamella.optim.SGD(net.parameters(), lr=0.5), []
    for _ in range(20):
        with cast():
            losses.append(F.cross_entropy(net(x), labels))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert {p.dtype for p in net.parameters()} == {FULL}
    assert device == "meta" or losses[-1].item() < 0.5 * losses[0].item()


def test_backward_inside_is_not_cast(device, cast):
    """Derivatives of what ran in float32 stay in float32."""
    w, x = lamella.randn(3, 3, requires_grad=True), lamella.randn(3, 3)
    loss = (x @ w).square().sum()
    (wanted,) = lamella.autograd.grad(loss, w, retain_graph=True)
    with cast():
        loss.backward()
    assert same(w.grad, wanted)


def test_nested(device, cast):
    x = lamella.randn(3, 3)
    seen = []
    with cast():
        with cast(False):
            seen.append((x @ x).dtype)
            with cast():
                seen.append((x @ x).dtype)
            seen.append((x @ x).dtype)
        seen.append((x @ x).dtype)
        with pytest.raises(ZeroDivisionError), cast(False):
            1 / 0  # noqa: B018
        seen.append((x @ x).dtype)
    seen.append((x @ x).dtype)
    assert seen == [FULL, LOW, FULL, LOW, LOW, FULL]


def test_a_checkpoint_computes_again_in_the_same_dtypes(device, cast):
    w, x = lamella.randn(3, 3, requires_grad=True), lamella.randn(3, 3)
    with cast():
        (wanted,) = lamella.autograd.grad((x @ w).exp().sum(), w)
        checkpoint(lambda x: (x @ w).exp(), x, use_reentrant=False).sum().backward()
    assert same(w.grad, wanted)


def test_under_vmap(device, cast, boxes_library):
    """Boxes are opaque, and vmap's layer converts them."""
    w, x = lamella.randn(3, 4), lamella.randn(5, 4)
    with closing(Vmaps(boxes_library)) as vmaps, cast():
        assert same(vmaps.vmap(lambda x: F.linear(x, w).exp())(x), F.linear(low(x), low(w)).float().exp(), atol=0.02)


def test_an_opaque_tensor_that_has_one_dtype(device, cast, boxes_library):
    def one_dtype(call, self, dtype, *args):
        raise NotImplementedError(f"no {dtype}")

    with closing(Vmaps(boxes_library)) as vmaps, closing(Library("aten", "IMPL", VMAP)) as lib:
        lib.impl("to.dtype", one_dtype)
        lib.impl("linear", lambda call, x, w, bias=None: x @ w.box_batch[0].t().to(x.dtype))
        w, x = lamella.randn(3, 4), lamella.randn(5, 4)
        opaque = vmaps.boxed(w[None], 1)
        with cast():
            got = F.linear(x, opaque)
        assert same(got, low(x) @ low(w).t())


@pytest.fixture
def theirs():
    with closing(Library("tenants_theirs", "DEF")) as lib:
        lib.define("scaled(Tensor x, float by) -> Tensor")
        lib.impl("scaled", lambda x, by: x * by, "composite")
        yield lib


def test_a_third_partys_policy(device, cast, theirs):
    x, scaled = lamella.ones(2), lamella.ops.tenants_theirs.scaled
    with cast():
        assert scaled(x, 2.0).dtype is FULL
        rule = theirs.rule("scaled", NAME, "lower")
        assert scaled(x, 2.0).dtype is LOW
        other = theirs.rule("scaled", NAME, "keep")  # the last one counts
        assert scaled(x, 2.0).dtype is FULL
        other.remove()
        assert scaled(x, 2.0).dtype is LOW
        rule.remove()
        assert scaled(x, 2.0).dtype is FULL


def test_a_policy_before_the_layer(device, theirs):
    theirs.rule("scaled", NAME, "lower")
    x, scaled = lamella.ones(2), lamella.ops.tenants_theirs.scaled
    for _ in range(2):
        with closing(Autocast(LOW)) as cast, cast():
            assert scaled(x, 2.0).dtype is LOW
        assert scaled(x, 2.0).dtype is FULL


def test_an_unknown_policy_is_refused(cast, theirs):
    with pytest.raises(
        ValueError, match="the policy of tenants_theirs::scaled is one of lower, keep, widest, got 'lo'"
    ):
        theirs.rule("scaled", NAME, "lo")
    assert rules("tenants_theirs::scaled", NAME) == []
