"""Writes the names of torch 2.13's modules and of its tensors' attributes for `lamella run`. Needs torch."""

import json
import pkgutil
import warnings
from pathlib import Path

import torch

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
TARGET = Path(__file__).resolve().parents[2] / "frontend" / "lamella" / "_torch" / "run" / "torch_names.json"


def modules(folders, prefix, depth=1):
    """Yields public modules, down to three levels, without importing them."""
    for found in pkgutil.iter_modules(folders):
        if not found.name.startswith("_"):
            yield prefix + found.name
            if found.ispkg and depth < 3:
                yield from modules([f"{f}/{found.name}" for f in folders], f"{prefix}{found.name}.", depth + 1)


names = {
    "modules": sorted({*modules(torch.__path__, "torch."), "torch.classes", "torch.ops"}),
    "tensor": sorted(n for n in dir(torch.Tensor) if not n.startswith("_")),
}
TARGET.write_text(json.dumps(names, indent=0) + "\n")
print({kind: len(listed) for kind, listed in names.items()})
