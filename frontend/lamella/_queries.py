"""What a tensor says of itself: devices and layouts that torch knows, signs, sizes of others; legacy ``new``."""

from __future__ import annotations

import math
from typing import Any

from lamella import _C
from lamella._movers import NoDevice

# Kinds of devices that torch's tensors are asked for, in programs for any device.
DEVICES = ("cuda", "hpu", "ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu")
# Kinds of tensors that are not here: no tensor is one.
KINDS = ("sparse", "sparse_csr", "quantized", "mkldnn", "nested")


def get_device(input) -> int:
    """The index of the tensor's device; -1 on the host, which has none.

    >>> lamella.ones(1).get_device()
    -1
    """
    index = input.device.index
    return -1 if index is None or input.device.type == _C._default_generator().device.type else index


def is_signed(input) -> bool:
    """Whether the dtype has negative numbers.

    >>> lamella.is_signed(lamella.ones(1)), lamella.is_signed(lamella.ones(1, dtype=lamella.uint8))
    (True, False)
    """
    return input.dtype.is_signed


def is_nonzero(input) -> bool:
    """Whether the one element is not zero.

    Raises:
        RuntimeError: there is not exactly one element

    >>> lamella.is_nonzero(lamella.tensor([2.0]))
    True
    """
    if input.numel() != 1:
        raise RuntimeError(f"is_nonzero: expected one element, got shape {tuple(input.shape)}")
    return bool(input.item())


def is_same_size(input, other) -> bool:
    """Whether two tensors have one shape.

    >>> lamella.is_same_size(lamella.ones(2), lamella.zeros(2))
    True
    """
    return input.shape == other.shape


def is_conj(input) -> bool:
    """Whether a conjugation is yet to be computed: never, as conj() computes.

    >>> lamella.is_conj(lamella.tensor([1j]).conj())
    False
    """
    return False


def is_neg(input) -> bool:
    """Whether a negation is yet to be computed: never.

    >>> lamella.is_neg(lamella.ones(1))
    False
    """
    return False


def resolve_conj(input):
    """The tensor itself: no conjugation is yet to be computed.

    >>> lamella.resolve_conj(lamella.ones(1))
    tensor([1.])
    """
    return input


def resolve_neg(input):
    """The tensor itself: no negation is yet to be computed.

    >>> lamella.resolve_neg(lamella.ones(1))
    tensor([1.])
    """
    return input


def is_inference(input) -> bool:
    """Whether a tensor was made in inference mode, which marks none.

    >>> lamella.is_inference(lamella.ones(1))
    False
    """
    return False


def is_distributed(input) -> bool:
    """Whether a tensor is spread over processes: never.

    >>> lamella.is_distributed(lamella.ones(1))
    False
    """
    return False


def isreal(input):
    """Where an element has no imaginary part.

    >>> lamella.isreal(lamella.tensor([1.0, 1j]))
    tensor([ True, False])
    """
    if input.is_complex():
        return input.imag == 0
    return _C._packet("aten::ones_like")(input, dtype=_C.bool)


def adjoint(input):
    """The last two dimensions exchanged, and complex elements conjugated.

    >>> lamella.adjoint(lamella.tensor([[1.0, 2.0]]))
    tensor([[1.],
            [2.]])
    """
    return input.mH


def _layout(self):
    """How elements lie in memory: always with strides.

    >>> lamella.ones(1).layout
    lamella.strided
    """
    return _C.strided


def dim_order(self, *, ambiguity_check=False):
    """The dimensions from the largest stride to the smallest.

    >>> lamella.ones(1, 2, 3, 3).to(memory_format=lamella.channels_last).dim_order()
    (0, 2, 3, 1)
    """
    stride = self.stride()
    if ambiguity_check and len({(s, n) for s, n in zip(stride, self.shape, strict=True) if n > 1}) < sum(
        n > 1 for n in self.shape
    ):
        raise RuntimeError(f"dim_order: strides {stride} of shape {tuple(self.shape)} have no one order")
    return tuple(sorted(range(self.ndim), key=lambda d: -stride[d]))


def is_set_to(self, tensor) -> bool:
    """Whether two tensors see the same elements of one storage.

    >>> t = lamella.ones(2)
    >>> t.is_set_to(t.detach()), t.is_set_to(t.clone())
    (True, False)
    """
    same = self._storage_id() == tensor._storage_id() and self.storage_offset() == tensor.storage_offset()
    return same and self.shape == tensor.shape and self.stride() == tensor.stride()


def is_shared(self) -> bool:
    """Whether the memory is shared with other processes; a batch in the memory of a worker is.

    >>> lamella.ones(1).is_shared()
    False
    """
    return _C._is_shared(self)


def share_memory_(self):
    """Moves the memory to where other processes see it, for this tensor and all others over its storage.

    The storage stays, and tensors follow it. It waits until no other thread works on tensors, a minute at most. On a
    device that is not the host nothing happens.

    Raises:
        RuntimeError: memory on "meta"; or arrays or saved tensors hold the memory, which could not follow
        OutOfMemoryError: there is no more memory
        TimeoutError: other threads work on tensors without a pause

    >>> t = lamella.ones(2)
    >>> t.share_memory_().is_shared(), t
    (True, tensor([1., 1.]))
    """
    if self.device.type == "meta":
        raise RuntimeError("share_memory_: a tensor on 'meta' has no memory")
    if self.device.type == _C._default_generator().device.type:
        _C._share_memory(self)
    return self


def reshape_as(self, other):
    """reshape() to the shape of another tensor.

    >>> lamella.arange(4).reshape_as(lamella.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return self.reshape(other.shape)


def sum_to_size(self, *size):
    """The sum over the dimensions that broadcasting from ``size`` would repeat.

    Raises:
        RuntimeError: the size does not broadcast to the tensor's

    >>> lamella.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    size = tuple(size[0]) if len(size) == 1 and not hasattr(size[0], "__index__") else size
    lead = self.ndim - len(size)
    fits = lead >= 0 and all(n in (1, m) for n, m in zip(size, self.shape[max(lead, 0) :], strict=True))
    if not fits:
        raise RuntimeError(f"sum_to_size: size {tuple(size)} does not broadcast to the shape {tuple(self.shape)}")
    summed = [lead + d for d, n in enumerate(size) if n == 1 and self.shape[lead + d] != 1]
    made = self.sum([*range(lead), *summed], keepdim=True) if lead or summed else self
    return made.view(size) if lead else made


def where(self, condition, other):
    """The tensor's elements where a condition holds, else those of ``other``.

    >>> lamella.tensor([1, 2]).where(lamella.tensor([True, False]), 0)
    tensor([1, 0])
    """
    return _C._packet("aten::where")(condition, self, other)


def new(self, *args, device=None):
    """An old way to ``new_empty(*sizes)`` and ``new_tensor(data)``; without arguments an empty tensor.

    Raises:
        TypeError: a tensor of another dtype

    >>> lamella.ones(1).new(2, 3).shape, lamella.ones(1).new([1, 2])
    (lamella.Size([2, 3]), tensor([1., 2.]))
    """
    if len(args) == 1 and isinstance(args[0], _C.Tensor):
        if args[0].dtype is not self.dtype:
            raise TypeError(f"new: expected a tensor of dtype {self.dtype}, got {args[0].dtype}")
        return args[0].detach()
    if len(args) == 1 and not isinstance(args[0], (int, _C.Size)):
        return self.new_tensor(args[0], device=device)
    if not args:
        return self.new_empty(0, device=device)
    return self.new_empty(args[0] if len(args) == 1 and isinstance(args[0], _C.Size) else args, device=device)


def new_empty_strided(self, size, stride, *, dtype=None, device=None, **keywords):
    """A tensor of sizes and strides, of the dtype and on the device of ``self``.

    >>> lamella.ones(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    dtype, device = self.dtype if dtype is None else dtype, self.device if device is None else device
    return _C._packet("aten::empty_strided")(size, stride, dtype=dtype, device=device, **keywords)


def to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor itself, or in another dtype: it is dense.

    >>> lamella.ones(1).to_dense()
    tensor([1.])
    """
    return self if dtype is None else self.to(dtype)


def _refusing(name, error, words):
    def refuse(self, *args, **keywords):
        raise error(f"{name}: {words}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not for dense tensors, which all are.\n\nRaises:\n    {error.__name__}: always\n"
    return refuse


_OF_SPARSE = (
    "indices",
    "values",
    "coalesce",
    "is_coalesced",
    "crow_indices",
    "col_indices",
    "ccol_indices",
    "row_indices",
)
_TO_SPARSE = "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc".split()
FUNCTIONS = (
    get_device,
    is_signed,
    is_nonzero,
    is_same_size,
    is_conj,
    is_neg,
    resolve_conj,
    resolve_neg,
    is_inference,
    is_distributed,
    isreal,
    adjoint,
)
METHODS = (
    dim_order,
    is_set_to,
    is_shared,
    share_memory_,
    reshape_as,
    sum_to_size,
    where,
    new,
    new_empty_strided,
    to_dense,
)


def methods() -> dict[str, Any]:
    """The methods and properties of this file, by the names that Tensor gets."""
    found: dict[str, Any] = {f.__name__: f for f in (*FUNCTIONS, *METHODS)}
    return found | {"layout": property(_layout), "const_data_ptr": _C.Tensor.data_ptr}


def placeholders() -> dict[str, Any]:
    """What Tensor has until a plugin brings such tensors or such a device."""
    found: dict[str, Any] = {f"is_{name}": NoDevice(name) for name in DEVICES}
    for kind in KINDS:
        found[f"is_{kind}"] = property(lambda self: False, doc=f"False: no tensor is {kind} here.")
    for name in _OF_SPARSE:
        found[name] = _refusing(name, RuntimeError, "the tensor is dense; sparse ones are not here yet")
    for name in _TO_SPARSE:
        found[name] = _refusing(name, NotImplementedError, "sparse tensors are not here yet")
    return found


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to.

    Raises:
        RuntimeError: they do not; or a size is negative

    >>> lamella.broadcast_shapes((2, 1), (3,), 1)
    lamella.Size([2, 3])
    """
    given = [(s,) if hasattr(s, "__index__") else tuple(s) for s in shapes]
    common = [1] * max((len(s) for s in given), default=0)
    for shape in given:
        for d in range(-1, -1 - len(shape), -1):
            if shape[d] < 0:
                raise RuntimeError(f"broadcast_shapes: {shape} has a negative size")
            if shape[d] not in (1, common[d]) and common[d] != 1:
                raise RuntimeError(f"broadcast_shapes: {shape} does not broadcast with {tuple(common)}")
            common[d] = common[d] if shape[d] == 1 else shape[d]
    return _C.Size(common)


def can_cast(from_, to) -> bool:
    """Whether a dtype may be converted to another without leaving its class: bool, integers, floats, complex.

    >>> lamella.can_cast(lamella.float64, lamella.float32), lamella.can_cast(lamella.float32, lamella.int64)
    (True, False)
    """

    def rank(dtype):
        if dtype is _C.bool:
            return 0
        return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1

    signs = rank(from_) == rank(to) == 1 and from_.is_signed and not to.is_signed
    return rank(from_) <= rank(to) and not signs


def typename(obj) -> str:
    """The name of a tensor's type, or of any other object's with its module.

    >>> lamella.typename(lamella.ones(1)), lamella.typename(1)
    ('lamella.FloatTensor', 'int')
    """
    if isinstance(obj, _C.Tensor):
        return obj.type()
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    home = getattr(kind, "__module__", None) or ""
    return kind.__qualname__ if home in ("", "builtins", "__builtin__") else f"{home}.{kind.__qualname__}"


def is_storage(obj) -> bool:
    """Whether an object is a tensor's storage.

    >>> lamella.is_storage(lamella.ones(1).untyped_storage()), lamella.is_storage(lamella.ones(1))
    (True, False)
    """
    from lamella._storage import UntypedStorage
    from lamella._torch.typed_storage import TypedStorage

    return isinstance(obj, (UntypedStorage, TypedStorage))


def unravel_index(indices, shape):
    """The coordinates in a shape of places in its row-major order.

    Raises:
        ValueError: a size is negative, or an index is out of range

    >>> lamella.unravel_index(lamella.tensor(5), (2, 3))
    (tensor(1), tensor(2))
    """
    shape = (shape,) if hasattr(shape, "__index__") else tuple(int(n) for n in shape)
    if indices.dtype.is_floating_point or indices.dtype.is_complex or indices.dtype is _C.bool:
        raise ValueError(f"unravel_index: argument 'indices' must be integers, got {indices.dtype}")
    if any(n < 0 for n in shape):
        raise ValueError(f"unravel_index: argument 'shape' has a negative size: {shape}")
    coordinates = []
    for n in reversed(shape):
        coordinates.append(indices.remainder(n) if n else indices)
        indices = indices.floor_divide(n) if n else indices
    return tuple(reversed(coordinates))


e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
