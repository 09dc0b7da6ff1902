// Random numbers of further distributions, drawn in place, each from one uniform or normal number.
#include <cmath>

#include "operators/random.h"

namespace lamella::operators {
namespace {

// Returns one uniform number in [0, 1) for each element of self, as one row: in float64 for float64, else in float32.
Tensor uniform_row(const Tensor& self, const Generator& generator) {
  return uniform_numbers(generator, self.device(), self.numel(), self.dtype() == kDouble ? kDouble : kFloat);
}

void infer_exponential(const Tensor& self, double lambd, const Generator&, Output out) {
  out.same(self);
  check_continuous("self", self.dtype());
  LAMELLA_CHECK(lambd > 0, argument("lambd"), ": expected a positive rate, got ", lambd);
}
const Tensor& exponential(const Tensor& self, double lambd, const Generator& generator) {
  return store(self, (1 - uniform_row(self, generator)).log() * (-1 / lambd));
}

void infer_cauchy(const Tensor& self, double /*median*/, double sigma, const Generator&, Output out) {
  out.same(self);
  check_continuous("self", self.dtype());
  LAMELLA_CHECK(sigma > 0, argument("sigma"), ": expected a positive width, got ", sigma);
}
const Tensor& cauchy(const Tensor& self, double median, double sigma, const Generator& generator) {
  return store(self, ((uniform_row(self, generator) - 0.5) * 3.141592653589793).tan() * sigma + median);
}

void infer_geometric(const Tensor& self, double p, const Generator&, Output out) {
  out.same(self);
  check_plain("self", self.dtype());
  LAMELLA_CHECK(!is_complex(self.dtype()) && self.dtype() != kBool, argument("self"),
                ": expected an integer or floating dtype, got ", self.dtype());
  LAMELLA_CHECK(p > 0 && p < 1, argument("p"), ": expected a probability between 0 and 1, got ", p);
}
// Draws the number of trials until the first success.
const Tensor& geometric(const Tensor& self, double p, const Generator& generator) {
  return store(self, ((1 - uniform_row(self, generator)).log() * (1 / std::log1p(-p))).ceil().clamp_min(1));
}

void infer_log_normal(const Tensor& self, double /*mean*/, double std, const Generator&, Output out) {
  out.same(self);
  check_drawn("self", self.dtype());
  LAMELLA_CHECK(std > 0, argument("std"), ": expected a positive standard deviation, got ", std);
}
const Tensor& log_normal(const Tensor& self, double mean, double std, const Generator& generator) {
  const ScalarType t = self.dtype() == kDouble ? kDouble : kFloat;
  const Tensor row = lamella::empty(self.numel(), TensorOptions(t).device(self.device()));
  return store(self, row.normal_(mean, std, generator).exp());
}

}  // namespace

LAMELLA_FAMILY(drawing, .category = "random", .forms = method, .dims = "broadcast") {
  return {
      {.schema = "exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)",
       .infer = shape<infer_exponential>,
       .composite = composite<exponential>,
       .doc = R"(Fills `self` with exponential numbers of the rate `lambd`.

>>> bool((lamella.empty(5).exponential_() >= 0).all())
True
)"},
      {.schema = "cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)",
       .infer = shape<infer_cauchy>,
       .composite = composite<cauchy>,
       .doc = R"(Fills `self` with numbers of Cauchy's distribution.

>>> lamella.empty(5).cauchy_().shape
lamella.Size([5])
)"},
      {.schema = "geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
       .infer = shape<infer_geometric>,
       .composite = composite<geometric>,
       .doc = R"(Fills `self` with the numbers of trials until the first success, whose probability is `p`.

>>> bool((lamella.empty(5).geometric_(0.5) >= 1).all())
True
)"},
      {.schema = "log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)",
       .infer = shape<infer_log_normal>,
       .composite = composite<log_normal>,
       .doc = R"(Fills `self` with exponentials of normal numbers.

>>> bool((lamella.empty(5).log_normal_() > 0).all())
True
)"},
  };
}

}  // namespace lamella::operators
