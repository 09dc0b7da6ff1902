"""Derivatives of every operator on batches: gradients within vmap, and walks with batches of gradients, by loops."""

import lamella
import pytest
from catalogue import BY_TITLE, FUNCTIONAL
from lamella import func
from lamella.operators import samples
from lamella.utils import _pytree as pytree
from test_vmap_samples import SIZE, versions

pytestmark = pytest.mark.needs("autograd")

FLOATS = (lamella.float32, lamella.float64, lamella.complex64)
MOST = 3  # samples of an operator, which are enough for its formulas
# Operators whose composites read values: numbers of the program, masks, and sizes of results.
READ_VALUES = {
    "argwhere",
    "ctc_loss.IntList",
    "ctc_loss.Tensor",
    "equal",
    "histogram.bins_tensor",
    "histogramdd",
    "histogramdd.TensorList_bins",
    "histogramdd.int_bins",
    "is_nonzero",
    "istft",
    "item",
    "linalg_lstsq",
    "nanquantile",
    "nanquantile.scalar",
    "nonzero",
    "nonzero.as_tuple",
    "nonzero_static",
    "quantile",
    "quantile.scalar",
    "segment_reduce",
    "unique_dim",
    "where",
}
OPERATORS = [
    t
    for t in FUNCTIONAL
    if samples.of(t)
    and BY_TITLE[t]["category"] not in ("lists", "random")
    and not BY_TITLE[t]["private"]
    and not t.partition(".")[0].endswith("_")
]


def floats(tree):
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, lamella.Tensor) and t.dtype in FLOATS]


def cases(operator):
    """Yields calls that have floats among their arguments: sample, leaves, their nesting, and the places of floats."""
    count = 0
    for sample in samples.of(operator):
        leaves, spec = pytree.tree_flatten(sample.build())
        at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, lamella.Tensor) and leaf.dtype in FLOATS]
        if at and count < MOST:
            count += 1
            yield sample, leaves, spec, at


def difference(found, right):
    pairs = [(f, r) for f, r in zip(found, right, strict=True) if r.numel()]
    return max(
        ((f - r).abs().nan_to_num().max().item() / (1 + r.abs().nan_to_num().max().item()) for f, r in pairs), default=0
    )


def gradient_fault(operator):
    """Returns how gradients within vmap differ from those of a loop; None if they do not."""
    for sample, leaves, spec, at in cases(operator):
        call = samples.call(operator)

        def energy(*given, leaves=leaves, spec=spec, at=at, call=call):
            full = list(leaves)
            for i, t in zip(at, given, strict=True):
                full[i] = t
            args, kwargs = pytree.tree_unflatten(full, spec)
            parts = [(t.abs() ** 2).sum().to(lamella.float32) for t in floats(call(*args, **kwargs))]
            return sum(parts, lamella.zeros(()))

        gradients = func.grad(energy, tuple(range(len(at))))
        batches = [versions(leaves[i]) for i in at]
        try:
            rows = [gradients(*(batch[k] for batch in batches)) for k in range(SIZE)]
        except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
            continue  # a bad call, or one without a derivative
        right = [lamella.stack(list(column)) for column in zip(*rows, strict=True)]
        found = lamella.vmap(gradients)(*(lamella.stack(batch) for batch in batches))
        if (by := difference(found, right)) > 2e-3:
            return f"{sample}: differs by {by}"
    return None


def walk_fault(operator):
    """Returns how a walk over the graph with a batch of gradients differs from walks with each; None if it does not."""
    for sample, leaves, spec, at in cases(operator):
        for i in at:
            leaves[i] = leaves[i].detach().requires_grad_()
        args, kwargs = pytree.tree_unflatten(leaves, spec)
        try:
            results = [t for t in floats(samples.call(operator)(*args, **kwargs)) if t.requires_grad]
        except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
            continue
        if not results:
            continue
        inputs = [leaves[i] for i in at]

        def walk(*grads, results=results, inputs=inputs):
            return lamella.autograd.grad(results, inputs, grads, retain_graph=True, materialize_grads=True)

        batches = [lamella.stack([lamella.ones_like(t) * s for s in (1, -0.5, 2)]) for t in results]
        try:
            rows = [walk(*(batch[k] for batch in batches)) for k in range(SIZE)]
        except (RuntimeError, NotImplementedError):
            continue
        right = [lamella.stack(list(column)) for column in zip(*rows, strict=True)]
        if (by := difference(lamella.vmap(walk)(*batches), right)) > 2e-3:
            return f"{sample}: differs by {by}"
    return None


@pytest.mark.sweep
@pytest.mark.parametrize("operator", [t for t in OPERATORS if t not in READ_VALUES])
def test_gradients_within_vmap(operator):
    assert gradient_fault(operator) is None


@pytest.mark.sweep
@pytest.mark.parametrize("operator", sorted(READ_VALUES))
def test_values_are_refused(operator):
    """An operator that reads values says so within vmap, and gives no wrong gradient."""
    try:
        assert gradient_fault(operator) is None
    except (RuntimeError, NotImplementedError) as error:
        assert any(text in str(error) for text in ("cannot become a number", "depends on values", "opaque tensor"))


@pytest.mark.sweep
@pytest.mark.parametrize("operator", OPERATORS)
def test_walks_with_batches_of_gradients(operator):
    assert walk_fault(operator) is None
