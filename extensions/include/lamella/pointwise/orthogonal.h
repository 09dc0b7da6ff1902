/* Pointwise orthogonal polynomials, with one degree for each element. */
#ifndef LAMELLA_POINTWISE_ORTHOGONAL_H
#define LAMELLA_POINTWISE_ORTHOGONAL_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* The example calls the function with [0.5, 0.75] and the degree 3, and gets `to`. */
#define LAMELLA_POLYNOMIAL(name, op, doc, to)                                                                          \
  struct name : Maths<2, ORDERED> {                                                                                    \
    static constexpr Signature signatures[] = {                                                                        \
        {"special_" op "(Tensor x, Tensor n) -> Tensor", FUNCTION | OUT,                                               \
         doc "\n\nA degree n is rounded toward zero; the polynomial of a negative degree is 0.\n\n"                    \
             ">>> lamella.special." op "(lamella.tensor([0.5, 0.75]), 3)\ntensor(" to ")\n"},                          \
        {"special_" op ".x_scalar(Scalar x, Tensor n) -> Tensor", FUNCTION | OUT},                                     \
        {"special_" op ".n_scalar(Tensor x, Scalar n) -> Tensor", FUNCTION | OUT}};                                    \
    static constexpr bool wide = true, iterates = true;                                                                \
    template <class T>                                                                                                 \
    static T apply(T x, T n) {                                                                                         \
      return name##_(x, n);                                                                                            \
    }                                                                                                                  \
    static void lanes(double* o, const double* x, const double* n) { lamella_##name##_lanes(LAMELLA_LANES, o, x, n); } \
  };
LAMELLA_POLYNOMIAL(chebyshev_t, "chebyshev_polynomial_t",
                   "Chebyshev's polynomial of the first kind, T_n(x): cos(n arccos(x)) (DLMF 18.3).",
                   "[-1.0000, -0.5625]")
LAMELLA_POLYNOMIAL(chebyshev_u, "chebyshev_polynomial_u",
                   "Chebyshev's polynomial of the second kind, U_n(x) (DLMF 18.3).", "[-1.0000,  0.3750]")
LAMELLA_POLYNOMIAL(chebyshev_v, "chebyshev_polynomial_v",
                   "Chebyshev's polynomial of the third kind, V_n(x) (DLMF 18.3).", "[-1.0000, -0.8750]")
LAMELLA_POLYNOMIAL(chebyshev_w, "chebyshev_polynomial_w",
                   "Chebyshev's polynomial of the fourth kind, W_n(x) (DLMF 18.3).", "[-1.0000,  1.6250]")
LAMELLA_POLYNOMIAL(shifted_chebyshev_t, "shifted_chebyshev_polynomial_t",
                   "Chebyshev's polynomial T_n(2x - 1), for x in [0, 1].", "[-0., -1.]")
LAMELLA_POLYNOMIAL(shifted_chebyshev_u, "shifted_chebyshev_polynomial_u",
                   "Chebyshev's polynomial U_n(2x - 1), for x in [0, 1].", "[-0., -1.]")
LAMELLA_POLYNOMIAL(shifted_chebyshev_v, "shifted_chebyshev_polynomial_v",
                   "Chebyshev's polynomial V_n(2x - 1), for x in [0, 1].", "[ 1., -1.]")
LAMELLA_POLYNOMIAL(shifted_chebyshev_w, "shifted_chebyshev_polynomial_w",
                   "Chebyshev's polynomial W_n(2x - 1), for x in [0, 1].", "[-1., -1.]")
LAMELLA_POLYNOMIAL(hermite_h, "hermite_polynomial_h", "Hermite's polynomial of the physicists, H_n(x) (DLMF 18.3).",
                   "[-5.0000, -5.6250]")
LAMELLA_POLYNOMIAL(hermite_he, "hermite_polynomial_he",
                   "Hermite's polynomial of the probabilists, He_n(x) (DLMF 18.3).", "[-1.3750, -1.8281]")
LAMELLA_POLYNOMIAL(laguerre_l, "laguerre_polynomial_l", "Laguerre's polynomial, L_n(x) (DLMF 18.3).",
                   "[-0.1458, -0.4766]")
LAMELLA_POLYNOMIAL(legendre_p, "legendre_polynomial_p", "Legendre's polynomial, P_n(x) (DLMF 18.3).",
                   "[-0.4375, -0.0703]")
#undef LAMELLA_POLYNOMIAL

using orthogonal = Family<chebyshev_t, chebyshev_u, chebyshev_v, chebyshev_w, shifted_chebyshev_t, shifted_chebyshev_u,
                          shifted_chebyshev_v, shifted_chebyshev_w, hermite_h, hermite_he, laguerre_l, legendre_p>;

}  // namespace
}  // namespace lamella::pointwise
#endif
