"""Forward mode of every operator: tangents, tangents of gradients, and batches of tangents, beside reverse mode."""

import lamella
import pytest
from lamella import func
from lamella.operators import samples
from lamella.utils import _pytree as pytree
from test_vmap_gradients import OPERATORS, READ_VALUES, cases, difference, floats

pytestmark = pytest.mark.needs("autograd")

REFUSED = (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError)


def calls(operator):
    """Yields for samples of an operator: the sample, its call as a function of its floats, and these."""
    for sample, leaves, spec, at in cases(operator):
        call = samples.call(operator)

        def function(*given, leaves=leaves, spec=spec, at=at, call=call):
            full = list(leaves)
            for i, t in zip(at, given, strict=True):
                full[i] = t
            args, kwargs = pytree.tree_unflatten(full, spec)
            return tuple(floats(call(*args, **kwargs)))

        yield sample, function, tuple(leaves[i].detach() for i in at)


def energy(function):
    """Returns a function whose gradients depend on its arguments even where ``function`` is linear."""

    def number(*given):
        return sum(((t.abs() ** 2).sum().to(lamella.float64) for t in function(*given)), lamella.zeros(()).double())

    return number


def directions(primals):
    generator = lamella.Generator().manual_seed(1)
    return tuple(lamella.randn(t.shape, generator=generator, dtype=t.dtype) for t in primals)


def by_reverse(function, primals, tangents):
    """Returns the tangents of the results by two walks over autograd's graph; None if there are none."""
    try:
        results, along = func.linearize(function, *primals)
        return along(*tangents) if results else None
    except REFUSED:
        return None  # a bad call, or one without a derivative


def tangent_fault(operator):
    """Returns how tangents of results differ from those of two walks in reverse mode; None if they do not."""
    for sample, function, primals in calls(operator):
        tangents = directions(primals)
        right = by_reverse(function, primals, tangents)
        if right is None:
            continue
        found = func.jvp(function, primals, tangents)[1]
        for f, r in zip(found, right, strict=True):
            if (f.shape, f.dtype) != (r.shape, r.dtype):
                return f"{sample}: a tangent has shape {f.shape} and dtype {f.dtype}, not {r.shape} and {r.dtype}"
        if (by := difference(found, right)) > 2e-3:
            return f"{sample}: differs by {by}"
    return None


def gradient_fault(operator):
    """Returns how tangents of gradients differ from those of two walks; None if they do not."""
    for sample, function, primals in calls(operator):
        gradients = func.grad(energy(function), tuple(range(len(primals))))
        tangents = directions(primals)
        right = by_reverse(gradients, primals, tangents)
        if right is not None and (by := difference(func.jvp(gradients, primals, tangents)[1], right)) > 2e-3:
            return f"{sample}: differs by {by}"
    return None


def batch_fault(operator):
    """Returns how a batch of tangents differs from each of them; None if it does not."""
    for sample, function, primals in calls(operator):
        tangents = directions(primals)
        rows = [by_reverse(function, primals, [t * s for t in tangents]) for s in (1, -0.5, 2)]
        if rows[0] is None:
            continue
        right = [lamella.stack(list(column)) for column in zip(*rows, strict=True)]
        batches = [lamella.stack([t * s for s in (1, -0.5, 2)]) for t in tangents]
        found = lamella.vmap(lambda *t, f=function, p=primals: func.jvp(f, p, t)[1])(*batches)
        if (by := difference(found, right)) > 2e-3:
            return f"{sample}: differs by {by}"
    return None


@pytest.mark.sweep
@pytest.mark.parametrize("operator", OPERATORS)
def test_tangents(operator):
    assert tangent_fault(operator) is None


@pytest.mark.sweep
@pytest.mark.parametrize("operator", OPERATORS)
def test_tangents_of_gradients(operator):
    assert gradient_fault(operator) is None


@pytest.mark.sweep
@pytest.mark.parametrize("operator", [t for t in OPERATORS if t not in READ_VALUES])
def test_batches_of_tangents(operator):
    assert batch_fault(operator) is None


@pytest.mark.sweep
@pytest.mark.parametrize("operator", sorted(READ_VALUES))
def test_batches_of_tangents_do_not_become_numbers(operator):
    """An operator that reads values says so within vmap, and gives no wrong tangent."""
    try:
        assert batch_fault(operator) is None
    except (RuntimeError, NotImplementedError) as error:
        assert any(text in str(error) for text in ("cannot become a number", "depends on values", "opaque tensor"))


class WrongTangent(lamella.autograd.Function if hasattr(lamella, "autograd") else object):
    """A square whose ``jvp`` lacks a factor of 2."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * ctx.saved_tensors[0]


def test_a_wrong_tangent_is_reported():
    x, tangent = (lamella.tensor([3.0]),), (lamella.ones(1),)
    right = by_reverse(lambda x: (WrongTangent.apply(x),), x, tangent)
    assert difference(func.jvp(lambda x: (WrongTangent.apply(x),), x, tangent)[1], right) > 2e-3
