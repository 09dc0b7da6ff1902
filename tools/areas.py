"""Writes the README's table of the names of torch that are here: ``python tools/areas.py README.md``.

`make stubs` runs this program. Torch's names are those of the records in tests/recorded and of `lamella run`. A name is
here if it can be read and is not a refusal, whose docstring begins with the error that every call raises. A class is a
refusal if its constructor is one. Without an argument the program prints the table.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- Made by `make stubs` from the live names; a test compares. -->\n", "<!-- End of the table. -->\n"
FEW = 4  # up to so many missing names are listed

# A line for each: its text, and the modules of torch that it counts.
AREAS = {
    "functions of `torch`": "torch:functions",
    "its dtypes, classes and constants": "torch:others",
    "methods of `Tensor`": "torch.Tensor",
    "`nn`": "torch.nn",
    "`nn.functional`": "torch.nn.functional",
    "`nn.init`": "torch.nn.init",
    "`nn.utils`, `.rnn`, `.parametrize`, `.parametrizations`, `.prune`": "torch.nn.utils torch.nn.utils.rnn "
    "torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.utils.prune",
    "`nn.attention`, `nn.parallel`": "torch.nn.attention torch.nn.parallel",
    "`optim`, `optim.swa_utils`": "torch.optim torch.optim.swa_utils",
    "`optim.lr_scheduler`": "torch.optim.lr_scheduler",
    "`autograd`, `.functional`, `.graph`, `.forward_ad`": "torch.autograd torch.autograd.functional "
    "torch.autograd.graph torch.autograd.forward_ad",
    "`func`": "torch.func",
    "`distributions`, `.constraints`, `.transforms`": "torch.distributions torch.distributions.constraints "
    "torch.distributions.transforms",
    "`linalg`": "torch.linalg",
    "`fft`": "torch.fft",
    "`special`, `signal.windows`": "torch.special torch.signal.windows",
    "`sparse`, `nested`, `masked`": "torch.sparse torch.nested torch.masked",
    "`utils.data`": "torch.utils.data",
    "`utils.checkpoint`, `utils.cpp_extension`, `utils.benchmark`": "torch.utils.checkpoint "
    "torch.utils.cpp_extension torch.utils.benchmark",
    "`utils.tensorboard`": "torch.utils.tensorboard",
    "`library`, `overrides`": "torch.library torch.overrides",
    "`profiler`": "torch.profiler",
    "`accelerator`": "torch.accelerator",
    "`cuda`": "torch.cuda",
    "`multiprocessing`": "torch.multiprocessing",
    "`amp`": "torch.amp",
    "`distributed`": "torch.distributed",
    "`jit`, `compiler`": "torch.jit torch.compiler",
    "`export`, `fx`": "torch.export torch.fx",
    "`onnx`": "torch.onnx",
    "`ao.quantization`": "torch.ao.quantization",
    "`testing`, `hub`": "torch.testing torch.hub",
}


def recorded() -> dict[str, list[str]]:
    """Returns the public names of torch's modules, by the modules' paths."""
    tests, run = ROOT / "tests" / "recorded", ROOT / "frontend" / "lamella" / "_torch" / "run"
    found = json.loads((tests / "areas.json").read_text())
    nn = json.loads((tests / "nn_names.json").read_text())
    names = json.loads((run / "torch_names.json").read_text())
    parts = {m.rpartition(".")[2] for m in names["modules"]}
    found["torch.nn"] = [n for n in nn["nn"] if n not in parts]
    found["torch.nn.functional"] = nn["functional"]
    found["torch.Tensor"] = names["tensor"]
    return found


def place(path: str) -> Any:
    """Returns Lamella's object for a path of torch; None if there is none."""
    import lamella

    if path == "torch.Tensor":
        return lamella.Tensor
    try:
        return importlib.import_module("lamella" + path.removeprefix("torch").partition(":")[0])
    except ImportError:
        return None


def is_here(where: Any, name: str) -> bool:
    found = getattr(where, name, None)
    texts = (getattr(part, "__doc__", None) or "" for part in (found, getattr(found, "__init__", None)))
    return hasattr(where, name) and not any(re.match(r"Raises \w+Error\b", text) for text in texts)


def table() -> str:
    """Returns the table as Markdown."""
    names, lines = recorded(), ["| area | names in torch | here | not here |", "|---|---|---|---|"]
    for text, paths in AREAS.items():
        every = [(path, name) for path in paths.split() for name in names[path]]
        missing = [name for path, name in every if not is_here(place(path), name)]
        listed = ", ".join(f"`{n}`" for n in missing) if len(missing) <= FEW else ""
        here = len(every) - len(missing)
        lines.append(f"| {text} | {len(every)} | {here or 'none'} | {listed or len(missing) or ''} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    if len(sys.argv) < 2:
        sys.stdout.write(table())
        return
    page = Path(sys.argv[1])
    head, begin, rest = page.read_text().partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page}: the marks of the table are missing")
    page.write_text(f"{head}{begin}\n{table()}\n{end}{tail}")


if __name__ == "__main__":
    main()
