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


def test_paths():
    """Keys and their text are those of torch 2.13."""
    pairs, spec = trees.tree_flatten_with_path({"a": [1, Pair(2, (3,))], "d": deque([4])})
    texts = ["['a'][0]", "['a'][1].x", "['a'][1].y[0]", "['d'][0]"]
    assert [trees.keystr(path) for path, _ in pairs] == texts and [leaf for _, leaf in pairs] == [1, 2, 3, 4]
    assert spec == trees.tree_structure({"a": [1, Pair(2, (3,))], "d": deque([4])})
    assert pairs[1][0] == (trees.MappingKey("a"), trees.SequenceKey(1), trees.GetAttrKey("x"))
    tree = {"a": [1, Pair(2, (3,))]}
    for path, leaf in trees.tree_leaves_with_path(tree):
        assert trees.key_get(tree, path) == leaf
    made = trees.tree_map_with_path(lambda path, x, y: f"{trees.keystr(path)}={x - y}", {"b": [5, 7]}, {"b": [1, 2]})
    assert made == {"b": ["['b'][0]=4", "['b'][1]=5"]}


def test_registered_classes_have_paths_and_texts(monkeypatch):
    import dataclasses

    monkeypatch.setattr(trees, "NODES", dict(trees.NODES))
    from lamella.utils import _pytree_paths

    monkeypatch.setattr(_pytree_paths, "NODES", trees.NODES)

    @dataclasses.dataclass
    class Point:
        x: int
        y: object = None
        label: str = "p"

    trees.register_dataclass(Point, drop_field_names=["label"], serialized_type_name="test.Point")
    tree = [Point(1, (2,)), Point(3)]
    assert [trees.keystr(p) for p, _ in trees.tree_leaves_with_path(tree)] == ["[0].x", "[0].y[0]", "[1].x"]
    assert trees.tree_map(lambda v: -v, tree) == [Point(-1, (-2,)), Point(-3)]
    spec = trees.tree_structure(tree)
    assert trees.treespec_loads(trees.treespec_dumps(spec)) == spec
    with pytest.raises(ValueError, match="the fields of"):
        trees.register_dataclass(dataclasses.make_dataclass("Other", ["a", "b"]), field_names=["a"])
    with pytest.raises(ValueError, match="is no dataclass"):
        trees.register_dataclass(type("Plain", (), {}))

    class Mode(str):
        pass

    trees.register_constant(Mode)
    assert trees.tree_leaves([1, Mode("a")]) == [1]
    assert trees.tree_structure(Mode("a")) == trees.tree_structure(Mode("a")) != trees.tree_structure(Mode("b"))
    assert trees.tree_map(str, [1, Mode("a")]) == ["1", "a"]
    with pytest.raises(ValueError, match="must define __eq__"):
        trees.register_constant(type("Bare", (), {}))

    class Box:
        def __init__(self, x):
            self.x = x

    trees.register_pytree_node(Box, lambda b: ([b.x], None), lambda xs, _: Box(*xs))
    with pytest.raises(ValueError, match="has no keys; register it with argument flatten_with_keys_fn"):
        trees.tree_leaves_with_path(Box(1))
    with pytest.raises(NotImplementedError, match="has no name in the text"):
        trees.treespec_dumps(trees.tree_structure(Box(1)))


@pytest.mark.parametrize(
    "tree",
    [[], (1, None), {"b": 1, "a": [2]}, OrderedDict(z=1), deque([1], 3), defaultdict(list, a=1), defaultdict(None)],
)
def test_texts_of_forms(tree):
    spec = trees.tree_structure(tree)
    assert trees.treespec_loads(trees.treespec_dumps(spec)) == spec


def test_bad_texts():
    for text, words in [
        ('[2, {"type": null}]', "protocol 2 is unknown"),
        ('[1, {"type": "os.system", "context": "null", "children_spec": []}]', "no class is registered under the name"),
        (
            '[1, {"type": "collections.defaultdict", "context": "{\\"default_factory_module\\": \\"os\\", '
            '\\"default_factory_name\\": \\"abort\\", \\"dict_context\\": []}", "children_spec": []}]',
            "is not a builtin class",
        ),
    ]:
        with pytest.raises(ValueError, match=words):
            trees.treespec_loads(text)
    with pytest.raises(ValueError, match="'protocol' must be None or 1"):
        trees.treespec_dumps(trees.tree_structure(1), protocol=3)
    with pytest.raises(TypeError, match="must be a TreeSpec"):
        trees.treespec_dumps([1])


def test_forms_made_by_hand_and_kinds_of_tuples():
    import time

    leaf = trees.treespec_leaf()
    assert trees.treespec_tuple([leaf, leaf]) == trees.tree_structure((1, 2))
    assert trees.treespec_dict({"a": leaf}, b=leaf) == trees.tree_structure({"a": 1, "b": 2})
    assert trees.treespec_pprint(trees.tree_structure({"a": [1, (2,)]})) == "{'a': [*, (*,)]}"
    assert isinstance(leaf, trees.LeafSpec) and not isinstance(trees.treespec_tuple(), trees.LeafSpec)
    assert trees.LeafSpec() == leaf
    assert trees.is_namedtuple(Pair) and trees.is_namedtuple_instance(Pair(1, 2)) and not trees.is_namedtuple((1,))
    now = time.localtime()
    assert trees.is_structseq(now) and trees.is_structseq_class(type(now)) and not trees.is_structseq_instance((1,))
