// Derivatives of special functions and of orthogonal polynomials (NIST Digital Library of Mathematical Functions,
// sections 7, 8.8, 10.6, 10.29, 18.9 and 25.11). An argument that is missing here has no derivative in closed form.
#include "derivatives/derivatives.h"

#include <deque>
#include <string>

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
};

// Derivatives of orthogonal polynomials of X and degree N. U' = ((N + 1) T(N + 1) - X U) / (X^2 - 1), which has a limit
// at the ends; V = U(N) - U(N - 1) and W = U(N) + U(N - 1).
struct Polynomial {
  const char *name, *slope;
};
constexpr Polynomial polynomials[] = {
    {"hermite_polynomial_h", "2 * N * special_hermite_polynomial_h(X, N - 1)"},
    {"hermite_polynomial_he", "N * special_hermite_polynomial_he(X, N - 1)"},
    {"legendre_polynomial_p",
     "where(eq(X * X, 1), pow(X, N + 1) * N * (N + 1) / 2,"
     "(X * result - special_legendre_polynomial_p(X, N - 1)) * N / (X * X - 1))"},
    {"laguerre_polynomial_l",
     "where(eq(X, 0), clamp_min(N, 0) * (X * (N - 1) / 2 - 1),"
     "(result - special_laguerre_polynomial_l(X, N - 1)) * N / X)"},
};
constexpr Polynomial chebyshev[] = {
    {"chebyshev_polynomial_t", "N * special_chebyshev_polynomial_u(X, N - 1)"},
    {"chebyshev_polynomial_u",
     "where(eq(X * X, 1), pow(X, N + 1) * N * (N + 1) * (N + 2) / 3,"
     "((N + 1) * special_chebyshev_polynomial_t(X, N + 1) - X * result) / (X * X - 1))"},
    {"chebyshev_polynomial_v",
     "where(eq(X, 1), N * (N + 1), where(eq(X, -1), pow(X, N + 1) * N * (N + 1) * (N * 2 + 1) / 3,"
     "((N + 1) * special_chebyshev_polynomial_t(X, N + 1) - N * special_chebyshev_polynomial_t(X, N) - X * result) /"
     "(X * X - 1)))"},
    {"chebyshev_polynomial_w",
     "where(eq(X, 1), N * (N + 1) * (N * 2 + 1) / 3, where(eq(X, -1), pow(X, N + 1) * N * (N + 1),"
     "((N + 1) * special_chebyshev_polynomial_t(X, N + 1) + N * special_chebyshev_polynomial_t(X, N) - X * result) /"
     "(X * X - 1)))"},
};

std::string replaced(std::string text, char word, const std::string& by) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) text.replace(at, 1, by);
  return text;
}

// A degree is rounded toward zero. The polynomial of a negative degree is 0, and the formulas are 0 for the degree -1.
void add_polynomial(Library& m, const std::string& name, const std::string& slope, const std::string& x) {
  static std::deque<std::string> texts;  // definitions keep their texts' addresses
  const std::string tensor = "clamp_min(trunc(n), -1)", number = "clamp_min(trunc(full_like(x, n)), -1)";
  for (const bool is_number : {false, true}) {
    texts.push_back("x: grad * " + replaced(replaced(slope, 'X', x), 'N', is_number ? number : tensor));
    m.derivative(("aten::special_" + name + (is_number ? ".n_scalar" : "")).c_str(), texts.back().c_str());
  }
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  add_derivatives(m, special);
  for (const Polynomial& p : polynomials) add_polynomial(m, p.name, p.slope, "x");
  for (const Polynomial& p : chebyshev) {
    add_polynomial(m, p.name, p.slope, "x");
    add_polynomial(m, std::string("shifted_") + p.name, std::string("2 * ") + p.slope, "(x * 2 - 1)");
  }
}

}  // namespace lamella::autograd
