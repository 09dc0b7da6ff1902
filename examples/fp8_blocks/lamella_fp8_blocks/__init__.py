"""The numeric type fp8_e4m3: floats of eight bits, with a scale for all, for each channel or for blocks of neighbours.

A float has a sign, four bits of exponent and three of mantissa (Micikevicius et al., "FP8 Formats for Deep Learning"),
so that its error follows its size, where an integer's is the same for all. A kernel of its own multiplies by weights
with scales by row: the floats are multiplied as they are, and each sum by its scale.

>>> import lamella
>>> q = lamella.quantization.quantize(lamella.tensor([[448.0, 1.0, 0.01]]), "fp8_e4m3", axis=0)
>>> q.dequantize()
tensor([[4.4800e+02, 1.0000e+00, 9.7656e-03]])
"""

import lamella
from lamella.plugins import hookimpl

LARGEST = 448.0


@hookimpl
def register(ctx):
    lamella.quantization.register_type(
        "fp8_e4m3", bits=8, largest=LARGEST, encode=encode, decode=decode, kernels={"aten::linear": linear}
    )


def encode(x):
    """Returns the bytes of the nearest floats of eight bits."""
    return x.clamp(-LARGEST, LARGEST).to(lamella.float8_e4m3fn).view(lamella.uint8)


def decode(codes):
    """Returns the numbers of these bytes."""
    return codes.view(lamella.float8_e4m3fn).float()


def linear(input, weight, bias=None):
    """Multiplies by a weight with a scale for each row; other weights are multiplied by their values."""
    found = lamella.quantization.scheme(weight) if weight.is_quantized else None
    rows = found and found["axis"] == 0 and weight.ndim == 2 and weight.is_contiguous() and not input.is_quantized
    if not rows:
        plain = [x.dequantize() if x.is_quantized else x for x in (input, weight)]
        return lamella.nn.functional.linear(*plain, bias)
    floats = decode(lamella.quantization.memory(weight)).view(weight.shape)
    y = lamella.nn.functional.linear(input, floats.to(input.dtype)) * found["scale"].to(input.dtype)
    return y if bias is None else y + bias
