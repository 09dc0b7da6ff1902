"""The functions of ``lamella.named``."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lamella import Tensor, ops
from lamella import einsum as einsum_by_letters

from .tensor import there_is_no

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def get_matching() -> str:
    """Returns how names meet on this thread: "positional", "checked" or "by_name"; see :func:`matching`."""
    return ops.named_tensor.matching()


@contextmanager
def matching(way: str) -> Iterator[None]:
    """Sets, within a block and for this thread, how the names of several tensors meet where dimensions are broadcast.

    Args:
        way: "positional", as by default: dimensions are aligned at the last one, where names must agree, and a name
            beside none gives the name. "checked": the same, but a tensor without names beside one with names is an
            error. "by_name": dimensions of one name are one dimension, wherever they stand; a dimension that a tensor
            lacks is broadcast, and the result has the dimensions in the order in which they are met.

    Raises:
        ValueError: there is no such way

    >>> x = lamella.ones(2, 3, names=["n", "c"])
    >>> with lamella.named.matching("by_name"):
    ...     (x + lamella.ones(2, names=["n"])).shape
    lamella.Size([2, 3])
    """
    before = get_matching()
    ops.named_tensor.set_matching(way)
    try:
        yield
    finally:
        ops.named_tensor.set_matching(before)


def einsum(pattern: str, *tensors: Tensor) -> Tensor:
    """Sums products over dimensions that are given by words: the result has the words behind "->" as its names.

    Args:
        pattern: words for the dimensions of each tensor, with a comma between tensors, and those of the result. A
            tensor's names, where it has some, must be these words.
        tensors: the operands

    Raises:
        TypeError: the pattern comes last, as in einops, or an operand is no tensor
        ValueError: the pattern has no "->" or another number of operands, or more than 52 words
        RuntimeError: a tensor has other names or sizes

    >>> x, w = lamella.ones(2, 3, names=["n", "c"]), lamella.ones(3, 4)
    >>> lamella.named.einsum("n c, c k -> n k", x, w).names
    ('n', 'k')
    """
    if not isinstance(pattern, str):
        raise TypeError(f"einsum: argument 'pattern', the first one, must be a str, got {type(pattern).__name__}")
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise ValueError(f"einsum: {pattern!r} has no '->' with the dimensions of the result")
    operands = [operand.split() for operand in left.split(",")]
    if len(operands) != len(tensors):
        raise ValueError(f"einsum: {pattern!r} has {len(operands)} operands, and {len(tensors)} tensors were given")
    sizes: dict[str, int] = {}
    for at, (operand, tensor) in enumerate(zip(operands, tensors, strict=True)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"einsum: operand {at} must be a Tensor, got {type(tensor).__name__}")
        if len(operand) != tensor.ndim or any(n and n != w for n, w in zip(tensor.names, operand, strict=True)):
            raise RuntimeError(
                f"einsum: {pattern!r} has {operand} for operand {at}, whose names are {list(tensor.names)}; rename() "
                "changes names, align_to() their order"
            )
        for word, size in zip(operand, tensor.shape, strict=True):
            if 1 not in (size, sizes.get(word, 1)) and sizes[word] != size:
                raise RuntimeError(f"einsum: {word!r} has size {size} in operand {at} and {sizes[word]} before")
            if sizes.get(word, 1) == 1:
                sizes[word] = size
    for operand in operands:
        for word in operand:
            if not word.isidentifier() or operand.count(word) > 1:
                why = "stands twice for one tensor" if word.isidentifier() else "is no identifier"
                raise ValueError(f"einsum: in {pattern!r}, {word!r} {why}")
    for word in right.split():
        if not any(word in operand for operand in operands):
            raise ValueError(f"einsum: {word!r} of the result stands for no dimension in {pattern!r}")
    words = list(dict.fromkeys(word for operand in [*operands, right.split()] for word in operand))
    if len(words) > len(LETTERS):
        raise ValueError(f"einsum: {pattern!r} has {len(words)} words; at most {len(LETTERS)} are possible")
    letter = dict(zip(words, LETTERS, strict=False))
    equation = ",".join("".join(letter[word] for word in operand) for operand in operands)
    equation += "->" + "".join(letter[word] for word in right.split())
    named = [t.refine_names(*operand) for t, operand in zip(tensors, operands, strict=True)]
    return einsum_by_letters(equation, *named)


def dot(a: Tensor, b: Tensor, dims: str | list[str]) -> Tensor:
    """Sums the product of two tensors over dimensions that both have.

    The result has the other dimensions of the first tensor, then those of the second that the first one lacks. A
    dimension that both have, and that is not summed over, is one dimension.

    Args:
        a, b: tensors whose dimensions all have names
        dims: the names to sum over

    Raises:
        TypeError: an operand is no tensor, or a dimension is no name
        RuntimeError: a dimension has no name, a tensor lacks one of `dims`, or sizes differ

    >>> x, y = lamella.ones(2, 3, names=["n", "c"]), lamella.ones(4, 3, names=["k", "c"])
    >>> lamella.named.dot(x, y, "c").names
    ('n', 'k')
    """
    given, dims = dims, [dims] if isinstance(dims, str) or not isinstance(dims, Iterable) else list(dims)
    if not all(isinstance(name, str) for name in dims):
        raise TypeError(f"dot: argument 'dims' must be a name or a list of names, got {given!r}")
    for which, tensor in (("a", a), ("b", b)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"dot: argument {which!r} must be a Tensor, got {type(tensor).__name__}")
        if None in tensor.names:
            raise RuntimeError(f"dot: argument {which!r} has a dimension without a name: {list(tensor.names)}")
        for name in dims:
            if name not in tensor.names:
                raise RuntimeError(f"dot: argument {which!r}: {there_is_no(name, tensor.names)}")
    result = [name for name in dict.fromkeys([*a.names, *b.names]) if name not in dims]
    others = dict(zip(b.names, b.shape, strict=True))
    for own, size in zip(a.names, a.shape, strict=True):
        other = others.get(own, size)
        if size != other and 1 not in (size, other):
            raise RuntimeError(f"dot: {own!r} has size {size} in 'a' and {other} in 'b'")
    before, after, left = (" ".join(map(str, names)) for names in (a.names, b.names, result))
    return einsum(f"{before}, {after} -> {left}", a, b)


def find_rule(op: str) -> str | None:
    """Returns the rule of an operator, as :func:`register_rule` takes one; None if it has none.

    >>> lamella.named.find_rule("transpose.int"), lamella.named.find_rule("add.Tensor")
    ('swap(dim0, dim1)', 'broadcast')
    """
    return ops.named_tensor.find_rule(op if "::" in op else f"aten::{op}")


class Rule:
    """A registered rule; ``remove()`` withdraws it."""

    def __init__(self, handle: int, op: str, rule: str) -> None:
        self._handle, self._op, self._rule = handle, op, rule

    def __repr__(self) -> str:
        return f"Rule({self._op!r}, {self._rule!r}{'' if self._handle else ', removed'})"

    def remove(self) -> None:
        if self._handle:
            ops.named_tensor.withdraw_rule(self._handle)
        self._handle = 0


def register_rule(op: str, rule: str) -> Rule:
    """States how the names of an operator's results follow from those of its arguments, for all its forms.

    An operator whose definition has a text ``dims`` needs no rule. Otherwise calls with named tensors are errors.

    Args:
        op: the operator's name, such as "mine::f" or "mine::f.overload"
        rule: such a text, or a verb with the names of arguments, such as "swap(dim0, dim1)"; ``docs/named_tensors.md``
            lists the verbs

    Raises:
        ValueError: the text is no rule of the operator

    >>> library = lamella.library.Library("mine", "DEF")
    >>> _ = library.define("flipped(Tensor self) -> Tensor")
    >>> _ = library.impl("flipped", lambda x: x.t().clone())
    >>> rule = lamella.named.register_rule("mine::flipped", "reverse")
    >>> lamella.ops.mine.flipped(lamella.ones(2, 3, names=["n", "c"])).names
    ('c', 'n')
    >>> rule.remove()
    >>> library.close()
    """
    return Rule(ops.named_tensor.add_rule(op if "::" in op else f"aten::{op}", rule), op, rule)
