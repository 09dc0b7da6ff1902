// ResultType: computes the dtype of a result from those of the operands, as torch does. Tensors with dimensions decide
// it. Zero-dim tensors, and then Python numbers, change it only if their class (bool, integral, floating, complex) is
// higher than its class so far, or if there are no operands of a kind that decides before them.
#pragma once

#include "core/value.h"

namespace lamella::core {

class ResultType {
 public:
  // Adds an operand. Returns false if its dtype and that of the earlier operands of its kind (tensors with dimensions,
  // zero-dim tensors, numbers) have no common dtype; `clash` then names both.
  bool add(const Value& v);
  bool add_dtype(DType t, bool has_dims);
  DType get();  // LAMELLA_NO_DTYPE if no operand has a dtype; not meaningful after a clash
  DType clash[2] = {LAMELLA_NO_DTYPE, LAMELLA_NO_DTYPE};

 private:
  bool join(DType& into, DType t);
  DType dims_ = LAMELLA_NO_DTYPE, zero_dim_ = LAMELLA_NO_DTYPE, number_ = LAMELLA_NO_DTYPE;
};

// number_fits() returns whether a number can be stored in a dtype. A complex number fits complex dtypes only. A real
// number fits an integral dtype if the dtype's range holds it once the fraction is cut. An unsigned dtype of n bits
// also takes negative integers above -2**n, which wrap. A real number fits every dtype of another class.
bool number_fits(const Value& v, DType dtype);
// number_in_range() also requires that a finite number stays finite in a plain floating or complex dtype.
bool number_in_range(const Value& v, DType dtype);
// Returns bool, int64, uint64, the default float or its complex dtype; LAMELLA_NO_DTYPE if the value is no number.
DType number_dtype(const Value& v);

}  // namespace lamella::core
