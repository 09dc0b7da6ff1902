"""The errors that programs meet first: each names the numbers that do not fit, and what to do."""

import math
import sys

import lamella
import lamella.nn.functional as F
import pytest
from children import Guest
from lamella import nn

ones = lamella.ones

CHANNELS = {
    "a layer for other images": (
        lambda: nn.Conv2d(3, 4, 3)(ones(1, 5, 8, 8)),
        r"argument 'input': 5 channels, dimension 1 of shape \(1, 5, 8, 8\), are not the 3 of 'weight', dimension 1 of "
        r"shape \(4, 3, 3, 3\); make the layer, or its weight, for 5 channels",
    ),
    "channels at the end": (
        lambda: nn.Conv2d(3, 4, 3)(ones(2, 8, 9, 3)),
        r"8 channels, dimension 1 of shape \(2, 8, 9, 3\), are not the 3 .*; dimension 3 has 3: movedim\(3, 1\) makes",
    ),
    "without a batch": (
        lambda: nn.Conv1d(3, 4, 3)(ones(8, 8)),
        r"8 channels, dimension 0 of shape \(8, 8\), are not the 3 of 'weight', dimension 1 of shape \(4, 3, 3\)",
    ),
    "groups": (
        lambda: nn.Conv2d(4, 4, 3, groups=2)(ones(1, 5, 8, 8)),
        r"5 channels, .* are not the 4 of 'weight', dimension 1 times 2 groups of shape \(4, 2, 3, 3\)",
    ),
    "groups that do not divide": (
        lambda: F.conv2d(ones(1, 4, 8, 8), ones(3, 2, 3, 3), groups=2),
        r"argument 'groups': expected a divisor of 3, the out channels in dimension 0 of 'weight', got 2",
    ),
    "no groups": (lambda: F.conv1d(ones(1, 4, 8), ones(4, 4, 3), groups=0), "'groups': expected a divisor of 4.*got 0"),
    "a transposed convolution": (
        lambda: nn.ConvTranspose2d(3, 4, 3)(ones(1, 5, 8, 8)),
        r"argument 'input': 5 channels, dimension 1 of shape \(1, 5, 8, 8\), are not the 3 of 'weight', dimension 0 of",
    ),
    "one without a batch": (
        lambda: nn.ConvTranspose1d(3, 4, 3)(ones(5, 8)),
        r"5 channels, dimension 0 of shape \(5, 8\), are not the 3 of 'weight', dimension 0 of shape \(3, 4, 3\)",
    ),
    "groups of one": (
        lambda: F.conv_transpose1d(ones(1, 3, 8), ones(3, 4, 3), groups=2),
        "'groups': expected a divisor of 3, the in channels in dimension 0 of 'weight', got 2",
    ),
    "time first": (
        lambda: lamella.conv_tbc(ones(5, 2, 3), ones(2, 4, 6), ones(6)),
        r"argument 'self': 3 channels, dimension 2 of shape \(5, 2, 3\), are not the 4 of 'weight', dimension 1 of",
    ),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_channels(name):
    call, words = CHANNELS[name]
    with pytest.raises(RuntimeError, match=words):
        call()


def test_the_advice_helps():
    x = ones(2, 8, 9, 3)
    assert nn.Conv2d(3, 4, 3)(x.movedim(3, 1)).shape == (2, 4, 6, 7)


def test_features():
    words = (
        r"linear: argument 'input': 5 features, the last dimension of shape \(2, 5\), are not the 3 in features of "
        r"'weight', the last dimension of shape \(4, 3\); make the layer, or its weight, for 5 in features, or reshape"
    )
    with pytest.raises(RuntimeError, match=words):
        nn.Linear(3, 4)(ones(2, 5))
    with pytest.raises(RuntimeError, match=r"\(2, 3, 5\), are not the 3 in features"):
        F.linear(ones(2, 3, 5), ones(3))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("shape, dim", [((4, 3), 1), ((2, 3, 5, 5), 1), ((3,), 0)])
def test_one_hot_integers(dtype, shape, dim):
    target = ones(*shape, dtype=getattr(lamella, dtype))
    words = rf"cross_entropy: argument 'target': has the input's shape, .*, as probabilities have, and dtype {dtype}; "
    advice = rf"cast it with \.to\(lamella\.float32\) for probabilities, or call \.argmax\({dim}\) for class indices"
    with pytest.raises(RuntimeError, match=words + advice):
        F.cross_entropy(ones(*shape), target)


def test_both_ways_of_one_hot_integers_give_the_loss():
    x = lamella.tensor([[1.0, 2.0, 0.5], [0.0, 1.0, 3.0]])
    target = F.one_hot(lamella.tensor([2, 0]), 3)
    losses = F.cross_entropy(x, target.to(lamella.float32)), F.cross_entropy(x, target.argmax(1))
    wanted = (math.log(math.e + math.e**2 + math.e**0.5) - 0.5 + math.log(1 + math.e + math.e**3)) / 2
    assert [loss.item() for loss in losses] == pytest.approx([wanted, wanted], rel=1e-6)


def test_class_indices_that_have_the_classes():
    words = (
        r"nll_loss: argument 'target': class indices of shape \(4, 3\) have a dimension for the classes.*\.argmax\(1\)"
    )
    for dtype in (lamella.int64, lamella.float32):
        with pytest.raises(RuntimeError, match=words):
            F.nll_loss(ones(4, 3), ones(4, 3, dtype=dtype))


@pytest.mark.parametrize("call", ["ones(2).cuda()", "nn.Linear(2, 2).cuda()", "ones(2, device='cuda')", "cuda.init()"])
def test_a_device_that_is_not_there_is_one_line(call, tmp_path):
    if lamella.cuda.is_available():
        pytest.skip("the device is there")
    Guest(sys.executable, tmp_path).run(f"""
        import lamella
        from lamella import cuda, nn, ones
        for _ in range(2):
            with fails(RuntimeError, "there is no NVIDIA driver", "install the driver") as error:
                {call}
            assert len(str(error).splitlines()) == 1 and "Traceback" not in str(error), str(error)
    """)


def test_planned_names_have_no_suggestion():
    with pytest.raises(ModuleNotFoundError) as caught:
        __import__("lamella.export")
    assert "it is planned with" in str(caught.value) and "did you mean" not in str(caught.value)
