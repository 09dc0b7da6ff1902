// Derivatives of special functions and of orthogonal polynomials (NIST Digital Library of Mathematical Functions,
// sections 7, 8.8, 10.6, 10.29, 18.9 and 25.11). An argument that is missing here has no derivative in closed form.
#include "derivatives/derivatives.h"

namespace lamella::autograd {
namespace {

constexpr Line special[] = {
    // functions of Bessel
    {"special_bessel_j0", "self: -(grad * special_bessel_j1(self))"},
    {"special_bessel_j1", "self: grad * (special_bessel_j0(self) - where(eq(self, 0), 0.5, result / self))"},
    {"special_bessel_y0", "self: -(grad * special_bessel_y1(self))"},
    {"special_bessel_y1", "self: grad * (special_bessel_y0(self) - result / self)"},
    {"i0, special_modified_bessel_i0", "self: grad * special_i1(self)"},
    {"special_i1, special_modified_bessel_i1", "self: grad * (i0(self) - where(eq(self, 0), 0.5, result / self))"},
    {"special_i0e", "self: grad * (special_i1e(self) - sgn(self) * result)"},
    {"special_i1e", "self: grad * (special_i0e(self) - sgn(self) * result - where(eq(self, 0), 0.5, result / self))"},
    {"special_modified_bessel_k0", "self: -(grad * special_modified_bessel_k1(self))"},
    {"special_modified_bessel_k1", "self: -(grad * (special_modified_bessel_k0(self) + result / self))"},
    {"special_scaled_modified_bessel_k0", "x: grad * (result - special_scaled_modified_bessel_k1(x))"},
    {"special_scaled_modified_bessel_k1", "x: grad * (result - special_scaled_modified_bessel_k0(x) - result / x)"},
    {"special_spherical_bessel_j0", "x: grad * where(eq(x, 0), 0, (cos(x) - result) / x)"},

    // the error function and the normal distribution
    {"special_erfcx", "self: grad * (self * result * 2 - 1.1283791670955126)"},
    {"special_ndtr", "self: grad * exp(self * self * -0.5) * 0.3989422804014327"},
    {"special_log_ndtr", "self: grad * 0.7978845608028654 / special_erfcx(self * -0.7071067811865476)"},
    {"special_ndtri", "self: grad * exp(result * result * 0.5) * 2.5066282746310002"},
    {"special_entr", "self: grad * (-log(self) - 1)"},
    {"special_xlog1py",
     "self: where(logical_and(eq(self, 0), le(other, -1)), 0, special_xlog1py(grad, other));"
     "other: grad * (self / (other + 1))"},
    {"special_xlog1py.self_scalar", "other: grad * (self / (other + 1))"},
    {"special_xlog1py.other_scalar", "self: special_xlog1py(grad, other)"},

    // the gamma function's relatives
    {"special_zeta", "other: -(grad * self * special_zeta(self + 1, other))"},
    {"special_zeta.self_scalar", "other: -(grad * self * special_zeta(self + 1, other))"},
    {"igamma", "other: grad * exp((self - 1) * log(other) - other - lgamma(self))"},
    {"igammac", "other: -(grad * exp((self - 1) * log(other) - other - lgamma(self)))"},

    // orthogonal polynomials
    {"special_chebyshev_polynomial_t, special_chebyshev_polynomial_t.n_scalar",
     "x: grad * n * special_chebyshev_polynomial_u(x, n - 1)"},
    {"special_shifted_chebyshev_polynomial_t, special_shifted_chebyshev_polynomial_t.n_scalar",
     "x: grad * 2 * n * special_shifted_chebyshev_polynomial_u(x, n - 1)"},
    {"special_hermite_polynomial_h, special_hermite_polynomial_h.n_scalar",
     "x: grad * 2 * n * special_hermite_polynomial_h(x, n - 1)"},
    {"special_hermite_polynomial_he, special_hermite_polynomial_he.n_scalar",
     "x: grad * n * special_hermite_polynomial_he(x, n - 1)"},
    {"special_chebyshev_polynomial_u, special_chebyshev_polynomial_u.n_scalar",
     "x: grad * where(eq(x * x, 1), pow(x, n + 1) * n * (n + 1) * (n + 2) / 3,"
     "((n + 1) * special_chebyshev_polynomial_t(x, n + 1) - x * result) / (x * x - 1))"},
    {"special_shifted_chebyshev_polynomial_u, special_shifted_chebyshev_polynomial_u.n_scalar",
     "x: grad * 2 * where(eq(square(x * 2 - 1), 1), pow(x * 2 - 1, n + 1) * n * (n + 1) * (n + 2) / 3,"
     "((n + 1) * special_shifted_chebyshev_polynomial_t(x, n + 1) - (x * 2 - 1) * result) / (square(x * 2 - 1) - 1))"},
    {"special_legendre_polynomial_p, special_legendre_polynomial_p.n_scalar",
     "x: grad * where(eq(x * x, 1), pow(x, n + 1) * n * (n + 1) / 2,"
     "(x * result - special_legendre_polynomial_p(x, n - 1)) * n / (x * x - 1))"},
    {"special_laguerre_polynomial_l, special_laguerre_polynomial_l.n_scalar",
     "x: grad * where(eq(x, 0), x - n, (result - special_laguerre_polynomial_l(x, n - 1)) * n / x)"},
};

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) { add_derivatives(m, special); }

}  // namespace lamella::autograd
