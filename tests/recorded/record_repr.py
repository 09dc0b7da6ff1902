"""Writes the texts that torch 2.13 prints for repr_inputs.py to repr.json. Needs torch: ``python record_repr.py``."""

import json
from pathlib import Path

import torch
from repr_inputs import cases

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
recorded = {name: case.text(torch) for name, case in cases().items()}
Path(__file__).with_name("repr.json").write_text(json.dumps(recorded, indent=0, ensure_ascii=False) + "\n")
print(len(recorded), "strings")
