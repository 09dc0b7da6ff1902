"""Planted defects: kernels in numpy that compute codes, values or sums in a wrong way are reported by the tests that
compare with the references."""

from contextlib import closing

import lamella
import numpy as np
import pytest
import test_fake_quantize as fake_quantization
import test_quantization_workflows as workflows
import test_quantized_operators as operators
import test_quantized_tensors as tensors
from lamella.library import Library, get_kernel

pytestmark = pytest.mark.needs("autograd", "quantization")
assert tensors.DEVICE == "cpu", "the kernels in numpy are those of the cpu"


def array(t):
    return None if t is None else t.numpy()


def here(values, dtype):
    return lamella.tensor(np.ascontiguousarray(values)).to(dtype)


def by_element(numbers, count, inner, first):
    """Returns scales or zero points for each of the elements, as Note [Blocks] in operators/quantization.cpp says."""
    return numbers.reshape(-1)[(first + np.arange(count)) // inner % numbers.size]


def quantize(rounding=np.rint, quotient=np.float32, shift=0, saturates=True, nan="low"):
    """Makes a kernel of aten::_quantize. A quotient of None is a product with 1 / scale."""

    def kernel(self, scale, zero_point, inner, low, high, dtype, first=0):
        x = array(self.float()).ravel()
        scales = by_element(array(scale), x.size, inner, first)
        zeros = 0 if zero_point is None else by_element(array(zero_point), x.size, inner, first).astype(np.float64)
        with np.errstate(all="ignore"):
            quotients = x * (1 / scales) if quotient is None else x.astype(quotient) / scales.astype(quotient)
            codes = rounding(quotients).astype(np.float64) + zeros + shift
        codes = np.where(np.isnan(x), low if nan == "low" else zeros, codes)
        if saturates:
            codes = np.clip(codes, low, high)
        else:  # the low bits remain
            codes = (np.clip(codes, -(2.0**40), 2.0**40).astype(np.int64) - low) % (high - low + 1) + low
        return here(codes.astype(np.int64).reshape(self.shape), dtype)

    return "_quantize", kernel


def dequantize(has_zero=True, blocks=True):
    """Makes a kernel of aten::_dequantize."""

    def kernel(self, scale, zero_point, inner, dtype, first=0):
        codes = array(self).ravel().astype(np.int64)
        inner, first = (inner, first) if blocks else (1, 0)
        if zero_point is not None and has_zero:
            codes = codes - by_element(array(zero_point), codes.size, inner, first)
        values = codes.astype(np.float32) * by_element(array(scale), codes.size, inner, first)
        return here(values.astype(np.float32).reshape(self.shape), dtype)

    return "_dequantize", kernel


def int_linear(add=np.int64, saturates_at=None, has_zero=True):
    """Makes a kernel of aten::_int_linear."""

    def kernel(input, weight, zero_point=None, input_scale=None, scale=None, bias=None, weight_sums=None):
        def column(t):
            return array(t).reshape(-1, 1) if t.numel() > 1 else array(t).ravel()

        x = array(input).reshape(-1, input.shape[-1]).astype(np.int64)
        if zero_point is not None and has_zero:
            x = x - column(zero_point)
        products = x[:, None, :] * array(weight).astype(np.int64)
        if saturates_at is not None:  # pairs of products are added in fewer bits
            pairs = np.pad(products, ((0, 0), (0, 0), (0, products.shape[-1] % 2)))
            pairs = pairs.reshape(*products.shape[:2], -1, 2).sum(-1)
            products = np.clip(pairs, -saturates_at, saturates_at - 1)
        sums = np.zeros(products.shape[:2], add)
        for k in range(products.shape[-1]):
            sums = (sums + products[..., k].astype(add)).astype(add)
        shape = (*input.shape[:-1], weight.shape[0])
        if scale is None:
            return here(sums.astype(np.int32).reshape(shape), lamella.int32)
        factor = array(scale) if input_scale is None else column(input_scale) * array(scale)
        values = sums.astype(np.int32).astype(np.float32) * factor
        return here((values if bias is None else values + array(bias)).reshape(shape), lamella.float32)

    return "_int_linear", kernel


def changed(operator, change=lambda made: made):
    """Makes a kernel that changes what the kernel of an operator computes."""
    own = get_kernel(f"aten::{operator}", "cpu")
    return operator, lambda *args, **kwargs: change(own(*args, **kwargs))


def in_16_bits(sums):
    return sums.clamp(-(2**15), 2**15 - 1)


def other_scales(rows):
    codes, scale, zero = rows
    return codes, scale.flip(0), zero


def codes_and_values():
    for type in ("int8", "uint8", "int4"):
        tensors.test_the_dtype_of_arithmetic_stays("float64", type)


def all_schemes():
    tensors.test_codes_and_values_are_those_of_the_reference()


def groups():
    tensors.test_views_share_the_codes("int8", "group", "a row")


def near_halves():
    fake_quantization.test_numbers_near_halves()


def layers():
    workflows.test_dynamic_layers_are_exact()
    workflows.test_converted_layers_are_exact()


def weights_alone():
    operators.test_weights_alone_may_be_quantized("int8", "channel", 0)


def long_sums():
    operators.test_long_sums_are_exact("uint8")


def away_from_zero(q):
    return np.trunc(q + np.copysign(0.5, q))


PLANTED = {
    "halves away from zero": (quantize(away_from_zero), codes_and_values),
    "halves upwards": (quantize(lambda q: np.floor(q + 0.5)), codes_and_values),
    "rounding toward zero": (quantize(np.trunc), codes_and_values),
    "a quotient in float64": (quantize(quotient=np.float64), near_halves),
    "a zero point that is too large by one": (quantize(shift=1), codes_and_values),
    "low bits in place of the nearest code": (quantize(saturates=False), codes_and_values),
    "a product with the inverse of the scale": (quantize(quotient=None), near_halves),
    "NaN becomes 0": (quantize(nan="zero"), all_schemes),
    "values without the zero point": (dequantize(has_zero=False), codes_and_values),
    "scales of other elements": (dequantize(blocks=False), groups),
    "sums in float32": (int_linear(np.float32), long_sums),
    "sums in 16 bits": (int_linear(np.int16), layers),
    "pairs of products in 16 bits": (int_linear(saturates_at=2**15), long_sums),
    "sums without the zero point": (int_linear(has_zero=False), layers),
    "sums of a convolution in 16 bits": (changed("_int_conv", in_16_bits), long_sums),
    "scales of other rows": (changed("_quantize_rows", other_scales), layers),
    "products that are off by 1e-3": (
        changed("_weight_linear", lambda y: y * 1.001),
        weights_alone,
    ),
}
RIGHT = {(kernel[0], check) for kernel, check in PLANTED.values()}
KERNELS = {"_quantize": quantize(), "_dequantize": dequantize(), "_int_linear": int_linear()}
KERNELS |= {name: changed(name) for name in ("_int_conv", "_quantize_rows", "_weight_linear")}


def calls_of(operator, kernel, check):
    """Runs a check while a kernel in numpy serves an operator; returns how often it was called, and the failure."""
    calls = []

    def counted(*args, **kwargs):
        calls.append(operator)
        return kernel(*args, **kwargs)

    with closing(Library("aten", "IMPL", "cpu")) as library:
        library.impl(operator, counted)
        try:
            check()
        except AssertionError as failure:
            return len(calls), failure
    return len(calls), None


@pytest.mark.parametrize("operator, check", sorted(RIGHT, key=lambda r: (r[0], r[1].__name__)))
def test_right_kernels_in_numpy_pass(operator, check):
    calls, failure = calls_of(*KERNELS[operator], check)
    assert calls and failure is None, failure


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_reported(defect):
    kernel, check = PLANTED[defect]
    calls, failure = calls_of(*kernel, check)
    assert calls and failure is not None
