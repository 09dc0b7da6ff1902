// The logarithm of the multivariate gamma function, and frexp: composites over pointwise functions.
#include <lamella/extension.h>

#include <cmath>

#include "operators/catalogue.h"
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// log(pi) p (p - 1) / 4 and the sum of lgamma(x - j / 2) over j below p (DLMF 35.3.5).
Tensor mvlgamma(const Tensor& self, int64_t p) {
  LAMELLA_CHECK(p >= 1, argument("p"), ": expected a dimension of at least 1, got ", p);
  LAMELLA_CHECK(!self.is_complex(), argument("self"), ": expected real numbers, got ", self.dtype());
  const double order = static_cast<double>(p);
  Tensor sum = lgamma(self);
  for (int64_t j = 1; j < p; j++) sum = sum + lgamma(self - 0.5 * static_cast<double>(j));
  return sum + order * (order - 1) / 4 * std::log(3.14159265358979323846);
}

void infer_frexp(const Tensor& self, Output mantissa, Output exponent) {
  check_floating("self", self.dtype());
  mantissa.like(self);
  exponent.like(self, kInt);
  exponent.exact();
}
std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  LAMELLA_CHECK(is_floating_point(self.dtype()), argument("self"), ": expected a floating dtype, got ", self.dtype());
  static detail::Callee mantissa{"aten::_mantissa", ""}, exponent{"aten::_exponent", ""};
  const lamella_value args[] = {value(self)};
  return {mantissa.tensor(args), exponent.tensor(args).to(kInt)};
}

}  // namespace

LAMELLA_FAMILY(gamma, .category = "pointwise", .forms = all_forms, .dims = "broadcast") {
  return {
      {.schema = "mvlgamma(Tensor self, int p) -> Tensor",
       .composite = composite<mvlgamma>,
       .doc = R"(The logarithm of the multivariate gamma function of dimension p (DLMF 35.3).

Raises:
    RuntimeError: p is below 1, or the dtype complex

>>> lamella.mvlgamma(lamella.tensor([3., 4.]), 2)
tensor([1.5502, 3.5651])
)"},
      {.schema = "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
       .forms = everywhere | out,
       .infer = shape<infer_frexp>,
       .composite = composite<frexp>,
       .doc = R"(self as mantissa * 2^exponent, where 0.5 <= |mantissa| < 1 and the exponent is an int32.

Of 0, infinity and NaN the mantissa is the number itself and the exponent 0.

>>> lamella.frexp(lamella.tensor([1., 6.])).exponent
tensor([1, 3], dtype=lamella.int32)
)"},
  };
}

}  // namespace lamella::operators
