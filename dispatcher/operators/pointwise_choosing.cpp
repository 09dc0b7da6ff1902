// Pointwise comparisons, logic and limits: schemas and documentation. The meaning is in <lamella/pointwise/choosing.h>.
#include "dispatcher/operators/pointwise.h"

namespace lamella::dispatcher {
namespace {

lamella_status clamp_tensors(lamella_frame* f, const Value* a, Value* r) {
  if (!given(a[1]) && !given(a[2]))
    return raise(LAMELLA_VALUE_ERROR, operator_title(f->op) + ": at least one of 'min' and 'max' is required");
  Meta m;
  fresh(&m, tensor_arg(a[0])->ndim(), tensor_arg(a[0])->sizes(), tensor_arg(a[0])->dtype);
  for (int i = 0; i < 3; i++)
    if (given(a[i]) && core::dtype_class(tensor_arg(a[i])->dtype) == LAMELLA_CLASS_COMPLEX)
      return raise(LAMELLA_RUNTIME_ERROR,
                   where(f, i) + ": dtype " + core::dtype_info(tensor_arg(a[i])->dtype).name + " has no order");
  for (int i = 1; i < 3; i++)
    if (given(a[i]) && !broadcast(&m.ndim, m.sizes, tensor_arg(a[i])->ndim(), tensor_arg(a[i])->sizes()))
      return raise(LAMELLA_RUNTIME_ERROR, where(f, i) + ": shape " + core::shape_string(tensor_arg(a[i])) +
                                              " does not broadcast with 'self' of shape " +
                                              core::shape_string(tensor_arg(a[0])));
  Compose c(f);
  Var x = c.arg(a[0]);
  if (given(a[1])) x = c.op<"maximum">(x, a[1]);
  if (given(a[2])) x = c.op<"minimum">(x, a[2]);
  return c.give(r, x);
}

double largest(DType t) {
  switch (t) {
    case LAMELLA_FLOAT16:
      return 65504;
    case LAMELLA_BFLOAT16:
      return 0x1.fep127;
    case LAMELLA_FLOAT64:
    case LAMELLA_COMPLEX128:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

lamella_status nan_to_num(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  if (x.dtype_class() < LAMELLA_CLASS_FLOATING) return c.give(r, c.op<"clone">(x));
  const double top = largest(x.dtype());
  auto number = [&](int i, double otherwise) {
    return core::floating(given(a[i]) ? core::as_double(a[i]) : otherwise);
  };
  const Value nan = number(1, 0), high = number(2, top), low = number(3, -top);
  if (x.dtype_class() == LAMELLA_CLASS_FLOATING) return c.give(r, c.op<"_nan_to_num">(x, nan, high, low));
  Var parts = c.op<"_nan_to_num">(c.op<"view_as_real">(x), nan, high, low);
  return c.give(r, c.op<"view_as_complex">(parts));
}

lamella_status isclose(lamella_frame* f, const Value* a, Value* r) {
  const double rtol = core::as_double(a[2]), atol = core::as_double(a[3]);
  for (int i = 2; i < 4; i++)
    if (core::as_double(a[i]) < 0)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, i) + ": must not be negative, got " + core::describe(a[i]));
  const Tensor *s = tensor_arg(a[0]), *o = tensor_arg(a[1]);
  if (s->dtype != o->dtype)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": expected dtype " + core::dtype_info(s->dtype).name +
                                            " as 'self' has, got " + core::dtype_info(o->dtype).name);
  Compose c(f);
  Var x = c.arg(a[0]), y = c.arg(a[1]);
  Var close = c.op<"eq.Tensor">(x, y);
  if (a[4].as.i && x.dtype_class() >= LAMELLA_CLASS_FLOATING)
    close = c.op<"logical_or">(close, c.op<"logical_and">(c.op<"isnan">(x), c.op<"isnan">(y)));
  if (rtol == 0 && atol == 0) return c.give(r, close);
  if (x.dtype_class() < LAMELLA_CLASS_FLOATING) {
    x = c.op<"to.dtype">(x, As{LAMELLA_FLOAT64});
    y = c.op<"to.dtype">(y, As{LAMELLA_FLOAT64});
  }
  Var allowed = c.op<"abs">(y) * rtol + atol, distance = c.op<"abs">(x - y);
  Var near = c.op<"logical_and">(c.op<"isfinite">(distance), c.op<"le.Tensor">(distance, allowed));
  return c.give(r, c.op<"logical_or">(close, near));
}

}  // namespace

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
      {"clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", "pointwise", all_forms, nullptr,
       clamp_tensors, nullptr},
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
      {"nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", "pointwise",
       all_forms, nullptr, nan_to_num,
       "NaN and the infinities replaced by numbers.\n\nArgs:\n    nan: for NaN, 0 by default\n    posinf: for "
       "infinity, the dtype's largest number by default\n    neginf: for minus infinity, the dtype's lowest number by "
       "default\n\n>>> lamella.nan_to_num(lamella.tensor([float('nan'), float('inf'), 1.]), posinf=9.)\ntensor([0., "
       "9., "
       "1.])\n"},
      {"isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
       "pointwise", everywhere, nullptr, isclose,
       "Where |self - other| <= atol + rtol * |other|; equal infinities are close.\n\nArgs:\n    equal_nan: whether "
       "NaN is close to NaN\n\n>>> lamella.isclose(lamella.tensor([1., 2.]), lamella.tensor([1.000001, 3.]))\ntensor([ "
       "True, False])\n"},
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

}  // namespace lamella::dispatcher
