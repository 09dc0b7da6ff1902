// The dtypes that composites of reductions and norms compute in: half precision in float32, rounded once at the end.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

using core::as_double;

// number / tensor
inline Var operator/(Number auto x, const Var& y) { return y.compose().op<"div.Scalar_Tensor">(x, y); }

inline DType real_of(DType t) {
  if (t == LAMELLA_COMPLEX64) return LAMELLA_FLOAT32;
  return t == LAMELLA_COMPLEX128 ? static_cast<DType>(LAMELLA_FLOAT64) : t;
}
inline DType wide_of(DType t) {
  return t == LAMELLA_FLOAT16 || t == LAMELLA_BFLOAT16 ? static_cast<DType>(LAMELLA_FLOAT32) : t;
}
inline Var as(Compose& c, const Var& x, DType t) { return x.dtype() == t ? x : c.op<"to.dtype">(x, As{t}); }

}  // namespace lamella::dispatcher
