"""Writes the public names of torch 2.13's nn and nn.functional to nn_names.json. Needs torch."""

import inspect
import json
from pathlib import Path

import torch

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
# Helpers that torch imports into nn.functional and does not document.
HELPERS = """Optional assert_int_or_pair boolean_dispatch handle_torch_function has_torch_function
has_torch_function_unary has_torch_function_variadic sym_int""".split()
functional = [
    name
    for name, found in vars(torch.nn.functional).items()
    if callable(found) and not inspect.isclass(found) and not name.startswith("_") and name not in HELPERS
]
parts = ["attention", "functional", "grad", "init", "modules", "parallel", "parameter", "utils"]
nn = [*torch.nn.modules.__all__, "Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer", *parts]
names = {"functional": sorted(functional), "nn": sorted(nn)}
Path(__file__).with_name("nn_names.json").write_text(json.dumps(names, indent=0) + "\n")
print({kind: len(found) for kind, found in names.items()})
