"""Memory formats: the order of a four-dimensional tensor's elements, and the operators that keep it."""

import lamella
import numpy as np
import pytest

LAST = lamella.channels_last


def image():
    return lamella.arange(2 * 3 * 4 * 5, dtype=lamella.float32).view(2, 3, 4, 5)


def test_channels_last_lies_as_numpy_transposed():
    x = image()
    y = x.contiguous(memory_format=LAST)
    assert y.shape == (2, 3, 4, 5) and y.stride() == (60, 1, 15, 3)
    np.testing.assert_array_equal(y.numpy(), x.numpy())
    assert y.is_contiguous(memory_format=LAST) and not y.is_contiguous() and not x.is_contiguous(memory_format=LAST)
    assert y.contiguous(memory_format=LAST) is y and y.contiguous().stride() == x.stride()


def test_creation_in_a_format():
    x = image()
    for y in (
        lamella.empty(2, 3, 4, 5, memory_format=LAST),
        lamella.empty_like(x, memory_format=LAST),
        lamella.zeros_like(x, memory_format=LAST),
        lamella.randn_like(x, memory_format=LAST),
        x.clone(memory_format=LAST),
        x.to(lamella.float64, memory_format=LAST),
    ):
        assert y.stride() == (60, 1, 15, 3)
    assert lamella.empty(2, 0, 4, 5, memory_format=LAST).shape == (2, 0, 4, 5)


def test_it_is_preserved():
    y = image().contiguous(memory_format=LAST)
    for z in (y + 1, y.relu(), y.clone(), lamella.empty_like(y), y.to(lamella.float64), y + image()[:1, :, :1, :1]):
        assert z.stride() == (60, 1, 15, 3)
    assert y.clone(memory_format=lamella.contiguous_format).is_contiguous()


@pytest.mark.parametrize("call", [lambda t: t.contiguous(memory_format=LAST), lambda t: t.clone(memory_format=LAST)])
def test_other_numbers_of_dimensions_are_refused(call):
    with pytest.raises(RuntimeError, match="memory_format.*channels_last has four dimensions"):
        call(lamella.ones(3, 4))
    with pytest.raises(TypeError, match="is_contiguous: argument 'memory_format'"):
        lamella.ones(2).is_contiguous(memory_format=3)
