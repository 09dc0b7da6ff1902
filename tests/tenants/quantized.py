"""The package of quantized.cpp, with rules in Python that compute on dequantized values."""

from pathlib import Path

import lamella

ON_VALUES = ("add.Tensor", "add.Scalar", "mul.Tensor", "mul.Scalar", "relu", "linear", "mm", "fill_.Scalar")


@lamella.plugins.hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("quantized.so"))
    ctx.contribute("repr", {"quantized": note})
    library = lamella.library.Library("aten", "IMPL", "quantized", owner="tiny-quantized")
    for name in ON_VALUES:
        library.impl(name, on_values, all_forms=name != "fill_.Scalar")
    library.impl("cat", cat)


def note(tensor):
    if found := tensor.quantization:
        scale = found["scale"] if found["axis"] < 0 else f"one for each index along dimension {found['axis']}"
        return f"scale={scale}, zero_point={found['zero_point']}"


def values(x):
    return lamella.ops.quantized.dequantize(x) if isinstance(x, lamella.Tensor) and x.quantization else x


def on_values(call, *args, **kwargs):
    """Runs an operator in any of its forms on values, and copies those that it has written into quantized tensors."""
    operator = lamella.library.describe(call)
    given = operator.bind(args, kwargs)
    plain = {name: values(x) for name, x in given.items()}
    result = call(**plain)
    with lamella.library.as_called(call), lamella.no_grad():
        for a in operator.arguments:
            if a.written and plain[a.name] is not given[a.name]:
                result = given[a.name].copy_(plain[a.name])
    return result


def cat(call, tensors, dim=0):
    """Joins values, which are quantized again if all tensors have one and the same scale and zero point."""
    joined, schemes = call([values(t) for t in tensors], dim), [t.quantization for t in tensors]
    if any(s is None or s["axis"] >= 0 for s in schemes) or len({(s["scale"], s["zero_point"]) for s in schemes}) > 1:
        return joined
    return lamella.ops.quantized.quantize_per_tensor(joined, schemes[0]["scale"], schemes[0]["zero_point"])
