"""Submodules: found by their dotted names, and visited in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from lamella._C import Tensor
from lamella.nn.modules._moves import Movable
from lamella.nn.parameter import Parameter

Self = TypeVar("Self", bound="Nested")


def _tensor_at(module: Any, target: str, place: str, what: str) -> Any:
    path, _, name = target.rpartition(".")
    owner = module.get_submodule(path)
    members = getattr(owner, place)
    if name not in members:
        kind = "is no" if hasattr(owner, name) else "does not exist as a"
        raise AttributeError(f"{type(owner).__name__}: `{name}` {kind} {what}")
    return members[name]


class Nested(Movable):
    """The part of Module that finds submodules, parameters and buffers."""

    def get_submodule(self, target: str) -> Any:
        """Returns the submodule with a dotted name; "" names the module itself.

        Raises:
            AttributeError: there is none, or something else has the name

        >>> lamella.nn.Sequential(lamella.nn.Identity()).get_submodule("0")
        Identity()
        """
        found: Any = self
        for i, name in enumerate(target.split(".") if target else ()):
            inner = getattr(found, name, None)
            if not isinstance(inner, Nested):
                path = ".".join(target.split(".")[:i])
                what = f"{type(found).__name__}{f' at {path!r}' if path else ''}"
                kind = "has no attribute" if inner is None else "has no Module, but another attribute,"
                raise AttributeError(f"{what} {kind} `{name}`")
            found = inner
        return found

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Replaces the submodule with a dotted name, or adds it.

        Args:
            strict: a submodule with that name must exist already

        >>> m = lamella.nn.Sequential(lamella.nn.Identity())
        >>> m.set_submodule("0", lamella.nn.Sequential())
        >>> m[0]
        Sequential()
        """
        if not target:
            raise ValueError("set_submodule: argument 'target' must not be empty; a module cannot replace itself")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if not isinstance(module, Nested):
            raise ValueError(f"set_submodule: argument 'module' must be a Module, got {type(module).__name__}")
        if (strict or hasattr(parent, name)) and not isinstance(getattr(parent, name, None), Nested):
            raise AttributeError(f"set_submodule: {type(parent).__name__} has no submodule `{name}`")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Returns the parameter with a dotted name.

        >>> lamella.nn.Sequential(lamella.nn.Linear(1, 2)).get_parameter("0.bias").shape
        lamella.Size([2])
        """
        return _tensor_at(self, target, "_parameters", "parameter")

    def get_buffer(self, target: str) -> Tensor:
        """Returns the buffer with a dotted name.

        >>> m = lamella.nn.Identity()
        >>> m.register_buffer("mean", lamella.zeros(1))
        >>> m.get_buffer("mean")
        tensor([0.])
        """
        return _tensor_at(self, target, "_buffers", "buffer")

    # ---- iteration ---------------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yields the module and all modules below it with their dotted names, each once if ``remove_duplicate``.

        >>> [name for name, _ in lamella.nn.Sequential(lamella.nn.Identity()).named_modules()]
        ['', '0']
        """
        memo = set() if memo is None else memo
        if self not in memo:
            if remove_duplicate:
                memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    inner = f"{prefix}.{name}" if prefix else name
                    yield from module.named_modules(memo, inner, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """Yields the module and all modules below it, each once.

        >>> len(list(lamella.nn.Sequential(lamella.nn.Identity()).modules()))
        2
        """
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yields the direct submodules with their names, each once.

        >>> [name for name, _ in lamella.nn.Sequential(lamella.nn.Identity()).named_children()]
        ['0']
        """
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """Yields the direct submodules, each once.

        >>> list(lamella.nn.Sequential(lamella.nn.Identity()).children())
        [Identity()]
        """
        return (module for _, module in self.named_children())

    def _named_members(
        self, members: Callable[[Any], Any], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in members(module):
                if member is not None and (not remove_duplicate or member not in seen):
                    if remove_duplicate:
                        seen.add(member)
                    yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yields the parameters with their dotted names, each once if ``remove_duplicate``; without ``recurse`` only
        the module's own.

        >>> [name for name, _ in lamella.nn.Linear(1, 1).named_parameters("head")]
        ['head.weight', 'head.bias']
        """
        return self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yields the parameters, each once; without ``recurse`` only the module's own.

        >>> sum(p.numel() for p in lamella.nn.Linear(2, 3).parameters())
        9
        """
        return (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yields the buffers with their dotted names, each once if ``remove_duplicate``; without ``recurse`` only the
        module's own.

        >>> list(lamella.nn.Identity().named_buffers())
        []
        """
        return self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yields the buffers, each once; without ``recurse`` only the module's own.

        >>> list(lamella.nn.Identity().buffers())
        []
        """
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def apply(self: Self, fn: Callable[[Any], Any]) -> Self:
        """Calls a function with each submodule and then with the module itself, which is returned.

        >>> m = lamella.nn.Sequential(lamella.nn.Identity()).apply(lambda module: print(type(module).__name__))
        Identity
        Sequential
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self
