// Element-wise operators that are composites: they call pointwise operators and have no loops of their own.
#include <cmath>

#include "operators/pointwise.h"
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

// ---- arithmetic ----

// Other is Tensor or Scalar.
template <class Other>
Tensor div_mode(const Tensor& self, Other other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div(self, other);
  if (*rounding_mode == "floor") return floor_divide(self, other);
  LAMELLA_CHECK(*rounding_mode == "trunc", argument("rounding_mode"), ": expected None, 'trunc' or 'floor', got '",
                *rounding_mode, "'");
  return _trunc_divide(self, other);
}

void infer_positive(const Tensor& self, Output out) {
  LAMELLA_CHECK(self.dtype() != kBool, argument("self"),
                ": bool tensors have no sign; convert with .to(lamella.int64)");
  out.view(self, self.sizes(), self.strides(), self.storage_offset());
}

// Scales the elements by the power of ten, rounds and scales back. Half precision is computed in float32.
Tensor round_decimals(const Tensor& self, int64_t decimals) {
  if (is_integral(self.dtype()) && decimals >= 0) return self.clone();
  LAMELLA_CHECK(is_floating_point(self.dtype()), argument("self"),
                ": expected a floating dtype beside 'decimals', got ", self.dtype());
  const double power = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  const Tensor x = as(self, wide_of(self.dtype()));
  const Tensor y = decimals >= 0 ? (x * power).round() / power : (x / power).round() * power;
  return as(y, self.dtype());
}

// ---- limits ----

void check_limit(const char* name, const Tensor& t) {
  LAMELLA_CHECK(!t.defined() || !is_complex(t.dtype()), argument(name), ": dtype ", t.dtype(), " has no order");
}

void broadcast_limit(DimVector* sizes, const char* name, const Tensor& limit, const Tensor& self) {
  LAMELLA_CHECK(!limit.defined() || broadcast(sizes, limit.sizes()), argument(name), ": shape ", shape_text(limit),
                " does not broadcast with 'self' of shape ", shape_text(self));
}

Tensor clamp_tensors(const Tensor& self, const Tensor& min, const Tensor& max) {
  LAMELLA_CHECK_VALUE(min.defined() || max.defined(), "at least one of 'min' and 'max' is required");
  check_limit("self", self);
  check_limit("min", min);
  check_limit("max", max);
  DimVector sizes(self.sizes());
  broadcast_limit(&sizes, "min", min, self);
  broadcast_limit(&sizes, "max", max, self);
  Tensor x = self;
  if (min.defined()) x = maximum(x, min);
  if (max.defined()) x = minimum(x, max);
  return x;
}

double largest(ScalarType t) {
  switch (t) {
    case kHalf:
      return 65504;
    case kBFloat16:
      return 0x1.fep127;
    case kDouble:
    case kComplexDouble:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (is_integral(self.dtype(), true)) return self.clone();
  const double top = largest(self.dtype());
  const double instead = nan.value_or(0), high = posinf.value_or(top), low = neginf.value_or(-top);
  if (!is_complex(self.dtype())) return _nan_to_num(self, instead, high, low);
  return view_as_complex(_nan_to_num(view_as_real(self), instead, high, low));
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  LAMELLA_CHECK(!(rtol < 0), argument("rtol"), ": must not be negative, got ", core::describe(value(rtol)));
  LAMELLA_CHECK(!(atol < 0), argument("atol"), ": must not be negative, got ", core::describe(value(atol)));
  LAMELLA_CHECK(self.dtype() == other.dtype(), argument("other"), ": expected dtype ", self.dtype(),
                " as 'self' has, got ", other.dtype());
  const bool exact = is_integral(self.dtype(), true);
  Tensor close = self.eq(other);
  if (equal_nan && !exact) close = close.logical_or(self.isnan().logical_and(other.isnan()));
  if (rtol == 0 && atol == 0) return close;
  const Tensor x = exact ? self.to(kDouble) : self, y = exact ? other.to(kDouble) : other;
  const Tensor allowed = y.abs() * rtol + atol, distance = (x - y).abs();
  return close.logical_or(distance.isfinite().logical_and(distance.le(allowed)));
}

// ---- functions ----

Tensor conj(const Tensor& self) { return is_complex(self.dtype()) ? self.conj_physical() : self; }

bool holds_complex(const Tensor& t) { return is_complex(t.dtype()); }
bool holds_complex(const Scalar& s) { return s.isComplex(); }
Tensor widened(const Tensor& t, ScalarType wide) { return t.to(wide); }
const Scalar& widened(const Scalar& s, ScalarType) { return s; }

// At least one of the two is a tensor.
template <class Base, class Exponent>
Tensor float_power(Base self, Exponent exponent) {
  const ScalarType wide = holds_complex(self) || holds_complex(exponent) ? kComplexDouble : kDouble;
  return pow(widened(self, wide), widened(exponent, wide));
}

Tensor gelu(const Tensor& self, std::string_view approximate) {
  if (approximate == "none") return _gelu(self);
  LAMELLA_CHECK(approximate == "tanh", argument("approximate"), ": expected 'none' or 'tanh', got '", approximate, "'");
  return _gelu_tanh(self);
}

}  // namespace

LAMELLA_FAMILY(elementwise, .category = "pointwise", .forms = all_forms, .dims = "broadcast") {
  return {
      {.schema = "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
       .composite = composite<div_mode<const Tensor&>>},
      {.schema = "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
       .composite = composite<div_mode<const Scalar&>>},
      {.schema = "round.decimals(Tensor self, *, int decimals) -> Tensor", .composite = composite<round_decimals>},
      {.schema = "positive(Tensor(a) self) -> Tensor(a)",
       .category = "view",
       .forms = everywhere | no_kernel_needed,
       .infer = shape<infer_positive>,
       .doc = R"(`self`; bools have no sign.

>>> lamella.positive(lamella.tensor([1, -2]))
tensor([ 1, -2])
)"},
      {.schema = "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
       .composite = composite<clamp_tensors>},
      {.schema = "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
       .composite = composite<nan_to_num>,
       .doc = R"(NaN and the infinities replaced by numbers.

Args:
    nan: for NaN, 0 by default
    posinf: for infinity, the dtype's largest number by default
    neginf: for minus infinity, the dtype's lowest number by default

>>> lamella.nan_to_num(lamella.tensor([float('nan'), float('inf'), 1.]), posinf=9.)
tensor([0., 9., 1.])
)"},
      {.schema =
           "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
       .forms = everywhere,
       .composite = composite<isclose>,
       .doc = R"(Where |self - other| <= atol + rtol * |other|; equal infinities are close.

Args:
    equal_nan: whether NaN is close to NaN

>>> lamella.isclose(lamella.tensor([1., 2.]), lamella.tensor([1.000001, 3.]))
tensor([ True, False])
)"},
      {.schema = "conj(Tensor(a) self) -> Tensor(a)",
       .forms = everywhere,
       .composite = composite<conj>,
       .doc = R"(The complex conjugate; a real tensor is returned as it is.

>>> lamella.conj(lamella.tensor([1 + 2j]))
tensor([1.-2.j])
)"},
      {.schema = "float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
       .composite = composite<float_power<const Tensor&, const Tensor&>>,
       .doc = R"(self to the power of exponent, computed in float64, or complex128.

>>> lamella.float_power(lamella.tensor([1, 2, 3]), -1)
tensor([1.0000, 0.5000, 0.3333], dtype=lamella.float64)
)"},
      {.schema = "float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
       .composite = composite<float_power<const Tensor&, const Scalar&>>},
      {.schema = "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
       .forms = function | out,
       .composite = composite<float_power<const Scalar&, const Tensor&>>},
      {.schema = "gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
       .forms = hidden | function | inplace | out,
       .composite = composite<gelu>,
       .doc = R"(self times the probability that a normal variable is below it.

Args:
    approximate: 'none', or 'tanh' for the usual approximation

>>> lamella.ops.aten.gelu(lamella.tensor([-1., 0., 2.]))
tensor([-0.1587,  0.0000,  1.9545])
)"},
  };
}

}  // namespace lamella::operators
