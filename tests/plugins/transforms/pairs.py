"""Transforms of transforms beside finite differences and loops of numpy in float64, and the table of their pairs.

A transform makes a function of a vector from a function of a vector, so that any two, in any order, are a cell of the
table. ``python pairs.py PAGE`` writes the table into a page, between its two marks.
"""

import itertools
import sys
from pathlib import Path

import lamella
import numpy as np
from lamella.func import functionalize, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from lamella.utils.checkpoint import checkpoint

MARKS = "<!-- pairs of transforms, made by `make stubs`; a test compares -->\n", "<!-- end of pairs -->\n"
DEVICE = "cpu"  # another program may set it

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
    **dict.fromkeys(("functionalize", "checkpoint", "autocast"), lambda f: f),
}


# ---- by lamella --------------------------------------------------------------------------------------------


def vector(values):
    return lamella.tensor(values, dtype=lamella.float64, device=DEVICE)


def base(x):
    a, b, c = x
    made = lamella.stack([(a * b).sin(), a * c.exp()])
    made[1].mul_(0.5)
    return made.add_(lamella.stack([c * c, -b.cos()]))


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


def casting(f):
    def called(x):
        with lamella.autocast(lamella.device(DEVICE).type, dtype=lamella.bfloat16):  # leaves float64 alone
            return f(x)

    return called


TRANSFORMS = {
    "vmap": lambda f: lambda x: vmap(f)(x * vector(SCALES)[:, None]),
    "grad": lambda f: grad(total(f)),
    "vjp": transposed,
    "jvp": lambda f: lambda x: jvp(f, (x,), (vector(TANGENT),))[1],
    "jacrev": jacrev,
    "jacfwd": jacfwd,
    "hessian": lambda f: hessian(total(f)),
    "functionalize": functionalize,
    "checkpoint": lambda f: lambda x: checkpoint(f, x, use_reentrant=False),
    "autocast": casting,
}
TRIPLES = list(itertools.product(("vmap", "grad", "jvp", "jacrev"), repeat=3))


def difference(names):
    """Returns how much the transforms' result differs from its oracle; the first name is the outermost transform."""
    found, expected = base, numpy_base
    for name in reversed(names):
        found, expected = TRANSFORMS[name](found), NUMPY[name](expected)
    mine, right = found(vector(POINT)), expected(np.array(POINT))
    assert mine.shape == right.shape and mine.dtype == lamella.float64
    return float(np.abs(mine.cpu().numpy() - right).max() / max(np.abs(right).max(), 1))


def cell(outer, inner):
    """Returns a cell of the table: "right", or the error that the pair raises; a wrong result is no cell."""
    try:
        by = difference((outer, inner))
    except (RuntimeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"
    if by > 1e-6:
        raise AssertionError(f"{outer} of {inner}: differs by {by}")
    return "right"


def table():
    """Returns the table of all pairs, as lines of Markdown, and below it the errors of pairs that are refused."""
    names, refused = list(TRANSFORMS), []
    lines = [f"| outer, inner | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for outer in names:
        cells = []
        for inner in names:
            found = cell(outer, inner)
            cells.append("right" if found == "right" else "refused")
            refused += [f"* {outer} of {inner}: {found}"] if found != "right" else []
        lines.append(f"| **{outer}** | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *refused]).rstrip() + "\n"


def main(page):
    text = Path(page).read_text()
    before, _, rest = text.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    Path(page).write_text(f"{before}{MARKS[0]}{table()}{MARKS[1]}{after}")


if __name__ == "__main__":
    main(sys.argv[1])
