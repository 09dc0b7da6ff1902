"""Gradients of programs with sparse tensors, beside finite differences, to second order."""

import lamella
import numpy as np
import pytest
from lamella.autograd import gradcheck, gradgradcheck
from patterns import LAYOUTS, entries, made, refused

pytestmark = pytest.mark.needs("autograd", "sparse")
F = lamella.nn.functional
AT = lamella.tensor([[0, 1, 1, 2, 0], [2, 0, 2, 1, 2]])  # one place has two entries


def coo(values):
    return lamella.sparse_coo_tensor(AT, values, (3, 3))


# Functions of a sparse matrix (3, 3) and of a dense one (3, 4); results are dense.
PROGRAMS = {
    "sparse @ dense": lambda s, d: s @ d,
    "dense @ sparse": lambda s, d: d.t() @ s,
    "sparse @ vector": lambda s, d: s @ d[:, 0],
    "vector @ sparse": lambda s, d: d[:, 0] @ s,
    "addmm": lambda s, d: lamella.addmm(d, s, d, beta=0.5, alpha=2),
    "linear": lambda s, d: F.linear(d.t(), s),
    "sparse @ sparse": lambda s, d: (s @ s.t()).to_dense() @ d,
    "to_dense": lambda s, d: s.to_dense() @ d,
    "mul dense": lambda s, d: (s * d[:, :3]).to_dense(),
    "mul row": lambda s, d: (s * d[0, :3]).to_dense(),
    "mul number": lambda s, d: (s * 2.5 / 3).to_dense() * d[0, 0],
    "mul number that requires": lambda s, d: (s * d[0, 0]).to_dense(),
    "mul sparse": lambda s, d: (s * s.t()).to_dense() @ d,
    "square": lambda s, d: (s * s).to_dense() @ d,
    "dense + sparse": lambda s, d: d[:, :3] + s,
    "sparse + dense": lambda s, d: s + d[:, :3],
    "dense - sparse": lambda s, d: d[:, :3] - s,
    "sparse + sparse": lambda s, d: (s + s.t()).to_dense() @ d,
    "sparse - 2 sparse": lambda s, d: s.sub(s.t(), alpha=2).to_dense() @ d,
    "sin": lambda s, d: s.sin().to_dense() @ d,
    "tanh": lambda s, d: s.tanh().to_dense() @ d,
    "power": lambda s, d: (s**3).to_dense() @ d,
    "neg": lambda s, d: (-s).to_dense() @ d,
    "sum": lambda s, d: s.sum() * d,
    "sum of a dimension": lambda s, d: lamella.sparse.sum(s, 0).to_dense() * d[:, 0],
    "norm": lambda s, d: s.norm() * d,
    "softmax": lambda s, d: lamella.sparse.softmax(s, 1).to_dense() @ d,
    "log_softmax": lambda s, d: lamella.sparse.log_softmax(s, 0).to_dense() @ d,
    "transposed": lambda s, d: s.t() @ d,
    "coalesced values": lambda s, d: s.coalesce().values() * d[0],
    "cat": lambda s, d: lamella.cat([s, s * 2], 1).to_dense().t() @ d,
    "stack": lambda s, d: lamella.stack([s, s * 2]).to_dense() @ d,
    "index_select": lambda s, d: s.index_select(0, lamella.tensor([1, 1, 0])) @ d,
    "select": lambda s, d: s[1].to_dense() @ d,
    "narrow_copy": lambda s, d: s.narrow_copy(0, 1, 2) @ d,
    "sparse_mask": lambda s, d: d[:, :3].sparse_mask(s.detach()).to_dense() * s.sum(),
    "mask of sparse": lambda s, d: s.sparse_mask((s.detach() * 2).coalesce()).to_dense() @ d,
    "sampled_addmm": lambda s, d: lamella.sparse.sampled_addmm(s.to_sparse_csr(), d, d.t(), beta=0.5).to_dense(),
    "hspmm": lambda s, d: lamella.hspmm(s, d).to_dense(),
    "sspaddmm": lambda s, d: s.sspaddmm(s, d[:, :3], beta=0.5, alpha=2).to_dense(),
    "clone": lambda s, d: s.clone() @ d,
    "float": lambda s, d: (s.to(lamella.float32).to(lamella.float64) * 0 + s) @ d,
}  # fmt: skip


# Programs of COO tensors alone.
OF_COO = ("softmax", "log_softmax", "stack", "coalesced values", "mask of sparse", "sspaddmm")


@pytest.mark.parametrize(
    "program, name", [(p, n) for p in PROGRAMS for n in LAYOUTS if n == "sparse_coo" or p not in OF_COO]
)
def test_gradients(program, name):
    def run(values, d):
        s = coo(values)
        return PROGRAMS[program](s if name == "sparse_coo" else s.to_sparse(layout=getattr(lamella, name)), d)

    rng = np.random.default_rng(3)
    values = lamella.tensor(rng.standard_normal(5), requires_grad=True)
    d = lamella.tensor(rng.standard_normal((3, 4)), requires_grad=True)
    assert gradcheck(run, (values, d))
    assert gradgradcheck(run, (values, d))


@pytest.mark.parametrize(
    "program", ["sparse @ dense", "dense @ sparse", "mul dense", "sparse @ sparse", "addmm", "sampled_addmm"]
)
def test_complex_gradients(program):
    rng = np.random.default_rng(3)
    values, d = (
        lamella.tensor(rng.standard_normal(n) + 1j * rng.standard_normal(n), requires_grad=True) for n in (5, (3, 4))
    )
    assert gradcheck(lambda v, d: PROGRAMS[program](coo(v), d), (values, d))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_gradient_of_a_sparse_leaf_has_its_places(name):
    at, values, a = entries((4, 5), 7)
    t = made(at, values, (4, 5), name)
    t = (t.coalesce() if name == "sparse_coo" else t).requires_grad_()
    d = np.random.default_rng(1).standard_normal((5, 3))
    for time in (1, 2):  # gradients are added
        ((t @ lamella.tensor(d)) ** 2).sum().backward()
        assert t.grad.layout is t.layout and t.grad._nnz() == t._nnz()
        want = np.where(t.detach().to_dense().numpy() != 0, 2 * (a @ d) @ d.T, 0) * time
        np.testing.assert_allclose(t.grad.to_dense().numpy(), want)
    t.grad.zero_()
    assert t.grad._nnz() == 0 or not t.grad.to_dense().any()


def test_second_gradients_through_a_sparse_one():
    d = lamella.tensor(np.random.default_rng(1).standard_normal((3, 4)), requires_grad=True)
    s = coo(lamella.arange(1.0, 6.0, dtype=lamella.float64)).coalesce().detach().requires_grad_()

    def first(d):
        (g,) = lamella.autograd.grad(((s @ d) ** 2).sum(), s, create_graph=True)
        return g.values()

    assert gradcheck(first, (d,))


def test_a_write_while_a_gradient_is_recorded_is_refused():
    s = coo(lamella.ones(5, requires_grad=True))
    with refused("in place", "no_grad"):
        s.mul_(2)
    leaf = lamella.eye(3).to_sparse().requires_grad_()
    y = (leaf @ lamella.ones(3, 3, requires_grad=True)).sum()
    with lamella.no_grad():
        leaf.values().mul_(2)
    with pytest.raises(RuntimeError):
        y.backward()
    y = (leaf @ lamella.ones(3, 3, requires_grad=True)).sum()
    alias = leaf.detach()
    with lamella.no_grad():
        leaf.add_(lamella.ones(3, 3).to_sparse()).sub_(lamella.ones(3, 3).to_sparse() * 0)
    assert alias._nnz() == leaf._nnz() == 9
    with pytest.raises(RuntimeError):
        y.backward()
    with lamella.no_grad():
        leaf.copy_((lamella.eye(3) * 2).to_sparse())
        leaf.mul_(2)
        leaf.copy_(leaf * 2)
    assert leaf.is_leaf and leaf.requires_grad and leaf.values().tolist() == [8.0] * 3


def test_gradcheck_of_sparse_tensors():
    check = lamella.sparse.as_sparse_gradcheck(gradcheck)
    x = coo(lamella.arange(1.0, 6.0, dtype=lamella.float64)).requires_grad_()
    d = lamella.tensor(np.random.default_rng(1).standard_normal((3, 2)), requires_grad=True)
    assert check(lambda x, d: x @ d, (x, d))
    assert check(lambda x: (x * x, x.sum()), (x.to_sparse_csr().detach().requires_grad_(),))


def test_a_module_has_a_sparse_parameter():
    module = lamella.nn.Module()
    module.weight = lamella.nn.Parameter(lamella.eye(3).to_sparse_csr())
    assert module.weight.layout is lamella.sparse_csr and module.weight.requires_grad
    state = module.state_dict()
    assert state["weight"].layout is lamella.sparse_csr
    module.double()
    assert module.weight.dtype is lamella.float64 and module.weight.layout is lamella.sparse_csr
    (module.weight @ lamella.ones(3, 2, dtype=lamella.float64)).sum().backward()
    assert module.weight.grad.values().tolist() == [2.0] * 3
    with lamella.no_grad():
        module.weight.zero_()
    module.float()
    module.load_state_dict(state)
    assert module.weight.detach().to_dense().tolist() == np.eye(3).tolist()


def test_no_grad_and_detach():
    s = coo(lamella.ones(5, requires_grad=True))
    assert s.requires_grad and not s.detach().requires_grad and s.detach().layout is s.layout
    with lamella.no_grad():
        assert not (s * 2).requires_grad
