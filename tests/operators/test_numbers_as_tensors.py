"""Each overload that takes a number gives the result of the overload that takes a tensor in its place."""

import math

import lamella
import numpy as np
import pytest
from catalogue import BY_TITLE, FUNCTIONAL
from lamella.operators import samples

FLOATS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, -2.5, 2.0**127]
INTS = [0, 1, -1, 2, -3, 7, 127, 255, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
ELEMENTS = {
    "float32": FLOATS,
    "float64": FLOATS,
    "float16": [*FLOATS[:-1], 65504.0],
    "int64": INTS,
    "int32": INTS[:10],
    "int8": [0, 1, -1, 2, -3, 7, 127, -128],
    "uint8": [0, 1, 2, 7, 127, 255],
    "bool": [False, True],
}
NUMBERS = [*FLOATS, *INTS, True, False]
# A tensor that is copied or promoted wraps, where a number that the dtype does not hold is refused.
WRAPS = {"where", "clamp", "clamp_min", "clamp_max", "fill", "fill_"}
# The number's overload also takes what the tensor's refuses: lerp of integers the other way round, and negative powers
# of integers, boundaries of another dtype.
PARTIAL = {"lerp", "pow", "searchsorted", "bucketize"}


def pairs():
    """Returns (overload of a number, overload of a tensor, positions of the numbers)."""
    found = []
    for s in FUNCTIONAL:
        for t in FUNCTIONAL:
            ours, theirs = BY_TITLE[s]["args"], BY_TITLE[t]["args"]
            if s.partition(".")[0] != t.partition(".")[0] or [a["name"] for a in ours] != [a["name"] for a in theirs]:
                continue
            at = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a["type"] != b["type"]]
            if at and all(ours[i]["type"].replace("Scalar", "Tensor") == theirs[i]["type"] for i in at):
                found.append((s, t, at))
    return found


def others(operator, elements, dtype):
    """Returns the arguments that are no numbers, by position, and the keywords."""
    made, keywords = {}, {}
    for i, a in enumerate(BY_TITLE[operator]["args"]):
        if a["name"] in ("condition", "mask"):
            made[i] = lamella.tensor([k % 2 == 0 for k in range(len(elements))])
        elif a["name"] == "index":
            made[i] = lamella.tensor([0])
        elif a["name"] == "dim":
            made[i] = 0
        elif a["name"] in ("sorted_sequence", "boundaries"):
            made[i] = lamella.tensor(sorted(elements, key=lambda x: (x != x, x)), dtype=dtype)
        elif a["name"] == "rounding_mode":
            keywords["rounding_mode"] = "floor"
        elif a["type"].startswith("Tensor") and a["name"] != "sorter":
            made[i] = lamella.tensor(elements[::-1] if a["name"] == "end" else elements, dtype=dtype)
    return made, keywords


def call(operator, args, keywords):
    """Returns the result, or what an in-place operator wrote; or the error."""
    try:
        return samples.call(operator)(*args, **keywords)
    except (RuntimeError, TypeError, ZeroDivisionError) as error:
        return error


def same(got, wanted) -> bool:
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    a, b = got.numpy(), wanted.numpy()
    # Powers that products and quotients compute may differ in the last place from those of the general function.
    close = np.isclose(a, b, 4 * np.finfo(a.dtype).eps, 0) if a.dtype.kind == "f" else a == b
    signs = np.signbit(a) == np.signbit(b) if a.dtype.kind == "f" else True
    return bool(np.all(((a == b) | close) & signs | (a != a) & (b != b)))


PAIRS = pairs()


def test_pairs_are_found():
    names = {s.partition(".")[0] for s, _, _ in PAIRS}
    assert {"clamp", "clamp_min", "pow", "remainder", "eq", "masked_fill", "where", "add", "copysign"} <= names


@pytest.mark.parametrize("of_number, of_tensor, at", PAIRS, ids=[f"{s}-{t}" for s, t, _ in PAIRS])
def test_agrees(of_number, of_tensor, at):
    name, optional = of_number.partition(".")[0], BY_TITLE[of_number]["args"][at[0]]["type"].endswith("?")
    found = []
    for dtype, elements in ELEMENTS.items():
        for number in NUMBERS:
            for chosen in [[i] for i in at] + [at] if optional else [at]:
                calls = []
                for operator, value in ((of_number, number), (of_tensor, lamella.tensor(number))):
                    made, keywords = others(operator, elements, getattr(lamella, dtype))
                    made |= {i: value if i in chosen else None for i in at}
                    calls.append(call(operator, [made[i] for i in sorted(made)], keywords))
                got, wanted = calls
                refused = isinstance(got, Exception), isinstance(wanted, Exception)
                if not any(refused):
                    agrees = same(got, wanted)
                else:
                    agrees = all(refused) or name in PARTIAL or (name in WRAPS and refused[0])
                if not agrees:
                    found.append(f"{dtype} with {number!r} at {chosen}: {got!r} instead of {wanted!r}")
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:6])


NAN = [math.nan, math.nan]
BOUNDS = {  # torch's values; clamp(min=nan) was the tensor itself
    "clamp(min)": (lambda x: x.clamp(min=math.nan), NAN),
    "clamp(max)": (lambda x: x.clamp(max=math.nan), NAN),
    "clamp(min, nan)": (lambda x: x.clamp(0, math.nan), NAN),
    "clamp(nan, max)": (lambda x: x.clamp(math.nan, 0), NAN),
    "clamp_": (lambda x: x.clone().clamp_(min=math.nan), NAN),
    "clamp of integers": (lambda x: x.long().clamp(min=math.nan), NAN),
    "clamp of float16": (lambda x: x.half().clamp(max=math.nan), NAN),
    "clamp of bfloat16": (lambda x: x.bfloat16().clamp(max=math.nan), NAN),
    "clamp_min": (lambda x: x.clamp_min(math.nan), NAN),
    "clamp_max": (lambda x: x.clamp_max(math.nan), NAN),
    "hardtanh(min)": (lambda x: lamella.nn.functional.hardtanh(x, math.nan, 1.0), NAN),
    "hardtanh(max)": (lambda x: lamella.nn.functional.hardtanh(x, -1.0, math.nan), NAN),
    "threshold": (lambda x: lamella.nn.functional.threshold(x, math.nan, 5.0), [1.0, -2.0]),
    "leaky_relu": (lambda x: lamella.nn.functional.leaky_relu(x, math.nan), [1.0, math.nan]),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_of_nan(name):
    call, wanted = BOUNDS[name]
    np.testing.assert_array_equal(call(lamella.tensor([1.0, -2.0])).float().numpy(), np.float32(wanted))


def test_zeros_keep_their_sign():
    """Of two equal zeros the first stays, in every form, as in torch."""
    down, up = lamella.tensor([-0.0] * 9), lamella.tensor([0.0] * 9)
    for limited in (down.clamp(min=0.0), down.clamp(min=up), down.clamp(0.0, 2.0), down.clamp_min(up), down.fmax(up)):
        assert limited.signbit().all(), limited
    for limited in (up.clamp(max=-0.0), up.clamp(max=down), up.clamp_max(down), up.minimum(down), up.fmin(down)):
        assert not limited.signbit().any(), limited
