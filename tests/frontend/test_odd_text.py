"""Text that UTF-8 or C cannot express, such as os.fsdecode's file names: errors escape it, and nothing crashes."""

import re

import lamella
import pytest

ODD = "odd\udc80"


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: lamella.zeros(2, dtype=ODD), r"argument 'dtype' must be .*, got str"),
        (lambda: lamella.zeros(2, device=ODD), "there is no backend 'odd"),
        (lambda: lamella.zeros(2, **{ODD: 1}), "surrogates not allowed|odd"),
        (lambda: lamella.add(lamella.ones(1), 1, **{ODD: 1}), "surrogates not allowed|odd"),
        (lambda: lamella.ones(1).view(ODD), "must be"),
        (lambda: lamella.div(lamella.ones(1), 2, rounding_mode=ODD), "surrogates not allowed"),
        (lambda: lamella.device(ODD), "there is no backend 'odd"),
        (lambda: lamella.zeros(2, dtype="float32\0"), "argument 'dtype' must be .*, got str"),
        (lambda: lamella.zeros(2, device="cpu\0x"), "there is no backend 'cpu.+0x'"),
        (lambda: lamella.zeros(2, device="cpu:0\0"), "is no device; expected a name"),
        (lambda: lamella.div(lamella.ones(1), 2, rounding_mode="floor\0"), "argument 'rounding_mode': expected"),
        (lambda: lamella.library.find(ODD), "surrogates not allowed|odd"),
        (lambda: getattr(lamella.ops.aten, ODD), "odd"),
        (lambda: getattr(lamella.ops.aten.add, ODD), "odd"),
    ],
)
def test_an_argument(call, error):
    with pytest.raises((TypeError, ValueError, RuntimeError, AttributeError)) as caught:
        call()
    assert re.search(error, ascii(str(caught.value)))  # pytest cannot send unescaped text


def test_the_message_of_a_kernels_error():
    lib = lamella.library.Library("odd_text", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    thrown = ValueError(ODD)

    def kernel(x):
        raise thrown

    lib.impl("f", kernel)
    with pytest.raises(ValueError) as caught:
        lamella.ops.odd_text.f(lamella.ones(1))
    assert caught.value is thrown
    lib.close()
