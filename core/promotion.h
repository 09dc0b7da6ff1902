// ResultType: which dtype several operands have together: tensors with dimensions vote first, zero-dim tensors and
// Python numbers only raise the class (torch's category rule).
#pragma once

#include "core/value.h"

namespace lamella::core {

class ResultType {
 public:
  // False if the pair has no common dtype; `clash` then names both.
  bool add(const Value& v);
  bool add_dtype(DType t, bool has_dims);
  DType get();  // LAMELLA_NO_DTYPE if nothing voted, or on a clash
  DType clash[2] = {LAMELLA_NO_DTYPE, LAMELLA_NO_DTYPE};

 private:
  bool join(DType& into, DType t);
  DType dims_ = LAMELLA_NO_DTYPE, zero_dim_ = LAMELLA_NO_DTYPE, number_ = LAMELLA_NO_DTYPE;
};

// Whether a number can stand in a dtype: complex ones in complex dtypes only; in an integral dtype what its range holds
// once the fraction is cut, where negative ones may wrap into an unsigned range; all others anywhere.
bool number_fits(const Value& v, DType dtype);
// And whether it is no larger than the finite numbers of a floating or complex dtype, unless it is infinite.
bool number_in_range(const Value& v, DType dtype);
DType number_dtype(const Value& v);  // int64, the default float, its complex, or bool

}  // namespace lamella::core
