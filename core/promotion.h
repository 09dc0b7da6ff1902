// ResultType: computes the dtype of a result from those of the operands. Tensors with dimensions vote first; zero-dim
// tensors and Python numbers only raise the class (torch's category rule).
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

// number_fits() returns whether a number can be stored in a dtype. A complex number fits complex dtypes only. A real
// number fits an integral dtype if the dtype's range holds it once the fraction is cut; in an unsigned range, negative
// numbers may wrap. A real number fits every dtype of another class.
bool number_fits(const Value& v, DType dtype);
// number_in_range() also requires that the number stays finite in a floating or complex dtype, unless it is infinite.
bool number_in_range(const Value& v, DType dtype);
DType number_dtype(const Value& v);  // int64, uint64, the default float, its complex, or bool

}  // namespace lamella::core
