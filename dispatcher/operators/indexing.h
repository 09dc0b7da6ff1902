// What operators over index tensors share: the checks of their arguments, and functional forms of in-place operators.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

inline bool integral(const Tensor* t) { return core::dtype_class(t->dtype) == LATTIS_CLASS_INTEGRAL; }

// A zero-dim tensor counts as one dimension of one.
inline int dims_of(const Tensor* t) { return std::max(t->ndim(), 1); }
inline int64_t size_of(const Tensor* t, int d) { return t->ndim() ? t->sizes()[d] : 1; }

lattis_status check_int64(lattis_frame* f, int arg, const Tensor* index);
lattis_status check_integral(lattis_frame* f, int arg, const Tensor* index);
lattis_status check_same_dtype(lattis_frame* f, int arg, const Tensor* t, const Tensor* self);
// A number or a zero-dim tensor that is written into a dtype.
lattis_status check_filling(lattis_frame* f, int arg, const Value& value, DType dtype);
// What is written must not be read as well.
lattis_status check_apart(lattis_frame* f, int arg, const Tensor* t, const Tensor* self);

// Negative indices count from the end.
Var wrapped(Compose& c, const Var& index, int64_t n);

using Check = lattis_status (*)(lattis_frame*, const Value*);

// The functional form of an in-place operator: the same checks, and a new tensor.
template <Check Checked>
lattis_status infer_copied(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  fresh(m, self->ndim(), self->sizes(), self->dtype);
  return Checked(f, a);
}
template <Check Checked, int... Read>
lattis_status infer_written(lattis_frame* f, const Value* a, Meta* m) {
  constexpr int read[] = {Read..., -1};
  for (int i = 0; read[i] >= 0; i++)
    if (const Tensor* t = tensor_arg(a[read[i]]))
      if (lattis_status st = check_apart(f, read[i], t, tensor_arg(a[0]))) return st;
  same(m);
  return Checked(f, a);
}

// Runs an in-place operator on a clone of its first argument.
template <OperatorName Inplace>
lattis_status cloned(lattis_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op_on<Inplace>(c.op<"clone">(a[0], contiguous_format), a));
}

}  // namespace lattis::dispatcher
