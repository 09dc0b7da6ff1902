"""Tensors that a module registers: parameters, buffers, and both before their shape is known."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._C import Tensor
from lamella._processes import share_when_sent
from lamella._tensor.printing import tensor_repr

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


def _empty(size: Any, device: Any = None, dtype: Any = None) -> Tensor:
    return _C._packet("aten::empty")(size, device=device, dtype=dtype)


def _as(cls: type, tensor: Any) -> Any:
    """Returns the tensor as one of a subclass."""
    return tensor.as_subclass(cls)


class _Marked(type(Tensor)):  # type: ignore[misc]
    """The metaclass by which ``isinstance`` takes a tensor of any class for a Parameter or Buffer, if the tensor's
    attribute that ``_mark`` names is true."""

    _mark: str

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return "_mark" in vars(cls) and isinstance(instance, Tensor) and getattr(instance, cls._mark, False)


def _requiring(tensor: Any, requires_grad: bool) -> Any:
    """Returns the tensor after it was set to require a gradient, if that is wanted and autograd is loaded."""
    if requires_grad and hasattr(Tensor, "requires_grad_"):
        tensor.requires_grad_()
    return tensor


class Parameter(Tensor, metaclass=_Marked):
    """A tensor that a module lists among its ``parameters()`` once it is assigned to one of its attributes.

    It shares memory with ``data``, which is by default an empty tensor, and is a leaf of the graph. A tensor of a
    subclass keeps its class, and is a Parameter for ``isinstance``. It requires a gradient only if autograd is loaded.

    Raises:
        TypeError: ``data`` is not a tensor
        RuntimeError: the dtype of ``data`` allows no gradient, or its ``detach()`` does not keep its class

    >>> p = lamella.nn.Parameter(lamella.ones(2), requires_grad=False)
    >>> p
    Parameter containing:
    tensor([1., 1.])
    >>> type(p + 1).__name__
    'Tensor'
    """

    _mark = "_is_param"
    _is_param: bool
    requires_grad: bool
    grad: Any
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = _empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"{cls.__name__}: argument 'data' must be a Tensor, got {type(data).__name__}")
        if type(data) is Tensor or isinstance(data, Parameter):
            return _requiring(_as(cls, data.detach()), requires_grad)
        own: Any = data.detach()
        if type(own) is not type(data):
            raise RuntimeError(
                f"{cls.__name__}: detach() of a {type(data).__name__} gave a {type(own).__name__}; a tensor of a class "
                "of its own becomes a parameter only if its detach() keeps the class"
            )
        setattr(own, cls._mark, True)
        return _requiring(own, requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Returns a Parameter with a copy of the values, without the gradient."""
        if id(self) not in memo:
            copied = self.detach().clone(memory_format=_C.preserve_format)
            memo[id(self)] = type(self)(copied, getattr(self, "requires_grad", False))
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + tensor_repr(self, "tensor" if type(self) is Parameter else None)


class Buffer(Tensor, metaclass=_Marked):
    """A tensor that a module lists among its ``buffers()`` once it is assigned to one of its attributes.

    It is a plain tensor over the memory of ``data``, marked by an attribute. ``persistent`` says whether the module's
    ``state_dict()`` contains it.

    >>> b = lamella.nn.Buffer(lamella.zeros(1), persistent=False)
    >>> type(b).__name__, isinstance(b, lamella.nn.Buffer), b.persistent
    ('Tensor', True, False)
    """

    _mark = "_is_buffer"
    persistent: bool
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        data = _empty(0) if data is None else data
        made = _requiring(data.detach(), getattr(data, "requires_grad", False))
        made.persistent, made._is_buffer = persistent, True
        return made


# The operators that take a tensor without a shape. They return one, but `set_data` returns nothing.
MOVES = ("alias", "clone", "detach", "to", "set_data")


class UninitializedTensorMixin(Tensor):
    """A parameter or buffer that has a dtype and a device, but no shape. Operators other than ``MOVES`` do not take
    it."""

    _becomes: type

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(getattr(self, "requires_grad", False), self.device, self.dtype)
        return memo[id(self)]

    def materialize(self, shape, device=None, dtype=None):
        """Gives the tensor a shape and uninitialized memory, and makes it an ordinary parameter or buffer.

        >>> p = lamella.nn.UninitializedParameter(requires_grad=False)
        >>> p.materialize((2, 3))
        >>> type(p).__name__, p.shape
        ('Parameter', lamella.Size([2, 3]))
        """
        self.data = _empty(shape, self.device if device is None else device, self.dtype if dtype is None else dtype)
        self.__class__ = self._becomes

    @property
    def shape(self):
        """Raises a RuntimeError, as there is no shape."""
        raise RuntimeError(f"{type(self).__name__} has no shape before the first call of its lazy module")

    def _has_no_shape(self, *args, **kwargs):
        """Raises a ValueError, as there is no shape."""
        raise ValueError(f"{type(self).__name__} has no shape before the first call of its lazy module")

    numel = size = dim = stride = __len__ = _has_no_shape

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (getattr(self, "requires_grad", False), self.device, self.dtype), vars(self) or None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ not in MOVES:
            raise ValueError(
                f"{func.__name__}: an argument is an {cls.__name__}, which has no values before the first call of its "
                "lazy module"
            )
        with _C.DisableTorchFunctionSubclass():
            made = func(*args, **(kwargs or {}))
            return made if made is None else made.as_subclass(cls)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is set at the first call of its lazy module.

    >>> lamella.nn.UninitializedParameter(requires_grad=False)
    <UninitializedParameter>
    """

    _becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> UninitializedParameter:
        return _requiring(_as(cls, _empty(0, device, dtype)), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose shape is set at the first call of its lazy module.

    >>> lamella.nn.UninitializedBuffer()
    <UninitializedBuffer>
    """

    _becomes = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> UninitializedBuffer:
        made = _requiring(_as(cls, _empty(0, device, dtype)), requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made


def is_lazy(param: Any) -> bool:
    """Returns whether ``param`` is a parameter or buffer without a shape.

    >>> lamella.nn.parameter.is_lazy(lamella.nn.UninitializedBuffer())
    True
    """
    return isinstance(param, UninitializedTensorMixin)


share_when_sent(Parameter, Buffer)
