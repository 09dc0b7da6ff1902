"""The catalogue as a whole: kernels, shape rules, documentation, stubs and samples of every operator."""

import re
from dataclasses import replace
from pathlib import Path

import lamella
import pytest
from lamella.operators import samples

CATEGORIES = """
pointwise reduction scan view creation copy indexing scatter sort matmul convolution pooling normalization random linalg
fft dynamic host lists
""".split()
LIVE = [o for o in lamella._C._operators() if o["owner"] == "lamella"]


def title(o):
    """Returns namespace::name.overload."""
    return o["schema"].partition("(")[0]


def functional():
    return [o for o in LIVE if o["form"] == "functional"]


def keys(o):
    return {key for key, _ in o["kernels"]}


def needs_no_kernel(o):
    """Returns whether the operator needs only a shape rule, as views and uninitialized memory do."""
    return o["shape_rule"] and (o["category"] == "view" or o["name"].startswith("aten::empty"))


@pytest.mark.parametrize("o", functional(), ids=title)
def test_someone_computes_it(o):
    assert keys(o) & {"cpu", "composite"} or needs_no_kernel(o)


@pytest.mark.parametrize("o", functional(), ids=title)
def test_meta_has_a_rule(o):
    assert o["shape_rule"] or "composite" in keys(o)


@pytest.mark.parametrize("o", functional(), ids=title)
def test_it_says_where_it_comes_from(o):
    assert o["file"].startswith(("operators/", "extensions/include/lamella/pointwise/")) and o["line"] > 0
    assert o["category"] in CATEGORIES


@pytest.mark.parametrize("o", [o for o in LIVE if o["form"] != "functional"], ids=title)
def test_forms_have_their_functional(o):
    name = o["name"].removesuffix("_")
    assert any(f["name"] == name and f["category"] == o["category"] for f in functional())
    assert any(a["written"] for a in o["args"])


# ---- documentation and stubs ------------------------------------------------------------

PUBLIC = [o for o in functional() if not o["private"]]
STUBS = "".join((Path(lamella.__file__).parent / name).read_text() for name in ("__init__.pyi", "_C.pyi"))
DOCUMENTED = {o["name"] for o in LIVE if o["doc"] and ">>> " in o["doc"]}


@pytest.mark.parametrize("name", sorted({o["name"] for o in PUBLIC}))
def test_it_is_documented_with_an_example(name):
    """test_docs.py executes the examples."""
    assert name in DOCUMENTED


@pytest.mark.parametrize("name", sorted({o["name"].removeprefix("aten::") for o in PUBLIC}))
def test_it_is_in_the_stubs(name):
    assert re.search(rf"\bdef {name}\(|import {name} as {name}\n", STUBS), "run `make stubs`"


# ---- samples ------------------------------------------------------------

# Composites call private operators, so their samples test these.
PINNED = ("aten::is_pinned", "aten::pin_memory")  # pinned memory needs a device's plugin: see test_bank.py
SAMPLED = [o for o in PUBLIC if o["name"] not in PINNED]
SINGLE = [o for o in SAMPLED if o["category"] != "lists"]  # not over lists
CLASSES = {"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"}


def short(o):
    """Returns the operator's name in samples: name.overload."""
    return title(o).removeprefix("aten::")


def specs(o):
    return [spec for s in samples.of(short(o)) for spec in s.specs()]


def takes_tensors(o):
    return any(a["type"].startswith("Tensor") for a in o["args"])


def test_every_sample_is_of_a_live_operator():
    live = {short(o) for o in LIVE}
    assert not [name for name in samples.operators() if name not in live]


@pytest.mark.parametrize("o", SAMPLED, ids=title)
def test_it_has_samples(o):
    """An operator has eight samples, or places in lists, a sample that must fail, and one for benchmarks."""
    found = samples.of(short(o))
    assert sum(max(len(s.places), 1) for s in found) >= 8
    assert samples.bad(short(o)) or not o["args"]
    assert o["category"] == "lists" or any(s.tag == "small" for s in found)


@pytest.mark.parametrize("o", [o for o in SAMPLED if takes_tensors(o)], ids=title)
def test_its_samples_hold_every_kind(o):
    """The samples have a tensor that is not contiguous, and one without elements, if the operator takes them."""
    name = o["name"].removeprefix("aten::").removeprefix("_foreach_")
    assert any(not spec.contiguous for spec in specs(o)) or name in ("item", "is_nonzero", "equal")
    assert any(0 in spec.shape for spec in specs(o)) or name in ("item", "is_nonzero", *NEEDS_ELEMENTS)


# Operators that refuse a tensor without elements.
NEEDS_ELEMENTS = (
    "max",
    "min",
    "median",
    "aminmax",
    "einsum",
    "adaptive_avg_pool1d",
    "stft",
    "istft",
    "quantile",
    "nanquantile",
)


@pytest.mark.parametrize("o", [o for o in SAMPLED if o["category"] == "pointwise"], ids=title)
def test_its_samples_broadcast(o):
    if sum(a["type"].startswith("Tensor") for a in o["args"]) > 1:
        assert any(len({spec.shape for spec in s.specs()}) > 1 for s in samples.of(short(o)))


# Operators that take more dtype classes than torch's do; samples have only torch's classes.
BEYOND_TORCH = set(
    """acosh arccosh clamp clamp_max clamp_min clip heaviside logaddexp logaddexp2 bitwise_left_shift isclose kthvalue
    bitwise_right_shift nan_to_num round sinc dropout kl_div mse_loss l1_loss smooth_l1_loss huber_loss max_pool1d
    repeat_interleave max_pool2d max_pool2d_with_indices binary_cross_entropy_with_logits igamma igammac
    mvlgamma linalg_vander""".split()
)


def leads_to(o, kind):
    """Returns whether the operator takes a first tensor of a dtype class, by a call with its first sample."""
    for s in samples.of(short(o)):
        if s.specs() and "distinct" not in s.text and s.tag != "free":
            first = s.specs()[0].dtype
            other = s.relaid(lambda t, first=first: replace(t, dtype=CLASSES[kind]) if t.dtype == first else t)
            args, kwargs = other.build()
            try:
                samples.call(s.operator)(*args, **kwargs)
            except Exception:
                return False
            return True
    return False


@pytest.mark.parametrize("o", [o for o in SINGLE if takes_tensors(o)], ids=title)
def test_its_samples_hold_every_dtype_class(o):
    """There is a sample for each of bool, integers, floating and complex that the operator takes."""
    held = {s.specs()[0].kind for s in samples.of(short(o)) if s.specs()}
    beyond = short(o).partition(".")[0] in BEYOND_TORCH
    assert "float" in held or not leads_to(o, "float")
    assert beyond or not [kind for kind in CLASSES if kind not in held and leads_to(o, kind)]
