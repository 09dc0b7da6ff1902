"""The catalogue as a whole: the committed table of names, kernels, shape rules, and what meta makes of each."""

from pathlib import Path

import lattis
import pytest

TABLE = Path(__file__).with_name("catalogue.txt")
HINT = "tests/frontend/catalogue.txt lists every operator by name; bring it in line with the catalogue"
CATEGORIES = """
pointwise reduction scan view creation copy indexing scatter sort matmul convolution pooling normalization random linalg
fft dynamic host
""".split()
LIVE = [o for o in lattis._C._operators() if o["owner"] == "lattis"]


def title(o):
    """namespace::name.overload"""
    return o["schema"].partition("(")[0]


def functional():
    return [o for o in LIVE if o["form"] == "functional"]


def keys(o):
    return {key for key, _ in o["kernels"]}


def listed():
    return [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]


def needs_no_kernel(o):
    """Views and uninitialized memory: the shape rule is all there is to do."""
    return o["shape_rule"] and (o["category"] == "view" or o["name"].startswith("aten::empty"))


def test_the_table_is_the_catalogue():
    live = sorted(title(o) for o in LIVE)
    assert listed() == live, HINT
    assert len(set(live)) == len(live)


@pytest.mark.parametrize("o", functional(), ids=title)
def test_someone_computes_it(o):
    assert keys(o) & {"cpu", "composite"} or needs_no_kernel(o)


@pytest.mark.parametrize("o", functional(), ids=title)
def test_meta_has_a_rule(o):
    assert o["shape_rule"] or "composite" in keys(o)


@pytest.mark.parametrize("o", functional(), ids=title)
def test_it_says_where_it_comes_from(o):
    assert o["file"].startswith("dispatcher/operators/") and o["line"] > 0
    assert o["category"] in CATEGORIES


@pytest.mark.parametrize("o", [o for o in LIVE if o["form"] != "functional"], ids=title)
def test_forms_have_their_functional(o):
    name = o["name"].removesuffix("_")
    assert any(f["name"] == name and f["category"] == o["category"] for f in functional())
    assert any(a["written"] for a in o["args"])


# ---- meta in fact ----------------------------------------------------------------------------------------------------

DEVICES = ("cpu", "meta")
SPECIAL = {  # arguments that random ones of the right type would not fit
    "_mask_put_": ({"self": (2, 3), "mask": "mask", "values": ()}, {}),
    "as_strided": ({"self": (2, 3)}, {"size": (2, 2), "stride": (1, 1)}),
    "bmm": ({"self": (2, 3, 4), "mat2": (2, 4, 5)}, {}),
    "empty_strided": ({}, {"size": (2, 3), "stride": (3, 1)}),
    "expand": ({"self": (2, 1)}, {"size": (2, 3)}),
    "mm": ({"self": (2, 3), "mat2": (3, 4)}, {}),
    "matmul": ({"self": (2, 3), "other": (3, 4)}, {}),
    "mv": ({"self": (2, 3), "vec": (3,)}, {}),
    "dot": ({"self": (3,), "tensor": (3,)}, {}),
    "vdot": ({"self": (3,), "other": (3,)}, {}),
    "outer": ({"self": (3,), "vec2": (2,)}, {}),
    "ger": ({"self": (3,), "vec2": (2,)}, {}),
    "addmm": ({"self": (2, 4), "mat1": (2, 3), "mat2": (3, 4)}, {}),
    "addmv": ({"self": (2,), "mat": (2, 3), "vec": (3,)}, {}),
    "addr": ({"self": (2, 3), "vec1": (2,), "vec2": (3,)}, {}),
    "addbmm": ({"self": (2, 4), "batch1": (5, 2, 3), "batch2": (5, 3, 4)}, {}),
    "baddbmm": ({"self": (2, 4), "batch1": (5, 2, 3), "batch2": (5, 3, 4)}, {}),
    "linear": ({"input": (2, 3), "weight": (4, 3)}, {}),
    "tensordot": ({"self": (2, 3), "other": (2, 3)}, {"dims_self": (1,), "dims_other": (1,)}),
    "convolution": (
        {"input": (1, 2, 5), "weight": (3, 2, 2), "bias": (3,)},
        {"stride": (1,), "padding": (0,), "dilation": (1,), "groups": 1},
    ),
    "conv1d": ({"input": (1, 2, 5), "weight": (3, 2, 2)}, {}),
    "conv2d": ({"input": (1, 2, 5, 5), "weight": (3, 2, 2, 2)}, {}),
    "conv3d": ({"input": (1, 2, 5, 5, 5), "weight": (3, 2, 2, 2, 2)}, {}),
    "constant_pad_nd": ({"self": (2, 3)}, {"pad": (1, 2)}),
    "pad": ({"self": (2, 3)}, {"pad": (1, 2)}),
    **{name: ({"self": (1, 4, 4)}, {"kernel_size": (2, 2)}) for name in ("max_pool2d", "avg_pool2d")},
    "max_pool2d_with_indices": ({"self": (1, 4, 4)}, {"kernel_size": (2, 2)}),
    **{name: ({"self": (1, 4)}, {"kernel_size": (2,)}) for name in ("max_pool1d", "avg_pool1d")},
    "adaptive_avg_pool2d": ({"self": (1, 4, 4)}, {"output_size": (2, 2)}),
    "adaptive_avg_pool1d": ({"self": (1, 4)}, {"output_size": (2,)}),
    "permute": ({"self": (2, 3)}, {"dims": (1, 0)}),
    "reshape": ({"self": (2, 3)}, {"shape": (3, 2)}),
    "transpose": ({"self": (2, 3)}, {"dim0": 0, "dim1": 1}),
    "view": ({"self": (2, 3)}, {"size": (6,)}),
}
DYNAMIC = ("_mask_index", "masked_select", "item")


def argument(o, arg, device):
    """A fitting value for a required argument, by its type."""
    if o["name"] == "aten::einsum":
        return "ij,kj" if arg["name"] == "equation" else [lattis.ones(2, 3, device=device)] * 2
    name, kind = arg["name"], arg["type"].strip().rstrip("?")
    if kind.startswith("Tensor"):
        if name in ("mask", "condition"):
            return lattis.zeros(2, 3, dtype=lattis.bool, device=device)
        shape = () if name == "value" or o["name"] == "aten::item" else (2, 3)
        return lattis.ones(shape, device=device)
    by_kind = {"Scalar": 2.0, "float": 1.0, "int": 0, "SymInt": 1, "bool": False, "str": "floor"}
    by_kind |= {"ScalarType": lattis.float64, "SymInt[]": (2, 3), "int[]": (0,), "int[1]": (0,)}
    return by_kind[kind]


def arguments(o, device):
    name = o["name"].partition("::")[2]
    tensors, others = SPECIAL.get(name, ({}, {}))
    made = {}
    for arg in o["args"]:
        if arg["has_default"]:
            continue
        if arg["name"] in tensors:
            shape = tensors[arg["name"]]
            mask = shape == "mask"
            made[arg["name"]] = lattis.zeros(
                (2, 3) if mask else shape, dtype=lattis.bool if mask else None, device=device
            )
        elif arg["name"] in others:
            made[arg["name"]] = others[arg["name"]]
        else:
            made[arg["name"]] = argument(o, arg, device)
    if o["category"] in ("creation", "random") and any(a["name"] == "device" for a in o["args"]) and "self" not in made:
        made["device"] = device
    return made


def described(result):
    results = result if isinstance(result, tuple) else (result,)
    return [(tuple(r.shape), r.dtype, r.stride()) for r in results]


@pytest.mark.parametrize("o", [o for o in functional() if o["name"][6:] not in DYNAMIC], ids=title)
def test_meta_gives_what_cpu_gives(o):
    """Shape, dtype and strides on meta are those that the cpu's result has."""
    f = getattr(lattis.ops.aten, o["name"].partition("::")[2])
    cpu, meta = (f(**arguments(o, device)) for device in DEVICES)
    assert described(cpu) == described(meta)
    for r in meta if isinstance(meta, tuple) else (meta,):
        assert r.device.type == "meta"


@pytest.mark.parametrize("name", DYNAMIC)
def test_what_depends_on_data_is_refused_on_meta(name):
    o = next(o for o in functional() if o["name"] == f"aten::{name}")
    with pytest.raises(NotImplementedError, match=name if name != "masked_select" else "_mask_index|masked_select"):
        getattr(lattis.ops.aten, name)(**arguments(o, "meta"))
