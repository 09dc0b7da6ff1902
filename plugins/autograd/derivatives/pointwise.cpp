// Derivatives of pointwise operators and activations.
#include "derivatives/derivatives.h"

namespace lamella::autograd {
namespace {

constexpr Line elementwise[] = {
    // arithmetic
    {"add.Tensor", "self: grad; other: grad * conj(alpha)"},
    {"add.Scalar", "self: grad"},
    {"sub.Tensor", "self: grad; other: -(grad * conj(alpha))"},
    {"sub.Scalar", "self: grad"},
    {"rsub.Tensor", "self: -(grad * conj(alpha)); other: grad"},
    {"rsub.Scalar", "self: -(grad * conj(alpha))"},
    {"mul.Tensor", "self: grad * conj(other); other: grad * conj(self)"},
    {"mul.Scalar", "self: grad * conj(other)"},
    {"div.Tensor", "self: grad / conj(other); other: -(grad * conj(result / other))"},
    {"div.Scalar", "self: grad / conj(other)"},
    {"div.Scalar_Tensor", "other: -(grad * conj(result / other))"},
    {"floor_divide, _trunc_divide.Tensor", "self: zeros_like(grad); other: zeros_like(grad)"},
    {"floor_divide.Scalar, _trunc_divide.Scalar", "self: zeros_like(grad)"},
    {"floor_divide.Scalar_Tensor", "other: zeros_like(grad)"},
    {"neg", "self: -grad"},
    {"abs", "self: real(grad) * sgn(self)"},
    {"addcmul", "self: grad; tensor1: grad * conj(tensor2 * value); tensor2: grad * conj(tensor1 * value)"},
    {"addcdiv",
     "self: grad; tensor1: grad * conj(value) / conj(tensor2);"
     "tensor2: -(grad * conj(tensor1 * value / (tensor2 * tensor2)))"},
    {"lerp.Tensor", "self: grad * conj(1 - weight); end: grad * conj(weight); weight: grad * conj(end - self)"},
    {"lerp.Scalar", "self: grad * conj(1 - weight); end: grad * conj(weight)"},
    {"square", "self: grad * conj(self * 2)"},
    {"deg2rad", "self: grad * 0.017453292519943295"},
    {"rad2deg", "self: grad * 57.29577951308232"},
    {"reciprocal", "self: -(grad * conj(result * result))"},
    {"fmod.Tensor", "self: grad; other: -(grad * _trunc_divide(self, other))"},
    {"fmod.Scalar", "self: grad"},
    {"remainder.Tensor", "self: grad; other: -(grad * floor_divide(self, other))"},
    {"remainder.Scalar", "self: grad"},
    {"remainder.Scalar_Tensor", "other: -(grad * floor_divide(self, other))"},
    {"sign, ceil, floor, round, trunc", "self: zeros_like(grad)"},
    {"frac", "self: grad"},
    {"sgn", "self: _sgn_backward(grad, self, result)"},
    {"copysign.Tensor", "self: grad * where(eq(self, 0), 0, result / self); other: zeros_like(grad)"},
    {"copysign.Scalar", "self: grad * where(eq(self, 0), 0, result / self)"},
    {"heaviside", "none"},

    // powers, exponentials, logarithms
    {"pow.Tensor_Scalar", "self: _pow_backward(grad, self, exponent)"},
    {"pow.Tensor_Tensor",
     "self: _pow_backward_self(grad, self, exponent); exponent: _pow_backward_exponent(grad, self, exponent, result)"},
    {"pow.Scalar", "exponent: _pow_backward_base(grad, self, exponent, result)"},
    {"sqrt", "self: grad / conj(result * 2)"},
    {"rsqrt", "self: grad * conj(result * result * result * -0.5)"},
    {"exp", "self: grad * conj(result)"},
    {"exp2", "self: grad * conj(result * 0.6931471805599453)"},
    {"expm1", "self: grad * conj(result + 1)"},
    {"log", "self: grad / conj(self)"},
    {"log2", "self: grad / conj(self * 0.6931471805599453)"},
    {"log10", "self: grad / conj(self * 2.302585092994046)"},
    {"log1p", "self: grad / conj(self + 1)"},
    {"logaddexp", "self: grad * sigmoid(self - other); other: grad * sigmoid(other - self)"},
    {"logaddexp2", "self: grad / (exp2(other - self) + 1); other: grad / (exp2(self - other) + 1)"},
    {"xlogy.Tensor",
     "self: where(logical_and(eq(self, 0), le(other, 0)), 0, xlogy(grad, other)); other: grad * (self / other)"},
    {"xlogy.Scalar_Other", "self: _xlogy_backward(grad, self, other)"},
    {"xlogy.Scalar_Self", "other: grad * (self / other)"},
    {"logit", "self: _logit_backward(grad, self, eps)"},

    // draws and their gradients; the derivatives of the gradients by the shapes have no formula here, as in torch
    {"_standard_gamma", "self: grad * _standard_gamma_grad(self, result)"},
    {"_standard_gamma_log",
     "self: grad * where(lt(result, -80), (digamma(self + 1) - result) / self,"
     "_standard_gamma_grad(self, exp(result)) / exp(result))"},
    {"_sample_dirichlet",
     "self: _dirichlet_grad(result, self, sum(self, [-1], true)) * (grad - sum(result * grad, [-1], true))"},
    {"_standard_gamma_grad", "output: grad * (digamma(self) - log(output) - result * ((self - 1) / output - 1))"},
    {"_dirichlet_grad",
     "x: grad * ((digamma(alpha) - digamma(total) - log(x) + result * (total - alpha)) / (1 - x)"
     "- result * (alpha - 1) / x)"},
    {"poisson, binomial, _gamma_draw, _poisson_draw, _binomial_draw", "none"},

    // rounding that passes gradients straight through
    {"_fake_quantize", "self: _fake_quantize_backward(grad, self, scale, low, high)"},
    {"_fake_quantize_backward",
     "grad_output: _fake_quantize_backward(grad, self, scale, low, high); self: zeros_like(self)"},
    {"_fake_quantize_by",
     "self: grad * _fake_quantize_inside(self, scale, zero_point, low, high);"
     "scale: grad * _fake_quantize_slope(self, scale, zero_point, low, high);"
     "zero_point: grad * (_fake_quantize_inside(self, scale, zero_point, low, high) - 1) * scale"},
    {"_fake_quantize_inside", "self: zeros_like(self); scale: zeros_like(scale); zero_point: zeros_like(zero_point)"},
    {"_fake_quantize_slope",
     "self: -(grad * _fake_quantize_inside(self, scale, zero_point, low, high) / scale);"
     "scale: grad * _fake_quantize_inside(self, scale, zero_point, low, high) * self / square(scale);"
     "zero_point: grad * (_fake_quantize_inside(self, scale, zero_point, low, high) - 1)"},
    {"_scale_gradient", "self: grad * factor"},

    // trigonometric and special functions
    {"sin", "self: grad * conj(cos(self))"},
    {"cos", "self: -(grad * conj(sin(self)))"},
    {"tan", "self: grad * conj(result * result + 1)"},
    {"asin", "self: grad * conj(rsqrt(1 - self * self))"},
    {"acos", "self: -(grad * conj(rsqrt(1 - self * self)))"},
    {"atan", "self: grad / conj(self * self + 1)"},
    {"sinh", "self: grad * conj(cosh(self))"},
    {"cosh", "self: grad * conj(sinh(self))"},
    {"asinh", "self: grad * conj(rsqrt(self * self + 1))"},
    {"acosh", "self: grad * conj(rsqrt(self - 1) * rsqrt(self + 1))"},
    {"atanh", "self: grad / conj(1 - self * self)"},
    {"atan2", "self: grad * _atan2_backward(self, other, other); other: -(grad * _atan2_backward(self, other, self))"},
    {"hypot", "self: grad * (self / result); other: grad * (other / result)"},
    {"erf", "self: grad * exp(-(self * self)) * 1.1283791670955126"},
    {"erfc", "self: grad * exp(-(self * self)) * -1.1283791670955126"},
    {"erfinv", "self: grad * exp(result * result) * 0.886226925452758"},
    {"lgamma", "self: grad * digamma(self)"},
    {"digamma", "self: grad * polygamma(1, self)"},
    {"polygamma", "self: _polygamma_backward(grad, n, self)"},
    {"sinc", "self: _sinc_backward(grad, self)"},
    {"ldexp.Tensor", "self: ldexp(grad, other); other: grad * result * 0.6931471805599453"},
    {"_mantissa", "self: ldexp(grad, -_exponent(self))"},
    {"_exponent", "none"},
    {"gcd, lcm", "none"},

    // complex numbers
    {"conj_physical", "self: conj_physical(grad)"},
    {"angle", "self: _angle_backward(grad, self)"},

    // choosing
    {"where.self", "self: where(condition, grad, 0); other: where(condition, 0, grad)"},
    {"where.ScalarSelf", "other: where(condition, 0, grad)"},
    {"where.ScalarOther", "self: where(condition, grad, 0)"},
    {"where.Scalar", "none"},
    {"clamp", "self: _clamp_backward(grad, self, min, max)"},
    {"clamp.Tensor", "self, min, max: _clamp_tensor_backward(grad, self, min, max, mask)"},
    {"clamp_min", "self: where(ge(self, min), grad, 0)"},
    {"clamp_max", "self: where(le(self, max), grad, 0)"},
    {"clamp_min.Tensor", "self: where(ge(self, min), grad, 0); min: where(lt(self, min), grad, 0)"},
    {"clamp_max.Tensor", "self: where(le(self, max), grad, 0); max: where(gt(self, max), grad, 0)"},
    // Where both arguments are equal, each gets half of the gradient.
    {"maximum",
     "self: where(eq(self, other), grad / 2, where(lt(self, other), 0, grad));"
     "other: where(eq(self, other), grad / 2, where(gt(self, other), 0, grad))"},
    {"minimum",
     "self: where(eq(self, other), grad / 2, where(gt(self, other), 0, grad));"
     "other: where(eq(self, other), grad / 2, where(lt(self, other), 0, grad))"},
    {"fmax",
     "self: where(logical_or(ge(self, other), isnan(other)), grad, 0);"
     "other: where(logical_or(ge(self, other), isnan(other)), 0, grad)"},
    {"fmin",
     "self: where(logical_or(le(self, other), isnan(other)), grad, 0);"
     "other: where(logical_or(le(self, other), isnan(other)), 0, grad)"},
    {"_nan_to_num", "self: where(isfinite(self), grad, 0)"},

    // operators that return bools or work on bits
    {"eq.Tensor, eq.Scalar, ne.Tensor, ne.Scalar, lt.Tensor, lt.Scalar, "
     "le.Tensor, le.Scalar, gt.Tensor, gt.Scalar, "
     "ge.Tensor, ge.Scalar, logical_and, "
     "logical_or, logical_xor, logical_not, isnan, isinf, isfinite, isposinf, isneginf, signbit",
     "none"},
    {"bitwise_and.Tensor, bitwise_and.Scalar, bitwise_and.Scalar_Tensor, bitwise_or.Tensor, bitwise_or.Scalar, "
     "bitwise_or.Scalar_Tensor, bitwise_xor.Tensor, bitwise_xor.Scalar, bitwise_xor.Scalar_Tensor, bitwise_not, "
     "bitwise_left_shift.Tensor, bitwise_left_shift.Tensor_Scalar, bitwise_left_shift.Scalar_Tensor, "
     "bitwise_right_shift.Tensor, bitwise_right_shift.Tensor_Scalar, bitwise_right_shift.Scalar_Tensor",
     "none"}};

constexpr Line activations[] = {
    {"tanh", "self: tanh_backward(grad, result)"},
    {"sigmoid", "self: sigmoid_backward(grad, result)"},
    {"relu", "self: threshold_backward(grad, result, 0)"},
    {"relu6", "self: hardtanh_backward(grad, self, 0, 6)"},
    {"threshold", "self: threshold_backward(grad, self, threshold)"},
    {"silu", "self: silu_backward(grad, self)"},
    {"mish", "self: mish_backward(grad, self)"},
    {"log_sigmoid", "self: _log_sigmoid_backward(grad, self)"},
    {"_gelu", "self: _gelu_backward(grad, self)"},
    {"_gelu_tanh", "self: _gelu_tanh_backward(grad, self)"},
    {"leaky_relu", "self: leaky_relu_backward(grad, self, negative_slope, false)"},
    {"elu", "self: _elu_backward(grad, self, alpha, scale, input_scale)"},
    {"selu", "self: _elu_backward(grad, self, 1.6732632423543772848, 1.0507009873554804934, 1)"},
    {"celu", "self: _elu_backward(grad, self, alpha, 1, 1 / alpha)"},
    {"softplus", "self: softplus_backward(grad, self, beta, threshold)"},
    {"hardtanh", "self: hardtanh_backward(grad, self, min_val, max_val)"},
    {"hardsigmoid", "self: hardsigmoid_backward(grad, self)"},
    {"hardswish", "self: hardswish_backward(grad, self)"},
    {"hardshrink", "self: hardshrink_backward(grad, self, lambd)"},
    {"softshrink", "self: softshrink_backward(grad, self, lambd)"},
    {"tanhshrink", "self: grad * (tanh(self) * tanh(self))"},

    // Derivatives of the *_backward operators. These are linear in grad_output; the derivative by the input is `none`
    // where the activation's second derivative is 0.
    {"tanh_backward", "grad_output: tanh_backward(grad, conj(output)); output: conj(grad * output) * grad_output * -2"},
    {"sigmoid_backward",
     "grad_output: sigmoid_backward(grad, conj(output)); output: conj(grad * (1 - output * 2)) * grad_output"},
    {"threshold_backward", "grad_output: threshold_backward(grad, self, threshold); self: none"},
    {"hardtanh_backward", "grad_output: hardtanh_backward(grad, self, min_val, max_val); self: none"},
    {"leaky_relu_backward", "grad_output: leaky_relu_backward(grad, self, negative_slope, self_is_result); self: none"},
    {"hardsigmoid_backward", "grad_output: hardsigmoid_backward(grad, self); self: none"},
    {"hardshrink_backward", "grad_out: hardshrink_backward(grad, self, lambd); self: none"},
    {"softshrink_backward", "grad_output: softshrink_backward(grad, self, lambd); self: none"},
    {"hardswish_backward",
     "grad_output: hardswish_backward(grad, self);"
     "self: where(lt(abs(self), 3), grad * grad_output / 3, 0)"},
    {"silu_backward",
     "grad_output: silu_backward(grad, self);"
     "self: sigmoid_backward(grad * grad_output, sigmoid(self)) * (self * (1 - sigmoid(self) * 2) + 2)"},
    {"mish_backward", "grad_output: mish_backward(grad, self); self: _mish_double_backward(grad * grad_output, self)"},
    {"_log_sigmoid_backward",
     "grad_output: _log_sigmoid_backward(grad, self);"
     "self: -sigmoid_backward(grad * grad_output, sigmoid(self))"},
    {"_gelu_backward",
     "grad_output: _gelu_backward(grad, self);"
     "self: grad * grad_output * exp(self * self * -0.5) * (2 - self * self) * 0.3989422804014327"},
    {"_gelu_tanh_backward",
     "grad_output: _gelu_tanh_backward(grad, self); self: _gelu_tanh_double_backward(grad * grad_output, self)"},
    {"softplus_backward",
     "grad_output: softplus_backward(grad, self, beta, threshold);"
     "self: where(gt(self * beta, threshold), 0, sigmoid_backward(grad * grad_output, sigmoid(self * beta)) * beta)"},
    {"_elu_backward",
     "grad_output: _elu_backward(grad, self, alpha, scale, input_scale);"
     "self: where(le(self, 0), _elu_backward(grad * grad_output * input_scale, self, alpha, scale, input_scale), 0)"}};

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  add_derivatives(m, elementwise);
  add_derivatives(m, activations);
}

}  // namespace lamella::autograd
