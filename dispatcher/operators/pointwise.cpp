// The pointwise operators: schemas and documentation. Their meaning is declared in
// <lattis/pointwise/declarations.h>; the loops compiled here, for the oldest instruction set, are registered with it.
#include <lattis/pointwise/loops.h>

#include "dispatcher/operators/rules.h"
#include "dispatcher/pointwise.h"

namespace lattis::dispatcher {
namespace {

template <class Op>
const lattis_pointwise* meaning() {
  static const std::string text = lattis::pointwise::expression<Op>();
  static const lattis_pointwise d = lattis::pointwise::describe<Op>(text.c_str());
  return &d;
}

lattis_status div_mode(lattis_frame* f, const Value* a, Value* r) {
  bool scalar = a[1].tag != LATTIS_TENSOR;
  static const Callee plain[2] = {{"div", "Tensor"}, {"div", "Scalar"}};
  static const Callee floored[2] = {{"floor_divide", ""}, {"floor_divide", "Scalar"}};
  static const Callee truncated[2] = {{"_trunc_divide", "Tensor"}, {"_trunc_divide", "Scalar"}};
  if (!given(a[2])) return plain[scalar](f, {a[0], a[1]}, r);
  std::string mode(a[2].as.string, a[2].length);
  if (mode == "floor") return floored[scalar](f, {a[0], a[1]}, r);
  if (mode == "trunc") return truncated[scalar](f, {a[0], a[1]}, r);
  return raise(LATTIS_RUNTIME_ERROR, where(f, 2) + ": expected None, 'trunc' or 'floor', got '" + mode + "'");
}

lattis_status infer_pow_scalar(lattis_frame* f, const Value* a, Meta* m) {
  if (a[1].tag == LATTIS_INT && a[1].as.i < 0 && core::dtype_class(a[0].as.tensor->dtype) == LATTIS_CLASS_INTEGRAL)
    return raise(
        LATTIS_RUNTIME_ERROR,
        where(f, 1) +
            ": an integer to a negative integer power is not an integer; convert 'self' with .to(lattis.float32)");
  f->context = meaning<lattis::pointwise::pow>();
  return infer_pointwise(f, a, m);
}

}  // namespace

const std::vector<Declaration>& pointwise_operators() {
  namespace p = lattis::pointwise;

#define BINARY(name, Op, doc)                                                                               \
  {name ".Tensor(Tensor self, Tensor other) -> Tensor",                                                     \
   "pointwise",                                                                                             \
   all_forms,                                                                                               \
   nullptr,                                                                                                 \
   nullptr,                                                                                                 \
   doc,                                                                                                     \
   meaning<p::Op>()},                                                                                       \
  {                                                                                                         \
    name ".Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr, \
        meaning<p::Op>()                                                                                    \
  }
#define UNARY(name, Op, doc) \
  { name "(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr, doc, meaning<p::Op>() }
#define SCALED(name, Op, doc)                                                                                      \
  {name ".Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",                                         \
   "pointwise",                                                                                                    \
   all_forms,                                                                                                      \
   nullptr,                                                                                                        \
   nullptr,                                                                                                        \
   doc,                                                                                                            \
   meaning<p::Op>()},                                                                                              \
  {                                                                                                                \
    name ".Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "pointwise", all_forms, nullptr, nullptr, \
        nullptr, meaning<p::Op>()                                                                                  \
  }
#define COMPARE(name, Op, sign, result)                                                    \
  BINARY(name, Op,                                                                         \
         "Where self " sign                                                                \
         " other, element by element; the result is a bool tensor.\n\nBoth broadcast.\n\n" \
         ">>> lattis." name "(lattis.tensor([1, 2, 3]), 2)\ntensor([" result "])\n")
  static const auto* table = new std::vector<Declaration>{
      SCALED("add", add,
             "self + alpha * other, element by element.\n\nShapes broadcast and dtypes promote together; `other` may "
             "be a number.\n\n"
             "Raises:\n    RuntimeError: the shapes do not broadcast, the devices differ, or alpha does not fit the "
             "dtype\n\n"
             ">>> lattis.add(lattis.tensor([1., 2.]), 3)\ntensor([4., 5.])\n"),
      SCALED("sub", sub,
             "self - alpha * other, element by element.\n\n>>> lattis.sub(lattis.tensor([5, 7]), lattis.tensor([1, "
             "2]), alpha=2)\ntensor([3, 3])\n"),
      SCALED(
          "rsub", rsub,
          "other - alpha * self, element by element.\n\n>>> lattis.rsub(lattis.tensor([1, 2]), 10)\ntensor([9, 8])\n"),
      BINARY("mul", mul,
             "self * other, element by element.\n\n>>> lattis.mul(lattis.tensor([1., 2.]), lattis.tensor([3., "
             "4.]))\ntensor([3., 8.])\n"),
      BINARY(
          "div", div,
          "self / other, element by element; integers give the default float dtype.\n\n"
          "Args:\n    rounding_mode: None, 'trunc' (toward zero) or 'floor'; with these two integers stay integers\n\n"
          "Raises:\n    RuntimeError: an integer division by zero, or an unknown rounding mode\n\n"
          ">>> lattis.div(lattis.tensor([7, -7]), 2)\ntensor([ 3.5000, -3.5000])\n>>> lattis.div(lattis.tensor([7, "
          "-7]), 2, rounding_mode='floor')\ntensor([ 3, -4])\n"),
      {"div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", "pointwise", all_forms, nullptr,
       div_mode, nullptr},
      {"div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", "pointwise", all_forms, nullptr,
       div_mode, nullptr},
      {"div.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function, nullptr, nullptr, nullptr,
       meaning<p::div>()},
      {"floor_divide(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The quotient rounded toward minus infinity, element by element.\n\n>>> lattis.floor_divide(lattis.tensor([7, "
       "-7]), 2)\ntensor([ 3, -4])\n",
       meaning<p::floor_divide>()},
      {"floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::floor_divide>()},
      {"floor_divide.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function, nullptr, nullptr,
       nullptr, meaning<p::floor_divide>()},
      {"_trunc_divide.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", hidden | inplace | out, nullptr,
       nullptr, "The quotient rounded toward zero.", meaning<p::trunc_divide>()},
      {"_trunc_divide.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", hidden | inplace | out, nullptr,
       nullptr, nullptr, meaning<p::trunc_divide>()},
      UNARY("neg", neg, "-self, element by element.\n\n>>> lattis.neg(lattis.tensor([1, -2]))\ntensor([-1,  2])\n"),
      UNARY("abs", abs,
            "The absolute value, element by element.\n\n>>> lattis.abs(lattis.tensor([1, -2]))\ntensor([1, 2])\n"),
      UNARY("exp", exp,
            "e to the power of each element.\n\n>>> lattis.exp(lattis.tensor([0., 1.]))\ntensor([1.0000, 2.7183])\n"),
      UNARY("log", log,
            "The natural logarithm of each element.\n\n>>> lattis.log(lattis.tensor([1., 10.]))\ntensor([0.0000, "
            "2.3026])\n"),
      UNARY("sin", sin,
            "The sine of each element, in radians.\n\n>>> lattis.sin(lattis.tensor([0., 1.]))\ntensor([0.0000, "
            "0.8415])\n"),
      UNARY("cos", cos,
            "The cosine of each element, in radians.\n\n>>> lattis.cos(lattis.tensor([0., 1.]))\ntensor([1.0000, "
            "0.5403])\n"),
      UNARY("tanh", tanh,
            "The hyperbolic tangent of each element.\n\n>>> lattis.tanh(lattis.tensor([0., 1.]))\ntensor([0.0000, "
            "0.7616])\n"),
      UNARY("relu", relu,
            "max(self, 0), element by element; NaN stays NaN.\n\n>>> lattis.relu(lattis.tensor([-1., "
            "2.]))\ntensor([0., 2.])\n"),
      UNARY("sqrt", sqrt,
            "The square root of each element.\n\n>>> lattis.sqrt(lattis.tensor([4., 9.]))\ntensor([2., 3.])\n"),
      {"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "pointwise", all_forms, infer_pow_scalar, nullptr,
       "self to the power of exponent, element by element.\n\nRaises:\n    RuntimeError: an integer to a negative "
       "integer power\n\n>>> lattis.pow(lattis.tensor([1, 2, 3]), 2)\ntensor([1, 4, 9])\n",
       meaning<p::pow>()},
      {"pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::pow>()},
      {"pow.Scalar(Scalar self, Tensor exponent) -> Tensor", "pointwise", function | out, nullptr, nullptr, nullptr,
       meaning<p::pow>()},
      {"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr,
       "Elements of `self` where the bool `condition` holds, else of `other`; all three broadcast.\n\n>>> "
       "lattis.where(lattis.tensor([True, False]), 1, 0)\ntensor([1, 0])\n",
       meaning<p::where_>()},
      {"where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::where_>()},
      {"where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::where_>()},
      {"where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::where_>()},
      {"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Limits each element to [min, max]; either may be absent. NaN stays NaN.\n\n>>> "
       "lattis.clamp(lattis.tensor([-1., 0.5, 2.]), 0, 1)\ntensor([0.0000, 0.5000, 1.0000])\n",
       meaning<p::clamp>()},
      {"maximum(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "The larger of two elements; NaN wins.\n\n>>> lattis.maximum(lattis.tensor([1, 5]), lattis.tensor([3, "
       "2]))\ntensor([3, 5])\n",
       meaning<p::maximum>()},
      {"minimum(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "The smaller of two elements; NaN wins.\n\n>>> lattis.minimum(lattis.tensor([1, 5]), lattis.tensor([3, "
       "2]))\ntensor([1, 2])\n",
       meaning<p::minimum>()},
      COMPARE("eq", eq, "==", "False,  True, False"),
      COMPARE("ne", ne, "!=", " True, False,  True"),
      COMPARE("lt", lt, "<", " True, False, False"),
      COMPARE("le", le, "<=", " True,  True, False"),
      COMPARE("gt", gt, ">", "False, False,  True"),
      COMPARE("ge", ge, ">=", "False,  True,  True"),
      {"logical_and(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Where both elements are non-zero.\n\n>>> lattis.logical_and(lattis.tensor([0, 1]), lattis.tensor([1, "
       "2]))\ntensor([False,  True])\n",
       meaning<p::logical_and>()},
      {"logical_or(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Where either element is non-zero.\n\n>>> lattis.logical_or(lattis.tensor([0, 0]), lattis.tensor([0, "
       "2]))\ntensor([False,  True])\n",
       meaning<p::logical_or>()},
      {"logical_xor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Where exactly one element is non-zero.\n\n>>> lattis.logical_xor(lattis.tensor([0, 1]), lattis.tensor([1, "
       "2]))\ntensor([ True, False])\n",
       meaning<p::logical_xor>()},
      UNARY("logical_not", logical_not,
            "Where the element is zero.\n\n>>> lattis.logical_not(lattis.tensor([0, 2]))\ntensor([ True, False])\n"),
  };
  return *table;
}

}  // namespace lattis::dispatcher
