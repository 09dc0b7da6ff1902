"""Reading `grad` of a tensor that never gets one warns; reading any other does not. So does a copy by tensor()."""

import warnings

import lamella
import numpy as np
import pytest


def warned(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = call()
    assert all(w.category is UserWarning and w.filename == __file__ for w in seen)
    return result, [str(w.message) for w in seen]


def test_a_result_has_no_grad():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    got, [text] = warned(lambda: y.grad)
    assert got is None and "not a leaf" in text and "retain_grad()" in text
    y.sum().backward()
    assert warned(lambda: y.grad)[0] is None and len(warned(lambda: y.grad)[1]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="not a leaf"):
            y.grad  # noqa: B018
        assert getattr(x, "grad", None).tolist() == [2.0, 2.0]


def test_others_do_not_warn():
    leaf, plain = lamella.ones(2, requires_grad=True), lamella.ones(2)
    retained, given = leaf * 2, leaf * 3
    retained.retain_grad()
    given.grad = lamella.ones(2)
    for t in (leaf, plain, retained, given, retained.detach(), leaf[:0].detach()):
        assert warned(lambda t=t: t.grad)[1] == []
    (retained.sum() + given.sum()).backward()
    for t in (leaf, retained, given):
        assert warned(lambda t=t: t.grad)[0] is not None and warned(lambda t=t: t.grad)[1] == []
    with lamella.no_grad():
        assert warned(lambda: (leaf * 2).grad)[1] == []


@pytest.mark.parametrize("dtype", [None, lamella.float64])
def test_copies_by_tensor_warn(dtype):
    x = lamella.ones(2, requires_grad=True)
    for make in (lamella.tensor, x.new_tensor):
        made, [text] = warned(lambda make=make: make(x, dtype=dtype))
        assert "data.detach().clone()" in text
        assert made.tolist() == [1.0, 1.0] and not made.requires_grad and made.data_ptr() != x.data_ptr()
        assert made.dtype == (dtype or lamella.float32)
    assert warned(lambda: lamella.tensor(lamella.nn.Parameter(lamella.ones(1)), requires_grad=True))[0].requires_grad


def test_other_ways_do_not_warn():
    x = lamella.ones(2)
    for make in (
        lambda: lamella.as_tensor(x),
        lambda: lamella.asarray(x, copy=True),
        lambda: lamella.tensor([x[0].item()]),
        lambda: lamella.tensor(np.ones(2)),
        lambda: x.detach().clone(),
        lambda: x.new_tensor([1.0]),
        lambda: lamella.tensor(3),
    ):
        assert warned(make)[1] == []
    copied = lamella.asarray(x, copy=True)
    assert copied.data_ptr() != x.data_ptr() and copied.tolist() == [1.0, 1.0]
