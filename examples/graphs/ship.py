"""A model in a file: saved with two methods and a file of labels, listed, and loaded where its class is not there.

`lamella show model.lamella --code` prints what `lamella.graph.show` returns here.
"""

import json
import tempfile
import zipfile
from pathlib import Path

import lamella
from lamella import jit, nn


class Scaler(nn.Module):
    """Brings numbers to mean 0 and deviation 1, and back."""

    def __init__(self, mean, deviation):
        super().__init__()
        self.register_buffer("mean", lamella.tensor(mean))
        self.deviation = nn.Parameter(lamella.tensor(deviation))

    def forward(self, x):
        return (x - self.mean) / self.deviation

    @jit.export
    def inverse(self, y):
        return y * self.deviation + self.mean


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scaler.lamella"
        labels = json.dumps(["height", "weight"])
        jit.script(Scaler([1.7, 70.0], [0.1, 10.0])).save(path, _extra_files={"labels.json": labels})
        summary = lamella.graph.show(path, code=True)
        print("what is in the file:", summary.partition("\n\n")[2], sep="\n")
        with zipfile.ZipFile(path) as members:
            print("\nits members:", *members.namelist(), sep="\n  ")

        found = {"labels.json": ""}
        scaler = jit.load(path, _extra_files=found)
        print("\nlabels:", *json.loads(found["labels.json"]))
        x = lamella.tensor([[1.8, 60.0]])
        print("there and back:", [round(v, 4) for v in scaler.inverse(scaler(x))[0].tolist()])
        scaler(x).sum().backward()
        print("a gradient of the loaded parameter:", [round(v, 2) for v in scaler.deviation.grad.tolist()])


if __name__ == "__main__":
    main()
