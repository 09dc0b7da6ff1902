"""Sparse matrices: products in CSR form, forward and backward, sums of entries, and sparse gradients of a table, beside
torch and scipy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import common
import families

SIZE, ENTRIES, COLUMNS = 10**5, 10**6, 64
BOUND = 0.8


def entries() -> tuple[Any, Any, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, SIZE, (2, ENTRIES))
    return rows, columns, rng.standard_normal(ENTRIES)


def peers_of_a_matrix(dtype: str, index: str) -> tuple[Any, Any, Any]:
    """Returns one matrix as Lamella, torch and scipy have it."""
    import lamella
    import scipy.sparse
    import torch

    rows, columns, values = entries()
    matrix = scipy.sparse.csr_array((values.astype(dtype), (rows, columns)), shape=(SIZE, SIZE))
    parts = [matrix.indptr.astype(index), matrix.indices.astype(index), matrix.data]
    with warnings.catch_warnings():  # torch says that its CSR tensors are in beta state
        warnings.simplefilter("ignore")
        theirs = torch.sparse_csr_tensor(*map(torch.from_numpy, parts), (SIZE, SIZE))
    return lamella.sparse_csr_tensor(*map(lamella.from_numpy, parts), (SIZE, SIZE)), theirs, matrix


def numbers(x: Any) -> Any:
    """Returns a result as an array; of a sparse one its values."""
    import numpy as np

    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "coords"):
        return x.data[np.lexsort((x.coords[1], x.coords[0]))]
    x = x.detach()
    return (x.coalesce().values() if x.is_sparse else x).numpy()


def row(name: str, calls: dict[str, Callable[[], Any]], threads: int) -> common.Row:
    common.same({peer: numbers(call()) for peer, call in calls.items()})
    samples = common.measure({peer: families.repeat(call) for peer, call in calls.items()})
    bounds = [common.Bound(peer, BOUND) for peer in calls if peer != "lamella"]
    return common.Row(f"{name}, {threads} thread{'s' * (threads > 1)}", samples, bounds)


def products() -> list[tuple[str, dict[str, Callable[[], Any]]]]:
    import lamella
    import numpy as np
    import torch

    rng = np.random.default_rng(1)
    found: list[tuple[str, dict[str, Callable[[], Any]]]] = []
    for dtype, index in (("float32", "int64"), ("float32", "int32"), ("float64", "int64"), ("float64", "int32")):
        ours, theirs, matrix = peers_of_a_matrix(dtype, index)
        for name, shape in (("a vector", (SIZE,)), (f"{COLUMNS} columns", (SIZE, COLUMNS))):
            x = rng.standard_normal(shape).astype(dtype)
            a, b = lamella.from_numpy(x), torch.from_numpy(x)
            calls: dict[str, Callable[[], Any]] = {
                "lamella": lambda ours=ours, a=a: ours @ a,
                "torch": lambda theirs=theirs, b=b: theirs @ b,
                "scipy": lambda matrix=matrix, x=x: matrix @ x,
            }
            found.append((f"CSR × {name}, {dtype}, {index}", calls))
    return found


def sums() -> list[tuple[str, dict[str, Callable[[], Any]]]]:
    import lamella
    import numpy as np
    import scipy.sparse
    import torch

    rows, columns, values = entries()
    at = np.stack([rows, columns])
    found: list[tuple[str, dict[str, Callable[[], Any]]]] = []
    for dtype in ("float32", "float64"):
        v = values.astype(dtype)

        def added(v: Any = v) -> Any:
            matrix = scipy.sparse.coo_array((v, (rows, columns)), shape=(SIZE, SIZE))
            matrix.sum_duplicates()  # in the order of the columns
            return matrix

        def make(library: Any, v: Any = v) -> Callable[[], Any]:
            i, x = library.from_numpy(at), library.from_numpy(v)
            return lambda: library.sparse_coo_tensor(i, x, (SIZE, SIZE)).coalesce()

        found.append((f"COO coalesce, {dtype}", {"lamella": make(lamella), "torch": make(torch), "scipy": added}))
    return found


def tables() -> list[tuple[str, dict[str, Callable[[], Any]]]]:
    """Returns a training step of a table of 10⁵ rows of 64, of which a batch names 4096."""
    import lamella
    import numpy as np
    import torch

    weight = np.random.default_rng(0).standard_normal((SIZE, 64), np.float32)
    at = np.random.default_rng(1).integers(0, SIZE, 4096)

    def step(library: Any) -> Callable[[], Any]:
        w = library.from_numpy(weight.copy()).requires_grad_()
        optimizer, i = library.optim.SparseAdam([w], lr=1e-9), library.from_numpy(at)

        def run() -> Any:
            optimizer.zero_grad()
            (library.nn.functional.embedding(i, w, sparse=True) ** 2).sum().backward()
            optimizer.step()
            return w.grad

        return run

    return [("SparseAdam, 4096 of 10⁵ rows", {"lamella": step(lamella), "torch": step(torch)})]


def main() -> list[common.Row]:
    import lamella
    import torch

    before = lamella.get_num_threads(), torch.get_num_threads()
    cases = products() + sums() + tables()
    rows = []
    try:
        for threads in (1, 2):
            families.set_threads(threads)
            for name, calls in cases:
                rows.append(row(name, calls, threads))
    finally:
        lamella.set_num_threads(before[0])
        torch.set_num_threads(before[1])
    print(common.table("Sparse matrices, 10⁵ × 10⁵ with 10⁶ entries", rows))
    return rows


if __name__ == "__main__":
    main()
