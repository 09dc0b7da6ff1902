"""Writes torch_archives/ with torch 2.13: programs that torch saved. Needs torch, and a fixed order of
sets: ``PYTHONHASHSEED=0 python record_archives.py``.

``NAME.pt`` is of ``torch.jit.save``, ``NAME.pt2`` of ``torch.export.save``. archives.json has, for each file, the calls
of its methods in order: inputs and result, in the form of `script_programs.encode`.
"""

import json
import pickletools
import re
import struct
import warnings
import zipfile
from pathlib import Path

import torch
from script_programs import encode
from torch import nn

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
HERE = Path(__file__).resolve().parent
FOLDER = HERE / "torch_archives"


def filled(module: nn.Module) -> nn.Module:
    """Gives the parameters of a module values that are not random, and makes it one for evaluation."""
    with torch.no_grad():
        for p in module.parameters():
            p.copy_((torch.arange(p.numel()) % 7 - 3).reshape(p.shape) / 8)
    return module.eval()


class ControlFlow(nn.Module):
    """Has loops, branches, an early return, an error and two entry points."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[0.5, -1.0], [2.0, 0.25]]))

    def forward(self, x, n: int, name: str = "y"):
        if n < 0:
            raise ValueError("n is negative")
        total = torch.zeros_like(x)
        for i in range(n):
            x = x @ self.weight
            if bool(x.sum() > 10):
                return total + x, name + str(i)
            elif i % 2 == 0:
                total += x
        return total, name

    @torch.jit.export
    def norm(self, x, p: float | None = None) -> float:
        if p is None:
            return float(x.abs().sum())
        while p > 1.0:
            x = x * x
            p = p - 1.0
        return float(x.sum())


class Containers(nn.Module):
    """Has attributes that are lists, dictionaries, tuples, texts and None, a buffer, a shared parameter."""

    scales: dict[str, float]
    last: int | None

    def __init__(self):
        super().__init__()
        self.scales = {"b": 2.0, "a": -0.5}
        self.names = ["first", "second"]
        self.pair = (3, "text")
        self.last = None
        self.tables = {1: [1, 2], 0: [3]}
        self.register_buffer("steps", torch.zeros(1, dtype=torch.int64))
        self.first = nn.Linear(2, 2)
        self.second = nn.Linear(2, 2, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x, key: str) -> tuple[torch.Tensor, list[str], dict[str, float], int]:
        self.steps += 1
        n = self.pair[0]
        last = self.last
        if last is not None:
            n = n + last
        self.last = n
        out: list[str] = []
        for i, name in enumerate(self.names):
            out.append(f"{name}{i}{self.pair[1]}{len(self.tables[i])}")
        self.scales[key] = self.scales.get(key, 1.0) * 2
        return self.second(self.first(x)) * self.scales[key] + self.steps, out, self.scales, n


class Net(nn.Module):
    """Has a convolution, a normalization in evaluation, a pool and a layer."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm2d(2)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.out(x.flatten(1))


class Layers(nn.Module):
    """Has two layers, with dropout that evaluation switches off."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Dropout(0.5), nn.Linear(4, 2))

    def forward(self, x):
        return self.net(x)


def repeated(x: torch.Tensor, n: int = 2) -> list[torch.Tensor]:
    return [x * i for i in range(n)]


IMAGE = (torch.arange(16.0) % 5 - 2).view(1, 1, 4, 4)
ROWS = (torch.arange(6.0) / 4 - 0.5).view(2, 3)
PAIR = torch.tensor([[1.0, -2.0]])


def programs():
    """Returns, by the name of the file, a program and the calls: names of methods and inputs."""
    dynamic = {"x": {0: torch.export.Dim("rows", min=2, max=64)}}
    return {
        "control_flow.pt": (
            torch.jit.script(ControlFlow()),
            [
                ("forward", (PAIR, 3)),
                ("forward", (PAIR, 0, "z")),
                ("forward", (PAIR * 8, 5)),
                ("norm", (PAIR,)),
                ("norm", (PAIR, 2.0)),
            ],
        ),
        "containers.pt": (
            torch.jit.script(filled(Containers())),
            [("forward", (PAIR, "a")), ("forward", (PAIR, "new"))],
        ),
        "convolutions.pt": (torch.jit.trace(filled(Net()), IMAGE), [("forward", (IMAGE,)), ("forward", (-IMAGE,))]),
        "frozen.pt": (torch.jit.freeze(torch.jit.script(filled(Layers()))), [("forward", (ROWS,))]),
        "function.pt": (torch.jit.script(repeated), [("forward", (PAIR, 2)), ("forward", (PAIR, 0))]),
        "layers.pt2": (
            torch.export.export(filled(Layers()), (ROWS,), dynamic_shapes=dynamic),
            [("forward", (ROWS,)), ("forward", (torch.ones(5, 3),))],
        ),
        "convolutions.pt2": (torch.export.export(filled(Net()), (IMAGE,)), [("forward", (IMAGE,))]),
    }


def save(program, path: Path) -> None:
    if path.suffix == ".pt2":
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)  # has names of folders
        torch.export.save(program, path)
    else:
        torch.jit.save(program, str(path), _extra_files={"labels.json": '["cat", "dog"]'})


def without_folders(pickled: bytes) -> bytes:
    """Takes the folders before this file and before torch's package out of the texts in a pickle."""
    out, copied = b"", 0
    for op, text, at in pickletools.genops(pickled):
        if op.name == "BINUNICODE" and text.startswith("/"):
            old, new = text.encode(), re.sub(r"^/.*/(site-packages|graph)/", "", text).encode()
            out += pickled[copied:at] + b"X" + struct.pack("<I", len(new)) + new
            copied = at + 5 + len(old)
    return out + pickled[copied:]


def rewrite(path: Path) -> None:
    """Writes an archive of torch again, with the same members at the same alignment, and no folder in debug_pkl."""
    with zipfile.ZipFile(path) as old:
        members = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(path, "w") as new:
        for info, data in members:
            fresh = zipfile.ZipInfo(info.filename)
            fresh.compress_type = info.compress_type
            pad = -(new.fp.tell() + 30 + len(info.filename) + 4) % 64
            fresh.extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
            new.writestr(fresh, without_folders(data) if info.filename.endswith(".debug_pkl") else data)


def results(path: Path, calls: list) -> list[dict]:
    """Loads a file and returns its calls with their results."""
    loaded = torch.export.load(path).module() if path.suffix == ".pt2" else torch.jit.load(path)
    found = []
    for method, inputs in calls:
        call = {"method": method, "inputs": [encode(x) for x in inputs]}
        found.append(call | {"result": encode(getattr(loaded, method)(*inputs))})
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    recorded = {}
    for name, (program, calls) in programs().items():
        save(program, FOLDER / name)
        rewrite(FOLDER / name)
        recorded[name] = results(FOLDER / name, calls)
        print(name, (FOLDER / name).stat().st_size, "bytes")
    lines = [f"{json.dumps(name)}: {json.dumps(calls)}" for name, calls in recorded.items()]
    (FOLDER / "archives.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
