"""The globals that files of torch may name, with the functions for them: tensors, plain containers, dtypes, sizes,
devices."""

from __future__ import annotations

import codecs
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from pickle import UnpicklingError
from typing import Any

import lamella.serialization.containers as containers
from lamella import _C
from lamella._torch.files.opcodes import Known
from lamella._torch.typed import kinds
from lamella._torch.typed_storage import TypedStorage
from lamella.plugins import contributions
from lamella.serialization.limits import Limits, check_truth

# Maps a dtype's name to the name of torch's class of storages.
NAMES = {str(dtype).rpartition(".")[2]: name for name, dtype in kinds().items()}
DTYPES = [*NAMES, "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]
PLAIN_KINDS = "biufc"  # the kinds of numpy dtypes that are numbers


class StorageType:
    """Stands for a class of torch's storages: that of a dtype, or that of bytes."""

    def __init__(self, dtype: Any):
        self.dtype = dtype


class NumpyType:
    """A dtype of numpy that a pickle describes in several steps."""

    def __init__(self, name: Any, align: Any = False, copy: Any = False):
        import numpy as np

        if type(name) is not str or len(name) > 8:
            raise UnpicklingError(f"a dtype of numpy has the name {name!r}; expected a str of at most 8 characters")
        self.dtype = np.dtype(name)
        if self.dtype.kind not in PLAIN_KINDS:
            raise UnpicklingError(f"numpy's dtype {name!r} is not one of numbers")

    def order(self, state: Any) -> None:
        if type(state) is tuple and len(state) > 1 and state[1] in ("<", ">", "|", "="):
            self.dtype = self.dtype.newbyteorder(state[1])
        else:
            raise UnpicklingError("a dtype of numpy has no byte order")


def attributes_of(state: Any, kind: type = object) -> dict[str, Any]:
    """Returns the attributes in a state. Names with two underscores, and those of methods of ``kind``, are refused,
    since they could change what an object does."""
    if type(state) is tuple and len(state) == 2:
        state = {**(state[0] or {}), **(state[1] or {})}
    if not isinstance(state, dict) or not all(type(k) is str and not k.startswith("__") for k in state):
        raise UnpicklingError("the state of an object must be a dict of attributes")
    if hidden := [name for name in state if containers.hides(kind, name)]:
        raise UnpicklingError(f"the attribute {hidden[0]!r} would hide a method of {kind.__name__}")
    return state


def requiring(tensor: Any, requires_grad: Any) -> Any:
    if requires_grad is True and hasattr(tensor, "requires_grad_"):
        tensor.requires_grad_()
    return tensor


def no_hooks(hooks: Any) -> None:
    if hooks:
        raise UnpicklingError("a tensor has backward hooks, which are code, and are not read")


def window(storage: Any, dtype: Any, offset: int, size: tuple, stride: tuple) -> Any:
    flat = storage._tensor if isinstance(storage, TypedStorage) else getattr(storage, "_bytes", None)
    if flat is None or not isinstance(dtype, _C.dtype):
        raise UnpicklingError("a tensor has no storage or no dtype")
    made = _C._storage_view(flat, dtype, tuple(size), tuple(stride), offset)
    return check_truth(made) if dtype is _C.bool else made


def within(tensor: Any) -> Any:
    """Returns the tensor, after checking that it has no more elements than its storage, so a copy is not larger than
    the file."""
    if tensor.numel() * tensor.dtype.itemsize > tensor._storage_nbytes():
        raise UnpicklingError("a tensor that is to be copied has more elements than its storage")
    return tensor


def rebuild_v2(
    storage: Any, offset: int, size: tuple, stride: tuple, requires_grad: Any, hooks: Any, metadata: Any = None
):
    no_hooks(hooks)
    if not isinstance(storage, TypedStorage):
        raise UnpicklingError("a tensor's storage has no dtype")
    made = window(storage, storage._tensor.dtype, offset, size, stride)
    marks = metadata if isinstance(metadata, dict) else {}
    made = within(made).conj() if marks.get("conj") is True else made
    made = -within(made) if marks.get("neg") is True else made
    return requiring(made, requires_grad)


def rebuild_v1(storage: Any, offset: int, size: tuple, stride: tuple) -> Any:
    return rebuild_v2(storage, offset, size, stride, False, None)


def rebuild_v3(
    storage: Any,
    offset: int,
    size: tuple,
    stride: tuple,
    requires_grad: Any,
    hooks: Any,
    dtype: Any,
    metadata: Any = None,
):
    no_hooks(hooks)
    return requiring(window(storage, dtype, offset, size, stride), requires_grad)


def rebuild_meta(dtype: Any, size: tuple, stride: tuple, requires_grad: Any) -> Any:
    made = _C._packet("aten::empty_strided")(tuple(size), tuple(stride), dtype=dtype, device="meta")
    return requiring(made, requires_grad)


def parameter(data: Any, requires_grad: Any = True, hooks: Any = None) -> Any:
    from lamella.nn.parameter import Parameter

    no_hooks(hooks)
    return Parameter(data, requires_grad is True)


def parameter_with_state(data: Any, requires_grad: Any, hooks: Any, state: Any) -> Any:
    made = parameter(data, requires_grad, hooks)
    vars(made).update(attributes_of(state))
    return made


def from_type(function: Any, kind: Any, arguments: Any, state: Any) -> Any:
    if not isinstance(function, Known) or not function.name.startswith("torch._utils._rebuild"):
        raise UnpicklingError("a tensor is rebuilt by a function that is not one of torch._utils")
    if not isinstance(kind, Known) or kind.plain not in ("tensor", "parameter"):
        raise UnpicklingError("a tensor is of a class other than torch.Tensor and torch.nn.Parameter")
    made = function.make(*arguments)
    if kind.plain == "parameter" and type(made) is _C.Tensor:
        made = parameter(made, made.requires_grad)
    if state:
        vars(made).update(attributes_of(state))
    return made


def layout_named(name: Any) -> Any:
    found = getattr(_C, name.rpartition(".")[2], None) if type(name) is str else None
    if not isinstance(found, _C.layout):
        raise UnpicklingError(f"there is no layout {name!r}")
    return found


def sparse_maker(name: str) -> Callable[..., Any]:
    """Returns a function that a plugin contributes to lamella, and that makes sparse tensors."""
    found = contributions.place("lamella").used.get(name)
    if found is None or found.placeholder:
        raise UnpicklingError("the plugin 'sparse', which brings sparse tensors, is not loaded")
    return found.object


def rebuild_sparse(layout: Any, parts: Any) -> Any:
    """Makes a sparse tensor of its parts, which the functions that make sparse tensors check."""
    if type(parts) is not tuple or not isinstance(layout, _C.layout):
        raise UnpicklingError("a sparse tensor must have a layout and a tuple of parts")
    if layout is _C.sparse_coo and len(parts) in (3, 4):
        coalesced = len(parts) == 4 and parts[3] is True
        return sparse_maker("sparse_coo_tensor")(*parts[:3], check_invariants=True, is_coalesced=coalesced)
    if layout in (_C.sparse_csr, _C.sparse_csc) and len(parts) == 4:
        return sparse_maker("sparse_compressed_tensor")(*parts, layout=layout, check_invariants=True)
    raise UnpicklingError(f"a sparse tensor of {layout} with {len(parts)} parts cannot be read; to_sparse_csr() it")


def from_array(array: Any, dtype: Any, device: Any, requires_grad: Any) -> Any:
    return requiring(_C.from_numpy(array).to(device, dtype), requires_grad)


def from_host(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Any:
    return requiring(within(data).to(device, dtype), requires_grad)


def encode(text: Any, encoding: Any) -> bytes:
    if type(text) is not str or encoding not in ("latin1", "utf-8"):
        raise UnpicklingError("bytes must come as a str and the encoding latin1 or utf-8")
    return codecs.encode(text, encoding)


def byte_array(data: Any = b"", encoding: Any = None) -> bytearray:
    return bytearray(encode(data, "latin1" if encoding == "latin-1" else encoding) if encoding else bytes_only(data))


def bytes_only(data: Any = b"") -> bytes:
    if type(data) not in (bytes, list) or (type(data) is list and data):
        raise UnpicklingError("a bytes object must be made of bytes or an empty list")
    return bytes(data)


def counter(limits: Limits, counts: Any = ()) -> Counter:
    made: Counter = Counter()
    for key, count in mapping(limits, counts).items():
        made[key] = count
    return made


def mapping(limits: Limits, pairs: Any = ()) -> OrderedDict:
    pairs = list(pairs.items() if isinstance(pairs, dict) else pairs)
    limits.keys(key for key, _ in pairs)
    return OrderedDict(pairs)


def default_dict(limits: Limits, factory: Any = None, *pairs: Any) -> defaultdict:
    plain = factory.plain if isinstance(factory, Known) else factory
    if factory is not None and (plain is None or plain not in containers.FACTORIES.values()):
        raise UnpicklingError(f"a defaultdict has the factory {factory!r}; expected None or a plain type such as list")
    return defaultdict(plain, mapping(limits, *pairs))


def double_ended(parts: Any = (), maxlen: Any = None) -> deque:
    if type(parts) not in (list, tuple):
        raise UnpicklingError("the elements of a deque must come as a list")
    return deque(parts, maxlen)


def hashed(kind: Any, limits: Limits, parts: Any = ()) -> Any:
    if type(parts) not in (list, tuple):
        raise UnpicklingError("the elements of a set must come as a list")
    return kind(limits.keys(parts))


def size(parts: Any = ()) -> Any:
    return _C.Size(tuple(parts))


def scalar(dtype: Any, data: Any) -> Any:
    import numpy as np

    if not isinstance(dtype, NumpyType) or type(data) is not bytes or len(data) != dtype.dtype.itemsize:
        raise UnpicklingError("a number of numpy has another size than its dtype")
    return np.frombuffer(data, dtype.dtype)[0]


def empty_array(kind: Any, shape: Any, code: Any) -> Any:
    import numpy as np

    return np.ndarray((0,), np.int8)


def fill_array(array: Any, state: Any) -> None:
    version, shape, dtype, by_columns, data = state
    if array.shape != (0,) or array.dtype != "int8":  # it was filled before, so tensors may share its memory
        raise UnpicklingError("an array of numpy is given its elements twice")
    if not isinstance(dtype, NumpyType) or type(data) is not bytes or type(shape) is not tuple:
        raise UnpicklingError("an array of numpy must be of numbers")
    array.__setstate__((1, shape, dtype.dtype, by_columns is True, data))


def marked(storage: Any = None, *arguments: Any) -> int:
    """Returns the most bytes that ``rebuild_v2`` copies: the storage's if the tensor may be conjugate or negative."""
    marks = arguments[5] if len(arguments) > 5 else None
    return storage.nbytes() if isinstance(marks, dict) and isinstance(storage, TypedStorage) else 0


def converted(data: Any = None, dtype: Any = None, *arguments: Any) -> int:
    """Returns the number of bytes of a tensor or an array after a conversion to ``dtype``."""
    size = within(data).numel() if isinstance(data, _C.Tensor) else getattr(data, "size", 0)
    return size * getattr(dtype, "itemsize", 0) if isinstance(size, int) else 0


def rebuilt(function: Any = None, kind: Any = None, arguments: Any = (), *state: Any) -> int:
    """Returns the number of bytes that the function inside ``from_type`` copies."""
    return function.copied(*arguments) if isinstance(function, Known) and function.copied else 0


COPIED: dict[Callable[..., Any], Callable[..., int]] = {
    rebuild_v2: marked,
    from_host: converted,
    from_array: converted,
    from_type: rebuilt,
}
LIMITED = {counter, default_dict, mapping}  # their first argument is the file's limits


def _refuse(name: str, *arguments: Any) -> Any:
    raise UnpicklingError(f"{name} must not be called in a file of tensors")


def _plain(name: str, value: Any, make: Callable[..., Any] | None = None, limited: bool = False) -> Known:
    return Known(name, make or partial(_refuse, name), value, limited)


def table() -> dict[str, Any]:
    """Returns all globals by their full names."""
    made: dict[str, Any] = {f"torch.{name}": _C._find_dtype(name) for name in DTYPES}
    made |= {f"torch.{name}": StorageType(dtype) for name, dtype in kinds().items()}
    made["torch.storage.UntypedStorage"] = made["torch.UntypedStorage"] = StorageType(None)
    functions: dict[str, Callable[..., Any]] = {
        "torch._utils._rebuild_tensor": rebuild_v1,
        "torch._utils._rebuild_tensor_v2": rebuild_v2,
        "torch._utils._rebuild_tensor_v3": rebuild_v3,
        "torch._utils._rebuild_meta_tensor_no_storage": rebuild_meta,
        "torch._utils._rebuild_sparse_tensor": rebuild_sparse,
        "torch.serialization._get_layout": layout_named,
        "torch._utils._rebuild_parameter": parameter,
        "torch._utils._rebuild_parameter_with_state": parameter_with_state,
        "torch._utils._rebuild_device_tensor_from_numpy": from_array,
        "torch._utils._rebuild_device_tensor_from_cpu_tensor": from_host,
        "torch._tensor._rebuild_from_type_v2": from_type,
        "torch.Size": size,
        "torch.device": _C.device,
        "_codecs.encode": encode,
        "collections.Counter": counter,
        "collections.defaultdict": default_dict,
        "collections.deque": double_ended,
        "argparse.Namespace": Namespace,
        "numpy.dtype": NumpyType,
    }
    made |= {name: Known(name, f, None, f in LIMITED, COPIED.get(f)) for name, f in functions.items()}
    made["collections.OrderedDict"] = _plain("collections.OrderedDict", OrderedDict, mapping, True)
    made["torch.Tensor"] = _plain("torch.Tensor", "tensor")
    made["torch.nn.parameter.Parameter"] = _plain("torch.nn.parameter.Parameter", "parameter", parameter)
    made["numpy.ndarray"] = _plain("numpy.ndarray", "array")
    for home in ("numpy.core.multiarray", "numpy._core.multiarray"):
        made[f"{home}.scalar"] = Known(f"{home}.scalar", scalar)
        made[f"{home}._reconstruct"] = Known(f"{home}._reconstruct", empty_array)
    plain: dict[Any, Any] = {set: partial(hashed, set), frozenset: partial(hashed, frozenset), complex: complex}
    plain |= {bytearray: byte_array, bytes: bytes_only, list: None, dict: None, int: None, float: None, str: None}
    plain |= {tuple: None, bool: None}
    for kind, make in plain.items():
        for home in ("builtins", "__builtin__"):
            made[f"{home}.{kind.__name__}"] = _plain(f"{home}.{kind.__name__}", kind, make, kind in (set, frozenset))
    return made
