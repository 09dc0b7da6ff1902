"""The methods of tensors that change names. Each of them gives a view with other names; none copies."""

import difflib
from collections.abc import Iterable
from typing import Any

from lamella import Tensor


def note(tensor: Tensor) -> str | None:
    """Returns the note of a tensor's printed form."""
    return f"names={tensor.names}" if any(tensor.names) else None


def has_names(self: Tensor) -> bool:
    """Returns whether a dimension has a name.

    >>> lamella.ones(2, names=["n"]).has_names(), lamella.ones(2).has_names()
    (True, False)
    """
    return any(self.names)


def there_is_no(dimension: Any, names: Iterable[str | None]) -> str:
    """Returns the part of a message that names a missing dimension, those that exist, and the nearest of them."""
    own = list(names)
    near = difflib.get_close_matches(str(dimension), [name for name in own if name], 1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    return f"there is no dimension {dimension!r}; the names are {own}{hint}"


def renamed(operator: str, tensor: Tensor, names: tuple[Any, ...], renames: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the names that a tensor has after ``rename(*names, **renames)``."""
    first = names[0] if len(names) == 1 else None
    if isinstance(first, dict):
        names, renames = (), first | renames
    if names and renames:
        raise ValueError(f"{operator}: give all names, or names by keyword such as old='new', not both")
    if renames:
        for old in renames:
            if old not in tensor.names:
                raise RuntimeError(f"{operator}: {there_is_no(old, tensor.names)}")
        return tuple(renames.get(name, name) if name else None for name in tensor.names)
    if names == (None,) and tensor.ndim != 1:
        return (None,) * tensor.ndim
    return expanded(operator, tensor, names)


def expanded(operator: str, tensor: Tensor, names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns names in which ``...`` is replaced by the tensor's own names."""
    if len(names) == 1 and isinstance(names[0], (list, tuple)):
        names = tuple(names[0])
    if names.count(...) > 1:
        raise ValueError(f"{operator}: '...' may stand once, got {list(names)}")
    if ... not in names:
        return names
    at, more = names.index(...), tensor.ndim - len(names) + 1
    if more < 0:
        raise ValueError(f"{operator}: got {len(names) - 1} names for a tensor of {tensor.ndim} dimensions")
    return (*names[:at], *tensor.names[at : at + more], *names[at + 1 :])


def alias(tensor: Tensor) -> Tensor:
    """Returns a view of all of a tensor."""
    return tensor.view_as(tensor)


def rename(self: Tensor, *names: Any, **renames: str | None) -> Tensor:
    """Returns a view with other names.

    Args:
        names: a str or None for each dimension, of which ``...`` keeps those that are not mentioned; one None drops
            all; or a dictionary of new names by the old ones
        renames: new names by the old ones

    Raises:
        RuntimeError: a name stands twice, is no identifier, or an old one is not there

    >>> x = lamella.ones(2, 3, names=["n", "c"])
    >>> x.rename("batch", "channel").names, x.rename(c="channel").names, x.rename(None).names
    (('batch', 'channel'), ('n', 'channel'), (None, None))
    """
    wanted = renamed("rename", self, names, renames)
    view = alias(self)
    view.names = wanted
    return view


def rename_(self: Tensor, *names: Any, **renames: str | None) -> Tensor:
    """Gives this tensor other names; the arguments are those of :meth:`rename`.

    >>> lamella.ones(2, 3, names=["n", "c"]).rename_(n="batch").names
    ('batch', 'c')
    """
    self.names = renamed("rename_", self, names, renames)
    return self


def refine_names(self: Tensor, *names: Any) -> Tensor:
    """Returns a view in which dimensions without a name have one. Names that are there stay.

    Args:
        names: a str or None for each dimension; ``...`` stands for those between, which stay as they are

    Raises:
        RuntimeError: a dimension has another name

    >>> lamella.ones(2, 3, 4).refine_names("n", ..., "w").names
    ('n', None, 'w')
    """
    wanted = expanded("refine_names", self, names)
    for d, (old, new) in enumerate(zip(self.names, wanted, strict=False)):
        if old and new != old:
            raise RuntimeError(
                f"refine_names: dimension {d} has the name {old!r} and would get {new!r}; rename() changes names"
            )
    view = alias(self)
    view.names = wanted
    return view


def align_to(self: Tensor, *names: Any) -> Tensor:
    """Returns a view whose dimensions have the given names, in this order.

    Dimensions that the tensor lacks have size 1. ``...`` stands for the tensor's dimensions that are not mentioned, in
    their order.

    Raises:
        RuntimeError: a dimension of the tensor has no name, or is not mentioned

    >>> x = lamella.ones(2, 3, names=["n", "c"])
    >>> x.align_to("c", "h", "n").shape, x.align_to(..., "n").names
    (lamella.Size([3, 1, 2]), ('c', 'n'))
    """
    if len(names) == 1 and isinstance(names[0], (list, tuple)):
        names = tuple(names[0])
    return aligned("align_to", self, names)


def aligned(operator: str, tensor: Tensor, names: tuple[Any, ...]) -> Tensor:
    own = tensor.names
    for name in names:
        if name is not ... and not (isinstance(name, str) and name.isidentifier()):
            raise RuntimeError(f"{operator}: expected identifiers, got {name!r} in {list(names)}")
    if None in own:
        at = own.index(None)
        raise RuntimeError(f"{operator}: dimension {at} has no name: {list(own)}; refine_names() gives it one")
    rest = [name for name in own if name not in names]
    if names.count(...) > 1:
        raise ValueError(f"{operator}: '...' may stand once, got {list(names)}")
    if ... in names:
        at = names.index(...)
        names = (*names[:at], *rest, *names[at + 1 :])
    elif rest:
        raise RuntimeError(
            f"{operator}: the tensor's dimension {rest[0]!r} is missing in {list(names)}; '...' stands for it"
        )
    if len(set(names)) < len(names):
        raise RuntimeError(f"{operator}: a name stands twice in {list(names)}")
    view = tensor.permute([own.index(name) for name in names if name in own])
    for d, name in enumerate(names):
        if name not in own:
            view = view.unsqueeze(d, name)
    return view


def align_as(self: Tensor, other: Tensor) -> Tensor:
    """Returns a view whose dimensions are those of another tensor, in its order: see :meth:`align_to`.

    >>> lamella.ones(3, names=["c"]).align_as(lamella.ones(2, 3, 4, names=["n", "c", "w"])).shape
    lamella.Size([1, 3, 1])
    """
    if not isinstance(other, Tensor):
        raise TypeError(f"align_as: argument 'other' must be a Tensor, got {type(other).__name__}")
    return aligned("align_as", self, other.names)


methods = {f.__name__: f for f in (align_as, align_to, has_names, refine_names, rename, rename_)}
