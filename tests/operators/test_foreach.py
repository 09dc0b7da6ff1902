"""Operators over lists: each gives what the single one gives in every place, with its derivatives and errors."""

import lamella
import numpy as np
import pytest
from catalogue import BY_TITLE

NAMES = sorted({t.partition(".")[0].removeprefix("_foreach_") for t in BY_TITLE if t.startswith("_foreach_")})
UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal
round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
LISTS = [[0.3, 0.7], [0.25], [[0.5, 0.1], [0.9, 0.2]]]


def tensors(by=1.0, **more):
    return [lamella.tensor(x, dtype=lamella.float64, **more) * by for x in LISTS]


def arrays(by=1.0):
    return [np.array(x) * by for x in LISTS]


def same(got, wanted):
    assert len(got) == len(wanted)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y, rtol=1e-12)


def both(name, wanted, *args, first=None, **more):
    """The functional form and the one in place."""
    x = tensors() if first is None else first
    same(getattr(lamella, "_foreach_" + name)(x, *args, **more), wanted)
    assert getattr(lamella, f"_foreach_{name}_")(x, *args, **more) is None
    same(x, wanted)
    assert all(t._version > 0 for t in x)


@pytest.mark.parametrize("name", UNARY)
def test_of_one_list(name):
    import scipy.special as sp

    own = dict(acos=np.arccos, asin=np.arcsin, atan=np.arctan, frac=lambda x: x - np.trunc(x), neg=np.negative)
    own |= dict(erf=sp.erf, erfc=sp.erfc, lgamma=sp.gammaln, rsqrt=lambda x: 1 / np.sqrt(x), sigmoid=sp.expit)
    formula = own.get(name) or getattr(np, name)
    both(name, [formula(x) for x in arrays()])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "clamp_min", "clamp_max", "maximum", "minimum", "pow"])
def test_with_a_number_a_list_and_numbers(name):
    own = dict(sub=np.subtract, mul=np.multiply, div=np.divide, clamp_min=np.maximum, clamp_max=np.minimum)
    formula = own.get(name) or getattr(np, name)
    for number in (2, 0.4):
        both(name, [formula(x, number) for x in arrays()], number)
    both(name, [formula(x, y) for x, y in zip(arrays(), arrays(0.5), strict=True)], tensors(0.5))
    both(name, [formula(x, y) for x, y in zip(arrays(), (0.4, 2, 3), strict=True)], [0.4, 2, 3])


def test_factors_and_single_tensors():
    pairs = list(zip(arrays(), arrays(0.5), strict=True))
    both("add", [x + 3 * y for x, y in pairs], tensors(0.5), alpha=3)
    both("sub", [x - 3 * y for x, y in pairs], tensors(0.5), alpha=3)
    both("add", [x + 4 for x in arrays()], lamella.tensor(2.0), alpha=2)
    both("mul", [x * 2 for x in arrays()], lamella.tensor(2.0))
    both("div", [x / 2 for x in arrays()], lamella.tensor(2.0))
    same(lamella._foreach_pow(2, tensors()), [2**x for x in arrays()])


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_of_three_lists(name):
    part = (lambda x: x * (3 * x)) if name == "addcmul" else (lambda x: x / (3 * x))
    lists = tensors(), tensors(3.0)
    for given, factors in (
        ((), [1] * 3),
        ((2,), [2] * 3),
        (([1, 2, 3],), [1, 2, 3]),
        ((lamella.ones(3) * 2,), [2] * 3),
    ):
        both(name, [x + k * part(x) for x, k in zip(arrays(), factors, strict=True)], *lists, *given)


def test_lerp():
    def between(k):
        return [x + k * (3 * x - x) for x in arrays()]

    both("lerp", between(0.25), tensors(3.0), 0.25)
    both("lerp", between(0.25), tensors(3.0), [0.25] * 3)
    both("lerp", between(0.25), tensors(3.0), [lamella.full_like(t, 0.25) for t in tensors()])


def test_copies_norms_and_products():
    x = tensors()
    lamella._foreach_copy_(x, [lamella.ones(2), lamella.zeros(1), lamella.ones(2, 2, dtype=lamella.int32)])
    same(x, [np.ones(2), np.zeros(1), np.ones((2, 2))])
    lamella._foreach_zero_(x)
    same(x, [np.zeros(2), np.zeros(1), np.zeros((2, 2))])
    copies = lamella._foreach_clone(x)
    assert all(a is not b and a.data_ptr() != b.data_ptr() for a, b in zip(copies, x, strict=True))
    same(lamella._foreach_norm(tensors()), [np.linalg.norm(a) for a in arrays()])
    for order in (1, 3, float("inf")):
        same(lamella._foreach_norm(tensors(), order), [np.linalg.norm(a.ravel(), order) for a in arrays()])
    assert lamella._foreach_norm([lamella.ones(4)], dtype=lamella.float64)[0].dtype == lamella.float64
    same(lamella._foreach_powsum(tensors(), 3), [(np.abs(a) ** 3).sum() for a in arrays()])
    same(lamella._foreach_max(tensors()), [a.max() for a in arrays()])
    same(lamella._foreach_mm(tensors()[2:], tensors()[2:]), [arrays()[2] @ arrays()[2]])


def test_every_name_was_called_here():
    more = "zero copy clone norm powsum max mm addcmul addcdiv lerp add sub mul div clamp_min clamp_max pow".split()
    assert {n.removesuffix("_") for n in NAMES} == {*UNARY, *more, "maximum", "minimum"}
    assert all(callable(getattr(lamella, "_foreach_" + n)) for n in NAMES)


def test_dtypes_of_one_list_differ_and_promote():
    x = [lamella.ones(2, dtype=d) for d in (lamella.int32, lamella.bfloat16, lamella.float64)]
    assert [t.dtype for t in lamella._foreach_add(x, 1.5)] == [lamella.float32, lamella.bfloat16, lamella.float64]
    with pytest.raises(RuntimeError, match=r"_foreach_add_: .*\(in place 0 of the lists\)"):
        lamella._foreach_add_(x, 1.5)


def test_a_tensor_that_comes_twice_is_changed_twice():
    x = lamella.ones(2)
    lamella._foreach_mul_([x, x], 3)
    assert x.tolist() == [9, 9]


def test_memory_that_is_written_and_read_elsewhere_is_refused():
    b = lamella.arange(10.0)
    ones, text = lamella.ones(9), r"'%s': some of its elements and of argument 'self\[%d\]' refer to a single memory"
    for call, at in (
        (lambda: lamella._foreach_add_([b[1:]], [b[:-1]]), (r"other\[0\]", 0)),
        (lambda: lamella._foreach_add_([ones, b[1:]], [ones, b[:-1]]), (r"other\[1\]", 1)),
        (lambda: lamella._foreach_copy_([b[1:]], [b[:-1]]), (r"src\[0\]", 0)),
        (lambda: lamella._foreach_lerp_([b[1:]], [ones], [b[:-1]]), (r"weights\[0\]", 0)),
        (lambda: lamella._foreach_addcmul_([b[1:]], [ones], [b[:-1]]), (r"tensor2\[0\]", 0)),
        (lambda: lamella._foreach_mul_([b[:2]], b[0]), ("other", 0)),
        (lambda: lamella._foreach_add_([b.view(2, 5)], [b.view(5, 2).t()]), (r"other\[0\]", 0)),
    ):
        with pytest.raises(RuntimeError, match=text % at):
            call()
    assert b.tolist() == list(range(10)) and ones.tolist() == [1] * 9
    lamella._foreach_add_([b], [b])
    lamella._foreach_add_([b[::2]], [b[1::2]])
    assert b.tolist() == [2, 2, 10, 6, 18, 10, 26, 14, 34, 18]
    same(lamella._foreach_add([b[1:]], [b[:-1]]), [(b[1:] + b[:-1]).numpy()])


@pytest.mark.needs("autograd")
def test_gradients_are_those_of_the_single_operators():
    x = [lamella.tensor(v, requires_grad=True) for v in (1.0, 2.0)]
    y = lamella._foreach_mul(lamella._foreach_exp(x), [2.0, 3.0])
    lamella._foreach_add_(y, x)
    (y[0] + y[1]).backward()
    np.testing.assert_allclose([t.grad.item() for t in x], [2 * np.exp(1) + 1, 3 * np.exp(2) + 1], rtol=1e-6)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        lamella._foreach_add_(x, 1)


def test_meta():
    assert [
        t.shape for t in lamella._foreach_add([lamella.ones(2, device="meta")], [lamella.ones(3, 1, device="meta")])
    ] == [(3, 2)]


def test_errors():
    x = [lamella.ones(2), lamella.ones(3)]
    with pytest.raises(RuntimeError, match="_foreach_add: argument 'self': expected at least one tensor"):
        lamella._foreach_add([], 1)
    with pytest.raises(RuntimeError, match="argument 'other': expected 2 elements, as in the list before, got 1"):
        lamella._foreach_add(x, x[:1])
    with pytest.raises(RuntimeError, match="argument 'scalars': expected 2 elements"):
        lamella._foreach_mul_(x, [1, 2, 3])
    with pytest.raises(RuntimeError, match=r"argument 'scalars': expected a row of 2 numbers, got shape \(3,\)"):
        lamella._foreach_addcmul(x, x, x, lamella.ones(3))
    with pytest.raises(RuntimeError, match=r"do not broadcast \(in place 1 of the lists\)"):
        lamella._foreach_add(x, [lamella.ones(2), lamella.ones(4)])
    with pytest.raises(TypeError, match="_foreach_exp"):
        lamella._foreach_exp(3)
