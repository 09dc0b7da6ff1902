"""Sample calls of every operator, as data: what tests, benchmarks, gradient checks and a vendor's conformance kit read.

A family of operators has its text file in this folder. A line is one call, in Python's syntax, of which nothing is
executed:

    add.Tensor(f32[3, 4], f32[4], alpha=2)

The operator is written without its namespace, with its overload. Tensors are written ``dtype[sizes]``, zero-dim ones
``dtype[()]``; the rest are literals, lists, tuples, dtypes (f16 bf16 f32 f64 i8 … u64 bool c64 c128), memory formats,
``inf`` and ``nan``. In-place and out= forms follow from the functional one and have no lines.

A tensor lies contiguously and holds random values of moderate size, unless a word after the sizes says otherwise:

    .t              the last two dimensions change places: f32[4, 3].t has sizes (3, 4) (of one dimension: gaps)
    .order(2, 0, 1) dimensions in this order in memory, the outermost first
    .last           channels last: order(0, 2, 3, 1) of four dimensions
    .gaps           room between the elements, filled with values that must not be read
    .offset         it starts after three other elements
    .expanded(0)    dimension 0 repeats one element (stride 0)

    .within(lo, hi) uniform; integers and bools include both ends
    .of(1, 2, 3)    these values, in turn
    .below(n)       integers from 0 to n - 1: indices
    .distinct       no two elements alike, shuffled: 0, 1, 2, … for integers
    .nonzero        no zero and nothing near it: for divisors
    .special        zeros of both signs, infinities, NaN, the limits among the others

    .dominant       matrices with a large diagonal, also oblong ones; singular values lie apart
    .invertible     the same with the rows in another order, so that a factorization exchanges them
    .hermitian      Hermitian matrices whose eigenvalues lie apart
    .positive       Hermitian positive-definite matrices

A line may stand for several: ``for T in floats | i64`` repeats it for each dtype of the classes named (floats, ints,
wide, complexes, bool, or single dtypes), with T replaced. A group, ``UNARY = exp, sin, div.Tensor``, repeats it for
each operator. A line that ends in ``raises IndexError 'dim'`` is a bad call: the error's kind, and the arguments of
which the message must quote one, beside the operator's name. A first word with a colon is a tag: ``small:`` marks the
call that is timed at 16 elements, ``free:`` one whose values are not determined. A line that begins with a space
continues the one before; ``#`` begins a comment.

Copies of views, ``view_copy``, have no lines: their samples are those of the views. Operators over lists,
``_foreach_*``, have none either: each of their samples has some of the single operator's as the places of its lists.
Overloads of ``_fused_*`` whose options are tensors have the samples of the overload with numbers.

Values depend on the line alone: the same sample holds the same numbers everywhere and always.

>>> from lamella.operators import samples
>>> sample = samples.of("add.Tensor")[0]
>>> args, kwargs = sample.build()
>>> samples.call(sample.operator)(*args, **kwargs).shape == args[0].shape
True
"""

from lamella.operators.samples.catalogue import bad, call, of, operators, read_all
from lamella.operators.samples.parse import Named, Sample, read
from lamella.operators.samples.spec import Spec, tensor

__all__ = ["Named", "Sample", "Spec", "bad", "call", "of", "operators", "read", "read_all", "tensor"]
