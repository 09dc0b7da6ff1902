// Pointwise comparisons, logic and limits: schemas and documentation. The meaning is in <lamella/pointwise/choosing.h>.
#include "operators/pointwise.h"

namespace lamella::operators {
std::vector<Declaration> choosing_operators() {
  namespace p = lamella::pointwise;
  return {
      {"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr,
       "Elements of `self` where the bool `condition` holds, else of `other`; all three broadcast.\n\n>>> "
       "lamella.where(lamella.tensor([True, False]), 1, 0)\ntensor([1, 0])\n",
       meaning<p::where_>()},
      {"where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::where_>()},
      {"where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::where_>()},
      {"where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", "pointwise", function | out, nullptr,
       nullptr, nullptr, meaning<p::where_>()},
      {"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Limits each element to [min, max]; either may be absent. NaN stays NaN.\n\n>>> "
       "lamella.clamp(lamella.tensor([-1., 0.5, 2.]), 0, 1)\ntensor([0.0000, 0.5000, 1.0000])\n",
       meaning<p::clamp>()},
      {"maximum(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "The larger of two elements; NaN wins.\n\n>>> lamella.maximum(lamella.tensor([1, 5]), lamella.tensor([3, "
       "2]))\ntensor([3, 5])\n",
       meaning<p::maximum>()},
      {"minimum(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "The smaller of two elements; NaN wins.\n\n>>> lamella.minimum(lamella.tensor([1, 5]), lamella.tensor([3, "
       "2]))\ntensor([1, 2])\n",
       meaning<p::minimum>()},
      COMPARE("eq", eq, "==", "False,  True, False"),
      COMPARE("ne", ne, "!=", " True, False,  True"),
      COMPARE("lt", lt, "<", " True, False, False"),
      COMPARE("le", le, "<=", " True,  True, False"),
      COMPARE("gt", gt, ">", "False, False,  True"),
      COMPARE("ge", ge, ">=", "False,  True,  True"),
      {"logical_and(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Where both elements are non-zero.\n\n>>> lamella.logical_and(lamella.tensor([0, 1]), lamella.tensor([1, "
       "2]))\ntensor([False,  True])\n",
       meaning<p::logical_and>()},
      {"logical_or(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Where either element is non-zero.\n\n>>> lamella.logical_or(lamella.tensor([0, 0]), lamella.tensor([0, "
       "2]))\ntensor([False,  True])\n",
       meaning<p::logical_or>()},
      {"logical_xor(Tensor self, Tensor other) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Where exactly one element is non-zero.\n\n>>> lamella.logical_xor(lamella.tensor([0, 1]), lamella.tensor([1, "
       "2]))\ntensor([ True, False])\n",
       meaning<p::logical_xor>()},
      UNARY("logical_not", logical_not,
            "Where the element is zero.\n\n>>> lamella.logical_not(lamella.tensor([0, 2]))\ntensor([ True, False])\n"),
      {"clamp_min(Tensor self, Scalar min) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Each element, but at least min. NaN stays NaN.\n\n>>> lamella.clamp_min(lamella.tensor([-1., 2.]), "
       "0)\ntensor([0., 2.])\n",
       meaning<p::clamp_min>()},
      {"clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::maximum>()},
      {"clamp_max(Tensor self, Scalar max) -> Tensor", "pointwise", all_forms, nullptr, nullptr,
       "Each element, but at most max. NaN stays NaN.\n\n>>> lamella.clamp_max(lamella.tensor([-1., 2.]), "
       "0)\ntensor([-1.,  0.])\n",
       meaning<p::clamp_max>()},
      {"clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr,
       meaning<p::minimum>()},
      {"fmax(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "The larger of two elements; NaN loses.\n\n>>> lamella.fmax(lamella.tensor([1., float('nan')]), "
       "lamella.tensor([3., 2.]))\ntensor([3., 2.])\n",
       meaning<p::fmax>()},
      {"fmin(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "The smaller of two elements; NaN loses.\n\n>>> lamella.fmin(lamella.tensor([1., float('nan')]), "
       "lamella.tensor([3., 2.]))\ntensor([1., 2.])\n",
       meaning<p::fmin>()},
      {"_nan_to_num(Tensor self, Scalar nan, Scalar posinf, Scalar neginf) -> Tensor", "pointwise", hidden, nullptr,
       nullptr, "What stands for NaN and for the infinities, without defaults.", meaning<p::nan_to_num>()},
      {"isnan(Tensor self) -> Tensor", "pointwise", everywhere, nullptr, nullptr,
       "Where the element is NaN.\n\n>>> lamella.isnan(lamella.tensor([1., float('inf'), "
       "float('nan')]))\ntensor([False, "
       "False,  True])\n",
       meaning<p::isnan>()},
      {"isinf(Tensor self) -> Tensor", "pointwise", everywhere, nullptr, nullptr,
       "Where the element is infinite.\n\n>>> lamella.isinf(lamella.tensor([1., float('inf'), "
       "float('nan')]))\ntensor([False,  True, False])\n",
       meaning<p::isinf>()},
      {"isfinite(Tensor self) -> Tensor", "pointwise", everywhere, nullptr, nullptr,
       "Where the element is neither infinite nor NaN.\n\n>>> lamella.isfinite(lamella.tensor([1., float('inf'), "
       "float('nan')]))\ntensor([ True, False, False])\n",
       meaning<p::isfinite>()},
      {"isposinf(Tensor self) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "Where the element is infinity.\n\n>>> lamella.isposinf(lamella.tensor([1., -0., "
       "float('-inf')]))\ntensor([False, "
       "False, False])\n",
       meaning<p::isposinf>()},
      {"isneginf(Tensor self) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "Where the element is minus infinity.\n\n>>> lamella.isneginf(lamella.tensor([1., -0., "
       "float('-inf')]))\ntensor([False, False,  True])\n",
       meaning<p::isneginf>()},
      {"signbit(Tensor self) -> Tensor", "pointwise", everywhere | out, nullptr, nullptr,
       "Where the sign bit is set: negative elements, and -0.\n\n>>> lamella.signbit(lamella.tensor([1., -0., "
       "float('-inf')]))\ntensor([False,  True,  True])\n",
       meaning<p::signbit>()},
  };
}

}  // namespace lamella::operators
