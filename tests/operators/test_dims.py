"""What operators say of their dimensions: every text is true of every sample, and a lie is found."""

from contextlib import closing

import lamella
import pytest
from catalogue import BY_TITLE, FUNCTIONAL
from lamella.library import Library, _dims
from lamella.library._opcheck import Case
from lamella.operators import samples

SAYS = [t for t in FUNCTIONAL if BY_TITLE[t]["dims"]]
UNSET = {"empty_like"}  # its values are those that its memory had


def fault(sample, text):
    """Returns how a sample contradicts a text; None if it does not, or if another overload serves the sample."""
    args, kwargs = sample.build()
    case = Case("aten::" + sample.operator, args, kwargs)
    try:
        case.call(*case.fresh())
    except TypeError:
        return None
    return _dims.fault(case, text)


@pytest.mark.sweep
@pytest.mark.parametrize("operator", [t for t in SAYS if t not in UNSET])
def test_samples_agree(operator):
    text = BY_TITLE[operator]["dims"]
    found = [f"{s}: the text {text!r} {what}" for s in samples.of(operator) if (what := fault(s, text))]
    assert not found, "\n".join(found[:12])


def test_most_of_the_catalogue_says():
    shown = [t for t in FUNCTIONAL if not BY_TITLE[t]["private"] and BY_TITLE[t]["category"] != "lists"]
    assert sum(t in SAYS for t in shown) > 0.7 * len(shown)
    assert all(BY_TITLE[t]["dims"] == "broadcast" for t in FUNCTIONAL if BY_TITLE[t]["category"] == "pointwise")


def test_define_takes_every_text():
    """`define` checks a text when it is called; the catalogue's are read later, and are checked here."""
    with closing(Library("dims_again", "DEF")) as lib:
        for t in SAYS:
            lib.define(BY_TITLE[t]["schema"].removeprefix("aten::"), dims=BY_TITLE[t]["dims"])
            assert lamella.library.describe("dims_again::" + t).dims == BY_TITLE[t]["dims"]


@pytest.mark.parametrize(("form", "of"), [("neg_", "neg"), ("neg.out", "neg"), ("cumsum_", "cumsum")])
def test_forms_say_what_the_functional_form_does(form, of):
    assert lamella.library.describe("aten::" + form).dims == lamella.library.describe("aten::" + of).dims


LIES = [
    ("softmax.int", "broadcast"),
    ("cumsum", "broadcast"),
    ("sort", "broadcast"),
    ("sum", "keep"),
    ("sum.dim_IntList", "keep"),
    ("cat", "broadcast"),
    ("mm", "i k, j k -> i j"),
    ("mm", "i k, k j -> j i"),
    ("bmm", "b i k, b k j -> b j i"),
    ("tril", "... h w -> ... h w"),
    ("flipud", "a ... -> a ..."),
    ("batch_norm", "n c ..., c, c, c, c -> n c ..."),
    ("group_norm", "n c ..., c, c -> n c ..."),
    ("layer_norm", "broadcast"),
    ("conv2d", "... c~ h w, o~ i~ kh~ kw~, o~ -> ... o~ h w"),
    ("max_pool2d", "broadcast"),
    ("embedding", "v d, ... -> ... d"),
    ("t", "a b -> b a"),
    ("diag", "i~ -> a b"),
    ("scaled_dot_product_attention", "... l e, ... s e, ... s v, ... l s -> ... l v"),
    ("glu", "reduce"),
]


@pytest.mark.parametrize(("operator", "text"), LIES)
def test_a_lie_is_found(operator, text):
    assert any(fault(s, text) for s in samples.of(operator))


@pytest.mark.parametrize(
    ("operator", "args", "text", "words"),
    [
        ("cumsum", (lamella.arange(6.0).view(2, 3), 0), "broadcast", ["dimension -2", "other indices", "result 0"]),
        ("mm", (lamella.ones(2, 3), lamella.ones(3, 4)), "i k, k j -> j i", ["'j'", "4", "(2, 4)"]),
        ("mm", (lamella.ones(2, 3), lamella.ones(3, 4)), "i k, k j -> i", ["1 dimensions", "(2, 4)"]),
        ("mm", (lamella.ones(2, 3), lamella.ones(3, 4)), "i, k j -> i j", ["no pattern", "'self'", "(2, 3)"]),
        ("dot", (lamella.arange(3.0), lamella.ones(3)), "k, k -> k", ["1 dimensions"]),
        ("flip", (lamella.arange(3.0), [0]), "a -> a", ["'a'", "result 0"]),
        ("argmax", (lamella.arange(3.0),), "a ->", ["'a'", "permuted indices"]),
        ("neg", (lamella.ones(2),), "a, b -> a", ["2 groups", "1 tensors"]),
        ("neg", (lamella.ones(2),), "same", ["'->'"]),
        ("neg", (lamella.ones(2),), "a! -> a", ["no name"]),
    ],
)
def test_a_lie_is_described(operator, args, text, words):
    found = _dims.fault(Case("aten::" + operator, args, {}), text)
    assert found is not None
    assert all(w in found for w in words), found


def test_arguments_that_name_dimensions():
    named = {t: {a["name"] for a in BY_TITLE[t]["args"] if a["dim"]} for t in FUNCTIONAL}
    for t, names in {
        "sum.dim_IntList": {"dim"},
        "transpose.int": {"dim0", "dim1"},
        "flatten.using_ints": {"start_dim", "end_dim"},
        "swapaxes": {"axis0", "axis1"},
        "unfold": {"dimension"},
        "movedim.int": {"source", "destination"},
        "movedim.intlist": {"source", "destination"},
        "tensordot": set(),  # dimensions of two tensors
        "flip": {"dims"},
        "diag_embed": {"dim1", "dim2"},
        "tensordot.int": set(),  # a number of dimensions
        "tile": set(),  # repeats
        "index_add": {"dim"},  # its source is a tensor
        "random_.from": set(),
    }.items():
        assert named[t] == names, t
    every = {n for names in named.values() for n in names}
    words = "dim dims dim0 dim1 dim2 start_dim end_dim axis axis0 axis1 dimension source destination"
    assert every == set(words.split())
