#include "core/promotion.h"

#include <cmath>
#include <limits>

namespace lamella::core {

bool number_fits(const Value& v, DType dtype) {
  const int kind = dtype_class(dtype);
  if (v.tag == LAMELLA_COMPLEX) return kind == LAMELLA_CLASS_COMPLEX;
  if (kind != LAMELLA_CLASS_INTEGRAL) return true;
  const bool is_unsigned = !is_signed(dtype);
  const int bits = 8 * itemsize(dtype) - !is_unsigned;  // value bits, without the sign
  if (v.tag == LAMELLA_FLOAT) {
    const double end = std::ldexp(1.0, bits), n = std::trunc(v.as.d);
    return n < end && n >= (is_unsigned ? 0 : -end);  // false for NaN
  }
  if (v.tag == LAMELLA_UINT) return bits == 64;
  if (bits >= 63) return true;
  const int64_t end = int64_t{1} << bits;
  return v.as.i < end && (is_unsigned ? v.as.i > -end : v.as.i >= -end);
}

bool number_in_range(const Value& v, DType dtype) {
  if (!number_fits(v, dtype)) return false;
  double largest;
  switch (dtype) {
    case LAMELLA_FLOAT16:
      largest = 65504;
      break;
    case LAMELLA_BFLOAT16:
      largest = 0x1.fep127;
      break;
    case LAMELLA_FLOAT32:
    case LAMELLA_COMPLEX64:
      largest = std::numeric_limits<float>::max();
      break;
    default:
      return true;
  }
  const auto part_fits = [&](double x) { return !(std::fabs(x) > largest) || std::isinf(x); };
  return part_fits(as_double(v)) && (v.tag != LAMELLA_COMPLEX || part_fits(v.as.doubles[1]));
}

DType number_dtype(const Value& v) {
  switch (v.tag) {
    case LAMELLA_BOOLEAN:
      return LAMELLA_BOOL;
    case LAMELLA_INT:
      return LAMELLA_INT64;
    case LAMELLA_UINT:
      return LAMELLA_UINT64;
    case LAMELLA_FLOAT:
      return default_dtype();
    case LAMELLA_COMPLEX:
      return complex_of(default_dtype());
    default:
      return LAMELLA_NO_DTYPE;
  }
}

bool ResultType::join(DType& into, DType t) {
  if (into == LAMELLA_NO_DTYPE || into == t) {
    into = t;
    return true;
  }
  DType p = promote(into, t);
  if (p == LAMELLA_NO_DTYPE) {
    clash[0] = into;
    clash[1] = t;
    return false;
  }
  into = p;
  return true;
}

bool ResultType::add_dtype(DType t, bool has_dims) { return join(has_dims ? dims_ : zero_dim_, t); }

bool ResultType::add(const Value& v) {
  if (v.tag == LAMELLA_TENSOR) return !v.as.tensor || add_dtype(v.as.tensor->dtype, v.as.tensor->dl.ndim > 0);
  DType t = number_dtype(v);
  // int64 and uint64 both stand for Python's int, so that the two together are uint64.
  if (number_ == LAMELLA_UINT64 && t == LAMELLA_INT64) t = LAMELLA_UINT64;
  if (number_ == LAMELLA_INT64 && t == LAMELLA_UINT64) number_ = LAMELLA_UINT64;
  return t == LAMELLA_NO_DTYPE || join(number_, t);
}

DType ResultType::get() {
  DType t = dims_;
  for (DType weaker : {zero_dim_, number_}) {
    if (weaker == LAMELLA_NO_DTYPE) continue;
    if (t == LAMELLA_NO_DTYPE)
      t = weaker;
    else if (dtype_class(weaker) > dtype_class(t)) {
      // A complex number beside float64 operands is complex128: the class is raised, the precision kept.
      DType raised = dtype_class(weaker) == LAMELLA_CLASS_COMPLEX && dtype_class(t) == LAMELLA_CLASS_FLOATING
                         ? complex_of(t)
                         : weaker;
      t = raised;
    }
  }
  return t;
}

}  // namespace lamella::core
