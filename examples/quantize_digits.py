"""Quantizes two small nets that read handwritten digits, and shows what each way of quantizing costs and saves.

The nets are the convolutional one of train_digits.py and a small transformer. Each is trained, then quantized after
training (weights alone, dynamic, static) and in training; the table has the share of held-out digits that are read
correctly, the bytes of the file, and the time of a batch. The program exits with 1 if eight bits lose more than half a
point, or four bits more than one. A picture is written to build/quantize_digits.png.
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
import time
from pathlib import Path

import lamella
import lamella.nn.functional as F
from lamella import nn, optim, quantization
from lamella.utils.data import DataLoader
from train_digits import BATCH, CLASSES, Net, split_digits

PICTURE = Path(__file__).resolve().parents[1] / "build" / "quantize_digits.png"
MOST_LOST = {"static int8": 0.005, "trained int8": 0.005, "int4 weights": 0.01}


class Reader(Net):
    """The net of train_digits.py, with stubs that mark where tensors become integers, and plain again."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(super().forward(self.quant(x)))


class Attention(nn.Module):
    """Self-attention whose projections are linear layers."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.inputs, self.outputs = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, tokens, width = x.shape
        q, k, v = self.inputs(x).reshape(n, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.outputs(y.transpose(1, 2).reshape(n, tokens, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.between = nn.LayerNorm(width)
        self.more = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.more(self.between(x))


class Transformer(nn.Module):
    """Reads an image as sixteen patches of 7×7."""

    def __init__(self, width=96, heads=4, blocks=2):
        super().__init__()
        self.patches = nn.Linear(49, width)
        self.places = nn.Parameter(lamella.randn(16, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.last, self.classes = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, x):
        x = x.reshape(len(x), 4, 7, 4, 7).transpose(2, 3).reshape(len(x), 16, 49)
        return self.classes(self.last(self.blocks(self.patches(x) + self.places)).mean(1))


def trained(model, digits, epochs, rate):
    """Trains a model, and returns it in evaluation."""
    loader = DataLoader(digits, BATCH, shuffle=True)
    optimizer = optim.Adam(model.parameters(), lr=rate)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            scheduler.step()
    return model.eval()


def measured(model, held_out):
    """Returns the share of digits that a model reads, the bytes of its file, and the milliseconds of a batch."""
    right, total = 0, 0
    with lamella.no_grad():
        for x, y in DataLoader(held_out, BATCH):
            right += (model(x).argmax(1) == y).sum().item()
            total += len(y)
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            model(x)
            times.append(time.perf_counter() - begin)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.lamella"
        lamella.save(model.state_dict(), path)
        size = path.stat().st_size
    return right / total, size, sorted(times)[len(times) // 2] * 1e3


def quantized(model, digits, held_out, epochs):
    """Yields the name of each way of quantizing, and the model that was quantized so."""
    images = next(iter(DataLoader(digits, 256, shuffle=True)))[0]
    yield "int8 weights", quantization.quantize_(copy.deepcopy(model), quantization.Int8WeightOnly())
    yield "int4 weights", quantization.quantize_(copy.deepcopy(model), four_bits(model))
    yield "dynamic int8", quantization.quantize_(copy.deepcopy(model), quantization.Int8Dynamic())
    if isinstance(model, Reader):
        model.qconfig = quantization.get_default_qconfig()
        prepared = quantization.prepare(model)
        with lamella.no_grad():
            prepared(images)
        yield "static int8", quantization.convert(prepared)
        model.qconfig = quantization.get_default_qat_qconfig()
        yield "trained int8", quantization.convert(trained(quantization.prepare_qat(model), digits, epochs, 1e-3))
    else:
        static = quantization.Static(lambda net: net(images))
        yield "static int8", quantization.quantize_(copy.deepcopy(model), static)


def four_bits(model):
    """Returns a choice of four bits by groups of at most 32, which divide the features of each linear layer."""
    sizes = {}
    for name, layer in model.named_modules():
        if type(layer) is nn.Linear:
            sizes[name] = next(n for n in range(32, 0, -1) if layer.in_features % n == 0)
    return {name: quantization.Int4WeightOnly(size) for name, size in sizes.items()}


def draw(rows):
    """Draws the share of digits that are read against size and time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    for net in dict.fromkeys(r[0] for r in rows):
        for axis, column, label in ((axes[0], 3, "bytes of the file"), (axes[1], 4, "milliseconds for a batch")):
            points = [(r[column], 100 * r[2], r[1]) for r in rows if r[0] == net]
            axis.scatter([p[0] for p in points], [p[1] for p in points], label=net)
            for x, y, name in points:
                axis.annotate(name, (x, y), fontsize=7, xytext=(3, 3), textcoords="offset points")
            axis.set_xlabel(label)
    axes[0].set_ylabel("digits read, %")
    axes[0].legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=15)
    options = parser.parse_args()
    lamella.manual_seed(0)
    digits, held_out = split_digits()
    rows, bad = [], 0
    for name, model, rate in (("convolutional", Reader(), 3e-3), ("transformer", Transformer(), 2e-3)):
        trained(model, digits, options.epochs, rate)
        plain = measured(model, held_out)
        rows.append((name, "float32", *plain))
        for way, made in quantized(model, digits, held_out, max(options.epochs // 5, 1)):
            figures = measured(made, held_out)
            rows.append((name, way, *figures))
            bad += plain[0] - figures[0] > MOST_LOST.get(way, 1)
    print(f"{'net':14} {'way':14} {'read':>7} {'bytes':>9} {'smaller':>8} {'ms':>7}")
    first = {}
    for net, way, share, size, milliseconds in rows:
        whole = first.setdefault(net, size)
        print(f"{net:14} {way:14} {share:7.2%} {size:9} {whole / size:7.2f}x {milliseconds:7.2f}")
    draw(rows)
    print(f"picture: {PICTURE}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
