// Random numbers by rejection: gamma, Dirichlet, Poisson and binomial ones. Each element takes a seed of 53 bits, two
// words of the generator's stream, and draws from it as <lamella/pointwise/special/draws.h> says.
#include "operators/random.h"

#include <cfloat>

namespace lamella::operators {
namespace {

Tensor seeds(const Tensor& like, const Generator& generator) {
  return wide_words(generator, like.device(), like.numel(), 53).to(kDouble).view(like.sizes());
}

// The least positive normal number of a floating dtype, and the largest number below 1.
double least(ScalarType t) {
  return t == kHalf ? 0x1p-14 : t == kDouble ? DBL_MIN : static_cast<double>(FLT_MIN);  // bfloat16 has float32's
}
double below_one(ScalarType t) {
  return t == kHalf ? 1 - 0x1p-11 : t == kBFloat16 ? 1 - 0x1p-8 : t == kDouble ? 1 - 0x1p-53 : 1 - 0x1p-24;
}

void infer_gamma(const Tensor& self, const Generator&, Output out) {
  check_drawn("self", self.dtype());
  out.set(self.sizes(), self.dtype());
}
void infer_dirichlet(const Tensor& self, const Generator& generator, Output out) {
  infer_gamma(self, generator, out);
  LAMELLA_CHECK(self.dim() >= 1, argument("self"), ": expected a row of concentrations, or several, got a number");
}
void infer_binomial(const Tensor& count, const Tensor& prob, const Generator&, Output out) {
  check_drawn("count", count.dtype());
  check_drawn("prob", prob.dtype());
  LAMELLA_CHECK(count.dtype() == prob.dtype(), argument("prob"), ": expected the dtype of 'count', ", count.dtype(),
                ", got ", prob.dtype());
  DimVector sizes(count.sizes());
  LAMELLA_CHECK(broadcast(&sizes, prob.sizes()), argument("prob"), ": shape ", shape_text(prob),
                " does not broadcast with shape ", shape_text(count), " of 'count'");
  out.set(sizes, count.dtype());
}

Tensor standard_gamma(const Tensor& self, const Generator& generator) {
  const Tensor drawn = lamella::_gamma_draw(self.to(kDouble).contiguous(), seeds(self, generator)).exp();
  return drawn.clamp(least(self.dtype()), std::nullopt).to(self.dtype());
}
Tensor standard_gamma_log(const Tensor& self, const Generator& generator) {
  return lamella::_gamma_draw(self.to(kDouble).contiguous(), seeds(self, generator)).to(self.dtype());
}
// The shares of gamma draws in their sum, from the logarithms, since all draws of small concentrations may be too small
// for the dtype. No share is 0 or 1, so that densities are finite.
Tensor sample_dirichlet(const Tensor& self, const Generator& generator) {
  const Tensor wide = self.to(self.dtype() == kDouble ? kDouble : kFloat);
  const Tensor shares = lamella::_standard_gamma_log(wide, generator).softmax(-1);
  return shares.clamp(least(self.dtype()), below_one(self.dtype())).to(self.dtype());
}

Tensor poisson(const Tensor& self, const Generator& generator) {
  LAMELLA_CHECK(!(self < 0).any().item().toBool(), argument("self"), ": a rate must not be negative");
  return lamella::_poisson_draw(self.to(kDouble).contiguous(), seeds(self, generator)).to(self.dtype());
}

Tensor binomial(const Tensor& count, const Tensor& prob, const Generator& generator) {
  const bool fit = (count >= 0).all().item().toBool() && (prob >= 0).logical_and(prob <= 1).all().item().toBool();
  LAMELLA_CHECK(fit,
                "a number of trials ('count') must not be negative, and a probability ('prob') is between 0 and 1");
  const std::vector<Tensor> both = lamella::broadcast_tensors({count.to(kDouble), prob.to(kDouble)});
  return lamella::_binomial_draw(both[0].contiguous(), both[1].contiguous(), seeds(both[0], generator))
      .to(count.dtype());
}

}  // namespace

LAMELLA_FAMILY(rejection, .category = "random", .forms = function) {
  return {
      {.schema = "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .infer = shape<infer_gamma>,
       .composite = composite<standard_gamma>,
       .doc = R"(Draws of the standard gamma distribution whose shapes are in `self`.

The method is that of Marsaglia and Tsang (2000). Draws are differentiable in `self`, see `_standard_gamma_grad`.
A draw too small for the dtype is the least positive normal number.

>>> bool((lamella._standard_gamma(lamella.ones(5)) > 0).all())
True
)"},
      {.schema = "_standard_gamma_log(Tensor self, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .forms = hidden,
       .infer = shape<infer_gamma>,
       .composite = composite<standard_gamma_log>,
       .doc = "The logarithms of the draws of `_standard_gamma`, which also hold those too small for the dtype."},
      {.schema = "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
       .dims = "... n~ -> ... n~",
       .infer = shape<infer_dirichlet>,
       .composite = composite<sample_dirichlet>,
       .doc = R"(Draws of Dirichlet's distribution: shares above 0 that add up to 1 in the last dimension.

>>> shares = lamella._sample_dirichlet(lamella.ones(2, 3))
>>> shares.shape, bool((shares.sum(-1) - 1).abs().max() < 1e-5)
(lamella.Size([2, 3]), True)
)"},
      {.schema = "poisson(Tensor self, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .infer = shape<infer_gamma>,
       .composite = composite<poisson>,
       .doc = R"(Draws of Poisson's distribution whose rates are in `self`, by Hoermann's algorithm PTRS (1993).

Raises:
    RuntimeError: a rate is negative

>>> lamella.poisson(lamella.zeros(3))
tensor([0., 0., 0.])
)"},
      {.schema = "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
       .dims = "broadcast",
       .infer = shape<infer_binomial>,
       .composite = composite<binomial>,
       .doc = R"(The number of successes in `count` trials of probability `prob`, by Hoermann's algorithm BTRS (1993).

Raises:
    RuntimeError: a count is negative, a probability is not between 0 and 1, or their dtypes differ

>>> lamella.binomial(lamella.tensor([3., 5.]), lamella.tensor([0., 1.]))
tensor([0., 5.])
)"},
  };
}

}  // namespace lamella::operators
