"""Quantizes two nets that read handwritten digits, and shows what each way of quantizing costs and saves.

The nets are the convolutional one of train_digits.py, with a wide linear layer, and a small transformer. Each is
trained, then quantized after training (weights alone, dynamic, static) and in training. The table has the share of
held-out digits that are read correctly, the bytes of the file, and the least time of a batch; each held-out digit is
read at five places. A picture shows the table. The program exits with 1 if a net reads less than 95 %, if static or
trained eight bits lose more than half a point, if four bits lose more than one, or if a file is not at least 3.6 times
(eight bits) or 6 times (four) smaller.

Weights alone, and dynamic, are ways of linear layers: the convolutions stay in floating numbers there. Groups of 64
weights share a scale of 32 bits, so a weight of four bits takes 4.5.
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

import lamella
import lamella.nn.functional as F
from lamella import nn, optim, quantization
from lamella.utils.data import DataLoader
from train_digits import BATCH, CLASSES, Net, split_digits

PICTURE = Path(__file__).resolve().parents[1] / "build" / "quantize_digits.png"
STEP = 16  # the images of a step of training
PLACES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))  # by how many pixels held-out digits are shifted
GROUP = 64  # how many weights of four bits share a scale, or the next smaller number that divides the in features
LEAST_READ = 0.95
MOST_LOST = {"static int8": 0.005, "trained int8": 0.005, "int4 weights": 0.01}
LEAST_SMALLER = {"int8 weights": 3.6, "dynamic int8": 3.6, "static int8": 3.6, "trained int8": 3.6, "int4 weights": 6}


class Reader(Net):
    """The net of train_digits.py with a wide layer, and stubs where tensors become integers and plain again."""

    def __init__(self, wide):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(self.fc1.in_features, wide), nn.Linear(wide, CLASSES)
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(super().forward(self.quant(x)))


def linear(inputs, outputs):
    """Returns a linear layer between stubs: it may become one of integers among layers of floating numbers."""
    return quantization.QuantWrapper(nn.Linear(inputs, outputs))


class Attention(nn.Module):
    """Self-attention whose projections are linear layers."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.inputs, self.outputs = heads, linear(width, 3 * width), linear(width, width)

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
        self.more = nn.Sequential(linear(width, 4 * width), nn.GELU(), linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.more(self.between(x))


class Transformer(nn.Module):
    """Reads an image as sixteen patches of 7×7."""

    def __init__(self, width, heads=4, blocks=2):
        super().__init__()
        self.patches = linear(49, width)
        self.places = nn.Parameter(lamella.randn(16, width) * 0.5)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.last, self.classes = nn.LayerNorm(width), linear(width, CLASSES)

    def forward(self, x):
        x = x.reshape(len(x), 4, 7, 4, 7).transpose(2, 3).reshape(len(x), 16, 49)
        return self.classes(self.last(self.blocks(self.patches(x) + self.places)).mean(1))


def trained(model, digits, epochs, rate):
    """Trains a model, whose rate rises and falls again, and returns it in evaluation."""
    loader = DataLoader(digits, STEP, shuffle=True)
    optimizer = optim.Adam(model.parameters(), lr=rate)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, rate, epochs * len(loader))
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            scheduler.step()
    return model.eval()


def size_of(model):
    """Returns the bytes of a model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.lamella"
        lamella.save(model.state_dict(), path)
        return path.stat().st_size


def measured(model, held_out):
    """Returns the share of digits that a model reads, the bytes of its file, and the least milliseconds of a batch."""
    right, total, times = 0, 0, []
    with lamella.no_grad():
        for x, y in DataLoader(held_out, BATCH):
            for place in PLACES:
                begin = time.perf_counter()
                found = model(x.roll(place, (2, 3))).argmax(1)
                if len(y) == BATCH:
                    times.append(time.perf_counter() - begin)
                right += (found == y).sum().item()
                total += len(y)
    return right / total, size_of(model), min(times) * 1e3


def quantized(model, digits, epochs, rate):
    """Yields the name of each way of quantizing, and the model that was quantized so."""
    yield "int8 weights", quantization.quantize_(copy.deepcopy(model), quantization.Int8WeightOnly())
    yield "int4 weights", quantization.quantize_(copy.deepcopy(model), four_bits(model))
    yield "dynamic int8", quantization.quantize_(copy.deepcopy(model), quantization.Int8Dynamic())
    model.qconfig = quantization.get_default_qconfig()
    prepared = quantization.prepare(model)
    with lamella.no_grad():
        prepared(next(iter(DataLoader(digits, 256, shuffle=True)))[0])
    yield "static int8", quantization.convert(prepared)
    model.qconfig = quantization.get_default_qat_qconfig()
    yield "trained int8", quantization.convert(trained(quantization.prepare_qat(model), digits, epochs, rate))


def four_bits(model):
    """Returns a choice of four bits by groups of at most GROUP, which divide the in features of each linear layer."""
    sizes = {}
    for name, layer in model.named_modules():
        if type(layer) is nn.Linear:
            sizes[name] = next(n for n in range(GROUP, 0, -1) if layer.in_features % n == 0)
    return {name: quantization.Int4WeightOnly(size) for name, size in sizes.items()}


def missed(rows):
    """Returns a line for each bound that a row of the table misses."""
    lines, plain = [], {net: (share, size) for net, way, share, size, _ in rows if way == "float32"}
    for net, way, share, size, _ in rows:
        lost, smaller = plain[net][0] - share, plain[net][1] / size
        if way == "float32" and share < LEAST_READ:
            lines.append(f"{net}: {share:.2%} of the digits are read, at least {LEAST_READ:.0%} were to be")
        if lost > MOST_LOST.get(way, 1):
            lines.append(f"{net}, {way}: {lost:.2%} of the digits are lost, at most {MOST_LOST[way]:.1%} were to be")
        if smaller < LEAST_SMALLER.get(way, 0):
            lines.append(f"{net}, {way}: the file is {smaller:.2f} times smaller, not {LEAST_SMALLER[way]}")
    return lines


def draw(rows, path):
    """Draws the share of digits that are read against size and time: a row of axes for a net, a marker for a way."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # draws without a window
    from matplotlib.figure import Figure

    nets, ways = (list(dict.fromkeys(column)) for column in list(zip(*rows, strict=True))[:2])
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(nets), 2, sharey="row")
    for net, way, share, size, milliseconds in rows:
        for axis, x in zip(axes[nets.index(net)], (size / 1e6, milliseconds), strict=True):
            at = ways.index(way)
            axis.plot(x, 100 * share, "o^vsD*"[at], color=f"C{at}", fillstyle="none", markersize=9, label=way)
    for net, (left, right) in zip(nets, axes, strict=True):
        for axis in (left, right):
            low, high = axis.dataLim.intervaly
            more = max(0.1 * (high - low), 1 - (high - low) / 2)  # two points at least are seen
            axis.set(title=net, xlim=(0, axis.dataLim.xmax * 1.1), ylim=(low - more, high + more))
            axis.grid(alpha=0.3)
        left.set(xlabel="megabytes of the file", ylabel="digits read, %")
        right.set(xlabel="milliseconds of a batch")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(ways))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=12, help="how often each image is seen")
    parser.add_argument(
        "--width", type=int, default=256, help="numbers of a token; the wide layer has four times as many"
    )
    parser.add_argument("--picture", type=Path, default=PICTURE, help=f"where the picture goes ({PICTURE})")
    options = parser.parse_args()
    if options.epochs < 1 or options.width < 4 or options.width % 4:
        parser.error("arguments --epochs, --width: must be at least 1, and a multiple of 4")
    lamella.manual_seed(0)
    digits, held_out = split_digits()
    rows = []
    print(f"{'net':14} {'way':14} {'read':>7} {'bytes':>9} {'smaller':>8} {'ms':>7}")
    nets = ("convolutional", Reader(4 * options.width), 2e-3), ("transformer", Transformer(options.width), 5e-4)
    for net, model, rate in nets:
        trained(model, digits, options.epochs, rate)
        ways = quantized(model, digits, max(options.epochs // 5, 1), rate / 10)
        whole = size_of(model)
        for way, made in chain([("float32", model)], ways):
            share, size, milliseconds = measured(made, held_out)
            rows.append((net, way, share, size, milliseconds))
            print(f"{net:14} {way:14} {share:7.2%} {size:9} {whole / size:7.2f}x {milliseconds:7.2f}", flush=True)
    draw(rows, options.picture)
    print(f"picture: {options.picture}")
    failed = missed(rows)
    for line in failed:
        print(f"FAILED: {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
