"""Writes the pickle of a file of torch: opcodes of protocol 2, which every version of torch reads."""

from __future__ import annotations

import re
import struct
import warnings
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

import lamella.serialization.modules as modules
from lamella import _C, _storage
from lamella._torch.files.globals import DTYPES, NAMES, PLAIN_KINDS
from lamella._torch.typed_storage import TypedStorage
from lamella.serialization.containers import FACTORY_NAMES
from lamella.serialization.errors import Refused

PREFIX = "archive/"
MEMBER = re.compile(rf"\.({'|'.join(modules.MEMBERS)})\['([^']*)'\]")  # a module's member in a path


def short(dtype: Any) -> str:
    """Returns a dtype's name without its module."""
    return str(dtype).rpartition(".")[2]


class Pickled:
    """One object as opcodes, and the storages that it uses."""

    def __init__(self, obj: Any):
        self.out = bytearray(b"\x80\x02")
        self.memo: dict[Any, int] = {}
        self.kept: list[Any] = []  # keeps objects alive, so that no id in the memo is reused
        self.storages: list[Any] = []
        self.keys: dict[int, int] = {}
        self.typed: dict[int, str] = {}  # torch gives a storage the first dtype with which the pickle names it
        self.path: list[str] = []
        self.open: set[int] = set()
        try:
            self.add(obj)
        except RecursionError:
            raise ValueError("save: the object is nested too deeply for a file of torch") from None
        self.out += b"."

    def data(self) -> bytes:
        """Returns the pickle."""
        return bytes(self.out)

    # ---- parts ----

    def remember(self, key: Any) -> None:
        number = self.memo[key] = len(self.memo)
        self.out += b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)

    def recalled(self, key: Any) -> bool:
        number = self.memo.get(key)
        if number is None:
            return False
        self.out += b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)
        return True

    def name(self, module: str, name: str) -> None:
        if not self.recalled((module, name)):
            self.out += f"c{module}\n{name}\n".encode()
            self.remember((module, name))

    def call(self, module: str, name: str, *arguments: Any) -> None:
        self.name(module, name)
        self.parts(arguments)
        self.out += b"R"

    def parts(self, values: Iterable[Any]) -> None:
        """Writes a tuple. A function among the values writes its element itself."""
        self.out += b"("
        for value in values:
            value() if callable(value) and not isinstance(value, _C.Tensor) else self.add(value)
        self.out += b"t"

    def no_hooks(self) -> None:
        self.call("collections", "OrderedDict")

    # ---- values ----

    def add(self, x: Any) -> None:
        """Writes any value. Raises TypeError for one that torch would not read."""
        kind = type(x)
        if x is None or kind is bool:
            self.out += b"N" if x is None else b"\x88" if x else b"\x89"
        elif kind is int:
            self.integer(x)
        elif kind is float:
            self.out += b"G" + struct.pack(">d", x)
        elif kind is str:
            self.text(x)
        elif kind is _C.dtype and short(x) in DTYPES:
            self.name("torch", short(x))
        elif kind is bytes:
            self.call("_codecs", "encode", x.decode("latin1"), "latin1")
        elif kind is complex:
            self.call("__builtin__", "complex", x.real, x.imag)
        elif kind is _C.device:
            self.call("torch", "device", str(x))
        elif (name := modules.function_name(x)) is not None:
            self.name("torch.nn.functional", name)
        elif not self.recalled(id(x)):
            self.kept.append(x)
            self.contained(x, kind)
            if id(x) not in self.memo:  # a module remembers itself before its state, which may hold it again
                self.remember(id(x))

    def integer(self, x: int) -> None:
        if -(2**31) <= x < 2**31:
            self.out += b"K" + bytes([x]) if 0 <= x < 256 else b"J" + struct.pack("<i", x)
            return
        data = x.to_bytes(x.bit_length() // 8 + 1, "little", signed=True)
        if len(data) > 255:
            raise self.refusal("an int of more than 254 bytes")
        self.out += b"\x8a" + bytes([len(data)]) + data

    def text(self, x: str) -> None:
        if not self.recalled(("text", x)):
            data = x.encode("utf-8", "surrogatepass")
            self.out += b"X" + struct.pack("<I", len(data)) + data
            self.remember(("text", x))

    def place(self) -> str:
        """Returns the place in the object of the part that is being written."""
        return MEMBER.sub(r".\2", "".join(self.path))

    def refusal(self, what: str) -> TypeError:
        where = f" at {self.place()}" if self.path else ""
        return TypeError(f"save: {what}{where}; a file for torch holds tensors, plain containers and numbers")

    def contained(self, x: Any, kind: type) -> None:
        if isinstance(x, _C.Tensor):
            return self.tensor(x)
        if kind in (_storage.UntypedStorage, TypedStorage):
            dtype = None if kind is _storage.UntypedStorage else x._tensor.dtype
            return self.storage(x._bytes if dtype is None else x._tensor, dtype)
        if id(x) in self.open:
            raise self.refusal(f"a {kind.__name__} contains itself")
        self.open.add(id(x))
        if kind is tuple or kind is _C.Size:
            if kind is _C.Size:
                self.call("torch", "Size", tuple(x))
            else:
                self.out += b"("
                self.each(x)
                self.out += b"t"
        elif kind is list:
            self.out += b"]("
            self.each(x)
            self.out += b"e"
        elif kind is bytearray:
            self.call("__builtin__", "bytearray", x.decode("latin1"), "latin-1")
        elif kind in (set, frozenset):
            self.call("__builtin__", kind.__name__, list(x))
        elif kind is Counter:
            self.call("collections", "Counter", dict(x))
        elif kind is deque:
            self.call("collections", "deque", list(x), *(() if x.maxlen is None else (x.maxlen,)))
        elif kind in (dict, OrderedDict, defaultdict):
            self.mapping(x, kind)
        elif kind is Namespace:
            self.name("argparse", "Namespace")
            self.out += b")\x81"
            self.mapping(vars(x), dict, ".{}")
            self.out += b"b"
        elif kind.__module__ == "numpy" and self.numpy(x):
            pass
        elif modules.is_module(x):
            self.module(x)
        else:
            raise self.refusal(f"expected a value that torch reads, got {kind.__module__}.{kind.__qualname__}")
        self.open.discard(id(x))

    def each(self, values: Iterable[Any]) -> None:
        for number, value in enumerate(values):
            self.path.append(f"[{number}]")
            self.add(value)
            self.path.pop()

    def mapping(self, x: Any, kind: type, place: str = "[{!r}]") -> None:
        if kind is dict:
            self.out += b"}"
        elif kind is OrderedDict:
            self.no_hooks()
        else:
            factory = x.default_factory  # type: ignore[attr-defined]
            if factory not in FACTORY_NAMES:
                raise self.refusal("a defaultdict whose factory is no plain type")
            home = ("collections", "OrderedDict") if factory is OrderedDict else ("__builtin__", FACTORY_NAMES[factory])
            self.call("collections", "defaultdict", None if factory is None else lambda: self.name(*home))
        self.out += b"("
        for key, value in x.items():
            self.path.append(place.format(key))
            self.add(key)
            self.add(value)
            self.path.pop()
        self.out += b"u"
        if kind is OrderedDict and vars(x):
            self.add(dict(vars(x)))
            self.out += b"b"

    def numpy(self, x: Any) -> bool:
        """Writes an array or a number of numpy, with the name of its functions in numpy 2, which 1.26 has, too. Returns
        False if its dtype is not one of numbers."""
        dtype = x.dtype
        if dtype.kind not in PLAIN_KINDS:
            return False
        home, order = "numpy._core.multiarray", "|" if dtype.itemsize == 1 else "<"

        def element() -> None:
            self.call("numpy", "dtype", dtype.str[1:], False, True)
            self.add((3, order, None, None, None, -1, -1, 0))
            self.out += b"b"

        data = x.astype(dtype.newbyteorder("<")).tobytes()
        if type(x).__name__ != "ndarray":
            self.call(home, "scalar", element, data)
            return True
        self.call(home, "_reconstruct", lambda: self.name("numpy", "ndarray"), (0,), b"b")
        self.parts((1, x.shape, element, False, data))
        self.out += b"b"
        return True

    def module(self, x: Any) -> None:
        """Writes a module as pickle does: its class, made without arguments, and its state."""
        try:
            state = modules.state_of(x)
        except Refused as error:
            raise TypeError(f"save: obj{self.place()} {error}") from error
        self.name(*modules.in_torch(type(x)))
        self.out += b")\x81"
        self.remember(id(x))
        hooks = {name: made() for name, made in x._made_on_use.items()}  # torch's modules always have them
        if "_flat_weights_names" in state:  # of RNN and its kin; torch's have their weights a second time
            state["_flat_weights"] = x._flat_weights
        self.mapping({**hooks, **state}, dict, ".{}")
        self.out += b"b"

    # ---- tensors ----

    def storage(self, tensor: Any, dtype: Any) -> None:
        """Writes the persistent id of a tensor's storage: of the dtype if ``takes`` allows that, else of bytes."""
        key = self.keys.get(tensor._storage_id())
        nbytes = tensor._storage_nbytes()
        if key is None:
            key = self.keys[tensor._storage_id()] = len(self.storages)
            self.storages.append(_C._storage_view(tensor, _C.uint8, (nbytes,), (1,), 0))
        typed = self.takes(tensor, dtype)
        self.typed.setdefault(tensor._storage_id(), short(dtype) if typed else "")
        kind = ("torch", NAMES[short(dtype)]) if typed else ("torch.storage", "UntypedStorage")
        count = nbytes // dtype.itemsize if typed else nbytes
        self.parts(("storage", lambda: self.name(*kind), str(key), str(tensor.device), count))
        self.out += b"Q"

    def takes(self, tensor: Any, dtype: Any) -> bool:
        """Returns whether torch has storages of this dtype, and the pickle names the storage with no other dtype."""
        whole = dtype is not None and short(dtype) in NAMES and tensor._storage_nbytes() % dtype.itemsize == 0
        return whole and self.typed.get(tensor._storage_id(), short(dtype)) == short(dtype)

    def tensor(self, x: Any) -> None:
        from lamella.nn.parameter import Parameter

        is_parameter = isinstance(x, Parameter)
        requires_grad = bool(getattr(x, "requires_grad", False))
        if x.is_opaque or short(x.dtype) not in DTYPES:
            raise self.refusal(
                f"a tensor of {'a plugin' if x.is_opaque else short(x.dtype)}, which torch does not read; Lamella's "
                "format keeps it: save with format='lamella'"
            )
        attributes = {name: value for name, value in vars(x).items() if not name.startswith("__")}
        if is_parameter:
            bare = lambda: self.bare(x.detach(), False)  # noqa: E731
            if attributes:
                state = ("_rebuild_parameter_with_state", bare, requires_grad, self.no_hooks, attributes)
                self.call("torch._utils", *state)
            else:
                self.call("torch._utils", "_rebuild_parameter", bare, requires_grad, self.no_hooks)
        elif attributes:
            function, arguments = self.description(x, requires_grad)
            self.call(
                "torch._tensor",
                "_rebuild_from_type_v2",
                lambda: self.name("torch._utils", function),
                lambda: self.name("torch", "Tensor"),
                lambda: self.parts(arguments),
                attributes,
            )
        else:
            self.bare(x, requires_grad)

    def bare(self, x: Any, requires_grad: bool) -> None:
        if slots := [slot for slot, _ in _C._save_slots(x)]:
            warnings.warn(
                f"save: torch's format has no place for what these plugins keep on a tensor: {', '.join(slots)}; it is "
                "dropped. format='lamella' keeps it",
                stacklevel=2,
            )
        function, arguments = self.description(x, requires_grad)
        self.call("torch._utils", function, *arguments)

    def description(self, x: Any, requires_grad: bool) -> tuple[str, tuple]:
        """Returns the torch function that makes such a tensor, and its arguments."""
        shape = tuple(x.shape), tuple(x.stride())
        if x.device.type == "meta":
            return "_rebuild_meta_tensor_no_storage", (x.dtype, *shape, requires_grad)
        place = (x.storage_offset(), *shape, requires_grad, self.no_hooks)
        if self.takes(x, x.dtype):
            return "_rebuild_tensor_v2", (lambda: self.storage(x, x.dtype), *place)
        return "_rebuild_tensor_v3", (lambda: self.storage(x, None), *place, x.dtype)
