"""Writes sizes, strides and dtype of torch's result for each sample to torch.txt; needs both torch and lamella.

python tests/operators/record_torch.py

The record has each text of results once: f32[3,4] or, with strides, f32[3,4](1,3), or several of these. After a colon
it lists the checksums of the texts of all samples with these results. Samples that torch refuses are left out.
"""

from __future__ import annotations

import sys
import textwrap
import warnings
from collections import defaultdict
from pathlib import Path

from lamella.operators import samples
from lamella.operators.samples.spec import SHORT, seeded

RECORD = Path(__file__).with_name("torch.txt")
LETTERS = {name: short for short, name in SHORT.items()}
HEAD = "# Results of torch 2.13 (dtype, sizes, strides), and the samples that give each; see record_torch.py."


def key(sample: samples.Sample) -> str:
    return f"{seeded(sample.text):08x}"


def described(t) -> str:
    """Returns the text for one result, from torch or lamella."""
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


def write(found: dict[str, str]) -> None:
    """Writes the record; ``found`` maps the checksum of a sample's text to the text of its results."""
    samples_of = defaultdict(list)
    for checksum, results in sorted(found.items()):
        samples_of[results].append(checksum)
    lines = [HEAD]
    for results, checksums in sorted(samples_of.items()):
        lines += textwrap.wrap(f"{results}: {' '.join(checksums)}", 120, subsequent_indent="  ")
    RECORD.write_text("\n".join(lines) + "\n")


def recorded() -> dict[str, str]:
    """Returns the record in the form that ``write`` takes."""
    found, results = {}, ""
    for line in RECORD.read_text().splitlines()[1:]:
        head, colon, rest = line.partition(": ")
        results, checksums = (head, rest) if colon else (results, line)
        found.update(dict.fromkeys(checksums.split(), results))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
    found = {}
    for operator in samples.operators():
        for sample in samples.of(operator):
            if results := torch_results(sample):
                found[key(sample)] = results
    write(found)
    print(f"{len(found)} samples recorded")


if __name__ == "__main__":
    main()
