/* Draws by rejection from a seed of each element, and the gradients of gamma and beta draws by their shapes. They are
 * computed in float64. */
#ifndef LAMELLA_POINTWISE_DRAWS_H
#define LAMELLA_POINTWISE_DRAWS_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

struct standard_gamma_grad : Pointwise<2, FLOAT> {
  static constexpr Signature signatures[] = {
      {"_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", FUNCTION,
       R"(The derivative by the shape of draws of the standard gamma distribution.

A draw x moves with its shape a by dx/da = -(dF/da) / p(x), where F is the distribution function and p the density
(Figurnov, Mohamed and Mnih, 2018). The relative error is below 1e-9 in float64.

Args:
    self: the shapes, above 0
    output: what `_standard_gamma` drew

>>> lamella._standard_gamma_grad(lamella.tensor([1., 4.]), lamella.tensor([1., 4.]))
tensor([1.1736, 1.0425])
)"}};
  template <class T>
  static T apply(T a, T x) {
    return gamma_gradient_(a, x);
  }
};

struct dirichlet_grad : Pointwise<3, FLOAT> {
  static constexpr Signature signatures[] = {{"_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
                                              FUNCTION,
                                              R"(The derivative by alpha of beta draws x, divided by 1 - x.

The draws have the parameters `alpha` and `total - alpha`; see `_standard_gamma_grad` for the method.

>>> x = lamella.tensor([0.25, 0.75])
>>> lamella._dirichlet_grad(x, lamella.ones(2), lamella.full((2,), 2.))
tensor([0.4621, 0.8630])
)"}};
  template <class T>
  static T apply(T x, T alpha, T total) {
    return beta_gradient_(x, alpha, total);
  }
};

struct gamma_draw : Pointwise<2, FLOAT> {
  static constexpr Signature signatures[] = {
      {"_gamma_draw(Tensor self, Tensor seed) -> Tensor", PRIVATE | FUNCTION,
       "The logarithm of a standard gamma draw for the shape `self`, by random words that follow from `seed`."}};
  template <class T>
  static T apply(T shape, T seed) {
    return gamma_draw_(shape, seed);
  }
};

struct poisson_draw : Pointwise<2, FLOAT> {
  static constexpr Signature signatures[] = {
      {"_poisson_draw(Tensor self, Tensor seed) -> Tensor", PRIVATE | FUNCTION,
       "A number with Poisson's distribution of the rate `self`, by random words that follow from `seed`."}};
  template <class T>
  static T apply(T rate, T seed) {
    return poisson_draw_(rate, seed);
  }
};

struct binomial_draw : Pointwise<3, FLOAT> {
  static constexpr Signature signatures[] = {
      {"_binomial_draw(Tensor count, Tensor prob, Tensor seed) -> Tensor", PRIVATE | FUNCTION,
       "A binomial number of `count` trials, by random words that follow from `seed`."}};
  template <class T>
  static T apply(T count, T probability, T seed) {
    return binomial_draw_(count, probability, seed);
  }
};

using draws = Family<standard_gamma_grad, dirichlet_grad, gamma_draw, poisson_draw, binomial_draw>;

}  // namespace
}  // namespace lamella::pointwise
#endif
