/* Pointwise special functions: of Bessel, Airy, the normal distribution, the gamma function and zeta. */
#ifndef LAMELLA_POINTWISE_SPECIAL_H
#define LAMELLA_POINTWISE_SPECIAL_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* float32 is computed in float64. An operator "special_NAME" is shown as lamella.special.NAME. */
template <int Inputs>
struct Wide : Maths<Inputs, ORDERED> {
  static constexpr bool wide = true;
};
template <int Inputs>
struct Iterating : Wide<Inputs> {
  static constexpr bool iterates = true;
};

#define LAMELLA_NAMED(name, argument, doc, from, to)                                       \
  Signature {                                                                              \
    "special_" name "(Tensor " argument ") -> Tensor", FUNCTION | OUT,                     \
        doc "\n\n>>> lamella.special." name "(lamella.tensor(" from "))\ntensor(" to ")\n" \
  }
#define LAMELLA_FUNCTION(name, word, argument, doc, from, to)                                  \
  struct name : Wide<1> {                                                                      \
    static constexpr Signature signatures[] = {LAMELLA_NAMED(#name, argument, doc, from, to)}; \
    template <class T>                                                                         \
    static T apply(T x) {                                                                      \
      return word##_(x);                                                                       \
    }                                                                                          \
  };
/* ---- functions of Bessel and Airy ------------------------------------------------------------------------------- */

LAMELLA_FUNCTION(bessel_j0, bessel_j0, "self", "The Bessel function of the first kind and order 0 (DLMF 10.2).",
                 "[0., 1., 5.]", "[ 1.0000,  0.7652, -0.1776]")
LAMELLA_FUNCTION(bessel_j1, bessel_j1, "self", "The Bessel function of the first kind and order 1 (DLMF 10.2).",
                 "[0., 1., 5.]", "[ 0.0000,  0.4401, -0.3276]")
LAMELLA_FUNCTION(bessel_y0, bessel_y0, "self",
                 "The Bessel function of the second kind and order 0 (DLMF 10.2): -inf at 0, NaN below.", "[1., 5.]",
                 "[ 0.0883, -0.3085]")
LAMELLA_FUNCTION(bessel_y1, bessel_y1, "self",
                 "The Bessel function of the second kind and order 1 (DLMF 10.2): -inf at 0, NaN below.", "[1., 5.]",
                 "[-0.7812,  0.1479]")
struct bessel_i0 : Wide<1> {
  static constexpr Signature signatures[] = {
      {"i0(Tensor self) -> Tensor", ALL_FORMS,
       R"(The modified Bessel function of the first kind and order 0 (DLMF 10.25).

>>> lamella.i0(lamella.tensor([0., 1., 2.]))
tensor([1.0000, 1.2661, 2.2796])
)"},
      LAMELLA_NAMED("modified_bessel_i0", "self", "The function lamella.i0.", "[0., 1.]", "[1.0000, 1.2661]")};
  template <class T>
  static T apply(T x) {
    return bessel_i0_(x);
  }
};
struct bessel_i1 : Wide<1> {
  static constexpr Signature signatures[] = {
      LAMELLA_NAMED("i1", "self", "The modified Bessel function of the first kind and order 1 (DLMF 10.25).",
                    "[0., 1., 2.]", "[0.0000, 0.5652, 1.5906]"),
      LAMELLA_NAMED("modified_bessel_i1", "self", "The function lamella.special.i1.", "[0., 1.]", "[0.0000, 0.5652]")};
  template <class T>
  static T apply(T x) {
    return bessel_i1_(x);
  }
};
LAMELLA_FUNCTION(i0e, bessel_i0e, "self", "i0(self) * e^-|self|, which does not overflow.", "[0., 1., 2.]",
                 "[1.0000, 0.4658, 0.3085]")
LAMELLA_FUNCTION(i1e, bessel_i1e, "self", "i1(self) * e^-|self|, which does not overflow.", "[0., 1., 2.]",
                 "[0.0000, 0.2079, 0.2153]")
LAMELLA_FUNCTION(modified_bessel_k0, bessel_k0, "self",
                 "The modified Bessel function of the second kind and order 0 (DLMF 10.25): inf at 0, NaN below.",
                 "[1., 2.]", "[0.4210, 0.1139]")
LAMELLA_FUNCTION(modified_bessel_k1, bessel_k1, "self",
                 "The modified Bessel function of the second kind and order 1 (DLMF 10.25): inf at 0, NaN below.",
                 "[1., 2.]", "[0.6019, 0.1399]")
LAMELLA_FUNCTION(scaled_modified_bessel_k0, bessel_k0e, "x", "modified_bessel_k0(x) * e^x, which does not underflow.",
                 "[1., 2.]", "[1.1445, 0.8416]")
LAMELLA_FUNCTION(scaled_modified_bessel_k1, bessel_k1e, "x", "modified_bessel_k1(x) * e^x, which does not underflow.",
                 "[1., 2.]", "[1.6362, 1.0335]")
LAMELLA_FUNCTION(airy_ai, airy_ai, "x", "Airy's function Ai (DLMF 9.2).", "[-1., 0., 1.]", "[0.5356, 0.3550, 0.1353]")
struct spherical_bessel_j0 : Maths<1, ORDERED> {
  static constexpr Signature signatures[] = {
      LAMELLA_NAMED("spherical_bessel_j0", "x",
                    "The spherical Bessel function of the first kind and order 0: sin(x) / x, and 1 at 0.",
                    "[0., 1., 2.]", "[1.0000, 0.8415, 0.4546]")};
  template <class T>
  static T apply(T x) {
    const T far = number<T>(std::numeric_limits<double>::infinity());
    return where(x == number<T>(0), number<T>(1), where(abs_(x) == far, number<T>(0), sin_(x) / x));
  }
};

/* ---- the error function and the normal distribution ------------------------------------------------------------- */

LAMELLA_FUNCTION(erfcx, scaled_erfc, "self", "e^(self^2) * erfc(self), which does not underflow (DLMF 7.2).",
                 "[0., 1., 10.]", "[1.0000, 0.4276, 0.0561]")
struct ndtr : Maths<1, ORDERED> {
  static constexpr Signature signatures[] = {
      LAMELLA_NAMED("ndtr", "self", "The probability that a standard normal variable is below self.", "[-1., 0., 2.]",
                    "[0.1587, 0.5000, 0.9772]")};
  template <class T>
  static T apply(T x) {
    if constexpr (std::is_same_v<T, float>)
      return normal_cdf_(x);
    else
      return ndtr_(x);
  }
};
LAMELLA_FUNCTION(log_ndtr, log_ndtr, "self", "log(ndtr(self)), precise far below 0, too.", "[-1., 0., 2.]",
                 "[-1.8410, -0.6931, -0.0230]")
LAMELLA_FUNCTION(ndtri, ndtri, "self",
                 "The number below which a standard normal variable is with probability self; NaN outside of [0, 1].",
                 "[0.5, 0.9772]", "[0.0000, 1.9991]")
struct entr : Maths<1, ORDERED> {
  static constexpr Signature signatures[] = {LAMELLA_NAMED("entr", "self", "-self * log(self): 0 at 0, and -inf below.",
                                                           "[0., 0.25, 0.5]", "[0.0000, 0.3466, 0.3466]")};
  template <class T>
  static T apply(T x) {
    const T low = where(x == number<T>(0), x, number<T>(-std::numeric_limits<double>::infinity()));
    return where(x > number<T>(0) || x != x, -x * log_(x), low);
  }
};
/* 0 where x is 0, also if log(1 + y) is NaN or infinite, unless y is NaN. */
struct xlog1py : Maths<2, ORDERED> {
  static constexpr Signature signatures[] = {
      {"special_xlog1py(Tensor self, Tensor other) -> Tensor", FUNCTION | OUT,
       R"(self * log(1 + other), and 0 where self is 0.

>>> lamella.special.xlog1py(lamella.tensor([0., 2.]), lamella.tensor([-1., 2.]))
tensor([0.0000, 2.1972])
)"},
      {"special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", FUNCTION | OUT},
      {"special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", FUNCTION | OUT}};
  template <class T>
  static T apply(T x, T y) {
    return where(x == number<T>(0) && y == y, number<T>(0), x * log1p_(y));
  }
};

/* ---- the gamma function's relatives ----------------------------------------------------------------------------- */

struct digamma : Wide<1> {
  static constexpr Signature signatures[] = {
      {"digamma(Tensor self) -> Tensor", ALL_FORMS,
       R"(The derivative of lgamma. It is NaN at negative integers, and at zero infinite with the other sign.

Raises:
    RuntimeError: the dtype is complex

>>> lamella.digamma(lamella.tensor([1., 0.5]))
tensor([-0.5772, -1.9635])
)"}};
  template <class T>
  static T apply(T x) {
    return digamma_(x);
  }
};
struct polygamma : Iterating<2> {
  static constexpr Signature signatures[] = {{"polygamma(int n, Tensor self) -> Tensor", FUNCTION | OUT,
                                              R"(The n-th derivative of digamma, which is that of order 0.

Raises:
    RuntimeError: n is negative, or the dtype complex

>>> lamella.polygamma(1, lamella.tensor([1., 0.5]))
tensor([1.6449, 4.9348])
)"}};
  template <class T>
  static T apply(T n, T x) {
    return polygamma_(n, x);
  }
  static void lanes(double* o, const double* n, const double* x) { lamella_polygamma_lanes(LAMELLA_LANES, o, n, x); }
};
struct zeta : Iterating<2> {
  static constexpr Signature signatures[] = {
      {"special_zeta(Tensor self, Tensor other) -> Tensor", FUNCTION | OUT,
       R"(Hurwitz's zeta function: the sum of (other + k)^-self over k >= 0 (DLMF 25.11).

It is inf where self is 1, and where other is 0 or a negative integer; NaN where self is below 1, and where other is
negative and self is no integer.

>>> lamella.special.zeta(lamella.tensor([2., 4.]), lamella.tensor([1., 1.]))
tensor([1.6449, 1.0823])
)"},
      {"special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", FUNCTION | OUT},
      {"special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", FUNCTION | OUT}};
  template <class T>
  static T apply(T x, T y) {
    return zeta_(x, y);
  }
  static void lanes(double* o, const double* x, const double* y) { lamella_zeta_lanes(LAMELLA_LANES, o, x, y); }
};
struct igamma : Iterating<2> {
  static constexpr Signature signatures[] = {
      {"igamma(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(The regularized lower incomplete gamma function P(self, other) (DLMF 8.2): from 0 at other = 0 to 1.

Negative arguments give NaN.

>>> lamella.igamma(lamella.tensor([1., 2.]), lamella.tensor([1., 3.]))
tensor([0.6321, 0.8009])
)"}};
  template <class T>
  static T apply(T a, T x) {
    return gamma_lower_(a, x);
  }
  static void lanes(double* o, const double* a, const double* x) { lamella_gamma_lower_lanes(LAMELLA_LANES, o, a, x); }
};
struct igammac : Iterating<2> {
  static constexpr Signature signatures[] = {
      {"igammac(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(The regularized upper incomplete gamma function, 1 - igamma(self, other), precise also where that is small.

>>> lamella.igammac(lamella.tensor([1., 2.]), lamella.tensor([1., 3.]))
tensor([0.3679, 0.1991])
)"}};
  template <class T>
  static T apply(T a, T x) {
    return gamma_upper_(a, x);
  }
  static void lanes(double* o, const double* a, const double* x) { lamella_gamma_upper_lanes(LAMELLA_LANES, o, a, x); }
};

#undef LAMELLA_FUNCTION
#undef LAMELLA_NAMED

using special =
    Family<bessel_j0, bessel_j1, bessel_y0, bessel_y1, bessel_i0, bessel_i1, i0e, i1e, modified_bessel_k0,
           modified_bessel_k1, scaled_modified_bessel_k0, scaled_modified_bessel_k1, airy_ai, spherical_bessel_j0,
           erfcx, ndtr, log_ndtr, ndtri, entr, xlog1py, digamma, polygamma, zeta, igamma, igammac>;

}  // namespace
}  // namespace lamella::pointwise
#endif
