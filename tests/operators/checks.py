"""Checks that every operator must pass with every sample; each returns the faults that it finds, as text."""

from __future__ import annotations

import functools
from contextlib import nullcontext
from dataclasses import replace

import lamella
from catalogue import BY_TITLE, DYNAMIC, array, bits, described, flat, run, state, tensors
from compare import differences, expected, has_oracle
from lamella.operators.samples import Sample, Spec
from lamella.operators.samples.spec import MATRICES


def written(sample: Sample) -> list[int]:
    """Returns positions of the arguments that the operator writes, such as batch_norm's running statistics."""
    if sample.operator in ("batch_norm", "instance_norm"):
        return [3, 4]
    return [i for i, a in enumerate(BY_TITLE[sample.operator]["args"]) if a["written"]]


def value_faults(sample: Sample, around=None, size=0.0) -> list[str]:
    """Compares the result with the oracle's; only written arguments may change. The call runs in ``around``."""
    built = sample.build()
    kept = [t for i, a in enumerate(built[0]) if i not in written(sample) for t in tensors(([a], {}))]
    before = [state(t) for t in kept]
    try:
        with around or nullcontext():
            result = run(sample, built=built)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    found = ["an argument changed"] if [state(t) for t in kept] != before else []
    if sample.tag == "free" or not has_oracle(sample.operator):
        return found
    return found + differences([array(r) for r in flat(result)], expected(sample), size)


def same_call_faults(sample: Sample) -> list[str]:
    """Compares two calls with the same seed bit by bit, for operators without an oracle."""
    return [] if bits(run(sample)) == bits(run(sample)) else ["two calls with one seed differ"]


def meta_faults(sample: Sample) -> list[str]:
    """Compares meta's shape, strides and dtype with the cpu's; meta must refuse if they depend on the data."""
    wanted = run(sample)
    try:
        got = run(sample, "meta")
    except NotImplementedError as error:
        return [] if may_refuse(sample) else [f"meta refuses: {error}"]
    except Exception as error:
        return [f"meta: {type(error).__name__}: {error}"]
    if not isinstance(flat(wanted)[0] if flat(wanted) else None, lamella.Tensor):
        return []
    found = [] if described(got) == described(wanted) else [f"meta gives {described(got)}, cpu {described(wanted)}"]
    away = [r for r in flat(got) if r is not None and r.device.type != "meta" and sample.operator != "to.device"]
    return found + [f"a result lies on {r.device}" for r in away[:1]]


def may_refuse(sample: Sample) -> bool:
    name = sample.operator.partition(".")[0]
    by_mask = name in ("index", "index_put", "index_put_") and any(s.dtype == "bool" for s in sample.specs()[1:])
    leaves_meta = sample.operator == "to.device"
    sizes_in_data = name in (
        *(
            "one_hot",
            "repeat_interleave",
            "multinomial",
            "histc",
            "histogram",
            "histogramdd",
            "combinations",
            "nonzero_static",
        ),
        *("tensor_split",) * (len(sample.specs()) > 1),
    )
    numbers = any(a["type"] == "Tensor" and a["name"] == "scalars" for a in BY_TITLE[sample.operator]["args"])
    lengths = sample.operator.endswith(".data")  # lengths of packed sequences
    return name in DYNAMIC or numbers or lengths or by_mask or sizes_in_data or leaves_meta


# ---- forms -----------------------------------------------------------------------------------------------------------


def schema_inputs(o: dict) -> list[tuple[str, str]]:
    return [(a["name"], a["type"].replace("(a!)", "")) for a in o["args"] if not (a["written"] and a["keyword_only"])]


def form_of(operator: str, form: str) -> dict | None:
    """Returns the operator's in-place or out= form."""
    o = BY_TITLE[operator]
    name = o["name"] + ("_" if form == "inplace" else "")
    inputs = plain_inputs(o)
    return next((other for other in by_name_and_form().get((name, form), ()) if plain_inputs(other) == inputs), None)


def plain_inputs(o: dict) -> list[tuple[str, str]]:
    return [(name, kind.partition("(")[0]) for name, kind in schema_inputs(o)]


@functools.cache
def by_name_and_form() -> dict[tuple[str, str], list[dict]]:
    found: dict[tuple[str, str], list[dict]] = {}
    for o in BY_TITLE.values():
        found.setdefault((o["name"], o["form"]), []).append(o)
    return found


def inplace_faults(sample: Sample) -> list[str]:
    """x.op_(...) must write the result of op(x, ...) into x, if that has x's sizes and dtype."""
    if not sample.args or not isinstance(sample.args[0], Spec) or sample.args[0].repeated:
        return []
    result = run(sample)
    args, kwargs = sample.build()
    if tuple(result.shape) != tuple(args[0].shape) or result.dtype != args[0].dtype:
        return []
    lamella.manual_seed(7)
    name = BY_TITLE[sample.operator]["name"] + "_"
    returned = lamella._C._packet(name)(*args, **kwargs)
    found = [] if returned is args[0] else ["the in-place form does not return self"]
    return found + [f"the in-place form: {w}" for w in unlike(sample, [args[0]], [result])]


def out_faults(sample: Sample) -> list[str]:
    """op(..., out=o) must write the result of op(...) into o: into memory with gaps, and an empty tensor that grows."""
    results = flat(run(sample))
    found = []
    for kind, make in {"with gaps": gapped, "empty": lambda r: lamella.empty(0, dtype=r.dtype)}.items():
        outs = tuple(make(r) for r in results)
        try:
            run(sample, out=outs if len(outs) > 1 else outs[0])
        except Exception as error:
            found.append(f"out= {kind}: {type(error).__name__}: {error}")
            continue
        found += [f"out= {kind}: {w}" for w in unlike(sample, list(outs), results)]
    return found


def unlike(sample: Sample, got: list, wanted: list) -> list[str]:
    """Compares bits, or values of BLAS and oneDNN, whose order of operations may depend on the layout."""
    if sample.operator.startswith("empty"):
        return [] if [t.shape for t in got] == [t.shape for t in wanted] else ["another shape"]
    if BY_TITLE[sample.operator]["category"] in ("matmul", "convolution"):
        return differences([array(t) for t in got], [array(t)[1] for t in wanted])
    return [] if bits(got) == bits(wanted) else ["other values"]


def gapped(r):
    """Makes memory for a result: every second element of a longer tensor."""
    return lamella.ones(*r.shape, 2, dtype=r.dtype)[..., 1]


# ---- other layouts ---------------------------------------------------------------------------------------------------


def reversed_memory(s: Spec) -> Spec:
    return replace(s, order=tuple(reversed(range(len(s.shape)))))


LAYOUTS = {
    "with gaps": lambda s: replace(s, gap=3, offset=2),
    "in reversed order": reversed_memory,
    "in reversed order with gaps": lambda s: replace(reversed_memory(s), gap=2, offset=1),
}
OVERLAPPING = {
    "expanded": lambda s: replace(s, repeated=frozenset([0]) if s.shape and s.shape[0] else frozenset()),
    "expanded at the end": lambda s: replace(
        s, repeated=frozenset([len(s.shape) - 1]) if s.shape and s.shape[-1] else frozenset()
    ),
}
# Operators whose result depends on the strides, or on what lies in memory.
STRICT = {"view", "view_as", "as_strided", "view_as_complex", "unflatten"}
STRICT |= {f"{name}_copy" for name in STRICT - {"unflatten", "view_as"}} | {"as_strided_scatter"}
STRICT |= {"as_strided_", "resize_", "resize_as_", "set_"}
# Kinds of values which tests leave as they are, since operators may depend on them.
NUMBERED = {"distinct", "below", "of", *MATRICES}


def layout_faults(sample: Sample) -> list[str]:
    """Calls with the same values in other layouts, also overlapping ones, must give the oracle's results."""
    if sample.operator.partition(".")[0] in STRICT:
        return []
    layouts = dict(LAYOUTS)
    if not written(sample) and not any(s.values[0] in NUMBERED for s in sample.specs()):
        layouts |= OVERLAPPING
    return [f"{label}: {w}" for label, change in layouts.items() for w in value_faults(sample.relaid(change))]


def six_dimensional(s: Spec) -> Spec:
    """Adds leading dimensions to a spec, for operators that compute element by element."""
    lead = (2, 1, 2, 1, 1, 2)[: max(0, 6 - len(s.shape))]
    if not s.shape:
        return s
    order = s.order and tuple(range(len(lead))) + tuple(d + len(lead) for d in s.order)
    return replace(s, shape=lead + s.shape, order=order, repeated=frozenset(d + len(lead) for d in s.repeated))


# ---- position and threads --------------------------------------------------------------------------------------------

POSITIONS = (1, 2, 5, 16)


def position_faults(sample: Sample) -> list[str]:
    """The result must have the same bits wherever in memory the operands begin."""
    whole = bits(run(sample))
    moved = [p for p in POSITIONS if bits(run(sample.relaid(lambda s, p=p: replace(s, offset=p)))) != whole]
    return [f"other bits {p} elements further on" for p in moved]


ELEMENTS = 300_000


def grown(sample: Sample) -> Sample:
    """Returns the same call over many elements: each dimension above 1 is multiplied by one factor."""
    largest = max(sample.specs(), key=lambda s: s.span)
    long = [n for n in largest.shape if n > 1]
    count = 1
    for n in long:
        count *= n
    factor = max(1, round((ELEMENTS / count) ** (1 / len(long))))
    return sample.relaid(lambda s: replace(s, shape=tuple(n if n < 2 else n * factor for n in s.shape)))


def thread_faults(sample: Sample) -> list[str]:
    """The result must have the same bits with one, two and three threads, over enough elements for all of them."""
    large = grown(sample)
    found = []
    for threads in (1, 2, 3):
        lamella.set_num_threads(threads)
        found.append(bits(run(large)))
    return [] if found[0] == found[1] == found[2] else ["the bits depend on the number of threads"]
