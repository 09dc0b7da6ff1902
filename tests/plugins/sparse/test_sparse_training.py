"""Sparse gradients of embeddings, and optimizers that step by them, beside dense references."""

import lamella
import numpy as np
import pytest
from patterns import refused

pytestmark = pytest.mark.needs("autograd", "sparse")
nn, F, optim = lamella.nn, lamella.nn.functional, lamella.optim


def table(rows=6, width=3, seed=0):
    return lamella.tensor(np.random.default_rng(seed).standard_normal((rows, width)), requires_grad=True)


def gradients(run):
    """Returns the results and the gradients of a table with dense and with sparse gradients."""
    found = []
    for sparse in (False, True):
        w = table()
        y = run(w, sparse)
        (y**2).sum().backward()
        assert w.grad.is_sparse == sparse
        found.append((y.detach().numpy(), w.grad.to_dense().numpy()))
    return found


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True}, {"max_norm": 1.0}]
)
@pytest.mark.parametrize("at", [[1, 5, 1, 2], [[1, 2], [5, 5]], []])
def test_embedding(options, at):
    at = lamella.tensor(at, dtype=lamella.int64)
    (y, g), (z, h) = gradients(lambda w, sparse: F.embedding(at, w, sparse=sparse, **options))
    np.testing.assert_array_equal(y, z)
    np.testing.assert_allclose(g, h)


BAGS = [{}, {"padding_idx": 2}, {"include_last_offset": True}, {"scale_grad_by_freq": True}]


@pytest.mark.parametrize(
    "mode, options", [*((m, o) for m in ("sum", "mean") for o in BAGS), ("sum", {"per_sample_weights": True})]
)
def test_embedding_bag(mode, options):
    at = lamella.tensor([1, 5, 2, 2, 0])
    offsets = lamella.tensor([0, 2, 2, 5] if "include_last_offset" in options else [0, 2, 2])
    if "per_sample_weights" in options:
        options = {"per_sample_weights": lamella.tensor([1.0, 2.0, 3.0, 4.0, 5.0], dtype=lamella.float64)}
    (y, g), (z, h) = gradients(lambda w, sparse: F.embedding_bag(at, w, offsets, mode=mode, sparse=sparse, **options))
    np.testing.assert_allclose(y, z)
    np.testing.assert_allclose(g, h)


def test_modules_and_accumulation():
    layer = nn.Embedding(10, 4, sparse=True)
    for k in (1, 2):
        layer(lamella.tensor([1, 3, 1])).sum().backward()
        assert layer.weight.grad.is_sparse and layer.weight.grad._nnz() == 3 * k
    (layer.weight * 2).sum().backward()  # a dense gradient on top of a sparse one
    expected = np.full((10, 4), 2.0)
    expected[1] += 4
    expected[3] += 2
    np.testing.assert_array_equal(layer.weight.grad.to_dense().numpy(), expected)
    layer(lamella.tensor([0])).sum().backward()
    layer.zero_grad()
    assert layer.weight.grad is None
    bag = nn.EmbeddingBag(10, 4, sparse=True)
    bag(lamella.tensor([[1, 2], [1, 1]])).sum().backward()
    assert bag.weight.grad.is_sparse
    assert "sparse=True" in repr(layer)
    layer(lamella.tensor([1])).sum().backward()
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad._nnz() == 0


def train(optimizer, sparse, steps=4, **options):
    """Returns a table after steps whose gradients have an entry of every row, as dense gradients have."""
    w = table()
    made = optimizer([w], **options)
    rng = np.random.default_rng(2)
    for _ in range(steps):
        made.zero_grad()
        at = lamella.tensor(np.concatenate([np.arange(6), rng.integers(0, 6, 4)]))
        (F.embedding(at, w, sparse=sparse) ** 2).sum().backward()
        made.step()
    return w.detach().numpy()


@pytest.mark.parametrize(
    "name, options",
    [
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        ("SGD", {"lr": 0.1, "maximize": True}),
        ("Adagrad", {"lr": 0.1}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    ],
)
def test_steps_by_gradients_of_every_row_are_those_of_dense_ones(name, options):
    optimizer = getattr(optim, name)
    np.testing.assert_allclose(train(optimizer, True, **options), train(optimizer, False, **options))


@pytest.mark.parametrize("options", [{"lr": 0.1}, {"lr": 0.05, "betas": (0.5, 0.8)}, {"maximize": True}])
def test_sparse_adam_is_adam_where_every_row_has_a_gradient(options):
    options |= {"eps": 1e-20}  # Adam adds it to another root
    np.testing.assert_allclose(train(optim.SparseAdam, True, **options), train(optim.Adam, False, **options))


def test_sparse_adam_leaves_other_rows_alone():
    w = table()
    before = w.detach().numpy().copy()
    optimizer = optim.SparseAdam([w], lr=0.1)
    m, v = np.zeros((6, 3)), np.zeros((6, 3))
    expected = before.copy()
    for step, at in enumerate(([1, 4, 1], [4, 5], [1]), 1):
        optimizer.zero_grad()
        (F.embedding(lamella.tensor(at), w, sparse=True) ** 2).sum().backward()
        optimizer.step()
        g = np.zeros((6, 3))
        np.add.at(g, at, 2 * expected[at])
        rows = sorted(set(at))
        m[rows] = 0.9 * m[rows] + 0.1 * g[rows]
        v[rows] = 0.999 * v[rows] + 0.001 * g[rows] ** 2
        rate = 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        expected[rows] -= rate * m[rows] / (np.sqrt(v[rows]) + 1e-8)
        np.testing.assert_allclose(w.detach().numpy(), expected)
    np.testing.assert_array_equal(w.detach().numpy()[[0, 2, 3]], before[[0, 2, 3]])
    again = optim.SparseAdam([table()], lr=0.1)
    again.load_state_dict(optimizer.state_dict())
    assert again.state[again.param_groups[0]["params"][0]]["step"] == 3


def test_refusals():
    w = table()
    F.embedding(lamella.tensor([1]), w, sparse=True).sum().backward()
    before = w.detach().numpy().copy()
    for name in ("Adam", "AdamW", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD"):
        with refused(name, "sparse gradients"):
            getattr(optim, name)([w]).step()
    for name in ("SGD", "Adagrad"):
        with refused(name, "'weight_decay'"):
            getattr(optim, name)([w], weight_decay=0.1).step()
    np.testing.assert_array_equal(w.detach().numpy(), before)
    w.grad = lamella.ones_like(w)
    with refused("SparseAdam", "dense"):
        optim.SparseAdam([w]).step()
    with refused("SparseAdam", "sparse", error=ValueError):
        optim.SparseAdam([lamella.eye(2).to_sparse().requires_grad_()])
    for options in ({"lr": -1}, {"eps": -1}, {"betas": (1.0, 0.5)}):
        with pytest.raises(ValueError):
            optim.SparseAdam([w], **options)
    with pytest.raises(IndexError):
        F.embedding(lamella.tensor([9]), w, sparse=True)
