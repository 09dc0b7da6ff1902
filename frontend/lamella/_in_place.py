"""Methods of Tensor that change what it sees of its memory, or its elements by a function of Python."""

from __future__ import annotations

from typing import Any

from lamella import _C


def _see(name, self, view):
    """Makes the tensor see what a view of it sees."""
    if getattr(self, "requires_grad", False):
        raise RuntimeError(
            f"{name}: the tensor requires grad, and its history has its shape; "
            f"write x = x.{name[:-1]}(...), or detach() it first"
        )
    if view.storage_offset() == self.storage_offset():
        _C._resize(self, list(view.shape), list(view.stride()))
    else:
        _C._assign(self, view.detach())
    return self


def _viewing(name, example):
    function = getattr(_C.Tensor, name)

    def change(self, *args, **keywords):
        return _see(f"{name}_", self, function(self, *args, **keywords))

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = (
        f"{name}() in place: the tensor itself sees its memory so. Not for tensors that require grad.\n\n{example}\n"
    )
    return change


_EXAMPLES = {
    "t": ">>> lamella.ones(2, 3).t_().shape\nlamella.Size([3, 2])",
    "transpose": ">>> lamella.ones(2, 3).transpose_(0, 1).shape\nlamella.Size([3, 2])",
    "swapaxes": ">>> lamella.ones(2, 3).swapaxes_(0, 1).shape\nlamella.Size([3, 2])",
    "swapdims": ">>> lamella.ones(2, 3).swapdims_(0, 1).shape\nlamella.Size([3, 2])",
    "squeeze": ">>> lamella.ones(2, 1).squeeze_().shape\nlamella.Size([2])",
    "unsqueeze": ">>> lamella.ones(2).unsqueeze_(0).shape\nlamella.Size([1, 2])",
    "as_strided": ">>> lamella.arange(4).as_strided_((2,), (2,))\ntensor([0, 2])",
}


def resize_as_(self, the_template, *, memory_format=_C.contiguous_format):
    """``resize_`` to the sizes of another tensor.

    >>> lamella.arange(4).resize_as_(lamella.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return self.resize_(the_template.shape, memory_format=memory_format)


def _on_host(name, *tensors):
    for t in tensors:
        if t.device != _C._default_generator().device:
            raise TypeError(f"{name}: it calls Python for each element, and the tensor is on device '{t.device}'")
        if getattr(t, "requires_grad", False):
            raise RuntimeError(f"{name}: a function of Python has no derivative; detach() the tensor first")


def _filled(self, numbers):
    flat = _C._tensor_from(numbers, self.dtype)[0] if numbers else self.new_empty(0)
    return self.copy_(flat.to(self.dtype).view(self.shape))


def apply_(self, callable):
    """Replaces each element by what a function of Python makes of it. Slow: one call for each element.

    >>> lamella.tensor([1, 2]).apply_(lambda x: 10 * x)
    tensor([10, 20])
    """
    _on_host("apply_", self)
    return _filled(self, [callable(x) for x in self.reshape(-1).tolist()])


def map_(self, tensor, callable):
    """Replaces each element by what a function of Python makes of it and of that of another tensor, which broadcasts.

    >>> lamella.tensor([1, 2]).map_(lamella.tensor(10), lambda x, y: x * y)
    tensor([10, 20])
    """
    _on_host("map_", self, tensor)
    pairs = zip(self.reshape(-1).tolist(), tensor.expand(self.shape).reshape(-1).tolist(), strict=True)
    return _filled(self, [callable(x, y) for x, y in pairs])


def map2_(self, x, y, callable):
    """``map_`` with two further tensors.

    >>> lamella.tensor([1, 2]).map2_(lamella.tensor(3), lamella.tensor([4, 5]), lambda a, b, c: a * b + c)
    tensor([ 7, 11])
    """
    _on_host("map2_", self, x, y)
    rows = [t.expand(self.shape).reshape(-1).tolist() for t in (self, x, y)]
    return _filled(self, [callable(*row) for row in zip(*rows, strict=True)])


def methods() -> dict[str, Any]:
    """The methods of this file, by the names that Tensor gets; the operators that they call must be there already."""
    found = {f"{name}_": _viewing(name, example) for name, example in _EXAMPLES.items()}
    return found | {f.__name__: f for f in (resize_as_, apply_, map_, map2_)}
