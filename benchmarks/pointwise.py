"""Pointwise operators, casts and copies beside torch: families with their geometric means, and errors in ulp."""

from __future__ import annotations

import math
import statistics
import sys

import lattis
import numpy as np
import torch
from common import Bound, Row, measure, same, table, timer

SIZES = (10**4, 10**6, 10**7)
FAMILY, WORST, SMALL = 0.45, 1.1, 0.15
UNARY = "relu exp log tanh sigmoid erf gelu".split()


def pair(array):
    """The same elements for both peers."""
    return lattis.tensor(array), torch.from_numpy(array.copy())


def both(statement: str, names: dict) -> dict[str, tuple[str, dict]]:
    """A statement for each peer; `T` is the module, `F` its functions of neural networks, names are pairs."""
    modules = {"lattis": (lattis, lattis.ops.aten), "torch": (torch, torch.nn.functional)}
    return {
        peer: (statement, {"T": T, "F": F, **{k: v[i] for k, v in names.items()}})
        for i, (peer, (T, F)) in enumerate(modules.items())
    }


def numpy_of(result):
    return np.asarray(result.to(result.dtype).float() if "bfloat16" in str(result.dtype) else result)


def row(name: str, statement: str, names: dict, most: float = WORST) -> Row:
    peers = both(statement, names)
    same({peer: numpy_of(eval(s, dict(n))) for peer, (s, n) in peers.items()})
    timers = {peer: timer(s, n) for peer, (s, n) in peers.items()}
    return Row(name, measure(timers), [Bound("torch", most)])


def plain(n: int):
    """(name, statement, operands) of what runs over `n` contiguous numbers."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    ops = {"x": pair(x), "y": pair(y), "p": pair(np.abs(x) + 0.1), "c": pair(x > 0)}
    yield "add", "x + y", ops
    yield "mul", "x * y", ops
    for name in UNARY:
        yield name, f"F.{name}(x)" if name == "gelu" else f"T.{name}({'p' if name == 'log' else 'x'})", ops
    yield "where", "T.where(c, x, y)", ops
    yield "clamp", "T.clamp(x, -1, 1)", ops


def shaped(n: int):
    """Broadcasts, strides, other dtypes, casts and copies."""
    rng = np.random.default_rng(1)
    m = math.isqrt(n)
    x, y = pair(rng.standard_normal((m, m)).astype(np.float32)), pair(rng.standard_normal((m, m)).astype(np.float32))
    i = pair(rng.integers(-9, 9, (m, m)))
    half = (x[0].to(lattis.bfloat16), x[1].to(torch.bfloat16))
    ops = {"x": x, "y": y, "i": i, "h": half, "row": (y[0][0], y[1][0]), "col": (y[0][:, :1], y[1][:, :1])}
    ops["three"] = tuple(t.reshape(-1)[: m * m // 3 * 3].reshape(-1, 3) for t in x)
    yield "add a row", "x + row", ops
    yield "add a column", "x + col", ops
    yield "add along 3", "three + three[0]", ops
    yield "strided", "x[:, ::2] + y[:, ::2]", ops
    yield "transposed", "x + y.t()", ops
    yield "bfloat16 add", "h + h", ops
    yield "bfloat16 exp", "T.exp(h)", ops
    yield "int64 add", "i + i", ops
    for of, to in (
        ("x", "bfloat16"),
        ("h", "float32"),
        ("x", "float16"),
        ("x", "float64"),
        ("x", "int64"),
        ("i", "float32"),
    ):
        yield f"{of} to {to}", f"{of}.to(T.{to})", ops
    yield "transpose().contiguous()", "x.t().contiguous()", ops


def family(title: str, cases, most: float = WORST, mean: float | None = FAMILY) -> list[Row]:
    rows = [row(name, statement, names, most) for name, statement, names in cases]
    print(table(title, rows))
    ratios = [r.ratios["torch"] for r in rows]
    worst = max(rows, key=lambda r: r.ratios["torch"])
    bound = f" (at most {mean})" if mean else ""
    print(
        f"geometric mean {statistics.geometric_mean(ratios):.3f}{bound}, worst {worst.ratios['torch']:.3f}: {worst.name}\n"
    )
    return rows


def small() -> list[Row]:
    rng = np.random.default_rng(2)
    ops = {k: pair(rng.uniform(0.1, 0.9, 16).astype(np.float32)) for k in "xy"}
    one = "abs acos asin atan ceil cos cosh erf erfc exp exp2 expm1 floor frac log log10 log1p log2 neg reciprocal relu round".split()
    one += "rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc isnan isfinite".split()
    two = "add sub mul div pow atan2 hypot maximum minimum eq lt fmod remainder logaddexp".split()
    cases = [(n, f"T.{n}(x)", ops) for n in one] + [(n, f"T.{n}(x, y)", ops) for n in two]
    return family("16 elements", cases, SMALL, None)


def ulps(got: np.ndarray, exact: np.ndarray) -> float:
    ok = np.isfinite(exact)
    unit = np.spacing(np.maximum(np.abs(exact), np.finfo(np.float32).tiny).astype(np.float32)).astype(np.float64)
    return float(np.max((np.abs(got.astype(np.float64) - exact) / unit)[ok]))


def errors() -> None:
    """The largest error of each function in float32 against float64, in units of the last place, beside torch's."""
    from scipy import special

    def gelu(x):
        return x * special.ndtr(x)

    rng = np.random.default_rng(3)
    title = "largest error in float32, in ulp: at most torch's or 4"
    print(f"{title}\n{'-' * len(title)}")
    exact = {n: getattr(np, n) for n in "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt".split()}
    exact |= {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "atanh": np.arctanh}
    exact |= {
        "erf": special.erf,
        "erfc": special.erfc,
        "sigmoid": special.expit,
        "gelu": gelu,
        "lgamma": special.gammaln,
    }
    for name, function in exact.items():
        low, high = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "gelu": (-5, 10)}.get(name, (-10, 10))
        if name in ("log", "log2", "log10", "log1p", "sqrt", "lgamma"):
            low = 1e-3
        x = rng.uniform(low, high, 10**6).astype(np.float32)
        want = function(x.astype(np.float64))
        ours = np.asarray((lattis.ops.aten.gelu if name == "gelu" else getattr(lattis, name))(lattis.tensor(x)))
        theirs = (torch.nn.functional.gelu if name == "gelu" else getattr(torch, name))(torch.from_numpy(x)).numpy()
        a, b = ulps(ours, want), ulps(theirs, want)
        print(f"{name:10s} lattis {a:8.2f}  torch {b:8.2f}  {'ok' if a <= max(b, 4) else 'SHORT'}")
    print()


def main() -> list[Row]:
    rows = small()
    for threads in (1, 2):
        lattis.set_num_threads(threads)
        torch.set_num_threads(threads)
        for n in SIZES:
            cases = [*plain(n), *shaped(n)]
            rows += family(f"{n} elements, {threads} thread{'s' * (threads > 1)}", cases)
    lattis.set_num_threads(1)
    torch.set_num_threads(1)
    errors()
    return rows


if __name__ == "__main__":
    sys.exit(0 if all(r.holds for r in main()) else 1)
