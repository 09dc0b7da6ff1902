"""Operators over lists beyond their samples: dtypes, derivatives, shared memory, errors."""

import lamella
import numpy as np
import pytest

LISTS = [[0.3, 0.7], [0.25], [[0.5, 0.1], [0.9, 0.2]]]


def tensors(by=1.0, **more):
    return [lamella.tensor(x, dtype=lamella.float64, **more) * by for x in LISTS]


def same(got, wanted):
    assert len(got) == len(wanted)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y, rtol=1e-12)


def test_copies():
    x = tensors()
    lamella._foreach_copy_(x, [lamella.ones(2), lamella.zeros(1), lamella.ones(2, 2, dtype=lamella.int32)])
    same(x, [np.ones(2), np.zeros(1), np.ones((2, 2))])
    lamella._foreach_zero_(x)
    same(x, [np.zeros(2), np.zeros(1), np.zeros((2, 2))])
    copies = lamella._foreach_clone(x)
    assert all(a is not b and a.data_ptr() != b.data_ptr() for a, b in zip(copies, x, strict=True))
    assert lamella._foreach_norm([lamella.ones(4)], dtype=lamella.float64)[0].dtype == lamella.float64


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
