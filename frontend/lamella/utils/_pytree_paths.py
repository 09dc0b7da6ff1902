"""Trees with the paths of their leaves, text for forms of trees, and registration of dataclasses and constants.

``lamella.utils._pytree`` shows these names.

>>> from lamella.utils._pytree import keystr, tree_leaves_with_path
>>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1, (2, 3)]})]
[("['a'][0]", 1), ("['a'][1][0]", 2), ("['a'][1][1]", 3)]
"""

from __future__ import annotations

import dataclasses
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lamella.utils import _pytree
from lamella.utils._pytree import LEAF, NODES, SAVED, IsLeaf, PyTree, TreeSpec


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The position of a child in a list, a tuple or a deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Returns the child of a container."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The key of a child in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Returns the child of a container."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of a child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Returns the child of a container."""
        return getattr(obj, self.name)


KeyEntry = SequenceKey | MappingKey | GetAttrKey | Any
KeyPath = tuple[Any, ...]
MAPPINGS = (dict, OrderedDict, defaultdict)


def keystr(kp: KeyPath) -> str:
    """Returns a path as text, which follows the name of the tree, as ``['a'][0].weight``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Returns the part of a tree at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _keyed(tree: PyTree) -> list[tuple[Any, Any]]:
    """Returns the children of an inner node with their keys.

    Raises:
        ValueError: the node's class is registered without flatten_with_keys_fn
    """
    kind = _pytree._kind(tree)
    children, context = _pytree._flatten(tree)
    if kind in MAPPINGS:
        return [(MappingKey(key), child) for key, child in zip(tree, children, strict=True)]
    if kind is namedtuple:
        return [(GetAttrKey(name), child) for name, child in zip(tree._fields, children, strict=True)]
    if kind in (list, tuple, deque):
        return [(SequenceKey(i), child) for i, child in enumerate(children)]
    with_keys = NODES[kind].with_keys
    if with_keys is None:
        raise ValueError(f"tree_flatten_with_path: {kind} has no keys; register it with argument flatten_with_keys_fn")
    return list(with_keys(tree)[0])


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """Returns pairs of a leaf's path and the leaf, from left to right."""
    found: list[tuple[KeyPath, Any]] = []

    def walk(part: PyTree, path: KeyPath) -> None:
        if _pytree.tree_is_leaf(part, is_leaf):
            found.append((path, part))
            return
        for key, child in _keyed(part):
            walk(child, (*path, key))

    walk(tree, ())
    return found


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Returns pairs of a leaf's path and the leaf, and the form of the tree."""
    return tree_leaves_with_path(tree, is_leaf), _pytree.tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Returns a tree of the same form, whose leaves are ``func(path, leaf, *parts)``; ``parts`` are those of ``rests``.

    Raises:
        ValueError: one of ``rests`` has another form
    """
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(func(path, leaf, *more) for (path, leaf), *more in zip(pairs, *others, strict=True))


# ---- classes of objects ----------------------------------------------------------------------------------------------


def is_namedtuple_class(cls: Any) -> bool:
    """Returns whether a class is one of named tuples."""
    fields = getattr(cls, "_fields", None)
    is_tuple = isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple)
    return is_tuple and all(type(name) is str for name in fields or ())


def is_namedtuple_instance(obj: object) -> bool:
    """Returns whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object) -> bool:
    """Returns whether an object is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Returns whether a class is one of the structs of CPython's own modules, as that of ``time.localtime()``."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    is_tuple = isinstance(cls, type) and cls.__bases__ == (tuple,)
    return is_tuple and all(isinstance(getattr(cls, name, None), int) for name in counts)


def is_structseq_instance(obj: object) -> bool:
    """Returns whether an object is a struct of CPython's own modules."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object) -> bool:
    """Returns whether an object is a struct of CPython's own modules, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Makes objects of a dataclass inner nodes: their children are the fields of ``__init__`` that are not None.

    Args:
        field_names: the fields that are children; needed for a class that is not a dataclass
        drop_field_names: fields that are left out, and have their defaults in the rebuilt object
        serialized_type_name: the class's name in the text of ``treespec_dumps``

    Raises:
        ValueError: fields of ``__init__`` are missing from both lists, or a name is no field

    >>> import dataclasses
    >>> from lamella.utils._pytree import register_dataclass, tree_map
    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> register_dataclass(Point)
    >>> tree_map(lambda v: v + 1, Point(1, 2))
    Point(x=2, y=3)
    """
    dropped = list(drop_field_names or ())
    if dataclasses.is_dataclass(cls):
        own = [f.name for f in dataclasses.fields(cls) if f.init]
        listed = [n for n in own if n not in dropped] if field_names is None else list(field_names)
        if set(own) != {*listed, *dropped}:
            raise ValueError(
                f"register_dataclass: the fields of {cls.__name__} are {sorted(own)}, and the arguments name "
                f"{sorted({*listed, *dropped})}"
            )
    elif field_names is None:
        raise ValueError(f"register_dataclass: {cls.__name__} is no dataclass; give its attributes as field_names")
    else:
        listed = list(field_names)

    def parts(obj: Any) -> tuple[list[tuple[Any, Any]], Any]:
        there = [(n, getattr(obj, n)) for n in listed if getattr(obj, n) is not None]
        empty = [n for n in listed if getattr(obj, n) is None]
        return [(GetAttrKey(n), value) for n, value in there], [[n for n, _ in there], empty]

    def flatten(obj: Any) -> tuple[list[Any], Any]:
        pairs, context = parts(obj)
        return [value for _, value in pairs], context

    def unflatten(values: Iterable[Any], context: Any) -> Any:
        there, empty = context
        return cls(**dict(zip(there, values, strict=True)), **dict.fromkeys(empty))

    _pytree.register_pytree_node(
        cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=parts
    )


@dataclasses.dataclass(frozen=True)
class _Constant:
    """The context of a constant: equal constants have equal forms."""

    value: Any


def register_constant(cls: type) -> None:
    """Makes objects of a class parts of a tree's form: they have no leaves, and forms with equal objects are equal.

    Raises:
        ValueError: the class has no ``__eq__`` and ``__hash__`` of its own

    >>> from lamella.utils._pytree import register_constant, tree_leaves
    >>> class Mode(str):
    ...     pass
    >>> register_constant(Mode)
    >>> tree_leaves([1, Mode("train")])
    [1]
    """
    for method in ("__eq__", "__hash__"):
        if getattr(cls, method) is getattr(object, method):
            raise ValueError(f"register_constant: {cls.__name__} must define {method}")
    _pytree.register_pytree_node(
        cls, lambda obj: ((), _Constant(obj)), lambda _, held: held.value, flatten_with_keys_fn=lambda x: ((), None)
    )


# ---- forms -----------------------------------------------------------------------------------------------------------


def treespec_leaf() -> TreeSpec:
    """Returns the form of a leaf."""
    return LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """Returns the form of a tuple of the given forms."""
    return TreeSpec(tuple, None, tuple(iterable))


def treespec_dict(mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: Any) -> TreeSpec:
    """Returns the form of a dict of the given forms."""
    made = dict(mapping, **kwargs)
    return TreeSpec(dict, list(made), tuple(made.values()))


def treespec_pprint(treespec: TreeSpec) -> str:
    """Returns a form as text: the tree with a star for each leaf."""

    class Star:
        def __repr__(self) -> str:
            return "*"

    return repr(treespec.unflatten([Star() for _ in range(treespec.num_leaves)]))


PROTOCOL = 1  # the number of the text's format, which is torch's
BUILTIN: dict[str, Any] = {f"builtins.{kind.__name__}": kind for kind in (dict, list, tuple)}
BUILTIN |= {f"collections.{kind.__name__}": kind for kind in (OrderedDict, defaultdict, deque, namedtuple)}


def _named(kind: Any) -> str:
    for name, known in BUILTIN.items():
        if known is kind:
            return name
    saved = SAVED.get(kind, (None, None, None))[0]
    if saved is None:
        raise NotImplementedError(
            f"treespec_dumps: {kind} has no name in the text; register it with argument serialized_type_name"
        )
    return saved


def _class_path(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _to_text(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    context = spec.context
    if spec.type is defaultdict:
        context = {"default_factory_module": context[0].__module__, "default_factory_name": context[0].__qualname__,
                   "dict_context": context[1]} if context[0] else {"dict_context": context[1]}  # fmt: skip
    elif spec.type is namedtuple:
        context = _saved_name(context)
    elif (save := SAVED.get(spec.type, (None, None, None))[1]) is not None:
        context = save(context)
    try:
        text = json.dumps(context)
    except TypeError as error:
        raise TypeError(
            f"treespec_dumps: the context of {spec.type} is not one of JSON: {error}; register the class with argument "
            "to_dumpable_context"
        ) from None
    return {"type": _named(spec.type), "context": text, "children_spec": list(map(_to_text, spec.children_specs))}


def _saved_name(kind: type) -> str:
    return SAVED.get(kind, (None, None, None))[0] or _class_path(kind)


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Returns a form as JSON, which ``treespec_loads`` and torch read.

    Raises:
        TypeError: the argument is no form, or a context in it is not one of JSON
        ValueError: ``protocol`` is neither None nor 1
        NotImplementedError: a class in it is registered without a name

    >>> from lamella.utils._pytree import treespec_dumps, treespec_loads, tree_structure
    >>> spec = tree_structure({"a": [1, 2]})
    >>> treespec_loads(treespec_dumps(spec)) == spec
    True
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"treespec_dumps: argument 'treespec' must be a TreeSpec, got {type(treespec).__name__}")
    if protocol not in (None, PROTOCOL):
        raise ValueError(f"treespec_dumps: argument 'protocol' must be None or {PROTOCOL}, got {protocol}")
    return json.dumps((PROTOCOL, _to_text(treespec)))


def _class_of(name: str) -> Any:
    if name in BUILTIN:
        return BUILTIN[name]
    for kind, (saved, _, _) in SAVED.items():
        if saved == name:
            return kind
    raise ValueError(f"treespec_loads: no class is registered under the name {name!r}")


def _from_text(node: dict[str, Any]) -> TreeSpec:
    if node["type"] is None:
        return LEAF
    kind, context = _class_of(node["type"]), json.loads(node["context"])
    if kind is defaultdict:
        factory = context.get("default_factory_name")
        known = {f.__name__: f for f in (list, dict, set, int, float, str, tuple, bool)}
        if factory is not None and (context.get("default_factory_module") != "builtins" or factory not in known):
            raise ValueError(f"treespec_loads: the factory {factory!r} of a defaultdict is not a builtin class")
        context = [known.get(factory), context["dict_context"]]
    elif kind is namedtuple:
        found = [k for k, (saved, _, _) in SAVED.items() if saved == context]
        if not found:
            raise ValueError(
                f"treespec_loads: the named tuple {context!r} is not registered; register_pytree_node does that, with "
                "argument serialized_type_name"
            )
        context = found[0]
    elif (restore := SAVED.get(kind, (None, None, None))[2]) is not None:
        context = restore(context)
    return TreeSpec(kind, context, tuple(map(_from_text, node["children_spec"])))


def treespec_loads(serialized: str) -> TreeSpec:
    """Returns the form of a text that ``treespec_dumps``, or torch, made. No class of the text is imported.

    Raises:
        ValueError: the text is of another protocol, or names a class that is not registered
    """
    protocol, node = json.loads(serialized)
    if protocol != PROTOCOL:
        raise ValueError(f"treespec_loads: protocol {protocol} is unknown; {PROTOCOL} is known")
    return _from_text(node)
