"""Valid arguments for every operator: values for each type and from a table, or else the arguments of a sample."""

from __future__ import annotations

from functools import cache

import lamella
from lamella.operators import samples


def matrix(*shape: int, dtype=None):
    """Returns a tensor of 1, 2, 3, ... in row-major order, so that a change of any element shows."""
    count = 1
    for n in shape:
        count *= n
    return (
        (lamella.arange(count, dtype=lamella.float32) + 1).to(lamella.float32 if dtype is None else dtype).view(shape)
    )


def on_meta(t):
    return lamella.empty(tuple(t.shape), dtype=t.dtype, device="meta")


def mask(*shape: int):
    return matrix(*shape) > 2


BY_TYPE = {
    "Tensor": lambda: matrix(2, 3),
    "Tensor[]": lambda: [matrix(2, 3), matrix(2, 3)],
    "Scalar": lambda: 2,
    "Scalar[]": lambda: [2, 3],
    "int": lambda: 0,
    "SymInt": lambda: 1,
    "SymInt[]": lambda: (2, 3),
    "int[]": lambda: (1, 0),
    "int[1]": lambda: (0,),
    "float": lambda: 0.5,
    "bool": lambda: False,
    "ScalarType": lambda: lamella.float32,
    "Device": lambda: "cpu",
    "Layout": lambda: lamella.strided,
    "MemoryFormat": lambda: lamella.contiguous_format,
    "Generator": lambda: lamella.Generator(),
    "str": lambda: "floor",
}


def ones():
    return [lamella.tensor(1.0), lamella.tensor(1.0)]


# Arguments of optimizers' updates: counts and factors for each parameter, and numbers.
UPDATES = {
    "state_steps": ones,
    "mu_products": ones,
    "mus": ones,
    "etas": ones,
    **{f"{name}:Tensor": lambda: lamella.tensor(0.5) for name in ("lr", "beta1", "beta2", "weight_decay")},
    "grad_scale": lambda: lamella.tensor(1.0),
    "found_inf": lambda: lamella.tensor(0.0),
    "amsgrad": lambda: True,  # such options are on, so that the update uses every list
    "centered": lambda: True,
}

# (operator without its namespace and underscore, argument) -> sample
BY_ARGUMENT = {
    **{(u["operator"].strip("_"), name): make for u in lamella._C._updates() for name, make in UPDATES.items()},
    **{("foreach_" + name, "scalars:Tensor"): lambda: matrix(2) for name in ("addcdiv", "addcmul")},
    ("foreach_add", "other:Tensor"): lambda: lamella.tensor(2.0),
    ("foreach_mm", "mat2"): lambda: [matrix(3, 4), matrix(3, 4)],
    ("arange", "start"): lambda: 0,
    ("arange", "end"): lambda: 5,
    ("arange", "step"): lambda: 1,
    ("arange", "dtype"): lambda: lamella.int64,
    ("as_strided", "size"): lambda: (2, 2),
    ("as_strided", "stride"): lambda: (2, 1),
    **{("attention_dropout", name): lambda: matrix(1, 2, 3, 4) for name in ("query", "key", "value")},
    ("attention_dropout", "attn_mask"): lambda: matrix(3, 3),
    ("cdist_by_product", "compute_mode"): lambda: "use_mm_for_euclid_dist",
    ("bmm", "self"): lambda: matrix(2, 2, 3),
    ("bmm", "mat2"): lambda: matrix(2, 3, 4),
    **{
        ("batch_norm_" + kind, name): lambda: matrix(3)
        for kind in ("train", "with_update", "eval")
        for name in ("weight", "bias", "running_mean", "running_var")
    },
    ("clamp", "min:Scalar"): lambda: 2,
    ("clamp", "max:Scalar"): lambda: 4,
    ("empty_strided", "stride"): lambda: (3, 1),
    ("fill", "value:Tensor"): lambda: lamella.tensor(2.0),
    ("item", "self"): lambda: lamella.tensor(2.0),
    ("is_nonzero", "self"): lambda: lamella.tensor(2.0),
    ("set", "size"): lambda: (2, 2),
    ("set", "stride"): lambda: (2, 1),
    ("set", "storage_offset"): lambda: 0,
    ("masked_fill", "mask"): lambda: mask(2, 3),
    ("masked_fill", "value:Tensor"): lambda: lamella.tensor(2.0),
    ("masked_select", "mask"): lambda: mask(2, 3),
    ("native_dropout_backward", "mask"): lambda: mask(2, 3),
    ("linalg_check_errors", "info"): lambda: lamella.zeros(2, dtype=lamella.int32),
    ("matmul", "other"): lambda: matrix(3, 4),
    ("mm", "mat2"): lambda: matrix(3, 4),
    ("class_loss", "target"): lambda: lamella.tensor([2, 1]),
    ("class_loss", "weight"): lambda: matrix(3),
    ("nll_pick", "target"): lambda: lamella.tensor([2, 1]),
    ("nll_pick", "weight"): lambda: matrix(3),
    ("uniform", "to"): lambda: 1.5,
    ("where", "condition"): lambda: mask(2, 3),
    ("view", "size"): lambda: (3, 2),
    ("permute_randomly", "self"): lambda: lamella.zeros(5, dtype=lamella.int64),
    ("random_bits", "self"): lambda: lamella.zeros(5, dtype=lamella.uint32),
    ("reshape", "shape"): lambda: (3, 2),
    ("squeeze", "dim:int[]"): lambda: (0, 1),
}


def bare(name: str) -> str:
    """Returns the name of an operator's family: 'aten::add_' gives 'add'."""
    return name.rpartition("::")[2].strip("_")


def kind(type_text: str) -> str:
    """Returns the type without alias annotation and question mark: 'Tensor(a!)?' gives 'Tensor'."""
    text = type_text.rstrip("?")
    if "(" in text:
        text = text[: text.index("(")] + text[text.index(")") + 1 :]
    return text


def outputs(op: dict) -> list[str]:
    """Returns the outputs that an out= form takes as out=."""
    return [a["name"] for a in op["args"] if a["written"] and a["keyword_only"]] if op["form"] == "out" else []


def sample(op: dict, argument: dict):
    base, name, type_text = bare(op["name"]), argument["name"], kind(argument["type"])
    for key in ((base, f"{name}:{type_text}"), (base, name)):
        if key in BY_ARGUMENT:
            return BY_ARGUMENT[key]()
    return BY_TYPE[type_text]()


def by_type(op: dict) -> dict:
    """Returns a value for each argument, by its type and the table."""
    return {a["name"]: sample(op, a) for a in op["args"] if a["name"] not in outputs(op)}


def by_sample(op: dict, chosen) -> dict:
    """Returns the arguments of a sample of the operator, or of its functional form."""
    args, kwargs = chosen.build()
    names = [a["name"] for a in op["args"]]
    return dict(zip(names, args, strict=False)) | kwargs


LIVE: dict[str, dict] = {}  # kept by schema, since listing all operators takes 20 ms


def live(schema: str) -> dict:
    if schema not in LIVE:  # the operator was registered after the last listing
        LIVE.update({o["schema"]: o for o in lamella._C._operators()})
    return LIVE[schema]


@cache
def sample_of(schema: str):
    """Returns the valid, non-empty sample of an overload with these arguments that has the most tensors."""
    op = live(schema)
    inputs = [a["name"] for a in op["args"] if a["name"] not in outputs(op)]
    base = op["name"].rpartition("::")[2]
    for other in list(LIVE.values()):
        if other["name"].rpartition("::")[2] in (base, base.removesuffix("_")) and fitting(other, inputs):
            return max(fitting(other, inputs), key=lambda s: len(s.specs()))
    return None


def fitting(op: dict, inputs: list[str]) -> list:
    """Returns the samples of an overload with these arguments that have a tensor for each tensor type."""
    if [a["name"] for a in op["args"]] != inputs:
        return []
    tensors = {a["name"] for a in op["args"] if kind(a["type"]) == "Tensor"}

    def fits(s) -> bool:
        given = dict(zip(inputs, s.args, strict=False)) | s.kwargs
        typed = all(isinstance(v, samples.Spec) == (k in tensors) for k, v in given.items() if v is not None)
        return typed and all(0 not in spec.shape and not spec.repeated for spec in s.specs())

    known = samples.of(op["schema"].partition("(")[0].rpartition("::")[2])
    return [s for s in known if fits(s)]


@cache
def fits_by_type(schema: str) -> bool:
    op = live(schema)
    try:
        invoke(op, by_type(op))
    except Exception:
        return False
    return True


def arguments(op: dict) -> dict:
    """Returns new valid arguments by name. Outputs of an out= form are copies of the functional form's results."""
    chosen = None if fits_by_type(op["schema"]) else sample_of(op["schema"])
    given = by_sample(op, chosen) if chosen else by_type(op)
    if outputs(op):
        result = invoke(op, given)
        result = result if isinstance(result, tuple) else (result,)
        given.update(zip(outputs(op), (r.clone() for r in result), strict=True))
    return given


def invoke(op: dict, given: dict, extra: tuple = (), keywords: dict | None = None):
    """Calls the operator by its public callable; arguments absent from ``given`` are not passed."""
    positional, named, gap = [], {}, False
    for a in op["args"]:
        if a["name"] in outputs(op):
            continue
        if a["name"] not in given:
            gap = True
        elif a["keyword_only"] or gap:
            named[a["name"]] = given[a["name"]]
        else:
            positional.append(given[a["name"]])
    out = [given[name] for name in outputs(op) if name in given]
    if out:
        named["out"] = out[0] if len(out) == 1 else tuple(out)
    named.update(keywords or {})
    return lamella._C._packet(op["name"])(*positional, *extra, **named)
