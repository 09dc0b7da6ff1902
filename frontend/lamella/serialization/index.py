"""Makes the index of a checkpoint from an object: JSON text, and the storages that are stored beside it.

Note [The index]  None, bools, text, numbers, lists and dicts with text keys are written as in JSON, if JSON reads
  them back unchanged. Any other value is an object whose first key is a tag that begins with "$". Containers except
  the empty tuple, and arrays of numpy, are numbered when they are complete, in the order of the text;
  ``{"$same": n}`` stands for one that occurred before. A tensor is ``{"$tensor": n}``, the n-th of the list beside the
  object. Within keys, members of sets, and the slots and attributes of a tensor, nothing is numbered.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import lamella.serialization.containers as containers
import lamella.serialization.modules as modules
import lamella.serialization.values as values
from lamella import _C
from lamella.plugins import contributions
from lamella.serialization.errors import Refused
from lamella.serialization.places import ROOT

KIND = "lamella"
VERSION = 1
NAME = "index.json"
DATA = "data/"  # followed by the number of the storage


class Indexer:
    """Encodes an object.

    ``storages`` has, for each storage, its bytes or a tensor over it, the number of bytes, and the device, which is ""
    for that of a numpy array; ``tensors`` has the records of the tensors, as text.

    Args:
        objects: a type whose values a file of another kind holds, and a function that returns the name of a value's
            class and its attributes. Two values are one if they are equal.
    """

    def __init__(self, objects: tuple[type, Callable[[Any], tuple[str, dict]]] | None = None) -> None:
        self.storages: list[tuple[Any, int, str]] = []
        self.tensors: list[str] = []
        self._storage_numbers: dict[int, int] = {}
        self._tensor_numbers: dict[int, int] = {}
        self._containers: dict[int, int] = {}
        self._open: set[int] = set()  # containers that are being encoded
        self._kept: list[Any] = []  # keeps objects alive, so that no id() is reused
        self._alone = 0  # if above 0, no container is numbered
        self._objects: dict[Any, Any] = {}  # the first of equal objects
        self._numpy = sys.modules.get("numpy")
        self._encoders: dict[Any, Any] = {
            **values.ENCODERS,
            list: self._list,
            Namespace: self._namespace,
            **dict.fromkeys(containers.MAPPINGS, self._mapping),
            **dict.fromkeys(containers.SEQUENCES, self._sequence),
        }
        if objects is not None:
            self._encoders[objects[0]] = lambda value: self._object(value, objects[1])

    def encode(self, value: Any) -> Any:
        """Returns the representation of a value in the index. Raises Refused."""
        kind = type(value)
        if kind is _C.Tensor:
            return self._tensor(value, None)
        encoder = self._encoders.get(kind)
        if encoder is not None:
            return encoder(value)
        if isinstance(value, _C.Tensor):
            return self._tensor(value, self._class_of(value))
        if kind.__name__ == "UntypedStorage" and kind.__module__ == "lamella._storage":
            return {"$storage": self._storage(value._bytes, value._bytes._storage_id())}
        if self._numpy is not None:
            if kind is self._numpy.ndarray:
                return self._numbered(value, lambda: {"$array": self._array(value)})
            if isinstance(value, self._numpy.generic):
                return values.from_scalar(value)
        if modules.is_module(value):
            return self._numbered(value, lambda: self._module(value))
        if (name := modules.function_name(value)) is not None:
            return {"$functional": name}
        raise Refused(refusal(value))

    def alone(self, value: Any) -> Any:
        """Returns the representation of a value in which no container is numbered. Raises Refused."""
        self._alone += 1
        try:
            return self.encode(value)
        finally:
            self._alone -= 1

    # ---- containers ----

    def _numbered(self, value: Any, take_apart: Any) -> Any:
        key = id(value)
        if key in self._open:
            raise Refused("contains itself; a checkpoint holds no cycles")
        if self._alone:
            self._open.add(key)
            out = take_apart()
            self._open.discard(key)
            return out
        number = self._containers.get(key)
        if number is not None:
            return {"$same": number}
        self._open.add(key)
        out = take_apart()
        self._open.discard(key)
        self._containers[key] = len(self._containers)
        self._kept.append(value)
        return out

    def _list(self, value: list) -> Any:
        return self._numbered(value, lambda: self._items(value))

    def _items(self, value: Any) -> list:
        i, out, encode = -1, [], self.encode
        try:
            for i, x in enumerate(value):  # noqa: B007 - the handler names the place
                out.append(encode(x))
        except Refused as refused:
            refused.path.append(f"[{i}]")
            raise
        return out

    def _sequence(self, value: Any) -> Any:
        kind = type(value)
        tag = containers.SEQUENCES[kind]
        if kind in containers.HASHED:
            return self._numbered(value, lambda: {tag: sorted(self._lonely(list(value)), key=json.dumps)})
        if kind is tuple and not value:
            return {tag: []}  # the empty tuple is one object, so it is not numbered
        if tag == "$deque":
            return self._numbered(value, lambda: {tag: self._items(value), containers.LIMIT: value.maxlen})
        return self._numbered(value, lambda: {tag: self._items(value)})

    def _lonely(self, items: list) -> list:
        self._alone += 1
        try:
            return self._items(items)
        finally:
            self._alone -= 1

    def _mapping(self, value: Any) -> Any:
        return self._numbered(value, lambda: self._pairs(value))

    def _pairs(self, value: dict) -> Any:
        kind, encode = type(value), self.encode
        if kind is dict and containers.is_plain_object(value):
            return self._plain(value)
        key, pairs = None, []
        try:
            for key, x in value.items():
                pairs.append([key if type(key) is str and containers.is_text(key) else self._key(key), encode(x)])
        except Refused as refused:
            refused.path.append(f"[{key!r}]")
            raise
        out: dict[str, Any] = {containers.MAPPINGS[kind]: pairs}
        if kind is containers.defaultdict:
            if value.default_factory not in containers.FACTORY_NAMES:  # type: ignore[attr-defined]
                raise Refused("is a defaultdict whose factory is no plain type; save dict(...) of it")
            out[containers.FACTORY] = containers.FACTORY_NAMES[value.default_factory]  # type: ignore[attr-defined]
        elif kind is not dict and vars(value):
            out[containers.ATTRIBUTES] = self._attributes(vars(value), kind)
        return out

    def _plain(self, value: dict) -> dict:
        key, out, encode = None, {}, self.encode
        try:
            for key, x in value.items():
                out[key] = encode(x)
        except Refused as refused:
            refused.path.append(f"[{key!r}]")
            raise
        return out

    def _key(self, key: Any) -> Any:
        try:
            return self._lonely([key])[0]
        except Refused:
            raise Refused(f"is a key of {type(key).__name__}, which no checkpoint holds as a key") from None

    def _namespace(self, value: Namespace) -> Any:
        return self._numbered(value, lambda: {"$namespace": self._attributes(vars(value), Namespace)})

    def _attributes(self, held: dict, kind: type = object) -> list:
        name, out = "", []
        try:
            for name, x in held.items():
                if type(name) is not str or name.startswith("__"):
                    raise Refused("is an attribute whose name is no str or begins with '__'; no checkpoint holds it")
                if containers.hides(kind, name):
                    raise Refused(f"is an attribute that hides a method of {kind.__name__}; no checkpoint holds it")
                out.append([name, self.encode(x)])
        except Refused as refused:
            refused.path.append(f".{name}")
            raise
        return out

    def _object(self, value: Any, parts: Callable[[Any], tuple[str, dict]]) -> Any:
        value = self._objects.setdefault(value, value)

        def take_apart() -> dict:
            name, attributes = parts(value)
            return {"$object": name, "attributes": self._attributes(attributes)}

        return self._numbered(value, take_apart)

    def _module(self, value: Any) -> Any:
        """Encodes a module; see Note [Whole modules] in modules.py. In messages its members are its attributes."""
        try:
            state = self._attributes(modules.state_of(value))
        except Refused as refused:
            if refused.path and refused.path[-1].lstrip(".") in modules.MEMBERS:
                refused.path.pop()
                refused.path[-1] = f".{refused.path[-1][2:-2]}"
            raise
        return {"$module": list(modules.name_of(type(value))), "state": state}

    # ---- tensors and memory ----

    def _class_of(self, tensor: Any) -> str:
        from lamella.nn.parameter import Parameter

        if type(tensor) is Parameter:
            return "parameter"
        if type(tensor).__name__.startswith("Uninitialized"):
            raise Refused("is a parameter without a shape; run the module once before it is saved")
        raise Refused(
            f"is a {type(tensor).__name__}, a class of tensors that a checkpoint cannot hold; save "
            "x.as_subclass(lamella.Tensor)"
        )

    def _tensor(self, tensor: Any, kind: str | None) -> Any:
        number = self._tensor_numbers.get(id(tensor))
        if number is None:
            identity, text, plain = of_slots(_C._window, tensor)
            for name in contributions.copied:
                if (x := getattr(tensor, name)) is not None and x is not False:
                    plain = False
            if plain and kind is None:
                record = f"[{self._storage(tensor, identity)},{text}]"
            else:
                record = self._dressed(tensor, kind, identity, text)
            number = self._tensor_numbers[id(tensor)] = len(self.tensors)
            self.tensors.append(record)
            self._kept.append(tensor)
        return {"$tensor": number}

    def _dressed(self, tensor: Any, kind: str | None, identity: int, text: str) -> str:
        """Returns the record of a tensor that has a class, slots or attributes, or is opaque."""
        if id(tensor) in self._open:
            raise Refused("contains itself; a checkpoint holds no cycles")
        self._open.add(id(tensor))
        more: dict[str, Any] = {}
        opaque = tensor.is_opaque
        storage = None if opaque else self._storage(tensor, identity)
        slots = of_slots(_C._save_slots, tensor)
        if opaque:
            if not slots:
                raise Refused("is an opaque tensor, and it has no slot that can be saved; save its values")
            more["device"] = str(tensor.device)
        for name in contributions.copied:
            if (x := getattr(tensor, name)) is not None and x is not False:
                more.setdefault("plugins", []).append([name, x])
        if kind is not None:
            more["class"] = kind
        held = vars(tensor)
        if slots or held or "plugins" in more:
            self._carried(more, slots, held)
        self._open.discard(id(tensor))
        return f"[{json.dumps(storage)},{text}{',' + compact(more) if more else ''}]"

    def _carried(self, more: dict, slots: list, held: dict) -> None:
        """Encodes the slots of a tensor, and its attributes of plugins and of the user, into ``more``."""
        self._alone += 1
        try:
            if "plugins" in more:
                more["plugins"] = self._attributes(dict(more["plugins"]))
            if slots:
                more["slots"] = self._attributes(dict(slots))
            if held:
                more["attributes"] = self._attributes(held)
        finally:
            self._alone -= 1

    def _storage(self, tensor: Any, identity: int) -> int:
        number = self._storage_numbers.get(identity)
        if number is None:
            number = self._storage_numbers[identity] = len(self.storages)
            self.storages.append((tensor, tensor._storage_nbytes(), str(tensor.device)))
            self._kept.append(tensor)
        return number

    def _array(self, array: Any) -> list:
        np = self._numpy
        if array.dtype.kind not in "biufcSUMm":
            raise Refused(f"is a numpy array of dtype {array.dtype}; save one of numbers or text, or array.tolist()")
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.nbytes else b""  # type: ignore[union-attr]
        self.storages.append((data, array.nbytes, ""))
        return [len(self.storages) - 1, array.dtype.str, list(array.shape)]


def of_slots(function: Any, tensor: Any) -> Any:
    """Calls a function of the binding that saves a tensor's slots. Raises Refused if the `save` of a slot fails."""
    try:
        return function(tensor)
    except (_C.OutOfMemoryError, RecursionError):
        raise
    except Exception as error:
        raise Refused(f"has a slot of a plugin that does not save it: {type(error).__name__}: {error}") from error


def compact(value: Any) -> str:
    """Returns a part of the index as text. Raises RecursionError if it is nested too deeply."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, check_circular=False)


def refusal(value: Any) -> str:
    """Returns why a value cannot be in a checkpoint, and what to save instead."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if hasattr(kind, "state_dict"):
        return f"is a {name}, which a checkpoint does not hold; save its state_dict()"
    if isinstance(value, tuple):
        return f"is a named tuple, {name}, which a checkpoint does not hold; save tuple(x) or x._asdict()"
    if isinstance(value, type) or callable(value):
        return f"is code, {value!r}, which a checkpoint does not hold; save its name"
    if isinstance(value, dict):
        return f"is a {name}, which a checkpoint does not hold; save dict(x)"
    if isinstance(value, (str, int, float)):
        return f"is a {name}, which a checkpoint does not hold; save {kind.__mro__[-2].__name__}(x)"
    if isinstance(value, _os_path_like()):
        return f"is a {name}, which a checkpoint does not hold; save str(x)"
    return f"is a {name}, which a checkpoint does not hold; save its values as numbers, text, lists, dicts or tensors"


def _os_path_like() -> type:
    import os

    return os.PathLike


def indexed(obj: Any) -> tuple[bytes, list[tuple[Any, int, str]]]:
    """Returns the text of the index, and the storages beside it.

    Raises:
        TypeError: a part of ``obj`` is of a type that checkpoints cannot hold; the message says where, and what to do
        ValueError: ``obj`` is nested too deeply
    """
    indexer = Indexer()
    with refusals():
        root = compact(indexer.encode(obj))
    tables = tables_of(indexer)
    return f'{{"format":"{KIND}","version":{VERSION},{tables},"object":{root}}}'.encode(), indexer.storages


@contextmanager
def refusals() -> Iterator[None]:
    """Turns a Refused, and an object that is nested too deeply, into the errors that ``indexed`` raises."""
    try:
        yield
    except Refused as refused:
        path = ROOT + "".join(reversed(refused.path))
        raise TypeError(f"save: {path} {refused}") from refused.__cause__
    except RecursionError:
        raise ValueError("save: the object is nested too deeply for a checkpoint") from None


def tables_of(indexer: Indexer) -> str:
    """Returns the entries ``storages`` and ``tensors`` of an index as text."""
    devices = {device: compact(device) for device in {device for _, _, device in indexer.storages}}
    storages = ",".join([f"[{nbytes},{devices[device]}]" for _, nbytes, device in indexer.storages])
    return f'"storages":[{storages}],"tensors":[{",".join(indexer.tensors)}]'
