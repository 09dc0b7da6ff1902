"""Small calls beside torch and numpy, a plugin's operators beside built-in ones, layers, and the loop of a talk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
import lamella.utils._python_dispatch
import numpy as np
import torch
from common import ROUNDS, Bound, Limit, Row, Sample, measure, same, table, timer
from native import load_stranger, run_call_path
from talk_loop import data, with_numpy, with_tensors
from torch.utils._python_dispatch import TorchDispatchMode

MATRIX = [[1.0, 2.0], [3.0, 4.0]]

# Each row has a name, a statement, the arrays of its names (equal for all peers), and bounds.
CASES: list[tuple[str, str, dict[str, Any], list[Bound]]] = [
    ("lamella.add(a, b)", "ns.add(a, b)", {"a": [2.0], "b": [3.0]}, [Bound("torch", 0.08), Bound("numpy", 0.4)]),
    ("add(a, b), imported by name", "add(a, b)", {"a": [2.0], "b": [3.0]}, [Bound("torch", 0.08), Bound("numpy", 0.4)]),
    ("a + b", "a + b", {"a": [2.0], "b": [3.0]}, [Bound("torch", 0.08), Bound("numpy", 0.4)]),
    ("a + 1.0", "a + 1.0", {"a": [2.0]}, [Bound("torch", 0.05)]),
    ("relu", "ns.relu(a)", {"a": [2.0]}, [Bound("torch", 0.12)]),
    ("sum", "a.sum()", {"a": [2.0]}, [Bound("torch", 0.12)]),
    ("mul_", "a.mul_(b)", {"a": [1.0], "b": [1.0]}, [Bound("torch", 0.12)]),
    ("2x2 matmul", "ns.matmul(a, b)", {"a": MATRIX, "b": MATRIX}, [Bound("torch", 0.2)]),
    ("view", "a.view(2, 3)", {"a": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}, [Bound("torch", 0.12)]),
    ("t()", "a.t()", {"a": MATRIX}, [Bound("torch", 0.12)]),
    ("a[0]", "a[0]", {"a": [1.0, 2.0, 3.0, 4.0]}, [Bound("torch", 0.12)]),
    ("a[1:3]", "a[1:3]", {"a": [1.0, 2.0, 3.0, 4.0]}, [Bound("torch", 0.12)]),
]

# Calls of a built-in operator, and of a plugin's operator with the same schema.
STRANGERS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("add(a, b)", "add", "f(a, b)", {"a": [2.0], "b": [3.0]}),
    ("add(a, 1.0)", "add", "f(a, 1.0)", {"a": [2.0]}),
    ("relu(a)", "relu", "f(a)", {"a": [2.0]}),
    ("sum(a)", "sum", "f(a)", {"a": [2.0]}),
    ("mul_(a, b)", "mul_", "f(a, b)", {"a": [1.0], "b": [1.0]}),
    ("mm(a, b), 2x2", "mm", "f(a, b)", {"a": MATRIX, "b": MATRIX}),
    ("view(a, (2, 3))", "view", "f(a, (2, 3))", {"a": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}),
    ("t(a)", "t", "f(a)", {"a": MATRIX}),
    ("select(a, 0, 0)", "select", "f(a, 0, 0)", {"a": [1.0, 2.0, 3.0, 4.0]}),
    ("slice(a, 0, 1, 3)", "slice", "f(a, 0, 1, 3)", {"a": [1.0, 2.0, 3.0, 4.0]}),
]


def names_for(maker: Callable[[Any], Any], arrays: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**{k: maker(np.array(v, np.float32)) for k, v in arrays.items()}, **more}


def peers_of(arrays: dict[str, Any], wanted: list[Bound]) -> dict[str, dict[str, Any]]:
    peers = {
        "lamella": names_for(lamella.tensor, arrays, ns=lamella, add=lamella.add),
        "torch": names_for(torch.tensor, arrays, ns=torch, add=torch.add),
    }
    if any(b.peer == "numpy" for b in wanted):
        peers["numpy"] = names_for(np.copy, arrays, ns=np, add=np.add)
    return peers


def small_rows() -> list[Row]:
    rows = []
    for name, statement, arrays, bounds in CASES:
        peers = peers_of(arrays, bounds)
        same({k: eval(statement, dict(p)) for k, p in peers.items()})
        rows.append(Row(name, measure({k: timer(statement, p) for k, p in peers.items()}), bounds))
    return rows


def stranger_rows() -> list[Row]:
    mine, rows = load_stranger(), []
    for name, operator, statement, arrays in STRANGERS:
        peers = {
            "stranger": names_for(lamella.tensor, arrays, f=getattr(mine, operator)),
            "built-in": names_for(lamella.tensor, arrays, f=getattr(lamella.ops.aten, operator)),
        }
        same({k: eval(statement, dict(p)) for k, p in peers.items()})
        samples = measure({k: timer(statement, p) for k, p in peers.items()})
        rows.append(Row(name, samples, [Bound("built-in", 1.1)], ours="stranger"))
    return rows


def difference(a: Sample, b: Sample) -> Sample:
    return Sample([x - y for x, y in zip(a.rounds, b.rounds, strict=True)])


def native_rows() -> list[Limit]:
    got = run_call_path(ROUNDS)
    sample = {k: Sample(v) for k, v in got.items() if isinstance(v, list)}
    rows = [
        Limit("an operator with an empty kernel", sample["empty"], 20),
        Limit("one active native layer adds", difference(sample["empty below a layer"], sample["empty"]), 8),
        Limit("one active native layer over add adds", difference(sample["add below a layer"], sample["add"]), 8),
        Limit("a thread's state captured, swapped in and out, dropped", sample["a state that travels"], 150),
    ]
    for name, (without, idle) in got["instructions"].items():
        if without < 0:
            print(f"instructions of {name}: this machine does not allow single-stepping")
            continue
        calls = got["counted calls"]
        print(f"instructions of {calls} calls of {name}: {without} without layers, {idle} beside an idle one")
        added = Sample([float(idle - without)] * 2)
        rows.append(Limit(f"an idle native layer adds to {name}", added, 0, "instructions"))
    return rows


class Through(TorchDispatchMode):
    """A mode of torch that passes each call on."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def through(call, *args, **kwargs):
    return call(*args, **kwargs)


def entered(manager: Any, run: Callable[[int], float]) -> Callable[[int], float]:
    """Times the runs within a context manager, which is entered once for all of them."""

    def timed(n: int) -> float:
        with manager():
            return run(n)

    return timed


def python_layer_rows() -> list[Row]:
    layer = lamella.library.register_layer("bench.python", through, at="modes")
    arrays = {"a": [2.0], "b": [3.0]}
    peers = peers_of(arrays, [])
    ours, theirs = (timer("a + b", peers[k]) for k in ("lamella", "torch"))
    with layer.on(), Through():
        same({k: eval("a + b", dict(p)) for k, p in peers.items()})
    runs = {"lamella": ours, "torch": theirs}
    got = measure({**runs, "lamella on": entered(layer.on, ours), "torch on": entered(Through, theirs)})
    layer.remove()
    added = {k: difference(got[k + " on"], got[k]) for k in ("lamella", "torch")}
    return [Row("one active Python layer adds to a + b", added, [Bound("torch", 0.12)])]


class ThroughHere(lamella.utils._python_dispatch.TorchDispatchMode):
    """A mode of Lamella that passes each call on, as `Through` does in torch."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def mode_rows() -> list[Row]:
    peers = peers_of({"a": [2.0], "b": [3.0]}, [])
    with ThroughHere(), Through():
        same({k: eval("a + b", dict(p)) for k, p in peers.items()})
    managers = {"lamella": ThroughHere, "torch": Through}
    got = measure({k: entered(managers[k], timer("ns.add(a, b)", peers[k])) for k in managers})
    return [Row("add(a, b) in a TorchDispatchMode that goes on", got, [Bound("torch", 0.06)])]


def loop_rows() -> list[Row]:
    arrays = data()
    runs: dict[str, Callable[[], Any]] = {
        "lamella": lambda: with_tensors(lamella, arrays),
        "torch": lambda: with_tensors(torch, arrays),
        "numpy": lambda: with_numpy(arrays),
    }
    results = {k: run() for k, run in runs.items()}
    for i in range(2):
        same({k: np.asarray(r[i]) for k, r in results.items()})
    samples = measure({k: timer("run()", {"run": run}) for k, run in runs.items()}, rounds=7, seconds=0.1)
    return [Row("the talk's loop, 500 iterations", samples, [Bound("torch", 0.9)])]


def main() -> list[Row | Limit]:
    lamella.set_num_threads(1)
    torch.set_num_threads(1)
    every: list[Row | Limit] = []
    for title, make in [
        ("One operator from Python, small tensors, float32, one thread", small_rows),
        ("A stranger's operator beside the built-in one of the same schema", stranger_rows),
        ("From C++, without Python", native_rows),
        ("A layer in Python; torch's is a TorchDispatchMode", python_layer_rows),
        ("A mode behind autograd, with torch's names", mode_rows),
        ("The talk's two-layer network, 64×1000×100×10, one thread", loop_rows),
    ]:
        rows = list(make())
        print(table(title, rows), flush=True)
        every += rows
    return every


if __name__ == "__main__":
    main()
