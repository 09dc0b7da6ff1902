"""Containers of modules: a sequence, a list and a dictionary; and lists and dictionaries of parameters."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from lamella.nn.modules._parameter_containers import ParameterDict, ParameterList, pairs
from lamella.nn.modules.module import Module, _indented

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _name_at(row: Module, index: int) -> str:
    """Returns the name of the module at an index, which may be negative."""
    n, i = len(row._modules), operator.index(index)
    if not -n <= i < n:
        raise IndexError(f"index {i} is out of range for a {type(row).__name__} of {n} modules")
    return next(islice(row._modules, i % n, None))


def _renumber(row: Module, modules: Iterable[Module]) -> None:
    """Makes ``modules`` the modules of a row, numbered from 0."""
    kept = list(modules)
    row._modules.clear()
    row._modules.update((str(i), m) for i, m in enumerate(kept))


def _repeated(row: _Row, times: int) -> list[Any]:
    if not isinstance(times, int):
        raise TypeError(f"Sequential * {type(times).__name__}: the number of repetitions must be an int")
    if times <= 0:
        raise ValueError(f"Sequential * {times}: the number of repetitions must be at least 1")
    return list(row) * times


class Container(Module):
    """Modules by name. This is torch's old container; a warning recommends another one.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     list(lamella.nn.Container(first=lamella.nn.ReLU()).children())
    [ReLU()]
    """

    def __init__(self, **modules: Any):
        super().__init__()
        warnings.warn("nn.Container is deprecated; use Sequential, ModuleList or ModuleDict", FutureWarning, 2)
        for name, module in modules.items():
            self.add_module(name, module)


class _Row(Module):
    """Modules by their index, as a list."""

    _modules: dict[str, Any]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, _name_at(self, index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [_name_at(self, index)]
        _renumber(self, [m for name, m in self._modules.items() if name not in names])

    def append(self, module: Module) -> Any:
        """Adds a module at the end; returns the container.

        >>> lamella.nn.Sequential().append(lamella.nn.Identity())
        Sequential(
          (0): Identity()
        )
        """
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Inserts a module before an index; returns the container.

        >>> lamella.nn.ModuleList([lamella.nn.ReLU()]).insert(0, lamella.nn.Identity())[0]
        Identity()
        """
        kept = list(self._modules.values())
        if not isinstance(module, Module):
            raise TypeError(f"insert: argument 'module' must be a Module, got {type(module).__name__}")
        if not -len(kept) <= index <= len(kept):
            raise IndexError(f"insert: index {index} is out of range for {len(kept)} modules")
        kept.insert(index, module)
        _renumber(self, kept)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Adds modules at the end; returns the container.

        >>> len(lamella.nn.ModuleList().extend([lamella.nn.ReLU(), lamella.nn.Identity()]))
        2
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"extend: argument 'modules' must be iterable, got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Removes a module and returns it.

        >>> lamella.nn.ModuleList([lamella.nn.ReLU()]).pop(0)
        ReLU()
        """
        taken = self[key]  # type: ignore[index]
        del self[key]
        return taken

    def __iadd__(self, other: Any) -> Any:
        return self.extend(other)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Row):
    """Calls its modules in sequence, each with the result of the one before.

    Its arguments are modules, or one ordered dict of names and modules.

    >>> double = lamella.nn.Sequential(lamella.nn.ReLU(), lamella.nn.Identity())
    >>> double(lamella.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    >>> double[:1]
    Sequential(
      (0): ReLU()
    )
    """

    def __init__(self, *args: Any):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name) if isinstance(name, int) else name, module)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[_name_at(self, index)]

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential + {type(other).__name__}: both must be Sequential")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential += {type(other).__name__}: both must be Sequential")
        return self.extend(other)

    def __mul__(self, times: int) -> Any:
        return Sequential(*_repeated(self, times))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Any:
        _renumber(self, _repeated(self, times))
        return self

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Row):
    """A list of modules, which the ``forward`` of the module that contains it calls.

    >>> layers = lamella.nn.ModuleList(lamella.nn.Linear(2, 2) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[_name_at(self, index)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        made = ModuleList()
        for i, module in enumerate(chain(self, other)):
            made.add_module(str(i), module)
        return made

    def __repr__(self) -> str:
        runs: list[list[Any]] = []  # first index, last index, text
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = (
            f"\n  ({i}): {_indented(text)}" if i == k else f"\n  ({i}-{k}): {k - i + 1} x {_indented(text)}"
            for i, k, text in runs
        )
        return f"{self._get_name()}(" + "".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules, in the order of their insertion.

    >>> heads = lamella.nn.ModuleDict({"a": lamella.nn.Identity(), "b": lamella.nn.ReLU()})
    >>> heads["b"](lamella.tensor([-1.0]))
    tensor([0.])
    >>> "a" in heads, len(heads)
    (True, 2)
    """

    def __init__(self, modules: Any = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes all modules.

        >>> heads = lamella.nn.ModuleDict({"a": lamella.nn.Identity()})
        >>> heads.clear()
        >>> len(heads)
        0
        """
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Removes a module and returns it.

        >>> lamella.nn.ModuleDict({"a": lamella.nn.Identity()}).pop("a")
        Identity()
        """
        return self._modules.pop(key)

    def keys(self) -> Any:
        """Returns the names.

        >>> list(lamella.nn.ModuleDict({"a": lamella.nn.Identity()}).keys())
        ['a']
        """
        return self._modules.keys()

    def items(self) -> Any:
        """Returns the pairs of name and module.

        >>> list(lamella.nn.ModuleDict({"a": lamella.nn.Identity()}).items())
        [('a', Identity())]
        """
        return self._modules.items()

    def values(self) -> Any:
        """Returns the modules.

        >>> list(lamella.nn.ModuleDict({"a": lamella.nn.Identity()}).values())
        [Identity()]
        """
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Adds the modules of a mapping, or of pairs.

        >>> heads = lamella.nn.ModuleDict()
        >>> heads.update([("a", lamella.nn.Identity())])
        >>> heads["a"]
        Identity()
        """
        for key, module in pairs("ModuleDict.update", modules):
            self[key] = module
