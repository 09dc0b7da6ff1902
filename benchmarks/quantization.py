"""Quantized tensors and layers beside torch's, and beside the same layers in float32: one thread and two.

torch's engine is x86 (FBGEMM and oneDNN), the fastest of those that it has here. Where the processor lacks VNNI, the
titles say so: bytes are then multiplied as pairs of 16 bits, or as such from 0 to 127.
"""

from __future__ import annotations

import warnings
from typing import Any

import common
import models

warnings.simplefilter("ignore")
MANY = 10**7
LAYERS = ((64, 56, 64, 3, 1), (128, 28, 128, 3, 1), (256, 14, 256, 3, 1), (512, 7, 512, 3, 1), (3, 224, 64, 7, 2))


def row(name: str, runs: dict[str, Any], bounds: dict[str, float]) -> common.Row:
    timers = {who: common.timer("run()", {"run": run}) for who, run in runs.items()}
    return common.Row(name, common.measure(timers), [common.Bound(peer, most) for peer, most in bounds.items()])


def near(ours: Any, theirs: Any, step: float) -> None:
    """Raises unless the numbers agree up to one step of the codes."""
    import numpy as np

    difference = np.abs(np.asarray(ours, np.float32) - np.asarray(theirs, np.float32)).max()
    assert difference <= step * 1.01, (difference, step)


def elements() -> list[common.Row]:
    """Quantizes, dequantizes, adds and fake-quantizes, with copies of as many bytes as floors."""
    import lamella
    import numpy as np
    import torch

    numbers = np.random.default_rng(0).standard_normal(MANY, dtype=np.float32)
    x, t = lamella.from_numpy(numbers), torch.from_numpy(numbers)
    q, qt = x.quantize_linear(0.05, 3), torch.quantize_per_tensor(t, 0.05, 3, torch.quint8)
    near(q.int_repr().numpy(), qt.int_repr().numpy(), 1)
    common.same({"lamella": q.dequantize().numpy()[:1000], "torch": qt.dequantize().numpy()[:1000]})
    bytes_of_both = np.zeros(MANY * 5 // 2, np.uint8)  # a copy reads and writes them: five bytes an element in all
    copy = bytes_of_both.copy
    found = [
        row("quantize 10^7", {
            "lamella": lambda: x.quantize_linear(0.05, 3),
            "torch": lambda: torch.quantize_per_tensor(t, 0.05, 3, torch.quint8), "copy": copy,
        }, {"torch": 1.0, "copy": 1.3}),
        row("dequantize 10^7", {"lamella": q.dequantize, "torch": qt.dequantize, "copy": copy},
            {"torch": 0.3, "copy": 1.3}),
    ]  # fmt: skip
    one = lamella.ones(1).quantize_linear(0.05, 3)
    of_torch = torch.quantize_per_tensor(torch.ones(1), 0.05, 3, torch.quint8)
    add, their_add = lamella.ops.quantized.add, torch.ops.quantized.add
    near(add(one, one, 0.1, 3).numpy(), their_add(of_torch, of_torch, 0.1, 3).dequantize().numpy(), 0.1)
    runs = {"lamella": lambda: add(one, one, 0.1, 3), "torch": lambda: their_add(of_torch, of_torch, 0.1, 3)}
    found.append(row("add of one element", runs, {"torch": 0.15}))

    def backward(module: Any, leaf: Any) -> Any:
        def run() -> Any:
            y = module.fake_quantize_per_tensor_affine(leaf, 0.05, 3, 0, 255)
            leaf.grad = None
            y.backward(leaf.detach())
            return leaf.grad

        return run

    runs = {
        "lamella": backward(lamella, x.clone().requires_grad_()), "torch": backward(torch, t.clone().requires_grad_())
    }  # fmt: skip
    near(runs["lamella"]().numpy(), runs["torch"]().numpy(), 0)
    found.append(row("fake-quantize 10^7, forward and backward", runs, {"torch": 0.12}))
    return found


def linear_layers() -> list[common.Row]:
    import lamella
    import numpy as np
    import torch

    found = []
    rng = np.random.default_rng(0)
    w = rng.standard_normal((1024, 1024), dtype=np.float32) / 32
    ours, theirs = lamella.nn.Linear(1024, 1024), torch.nn.Linear(1024, 1024)
    with lamella.no_grad():
        ours.weight.copy_(lamella.from_numpy(w))
        ours.bias.zero_()
    with torch.no_grad():
        theirs.weight.copy_(torch.from_numpy(w))
        theirs.bias.zero_()
    made = lamella.quantization.DynamicLinear.from_float(ours, by_row=False)
    torch.backends.quantized.engine = "x86"
    kinds = {torch.nn.Linear}
    of_torch = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(theirs), kinds, dtype=torch.qint8)
    for rows in (1, 64):
        x = rng.standard_normal((rows, 1024), dtype=np.float32)
        a, b = lamella.from_numpy(x), torch.from_numpy(x)
        with lamella.no_grad(), torch.no_grad():
            near(made(a).numpy(), of_torch(b).numpy(), 0.15)
            runs = {
                "lamella": lambda a=a: made(a), "torch": lambda b=b: of_torch(b), "float32": lambda a=a: ours(a)
            }  # fmt: skip
            found.append(row(f"dynamic int8 linear {rows}x1024x1024", runs, {"torch": 0.9, "float32": 0.45}))
    wide = lamella.from_numpy(rng.standard_normal((4096, 4096), dtype=np.float32))
    x = lamella.from_numpy(rng.standard_normal((1, 4096), dtype=np.float32))
    linear = lamella.nn.functional.linear
    found.append(weight_only(wide, x))
    for group in (128, 32):
        q = lamella.quantization.quantize(wide, "int4", group_size=group)
        codes = lamella.quantization.memory(q).numpy()
        common.same({"lamella": linear(x, q).numpy() / 64, "values": linear(x, q.dequantize()).numpy() / 64})
        half = codes[: len(codes) // 2]
        runs = {"lamella": lambda q=q: linear(x, q), "float32": lambda: linear(x, wide), "copy": half.copy}
        found.append(row(f"int4 weights 4096x4096 by {group}, batch 1", runs, {"float32": 0.25, "copy": 1.4}))
    return found


def weight_only(weight: Any, x: Any) -> common.Row:
    """A layer by int8 weights, beside torchao's where that is installed. It is not compiled there, as none is here."""
    import copy
    import importlib

    import lamella
    import torch

    q, linear = lamella.quantization.quantize(weight, lamella.int8, axis=0), lamella.nn.functional.linear
    runs: dict[str, Any] = {"lamella": lambda: linear(x, q), "float32": lambda: linear(x, weight)}
    bounds = {"float32": 0.45}
    try:
        torchao = importlib.import_module("torchao.quantization")
    except ImportError:
        pass
    else:
        layer = torch.nn.Linear(4096, 4096, bias=False)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight.numpy()))
        model, rows = torch.nn.Sequential(copy.deepcopy(layer)), torch.from_numpy(x.numpy())
        torchao.quantize_(model, torchao.Int8WeightOnlyConfig())
        with torch.no_grad():
            near(linear(x, q).numpy(), model(rows).numpy(), 4)  # of numbers around 64; both round weights by 0.02
        runs["torchao"] = lambda: model(rows)
        bounds["torchao"] = 0.9
    return row("int8 weights 4096x4096, batch 1", runs, bounds)


def convolutions() -> list[common.Row]:
    import lamella
    from lamella import nn

    quantization = lamella.quantization
    found = []
    for channels, size, outs, kernel, stride in LAYERS:
        conv = nn.Conv2d(channels, outs, kernel, stride, kernel // 2)
        model = quantization.QuantWrapper(conv).eval()
        model.qconfig = quantization.get_default_qconfig()
        prepared = quantization.prepare(model)
        x = lamella.randn(1, channels, size, size)
        with lamella.no_grad():
            wanted = prepared(x)
            made = quantization.convert(prepared)
            error = (made(x) - wanted).norm() / wanted.norm()
            assert error.item() < 0.1, error
            q, layer = made.quant(x), made.module
            runs = {"lamella": lambda layer=layer, q=q: layer(q), "float32": lambda conv=conv, x=x: conv(x)}
            name = f"static int8 conv2d {channels}x{size}x{size}, {outs} of {kernel}x{kernel}"
            found.append(row(name, runs, {"float32": 0.5}))
    return found


def observable(net: Any) -> Any:
    """Returns ResNet-18 with its own layers, and with sums of two branches that can be observed."""
    import lamella
    from lamella import nn

    class Sum(nn.Module):
        def __init__(self, block: Any):
            super().__init__()
            self.branch = nn.Sequential(block.conv1, block.bn1, nn.ReLU(), block.conv2, block.bn2)
            self.short = nn.Identity() if block.downsample is None else block.downsample
            self.plus = lamella.quantization.FloatFunctional()

        def forward(self, x: Any) -> Any:
            return self.plus.add_relu(self.branch(x), self.short(x))

    layers = [nn.Sequential(*map(Sum, m)) if isinstance(m, nn.Sequential) else m for m in net]
    return lamella.quantization.QuantWrapper(nn.Sequential(*layers)).eval()


def resnet() -> list[common.Row]:
    """ResNet-18 in integers from its first layer to its last, beside the same in float32."""
    import lamella

    quantization = lamella.quantization
    net = models.resnet18(lamella).eval()
    x = lamella.randn(1, 3, 224, 224)
    model = observable(net)
    model.qconfig = quantization.get_default_qconfig()
    with lamella.no_grad():
        prepared = quantization.prepare(model)
        wanted = prepared(x)
        made = quantization.convert(prepared)
        error = (made(x) - wanted).norm() / wanted.norm()
        assert error.item() < 0.3, error
        with quantization.strict():
            made(x)
        runs = {"lamella": lambda: made(x), "float32": lambda: net(x)}
        return [row("ResNet-18 in int8, 1x3x224x224", runs, {"float32": 0.5})]


def main() -> list[common.Row]:
    import lamella
    import torch

    with open("/proc/cpuinfo") as file:
        vnni = "vnni" in file.read()
    found = []
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        torch.set_num_threads(threads)
        rows = elements() + linear_layers() + convolutions() + resnet()
        title = f"Quantization, {threads} thread{'s' * (threads > 1)}"
        print(common.table(title if vnni else f"{title}; the processor lacks VNNI and AMX", rows))
        found += rows
    return found


if __name__ == "__main__":
    main()
