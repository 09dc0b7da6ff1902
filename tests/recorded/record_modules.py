"""Records torch 2.13's modules of module_inputs.py in modules.json. Needs torch."""

import json
import warnings
from pathlib import Path

import torch
from module_inputs import MODULES, described

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
recorded = {text: described(torch.nn, text) for text in MODULES}
Path(__file__).with_name("modules.json").write_text(json.dumps(recorded, indent=0) + "\n")
print(len(recorded), "modules")
