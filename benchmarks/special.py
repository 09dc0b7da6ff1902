"""Special functions beside torch at a million elements, as a family: float32 and float64, with one and two threads."""

from __future__ import annotations

import sys

import lamella
import numpy as np
import torch
from common import Bound, Row, measure, timer
from families import Family, set_threads
from pointwise import both, numpy_of, pair, printed

N = 10**6
FAMILY, WORST = 0.6, 1.1
RIGHT = """bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0 i0e i1 i1e modified_bessel_i0 modified_bessel_i1
modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0
scaled_modified_bessel_k1 digamma gammaln entr spherical_bessel_j0""".split()
CENTRED = "airy_ai ndtr log_ndtr erfcx sinc expit erf erfc".split()
UNIT = "ndtri erfinv logit log1p expm1 exp2".split()
POLYNOMIALS = [
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    *"hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p".split(),
]


def cases(dtype: type):
    """Yields name, statement and operands."""
    rng = np.random.default_rng(0)
    x, y = (pair(rng.uniform(0.01, 10, N).astype(dtype)) for _ in range(2))
    ops = {"x": x, "y": y, "s": pair(rng.standard_normal(N).astype(dtype)), "u": pair(rng.random(N).astype(dtype))}
    ops["above"] = pair(rng.uniform(1.1, 10, N).astype(dtype))
    ops["n"] = pair(rng.integers(0, 10, N).astype(dtype))
    ops["k"] = pair(rng.integers(-9, 10, N))
    for operand, names in (("x", RIGHT), ("s", CENTRED), ("u", UNIT)):
        for name in names:
            yield name, f"T.special.{name}({operand})", ops
    for name in ("gammainc", "gammaincc", "xlogy", "xlog1py"):
        yield name, f"T.special.{name}(x, y)", ops
    yield "zeta", "T.special.zeta(above, y)", ops
    yield "multigammaln", "T.special.multigammaln(x + 3, 3)", ops
    for order in (1, 3):
        yield f"polygamma {order}", f"T.special.polygamma({order}, x)", ops
    for name in POLYNOMIALS:
        yield name, f"T.special.{name}(u, n)", ops
    yield "nextafter", "T.nextafter(x, y)", ops
    yield "ldexp", "T.ldexp(x, k)", ops
    yield "frexp", "T.frexp(x)[0]", ops
    if dtype is np.float64:
        whole = {v: pair(rng.integers(1, 10**6, N)) for v in "ij"}
        yield "gcd", "T.gcd(i, j)", whole
        yield "lcm", "T.lcm(i, j)", whole


def row(name: str, statement: str, names: dict, dtype: type) -> Row:
    """The results of both must agree to the accuracy of torch's, which is 3e-6 for airy_ai."""
    peers = both(statement, names)
    ours, theirs = (numpy_of(eval(s, dict(n))) for s, n in peers.values())
    loose = 3e-4 if dtype is np.float32 else 1e-5
    size = max(1.0, float(np.median(np.abs(theirs[np.isfinite(theirs)]))))  # polynomials are large beside their zeros
    if not np.allclose(ours, theirs, rtol=loose, atol=loose * size, equal_nan=True):
        raise AssertionError(f"{name}: the results differ by {np.nanmax(np.abs(ours - theirs))}")
    return Row(name, measure({peer: timer(s, n) for peer, (s, n) in peers.items()}), [Bound("torch", WORST)])


def main() -> list[Family]:
    before = lamella.get_num_threads(), torch.get_num_threads()
    family = Family("Special functions", FAMILY, WORST)
    try:
        for threads in (1, 2):
            set_threads(threads)
            for dtype in (np.float32, np.float64):
                for name, statement, names in cases(dtype):
                    label = f"{name}, {np.dtype(dtype).name}, {threads} thread{'s' * (threads > 1)}"
                    family.rows.append(row(label, statement, names, dtype))
    finally:
        lamella.set_num_threads(before[0])
        torch.set_num_threads(before[1])
    return [printed(family)]


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
