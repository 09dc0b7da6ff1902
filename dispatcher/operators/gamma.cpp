// digamma and polygamma: by recurrence to where the asymptotic series holds (Abramowitz and Stegun, 6.4.11), from
// below a half by reflection. Computed in float64 and rounded once.
#include "dispatcher/operators/gamma.h"

#include <cmath>

#include "dispatcher/operators/widen.h"

namespace lamella::dispatcher {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double bernoulli[] = {1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510};

// sum over j of B(2j) (2j + n - 1)! / ((2j)! n!) y^-2j; for n = 0 what that tends to, B(2j) / 2j y^-2j.
Var series(const Var& y, int64_t n) {
  Var square = 1. / (y * y), sum = square * 0.;
  std::vector<double> factors;
  double weight = n ? (static_cast<double>(n) + 1) / 2 : 0.5;
  for (int j = 1; j <= static_cast<int>(std::size(bernoulli)); j++) {
    factors.push_back(bernoulli[j - 1] * weight);
    const double k = 2. * j, m = static_cast<double>(n);
    weight *= (k + m) * (k + m + 1) / ((k + 1) * (k + 2));
  }
  for (size_t j = factors.size(); j-- > 0;) sum = (sum + factors[j]) * square;
  return sum;
}

// The n-th derivative of cot(x) as a polynomial in it: each is -(1 + cot^2) times that of the one before.
std::vector<double> derivative_of_cot(int64_t n) {
  std::vector<double> p = {0, 1};
  for (int64_t k = 0; k < n; k++) {
    std::vector<double> next(p.size() + 1, 0.);
    for (size_t i = 1; i < p.size(); i++) {
      next[i - 1] -= static_cast<double>(i) * p[i];
      next[i + 1] -= static_cast<double>(i) * p[i];
    }
    p = std::move(next);
  }
  return p;
}

// The n-th derivative of digamma over n!, but for its sign: without that (-1)^(n+1).
Var from_half(const Var& x, int64_t n) {
  Compose& c = x.compose();
  const double order = static_cast<double>(n);
  const int64_t steps = 10 + n;  // the series needs large arguments for high orders
  Var y = x + static_cast<double>(steps), sum = c.op<"zeros_like">(x);
  for (int64_t k = steps; k-- > 0;) {
    Var part = c.op<"reciprocal">(x + static_cast<double>(k));
    sum = sum + (n == 0 ? part : n == 1 ? part * part : c.op<"pow.Tensor_Scalar">(part, order + 1));
  }
  Var half = 0.5 / y, tail = series(y, n);
  if (n == 0) return sum + half + tail - c.op<"log">(y);
  return sum + c.op<"pow.Tensor_Scalar">(y, -order) * (tail + half + 1 / order);
}

lamella_status evaluate(lamella_frame* f, int64_t n, int at, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* t = tensor_arg(a[at]);
  if (core::dtype_class(t->dtype) == LAMELLA_CLASS_COMPLEX)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, at) + ": expected real numbers, got " + core::dtype_info(t->dtype).name);
  const bool whole = core::dtype_class(t->dtype) != LAMELLA_CLASS_FLOATING;
  const DType result = whole ? core::default_dtype() : static_cast<DType>(t->dtype);
  Var x = as(c, c.arg(a[at]), static_cast<DType>(LAMELLA_FLOAT64));
  Var low = c.op<"lt.Scalar">(x, 0.5);
  const double scale = std::tgamma(static_cast<double>(n) + 1), sign = n % 2 ? 1 : -1;
  Var right = from_half(c.op<"where.self">(low, 1. - x, x), n) * (scale * sign);
  // f(x) = (-1)^n f(1 - x) - pi d^n/dx^n cot(pi x)
  Var apart = x - c.op<"round">(x);
  const std::vector<double> p = derivative_of_cot(n);
  Var cot = 1. / c.op<"tan">(apart * pi), turn = c.op<"zeros_like">(x) + p.back();
  for (size_t i = p.size() - 1; i-- > 0;) turn = turn * cot + p[i];
  Var left = right * -sign - turn * std::pow(pi, static_cast<double>(n) + 1);
  if (n == 0) {  // its poles have two sides, but that at zero has the one that the sign of the zero says
    Var pole = c.op<"logical_and">(c.op<"eq.Scalar">(apart, 0.), c.op<"lt.Scalar">(x, 0.));
    Var zero = c.op<"eq.Scalar">(x, 0.);
    left = c.op<"where.ScalarSelf">(pole, std::nan(""), c.op<"where.self">(zero, -1. / x, left));
  }
  return c.give(r, as(c, c.op<"where.self">(low, left, right), result));
}

}  // namespace

lamella_status digamma(lamella_frame* f, const Value* a, Value* r) { return evaluate(f, 0, 0, a, r); }

lamella_status polygamma(lamella_frame* f, const Value* a, Value* r) {
  if (a[0].as.i < 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected an order of at least 0");
  return evaluate(f, a[0].as.i, 1, a, r);
}

}  // namespace lamella::dispatcher
