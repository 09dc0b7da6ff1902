"""MaskedTensor, and its rules for the operators.

An operator is found by its name and its category in the catalogue: a pointwise one computes the data and keeps the
mask, a view or a rearrangement moves data and mask alike, and a reduction calls the function of ``lamella.masked``. All
run over plain tensors, so that autograd differentiates them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import lamella
import lamella.masked._ops as _ops
from lamella import Tensor

# Names of the positional arguments after the input of the functions in _ops.
ALONG = {
    **dict.fromkeys(
        ("sum", "prod", "mean", "amax", "amin", "argmax", "argmin", "logsumexp", "all"), ("dim", "keepdim")
    ),
    **dict.fromkeys(("var", "std"), ("dim", "unbiased", "keepdim")),
    "norm": ("ord", "dim", "keepdim"),
}
RUNNING = {
    **dict.fromkeys(("softmax", "log_softmax", "softmin"), ("dim", "dtype")),
    **dict.fromkeys(("cumsum", "cumprod"), ("dim",)),
}
# Operators of other categories than "view" that move elements.
MOVED = frozenset(
    "cat stack hstack vstack dstack column_stack flip fliplr flipud roll rot90 repeat tile index_select gather take "
    "take_along_dim index reshape repeat_interleave __getitem__".split()
)
SAME = frozenset("clone contiguous to type_as detach positive".split())  # the mask stays as it is


def is_masked_tensor(obj: Any, /) -> bool:
    """Returns whether an object is a MaskedTensor.

    >>> import lamella
    >>> lamella.masked.is_masked_tensor(lamella.ones(2))
    False
    """
    return isinstance(obj, MaskedTensor)


def checked(name: str, data, mask) -> None:
    """Raises unless data and mask are tensors of one shape, and the mask is bool."""
    for what, t in (("data", data), ("mask", mask)):
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}: argument '{what}' must be Tensor, got {type(t).__name__}")
    if mask.dtype is not lamella.bool:
        raise TypeError(f"{name}: argument 'mask' must have dtype bool, got {mask.dtype}")
    if data.shape != mask.shape:
        raise ValueError(
            f"{name}: argument 'mask' must have the shape of 'data', {tuple(data.shape)}, got {tuple(mask.shape)}"
        )


class MaskedTensor(Tensor):
    """A tensor with a mask: elements where the mask is False do not count.

    Operators on two of them need equal masks. ``get_data``, ``get_mask`` and ``to_tensor`` lead to plain tensors.

    Args:
        data: the elements, which are copied, without history
        mask: bools in the shape of ``data``; True keeps an element

    >>> import lamella
    >>> lamella.masked.MaskedTensor(lamella.tensor([1.0, 2.0]), lamella.tensor([True, False])) + 1
    MaskedTensor(
      [2.0000,     --]
    )
    """

    _mask: Tensor

    def __new__(cls, data, mask, requires_grad=False):
        checked("MaskedTensor", data, mask)
        plain = data.get_data() if is_masked_tensor(data) else data
        made = cls._over(plain.detach().clone(), mask.detach().clone())
        return made.requires_grad_() if requires_grad else made

    @classmethod
    def _over(cls, data: Tensor, mask: Tensor) -> MaskedTensor:
        made = data.as_subclass(cls)
        made._mask = mask
        return made

    def get_data(self) -> Tensor:
        """Returns the elements as a plain tensor, those that do not count too; gradients pass.

        >>> import lamella
        >>> lamella.masked.MaskedTensor(lamella.tensor([1.0, 2.0]), lamella.tensor([True, False])).get_data()
        tensor([1., 2.])
        """
        return self.as_subclass(Tensor)

    def get_mask(self) -> Tensor:
        """Returns the mask, a tensor of bools.

        >>> import lamella
        >>> lamella.masked.MaskedTensor(lamella.tensor([1.0, 2.0]), lamella.tensor([True, False])).get_mask()
        tensor([ True, False])
        """
        return self._mask

    def to_tensor(self, value) -> Tensor:
        """Returns a plain tensor, with ``value`` for the elements that do not count.

        >>> import lamella
        >>> lamella.masked.MaskedTensor(lamella.tensor([1.0, 2.0]), lamella.tensor([True, False])).to_tensor(9)
        tensor([1., 9.])
        """
        return self.get_data().masked_fill(~self._mask, value)

    @property
    def grad(self):
        """The gradient, with the mask of this tensor; None before backward."""
        found = Tensor.grad.__get__(self)
        return None if found is None else MaskedTensor._over(found.as_subclass(Tensor), self._mask)

    @grad.setter
    def grad(self, value):
        Tensor.grad.__set__(self, value.get_data() if is_masked_tensor(value) else value)

    def numpy(self, *args, **keywords):
        """Raises a TypeError: an array has no mask."""
        raise TypeError("numpy: a MaskedTensor is no array; call to_tensor(value).numpy(), or get_data().numpy()")

    def tolist(self):
        """Raises a TypeError: a list has no mask."""
        raise TypeError("tolist: a MaskedTensor is no list; call to_tensor(value).tolist(), or get_data().tolist()")

    def __array__(self, *args, **keywords):
        return self.numpy()

    def __reduce_ex__(self, protocol):
        return _restored, (self.get_data().detach(), self._mask, self.requires_grad)

    def __deepcopy__(self, memo):
        return MaskedTensor(self, self._mask, self.requires_grad)

    def __repr__(self, *, tensor_contents=None):
        return _text(self)

    __str__ = __repr__

    def __format__(self, how):
        return format(_text(self), how)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", str(func))
        return _serve(name, func, list(args), dict(kwargs or {}))


def _restored(data, mask, requires_grad):
    return MaskedTensor(data, mask, requires_grad)


def _mapped(change, value):
    """Returns a value with every MaskedTensor in it replaced."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, (Tensor, list, tuple)) for v in value):
        return type(value)(_mapped(change, v) for v in value)
    return change(value) if is_masked_tensor(value) else value


def _found(value) -> list[MaskedTensor]:
    if isinstance(value, (list, tuple)):
        return [m for v in value for m in _found(v)]
    return [value] if is_masked_tensor(value) else []


def _wrapped(data, masks):
    """Returns results with their masks: one mask for all, or one for each."""
    if isinstance(data, (list, tuple)):
        each = masks if isinstance(masks, (list, tuple)) else [masks] * len(data)
        return type(data)(_wrapped(d, m) for d, m in zip(data, each, strict=True))
    if not isinstance(data, Tensor):
        return data
    return MaskedTensor._over(data, masks.to(data.device).expand(data.shape))


@cache
def _categories() -> dict[str, str]:
    """Returns the category of each operator, by name."""
    found: dict[str, str] = {}
    for o in lamella._C._operators():
        for name in (o["name"], *(f"aten::{alias}" for alias in o["aliases"])):
            found.setdefault(name, o["category"])
    return found


def _serve(name: str, func, args: list, kwargs: dict):
    masked = _found([*args, *kwargs.values()])
    if name in ALONG:
        return _reduced(name, args, kwargs)
    if name in RUNNING:
        kwargs |= zip(RUNNING[name], args[1:], strict=False)
        return _wrapped(getattr(_ops, name)(args[0], **kwargs), args[0].get_mask())
    data = lambda m: m.get_data()  # noqa: E731
    plain = [_mapped(data, a) for a in args], {k: _mapped(data, v) for k, v in kwargs.items()}
    base = name if name.startswith("__") else name.removesuffix("_")
    category = _categories().get(f"aten::{base}", "")
    if category == "view" or base in MOVED:
        turned = [_mapped(MaskedTensor.get_mask, a) for a in args]
        masks = func(*turned, **{k: _mapped(MaskedTensor.get_mask, v) for k, v in kwargs.items()})
        return _wrapped(func(*plain[0], **plain[1]), masks)
    if category == "pointwise" or base in SAME or name in ("copy_", "fill_", "zero_"):
        mask = _common(name, masked)
        if name.endswith("_") and is_masked_tensor(args[0]):
            if args[0].is_leaf and args[0].requires_grad and lamella.is_grad_enabled():
                raise RuntimeError(f"{name}: a leaf that requires grad cannot be written; call detach() before")
            func(*plain[0], **plain[1])
            return args[0]
        return _wrapped(func(*plain[0], **plain[1]), mask)
    if name == "item":
        if not bool(args[0].get_mask()):
            raise ValueError("item: the element is masked out; to_tensor(value) puts a number in its place")
        return plain[0][0].item()
    raise TypeError(f"{name}: a MaskedTensor has no rule for this operator; call get_data() or to_tensor(value) before")


def _common(name: str, masked: list[MaskedTensor]) -> Tensor:
    first = masked[0].get_mask()
    for other in masked[1:]:
        if other.get_mask() is not first and not lamella.equal(first, other.get_mask()):
            raise ValueError(f"{name}: the masks of the operands differ; combine them, and make new MaskedTensors")
    return first


def _all(input, dim=None, *, keepdim=False):
    x = input.get_data().bool().masked_fill(~input.get_mask(), True)
    return x.all() if dim is None else x.all(dim, keepdim)


def _reduced(name: str, args: list, kwargs: dict) -> MaskedTensor:
    input = args[0]
    kwargs = {{"p": "ord", "axis": "dim"}.get(k, k): v for k, v in kwargs.items()}
    given = args[1:]
    if name in ("var", "std") and given and isinstance(given[0], bool):
        given = [None, *given]
    kwargs |= zip(ALONG[name], given, strict=False)
    made = (_all if name == "all" else getattr(_ops, name))(input, **kwargs)
    dim, keepdim = kwargs.get("dim"), kwargs.get("keepdim", False)
    mask = input.get_mask()
    if dim is None:
        mask = mask.any().expand(made.shape)
    else:
        mask = mask.sum(_ops._dims(dim), keepdim) > 0
    return MaskedTensor._over(made, mask)


# ---- text ------------------------------------------------------------------------------------------------------------


def _rows(words: list, shape: tuple[int, ...], indent: int) -> str:
    if len(shape) == 1:
        return " " * indent + "[" + ", ".join(words) + "]"
    size = len(words) // shape[0] if shape[0] else 0
    parts = [_rows(words[i * size : (i + 1) * size], shape[1:], indent + 2) for i in range(shape[0])]
    return " " * indent + "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"


def _text(t: MaskedTensor) -> str:
    data, mask = t.get_data().detach(), t.get_mask()
    if t.is_meta:
        return f"MaskedTensor(..., size={tuple(t.shape)}, device='meta')"
    numbers = data.reshape(-1).tolist()
    words = [_word(x) if kept else "--" for x, kept in zip(numbers, mask.reshape(-1).tolist(), strict=True)]
    if t.dim() == 0:
        return f"MaskedTensor({words[0]}, {bool(mask)})"
    width = max(map(len, words), default=0)
    return "MaskedTensor(\n" + _rows([w.rjust(width) for w in words], tuple(t.shape), 2) + "\n)"


def _word(x) -> str:
    return f"{x:.4f}" if isinstance(x, (float, complex)) else str(x)
