// What operators over index tensors share: the checks of their arguments, and functional forms of in-place operators.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

inline bool integral(const Tensor* t) { return core::dtype_class(t->dtype) == LAMELLA_CLASS_INTEGRAL; }

// A zero-dim tensor counts as one dimension of one.
inline int dims_of(const Tensor* t) { return std::max(t->ndim(), 1); }
inline int64_t size_of(const Tensor* t, int d) { return t->ndim() ? t->sizes()[d] : 1; }

lamella_status check_int64(lamella_frame* f, int arg, const Tensor* index);
lamella_status check_integral(lamella_frame* f, int arg, const Tensor* index);
lamella_status check_same_dtype(lamella_frame* f, int arg, const Tensor* t, const Tensor* self);
// A number or a zero-dim tensor that is written into a dtype.
lamella_status check_filling(lamella_frame* f, int arg, const Value& value, DType dtype);
// What is written must not be read as well.
lamella_status check_apart(lamella_frame* f, int arg, const Tensor* t, const Tensor* self);

// Negative indices count from the end.
Var wrapped(Compose& c, const Var& index, int64_t n);

using Check = lamella_status (*)(lamella_frame*, const Value*);

// The functional form of an in-place operator: the same checks, and a new tensor.
template <Check Checked>
lamella_status infer_copied(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  fresh(m, self->ndim(), self->sizes(), self->dtype);
  return Checked(f, a);
}
template <Check Checked, int... Read>
lamella_status infer_written(lamella_frame* f, const Value* a, Meta* m) {
  constexpr int read[] = {Read..., -1};
  for (int i = 0; read[i] >= 0; i++)
    if (const Tensor* t = tensor_arg(a[read[i]]))
      if (lamella_status st = check_apart(f, read[i], t, tensor_arg(a[0]))) return st;
  same(m);
  return Checked(f, a);
}

// Runs an in-place operator on a clone of its first argument.
template <OperatorName Inplace>
lamella_status cloned(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op_on<Inplace>(c.op<"clone">(a[0], contiguous_format), a));
}

}  // namespace lamella::dispatcher
