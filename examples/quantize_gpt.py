"""Trains a small GPT that writes letters, and shows what five ways of quantizing it cost and save.

The model is that of examples/models/gpt.py, and its text is the docstrings of Python's standard library. The table has
the perplexity of held-out letters (the exponential of their mean cross entropy), the bytes of the file, and the least
time of a letter that the model writes, one text at a time and without a cache of what is before the letter.

The program exits with 1 if the model has not learned, if weights of eight bits raise the perplexity by more than 1 %,
or if those of four raise it by more than 5.
"""

from __future__ import annotations

import argparse
import ast
import copy
import math
import os
import sys
import tempfile
import time
from pathlib import Path

import lamella
import lamella.nn.functional as F
import numpy as np
from lamella import optim, quantization

sys.path.insert(0, os.fspath(Path(__file__).resolve().parent / "models"))
from gpt import GPT

LENGTH, BATCH, RATE = 64, 16, 4e-3  # letters of a sequence, sequences of a step, the greatest rate
MOST_RAISED = {8: 0.01, 4: 0.05}  # by the bits of the weights


def documentation():
    """Returns the docstrings of Python's standard library that are ASCII, as one text of about 900,000 letters."""
    found = []
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node)
                if text and text.isascii():
                    found.append(text)
    return "\n\n".join(found)


def sequences(text, starts):
    """Returns a sequence of LENGTH letters for each start, and the letters that follow each of them."""
    windows = text[starts[:, None] + lamella.arange(LENGTH + 1)]
    return windows[:, :-1], windows[:, 1:]


def loss_of(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def train(model, text, steps):
    """Trains a model on sequences from anywhere in a text."""
    optimizer = optim.AdamW(model.parameters(), lr=RATE)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, *sequences(text, lamella.randint(0, len(text) - LENGTH, (BATCH,)))).backward()
        optimizer.step()
        scheduler.step()


@lamella.no_grad()
def measured(model, held_out, first):
    """Returns the perplexity of a text, the bytes of a model's file, and the milliseconds of a letter after others."""
    starts = lamella.arange(0, len(held_out) - LENGTH, LENGTH)[:512]
    losses = [loss_of(model, *sequences(held_out, part)).item() for part in starts.split(64)]
    count, times = LENGTH - first.shape[1], []
    for _ in range(5):
        begin = time.perf_counter()
        model.generate(first, count, top_k=1)
        times.append((time.perf_counter() - begin) / count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.lamella"
        lamella.save(model.state_dict(), path)
        return math.exp(sum(losses) / len(losses)), path.stat().st_size, min(times) * 1e3


def compared(model, some, held_out):
    """Prints the table of the five ways, of which one is also rounded by calibration data. Returns the perplexity of
    the model, and a line for each missed bound."""
    configurations = (
        None,
        quantization.Int8WeightOnly(),
        quantization.Int4WeightOnly(),
        quantization.Int4WeightOnly(rounding=quantization.GPTQ(lambda net: net(some))),
        quantization.Int4WeightOnly(rounding=quantization.AWQ(lambda net: net(some))),
        quantization.Int8Dynamic(),
        quantization.Int8DynamicInt4Weight(),
        quantization.Static(lambda net: net(some)),
    )
    print(f"{'configuration':22} {'perplexity':>10} {'raised':>8} {'bytes':>9} {'smaller':>8} {'ms':>7}")
    missed, plain, whole = [], None, None
    for configuration in configurations:
        made = copy.deepcopy(model)
        if configuration is not None:
            quantization.quantize_(made, configuration)
        rounding = getattr(configuration, "rounding", None)
        way = "float32" if configuration is None else type(configuration).__name__
        way += f" {type(rounding).__name__}" if rounding else ""
        perplexity, size, ms = measured(made, held_out, some[:1, :16])
        plain, whole = plain or perplexity, whole or size
        raised = perplexity / plain - 1
        print(f"{way:22} {perplexity:10.3f} {raised:8.2%} {size:9} {whole / size:7.2f}x {ms:7.3f}", flush=True)
        most = MOST_RAISED[4 if "Int4" in way else 8]
        if raised > most:
            missed.append(f"{way} raises the perplexity by {raised:.2%}, at most {most:.0%} was to be")
    return plain, missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500, help="steps of training")
    parser.add_argument("--width", type=int, default=128, help="numbers of a letter, a multiple of 32")
    parser.add_argument("--layers", type=int, default=2, help="blocks of attention")
    options = parser.parse_args()
    if options.steps < 1 or options.layers < 1 or options.width < 32 or options.width % 32:
        parser.error("arguments --steps, --layers, --width: must be at least 1; --width must be a multiple of 32")
    lamella.manual_seed(0)
    letters, codes = np.unique(np.frombuffer(documentation().encode(), np.uint8), return_inverse=True)
    text, held_out = lamella.from_numpy(codes).tensor_split([len(codes) * 9 // 10])
    shares = np.bincount(codes) / len(codes)
    by_frequency = math.exp(-(shares * np.log(shares)).sum())
    model = GPT(len(letters), LENGTH, options.width, 4, options.layers)
    begin = time.perf_counter()
    train(model, text, options.steps)
    print(f"{options.steps} steps on {len(text)} letters in {time.perf_counter() - begin:.0f} s")
    print(f"by the letters' frequencies alone, the perplexity would be {by_frequency:.2f}")
    model.eval()
    some = sequences(text, lamella.randint(0, len(text) - LENGTH, (64,)))[0]
    plain, missed = compared(model, some, held_out)
    if plain > by_frequency / 2:
        missed.append(f"a perplexity of {plain:.2f} is not half that of the letters' frequencies")
    for line in missed:
        print(f"FAILED: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
