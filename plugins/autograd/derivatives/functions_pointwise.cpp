// Composites that the derivatives of pointwise operators call.
#include <complex>

#include "derivatives/functions.h"

namespace lamella::autograd {
namespace {

bool is_zero(const Scalar& n) { return n.to<std::complex<double>>() == 0.; }

Scalar less_one(const Scalar& n) {
  if (n.isComplex()) return n.to<std::complex<double>>() - 1.;
  if (n.isFloatingPoint()) return n.toDouble() - 1;
  return n.value().tag == LAMELLA_UINT ? Scalar(n.to<uint64_t>() - 1) : Scalar(n.toLong() - 1);
}

Tensor real_if_complex(const Tensor& t) { return t.is_complex() ? real(t) : t; }

// The gradient of x^p by x is p x^(p-1), and zero where p is zero, even where the power is not finite.
Tensor pow_backward(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (is_zero(exponent)) return zeros_like(grad);
  return grad * conj_if_complex(exponent * pow(self, less_one(exponent)));
}

Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor slope = exponent * pow(self, exponent - 1);
  return where(exponent == 0, 0, grad * conj_if_complex(slope));
}

// The gradient of x^p by p is x^p log x, and zero where x is zero and p is not negative.
Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result) {
  const Tensor flat = logical_and(self == 0, real_if_complex(exponent) >= 0);
  const Tensor slope = result * log(self);
  return grad * where(flat, 0, conj_if_complex(slope));
}

Tensor pow_backward_base(const Tensor& grad, const Scalar& self, const Tensor& exponent, const Tensor& result) {
  const Tensor base = full({}, self, result.options());
  const Tensor slope = conj_if_complex(result * log(base));
  if (!is_zero(self)) return grad * slope;
  return grad * where(real_if_complex(exponent) >= 0, 0, slope);
}

// The gradient of x / |x| is perpendicular to x; for a real x it is zero.
Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& sgn) {
  if (!self.is_complex()) return zeros_like(grad);
  const Tensor size = abs(self);
  const Tensor along = real(grad / sgn);
  const Tensor across = grad - sgn * along;
  return where(size == 0, 0, across / size);
}

Tensor angle_backward(const Tensor& grad, const Tensor& self) {
  if (!self.is_complex()) return zeros_like(grad);
  const Tensor norm = square(abs(self));
  const Tensor x = -imag(self) / norm;
  const Tensor y = real(self) / norm;
  const Tensor slope = complex(x, y);
  return where(norm == 0, 0, slope * grad);
}

// Divides `by` by self^2 + other^2; the result is zero at the origin.
Tensor atan2_backward(const Tensor& self, const Tensor& other, const Tensor& by) {
  const Tensor norm = square(self) + square(other);
  return where(norm == 0, 0, by / norm);
}

Tensor sinc_backward(const Tensor& grad, const Tensor& self) {
  constexpr double pi = 3.14159265358979323846;
  const Tensor px = self * pi;
  const Tensor top = cos(px) * px - sin(px);
  const Tensor bottom = px * self;  // also 0 where the product of tiny numbers underflows
  const Tensor slope = conj_if_complex(top / bottom);
  return where(bottom == 0, 0, grad * slope);
}

Tensor xlogy_backward(const Tensor& grad, const Tensor& self, const Scalar& other) {
  const Tensor slope = xlogy(grad, other);
  if (as_double(other.value()) > 0) return slope;
  return where(self == 0, 0, slope);
}

// The gradient of log(x / (1 - x)). Outside of [eps, 1 - eps] it is zero, because x is clamped there; without eps it is
// NaN outside of [0, 1].
Tensor logit_backward(const Tensor& grad, const Tensor& self, std::optional<double> eps) {
  const double low = eps.value_or(0);
  const Tensor slope = grad / (self * (1 - self));
  const Tensor outside = logical_or(lt(self, low), gt(self, 1 - low));
  const double there = eps.has_value() ? 0. : __builtin_nan("");
  return where(outside, there, slope);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  Tensor inside;
  if (min.has_value()) inside = self >= *min;
  if (max.has_value()) {
    const Tensor below = self <= *max;
    inside = inside.defined() ? logical_and(inside, below) : below;
  }
  return inside.defined() ? where(inside, grad, 0) : grad;
}

// The gradient goes to self within the limits, limits included; elsewhere it goes to the limit that was applied, or, if
// self is below equal limits, nowhere.
std::tuple<Tensor, Tensor, Tensor> clamp_tensor_backward(const Tensor& grad, const Tensor& self, const Tensor& min,
                                                         const Tensor& max, ArrayRef<bool> mask) {
  const auto both = [](const Tensor& s, const Tensor& t) {
    return s.defined() && t.defined() ? logical_and(s, t) : s.defined() ? s : t;
  };
  const auto grad_where = [&](const Tensor& at) { return at.defined() ? where(at, grad, 0) : grad; };
  Tensor grad_self, grad_min, grad_max;
  if (mask[0])
    grad_self = grad_where(both(min.defined() ? self >= min : Tensor(), max.defined() ? self <= max : Tensor()));
  if (mask[1] && min.defined()) grad_min = grad_where(both(self < min, max.defined() ? min < max : Tensor()));
  if (mask[2] && max.defined()) {
    const Tensor above = self > max;
    grad_max = grad_where(min.defined() ? logical_or(above, max < min) : above);
  }
  return {grad_self, grad_min, grad_max};
}

Tensor polygamma_backward(const Tensor& grad, int64_t n, const Tensor& self) { return grad * polygamma(n + 1, self); }

// The second derivative of x tanh(softplus(x)).
Tensor mish_double_backward(const Tensor& grad, const Tensor& self) {
  const Tensor s = sigmoid(self), t = tanh(softplus(self));
  const Tensor slope = (1 - square(t)) * s;  // the derivative of t
  const Tensor bend = slope * ((1 - s) - t * s * 2);
  return grad * (slope * 2 + self * bend);
}

// The second derivative of x (1 + tanh(u)) / 2 with u = k (x + cube x^3).
Tensor gelu_tanh_double_backward(const Tensor& grad, const Tensor& self) {
  constexpr double k = 0.7978845608028654, cube = 0.044715;
  const Tensor squared = square(self);
  const Tensor t = tanh(self * (squared * (k * cube) + k));
  const Tensor u1 = squared * (3 * k * cube) + k, u2 = self * (6 * k * cube);
  const Tensor bend = u2 - t * square(u1) * 2;
  const Tensor both = u1 + self * bend * 0.5;
  return grad * ((1 - square(t)) * both);
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<pow_backward>(m, "_pow_backward(Tensor grad, Tensor self, Scalar exponent) -> Tensor");
  composite<pow_backward_self>(m, "_pow_backward_self(Tensor grad, Tensor self, Tensor exponent) -> Tensor");
  composite<pow_backward_exponent>(
      m, "_pow_backward_exponent(Tensor grad, Tensor self, Tensor exponent, Tensor result) -> Tensor");
  composite<pow_backward_base>(
      m, "_pow_backward_base(Tensor grad, Scalar self, Tensor exponent, Tensor result) -> Tensor");
  composite<sgn_backward>(m, "_sgn_backward(Tensor grad, Tensor self, Tensor sgn) -> Tensor");
  composite<angle_backward>(m, "_angle_backward(Tensor grad, Tensor self) -> Tensor");
  composite<atan2_backward>(m, "_atan2_backward(Tensor self, Tensor other, Tensor by) -> Tensor");
  composite<sinc_backward>(m, "_sinc_backward(Tensor grad, Tensor self) -> Tensor");
  composite<xlogy_backward>(m, "_xlogy_backward(Tensor grad, Tensor self, Scalar other) -> Tensor");
  composite<logit_backward>(m, "_logit_backward(Tensor grad, Tensor self, float? eps) -> Tensor");
  composite<clamp_tensor_backward>(
      m,
      "_clamp_tensor_backward(Tensor grad, Tensor self, Tensor? min, Tensor? max, bool[3] mask) -> (Tensor, Tensor, "
      "Tensor)");
  composite<polygamma_backward>(m, "_polygamma_backward(Tensor grad, int n, Tensor self) -> Tensor");
  composite<mish_double_backward>(m, "_mish_double_backward(Tensor grad, Tensor self) -> Tensor");
  composite<gelu_tanh_double_backward>(m, "_gelu_tanh_double_backward(Tensor grad, Tensor self) -> Tensor");
  composite<clamp_backward>(m, "_clamp_backward(Tensor grad, Tensor self, Scalar? min, Scalar? max) -> Tensor");
}

}  // namespace lamella::autograd
