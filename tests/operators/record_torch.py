"""Writes sizes, strides and dtype of torch's result for each sample to torch.txt; needs both torch and lamella.

    python tests/operators/record_torch.py

A line holds the checksum of a sample's text and its results: f32[3,4] or, with strides, f32[3,4](1,3). Samples that
torch refuses have no line.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from lamella.operators import samples
from lamella.operators.samples.spec import SHORT, seeded

RECORD = Path(__file__).with_name("torch.txt")
LETTERS = {name: short for short, name in SHORT.items()}
HEAD = "# What torch 2.13 gives for each sample: checksum of its text, dtype, sizes, strides; see record_torch.py."


def key(sample: samples.Sample) -> str:
    return f"{seeded(sample.text):08x}"


def described(t) -> str:
    """The text for one result, from torch or lamella."""
    shape, strides = tuple(t.shape), tuple(t.stride())
    step, plain = 1, True
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        plain, step = plain and (n == 1 or s == step), step * n
    text = f"{LETTERS[str(t.dtype).rpartition('.')[2]]}[{','.join(map(str, shape))}]"
    return text if plain or 0 in shape else f"{text}({','.join(map(str, strides))})"


def flat(result, kind) -> list:
    if isinstance(result, (list, tuple)):
        return [r for part in result for r in flat(part, kind)]
    return [result] if isinstance(result, kind) else []


def torch_results(sample: samples.Sample) -> str | None:
    import small
    import torch

    for function in small.peer(sample.operator):
        args, kwargs = small.torch_arguments(sample)
        try:
            result = function(*args, **kwargs)
        except Exception:
            continue
        return " ".join(described(r) for r in flat(result, torch.Tensor))
    return None


def main() -> None:
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
    found = {}
    for operator in samples.operators():
        for sample in samples.of(operator):
            if results := torch_results(sample):
                found[key(sample)] = results
    RECORD.write_text("\n".join([HEAD, *(f"{k} {v}" for k, v in sorted(found.items()))]) + "\n")
    print(f"{len(found)} samples recorded")


if __name__ == "__main__":
    main()
