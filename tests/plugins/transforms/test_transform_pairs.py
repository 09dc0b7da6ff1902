"""Each transform of each transform, and some triples, against finite differences and loops of numpy in float64.

A transform makes a function of a vector from a function of a vector, so that any two, in any order, are a cell of the
table ``RESULTS``.
"""

import itertools

import lamella
import numpy as np
import pytest
from lamella.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

DEVICE = "cpu"
# Maps (outer, inner) to the largest difference of a result from its oracle, in relation to the largest result.
RESULTS: dict[tuple[str, ...], float] = {}

POINT = [0.3, -0.7, 1.1]
TANGENT = [0.5, 1.0, -0.25]
SCALES = [1.0, 0.5]  # a batch of vmap is made of the vector times these
STEP = 0.05
STENCIL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # exact up to degree 6


# ---- by numpy: the last dimension of an array is the vector, and those in front are of further vectors ----


def numpy_base(x):
    a, b, c = np.moveaxis(x, -1, 0)
    return np.stack([np.sin(a * b) + c * c, 0.5 * a * np.exp(c) - np.cos(b)], -1)


def numpy_jacobian(f):
    def jacobian(x):
        steps = STEP * np.array(list(STENCIL))[:, None, None] * np.eye(3)  # point, column, vector
        given = x[None, None] + steps.reshape(len(STENCIL), 3, *[1] * (x.ndim - 1), 3)
        made = np.tensordot(np.array(list(STENCIL.values())) / STEP, f(given), 1)
        return np.moveaxis(made, 0, -1)

    return jacobian


def numpy_total(f):
    """Sums the results, each with a weight."""

    def total(x):
        made = f(x)
        flat = made.reshape(*x.shape[:-1], -1)
        return flat @ np.linspace(1, 2, flat.shape[-1])

    return total


NUMPY = {
    "vmap": lambda f: lambda x: np.stack([f(x * s) for s in SCALES], x.ndim - 1),
    "grad": lambda f: numpy_jacobian(numpy_total(f)),
    "vjp": lambda f: numpy_jacobian(numpy_total(f)),
    "jvp": lambda f: lambda x: numpy_jacobian(f)(x) @ np.array(TANGENT),
    "jacrev": numpy_jacobian,
    "jacfwd": numpy_jacobian,
    "hessian": lambda f: numpy_jacobian(numpy_jacobian(numpy_total(f))),
}


# ---- by lamella --------------------------------------------------------------------------------------------


def vector(values):
    return lamella.tensor(values, dtype=lamella.float64, device=DEVICE)


def base(x):
    a, b, c = x
    return lamella.stack([(a * b).sin() + c * c, 0.5 * a * c.exp() - b.cos()])


def weights(made):
    return vector(np.linspace(1, 2, made.numel()).tolist()).view(made.shape)


def total(f):
    def weighed(x):
        made = f(x)
        return (made * weights(made)).sum()

    return weighed


def transposed(f):
    def product(x):
        made, back = vjp(f, x)
        return back(weights(made))[0]

    return product


TRANSFORMS = {
    "vmap": lambda f: lambda x: vmap(f)(x * vector(SCALES)[:, None]),
    "grad": lambda f: grad(total(f)),
    "vjp": transposed,
    "jvp": lambda f: lambda x: jvp(f, (x,), (vector(TANGENT),))[1],
    "jacrev": jacrev,
    "jacfwd": jacfwd,
    "hessian": lambda f: hessian(total(f)),
}
TRIPLES = list(itertools.product(("vmap", "grad", "jvp", "jacrev"), repeat=3))


def difference(names):
    """Returns how much the transforms' result differs from its oracle; the first name is the outermost transform."""
    found, expected = base, numpy_base
    for name in reversed(names):
        found, expected = TRANSFORMS[name](found), NUMPY[name](expected)
    mine, right = found(vector(POINT)), expected(np.array(POINT))
    assert mine.shape == right.shape and mine.dtype == lamella.float64
    return float(np.abs(mine.numpy() - right).max() / max(np.abs(right).max(), 1))


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_pairs(outer, inner):
    RESULTS[outer, inner] = difference((outer, inner))
    assert RESULTS[outer, inner] < 1e-6


@pytest.mark.parametrize("names", TRIPLES, ids=map(" of ".join, TRIPLES))
def test_triples(names):
    RESULTS[names] = difference(names)
    assert RESULTS[names] < 1e-6


@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_oracles_agree_with_one_transform(name):
    assert difference((name,)) < 1e-7
