// Indexing by boolean masks. Integers, slices and None are views, which the binding asks for one by one.
#include "dispatcher/operators/rules.h"
#include "dispatcher/pointwise.h"

namespace lattis::dispatcher {
namespace {

// The mask covers the leading dimensions of self exactly.
lattis_status check_mask(lattis_frame* f, const Tensor* self, const Value& v) {
  const Tensor* mask = tensor_arg(v);
  if (mask->dtype != LATTIS_BOOL)
    return raise(LATTIS_INDEX_ERROR,
                 where(f, 1) + ": expected a bool mask, got dtype " + core::dtype_info(mask->dtype).name);
  if (mask->ndim() > self->ndim() || !std::equal(mask->sizes(), mask->sizes() + mask->ndim(), self->sizes()))
    return raise(LATTIS_INDEX_ERROR, where(f, 1) + ": a mask of shape " + core::shape_string(mask) +
                                         " does not cover the leading dimensions of shape " + core::shape_string(self));
  return LATTIS_OK;
}

lattis_status infer_mask_index(lattis_frame* f, const Value* a, Meta* m) {
  m->kind = LATTIS_META_DYNAMIC;
  return check_mask(f, tensor_arg(a[0]), a[1]);
}

lattis_status infer_mask_put(lattis_frame* f, const Value* a, Meta* m) {
  m->kind = LATTIS_META_SAME;
  m->alias_of = 0;
  const Tensor *self = tensor_arg(a[0]), *values = tensor_arg(a[2]);
  if (lattis_status st = check_mask(f, self, a[1])) return st;
  if (!core::can_cast(values->dtype, self->dtype))
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: dtype %s does not fit dtype %s", where(f, 2).c_str(), core::dtype_info(values->dtype).name,
                        core::dtype_info(self->dtype).name));
  return LATTIS_OK;
}

// The mask broadcasts to self and is bool.
lattis_status check_fill_mask(lattis_frame* f, const Value* a) {
  const Tensor *self = tensor_arg(a[0]), *mask = tensor_arg(a[1]);
  if (mask->dtype != LATTIS_BOOL)
    return raise(LATTIS_RUNTIME_ERROR,
                 where(f, 1) + ": expected a bool mask, got dtype " + core::dtype_info(mask->dtype).name);
  int ndim = self->ndim();
  int64_t sizes[LATTIS_MAX_DIMS];
  std::copy(self->sizes(), self->sizes() + ndim, sizes);
  if (!broadcast(&ndim, sizes, mask->ndim(), mask->sizes()))
    return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": shape " + core::shape_string(mask) +
                                           " does not broadcast with " + core::shape_string(self) + " ('self')");
  return LATTIS_OK;
}

lattis_status masked_fill(lattis_frame* f, const Value* a, Value* r) {
  if (lattis_status st = check_fill_mask(f, a)) return st;
  static const Callee scalar("where", "ScalarSelf"), tensor("where", "self");
  bool number = a[2].tag != LATTIS_TENSOR;
  DType v = number ? core::number_dtype(a[2]) : tensor_arg(a[2])->dtype, self = tensor_arg(a[0])->dtype;
  if (!number && tensor_arg(a[2])->ndim() != 0)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 2) + ": expected a number or a zero-dim tensor, got shape " +
                                           core::shape_string(tensor_arg(a[2])));
  if (!core::can_cast(v, self))
    return raise(LATTIS_RUNTIME_ERROR, format("%s: dtype %s does not fit dtype %s", where(f, 2).c_str(),
                                              core::dtype_info(v).name, core::dtype_info(self).name));
  return (number ? scalar : tensor)(f, {a[1], a[2], a[0]}, r);
}

lattis_status masked_select(lattis_frame* f, const Value* a, Value* r) {
  static const Callee expand("expand", ""), index("_mask_index", "");
  if (lattis_status st = check_fill_mask(f, a)) return st;
  const Tensor *self = tensor_arg(a[0]), *mask = tensor_arg(a[1]);
  int ndim = self->ndim();
  int64_t sizes[LATTIS_MAX_DIMS];
  std::copy(self->sizes(), self->sizes() + ndim, sizes);
  if (!broadcast(&ndim, sizes, mask->ndim(), mask->sizes()))
    return raise(LATTIS_RUNTIME_ERROR, operator_title(f->op) + ": shapes " + core::shape_string(self) +
                                           " ('self') and " + core::shape_string(mask) + " ('mask') do not broadcast");
  Value x = core::none(), m = core::none(), list = core::int_list(sizes, ndim);
  lattis_status st = expand(f, {a[0], list, core::boolean(false)}, &x);
  if (!st) st = expand(f, {a[1], list, core::boolean(false)}, &m);
  if (!st) st = index(f, {x, m}, r);
  core::release_value(x);
  core::release_value(m);
  return st;
}

}  // namespace

const std::vector<Declaration>& indexing_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"_mask_index(Tensor self, Tensor mask) -> Tensor", "indexing", hidden, infer_mask_index, nullptr,
       "self[mask]: the rows where the mask holds, in row-major order."},
      {"_mask_put_(Tensor(a!) self, Tensor mask, Tensor values) -> Tensor(a!)", "indexing", hidden, infer_mask_put,
       nullptr, "self[mask] = values: `values` broadcasts to (count, *self.shape[mask.dim():])."},
      {"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", "indexing", everywhere | inplace,
       nullptr, masked_fill,
       "`self` with `value` where the bool mask holds.\n\n>>> lattis.masked_fill(lattis.tensor([1, 2]), "
       "lattis.tensor([True, False]), 0)\ntensor([0, 2])\n"},
      {"masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", "indexing", everywhere | inplace,
       nullptr, masked_fill, nullptr},
      {"masked_select(Tensor self, Tensor mask) -> Tensor", "indexing", everywhere, nullptr, masked_select,
       "The elements where the bool mask holds, as one row; both broadcast.\n\n>>> "
       "lattis.masked_select(lattis.tensor([1, 2, 3]), lattis.tensor([True, False, True]))\ntensor([1, 3])\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
