// Pointwise functions: schemas and documentation. The meaning is in <lamella/pointwise/functions.h>.
#include "dispatcher/operators/gamma.h"
#include "dispatcher/operators/pointwise.h"

namespace lamella::dispatcher {
namespace {

lamella_status infer_pow_scalar(lamella_frame* f, const Value* a, Meta* m) {
  if (a[1].tag == LAMELLA_INT && a[1].as.i < 0 && core::dtype_class(a[0].as.tensor->dtype) == LAMELLA_CLASS_INTEGRAL)
    return raise(
        LAMELLA_RUNTIME_ERROR,
        where(f, 1) +
            ": an integer to a negative integer power is not an integer; convert 'self' with .to(lamella.float32)");
  return infer_as<lamella::pointwise::pow>(f, a, m);
}

lamella_status float_power(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  bool complex = false;
  for (int i = 0; i < 2; i++)
    complex |= a[i].tag == LAMELLA_COMPLEX ||
               (a[i].tag == LAMELLA_TENSOR && core::dtype_class(tensor_arg(a[i])->dtype) == LAMELLA_CLASS_COMPLEX);
  const As wide{static_cast<DType>(complex ? LAMELLA_COMPLEX128 : LAMELLA_FLOAT64)};
  Var x = a[0].tag == LAMELLA_TENSOR ? c.op<"to.dtype">(a[0], wide) : c.arg(a[0]);
  Var y = a[1].tag == LAMELLA_TENSOR ? c.op<"to.dtype">(a[1], wide) : c.arg(a[1]);
  if (!x.tensor()) return c.give(r, c.op<"pow.Scalar">(x, y));
  return c.give(r, y.tensor() ? c.op<"pow.Tensor_Tensor">(x, y) : c.op<"pow.Tensor_Scalar">(x, y));
}

lamella_status conj(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  return c.give(r, x.dtype_class() == LAMELLA_CLASS_COMPLEX ? c.op<"conj_physical">(x) : x);
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
      {"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "pointwise", all_forms, infer_pow_scalar, nullptr,
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
      {"conj(Tensor(a) self) -> Tensor(a)", "pointwise", everywhere, nullptr, conj,
       "The complex conjugate; a real tensor is returned as it is.\n\n>>> lamella.conj(lamella.tensor([1 + "
       "2j]))\ntensor([1.-2.j])\n"},
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
      {"float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", "pointwise", all_forms, nullptr,
       float_power,
       "self to the power of exponent, computed in float64, or complex128.\n\n>>> "
       "lamella.float_power(lamella.tensor([1, "
       "2, 3]), -1)\ntensor([1.0000, 0.5000, 0.3333], dtype=lamella.float64)\n"},
      {"float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "pointwise", all_forms, nullptr,
       float_power, nullptr},
      {"float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", "pointwise", function | out, nullptr, float_power,
       nullptr},
      {"digamma(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, digamma,
       "The derivative of lgamma. It is NaN at negative integers, and at zero infinite with the other sign.\n\n"
       "Raises:\n    RuntimeError: the dtype is complex\n\n>>> lamella.digamma(lamella.tensor([1., 0.5]))\n"
       "tensor([-0.5772, -1.9635])\n"},
      {"polygamma(int n, Tensor self) -> Tensor", "pointwise", function | out, nullptr, polygamma,
       "The n-th derivative of digamma, which is that of order 0.\n\nRaises:\n    RuntimeError: n is negative, or the "
       "dtype complex\n\n>>> lamella.polygamma(1, lamella.tensor([1., 0.5]))\ntensor([1.6449, 4.9348])\n"},
  };
}

}  // namespace lamella::dispatcher
