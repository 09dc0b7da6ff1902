// Checks of the operands of products. Messages about two operands name both.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// An argument with its name, for messages.
struct LAMELLA_HIDDEN Named {
  const char* name;
  const Tensor& t;
};

inline void check_ndim(const Named& x, int64_t ndim) {
  LAMELLA_CHECK(x.t.dim() == ndim, argument(x.name), ": expected ", ndim, " dimension", ndim == 1 ? "" : "s",
                ", got shape ", shape_text(x.t));
}

inline void check_dtypes(const Named& x, const Named& y) {
  const ScalarType first = x.t.dtype(), second = y.t.dtype();
  LAMELLA_CHECK(first == second, argument(y.name), ": its dtype ", second, " is not that of '", x.name, "', ", first,
                "; convert one with .to(...)");
  LAMELLA_CHECK_NOT_IMPLEMENTED(first != kBool, argument(x.name),
                                ": products of bools are not supported; convert with .to(lamella.int64) or the like");
}

// Checks the operands of a product of bytes, whose sums are int32.
inline void check_byte_dtypes(const Named& x, const Named& y) {
  const ScalarType first = x.t.dtype(), second = y.t.dtype();
  LAMELLA_CHECK(first == kInt8 || first == kUInt8, argument(x.name), ": expected dtype int8 or uint8, got ", first);
  LAMELLA_CHECK(second == kInt8, argument(y.name), ": expected dtype int8, got ", second);
}

inline void check_multiply(bool multiply, const Named& x, const Named& y) {
  LAMELLA_CHECK(multiply, "shapes ", shape_text(x.t), " ('", x.name, "') and ", shape_text(y.t), " ('", y.name,
                "') do not multiply");
}

}  // namespace lamella::operators
