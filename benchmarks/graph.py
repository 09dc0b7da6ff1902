"""Graphs beside torch.jit: recording a network, instructions, the loop of a talk, threads on one program."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import common

CONVOLUTIONS = 17
LOOP = """
def five(x):
    r = x
    for i in range(5):
        r = r * x
    return r

def power(x, n: int):
    r = x
    for i in range(n):
        r = r * x
    return r

def numbers(n: int):
    s = 0
    for i in range(n):
        s = s + i * 3 - i
    return s
"""


def functions(module: Any) -> dict[str, Callable]:
    """Compiles the functions of LOOP with a module's ``jit.script``, which reads the source from a file."""
    import importlib.util
    from pathlib import Path

    folder = Path(tempfile.mkdtemp())
    file = folder / f"loops_of_{module.__name__}.py"
    file.write_text(LOOP)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return {name: module.jit.script(getattr(loaded, name)) for name in ("five", "power", "numbers")}


def network(module: Any) -> Any:
    layers = [
        layer for _ in range(CONVOLUTIONS) for layer in (module.nn.Conv2d(16, 16, 3, padding=1), module.nn.ReLU())
    ]
    return module.nn.Sequential(*layers).eval()


def traces() -> list[common.Row]:
    import lamella
    import torch

    nets = {"lamella": network(lamella), "torch": network(torch)}
    weights = {k: v.numpy() for k, v in nets["torch"].state_dict().items()}
    nets["lamella"].load_state_dict({k: lamella.from_numpy(v) for k, v in weights.items()})
    inputs = {"lamella": lamella.ones(1, 16, 8, 8), "torch": torch.ones(1, 16, 8, 8)}
    modules = {"lamella": lamella, "torch": torch}
    traced = {who: modules[who].jit.trace(nets[who], inputs[who]) for who in nets}
    common.same({who: f(inputs[who]).detach().numpy() for who, f in traced.items()})

    def run(who: str) -> Callable[[int], float]:
        def timed(n: int) -> float:
            begin = time.perf_counter()
            for _ in range(n):
                modules[who].jit.trace(nets[who], inputs[who])
            return time.perf_counter() - begin

        return timed

    samples = common.measure({who: run(who) for who in nets}, seconds=0.2)
    return [common.Row(f"trace {CONVOLUTIONS} convolutions", samples, [common.Bound("torch", 0.02)])]


def loads() -> list[common.Row]:
    """Reads the recorded network from a file, and calls it for the first time."""
    import lamella
    import torch

    modules = {"lamella": lamella, "torch": torch}
    x = {who: m.ones(1, 16, 8, 8) for who, m in modules.items()}
    nets = {who: network(m) for who, m in modules.items()}
    nets["lamella"].load_state_dict({k: lamella.from_numpy(v.numpy()) for k, v in nets["torch"].state_dict().items()})
    with tempfile.TemporaryDirectory() as folder:
        files = {who: f"{folder}/{who}" for who in modules}
        for who, m in modules.items():
            m.jit.trace(nets[who], x[who]).save(files[who])
        loaded = {who: m.jit.load(files[who]) for who, m in modules.items()}
        common.same({who: f(x[who]).detach().numpy() for who, f in loaded.items()})
        runs = {who: common.timer("load(f)", {"load": m.jit.load, "f": files[who]}) for who, m in modules.items()}
        found = [common.Row("load them from a file", common.measure(runs), [common.Bound("torch", 0.5)])]
        times: dict[str, list[float]] = {"lamella": [], "steady": []}
        with lamella.no_grad():
            for _ in range(4 * common.ROUNDS):
                f = lamella.jit.load(files["lamella"])
                call = common.timer("f(x)", {"f": f, "x": x["lamella"]})
                times["lamella"].append(call(1) * 1e9)
                times["steady"].append(statistics.median(call(1) for _ in range(9)) * 1e9)
    samples = {who: common.Sample(t) for who, t in times.items()}
    return [
        *found,
        common.Row("the first call of it, in a process that has called others", samples, [common.Bound("steady", 1.2)]),
    ]


def calls() -> list[common.Row | common.Limit]:
    import lamella
    import torch

    modules = {"lamella": lamella, "torch": torch}
    scripted = {who: functions(m) for who, m in modules.items()}
    x = {who: m.ones(1) for who, m in modules.items()}
    for _ in range(100):  # torch compiles in its first calls
        scripted["torch"]["five"](x["torch"])
    common.same({who: scripted[who]["five"](x[who]).numpy() for who in modules})
    common.same({who: scripted[who]["numbers"](1000) for who in modules})
    runs = {who: common.timer("f(x)", {"f": scripted[who]["five"], "x": x[who]}) for who in modules}
    found: list[common.Row | common.Limit] = [
        common.Row("five multiplications, 1 element, script", common.measure(runs), [common.Bound("torch", 0.2)])
    ]
    trips = 100_000
    runs = {who: common.timer(f"f({trips})", {"f": scripted[who]["numbers"]}) for who in modules}
    samples = common.measure(runs, seconds=0.05)
    each = {who: common.Sample([t / trips / 4 for t in s.rounds]) for who, s in samples.items()}
    found.append(common.Limit("an instruction on ints (three, and the loop)", each["lamella"], 12))
    found.append(common.Row("the same beside torch.jit", each, [common.Bound("torch", 0.25)]))
    return found


def threads() -> list[common.Row]:
    """Two threads that run one program, each as often as one thread does alone."""
    import lamella

    power, x, trips = functions(lamella)["power"], lamella.ones(1), 50_000

    def run(count: int) -> Callable[[int], float]:
        def timed(n: int) -> float:
            workers = [threading.Thread(target=lambda: [power(x, trips) for _ in range(n)]) for _ in range(count)]
            begin = time.perf_counter()
            for w in workers:
                w.start()
            for w in workers:
                w.join()
            return time.perf_counter() - begin

        return timed

    samples = common.measure({"lamella": run(2), "one thread": run(1)}, seconds=0.2)
    return [common.Row("two threads on one program", samples, [common.Bound("one thread", 2 / 1.9)])]


def main() -> list[common.Row | common.Limit]:
    warnings.simplefilter("ignore")  # torch's deprecation of torch.jit
    found = [*traces(), *loads(), *calls(), *threads()]
    print(common.table("Graphs", found))
    return found


if __name__ == "__main__":
    main()
