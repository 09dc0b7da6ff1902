"""The numeric type nf4: sixteen numbers that divide a normal distribution into parts of equal probability.

Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs", section 3 and appendix E. Each group of weights is
scaled to [-1, 1] by its greatest magnitude.

>>> import lamella
>>> w = lamella.tensor([[-2.0, -0.1, 0.0, 1.0]])
>>> q = lamella.quantization.quantize(w, "nf4", group_size=4)
>>> q.int_repr(), q.nbytes
(tensor([[ 0,  6,  7, 12]], dtype=lamella.uint8), 2)
>>> q.dequantize()
tensor([[-2.0000, -0.1821,  0.0000,  0.8814]])
"""

import lamella
from lamella.plugins import hookimpl

# The numbers of appendix E, from the least to the greatest.
NUMBERS = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip


@hookimpl
def register(ctx):
    lamella.quantization.register_type("nf4", bits=4, largest=1.0, encode=encode, decode=decode)


def encode(x):
    """Returns the places of the nearest of NUMBERS."""
    numbers = lamella.tensor(NUMBERS, device=x.device)
    return lamella.bucketize(x, (numbers[1:] + numbers[:-1]) / 2).to(lamella.uint8)


def decode(codes):
    """Returns the numbers at these places."""
    return lamella.tensor(NUMBERS, device=codes.device).index_select(0, codes.long())
