"""Moves a module's parameters and buffers to another device, dtype or memory format."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar

from lamella import _C
from lamella._C import Tensor
from lamella._devices import resolve
from lamella.nn.modules._state_dict import Stateful
from lamella.nn.parameter import is_lazy

Self = TypeVar("Self", bound="Movable")


def _empty_like(tensor: Tensor, device: Any) -> Tensor:
    return _C._packet("aten::empty_like")(tensor, device=device)


class Movable(Stateful):
    """The part of Module that converts all its tensors."""

    def _apply(self: Self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces the values of each parameter, gradient and buffer t by ``fn(t)``.

        Parameters and their gradients remain the same objects, so that an optimizer continues to update them.
        """
        for module in self._modules.values() if recurse else ():
            if module is not None:
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            grad = getattr(param, "grad", None)
            held = param if is_lazy(param) else param.detach()
            changed = fn(held)
            if changed is not held:
                if grad is not None:  # set again below; a gradient must have its tensor's dtype
                    param.grad = None
                param.data = changed
            if grad is not None:
                kept = grad.requires_grad
                grad.data = fn(grad.detach())
                param.grad = grad.requires_grad_(kept)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Moves all parameters and buffers, in place; returns the module.

        ``to(device=None, dtype=None, non_blocking=False)``, ``to(dtype, non_blocking=False)``, ``to(tensor,
        non_blocking=False)`` with the tensor's device and dtype, and ``to(memory_format=...)`` for tensors of four
        and five dimensions. A dtype applies to floating-point and complex tensors only.

        Raises:
            TypeError: the dtype is neither floating nor complex

        >>> lamella.nn.Linear(1, 1).to(lamella.float64).weight.dtype
        lamella.float64
        """
        device, dtype, non_blocking, memory_format = _read_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"{type(self).__name__}.to: a dtype must be floating or complex, got {dtype}")

        def convert(t: Any) -> Any:
            into = dtype if t.is_floating_point() or t.is_complex() else None
            more = {} if memory_format is None or t.dim() not in (4, 5) else {"memory_format": memory_format}
            if device is None and into is None and not more:
                return t
            return t.to(
                device=t.device if device is None else device,
                dtype=t.dtype if into is None else into,
                non_blocking=non_blocking,
                **more,
            )

        return self._apply(convert)

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Gives all parameters and buffers new, uninitialized memory on a device; returns the module.

        >>> lamella.nn.Linear(1, 1, device="meta").to_empty(device="cpu").weight.device
        device(type='cpu')
        """
        return self._apply(lambda t: _empty_like(t, device), recurse=recurse)

    def type(self: Self, dst_type: Any) -> Self:
        """Converts all parameters and buffers to a dtype, which may be a name such as "torch.DoubleTensor".

        >>> lamella.nn.Linear(1, 1).type(lamella.float64).weight.dtype
        lamella.float64
        """
        return self._apply(lambda t: t.type(dst_type))


def _caster(dtype: Any) -> Any:
    def cast(self):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    name = str(dtype)[8:].replace("float64", "double").replace("float32", "float").replace("float16", "half")
    cast.__name__ = name if dtype is not _C.bfloat16 else "bfloat16"
    cast.__qualname__ = f"Module.{cast.__name__}"
    cast.__doc__ = (
        f"Converts all floating parameters and buffers to {dtype}; returns the module.\n\n"
        f">>> lamella.nn.Linear(1, 1).{cast.__name__}().weight.dtype\n{dtype}\n"
    )
    return cast


for _dtype in (_C.float64, _C.float32, _C.float16, _C.bfloat16):
    _cast = _caster(_dtype)
    setattr(Movable, _cast.__name__, _cast)


class _Mover:
    """``Module.NAME()``, which moves a module to a device of type NAME. A member of the module with that name hides
    it."""

    is_mover = True

    def __init__(self, name: str):
        self.__name__, self.__qualname__ = name, f"Module.{name}"
        self.__doc__ = f"Moves all parameters and buffers to a device of '{name}', the current one where none is given."

    def __call__(self, module: Any, device: Any = None) -> Any:
        return module.to(resolve(device, self.__name__))

    def __get__(self, module: Any, owner: Any = None) -> Any:
        if module is None:
            return self
        held = vars(module)
        for members in ("_parameters", "_buffers", "_modules"):
            if self.__name__ in held.get(members, ()):
                return held[members][self.__name__]
        return MethodType(self, module)


mover = _Mover


def _read_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Returns the device, dtype, non_blocking and memory format that the arguments of ``to`` give."""
    names = ["device", "dtype", "non_blocking"]
    if args and isinstance(args[0], Tensor):
        names = ["tensor", "non_blocking"]
    elif args and isinstance(args[0], _C.dtype):
        names = ["dtype", "non_blocking"]
    given = dict(zip(names, args, strict=False))
    wrong = [n for n in kwargs if n in given or n not in (*names, "tensor", "memory_format")]
    if wrong or len(args) > len(names):
        what = f"argument {wrong[0]!r} is unknown or given twice" if wrong else f"got {len(args)} arguments"
        raise TypeError(f"Module.to: {what}; it takes (device, dtype, non_blocking), (dtype, ...) or (tensor, ...)")
    given |= kwargs
    tensor = given.get("tensor")
    if tensor is not None:
        given = {"device": tensor.device, "dtype": tensor.dtype} | given
    device = given.get("device")
    return (
        None if device is None else _C.device(device),
        given.get("dtype"),
        bool(given.get("non_blocking", False)),
        given.get("memory_format"),
    )
