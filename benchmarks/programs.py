"""Saved programs in C++ without Python: from the start of the process to the first result, and a ResNet-18 beside our
own calls from Python."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import common
import native

EXAMPLE = Path(__file__).resolve().parents[1] / "examples/cpp_program"
ROUNDS = 9


def program() -> Path:
    own = native.package()
    links = (str(own / "liblamella_run.so"), str(own / "liblamella.so"), f"-Wl,-rpath,{own}")
    return native.compile_cpp("program.cpp", "program", *links)


def run(file: Path, mapped: bool, rounds: int) -> dict[str, Any]:
    """Runs the program; its measurements, in ns, with the time of the whole process as "process"."""
    command = [str(program()), str(file), str(int(mapped)), str(rounds)]
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {**json.loads(done.stdout), "process": (time.perf_counter() - begin) * 1e9}


def starts(file: Path) -> list[common.Row | common.Limit]:
    """A small module: what the process costs, from its start to its end after the first result."""
    runs = [run(file, False, 0) for _ in range(ROUNDS)]
    found = [common.Limit("a process with one result, start to end", sample(runs, "process"), 30e6)]
    for part in ("start", "load", "first"):
        found.append(common.Limit(f"of it: {part}", sample(runs, part), 30e6))
    return list(found)


def sample(runs: list[dict[str, Any]], part: str) -> common.Sample:
    return common.Sample([r[part] for r in runs])


def resnet(file: Path) -> list[common.Row | common.Limit]:
    import lamella

    sys.path.insert(0, str(EXAMPLE))
    import save

    lamella.manual_seed(0)
    net, x = save.resnet18().eval(), lamella.ones(1, 3, 224, 224)
    runs = {"lamella": [], "eager": []}
    mapped = []
    with lamella.no_grad():
        net(x)
        for _ in range(ROUNDS):
            here = run(file, False, 3)
            mapped.append(run(file, True, 1))
            runs["lamella"].append(min(here["rounds"]))
            runs["eager"].append(min(common.timer("net(x)", {"net": net, "x": x})(1) * 1e9 for _ in range(3)))
    samples = {who: common.Sample(times) for who, times in runs.items()}
    return [
        common.Row("ResNet-18, 1×3×224×224, from C++", samples, [common.Bound("eager", 1.0)]),
        common.Limit("the load of its 47 MB, mapped", sample(mapped, "load"), 30e6),
    ]


def main() -> list[common.Row | common.Limit]:
    import lamella

    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.lamella", Path(folder) / "resnet.lamella"
        net = lamella.nn.Sequential(lamella.nn.Linear(16, 16), lamella.nn.ReLU(), lamella.nn.Linear(16, 4))
        lamella.jit.script(net).save(small)
        subprocess.run([sys.executable, str(EXAMPLE / "save.py"), str(large)], check=True, capture_output=True)
        found = [*starts(small), *resnet(large)]
    print(common.table("Programs in C++", found))
    return found


if __name__ == "__main__":
    main()
