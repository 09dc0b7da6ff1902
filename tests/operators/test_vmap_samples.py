"""vmap over every operator of the catalogue: each sample on a batch gives what a loop over the batch gives."""

from contextlib import closing

import lamella
import pytest
import shares
from catalogue import BY_TITLE, FUNCTIONAL
from lamella import func
from lamella.library import Library
from lamella.operators import samples
from lamella.utils import _pytree as pytree

SIZE = 3
SCALES = (1.0, 0.5, 0.75)
LOOPS = {"argmax", "view", "ctc_loss"}
# The results are not determined by the arguments, or are memory that nothing has written.
UNDETERMINED = {t for t in FUNCTIONAL if BY_TITLE[t]["category"] == "random"} | {"empty_like", "empty_strided"}
OPERATORS = [t for t in FUNCTIONAL if t not in UNDETERMINED and BY_TITLE[t]["category"] != "lists" and samples.of(t)]


# Calls whose results follow the layout in memory, which a batch of samples changes.
BY_LAYOUT = {"as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter", "resize_", "resize_as_"}
# Calls whose arguments follow from each other, so that only all together may change.
TOGETHER = {"_attention_backward"}


def versions(tensor):
    """Returns as many tensors as samples: floats differ, whole numbers are the same."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return [tensor.clone() for _ in SCALES]
    return [tensor * s for s in SCALES]


def choices(operator, leaves):
    """Yields sets of leaves to map over: all tensors, then each alone."""
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, lamella.Tensor)]
    if operator in BY_LAYOUT and not all(leaves[i].is_contiguous() for i in at):
        return
    if at:
        yield set(at)
    if len(at) > 1 and operator not in TOGETHER:
        yield from ({i} for i in at)


# Parts of the messages by which vmap refuses a call.
REFUSALS = (
    "depends on values",
    "cannot become a number",
    "which all samples share",
    "returns a number",
    "a mask that differs",
    "is opaque, so it has no memory of which to take a part",  # set_
)


def outcome(function):
    try:
        return function(), None
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError) as error:
        return None, error


def expected(call, leaves, spec, mapped, batches):
    """Returns the stacked results of the calls with each sample."""
    made = []
    for k in range(SIZE):
        given = [batches[i][k].clone() if i in mapped else own(leaf) for i, leaf in enumerate(leaves)]
        args, kwargs = pytree.tree_unflatten(given, spec)
        made.append(call(*args, **kwargs))
    flat = [pytree.tree_flatten(m)[0] for m in made]
    return [lamella.stack(list(parts)) for parts in zip(*flat, strict=True)]


def own(leaf):
    return leaf.clone() if isinstance(leaf, lamella.Tensor) else leaf


def fault(sample):
    """Returns how vmap differs from the loop on a sample; None if it does not."""
    args, kwargs = sample.build()
    leaves, spec = pytree.tree_flatten((args, kwargs))
    call = samples.call(sample.operator)
    for mapped in choices(sample.operator, leaves):
        batches = {i: versions(leaves[i]) for i in mapped}
        right, refused = outcome(lambda m=mapped, b=batches: expected(call, leaves, spec, m, b))
        if refused is None and not all(isinstance(t, lamella.Tensor) for t in right):
            continue

        def on_samples(*tensors, m=mapped):
            given = [own(leaf) if i not in m else None for i, leaf in enumerate(leaves)]
            for i, t in zip(sorted(m), tensors, strict=True):
                given[i] = t
            args, kwargs = pytree.tree_unflatten(given, spec)
            return call(*args, **kwargs)

        stacked = [lamella.stack(batches[i], dim=0) for i in sorted(mapped)]
        found, error = outcome(lambda s=stacked, f=on_samples: pytree.tree_flatten(lamella.vmap(f)(*s))[0])
        if refused is not None:
            if error is None:
                return f"{mapped}: no error, the loop raises {refused}"
            continue
        if error is not None:
            if any(text in str(error) for text in REFUSALS):
                continue
            return f"{mapped}: {type(error).__name__}: {error}"
        for f, r in zip(found, right, strict=True):
            if f.dtype != r.dtype or f.shape != r.shape:
                return f"{mapped}: {f.dtype} {tuple(f.shape)}, expected {r.dtype} {tuple(r.shape)}"
            low = r.dtype in (lamella.float16, lamella.bfloat16)
            wide, exact = f.to(lamella.complex128), r.to(lamella.complex128)
            rtol, atol = (2e-2, 2e-2) if low else (2e-4, 2e-5)
            if not lamella.allclose(wide, exact, rtol=rtol, atol=atol, equal_nan=True):
                return f"{mapped}: differs by {(wide - exact).abs().nan_to_num().max().item()}"
    return None


@pytest.mark.sweep
@pytest.mark.parametrize("operator", OPERATORS)
def test_samples(operator):
    found = [f"{s}: {what}" for s in samples.of(operator) if (what := fault(s))]
    assert not found, "\n".join(found[:8])


def test_operators_that_run_in_a_loop():
    """Operators of the catalogue that run in a loop over samples, for some of their samples; at most one in twenty."""
    func.reset_fallback_counts()
    for operator in OPERATORS[:: 1 if not shares.in_turn() else 7]:
        for sample in samples.of(operator)[:2]:
            fault(sample)
    looped = set(func.fallback_counts())
    assert looped <= LOOPS and len(LOOPS) < 0.05 * len(OPERATORS)


def test_a_planted_rule_is_found():
    """A wrong rule of an operator is reported by the comparison with the loop, until it is withdrawn."""
    sample = samples.of("exp")[0]
    with closing(Library("aten", "IMPL")) as lib:
        lamella.library.register_vmap("aten::exp", lambda info, in_dims, x: (x.exp() * 2, in_dims[0]), lib=lib)
        assert "differs" in fault(sample)
    assert fault(sample) is None
