"""Rebuilds an object from the index of a checkpoint. The index is untrusted text: every number and name in it is
checked.

See Note [The index] in index.py.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import lamella.serialization.containers as containers
import lamella.serialization.modules as modules
import lamella.serialization.values as values
from lamella import _C, _storage
from lamella.plugins import contributions
from lamella.serialization.errors import CheckpointError
from lamella.serialization.limits import check_alike, check_truth
from lamella.serialization.places import Place

MOST_NAMES = 100_000  # the most containers that Names walks again by "$same", as their number can grow exponentially
NUMBERED = {"$array", "$module", "$namespace", *containers.KINDS}
HERE = object()  # the key of a part that has the name of the container around it


def row_major(shape: list[int]) -> tuple[int, ...]:
    """Returns the strides of a contiguous tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


class Rebuilder:
    """Makes objects from the index. ``storage`` returns the bytes of a storage on its device, ``array`` those of a
    numpy array on the host. ``target(device)`` returns the device for an opaque tensor that was saved from ``device``.
    ``find(module, name)`` returns a class of modules. ``objects`` is of files of another kind: the type of their
    objects, and a function that makes one of the name of its class and its attributes. In those files nothing else is
    shared, since what takes the values copies containers, whose number could grow exponentially.

    For a damaged index its methods raise ValueError, TypeError, KeyError, IndexError and others.
    """

    def __init__(
        self,
        tensors: list,
        storage: Callable[[int], Any],
        array: Callable[[int], Any],
        target: Callable[[str], str],
        find: Callable[[str, str], Any],
        objects: tuple[type, Callable[[str, dict[str, Any]], Any]] | None = None,
    ):
        self._records, self._find = tensors, find
        self._storage, self._array, self._target = storage, array, target
        self._tensors: dict[int, Any] = {}
        self._containers: list[Any] = []
        self._alone = 0
        self._shared: type = object if objects is None else objects[0]
        self._states = modules.States()
        self._dtypes: dict[str, Any] = {}
        self._more: dict[str, Callable[[dict], Any]] = {
            "$same": lambda node: self._same(natural(node["$same"])),
            "$storage": lambda node: self._untyped(natural(node["$storage"])),
            "$array": lambda node: self._numbered(self._ndarray(*node["$array"])),
            "$namespace": lambda node: self._numbered(self._namespace(node["$namespace"])),
            "$module": lambda node: self._numbered(self._module(node["$module"], node["state"])),
            "$functional": lambda node: self._functional(node["$functional"]),
            **({} if objects is None else {"$object": lambda node: self._numbered(self._object(node, objects[1]))}),
            **{tag: self._mapping(tag, kind) for tag, kind in containers.KINDS.items() if kind in containers.MAPPINGS},
            **{
                tag: self._sequence(tag, kind) for tag, kind in containers.KINDS.items() if kind in containers.SEQUENCES
            },
        }

    def decode(self, node: Any) -> Any:
        """Returns the value that a part of the index describes."""
        if type(node) is dict:
            tag = next(iter(node), "")
            if not tag.startswith("$"):
                return self._numbered({key: self.decode(x) for key, x in node.items()})
            if tag == "$tensor":
                return self.tensor(node["$tensor"])
            if tag in values.DECODERS:
                return values.DECODERS[tag](node[tag])
            return self._more[tag](node)
        if type(node) is list:
            return self._numbered([self.decode(x) for x in node])
        return node

    def _numbered(self, made: Any) -> Any:
        if not self._alone:
            self._containers.append(made)
        return made

    def alone(self, node: Any) -> Any:
        """Returns the value of a part in which nothing is numbered."""
        return self._lonely([node])[0]

    def _lonely(self, nodes: list) -> list:
        """Decodes keys or elements of a set, in which no container is numbered."""
        self._alone += 1
        try:
            return [self.decode(x) for x in nodes]
        finally:
            self._alone -= 1

    def _same(self, number: int) -> Any:
        """Returns a container that was decoded before. Raises ValueError inside a part in which nothing is numbered,
        such as a key: the time to hash a tuple of shared tuples can grow exponentially with the size of the index."""
        if self._alone:
            raise ValueError("'$same' is inside a part in which nothing is numbered")
        if not isinstance(found := self._containers[number], self._shared):
            raise ValueError(f"'$same' stands for a {type(found).__name__}, which no file of this kind shares")
        return found

    def _mapping(self, tag: str, kind: Any) -> Callable[[dict], Any]:
        def decode(node: dict) -> Any:
            pairs = [(key if type(key) is str else self._lonely([key])[0], self.decode(x)) for key, x in node[tag]]
            check_alike(key for key, _ in pairs)
            if kind is containers.defaultdict:
                return self._numbered(kind(containers.FACTORIES[node[containers.FACTORY]], pairs))
            made = kind(dict(pairs)) if tag == "$counter" else kind(pairs)
            if containers.ATTRIBUTES in node and kind is not dict:
                vars(made).update(self._attributes(node[containers.ATTRIBUTES], kind))
            return self._numbered(made)

        return decode

    def _sequence(self, tag: str, kind: Any) -> Callable[[dict], Any]:
        def decode(node: dict) -> Any:
            if kind in containers.HASHED:
                items = self._lonely(node[tag])
                check_alike(items)
                return self._numbered(kind(items))
            items = [self.decode(x) for x in node[tag]]
            if kind is tuple:
                return self._numbered(tuple(items)) if items else ()
            return self._numbered(kind(items, node[containers.LIMIT]))

        return decode

    def _namespace(self, pairs: list) -> Namespace:
        made = Namespace()
        vars(made).update(self._attributes(pairs, Namespace))
        return made

    def _module(self, names: list, pairs: list) -> Any:
        home, name = names
        kind = self._find(home, name)
        state = self._attributes(pairs)
        made = kind.__new__(kind)
        self._states.give(made, state)
        return made

    def _object(self, node: dict, make: Callable[[str, dict[str, Any]], Any]) -> Any:
        return make(node["$object"], self._attributes(node["attributes"]))

    def _functional(self, name: Any) -> Any:
        found = modules.function("lamella.nn.functional", name)
        if found is None:
            raise ValueError(f"lamella.nn.functional has no function {name!r}")
        return found

    def _attributes(self, pairs: list, kind: type = object) -> dict[str, Any]:
        out = {}
        for name, x in pairs:
            if type(name) is not str or name.startswith("__") or containers.hides(kind, name):
                raise ValueError(f"{name!r} is no attribute of a checkpoint")
            out[name] = self.decode(x)
        return out

    # ---- tensors and memory ----

    def tensor(self, number: Any) -> Any:
        """Returns the tensor of a number, the same object in each call."""
        made = self._tensors.get(number)
        if made is None:
            record = self._records[natural(number)]
            if record is None:
                raise ValueError("a tensor contains itself")
            self._records[number] = None  # None while it is being made
            made = self._made(*record)
            self._records[number] = record
            self._tensors[number] = made
        return made

    def _made(self, storage: Any, name: str, shape: list, strides: Any, offset: int, more: Any = None) -> Any:
        dtype = self._dtypes.get(name)
        if dtype is None:
            dtype = self._dtypes[name] = _C._find_dtype(name)
        size = tuple(shape)
        stride = row_major(shape) if strides is None else tuple(strides)
        if storage is None:
            carried = self._carried(more)
            return self._opaque(carried, self._target(more["device"]), dtype, size, stride)
        made = _C._storage_view(self._storage(natural(storage)), dtype, size, stride, offset)
        if dtype is _C.bool:
            check_truth(made)
        return made if more is None else self._dressed(made, self._carried(more))

    def _carried(self, more: dict) -> dict[str, Any]:
        """Decodes the slots and attributes of a tensor, parts of which may be tensors, and checks its class."""
        self._alone += 1
        try:
            carried = {name: self._attributes(more.get(name, [])) for name in ("slots", "plugins", "attributes")}
        finally:
            self._alone -= 1
        if more.get("class", "parameter") != "parameter":
            raise ValueError(f"there is no class of tensors '{more['class']}'")
        return {**carried, "class": more.get("class")}

    def _dressed(self, made: Any, carried: dict) -> Any:
        for name, value in carried["slots"].items():
            if not _storage.load_slot(made, name, value):
                _storage.warn_of(name)
        return self._classed(made, carried)

    def _opaque(self, carried: dict, device: str, dtype: Any, size: tuple, stride: tuple) -> Any:
        made = _C._opaque(dtype, size, stride, device)
        if not _storage.load_slots(made, list(carried["slots"].items())):
            raise CheckpointError(
                f"load: a tensor is opaque, and no loaded plugin has its slots: {list(carried['slots'])}; see "
                "lamella.plugins.status()"
            )
        return self._classed(made, carried)

    def _classed(self, made: Any, carried: dict) -> Any:
        if carried["class"] is not None:
            from lamella.nn.parameter import Parameter

            made = _C.Tensor.__new__(Parameter, made)  # type: ignore[call-arg]
        vars(made).update(carried["attributes"])
        for name, value in carried["plugins"].items():
            if name in contributions.copied:
                setattr(made, name, value)
            else:
                _storage.warn_of(name)
        return made

    def _untyped(self, number: int) -> Any:
        flat = self._storage(number)
        return _storage.storage_of(flat)

    def _ndarray(self, number: Any, dtype: str, shape: list) -> Any:
        import numpy as np

        memory = self._array(natural(number)).numpy()
        return np.ndarray(tuple(shape), values.plain_dtype(dtype), memory.data if memory.size else b"")


def natural(x: Any) -> int:
    """Returns ``x``. Raises ValueError unless it is an int of at least 0: a negative one would count from a list's
    end."""
    if type(x) is not int or x < 0:
        raise ValueError(f"expected the number of a part, an int of at least 0, got {x!r}")
    return x


def modules_of(root: Any) -> Iterator[tuple[Place | None, str, str]]:
    """Yields the modules in an index: the place of each, the module of its class and the class's name."""
    waiting: list[tuple[Place | None, Any]] = [(None, root)] if may_hold(root) else []
    while waiting:
        place, node = waiting.pop()
        if type(node) is dict and next(iter(node), "") == "$module":
            yield place, *node["$module"]
        inner = [(Place(place, key, own), x) for key, own, x in parts_of(node) if may_hold(x)]
        waiting += reversed(inner)


def parts_of(node: Any) -> Iterator[tuple[Any, bool, Any]]:
    """Yields the parts of a container in an index: the key of each, whether that is the name of an attribute, and the
    part. The members of a module are its attributes."""
    tag = next(iter(node), "") if type(node) is dict else ""
    if tag == "$module":
        for name, x in node["state"]:
            if name in modules.MEMBERS and type(x) is dict and may_hold(x):
                yield from ((key, True, member) for key, _, member in parts_of(x))
            else:
                yield name, True, x
    elif tag == "$namespace":
        yield from ((name, True, x) for name, x in node[tag])
    elif tag in containers.MAPPINGS.values():
        yield from ((key, False, x) for key, x in node[tag])
        yield from ((name, True, x) for name, x in node.get(containers.ATTRIBUTES, ()))
    elif type(node) is dict and tag[:1] != "$":
        yield from ((key, False, x) for key, x in node.items())
    else:
        yield from ((i, False, x) for i, x in enumerate(node[tag] if tag else node))


def may_hold(x: Any) -> bool:
    """Returns whether a part of an index is a container that can hold a module."""
    if type(x) is not dict:
        return type(x) is list
    tag = next(iter(x), "")
    return tag[:1] != "$" or tag in NUMBERED - {"$array"}


class Names:
    """The tensors of an index by name: the keys and positions on the path to each, joined by dots.

    The tensors of a container that occurs twice have two names. If several tensors have one name, ``found`` has the
    first, and ``twice`` has the name.
    """

    def __init__(self, node: Any):
        self.found: dict[str, int] = {}
        self.twice: set[str] = set()
        self._nodes: list[Any] = []  # containers by Rebuilder's numbers
        self._again = 0  # above 0 within a container that has been walked before
        self._left = MOST_NAMES
        self._walk(node, "")

    def _walk(self, node: Any, prefix: str | None) -> None:
        """Walks a part. ``prefix`` is None within a part without a name, whose containers are numbered as well."""
        tag = next(iter(node), "") if type(node) is dict else ""
        if tag == "$tensor":
            number = natural(node[tag])
            if prefix is not None and self.found.setdefault(prefix, number) != number:
                self.twice.add(prefix)
        elif tag == "$same":
            again = self._nodes[natural(node[tag])]
            self._again += 1
            self._walk(again, prefix)
            self._again -= 1
        elif not tag.startswith("$") or tag in NUMBERED:
            self._left -= self._again > 0
            if self._left < 0:
                raise ValueError("its containers refer to each other too often")
            for key, x in children(node, tag):
                if type(x) in (dict, list):
                    named = prefix is not None and isinstance(key, (str, int))
                    inner = (f"{prefix}.{key}" if prefix else str(key)) if named else None
                    self._walk(x, prefix if key is HERE else inner)
            if not self._again and not (tag == "$tuple" and not node[tag]):
                self._nodes.append(node)


def children(node: Any, tag: str) -> Iterable[tuple[Any, Any]]:
    """Returns the parts of a container, with their keys, and of its attributes, with None; nothing for sets and arrays,
    whose parts have no names."""
    if type(node) is list:
        return enumerate(node)
    if not tag.startswith("$"):
        return node.items()
    if tag in ("$tuple", "$deque"):
        return enumerate(node[tag])
    if tag == "$module":
        return [(HERE if name in modules.MEMBERS else name, x) for name, x in node["state"]]
    if tag in containers.MAPPINGS.values() or tag == "$namespace":
        return [*node[tag], *((None, x) for _, x in node.get(containers.ATTRIBUTES, ()))]
    return ()
