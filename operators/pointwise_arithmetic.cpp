// Pointwise arithmetic: schemas and documentation. The meaning is in <lamella/pointwise/arithmetic.h>.
#include "operators/pointwise.h"

namespace lamella::operators {
namespace {

// Bools have no square of their own: they become integers.
void square_bools(const Tensor& self, Output out) {
  if (self.dtype() == kBool) out.set_dtype(kLong);
}

}  // namespace

std::vector<Declaration> arithmetic_operators() {
  namespace p = lamella::pointwise;
  return {
      SCALED("add", add,
             "self + alpha * other, element by element.\n\nShapes broadcast and dtypes promote together; `other` may "
             "be a number.\n\nRaises:\n    RuntimeError: the shapes do not broadcast, the devices differ, or alpha "
             "does not fit the dtype\n\n>>> lamella.add(lamella.tensor([1., 2.]), 3)\ntensor([4., 5.])\n"),
      SCALED("sub", sub,
             "self - alpha * other, element by element.\n\n>>> lamella.sub(lamella.tensor([5, 7]), lamella.tensor([1, "
             "2]), alpha=2)\ntensor([3, 3])\n"),
      SCALED("rsub", rsub,
             "other - alpha * self, element by element.\n\n>>> lamella.rsub(lamella.tensor([1, 2]), 10)\ntensor([9, "
             "8])\n"),
      BINARY("mul", mul,
             "self * other, element by element.\n\n>>> lamella.mul(lamella.tensor([1., 2.]), lamella.tensor([3., "
             "4.]))\ntensor([3., 8.])\n"),
      BINARY("div", div,
             "self / other, element by element; integers give the default float dtype.\n\nArgs:\n    rounding_mode: "
             "None, 'trunc' (toward zero) or 'floor'; with these two integers stay integers\n\nRaises:\n    "
             "RuntimeError: an integer division by zero, or an unknown rounding mode\n\n>>> "
             "lamella.div(lamella.tensor([7, -7]), 2)\ntensor([ 3.5000, -3.5000])\n>>> lamella.div(lamella.tensor([7, "
             "-7]), 2, rounding_mode='floor')\ntensor([ 3, -4])\n"),
      {"div.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function, nullptr, nullptr, nullptr,
       meaning<p::div>()},
      {"floor_divide(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The quotient rounded toward minus infinity, element by element.\n\n>>> lamella.floor_divide(lamella.tensor([7, "
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
      UNARY("neg", neg, "-self, element by element.\n\n>>> lamella.neg(lamella.tensor([1, -2]))\ntensor([-1,  2])\n"),
      UNARY("abs", abs,
            "The absolute value, element by element.\n\n>>> lamella.abs(lamella.tensor([1, -2]))\ntensor([1, 2])\n"),
      {"addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", "pointwise", all_forms,
       nullptr, nullptr,
       "self + value * tensor1 * tensor2, element by element.\n\n>>> lamella.addcmul(lamella.tensor([1., 2.]), "
       "lamella.tensor([3., 4.]), lamella.tensor([5., 6.]), value=2)\ntensor([31., 50.])\n",
       meaning<p::addcmul>()},
      {"addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", "pointwise", all_forms,
       nullptr, nullptr,
       "self + value * tensor1 / tensor2, element by element, of floating tensors.\n\n>>> "
       "lamella.addcdiv(lamella.tensor([1., 2.]), lamella.tensor([3., 4.]), lamella.tensor([2., 8.]), "
       "value=2)\ntensor([4., 3.])\n",
       meaning<p::addcdiv>()},
      {"lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", "pointwise", everywhere | inplace | out,
       nullptr, nullptr,
       "Between self and end: self + weight * (end - self), exact at both ends.\n\n>>> "
       "lamella.lerp(lamella.tensor([0., "
       "10.]), lamella.tensor([4., 20.]), 0.25)\ntensor([ 1.0000, 12.5000])\n",
       meaning<p::lerp>()},
      {"lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       nullptr, meaning<p::lerp_scalar>()},
      {"square(Tensor self) -> Tensor", "pointwise", all_forms, pointwise_shape<nullptr, square_bools>, nullptr,
       "The square of each element.\n\n>>> lamella.square(lamella.tensor([1, -2, 3]))\ntensor([1, 4, 9])\n",
       meaning<p::square>()},
      {"deg2rad(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Degrees in radians.\n\n>>> lamella.deg2rad(lamella.tensor([180., 90.]))\ntensor([3.1416, 1.5708])\n",
       meaning<p::deg2rad>()},
      {"rad2deg(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Radians in degrees.\n\n>>> lamella.rad2deg(lamella.tensor([0., 1.]))\ntensor([ 0.0000, 57.2958])\n",
       meaning<p::rad2deg>()},
      {"reciprocal(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "1 / self, element by element; integers give the default float dtype.\n\n>>> "
       "lamella.reciprocal(lamella.tensor([1., 2., 4.]))\ntensor([1.0000, 0.5000, 0.2500])\n",
       meaning<p::reciprocal>()},
      {"fmod.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The rest of the division rounded toward zero, with the sign of the dividend.\n\nRaises:\n    RuntimeError: an "
       "integer division by zero\n\n>>> lamella.fmod(lamella.tensor([7, -7]), 4)\ntensor([ 3, -3])\n",
       meaning<p::fmod>()},
      {"fmod.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::fmod>()},
      {"remainder.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The rest of the division rounded toward minus infinity, with the sign of the divisor, as Python's "
       "%.\n\nRaises:\n    RuntimeError: an integer division by zero\n\n>>> lamella.remainder(lamella.tensor([7, -7]), "
       "4)\ntensor([3, 1])\n",
       meaning<p::remainder>()},
      {"remainder.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::remainder>()},
      {"remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr, nullptr,
       nullptr, meaning<p::remainder>()},
      {"sign(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "-1, 0 or 1, by the sign of each element; 0 for NaN.\n\n>>> lamella.sign(lamella.tensor([-2., 0., "
       "3.]))\ntensor([-1.,  0.,  1.])\n",
       meaning<p::sign>()},
      {"sgn(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The sign of each element; of a complex one, the number of length 1 in its direction.\n\n>>> "
       "lamella.sgn(lamella.tensor([3 + 4j, 0j]))\ntensor([0.6000+0.8000j, 0.0000+0.0000j])\n",
       meaning<p::sgn>()},
      {"copysign.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The magnitude of self with the sign of other.\n\n>>> lamella.copysign(lamella.tensor([1., -2.]), "
       "-1)\ntensor([-1., -2.])\n",
       meaning<p::copysign>()},
      {"copysign.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::copysign>()},
      {"heaviside(Tensor self, Tensor values) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "0 where self is negative, 1 where it is positive, else the element of values.\n\n>>> "
       "lamella.heaviside(lamella.tensor([-1., 0., 2.]), lamella.tensor([0.5]))\ntensor([0.0000, 0.5000, 1.0000])\n",
       meaning<p::heaviside>()},
      {"ceil(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The smallest integer that is not below each element.\n\n>>> lamella.ceil(lamella.tensor([0.5, "
       "-0.5]))\ntensor([1., "
       "-0.])\n",
       meaning<p::ceil>()},
      {"floor(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The largest integer that is not above each element.\n\n>>> lamella.floor(lamella.tensor([0.5, "
       "-0.5]))\ntensor([ "
       "0., -1.])\n",
       meaning<p::floor>()},
      {"round(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The nearest integer; halves go to the even one.\n\nArgs:\n    decimals: the number of decimal places to keep; "
       "negative ones round to tens and hundreds\n\n>>> lamella.round(lamella.tensor([0.5, 1.5, 2.6]))\ntensor([0., "
       "2., "
       "3.])\n",
       meaning<p::round>()},
      {"trunc(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Each element without its fractional part.\n\n>>> lamella.trunc(lamella.tensor([1.5, -1.5]))\ntensor([ 1., "
       "-1.])\n",
       meaning<p::trunc>()},
      {"frac(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The fractional part of each element, with its sign.\n\n>>> lamella.frac(lamella.tensor([1.5, "
       "-1.25]))\ntensor([ "
       "0.5000, -0.2500])\n",
       meaning<p::frac>()},
      {"bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The bitwise and of integers, the logical one of bools.\n\n>>> lamella.bitwise_and(lamella.tensor([12, 10]), "
       "6)\ntensor([4, 2])\n",
       meaning<p::bitwise_and>()},
      {"bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::bitwise_and>()},
      {"bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr, nullptr,
       nullptr, meaning<p::bitwise_and>()},
      {"bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The bitwise or of integers, the logical one of bools.\n\n>>> lamella.bitwise_or(lamella.tensor([12, 10]), "
       "6)\ntensor([14, 14])\n",
       meaning<p::bitwise_or>()},
      {"bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::bitwise_or>()},
      {"bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr, nullptr,
       nullptr, meaning<p::bitwise_or>()},
      {"bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The bitwise exclusive or of integers, the logical one of bools.\n\n>>> lamella.bitwise_xor(lamella.tensor([12, "
       "10]), 6)\ntensor([10, 12])\n",
       meaning<p::bitwise_xor>()},
      {"bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::bitwise_xor>()},
      {"bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr, nullptr,
       nullptr, meaning<p::bitwise_xor>()},
      {"bitwise_not(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "The complement of integers, the negation of bools.\n\n>>> lamella.bitwise_not(lamella.tensor([0, "
       "5]))\ntensor([-1, -6])\n",
       meaning<p::bitwise_not>()},
      {"bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "self * 2 ** other, without the bits that leave.\n\n>>> lamella.bitwise_left_shift(lamella.tensor([1, 3]), "
       "2)\ntensor([ 4, 12])\n",
       meaning<p::shift_left>()},
      {"bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr,
       nullptr, nullptr, meaning<p::shift_left>()},
      {"bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::shift_left>()},
      {"bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "self / 2 ** other, rounded toward minus infinity.\n\n>>> lamella.bitwise_right_shift(lamella.tensor([8, -8]), "
       "2)\ntensor([ 2, -2])\n",
       meaning<p::shift_right>()},
      {"bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr,
       nullptr, nullptr, meaning<p::shift_right>()},
      {"bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::shift_right>()},
  };
}

}  // namespace lamella::operators
