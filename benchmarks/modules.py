"""Modules beside torch's: calls, construction, state dicts, layers and networks, with one thread and with two.
``python modules.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import models
import numpy as np
from autograd import namespaces, status
from common import Bound, Row, Sample, measure, same, table, timer

ROUNDS = 7
Make = Callable[[ModuleType], Any]
Arrays = tuple[np.ndarray, ...]


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tensors(ns: ModuleType, arrays: Arrays) -> list[Any]:
    return [ns.from_numpy(a.copy()) for a in arrays]


def alike(make: Make) -> dict[str, Any]:
    """Makes the module of each peer, with torch's state in both."""
    made = {peer: make(ns) for peer, ns in namespaces().items()}
    lamella = namespaces()["lamella"]
    state = made["torch"].state_dict()
    made["lamella"].load_state_dict({k: lamella.from_numpy(v.numpy().copy()) for k, v in state.items()})
    return made


def first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result


def row(name: str, calls: Mapping[str, Callable[[], Any]], most: float, seconds: float = 0.02) -> Row:
    runs = {peer: timer("call()", {"call": call}) for peer, call in calls.items()}
    return Row(name, measure(runs, rounds=ROUNDS, seconds=seconds), [Bound("torch", most)])


# ---- calls ---------------------------------------------------------------------------------------------------------

CALLS: list[tuple[str, Make, tuple[int, ...], float]] = [
    ("nn.Linear(4, 4)", lambda ns: ns.nn.Linear(4, 4), (1, 4), 0.12),
    ("nn.Identity()", lambda ns: ns.nn.Identity(), (4,), 0.15),
    ("nn.Sequential of ten ReLUs, 16 elements", models.ten_relus, (16,), 0.12),
]


def call_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    for name, make, shape, most in CALLS:
        if wanted(name):
            made, x = alike(make), floats(*shape)
            names = {p: {"m": m, "x": namespaces()[p].from_numpy(x)} for p, m in made.items()}
            same({p: of["m"](of["x"]).detach() for p, of in names.items()})
            runs = {p: timer("m(x)", of) for p, of in names.items()}
            yield Row(name, measure(runs), [Bound("torch", most)])


# ---- construction and state ----------------------------------------------------------------------------------------


def state_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    peers = namespaces()
    if wanted(name := "construct and initialise ResNet-18"):
        deviations = {p: models.resnet18(ns)[0].weight.detach().numpy().std() for p, ns in peers.items()}
        np.testing.assert_allclose(*deviations.values(), rtol=0.05)
        yield row(name, {p: lambda ns=ns: models.resnet18(ns) for p, ns in peers.items()}, 0.5, 0.5)
    made = alike(models.resnet18)
    states = {p: m.state_dict() for p, m in made.items()}
    assert list(states["lamella"]) == list(states["torch"])
    if wanted(name := "state_dict() of ResNet-18"):
        yield row(name, {p: m.state_dict for p, m in made.items()}, 0.3)
    if wanted(name := "load_state_dict() of ResNet-18"):
        other = {p: {k: v.clone() for k, v in s.items()} for p, s in states.items()}
        yield row(name, {p: lambda p=p: made[p].load_state_dict(other[p]) for p in made}, 0.5, 0.2)


# ---- layers --------------------------------------------------------------------------------------------------------


def step(ns: ModuleType, module: Any, arrays: Arrays, run: Callable[..., Any]) -> Callable[[], Any]:
    """Makes a function that runs forward and backward. It returns gradients of all parameters and, except for a
    network's data, of inputs."""
    inputs = tensors(ns, arrays)
    for x in inputs:
        if x.is_floating_point() and run is not classify:
            x.requires_grad_()
    leaves = [*module.parameters(), *(x for x in inputs if x.requires_grad)]

    def call() -> Any:
        for leaf in leaves:
            leaf.grad = None
        result = run(ns, module, *inputs)
        (result if result.ndim == 0 else (result * result).mean()).backward()
        return result, [leaf.grad for leaf in leaves]

    return call


def layer_row(name: str, make: Make, arrays: Arrays, run: Callable[..., Any], most: float) -> Row:
    calls = {p: step(namespaces()[p], m, arrays, run) for p, m in alike(make).items()}
    results = {p: call() for p, call in calls.items()}
    same({p: r.detach() for p, (r, _) in results.items()})
    for ours, theirs in zip(*(g for _, g in results.values()), strict=True):
        wanted = np.asarray(theirs)  # errors grow in a deep network, where a rounding may switch a ReLU
        error = np.linalg.norm(np.asarray(ours) - wanted) / max(1e-6, np.linalg.norm(wanted))
        assert error < 0.02, f"{name}: a gradient of shape {wanted.shape} differs by {error:.2g} of its norm"
    return row(name, calls, most, 0.1)


def whole(ns: ModuleType, module: Any, *inputs: Any) -> Any:
    return first(module(*inputs))


def cell_steps(ns: ModuleType, cell: Any, x: Any) -> Any:
    h = c = ns.zeros(x.shape[0], 20)
    for t in range(x.shape[1]):
        h, c = cell(x[:, t], (h, c))
    return h


def doubled(ns: ModuleType, module: Any, x: Any) -> Any:
    return ns.nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)


def attend(ns: ModuleType, module: Any, q: Any, k: Any, v: Any) -> Any:
    return ns.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def classify(ns: ModuleType, module: Any, x: Any) -> Any:
    y = ns.arange(x.shape[0]) % 10
    return ns.nn.functional.cross_entropy(module(x), y)


HEADS = (8, 4, 1024, 64)
IMAGES = (8, 64, 56, 56)
ROWS = np.random.default_rng(0).integers(0, 50_000, 4096)
LAYERS: list[tuple[str, Make, Arrays, Callable[..., Any], float]] = [
    ("MLP 784-256-10, batch 64", models.mlp, (floats(64, 784),), classify, 0.60),
    ("the MNIST convnet, batch 64", models.convnet, (floats(64, 1, 28, 28),), classify, 0.38),
    ("ResNet-18, batch 4, 3×64×64", lambda ns: models.resnet18(ns, 10), (floats(4, 3, 64, 64),), classify, 0.80),
    (
        "LSTM 128→256, 50 steps, batch 16",
        lambda ns: ns.nn.LSTM(128, 256),
        (floats(50, 16, 128),),
        whole,
        0.6,
    ),
    (
        "LSTM 128→256 projected to 64, two layers of two directions, 50 steps, batch 16",
        lambda ns: ns.nn.LSTM(128, 256, 2, proj_size=64, bidirectional=True),
        (floats(50, 16, 128),),
        whole,
        1.0,
    ),
    ("LSTMCell 20×(10→20), 100 steps", lambda ns: ns.nn.LSTMCell(10, 20), (floats(20, 100, 10),), cell_steps, 0.15),
    (
        "TransformerEncoderLayer 256, 4 heads, 1024, on 64×8",
        lambda ns: ns.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0),
        (floats(64, 8, 256),),
        whole,
        0.7,
    ),
    (
        "attention 8×4×1024×64, causal",
        lambda ns: ns.nn.Identity(),
        (floats(*HEADS), floats(*HEADS, seed=1), floats(*HEADS, seed=2)),
        attend,
        0.8,
    ),
    ("interpolate bilinear 8×64×56² → 112²", lambda ns: ns.nn.Identity(), (floats(*IMAGES),), doubled, 0.6),
    (
        "ConvTranspose2d 64→32, k4 s2, 8×64×28²",
        lambda ns: ns.nn.ConvTranspose2d(64, 32, 4, 2, 1),
        (floats(8, 64, 28, 28),),
        whole,
        0.6,
    ),
    ("Embedding 50 000×256, 4096 rows", lambda ns: ns.nn.Embedding(50_000, 256), (ROWS,), whole, 0.6),
]


def layer_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    for name, make, arrays, run, most in LAYERS:
        if wanted(name):
            yield layer_row(name, make, arrays, run, most)


def inference_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    if wanted(name := "ResNet-18 inference, 1×3×224²"):
        x = floats(1, 3, 224, 224)
        calls = {}
        for peer, module in alike(models.resnet18).items():
            ns = namespaces()[peer]
            module.eval()
            image = ns.from_numpy(x.copy())

            def call(ns: Any = ns, module: Any = module, image: Any = image) -> Any:
                with ns.no_grad():
                    return module(image)

            calls[peer] = call
        results = {p: np.asarray(c()) for p, c in calls.items()}
        scale = np.abs(results["torch"]).max()
        same({p: r / scale for p, r in results.items()})
        yield row(name, calls, 0.80, 0.2)


# ---- memory --------------------------------------------------------------------------------------------------------


def memory_rows(wanted: Callable[[str], bool]) -> Iterator[Row]:
    """Measures the peak of resident memory in one causal attention, forward and backward, minus the memory before it.
    Torch computes by plain products, which keep the scores. Each number is of a process of its own."""
    if wanted(name := "memory of attention 8×4×1024×64, causal"):
        peaks: dict[str, list[float]] = {"lamella": [], "torch": []}
        for _ in range(3):
            for peer, found in peaks.items():
                command = [sys.executable, __file__, "--peak", peer]
                found.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        yield Row(name, {p: Sample(found) for p, found in peaks.items()}, [Bound("torch", 0.3)], unit="MiB")


def peak(peer: str) -> float:
    from pathlib import Path

    ns = __import__(peer)
    ns.set_num_threads(1)
    call = step(ns, ns.nn.Identity(), (floats(*HEADS), floats(*HEADS), floats(*HEADS)), attend)
    small = step(ns, ns.nn.Identity(), (floats(1, 1, 64, 64),) * 3, attend)
    small()
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    if peer == "torch":
        with ns.nn.attention.sdpa_kernel(ns.nn.attention.SDPBackend.MATH):
            call()
    else:
        call()
    return status("VmHWM") - before


def main(words: list[str] | None = None) -> list[Row]:
    def wanted(name: str) -> bool:
        return all(word in name for word in words or [])

    every: list[Row] = []
    for threads in (1, 2):
        for ns in namespaces().values():
            ns.set_num_threads(threads)
        tables = [("Layers and networks, forward and backward", layer_rows), ("Inference", inference_rows)]
        if threads == 1:
            before = [("Calls of modules", call_rows), ("Construction and state", state_rows)]
            tables = [*before, *tables, ("Resident memory", memory_rows)]
        for title, make in tables:
            rows = list(make(wanted))
            if rows:
                print(table(f"{title}, {threads} thread{'s' * (threads > 1)}", rows), flush=True)
            every += rows
    return every


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print(peak(sys.argv[2]))
    else:
        sys.exit(not all(r.holds for r in main(sys.argv[1:])))
