"""Lamella before and after torch and numpy in one process, with a threaded matmul in each."""

from __future__ import annotations

import itertools
import subprocess
import sys

MODULES = ("lamella", "torch", "numpy")
PROGRAM = """
import importlib, sys
modules = {{name: importlib.import_module(name) for name in {order!r}}}
for m in modules.values():
    if hasattr(m, "set_num_threads"):
        m.set_num_threads(2)
import numpy as np
random = np.random.default_rng(0)
a, b = (random.standard_normal((512, 512)).astype(np.float32) for _ in range(2))
judge = a.astype(np.float64) @ b.astype(np.float64)
for turn in range(2):
    for name in {order!r}:
        m = modules[name]
        x, y = (v if m is np else m.from_numpy(v) for v in (a, b))
        got = np.asarray(m.matmul(x, y))
        error = abs(got - judge).max()
        if not error < 512 * np.finfo(np.float32).eps * abs(a).max() * abs(b).max():
            sys.exit(f"{{name}}: the product is off by {{error}}")
"""


def run_order(order: tuple[str, ...]) -> str:
    """Runs a child with an order of imports; returns "" on success, else its error."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(order=order)], capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        return "it hangs"
    return "" if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip() or 'no message'}"


def main() -> bool:
    """Prints a line for each order; returns False if one failed."""
    print("Import orders, each with a threaded matmul in every library\n" + "-" * 59)
    good = True
    for order in itertools.permutations(MODULES):
        problem = run_order(order)
        good &= not problem
        print(f"{', '.join(order):24}  {problem or 'ok'}", flush=True)
    print()
    return good


if __name__ == "__main__":
    sys.exit(not main())
