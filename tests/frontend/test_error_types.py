"""Wrong calls of modules and functions raise torch's type of exception, and name given and accepted arguments."""

import inspect

import lamella
import pytest
from lamella import nn
from lamella.nn import functional as F
from lamella.nn.utils import rnn

ones, i64 = lamella.ones, lamella.int64
X = ones(2, 3, 4)


def attention(**masks):
    return nn.MultiheadAttention(4, 2)(X, X, X, **masks)


def fractional(x, samples):
    return F.fractional_max_pool2d(x, 2, output_size=3, _random_samples=samples)


def entropy(*sizes, target=(2,), **weight):
    return F.cross_entropy(ones(*sizes), lamella.zeros(target, dtype=i64), **weight)


REFUSED = {
    "one size of two": (lambda: F.adaptive_avg_pool2d(ones(1, 2, 4, 4), (2,)), RuntimeError, "expected 2 sizes, got"),
    "three sizes of two": (lambda: F.adaptive_max_pool2d(ones(1, 2, 4, 4), (2, 2, 2)), RuntimeError, "expected 2"),
    "two sizes of one": (lambda: F.adaptive_avg_pool1d(ones(1, 2, 4), (2, 2)), RuntimeError, "expected 1 sizes"),
    "a module's sizes": (lambda: nn.AdaptiveAvgPool3d((2, 2))(ones(1, 2, 2, 2)), RuntimeError, "expected 3 sizes"),
    "a size in words": (lambda: nn.AdaptiveAvgPool2d("a")(ones(1, 2, 2)), TypeError, "'output_size'.*'a'"),
    "a size with a fraction": (lambda: F.adaptive_avg_pool1d(ones(1, 2, 4), 2.5), TypeError, "'output_size'.*2.5"),
    "an image without channels": (lambda: F.avg_pool2d(ones(4, 4), 2), IndexError, r"got shape \(4, 4\)"),
    "its power pool": (lambda: F.lp_pool2d(ones(4, 4), 2, 2), IndexError, r"got shape \(4, 4\)"),
    "its largest": (lambda: F.max_pool2d(ones(4, 4), 2), RuntimeError, r"got shape \(4, 4\)"),
    "too many dimensions": (lambda: F.unfold(ones(1, 1, 1, 4, 4), 2), RuntimeError, "got shape"),
    "an odd margin": (lambda: F.pad(ones(1, 1, 4, 4), (1, 1, 1)), RuntimeError, "'pad'"),
    "a margin that reflects too much": (
        lambda: nn.ReflectionPad1d(4)(ones(1, 1, 4)),
        RuntimeError,
        r"dimension 2 of size 4 by \(4, 4\)",
    ),
    "a circle around a matrix": (lambda: nn.CircularPad2d(1)(ones(4, 4)), ValueError, "3D or 4D input .got 2D"),
    "integers as weights": (lambda: lamella.multinomial(ones(3, dtype=i64), 1), RuntimeError, "int64"),
    "integers that decay": (lambda: ones(3, dtype=i64).exponential_(), RuntimeError, "int64"),
    "a mask of integers": (
        lambda: attention(key_padding_mask=ones(3, 2, dtype=i64)),
        AssertionError,
        "bool and floating types of key_padding_mask",
    ),
    "a mask of another length": (
        lambda: attention(key_padding_mask=ones(3, 3, dtype=lamella.bool)),
        AssertionError,
        r"expected shape \(3, 2\), got \(3, 3\)",
    ),
    "a mask of scores": (lambda: attention(attn_mask=ones(3, 3).bool()), RuntimeError, "attn_mask"),
    "samples of another dtype": (
        lambda: fractional(ones(1, 2, 6, 6), ones(1, 2, 2, dtype=lamella.float64)),
        RuntimeError,
        "dtype of the input, float32, got float64",
    ),
    "too few samples": (
        lambda: fractional(ones(2, 2, 6, 6), ones(1, 2, 2)),
        RuntimeError,
        r"expected shape \(2, 2, 2\)",
    ),
    "fractions of a matrix": (lambda: fractional(ones(6, 6), ones(1, 2, 2)), IndexError, r"got shape \(6, 6\)"),
    "weights of other classes": (
        lambda: entropy(2, 3, weight=ones(4)),
        RuntimeError,
        r"weight tensor should be defined either for all 3 classes or no classes, got shape \(4,\)",
    ),
    "the same of probabilities": (
        lambda: F.cross_entropy(ones(2, 3), ones(2, 3) / 3, weight=ones(4)),
        RuntimeError,
        "for all 3 classes or no classes",
    ),
    "weights of another dtype": (lambda: entropy(2, 3, weight=ones(3).double()), RuntimeError, "'weight'.*float64"),
    "another batch": (lambda: entropy(2, 3, target=(3,)), ValueError, r"\(3,\) is not that of the input, \(2, 3\)"),
    "classes of one sample": (lambda: entropy(3, target=(2,)), ValueError, "is not that of the input"),
    "other pixels": (lambda: entropy(2, 3, 4, 4, target=(2, 3, 4)), RuntimeError, "is not that of the input"),
    "probabilities of other classes": (
        lambda: F.cross_entropy(ones(2, 3), ones(2, 2)),
        RuntimeError,
        r"\(2, 2\) is not that of the input",
    ),
    "too many lengths": (lambda: rnn.pack_padded_sequence(ones(3, 2, 1), [3, 2, 1]), RuntimeError, "batch_size=2"),
    "lengths that rise": (lambda: rnn.pack_padded_sequence(ones(3, 2), [2, 3]), RuntimeError, "sorted in decreasing"),
    "an empty sequence": (lambda: rnn.pack_padded_sequence(ones(3, 2), [3, 0]), RuntimeError, "greater than 0"),
    "a longer sequence": (lambda: rnn.pack_padded_sequence(ones(3, 2), [4, 1]), RuntimeError, "from 1 to the 3"),
    "steps without a batch": (lambda: rnn.pack_padded_sequence(ones(3), [3]), IndexError, r"got shape \(3,\)"),
    "numbers to pad": (lambda: rnn.pad_sequence(ones(3)), RuntimeError, "no dimension to pad"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words) as raised:
        call()
    assert raised.type is error


def test_further_samples_are_not_used():
    x = lamella.rand(1, 2, 6, 6)
    assert fractional(x, lamella.full((3, 2, 2), 0.5)).equal(fractional(x, lamella.full((1, 2, 2), 0.5)))


def test_the_signature_of_a_call():
    """A module's signature is torch's; a class has its constructor's."""

    class Own(nn.Module):
        def __init__(self, size, *, scale=1.0):
            super().__init__()

    for module in (nn.Linear(1, 1), nn.Sequential(), Own(2)):
        assert str(inspect.signature(module)) == "(*args, **kwargs)"
    assert str(inspect.signature(Own)) == "(size, *, scale=1.0)"
    assert list(inspect.signature(nn.Linear).parameters)[:3] == ["in_features", "out_features", "bias"]
    assert not hasattr(Own, "__signature__")


@pytest.mark.parametrize("dtype", [lamella.complex64, lamella.complex128])
def test_complex_numbers_are_drawn(dtype):
    """Both parts are drawn; normal ones share the variance."""
    lamella.manual_seed(0)
    x = lamella.zeros(200, 200, dtype=dtype).normal_(1, 2)
    for part in (x.real, x.imag):
        assert abs(part.mean() - 1) < 0.05
        assert abs(part.var() - 2) < 0.1
    assert abs((x.real * x.imag).mean() - 1) < 0.05
    u = lamella.empty(100, 50, dtype=dtype).t().uniform_(2, 3)
    for part in (u.real, u.imag):
        assert ((part >= 2) & (part < 3)).all()
        assert abs(part.mean() - 2.5) < 0.02
    assert abs(lamella.randn(40000, dtype=dtype).abs().square().mean() - 1) < 0.05


def test_a_large_copy_that_need_not_be_there_at_once():
    """Such a copy uses stores that bypass the caches, at any offset."""
    source = lamella.arange(700_001, dtype=lamella.float32)
    for begin in (0, 1, 3):
        target = lamella.zeros(700_010)
        target[begin : begin + 700_001].copy_(source, non_blocking=True)
        assert target[begin : begin + 700_001].equal(source)
        assert target[:begin].sum() == 0
        assert target[begin + 700_001 :].sum() == 0
