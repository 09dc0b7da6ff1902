"""lamella.utils._pytree flattens, rebuilds and maps trees of containers, with torch 2.13's leaves and errors."""

import doctest
from collections import OrderedDict, defaultdict, deque, namedtuple

import lamella
import pytest
from lamella.utils import _pytree as trees

Pair = namedtuple("Pair", "x y")


class Keys(dict):
    """A subclass, which is a leaf."""


TREE = {
    "b": [1, (2, None)],
    "a": Pair(3, OrderedDict(z=4)),
    "d": deque([5], 7),
    "e": defaultdict(list, {"k": 6}),
    "s": {7},
    "n": [],
}
LEAVES = [1, 2, None, 3, 4, 5, 6, {7}]  # torch's


def test_leaves_and_back():
    leaves, spec = trees.tree_flatten(TREE)
    assert leaves == LEAVES == trees.tree_leaves(TREE) == list(trees.tree_iter(TREE)) and spec.num_leaves == 8
    made = trees.tree_unflatten([str(x) for x in leaves], spec)
    assert made == {
        "b": ["1", ("2", "None")],
        "a": Pair("3", {"z": "4"}),
        "d": deque(["5"]),
        "e": {"k": "6"},
        "s": "{7}",
        "n": [],
    }
    kinds = [type(made["a"]), type(made["a"].y), type(made["e"]), made["e"].default_factory, made["d"].maxlen]
    assert kinds == [Pair, OrderedDict, defaultdict, list, 7] and list(made) == list(TREE)


@pytest.mark.parametrize("leaf", [3, None, "text", Keys(a=1), lamella.ones(2), lamella.Size([1, 2])], ids=repr)
def test_leaves(leaf):
    leaves, spec = trees.tree_flatten(leaf)
    assert leaves[0] is leaf and spec.is_leaf() and spec.num_leaves == 1 and trees.tree_is_leaf(leaf)
    assert trees.tree_unflatten([5], spec) == 5


def test_equal_forms():
    form = trees.tree_structure
    assert form([1, (2,)]) == form(["a", (None,)]) and form([1]) != form((1,)) and form({"a": 1}) != form({"b": 1})


def test_maps():
    assert trees.tree_map(lambda x, y: (x, y), [1, (2,)], [3, ([4, 5],)]) == [(1, 3), ((2, [4, 5]),)]
    assert trees.tree_map(lambda x, y: x - y, {"a": 5, "b": 7}, {"b": 1, "a": 2}) == {"a": 3, "b": 6}
    assert trees.tree_map_only(int, lambda x: x + 1, [1, "a", (2.0, 3)]) == [2, "a", (2.0, 4)]
    assert trees.tree_map_only(int | float, lambda x: x + 1, [1, "a", 2.0]) == [2, "a", 3.0]
    assert trees.tree_map_only(lambda x: x == "a", str.upper, ["a", "b"]) == ["A", "b"]
    assert trees.tree_map(sum, [(1, 2), (3,)], is_leaf=lambda x: isinstance(x, tuple)) == [3, 3]
    seen = []
    assert trees.tree_map_(seen.append, TREE) is TREE and seen == LEAVES
    tensors = trees.tree_map_only(lamella.Tensor, lambda t: t * 2, {"x": lamella.ones(1), "n": 1})
    assert tensors["x"].tolist() == [2.0] and tensors["n"] == 1


def test_predicates():
    assert trees.tree_any(lambda x: x == 4, TREE) and not trees.tree_all(lambda x: x == 4, TREE)
    assert trees.tree_all_only(int, lambda x: x > 0, TREE) and not trees.tree_any_only(int, lambda x: x > 6, TREE)


@pytest.mark.parametrize(
    "tree, other, words",
    [
        ([1, (2,)], [3, (4, 5)], "Node arity mismatch; expected 1, but got 2"),
        ([1, 2], (1, 2), "Node type mismatch; expected <class 'list'>, but got <class 'tuple'>"),
        ({"a": 1}, {"b": 2}, "Node keys mismatch"),
        (Pair(1, 2), namedtuple("Other", "x y")(1, 2), "Node context mismatch"),
    ],
)
def test_other_forms(tree, other, words):
    with pytest.raises(ValueError, match=words):
        trees.tree_map(lambda x, y: x, tree, other)


def test_wrong_numbers_of_leaves():
    _, spec = trees.tree_flatten([1, 2])
    for leaves in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match=f"has length {len(leaves)} but the spec refers to a pytree that holds 2"):
            trees.tree_unflatten(leaves, spec)
    with pytest.raises(TypeError, match="'treespec' must be a TreeSpec, got list"):
        trees.tree_unflatten([1], [1])


def test_registered_classes(monkeypatch):
    class Box:
        def __init__(self, *content):
            self.content = content

    monkeypatch.setattr(trees, "NODES", dict(trees.NODES))
    trees.register_pytree_node(Box, lambda b: (list(b.content), "kept"), lambda xs, context: Box(*xs, context))
    assert trees.tree_leaves([Box(1, (2,))]) == [1, 2]
    assert trees.tree_map(lambda x: -x, Box(1, 2)).content == (-1, -2, "kept")
    with pytest.raises(ValueError, match="already registered"):
        trees.register_pytree_node(Box, None, None)


def test_the_examples():
    assert doctest.testmod(trees).failed == 0
