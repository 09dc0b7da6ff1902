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

import archive_programs as more
import torch
from archive_programs import filled
from script_programs import encode
from torch import nn

assert torch.__version__.startswith("2.13."), f"recorded from torch 2.13, this is {torch.__version__}"
warnings.simplefilter("ignore")
HERE = Path(__file__).resolve().parent
FOLDER = HERE / "torch_archives"


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
COLUMNS = ROWS.t().contiguous()
WORDS = torch.tensor([[0, 3, 1], [4, 2, 2]])
STEPS = (torch.arange(24.0) % 7 / 4).view(2, 3, 4)
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
        **scripted_programs(),
        **exported_programs(),
    }


def scripted_programs():
    """Returns further programs of ``torch.jit``, by the name of the file."""
    five = IMAGE.view(16)[:15].view(5, 3)
    calls = [("forward", (five,)), ("forward", (five * 2 + five.abs(),))]
    norm = filled(more.Normalized())
    point = more.Point(PAIR, 3)
    mask = torch.tensor([[False, False, True], [False, True, True]])
    attended = [("forward", (STEPS,)), ("forward", (STEPS, mask))]
    return {
        "results.pt": (
            torch.jit.script(more.Results()),
            [("forward", (PAIR,)), ("named", (point,)), ("named", (point, 0.5))],
        ),
        "cell.pt": (
            torch.jit.script(filled(more.Cell())),
            [("forward", (ROWS,)), ("forward", (ROWS, (PAIR.expand(2, 2), PAIR.expand(2, 2) / 2)))],
        ),
        "norm_in_training.pt": (torch.jit.script(filled(more.Normalized()).train()), calls + calls),
        "norm.pt": (torch.jit.script(norm), calls),
        "norm_frozen.pt": (torch.jit.freeze(torch.jit.script(norm)), calls),
        "lists.pt": (
            torch.jit.script(filled(more.Block())),
            [("forward", (ROWS,)), ("forward", (ROWS[:1], [True, False])), ("head", (ROWS, 3))],
        ),
        "numbers.pt": (
            torch.jit.script(more.Numbers()),
            [
                ("forward", (ROWS,)),
                ("forward", (ROWS, "other")),
                ("resized", (IMAGE,)),
                ("words", ("two words and one",)),
            ],
        ),
        "sizes.pt": (
            torch.jit.trace(filled(more.Sizes()), WORDS, strict=False),
            [("forward", (WORDS,)), ("forward", (WORDS[:1, :2],))],
        ),
        "attention.pt": (torch.jit.script(filled(more.Attention())), attended),
        "encoder_frozen.pt": (torch.jit.freeze(torch.jit.script(filled(more.Encoder()))), attended),
        "operators.pt": (torch.jit.script(more.Operators()), [("forward", (ROWS, IMAGE))]),
        "missing.pt": (torch.jit.script(more.Missing()), [("forward", (PAIR,))]),
    }


def exported_programs():
    """Returns further programs of ``torch.export``, by the name of the file."""
    twice = [("forward", (COLUMNS,)), ("forward", (COLUMNS * 4 - 1,))]
    counts = torch.export.export(more.Counts().train(), (COLUMNS,))
    decomposed = torch.export.export(filled(nn.BatchNorm1d(2)).train(), (COLUMNS,)).run_decompositions()
    parts = {"b": torch.arange(6.0).view(3, 2), "a": torch.arange(4.0)}
    two = torch.export.export(more.TwoInputs(), (torch.ones(2, 4), parts, 3), {"scale": 2.0})
    rows = {"x": {0: torch.export.Dim("rows", min=4, max=100)}}
    dynamic = torch.export.export(more.Dynamic(), (STEPS.view(6, 4),), dynamic_shapes=rows)
    return {
        "counts.pt2": (counts, twice),
        "norm_decomposed.pt2": (decomposed, twice),
        "two_inputs.pt2": (two, [("forward", (torch.full((2, 4), 0.5), parts, 3, 2.0))]),
        "dynamic.pt2": (dynamic, [("forward", (STEPS.view(6, 4),)), ("forward", (torch.ones(9, 4),))]),
        "pieces.pt2": (
            torch.export.export(more.Pieces(), (ROWS, IMAGE)).run_decompositions(),
            [("forward", (ROWS, IMAGE))],
        ),
        "missing.pt2": (torch.export.export(more.Missing(), (PAIR,)), [("forward", (PAIR,))]),
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
    """Writes an archive of torch again, with the same members at the same alignment, and no folder in debug_pkl.

    A large file loses its debug_pkl, which the code does not need.
    """
    large = path.stat().st_size > 2**14
    with zipfile.ZipFile(path) as old:
        kept = [i for i in old.infolist() if not (large and i.filename.endswith(".debug_pkl"))]
        members = [(info, old.read(info)) for info in kept]
    with zipfile.ZipFile(path, "w") as new:
        for info, data in members:
            fresh = zipfile.ZipInfo(info.filename)
            fresh.compress_type = info.compress_type
            pad = -(new.fp.tell() + 30 + len(info.filename) + 4) % 64
            fresh.extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
            data = without_folders(data) if info.filename.endswith(".debug_pkl") else data
            new.writestr(fresh, data, compresslevel=9)


def results(path: Path, calls: list) -> list[dict]:
    """Loads a file and returns its calls with their results."""
    loaded = torch.export.load(path).module() if path.suffix == ".pt2" else torch.jit.load(path)
    found = []
    for method, inputs in calls:
        call = {"method": method, "inputs": [encode(x) for x in inputs]}
        named = {"scale": inputs[-1]} if path.stem == "two_inputs" else {}
        given = inputs[: len(inputs) - len(named)]
        with torch.no_grad():  # without which torch's layers do not use their operators for evaluation
            found.append(call | {"result": encode(getattr(loaded, method)(*given, **named))})
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
