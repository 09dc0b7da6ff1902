"""Pointwise operators, casts and copies beside torch, as families, and errors in ulp."""

from __future__ import annotations

import math
import sys

import lamella
import numpy as np
import torch
from common import Bound, Row, measure, same, table, timer
from families import Family, set_threads

SIZES = (10**4, 10**6, 10**7)
FAMILY, WORST, SMALL, LARGE, FLOOR = 0.45, 1.1, 0.15, 0.25, 1.3
UNARY = "relu exp log tanh sigmoid erf gelu".split()


def pair(array):
    """Makes a tensor of each peer with the same elements."""
    return lamella.tensor(array), torch.from_numpy(array.copy())


def both(statement: str, names: dict) -> dict[str, tuple[str, dict]]:
    """Returns the statement with the names for each peer: `T` is the module, `F` its functions of neural networks, and
    each of ``names`` has a pair of tensors."""
    modules = {"lamella": (lamella, lamella.ops.aten), "torch": (torch, torch.nn.functional)}
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
    """Yields name, statement and operands of cases over `n` contiguous numbers."""
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
    """Yields cases of broadcasts, strides, other dtypes, casts and copies."""
    rng = np.random.default_rng(1)
    m = math.isqrt(n)
    x, y = pair(rng.standard_normal((m, m)).astype(np.float32)), pair(rng.standard_normal((m, m)).astype(np.float32))
    i = pair(rng.integers(-9, 9, (m, m)))
    half = (x[0].to(lamella.bfloat16), x[1].to(torch.bfloat16))
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


def printed(family: Family) -> Family:
    print(table(family.name, family.rows))
    print(family.summary() + "\n", flush=True)
    return family


def every_size() -> Family:
    """Measures all cases at all sizes, with one thread and with two."""
    family = Family("Pointwise, casts and copies", FAMILY, WORST)
    for threads in (1, 2):
        set_threads(threads)
        for n in SIZES:
            for name, statement, names in (*plain(n), *shaped(n)):
                label = f"{name}, {n} elements, {threads} thread{'s' * (threads > 1)}"
                family.rows.append(row(label, statement, names))
    return printed(family)


def large() -> Family:
    """Measures cases that memory limits. The floor of add is numpy's add into an existing array, which needs no new
    pages."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(SIZES[-1]).astype(np.float32) for _ in range(2))
    names = {"x": pair(x), "y": pair(y)}
    family = Family(f"add, relu and tanh of {SIZES[-1]} elements", LARGE, LARGE)
    for threads in (1, 2):
        set_threads(threads)
        label = f"{threads} thread{'s' * (threads > 1)}"
        family.rows += [row(f"{f}, {label}", f"T.{f}(x)", names, LARGE) for f in ("relu", "tanh")]
        timers = {peer: timer(s, n) for peer, (s, n) in both("T.add(x, y)", names).items()}
        timers["floor"] = timer("add(x, y, out)", {"add": np.add, "x": x, "y": y, "out": np.empty_like(x)})
        # numpy has one thread, so its time is a floor only for one thread.
        bounds = [Bound("torch", LARGE)] + [Bound("floor", FLOOR)] * (threads == 1)
        family.rows.append(Row(f"add, {label}", measure(timers), bounds))
    return printed(family)


def small() -> Family:
    rng = np.random.default_rng(2)
    ops = {k: pair(rng.uniform(0.1, 0.9, 16).astype(np.float32)) for k in "xy"}
    one = "abs acos asin atan ceil cos cosh erf erfc exp exp2 expm1 floor frac log log10 log1p log2 neg".split()
    one += "reciprocal relu round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc isnan isfinite".split()
    two = "add sub mul div pow atan2 hypot maximum minimum eq lt fmod remainder logaddexp".split()
    cases = [(n, f"T.{n}(x)", ops) for n in one] + [(n, f"T.{n}(x, y)", ops) for n in two]
    set_threads(1)
    rows = [row(name, statement, names, SMALL) for name, statement, names in cases]
    return printed(Family("Pointwise, 16 elements", SMALL, SMALL, rows))


def ulps(got: np.ndarray, exact: np.ndarray) -> float:
    ok = np.isfinite(exact)
    unit = np.spacing(np.maximum(np.abs(exact), np.finfo(np.float32).tiny).astype(np.float32)).astype(np.float64)
    return float(np.max((np.abs(got.astype(np.float64) - exact) / unit)[ok]))


def errors() -> None:
    """Prints the largest error of each function in float32 against float64, in units of the last place, and torch's."""
    erf, erfc, lgamma = (np.vectorize(f) for f in (math.erf, math.erfc, math.lgamma))
    rng = np.random.default_rng(3)
    title = "largest error in float32, in ulp: at most torch's or 4"
    print(f"{title}\n{'-' * len(title)}")
    exact = {n: getattr(np, n) for n in "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt".split()}
    exact |= {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "atanh": np.arctanh}
    exact |= {"erf": erf, "erfc": erfc, "lgamma": lgamma, "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
    exact["gelu"] = lambda x: x * erfc(-x / math.sqrt(2)) / 2
    for name, function in exact.items():
        low, high = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "gelu": (-5, 10)}.get(name, (-10, 10))
        if name in ("log", "log2", "log10", "log1p", "sqrt", "lgamma"):
            low = 1e-3
        x = rng.uniform(low, high, 10**5).astype(np.float32)
        want = function(x.astype(np.float64))
        ours = np.asarray((lamella.ops.aten.gelu if name == "gelu" else getattr(lamella, name))(lamella.tensor(x)))
        theirs = (torch.nn.functional.gelu if name == "gelu" else getattr(torch, name))(torch.from_numpy(x)).numpy()
        a, b = ulps(ours, want), ulps(theirs, want)
        print(f"{name:10s} lamella {a:8.2f}  torch {b:8.2f}  {'ok' if a <= max(b, 4) else 'SHORT'}")
    print()


def main() -> list[Family]:
    before = lamella.get_num_threads(), torch.get_num_threads()
    try:
        families = [small(), every_size(), large()]
    finally:
        lamella.set_num_threads(before[0])
        torch.set_num_threads(before[1])
    errors()
    return families


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
