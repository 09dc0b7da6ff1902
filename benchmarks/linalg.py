"""Factorizations and solvers beside torch: single matrices of 64 and 512, batches of small ones, and products."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import families

MEAN, WORST = 0.75, 1.1
SIZES = {"64": (64,), "512": (512,), "1000x8x8": (1000, 8)}  # a batch, if there is one, and the order
PRODUCTS = (64, 128, 256, 512, 1024, 2048)


def matrices(sizes: tuple[int, ...], dtype: str, positive: bool) -> Any:
    import numpy as np

    a = np.random.default_rng(0).standard_normal((*sizes, sizes[-1]))
    if positive:
        a = a @ a.swapaxes(-1, -2) / sizes[-1] + np.eye(sizes[-1])
    return a.astype(dtype)


def close(relative: float) -> Callable[[Any, Any], None]:
    import numpy as np

    def check(ours: Any, theirs: Any) -> None:
        a, b = np.asarray(ours), np.asarray(theirs)
        size = np.abs(b).max() or 1
        if not np.abs(a - b).max() <= relative * size:
            raise AssertionError(f"results differ by {np.abs(a - b).max() / size:.2g} of the largest")

    return check


# For each function: whether its matrices are positive definite, its call, and the part of its result that is unique.
FUNCTIONS: dict[str, tuple[bool, Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "solve": (False, lambda linalg: linalg.solve, lambda lib, x: x),
    "cholesky": (True, lambda linalg: linalg.cholesky, lambda lib, x: x),
    "svd": (False, lambda linalg: linalg.svd, lambda lib, x: x[1]),
    "eigh": (True, lambda linalg: linalg.eigh, lambda lib, x: x[0]),
    "qr": (False, lambda linalg: linalg.qr, lambda lib, x: abs(lib.diagonal(x[1], 0, -2, -1))),
    "inv": (False, lambda linalg: linalg.inv, lambda lib, x: x),
}


def case(name: str, label: str, sizes: tuple[int, ...], dtype: str) -> families.Case:
    import lamella
    import torch

    positive, function, unique = FUNCTIONS[name]
    a = matrices(sizes, dtype, positive)
    operands: list[list[Any]] = [[lamella.tensor(a)], [torch.from_numpy(a)]]
    if name == "solve":
        b = matrices(sizes, dtype, False)[..., :1]
        operands = [[*operands[0], lamella.tensor(b)], [*operands[1], torch.from_numpy(b)]]

    def call(lib: Any, arguments: list[Any]) -> families.Call:
        f = function(lib.linalg)
        return lambda: f(*arguments)

    relative = close((2e-2 if dtype == "float32" else 1e-8) if name in ("solve", "inv") else 1e-4)
    return families.Case(
        f"{name} {label} {dtype}",
        call(lamella, operands[0]),
        call(torch, operands[1]),
        lambda ours, theirs: relative(unique(lamella, ours), unique(torch, theirs)),
    )


def product(n: int, dtype: str) -> families.Case:
    import lamella
    import numpy as np
    import torch

    a, b = (np.random.default_rng(i).standard_normal((n, n)).astype(dtype) for i in (0, 1))
    if dtype.startswith("complex"):
        a, b = a + 1j * a.T, b - 1j * b.T
    ours, theirs = (
        [lamella.tensor(x.astype(dtype)) for x in (a, b)],
        [torch.from_numpy(x.astype(dtype)) for x in (a, b)],
    )
    return families.Case(
        f"{n} {dtype}",
        lambda: lamella.mm(*ours),
        lambda: torch.mm(*theirs),
        close(1e-4 if dtype == "complex64" else 1e-10),
    )


def main() -> list[families.Family]:
    dtypes = ("float32", "float64")
    single = [case(f, label, SIZES[label], d) for f in FUNCTIONS for label in SIZES for d in dtypes]
    batched = [case(f, "1000x8x8", SIZES["1000x8x8"], d) for f in ("svd", "eigh") for d in dtypes]
    kinds = ("float64", "complex64", "complex128")
    return [
        families.run("linear algebra", single, MEAN, WORST),
        families.run("batched svd and eigh of 8x8", batched, 0.3, 0.3),
        families.run("products in float64 and complex", [product(n, d) for d in kinds for n in PRODUCTS], 0.95, 1.1),
    ]


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
