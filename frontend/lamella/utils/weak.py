"""Weak references to tensors, and dicts that drop a key when nothing else refers to it.

Keys are compared by identity, since ``==`` of tensors compares their elements.

>>> from lamella.utils.weak import WeakTensorKeyDictionary
>>> names, x = WeakTensorKeyDictionary(), lamella.ones(2)
>>> names[x] = "x"
>>> names[x], len(names)
('x', 1)
>>> del x
>>> len(names)
0
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from lamella import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference with the hash and the equality of its object's identity.

    >>> x, y = lamella.ones(1), lamella.ones(1)
    >>> ref = lamella.utils.weak.WeakIdRef
    >>> ref(x) == ref(x), ref(x) == ref(y)
    (True, False)
    """

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], Any] | None = None):
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __call__(self) -> Any:
        """Returns the object; None once it is gone."""
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, WeakIdRef):
            return NotImplemented
        mine = self()
        return mine is not None and mine is other()


class WeakIdKeyDictionary(MutableMapping):
    """A dict that holds its keys by weak references, and compares them by identity.

    Args:
        dict: a mapping, or pairs, to begin with
        ref_type: the class of the references

    >>> class Node:
    ...     pass
    >>> node = Node()
    >>> held = lamella.utils.weak.WeakIdKeyDictionary({node: 1})
    >>> node in held, held.pop(node), node in held
    (True, 1, False)
    """

    def __init__(self, dict: Any = None, ref_type: type[WeakIdRef] = WeakIdRef):
        self.data: Any = {}
        self.ref_type = ref_type
        myself = weakref.ref(self)

        def remove(ref: WeakIdRef) -> None:
            mapping = myself()
            if mapping is not None:
                mapping.data.pop(ref, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # no weak reference to such an object exists
            return False

    def __iter__(self) -> Iterator[Any]:
        for ref in list(self.data):
            key = ref()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return sum(ref() is not None for ref in list(self.data))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} keys>"

    def copy(self) -> WeakIdKeyDictionary:
        """Returns a dict with the same keys and values."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        from copy import deepcopy

        return type(self)({key: deepcopy(value, memo) for key, value in self.items()}, self.ref_type)

    def keyrefs(self) -> list[WeakIdRef]:
        """Returns the references, also those whose object may be gone by the time of their use."""
        return list(self.data)

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = type(self)(other, self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None  # type: ignore[assignment]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    Raises:
        TypeError: the argument is not a tensor

    >>> x = lamella.ones(1)
    >>> ref = lamella.utils.weak.TensorWeakRef(x)
    >>> ref() is x
    True
    >>> del x
    >>> print(ref())
    None
    """

    def __init__(self, tensor: Tensor):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"TensorWeakRef: argument 'tensor' must be a Tensor, got {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
