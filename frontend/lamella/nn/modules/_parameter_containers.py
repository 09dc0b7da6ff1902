"""Lists and dictionaries of parameters, under the names that ``lamella.nn.modules.container`` exports."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lamella._C import Tensor
from lamella._devices import host
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter


def pairs(who: str, given: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(given, Mapping) or isinstance(given, Module) and hasattr(given, "items"):
        yield from given.items()
        return
    if not isinstance(given, Iterable):
        raise TypeError(f"{who}: takes a mapping, or pairs of a key and a value; got {type(given).__name__}")
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{who}: element {i} must be a pair, got {type(pair).__name__}")
        values = list(pair)
        if len(values) != 2:
            raise ValueError(f"{who}: element {i} must be a pair, got {len(values)} values")
        yield values[0], values[1]


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(key: str, value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    place = "" if value.device.type == host().type else f" ({value.device})"
    return f"  ({key}): {kind} containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}{place}]"


def _name_at(row: ParameterList, index: int) -> str:
    n, i = row._size, operator.index(index)
    if not -n <= i < n:
        raise IndexError(f"index {i} is out of range for a {type(row).__name__} of {n} parameters")
    return str(i % n)


class ParameterList(Module):
    """A list of parameters; tensors become parameters, and other values are kept as they are.

    >>> scales = lamella.nn.ParameterList([lamella.ones(2), lamella.ones(3)])
    >>> [p.shape for p in scales]
    [lamella.Size([2]), lamella.Size([3])]
    """

    def __init__(self, values: Iterable[Any] | None = None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(self[i] for i in range(*index.indices(len(self))))
        return getattr(self, _name_at(self, index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, _name_at(self, index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Adds a parameter at the end; returns the list.

        >>> len(lamella.nn.ParameterList().append(lamella.ones(2)))
        1
        """
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds parameters at the end; returns the list.

        >>> len(lamella.nn.ParameterList().extend([lamella.ones(2), lamella.ones(3)]))
        2
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend: takes a list of parameters, got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_described(str(i), value) for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called: it has no forward()")


class ParameterDict(Module):
    """A dictionary of parameters; tensors become parameters, and other values are kept as they are.

    >>> named = lamella.nn.ParameterDict({"left": lamella.ones(2)})
    >>> named["left"].shape, list(named)
    (lamella.Size([2]), ['left'])
    """

    def __init__(self, parameters: Any = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"ParameterDict: keys must be str, got {type(key).__name__}")
        kept = _as_parameter(value)
        if isinstance(kept, Parameter) and key not in self._keys and hasattr(self, key):
            raise KeyError(f"ParameterDict: attribute {key!r} already exists, and cannot be a key")
        self._keys[key] = None
        setattr(self, key, kept)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """Returns the names.

        >>> list(lamella.nn.ParameterDict({"a": lamella.ones(1)}).keys())
        ['a']
        """
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Returns the pairs of name and parameter.

        >>> [(key, p.shape) for key, p in lamella.nn.ParameterDict({"a": lamella.ones(1)}).items()]
        [('a', lamella.Size([1]))]
        """
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """Returns the parameters.

        >>> [p.shape for p in lamella.nn.ParameterDict({"a": lamella.ones(1)}).values()]
        [lamella.Size([1])]
        """
        return (self[key] for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the parameter with a name, or the default.

        >>> lamella.nn.ParameterDict().get("a", 1)
        1
        """
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Returns the parameter with a name; if there is none, sets it to the default first.

        >>> lamella.nn.ParameterDict().setdefault("a", lamella.ones(2)).shape
        lamella.Size([2])
        """
        if key not in self._keys:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Removes all parameters.

        >>> named = lamella.nn.ParameterDict({"a": lamella.ones(1)})
        >>> named.clear()
        >>> len(named)
        0
        """
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Removes a parameter and returns it.

        >>> lamella.nn.ParameterDict({"a": lamella.ones(1)}).pop("a").shape
        lamella.Size([1])
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Removes the newest parameter and returns its name and value.

        >>> lamella.nn.ParameterDict({"a": lamella.ones(1)}).popitem()[0]
        'a'
        """
        if not self._keys:
            raise KeyError("popitem: the ParameterDict is empty")
        key = list(self._keys)[-1]
        return key, self.pop(key)

    def copy(self) -> ParameterDict:
        """Returns a new dictionary with the same parameters.

        >>> named = lamella.nn.ParameterDict({"a": lamella.ones(1)})
        >>> named.copy()["a"] is named["a"]
        True
        """
        return ParameterDict(OrderedDict(self.items()))

    @classmethod
    def fromkeys(cls, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Returns a dictionary with one value for all names.

        >>> list(lamella.nn.ParameterDict.fromkeys(["a", "b"]))
        ['a', 'b']
        """
        return cls((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """Adds the parameters of a mapping or of pairs. Those of a mapping other than an OrderedDict are
        added in the order of their names, as in torch.

        >>> named = lamella.nn.ParameterDict()
        >>> named.update({"a": lamella.ones(1)})
        >>> len(named)
        1
        """
        new = pairs("ParameterDict.update", parameters)
        unordered = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        for key, value in sorted(new, key=lambda pair: pair[0]) if unordered else new:
            self[key] = value

    def __or__(self, other: Any) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        made = other.copy()
        made.update(self.items())
        return made

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_described(key, value) for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called: it has no forward()")
