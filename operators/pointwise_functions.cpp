// Pointwise functions: schemas and documentation. The meaning is in <lamella/pointwise/functions.h>.
#include "operators/pointwise.h"

namespace lamella::operators {
namespace {

void check_power(const Tensor& self, const Scalar& exponent) {
  LAMELLA_CHECK(!exponent.isIntegral() || exponent.toLong() >= 0 || !is_integral(self.dtype()), "argument 'exponent'",
                ": an integer to a negative integer power is not an integer; convert 'self' with .to(lamella.float32)");
}

}  // namespace

std::vector<Declaration> function_operators() {
  namespace p = lamella::pointwise;
  return {
      UNARY("exp", exp,
            "e to the power of each element.\n\n>>> lamella.exp(lamella.tensor([0., 1.]))\ntensor([1.0000, 2.7183])\n"),
      UNARY("log", log,
            "The natural logarithm of each element.\n\n>>> lamella.log(lamella.tensor([1., 10.]))\ntensor([0.0000, "
            "2.3026])\n"),
      UNARY("sin", sin,
            "The sine of each element, in radians.\n\n>>> lamella.sin(lamella.tensor([0., 1.]))\ntensor([0.0000, "
            "0.8415])\n"),
      UNARY("cos", cos,
            "The cosine of each element, in radians.\n\n>>> lamella.cos(lamella.tensor([0., 1.]))\ntensor([1.0000, "
            "0.5403])\n"),
      UNARY("tanh", tanh,
            "The hyperbolic tangent of each element.\n\n>>> lamella.tanh(lamella.tensor([0., 1.]))\ntensor([0.0000, "
            "0.7616])\n"),
      UNARY("sqrt", sqrt,
            "The square root of each element.\n\n>>> lamella.sqrt(lamella.tensor([4., 9.]))\ntensor([2., 3.])\n"),
      {"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "pointwise", all_forms,
       pointwise_shape<check_power>, nullptr,
       "self to the power of exponent, element by element.\n\nRaises:\n    RuntimeError: an integer to a negative "
       "integer power\n\n>>> lamella.pow(lamella.tensor([1, 2, 3]), 2)\ntensor([1, 4, 9])\n",
       meaning<p::pow>()},
      {"pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::pow>()},
      {"pow.Scalar(Scalar self, Tensor exponent) -> Tensor", "pointwise", function | out, nullptr, nullptr, nullptr,
       meaning<p::pow>()},
      {"exp2(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "2 to the power of each element.\n\n>>> lamella.exp2(lamella.tensor([0., 3.]))\ntensor([1., 8.])\n",
       meaning<p::exp2>()},
      {"expm1(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "e^self - 1, exact also near 0.\n\n>>> lamella.expm1(lamella.tensor([0., 1.]))\ntensor([0.0000, 1.7183])\n",
       meaning<p::expm1>()},
      {"log2(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The logarithm to base 2.\n\n>>> lamella.log2(lamella.tensor([1., 8.]))\ntensor([0., 3.])\n",
       meaning<p::log2>()},
      {"log10(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The logarithm to base 10.\n\n>>> lamella.log10(lamella.tensor([1., 1000.]))\ntensor([0.0000, 3.0000])\n",
       meaning<p::log10>()},
      {"log1p(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "log(1 + self), exact also near 0.\n\n>>> lamella.log1p(lamella.tensor([0., 1.]))\ntensor([0.0000, 0.6931])\n",
       meaning<p::log1p>()},
      {"tan(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The tangent of each element, in radians.\n\n>>> lamella.tan(lamella.tensor([0., 1.]))\ntensor([0.0000, "
       "1.5574])\n",
       meaning<p::tan>()},
      {"asin(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The angle whose sine each element is.\n\n>>> lamella.asin(lamella.tensor([0., 1.]))\ntensor([0.0000, "
       "1.5708])\n",
       meaning<p::asin>()},
      {"acos(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The angle whose cosine each element is.\n\n>>> lamella.acos(lamella.tensor([0., 1.]))\ntensor([1.5708, "
       "0.0000])\n",
       meaning<p::acos>()},
      {"atan(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The angle whose tangent each element is.\n\n>>> lamella.atan(lamella.tensor([0., 1.]))\ntensor([0.0000, "
       "0.7854])\n",
       meaning<p::atan>()},
      {"sinh(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The hyperbolic sine.\n\n>>> lamella.sinh(lamella.tensor([0., 1.]))\ntensor([0.0000, 1.1752])\n",
       meaning<p::sinh>()},
      {"cosh(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The hyperbolic cosine.\n\n>>> lamella.cosh(lamella.tensor([0., 1.]))\ntensor([1.0000, 1.5431])\n",
       meaning<p::cosh>()},
      {"asinh(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The inverse hyperbolic sine.\n\n>>> lamella.asinh(lamella.tensor([0., 1.]))\ntensor([0.0000, 0.8814])\n",
       meaning<p::asinh>()},
      {"acosh(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The inverse hyperbolic cosine.\n\n>>> lamella.acosh(lamella.tensor([1., 2.]))\ntensor([0.0000, 1.3170])\n",
       meaning<p::acosh>()},
      {"atanh(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The inverse hyperbolic tangent.\n\n>>> lamella.atanh(lamella.tensor([0., 0.5]))\ntensor([0.0000, 0.5493])\n",
       meaning<p::atanh>()},
      {"erf(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The error function.\n\n>>> lamella.erf(lamella.tensor([0., 1.]))\ntensor([0.0000, 0.8427])\n",
       meaning<p::erf>()},
      {"erfc(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "1 - erf(self), exact also where that is small.\n\n>>> lamella.erfc(lamella.tensor([0., 1.]))\ntensor([1.0000, "
       "0.1573])\n",
       meaning<p::erfc>()},
      {"lgamma(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The logarithm of the gamma function's magnitude.\n\n>>> lamella.lgamma(lamella.tensor([1., "
       "5.]))\ntensor([0.0000, 3.1781])\n",
       meaning<p::lgamma>()},
      {"erfinv(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The inverse of the error function.\n\n>>> lamella.erfinv(lamella.tensor([0., 0.5]))\ntensor([0.0000, "
       "0.4769])\n",
       meaning<p::erfinv>()},
      {"rsqrt(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "1 / sqrt(self).\n\n>>> lamella.rsqrt(lamella.tensor([1., 4.]))\ntensor([1.0000, 0.5000])\n",
       meaning<p::rsqrt>()},
      {"sinc(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "sin(pi self) / (pi self), and 1 at 0.\n\n>>> lamella.sinc(lamella.tensor([0., 0.5]))\ntensor([1.0000, "
       "0.6366])\n",
       meaning<p::sinc>()},
      {"conj_physical(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The complex conjugate, computed; real elements stay.\n\n>>> lamella.conj_physical(lamella.tensor([1 + "
       "2j]))\ntensor([1.-2.j])\n",
       meaning<p::conj_physical>()},
      {"angle(Tensor self) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "The argument of complex elements; of real ones 0, or pi where they are negative.\n\n>>> "
       "lamella.angle(lamella.tensor([1j, -1 + 0j]))\ntensor([1.5708, 3.1416])\n",
       meaning<p::angle>()},
      {"atan2(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The angle of the point (other, self), with the quadrant's sign.\n\n>>> lamella.atan2(lamella.tensor([1., "
       "-1.]), "
       "lamella.tensor([1., -1.]))\ntensor([ 0.7854, -2.3562])\n",
       meaning<p::atan2>()},
      {"hypot(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "sqrt(self^2 + other^2) without overflow on the way.\n\n>>> lamella.hypot(lamella.tensor([3.]), "
       "lamella.tensor([4.]))\ntensor([5.])\n",
       meaning<p::hypot>()},
      {"logaddexp(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "log(e^self + e^other) without overflow on the way.\n\n>>> lamella.logaddexp(lamella.tensor([0., 1000.]), "
       "lamella.tensor([0., 1000.]))\ntensor([6.9315e-01, 1.0007e+03])\n",
       meaning<p::logaddexp>()},
      {"logaddexp2(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "log2(2^self + 2^other) without overflow on the way.\n\n>>> lamella.logaddexp2(lamella.tensor([0., 3.]), "
       "lamella.tensor([0., 3.]))\ntensor([1., 4.])\n",
       meaning<p::logaddexp2>()},
      {"xlogy.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "self * log(other), and 0 where self is 0.\n\n>>> lamella.xlogy(lamella.tensor([0., 2.]), lamella.tensor([0., "
       "1.]))\ntensor([0., 0.])\n",
       meaning<p::xlogy>()},
      {"xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::xlogy>()},
      {"xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr, nullptr, nullptr,
       meaning<p::xlogy>()},
      {"logit(Tensor self, float? eps=None) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "log(self / (1 - self)).\n\nArgs:\n    eps: limits self to [eps, 1 - eps] first; without it, what is outside of "
       "[0, 1] gives NaN\n\n>>> lamella.logit(lamella.tensor([0.5, 0.9]))\ntensor([0.0000, 2.1972])\n",
       meaning<p::logit>()},
  };
}

}  // namespace lamella::operators
