"""Layouts of pointwise results; values are independent of position, strides, threads and overlap."""

import itertools

import lamella
import numpy as np
import pytest
from arrays import FLOATS, assert_same, bits, to_lamella, to_numpy, values
from hypothesis import given
from hypothesis import strategies as st
from pointwise_ops import BINARY, MATHS, UNARY

# ---- layout ----------------------------------------------------------------------------------------------------------


ORDERS = list(itertools.permutations(range(3)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["neg", "exp", "add", "mul", "eq", "where", "clamp", "to"])
def test_dense_permutation_is_kept(name, order):
    x = lamella.arange(24.0).view(2, 3, 4).permute(order)
    result = {
        "neg": lambda: -x,
        "exp": lambda: lamella.exp(x),
        "add": lambda: x + 1,
        "mul": lambda: x * x,
        "eq": lambda: x == x,
        "where": lambda: lamella.where(x > 2, x, 0.0),
        "clamp": lambda: x.clamp(1, 2),
        "to": lambda: x.to(lamella.float64),
    }[name]()
    assert result.stride() == x.stride()
    assert lamella.empty_like(x).stride() == x.stride() and x.clone().stride() == x.stride()


@pytest.mark.parametrize("order", ORDERS)
def test_gaps_are_closed_in_the_same_order(order):
    x = lamella.zeros(4, 6, 8)[::2, ::2, ::2].permute(order)
    sizes, packed, step = x.shape, [0, 0, 0], 1
    for d in np.argsort(x.stride()):
        packed[d], step = step, step * sizes[d]
    assert (x * 2).stride() == tuple(packed)


def test_layout_of_mixed_operands():
    """The first operand whose dimensions have an order decides the layout; repeated dimensions have no order."""
    columns, rows = lamella.ones(3, 4).t(), lamella.ones(4, 3)
    assert (columns + columns).stride() == (1, 4)
    assert (columns + rows).stride() == (1, 4)
    assert (rows + columns).stride() == (3, 1)
    assert (columns + lamella.ones(3)).stride() == (1, 4)
    assert (lamella.ones(1, 3).expand(4, 3) + columns).stride() == (1, 4)
    assert (lamella.ones(1).expand(4, 3) * 2).stride() == (3, 1)


# ---- position, strides and threads -----------------------------------------------------------------------------------

ONE_INPUT = [op.name for op in UNARY if set(FLOATS) <= set(op.takes)] + MATHS
TWO_INPUTS = [op.name for op in BINARY if set(FLOATS) <= set(op.takes)]
TWO_INPUTS += ["floor_divide", "pow", "atan2", "xlogy"]
WITHOUT_NUMBERS = ("maximum", "minimum", "fmax", "fmin", "heaviside", "atan2")
FLOATS_ONLY = [op.name for op in UNARY + BINARY if "int64" not in op.takes]
TAKES_NUMBERS = [n for n in TWO_INPUTS if n not in WITHOUT_NUMBERS and not n.startswith("logical")]


def sample(dtype, count, seed):
    return values(dtype, count, seed, 0.01, 9)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ONE_INPUT + TWO_INPUTS)
def test_values_do_not_depend_on_position(name, dtype):
    inputs = 1 if name in ONE_INPUT else 2
    arrays = [sample(dtype, 100, seed) for seed in range(inputs)]
    whole = to_numpy(getattr(lamella, name)(*map(to_lamella, arrays)))
    for start, stop in [(0, 1), (1, 2), (3, 20), (7, 100), (99, 100), (50, 67)]:
        part = getattr(lamella, name)(*(to_lamella(a)[start:stop] for a in arrays))
        assert bits(part) == whole[start:stop].tobytes()
    for i in (0, 13, 99):
        single = getattr(lamella, name)(*(to_lamella(a[i]) for a in arrays))
        assert bits(single) == whole[i].tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ONE_INPUT + TWO_INPUTS)
def test_values_do_not_depend_on_strides(name, dtype):
    inputs = 1 if name in ONE_INPUT else 2
    arrays = [sample(dtype, 60, seed) for seed in range(inputs)]
    whole = bits(getattr(lamella, name)(*map(to_lamella, arrays)))
    spread = [to_lamella(np.repeat(a, 3))[::3] for a in arrays]
    assert bits(getattr(lamella, name)(*spread)) == whole
    columns = [to_lamella(np.ascontiguousarray(a.reshape(6, 10).T)).t() for a in arrays]
    assert bits(getattr(lamella, name)(*columns)) == whole
    if inputs == 2:
        first, constant = arrays[0], arrays[1][7]
        full = bits(getattr(lamella, name)(to_lamella(first), to_lamella(np.full(60, constant))))
        assert bits(getattr(lamella, name)(to_lamella(first), to_lamella(constant).expand(60))) == full
        if name in TAKES_NUMBERS:
            assert bits(getattr(lamella, name)(to_lamella(first), float(constant))) == full


THREADED = [
    (name, dtype)
    for name in ONE_INPUT + TWO_INPUTS
    for dtype in ("float32", "float64", "bfloat16", "int64")
    if dtype != "int64" or name not in FLOATS_ONLY
]


@pytest.mark.parametrize("name, dtype", THREADED)
def test_values_do_not_depend_on_threads(name, dtype):
    count = 300_001
    arrays = [sample(dtype, count, seed) for seed in range(1 if name in ONE_INPUT else 2)]
    if name in ("floor_divide", "fmod", "remainder") and dtype == "int64":
        arrays[1] += 1
    tensors = [to_lamella(a) for a in arrays]
    results = []
    for threads in (1, 2, 3, 8):
        lamella.set_num_threads(threads)
        results.append(bits(getattr(lamella, name)(*tensors)))
    assert len(set(results)) == 1
    part = getattr(lamella, name)(*(t[count - 1000 :] for t in tensors))
    assert results[0].endswith(bits(part))


# ---- overlapping memory ----------------------------------------------------------------------------------------------


@given(data=st.data())
def test_overlapping_input_and_output(data):
    x = values("float32", 40, data.draw(st.integers(0, 99)), -5, 5)
    a, b, c, n = (data.draw(st.integers(0, 10)) for _ in range(4))
    t = to_lamella(x)
    want = x[b : b + n] + np.float32(2) * x[a : a + n]
    lamella.add(t[b : b + n], t[a : a + n], alpha=2, out=t[c : c + n])
    x[c : c + n] = want
    assert_same(t, x)
