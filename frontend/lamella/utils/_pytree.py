"""Trees of containers, under the names by which programs for torch import them: flatten, rebuild and map.

Inner nodes are dicts, lists, tuples, deques, OrderedDicts and defaultdicts, named tuples, results of operators with
names as ``lamella.return_types.max``, and objects of registered classes. Anything else is a leaf: None, Size, and a
dict or list of a subclass as well. Keys of dicts keep their order.

>>> from lamella.utils._pytree import tree_flatten, tree_map, tree_unflatten
>>> leaves, spec = tree_flatten({"a": [1, (2, None)], "b": 3})
>>> leaves
[1, 2, None, 3]
>>> tree_unflatten([x if x is None else -x for x in leaves], spec)
{'a': [-1, (-2, None)], 'b': -3}
>>> tree_map(max, [1, (5,)], [3, (4,)])
[3, (5,)]
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Any, NamedTuple

PyTree = Any
IsLeaf = Callable[[Any], bool] | None


class Node(NamedTuple):
    """The functions of a class of containers: one gives children and context, the other makes a container of these."""

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]
    with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None  # gives pairs of key and child


@dataclass(frozen=True)
class TreeSpec:
    """The form of a tree without its leaves; the type of a leaf's form is None."""

    type: Any
    context: Any
    children_specs: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        return 1 if self.is_leaf() else sum(child.num_leaves for child in self.children_specs)

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        return self.type is None

    def flatten_up_to(self, tree: PyTree) -> list[Any]:
        """Returns the parts of a tree that are where this form has leaves.

        Raises:
            ValueError: the tree has another form
        """
        if self.is_leaf():
            return [tree]
        kind = _kind(tree)
        if kind is not self.type:
            raise ValueError(f"tree_map: Node type mismatch; expected {self.type}, but got {type(tree)}")
        children, context = _flatten(tree)
        if kind in (dict, OrderedDict, defaultdict):
            keys = list(tree)
            own = self.context[1] if kind is defaultdict else self.context
            if set(keys) != set(own):
                raise ValueError(f"tree_map: Node keys mismatch; expected {own}, but got {keys}")
            children = [tree[key] for key in own]
        elif len(children) != self.num_children:
            raise ValueError(f"tree_map: Node arity mismatch; expected {self.num_children}, but got {len(children)}")
        elif kind is not deque and context != self.context:
            raise ValueError(f"tree_map: Node context mismatch; expected {self.context!r}, but got {context!r}")
        return [x for spec, child in zip(self.children_specs, children, strict=True) for x in spec.flatten_up_to(child)]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Returns the tree of this form with the given leaves.

        Raises:
            ValueError: there are more leaves than the form has, or fewer
        """
        listed = list(leaves)
        if len(listed) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(listed)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})"
            )
        return self._built(iter(listed))

    def _built(self, leaves: Iterator[Any]) -> PyTree:
        if self.is_leaf():
            return next(leaves)
        return NODES[self.type].unflatten([child._built(leaves) for child in self.children_specs], self.context)


LEAF = TreeSpec(None, None, ())
PyTreeSpec = TreeSpec
Context = Any
DumpableContext = Any
FlattenFn = Callable[[Any], tuple[Iterable[Any], Any]]
UnflattenFn = Callable[[Iterable[Any], Any], Any]
ToDumpableContextFn = Callable[[Any], Any]
FromDumpableContextFn = Callable[[Any], Any]
# Maps a class to its name in the text of treespec_dumps and to its functions for contexts.
SAVED: dict[Any, tuple[str | None, Callable[[Any], Any] | None, Callable[[Any], Any] | None]] = {}


class _IsLeafSpec(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(metaclass=_IsLeafSpec):
    """The form of a leaf: ``LeafSpec()`` returns it, and ``isinstance(spec, LeafSpec)`` is ``spec.is_leaf()``."""

    def __new__(cls) -> Any:
        return LEAF


NODES: dict[Any, Node] = {
    dict: Node(lambda d: (d.values(), list(d)), lambda xs, keys: dict(zip(keys, xs, strict=True))),
    OrderedDict: Node(lambda d: (d.values(), list(d)), lambda xs, keys: OrderedDict(zip(keys, xs, strict=True))),
    defaultdict: Node(
        lambda d: (d.values(), [d.default_factory, list(d)]),
        lambda xs, context: defaultdict(context[0], zip(context[1], xs, strict=True)),
    ),
    list: Node(lambda xs: (xs, None), lambda xs, _: list(xs)),
    tuple: Node(lambda xs: (xs, None), lambda xs, _: tuple(xs)),
    deque: Node(lambda xs: (xs, xs.maxlen), lambda xs, maxlen: deque(xs, maxlen)),
    namedtuple: Node(lambda xs: (xs, type(xs)), lambda xs, kind: kind(*xs)),
}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Makes objects of a class inner nodes. The first function returns children and a context; the second takes them.

    Args:
        serialized_type_name: the class's name in the text of ``treespec_dumps``
        to_dumpable_context, from_dumpable_context: turn the context into values of JSON, and back
        flatten_with_keys_fn: returns pairs of key and child, and the context, for ``tree_flatten_with_path``

    Raises:
        ValueError: the class has been registered, or one of the functions for contexts is given without the other
    """
    if cls in NODES:
        raise ValueError(f"register_pytree_node: {cls} is already registered as pytree node")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            "register_pytree_node: to_dumpable_context and from_dumpable_context must both be given, or neither"
        )
    NODES[cls] = Node(flatten_fn, unflatten_fn, flatten_with_keys_fn)
    SAVED[cls] = (serialized_type_name, to_dumpable_context, from_dumpable_context)


_LATER = (  # names of _pytree_paths.py, which is imported at their first use
    "GetAttrKey KeyEntry KeyPath MappingKey SequenceKey is_namedtuple is_namedtuple_class is_namedtuple_instance "
    "is_structseq is_structseq_class is_structseq_instance key_get keystr register_constant register_dataclass "
    "tree_flatten_with_path tree_leaves_with_path tree_map_with_path treespec_dict treespec_dumps treespec_leaf "
    "treespec_loads treespec_pprint treespec_tuple"
).split()


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'lamella.utils._pytree' has no attribute '{name}'")
    from importlib import import_module

    globals()[name] = found = getattr(import_module("lamella.utils._pytree_paths"), name)
    return found


def _kind(tree: PyTree) -> Any:
    """Returns the key in NODES; None for a leaf."""
    kind = type(tree)
    if kind in NODES:
        return kind
    if not isinstance(tree, tuple):
        return None
    if hasattr(tree, "_fields"):
        return namedtuple
    return _with_results(kind) if kind.__module__ == "lamella.return_types" else None


def _with_results(kind: Any) -> Any:
    """Makes a type of ``lamella.return_types`` an inner node when it is first seen, and returns it."""

    def with_keys(results: Any) -> tuple[Iterable[tuple[Any, Any]], Any]:
        return zip(map(__getattr__("GetAttrKey"), kind.__match_args__), results, strict=True), None

    SAVED[kind] = (f"{kind.__module__}.{kind.__name__}", None, None)
    NODES[kind] = Node(lambda xs: (xs, None), lambda xs, _: kind(xs), with_keys)
    return kind


def _flatten(tree: PyTree) -> tuple[list[Any], Any]:
    children, context = NODES[_kind(tree)].flatten(tree)
    return list(children), context


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Returns whether a tree is a leaf. ``is_leaf`` makes leaves of inner nodes for which it is true."""
    return _kind(tree) is None or (is_leaf is not None and is_leaf(tree))


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Returns the leaves from left to right, and the tree's form, which ``tree_unflatten`` takes."""
    leaves: list[Any] = []
    return leaves, _spec_of(tree, is_leaf, leaves)


def _spec_of(tree: PyTree, is_leaf: IsLeaf, leaves: list[Any]) -> TreeSpec:
    """Returns a tree's form, and appends its leaves to the list.

    It is no closure of tree_flatten: a closure that calls itself would keep the leaves alive until the next collection.
    """
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return LEAF
    children, context = _flatten(tree)
    return TreeSpec(_kind(tree), context, tuple([_spec_of(child, is_leaf, leaves) for child in children]))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Returns the tree of a form with the given leaves.

    Raises:
        TypeError: ``treespec`` is no form
        ValueError: there are more leaves than the form has, or fewer
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten: argument 'treespec' must be a TreeSpec, got {type(treespec).__name__}")
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """Yields the leaves from left to right."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """Returns the leaves from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """Returns the form of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Returns a tree of the same form, whose leaves are the function's results.

    The function gets each leaf, and the parts of ``rests`` at its place.

    Raises:
        ValueError: one of ``rests`` has another form
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Calls a function as ``tree_map`` does, and returns the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _chooser(chosen: Any) -> Callable[[Any], bool]:
    return (lambda x: isinstance(x, chosen)) if isinstance(chosen, type | tuple | UnionType) else chosen


def tree_map_only(chosen: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Returns a tree whose leaves of a type, of several, or that fulfil a predicate, are the function's results."""
    fits = _chooser(chosen)
    return tree_map(lambda x: func(x) if fits(x) else x, tree, is_leaf=is_leaf)


def tree_map_only_(chosen: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Calls a function as ``tree_map_only`` does, and returns the tree itself."""
    tree_map_only(chosen, func, tree, is_leaf)
    return tree


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Returns whether all leaves fulfil a predicate."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Returns whether any leaf fulfils a predicate."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(chosen: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Returns whether all leaves of a type, or of several, fulfil a predicate."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, chosen))


def tree_any_only(chosen: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Returns whether any leaf of a type, or of several, fulfils a predicate."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, chosen))
