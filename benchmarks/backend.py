"""Device `bank` (examples/backend_plugin) beside the cpu in the loop of examples/mlp.py: microseconds a step."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))


def epoch(job, x, y, w1, w2) -> float:
    start = time.perf_counter()
    for i in range(0, len(x), 64):
        loss = job.step(x[i : i + 64], y[i : i + 64], w1, w2)
    loss.item()
    return (time.perf_counter() - start) / -(-len(x) // 64)


def main() -> None:
    import mlp

    jobs = {}
    for device in ("cpu", "bank"):
        x, y, _, _ = mlp.split_digits(device)
        w1, w2 = mlp.new_weights(device)
        jobs[device] = (x, y, w1, w2)
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(30):  # in turns, so that a slow moment of the machine affects both
        for device, job in jobs.items():
            best[device] = min(best[device], epoch(mlp, *job))
    print(f"the MLP's step: cpu {best['cpu'] * 1e6:.1f} us, bank {best['bank'] * 1e6:.1f} us, ", end="")
    print(f"{best['bank'] / best['cpu']:.2f} x (at most 1.5)")


if __name__ == "__main__":
    main()
