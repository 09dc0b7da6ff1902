"""Products of matrices beside torch: squares, batches, vectors, and tiny ones, which show the cost of a call."""

from __future__ import annotations

import sys
from typing import Any

import families

MEAN, WORST, TINY = 0.9, 1.1, 0.15
CASES = {  # each name has the shapes of both operands
    **{f"{n}": ((n, n), (n, n)) for n in (64, 128, 256, 512, 1024, 2048)},
    "64x100x10": ((64, 100), (100, 10)),
    "batched 32 of 64": ((32, 64, 64), (32, 64, 64)),
    "batched 8 of 256": ((8, 256, 256), (8, 256, 256)),
    "matrix, vector": ((2048, 2048), (2048,)),
    "vector, matrix": ((2048,), (2048, 2048)),
}
SQUARES = tuple(int(name) for name in CASES if name.isdigit())
TINIES = {"2x2": ((2, 2), (2, 2)), "4x4": ((4, 4), (4, 4)), "4x4, vector": ((4, 4), (4,))}


def case(name: str, shapes: tuple[tuple[int, ...], ...], dtype: str) -> families.Case:
    import lamella
    import numpy as np
    import torch

    held = "float32" if dtype == "bfloat16" else dtype
    arrays = [np.random.default_rng(i).standard_normal(s).astype(held) for i, s in enumerate(shapes)]
    depth = shapes[0][-1]
    arrays[0] *= depth**-0.5  # so that errors stay below the check's bound for any depth

    def call(x: Any, y: Any) -> families.Call:
        return lambda: x @ y

    def rounded(ours: Any, theirs: Any) -> None:
        """Compares bfloat16: sums are rounded to eight bits, so that another order of summing may give a neighbour."""
        np.testing.assert_allclose(np.asarray(ours.float()), theirs.float().numpy(), rtol=2**-7, atol=2**-7)

    ours = (lamella.tensor(a).to(getattr(lamella, dtype)) for a in arrays)
    theirs = (torch.from_numpy(a).to(getattr(torch, dtype)) for a in arrays)
    return families.Case(name, call(*ours), call(*theirs), rounded if dtype == "bfloat16" else None)


def bytes_case(n: int, left: str, turned: bool) -> families.Case:
    """Makes a case of ``_int_mm``; if `turned`, the right operand is transposed, as the weight of a linear layer is."""
    import lamella
    import numpy as np
    import torch

    rng, limits = np.random.default_rng(n), np.iinfo(left)
    arrays = [
        rng.integers(limits.min, limits.max + 1, (n, n)).astype(left),
        rng.integers(-128, 128, (n, n)).astype("int8"),
    ]

    def call(peer: Any, x: Any, y: Any) -> families.Call:
        y = y.t() if turned else y
        return lambda: peer._int_mm(x, y)

    name = f"{n}, {left}{', columns' * turned}"
    ours, theirs = (lamella.tensor(a) for a in arrays), (torch.from_numpy(a) for a in arrays)
    return families.Case(name, call(lamella, *ours), call(torch, *theirs))


def linear_case(rows: int, features: int) -> families.Case:
    """Makes a case of a linear layer with a weight of int8."""
    import lamella
    import numpy as np
    import torch

    rng = np.random.default_rng(rows)
    x, w = (rng.integers(-128, 128, (n, features)).astype("int8") for n in (rows, features))
    numbers = [rng.random(features).astype("float32") for _ in range(2)]
    row, weight = lamella.tensor(x), lamella.tensor(w)
    factors = [lamella.tensor(n) for n in numbers]
    theirs, (scale, bias) = [torch.from_numpy(a) for a in (x, w)], [torch.from_numpy(n) for n in numbers]
    return families.Case(
        f"{rows}x{features}",
        lambda: lamella.ops.aten._int_linear(row, weight, None, None, *factors),
        lambda: torch._int_mm(theirs[0], theirs[1].t()) * scale + bias,
    )


def main() -> list[families.Family]:
    made = []
    for dtype in ("float32", "float64", "bfloat16"):
        cases = [case(name, shapes, dtype) for name, shapes in CASES.items()]
        made.append(families.run(f"Products of matrices, {dtype}", cases, MEAN, WORST))
    cases = [bytes_case(n, "int8", turned) for turned in (False, True) for n in SQUARES]
    cases += [bytes_case(n, "uint8", False) for n in (256, 1024)]
    made.append(families.run("Products of bytes, _int_mm", cases, MEAN, WORST))
    cases = [linear_case(rows, features) for features in (256, 1024) for rows in (1, 8, 64, 256)]
    made.append(families.run("Linear layers of bytes, _int_linear", cases, MEAN, WORST))
    cases = [case(name, shapes, "float32") for name, shapes in TINIES.items()]
    return [*made, families.run("Products of 16 elements", cases, TINY, TINY)]


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
