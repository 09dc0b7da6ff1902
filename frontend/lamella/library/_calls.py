"""What a handler may ask of its call: the operator's forms and arguments, and the layers that were on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from lamella import _C

from ._rules import found

FORMS = {"functional": "functional", "inplace": "in-place", "out": "out"}


class Argument(NamedTuple):
    """An argument of an operator's schema. ``default`` is None if there is none; ``written`` marks one in ``(a!)``,
    and ``dim`` one that names dimensions."""

    name: str
    type: str
    keyword_only: bool = False
    has_default: bool = False
    default: Any = None
    written: bool = False
    dim: bool = False


class Description(NamedTuple):
    """An operator as its schema describes it.

    Attributes:
        name: "aten::sum"
        overload: "dim_IntList", perhaps empty
        form: "functional", "in-place" or "out"
        functional: the full name of the functional form, as "aten::sum.dim_IntList"; for that form its own
        category: "reduction"; empty if it has none
        arguments: in the schema's order, with the outputs of an out= form
        returns: the types of the results
        dims: how the results' dimensions follow from the arguments', as "reduce"; empty if the operator does not say
        effects: "state" if a call reads or writes what none of its arguments shows, as operators of the categories
            "random" and "host" do; else empty
        since: the version of the namespace in which the operator got the arguments that it has now
    """

    name: str
    overload: str
    form: str
    functional: str
    category: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]
    dims: str = ""
    effects: str = ""
    since: int = 1

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Returns a call's arguments by name, in the schema's order, with the defaults of those that are left out.

        Raises:
            TypeError: there are too many arguments, an unknown one, one with two values, or one is missing

        >>> lamella.library.describe("aten::sum.dim_IntList").bind([lamella.ones(2), 0])["keepdim"]
        False
        """
        kwargs = kwargs or {}
        positional = [a.name for a in self.arguments if not a.keyword_only]
        if len(args) > len(positional):
            raise TypeError(f"bind: {self.name} takes {len(positional)} positional arguments, got {len(args)}")
        given = dict(zip(positional, args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"bind: {self.name} got two values for argument '{name}'")
            given[name] = value
        bound = {}
        for a in self.arguments:
            if a.name not in given and not a.has_default:
                raise TypeError(f"bind: {self.name} has no value for argument '{a.name}'")
            bound[a.name] = given.pop(a.name) if a.name in given else a.default
        if given:
            raise TypeError(f"bind: {self.name} has no argument '{next(iter(given))}'")
        return bound


def describe(op: Any) -> Description:
    """Describes an operator, or the one that a layer's handler or a category's kernel is called for.

    Args:
        op: a packet of one overload, a name with its overload, as "aten::sum.dim_IntList", or the handler's `Call`

    Raises:
        RuntimeError: there is no such operator, it has several overloads, or the handler of the call has returned

    >>> d = lamella.library.describe("aten::add_.Tensor")
    >>> d.form, d.functional, [a.name for a in d.arguments if a.written]
    ('in-place', 'aten::add.Tensor', ['self'])
    >>> def handler(call, *args, **kwargs):
    ...     print(lamella.library.describe(call).bind(args, kwargs)["alpha"])
    ...     return call(*args, **kwargs)
    >>> layer, x = lamella.library.register_layer("alphas", handler), lamella.ones(1)
    >>> with layer.on():
    ...     _ = lamella.add(x, x)
    1
    >>> layer.remove()
    """
    if not isinstance(op, _C.Call):
        return _described(*found("describe", op))
    _check_running("describe", op)
    return _described(f"{op.name}.{op.overload}" if op.overload else op.name, op.schema)


def _check_running(who: str, call: _C.Call) -> None:
    """Raises RuntimeError if the handler of a call has returned, after which the call describes no operator."""
    if not call.name:
        raise RuntimeError(f"{who}: the handler of this call has returned; use the call before that")


@lru_cache(maxsize=4096)
def _described(name: str, schema: str) -> Description:
    """Describes the operator of a full name. ``schema`` is part of the key, since an operator may be defined anew."""
    d = _C._describe(name)
    arguments = tuple(
        Argument(a["name"], a["type"], a["keyword_only"], a["has_default"], a["value"], a["written"], a["dim"])
        for a in d["args"]
    )
    returns = tuple(kind for kind, _ in d["returns"])
    about = (d["name"], d["overload"], FORMS[d["form"]], d["functional"], d["category"], arguments, returns, d["dims"])
    return Description(*about, "state" if d["effects"] else "", d["since"])


forget_descriptions = _described.cache_clear  # a new definition with the same schema may differ in the rest


@contextmanager
def as_called(call: _C.Call) -> Iterator[None]:
    """Gives the thread, within a handler's block, the layers that were on when the call of the handler began.

    Operators that a handler calls skip its own layer and those passed before it. Within the block they skip only what
    the caller had switched off, as by ``no_grad``: the handler's own layer sees them too, so that it must end its
    recursion itself.

    Raises:
        RuntimeError: the handler of the call has returned

    >>> depths = []
    >>> def handler(call, x):
    ...     depths.append(x.item())
    ...     if x.item() > 1:
    ...         with lamella.library.as_called(call):
    ...             return lamella.neg(x - 1)
    ...     return call(x)
    >>> lib = lamella.library.Library("aten", "IMPL")
    >>> layer = lib.register_layer("counting", fallthrough=True)
    >>> _ = lib.impl("neg", handler, "counting")
    >>> with layer.on():
    ...     y = lamella.neg(lamella.tensor(3))
    >>> y, depths
    (tensor(-1), [3, 2, 1])
    >>> lib.close()
    """
    _check_running("as_called", call)
    include, exclude = _C._thread_layers()
    _C._set_thread_layers(include, call.excluded)
    try:
        yield
    finally:
        _C._set_thread_layers(include, exclude)
