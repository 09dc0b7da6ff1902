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
  LAMELLA_CHECK(!is_complex(self.dtype()) && self.dtype() != kBool, argument("self"), ": dtype ", self.dtype(),
                " does not count");
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

LAMELLA_FAMILY(drawing) {
  return {
      {"exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       shape<infer_exponential>, composite<exponential>,
       "Fills `self` with exponential numbers of the rate `lambd`.\n\n>>> bool((lamella.empty(5).exponential_() >= "
       "0).all())\nTrue\n"},
      {"cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, shape<infer_cauchy>, composite<cauchy>,
       "Fills `self` with numbers of Cauchy's distribution.\n\n>>> lamella.empty(5).cauchy_().shape\n"
       "lamella.Size([5])\n"},
      {"geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)", "random", method,
       shape<infer_geometric>, composite<geometric>,
       "Fills `self` with the numbers of trials until the first success, whose probability is `p`.\n\n>>> "
       "bool((lamella.empty(5).geometric_(0.5) >= 1).all())\nTrue\n"},
      {"log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, shape<infer_log_normal>, composite<log_normal>,
       "Fills `self` with exponentials of normal numbers.\n\n>>> bool((lamella.empty(5).log_normal_() > 0).all())\n"
       "True\n"},
  };
}

}  // namespace lamella::operators
