"""Tuples that are known when a script is compiled, tuples times a number, and lists of them; against CPython."""

import lamella
import pytest
from lamella import jit, nn

PAIR, EMPTY, NUMBERS, NAMES = (1, 2), (), [1, 2], {"a": 1}


def kinds(n: int):
    known = [isinstance(PAIR, tuple), isinstance(PAIR, list), isinstance(PAIR, (tuple, list)), isinstance(EMPTY, tuple)]
    more = [isinstance(NUMBERS, list), isinstance(NUMBERS, tuple), isinstance(NAMES, dict), isinstance(NAMES, list)]
    return known + more


def repeated(n: int):
    return (n, 0.5) * 2, 2 * ("a",), (n,) * 0, (n,) * -1


def each(sizes: list[int]):
    window = (2,) * 2
    total = 0
    for size, w in zip(sizes, window, strict=True):
        total += size * w
    return [size * w + p for size, w, p in zip(sizes, window, PAIR, strict=True)], total


@pytest.mark.parametrize(("function", "argument"), [(kinds, 3), (repeated, 3), (each, [5, 7])])
def test_same_as_cpython(function, argument):
    assert jit.script(function)(argument) == function(argument)


def test_a_constant_of_a_module():
    class Net(nn.Module):
        __constants__ = ["size"]

        def __init__(self, size):
            super().__init__()
            self.size = size

        def forward(self, x):
            if isinstance(self.size, tuple):
                return x * self.size[0] + self.size[1]
            return x * self.size

    x = lamella.ones(1)
    assert [jit.script(Net(size))(x).item() for size in ((2, 3), 4)] == [5.0, 4.0]


def test_the_length_has_to_be_known():
    def unknown(n: int):
        return (n,) * n

    with pytest.raises(jit.ScriptError, match="a tuple times a number needs one that is known, for its length"):
        jit.script(unknown)


LABELS = lamella.tensor([[1, 2], [2, 1], [1, 1], [2, 2]])
LAYERS = [
    (nn.Softmax2d(), lambda x: (x,)),
    (nn.LPPool2d(2, 2), lambda x: (x,)),
    (nn.MaxUnpool2d(2), lambda x: nn.functional.max_pool2d(x, 2, return_indices=True)),
    (nn.GaussianNLLLoss(), lambda x: (x, x * 2, x.abs())),
    (nn.CTCLoss(), lambda x: (x[0].log_softmax(2), LABELS, lamella.tensor([4] * 4), lamella.tensor([2] * 4))),
]


@pytest.mark.parametrize(("layer", "arguments"), LAYERS, ids=[type(m).__name__ for m, _ in LAYERS])
def test_layers(layer, arguments):
    given = arguments(lamella.arange(128.0).sin().reshape(2, 4, 4, 4))
    assert lamella.equal(jit.script(layer)(*given), layer(*given))


def test_methods_of_tensors():
    def several(x):
        return x.where(x > 0, 0), x.where(x > 0, x * 2), x.nonzero(), x.isreal(), (x.abs() + 1).polygamma(1)

    x = lamella.tensor([1.0, -2.0, 0.0])
    for found, wanted in zip(jit.script(several)(x), several(x), strict=True):
        assert lamella.equal(found, wanted)


def test_a_tuple_that_an_operator_makes_too_long():
    def repeated():
        return (1, 2) * 32768

    with pytest.raises(jit.ScriptError, match="this makes a tuple of 65536 items, and 65535 are the most; use a list"):
        jit.script(repeated)
