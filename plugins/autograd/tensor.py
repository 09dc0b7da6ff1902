"""Methods and properties that autograd adds to Tensor, beside the attributes of the native library."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Sequence
from typing import Any

import lamella
import lamella.plugins.autograd.api as api
import lamella.plugins.autograd.multi_grad as multi_grad
from lamella import Tensor

from . import _python
from .graph import RemovableHandle


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradients of this tensor to the ``grad`` of the leaves; see :func:`lamella.autograd.backward`.

    >>> x = lamella.tensor([1.0, 2.0], requires_grad=True)
    >>> x.prod().backward()
    >>> x.grad
    tensor([2., 1.])
    """
    flags = api._flags(retain_graph, create_graph) | api.ACCUMULATE
    multi_grad.run((self,), (gradient,), api._inputs(inputs), flags)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Sets whether operators on this leaf are recorded; returns the tensor.

    >>> lamella.ones(1).requires_grad_().requires_grad
    True
    """
    self.requires_grad = requires_grad
    return self


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Calls ``hook(grad)`` when the gradient of this tensor has been computed; a result other than None replaces it.

    >>> x = lamella.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 10)
    >>> x.sum().backward()
    >>> x.grad
    tensor([10.])
    """
    return _python._tensor_hook(self, hook, False)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Calls ``hook(self)`` after a gradient was added to the ``grad`` of this leaf.

    >>> x = lamella.ones(1, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda p: print(p.grad))
    >>> x.sum().backward()
    tensor([1.])
    """
    return _python._tensor_hook(self, hook, True)


def retain_grad(self: Tensor) -> None:
    """Makes backward store the gradient of this tensor in ``grad`` although the tensor is not a leaf.

    >>> x = lamella.ones(1, requires_grad=True)
    >>> y = x * 2
    >>> y.retain_grad()
    >>> y.sum().backward()
    >>> y.grad
    tensor([1.])
    """
    _python._retain_grad(self)


def detach_(self: Tensor) -> Tensor:
    """Cuts this tensor from its history, in place; returns it.

    >>> y = lamella.ones(1, requires_grad=True) * 2
    >>> y.detach_().requires_grad
    False
    """
    return _python._detach_(self)


class _Plain:
    """Wraps a tensor so that copy.deepcopy copies it by ``__reduce_ex__``, and does not call ``__deepcopy__`` again."""

    def __init__(self, tensor: Any, memo: dict[int, Any]):
        self.tensor, self.memo = tensor, memo

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        rebuild, *rest = self.tensor.__reduce_ex__(protocol)

        def known(*args: Any) -> Any:  # records the copy first, since its state may refer to it
            made = self.memo[id(self.tensor)] = rebuild(*args)
            return made

        return (known, *rest)


def _held(tensor: Tensor) -> str:
    """Returns the message that a tensor with a history is not copied, with the module that holds it, if one does.

    A copy of a network reaches the tensor through the module's attributes, and is not told whose they are. So the
    module is found as what refers to the tensor."""
    for members in gc.get_referrers(tensor):
        for module in gc.get_referrers(members) if isinstance(members, dict) else [members]:
            if not isinstance(module, lamella.nn.Module):
                continue
            name = next((n for n, v in vars(module).items() if v is tensor), None)
            if name is None:
                continue
            what = f"{type(module).__name__}({module.extra_repr()})"
            hooks = module._forward_pre_hooks.values()
            by = [type(h).__name__ for h in hooks if name in (getattr(h, "name", 0), getattr(h, "_tensor_name", 0))]
            way = "store its detach(), or compute it in forward"
            if by:
                way = (
                    f"the hook {by[0]} computes it before each call: take that off first, by "
                    "nn.utils.remove_weight_norm, remove_spectral_norm or prune.remove; modules of "
                    "nn.utils.parametrizations are copied as they are"
                )
            return f"attribute {name!r} of {what} has a history, which is not copied; {way}"
    return "this tensor has a history, which is not copied; copy its detach()"


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Returns a copy with its own memory, its own ``grad`` and the same ``requires_grad``, for :func:`copy.deepcopy`.

    Raises:
        RuntimeError: the tensor is no leaf: its history is not copied

    >>> import copy
    >>> copy.deepcopy(lamella.ones(2, requires_grad=True))
    tensor([1., 1.], requires_grad=True)
    """
    if not self.is_leaf:
        raise RuntimeError(f"deepcopy: {_held(self)}")
    made: Any = copy.deepcopy(_Plain(self, memo), memo)
    if self.grad is not None:
        made.grad = copy.deepcopy(self.grad, memo)
    return made


def check_export(self: Tensor, to: str) -> None:
    """Raises if a tensor that requires grad is exported, since writes by another library would not be recorded. Kernels
    may export their tensors while recording is off."""
    if self.requires_grad and (_python.is_grad_enabled() or not lamella.library.in_kernel()):
        if to == "number":
            raise TypeError("the tensor requires grad, but a number has no gradient; pass its item() or its detach()")
        raise RuntimeError(
            "this tensor requires grad, and writes to its memory would not be recorded: give numpy or DLPack its "
            "detach(), as in tensor.detach().numpy()"
        )


def _grad_fn(self: Tensor) -> Any:
    """Returns the node that made this tensor; None for a leaf.

    >>> (lamella.ones(1, requires_grad=True) * 2).grad_fn.name()
    'MulBackward0'
    """
    return _python._grad_fn(self)


def history_note(self: Tensor) -> str | None:
    """Returns a note for a tensor's printed form: the node that made the tensor, or that it requires a gradient."""
    if node := _grad_fn(self):
        return f"grad_fn=<{node.name()}>"
    return "requires_grad=True" if self.requires_grad else None


methods: dict[str, Any] = {
    f.__name__: f
    for f in (
        backward,
        requires_grad_,
        register_hook,
        register_post_accumulate_grad_hook,
        retain_grad,
        detach_,
        __deepcopy__,
    )
} | {"grad_fn": property(_grad_fn)}
