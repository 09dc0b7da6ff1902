"""Torch's legacy constructors of tensors and storages, named by type: ``FloatTensor(2, 3)``, ``LongStorage(3)``."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._creation import tensor
from lamella._devices import host
from lamella._storage import UntypedStorage
from lamella._torch.typed_storage import TypedStorage

# Maps the word in a type's name to the dtype: FloatTensor has float32.
WORDS = {
    "Float": _C.float32,
    "Double": _C.float64,
    "Half": _C.float16,
    "BFloat16": _C.bfloat16,
    "Byte": _C.uint8,
    "Char": _C.int8,
    "Short": _C.int16,
    "Int": _C.int32,
    "Long": _C.int64,
    "Bool": _C.bool,
}


class TypedTensor(type):
    """The metaclass of ``FloatTensor`` and the others: a call makes a tensor; ``isinstance`` tests dtype and device."""

    dtype: _C.dtype
    kind: str | None  # the type of device; None is the host

    def __call__(cls, *args: Any, device: Any = None, **data: Any) -> Any:
        device = device if device is not None else cls.kind or host()
        return made(cls.__name__, cls.dtype, device, *args, **data)

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, _C.Tensor) or instance.dtype is not cls.dtype:
            return False
        return instance.device.type == (cls.kind or host().type)

    @property
    def is_cuda(cls) -> bool:
        """True if tensors of this class are on a CUDA device."""
        return cls.kind == "cuda"


def typed(word: str, kind: str | None = None) -> TypedTensor:
    """Makes the class for a key of WORDS, on devices of type ``kind``."""
    home = "lamella" if kind is None else f"lamella.{kind}"
    dtype = WORDS[word]
    doc = f"{word}Tensor(2, 3) makes an uninitialized tensor of these sizes; {word}Tensor(data) copies data to {dtype}."
    content = {"__module__": home, "__doc__": doc, "dtype": dtype, "kind": kind}
    return TypedTensor(f"{word}Tensor", (), content)


def _is_size(x: Any) -> bool:
    """Returns whether ``x`` is an integer. Arrays and tensors of one element are data, not sizes."""
    return hasattr(x, "__index__") and type(x) is not bool and not hasattr(x, "__len__")


def made(who: str, dtype: Any, device: Any, *args: Any, data: Any = None) -> Any:
    """Makes a tensor from sizes, or from data. ``who`` is the name for error messages.

    Raises:
        TypeError: the argument is neither sizes nor data, or it is a tensor or storage of another dtype
    """
    if data is not None:
        args = (*args, data)
    if all(_is_size(x) for x in args):
        sizes = tuple(int(x) for x in args) or (0,)
        return _C._packet("aten::empty")(sizes, dtype=dtype, device=device)
    if len(args) != 1:
        raise TypeError(f"{who}: expected sizes, or one sequence, array or tensor; got {len(args)} arguments")
    (given,) = args
    if isinstance(given, _C.Size):
        return _C._packet("aten::empty")(given, dtype=dtype, device=device)
    if isinstance(given, _C.Tensor):
        if given.dtype is not dtype:
            raise TypeError(f"{who}: the tensor has dtype {given.dtype}; use .to({dtype})")
        return given.detach()
    if isinstance(given, TypedStorage):
        if given.dtype is not dtype:
            raise TypeError(f"{who}: the storage is of {given.dtype}, not of {dtype}")
        return given._tensor
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        raise TypeError(f"{who}: expected sizes, or a sequence, an array or a tensor, got {type(given).__name__}")
    return tensor(list(given) if isinstance(given, range) else given, dtype=dtype, device=device)


def constructed(cls: type, *args: Any, device: Any = None, **data: Any) -> Any:
    """Implements ``Tensor(2, 3)`` and ``Tensor([1, 2])`` in the default dtype. A tensor keeps its own dtype."""
    given = args[0] if len(args) == 1 else data.get("data")
    dtype = given.dtype if isinstance(given, _C.Tensor) else _C.get_default_dtype()
    new = made(cls.__name__, dtype, _C._get_default_device() if device is None else device, *args, **data)
    return new if cls is _C.Tensor else new.as_subclass(cls)


class StorageKind(type):
    """The metaclass of ``FloatStorage`` and the others: a call makes a TypedStorage from a size or a sequence."""

    dtype: _C.dtype

    def __call__(cls, *args: Any) -> TypedStorage:
        return TypedStorage(made(cls.__name__, cls.dtype, host(), *args))

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype


def kinds() -> dict[str, _C.dtype]:
    """Returns the dtypes of the classes of storages, by the names of the classes."""
    words = {**WORDS, "ComplexFloat": _C.complex64, "ComplexDouble": _C.complex128}
    return {f"{word}Storage": dtype for word, dtype in words.items()}


def storages() -> dict[str, StorageKind]:
    """Returns the classes of storages, by name."""
    return {name: _kind(name, dtype) for name, dtype in kinds().items()}


def _kind(name: str, dtype: Any) -> StorageKind:
    doc = f"{name}(3) makes three uninitialized elements of {dtype}; {name}([1, 2]) makes a copy of the list."
    return StorageKind(name, (), {"__module__": "lamella", "__doc__": doc, "dtype": dtype})


def set_default_tensor_type(t: Any) -> None:
    """Sets the default dtype by a type: ``lamella.DoubleTensor`` or ``"torch.DoubleTensor"``.

    Raises:
        TypeError: ``t`` is not such a type on the host, or its dtype is not floating-point

    >>> lamella.set_default_tensor_type(lamella.FloatTensor)
    >>> lamella.get_default_dtype()
    lamella.float32
    """
    names = {f"{home}.{word}Tensor": dtype for word, dtype in WORDS.items() for home in ("lamella", "torch")}
    dtype = names.get(t) if isinstance(t, str) else t.dtype if isinstance(t, TypedTensor) and t.kind is None else None
    if dtype is None:
        raise TypeError(f"set_default_tensor_type: expected a type such as lamella.FloatTensor or its name, got {t!r}")
    if not dtype.is_floating_point:
        raise TypeError(f"set_default_tensor_type: {t!r} is not of floating numbers")
    _C._set_default_dtype(dtype)


def names() -> dict[str, Any]:
    """Returns the names for the namespace: the types of tensors and storages, and ``set_default_tensor_type``."""
    return {
        **{f"{word}Tensor": typed(word) for word in WORDS},
        **storages(),
        "TypedStorage": TypedStorage,
        "UntypedStorage": UntypedStorage,
        "set_default_tensor_type": set_default_tensor_type,
    }
