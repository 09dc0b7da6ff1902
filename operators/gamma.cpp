// digamma and polygamma: by recurrence up to arguments at which the asymptotic series holds (Abramowitz and Stegun,
// 6.4.11), and by reflection below a half. They are computed in float64 and rounded once.
#include "operators/gamma.h"

#include <cmath>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double bernoulli[] = {1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510};

// Returns the sum over j of B(2j) (2j + n - 1)! / ((2j)! n!) y^-2j, where B(2j) is a Bernoulli number.
Tensor series(const Tensor& y, int64_t n) {
  const Tensor square = lamella::div(1., y * y);
  Tensor sum = square * 0.;
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

// Returns the n-th derivative of cot(x) as a polynomial in cot(x): each polynomial is -(1 + cot^2) times the derivative
// of the polynomial before it.
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

// Returns the n-th derivative of digamma over n!, without its sign, (-1)^(n+1), for x of at least a half.
Tensor from_half(const Tensor& x, int64_t n) {
  const double order = static_cast<double>(n);
  const int64_t steps = 10 + n;  // the series needs large arguments for high orders
  const Tensor y = x + static_cast<double>(steps);
  Tensor sum = lamella::zeros_like(x);
  for (int64_t k = steps; k-- > 0;) {
    const Tensor part = (x + static_cast<double>(k)).reciprocal();
    sum = sum + (n == 0 ? part : n == 1 ? part * part : part.pow(order + 1));
  }
  const Tensor half = lamella::div(0.5, y), tail = series(y, n);
  if (n == 0) return sum + half + tail - y.log();
  return sum + y.pow(-order) * (tail + half + 1 / order);
}

Tensor evaluate(int64_t n, const Tensor& self) {
  LAMELLA_CHECK(!self.is_complex(), argument("self"), ": expected real numbers, got ", self.dtype());
  const ScalarType result = self.is_floating_point() ? self.dtype() : default_dtype();
  const Tensor x = as(self, kDouble), low = x.lt(0.5);
  const double scale = std::tgamma(static_cast<double>(n) + 1), sign = n % 2 ? 1 : -1;
  const Tensor right = from_half(lamella::where(low, 1. - x, x), n) * (scale * sign);
  // f(x) = (-1)^n f(1 - x) - pi d^n/dx^n cot(pi x)
  const Tensor apart = x - x.round();
  const std::vector<double> p = derivative_of_cot(n);
  const Tensor cot = lamella::div(1., (apart * pi).tan());
  Tensor turn = lamella::zeros_like(x) + p.back();
  for (size_t i = p.size() - 1; i-- > 0;) turn = turn * cot + p[i];
  Tensor left = right * -sign - turn * std::pow(pi, static_cast<double>(n) + 1);
  if (n == 0) {  // at a pole the two sides differ and give NaN, but the sign of a zero chooses the side
    const Tensor pole = apart.eq(0.).logical_and(x.lt(0.)), zero = x.eq(0.);
    left = lamella::where(pole, std::nan(""), lamella::where(zero, lamella::div(-1., x), left));
  }
  return as(lamella::where(low, left, right), result);
}

}  // namespace

Tensor digamma(const Tensor& self) { return evaluate(0, self); }

Tensor polygamma(int64_t n, const Tensor& self) {
  LAMELLA_CHECK(n >= 0, argument("n"), ": expected an order of at least 0, got ", n);
  return evaluate(n, self);
}

}  // namespace lamella::operators
