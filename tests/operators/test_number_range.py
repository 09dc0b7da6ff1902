"""Numbers beyond a dtype's range: an error if the number is written or is a parameter; an operand wraps."""

import lamella
import pytest

BYTES = lamella.tensor([1, 2], dtype=lamella.int8)
HALVES = lamella.tensor([1, 2], dtype=lamella.float16)
YES = lamella.tensor([True, True])
FIRST = lamella.tensor([0])
FAR = lamella.tensor(1e300, dtype=lamella.float64)

OUTSIDE = {
    "full": lambda: lamella.full((2,), 300, dtype=lamella.int8),
    "full of float16": lambda: lamella.full((2,), 1e5, dtype=lamella.float16),
    "full of bfloat16": lambda: lamella.full((2,), 1e300, dtype=lamella.bfloat16),
    "full of float32": lambda: lamella.full((2,), 1e300),
    "full of complex64": lambda: lamella.full((2,), 1e300, dtype=lamella.complex64),
    "fill_": lambda: BYTES.clone().fill_(300),
    "fill_ of float16": lambda: HALVES.clone().fill_(-70000),
    "tensor": lambda: lamella.tensor([1, 300], dtype=lamella.int8),
    "tensor of NaN": lambda: lamella.tensor([float("nan")], dtype=lamella.int32),
    "tensor of 1e10": lambda: lamella.tensor(1e10, dtype=lamella.int32),
    "new_tensor": lambda: BYTES.new_tensor([300]),
    "masked_fill": lambda: BYTES.masked_fill(YES, 300),
    "index_fill": lambda: BYTES.index_fill(0, FIRST, -129),
    "scatter": lambda: BYTES.scatter(0, FIRST, 300),
    "assigned": lambda: BYTES.clone().__setitem__(0, 300),
    "assigned by mask": lambda: BYTES.clone().__setitem__(YES, 300),
    "clamp": lambda: BYTES.clamp(0, 300),
    "clamp_": lambda: BYTES.clone().clamp_(min=-300),
    "clamp of float32": lambda: BYTES.float().clamp(max=1e300),
    "clamp_min": lambda: BYTES.clamp_min(-300),
    "where": lambda: lamella.where(YES, BYTES, 300),
    "alpha": lambda: BYTES.add(1, alpha=300),
    "value": lambda: lamella.addcmul(BYTES, BYTES, BYTES, value=300),
    "threshold": lambda: lamella.nn.functional.threshold(BYTES, 1, 300),
    "pad": lambda: lamella.nn.functional.pad(BYTES, (1, 1), value=300),
    "linspace": lambda: lamella.linspace(0, 300, 3, dtype=lamella.int8),
    "logspace": lambda: lamella.logspace(0, 300, 3, dtype=lamella.uint8),
    "masked_fill by a tensor": lambda: BYTES.masked_fill(YES, lamella.tensor(300)),
    "masked_fill by NaN": lambda: BYTES.masked_fill(YES, lamella.tensor(float("nan"))),
    "masked_fill_ by a tensor": lambda: BYTES.clone().masked_fill_(YES, lamella.tensor(300)),
    "index_fill by a tensor": lambda: BYTES.index_fill(0, FIRST, lamella.tensor(-129)),
    "masked_fill of float32 by a tensor": lambda: BYTES.float().masked_fill(YES, FAR),
    "a negative fraction of an unsigned dtype": lambda: lamella.tensor([-1.5], dtype=lamella.uint8),
    "full of a negative float": lambda: lamella.full((2,), -1.0, dtype=lamella.uint8),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside(name):
    with pytest.raises(RuntimeError, match="does not fit"):
        OUTSIDE[name]()


COMPLEX = {  # torch: TypeError
    "tensor": lambda: lamella.tensor([1 + 2j], dtype=lamella.float32),
    "tensor of a number": lambda: lamella.tensor(1 + 2j, dtype=lamella.float64),
    "tensor of integers": lambda: lamella.tensor([1, 2j], dtype=lamella.int64),
    "a real one": lambda: lamella.tensor([1 + 0j], dtype=lamella.float32),
    "nested": lambda: lamella.tensor([[1.0, 2.0], [3.0, 4j]], dtype=lamella.bfloat16),
    "as_tensor": lambda: lamella.as_tensor([1 + 2j], dtype=lamella.float32),
    "asarray": lambda: lamella.asarray([1 + 2j], dtype=lamella.float32),
    "new_tensor": lambda: HALVES.new_tensor([1 + 2j], dtype=lamella.float32),
    "a tensor in the list": lambda: lamella.tensor([lamella.tensor(1 + 2j)], dtype=lamella.float32),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_data_is_no_real_data(name):
    with pytest.raises(TypeError, match="is complex, and dtype .* is real"):
        COMPLEX[name]()


def test_complex_data():
    assert lamella.tensor([1 + 2j, 0j], dtype=lamella.bool).tolist() == [True, False]  # as in torch
    assert lamella.tensor([1 + 2j, 3], dtype=lamella.complex64).tolist() == [1 + 2j, 3]


OUT_OF_REAL = {  # written values: every way refuses
    "full": lambda: lamella.full((2,), 1 + 2j, dtype=lamella.float32),
    "fill_": lambda: lamella.zeros(2).fill_(1 + 2j),
    "assigned": lambda: lamella.zeros(2).__setitem__(0, 1 + 2j),
    "scalar_tensor": lambda: lamella.scalar_tensor(1 + 2j, dtype=lamella.float32),
    "masked_fill": lambda: lamella.zeros(2).masked_fill(YES, 1 + 2j),
    "masked_fill by a tensor": lambda: lamella.zeros(2).masked_fill(YES, lamella.tensor(1 + 2j)),
    "index_fill": lambda: lamella.zeros(2).index_fill(0, FIRST, 1 + 2j),
    "scatter": lambda: lamella.zeros(2).scatter(0, FIRST, 1 + 2j),
    "add_": lambda: lamella.zeros(2).add_(1 + 2j),
    "out": lambda: lamella.add(lamella.zeros(2), 1j, out=lamella.zeros(2)),
    "where": lambda: lamella.where(YES, lamella.zeros(2), 1j, out=lamella.zeros(2)),
}


@pytest.mark.parametrize("name", OUT_OF_REAL)
def test_complex_numbers_into_real_tensors(name):
    with pytest.raises(RuntimeError, match="does not fit|cannot hold"):
        OUT_OF_REAL[name]()


INSIDE = {
    "an operand": (lambda: BYTES + 300, [45, 46]),
    "a compared operand": (lambda: BYTES == 257, [True, False]),
    "a negative number of an unsigned dtype": (lambda: lamella.full((2,), -1, dtype=lamella.uint8), [255, 255]),
    "any number of bool": (lambda: lamella.full((2,), 300, dtype=lamella.bool), [True, True]),
    "infinity": (lambda: HALVES.clamp(max=float("inf")), [1.0, 2.0]),
    "infinity of float16": (lambda: lamella.full((1,), float("-inf"), dtype=lamella.float16), [float("-inf")]),
    "float data": (lambda: lamella.tensor([1e300]), [float("inf")]),
    "the largest": (lambda: BYTES.clamp(-128, 127), [1, 2]),
    "a slope of float16": (lambda: lamella.nn.functional.leaky_relu(HALVES, 1e5), [1.0, 2.0]),
}


@pytest.mark.parametrize("name", INSIDE)
def test_inside(name):
    compute, wanted = INSIDE[name]
    assert compute().tolist() == wanted
