// Reductions: sum, mean, max, min, argmax, argmin. Kernels find `dim` as it was passed and the result allocated.
#include "dispatcher/operators/rules.h"

namespace lattis::dispatcher {
namespace {

// The shape that is left when `dims` are reduced.
void reduced(Meta* m, const Tensor* t, uint64_t dims, bool keepdim, DType dtype) {
  fresh(m, 0, nullptr, dtype);
  for (int d = 0; d < t->ndim(); d++) {
    if (!(dims >> d & 1))
      m->sizes[m->ndim++] = t->sizes()[d];
    else if (keepdim)
      m->sizes[m->ndim++] = 1;
  }
}

uint64_t all_dims(const Tensor* t) { return t->ndim() == 64 ? ~uint64_t{0} : (uint64_t{1} << t->ndim()) - 1; }

lattis_status dims_of(lattis_frame* f, int arg, const Value& v, const Tensor* t, uint64_t* dims) {
  if (!given(v) || v.length == 0)
    *dims = all_dims(t);
  else
    return wrap_dims(f, arg, v, t->ndim(), dims);
  return LATTIS_OK;
}

DType sum_dtype(const Tensor* t, const Value& dtype) {
  return dtype_or(dtype,
                  core::dtype_class(t->dtype) <= LATTIS_CLASS_INTEGRAL ? static_cast<DType>(LATTIS_INT64) : t->dtype);
}

lattis_status infer_sum(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  fresh(m, 0, nullptr, sum_dtype(t, a[1]));
  f->compute_dtype = m->dtype;
  return LATTIS_OK;
}

lattis_status infer_sum_dims(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  if (lattis_status st = dims_of(f, 1, a[1], t, &dims)) return st;
  reduced(m, t, dims, a[2].as.i, sum_dtype(t, a[3]));
  f->compute_dtype = m->dtype;
  return LATTIS_OK;
}

lattis_status mean_dtype(lattis_frame* f, const Tensor* t, const Value& dtype, DType* out) {
  *out = dtype_or(dtype, t->dtype);
  if (core::dtype_class(*out) >= LATTIS_CLASS_FLOATING) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": a mean needs a floating or complex dtype, got " +
                                         core::dtype_info(*out).name + "; pass dtype=lattis.float32");
}

lattis_status infer_mean(lattis_frame* f, const Value* a, Meta* m) {
  DType dtype;
  if (lattis_status st = mean_dtype(f, tensor_arg(a[0]), a[1], &dtype)) return st;
  fresh(m, 0, nullptr, dtype);
  f->compute_dtype = dtype;
  return LATTIS_OK;
}

lattis_status infer_mean_dims(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  DType dtype;
  if (lattis_status st = mean_dtype(f, t, a[3], &dtype)) return st;
  if (lattis_status st = dims_of(f, 1, a[1], t, &dims)) return st;
  reduced(m, t, dims, a[2].as.i, dtype);
  f->compute_dtype = dtype;
  return LATTIS_OK;
}

lattis_status check_order(lattis_frame* f, const Tensor* t, bool empty) {
  if (core::dtype_class(t->dtype) == LATTIS_CLASS_COMPLEX)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": dtype " + core::dtype_info(t->dtype).name + " has no order");
  if (empty)
    return raise(LATTIS_INDEX_ERROR, where(f, 0) + ": shape " + core::shape_string(t) +
                                         " has no element to choose from; reduce a dimension that is not empty");
  return LATTIS_OK;
}

lattis_status infer_extremum(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (lattis_status st = check_order(f, t, t->numel == 0)) return st;
  fresh(m, 0, nullptr, t->dtype);
  return LATTIS_OK;
}

lattis_status infer_extremum_dim(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lattis_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  if (lattis_status st = check_order(f, t, t->ndim() > 0 && t->sizes()[d] == 0)) return st;
  reduced(&m[0], t, t->ndim() ? uint64_t{1} << d : 0, a[2].as.i, t->dtype);
  reduced(&m[1], t, t->ndim() ? uint64_t{1} << d : 0, a[2].as.i, LATTIS_INT64);
  return LATTIS_OK;
}

lattis_status infer_arg(lattis_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims = all_dims(t);
  int d = -1;
  if (given(a[1])) {
    if (lattis_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
    dims = t->ndim() ? uint64_t{1} << d : 0;
  }
  if (lattis_status st = check_order(f, t, d < 0 ? t->numel == 0 : t->ndim() > 0 && t->sizes()[d] == 0)) return st;
  reduced(m, t, dims, a[2].as.i, LATTIS_INT64);
  return LATTIS_OK;
}

lattis_status max_other(lattis_frame* f, const Value* a, Value* r) {
  static const Callee maximum("maximum", "");
  return maximum(f, {a[0], a[1]}, r);
}
lattis_status min_other(lattis_frame* f, const Value* a, Value* r) {
  static const Callee minimum("minimum", "");
  return minimum(f, {a[0], a[1]}, r);
}

}  // namespace

const std::vector<Declaration>& reduction_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", "reduction", everywhere, infer_sum, nullptr,
       "The sum of all elements, or over dimensions; integers and bools give int64.\n\nFloats are added pairwise in a "
       "fixed order, whatever the number of threads.\n\n"
       ">>> lattis.sum(lattis.tensor([[1., 2.], [3., 4.]]), dim=0)\ntensor([4., 6.])\n"},
      {"sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       "reduction", everywhere | out, infer_sum_dims, nullptr, nullptr},
      {"mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", "reduction", everywhere, infer_mean, nullptr,
       "The arithmetic mean of all elements, or over dimensions.\n\nRaises:\n    RuntimeError: the dtype is neither "
       "floating nor complex\n\n>>> lattis.mean(lattis.tensor([1., 2., 6.]))\ntensor(3.)\n"},
      {"mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", "reduction",
       everywhere | out, infer_mean_dims, nullptr, nullptr},
      {"max(Tensor self) -> Tensor", "reduction", everywhere, infer_extremum, nullptr,
       "The largest element; with `dim`, the values and their indices; with another tensor, maximum. NaN wins.\n\n"
       "Raises:\n    IndexError: there is no element\n\n>>> lattis.max(lattis.tensor([1, 5, 3]))\ntensor(5)\n"},
      {"max.other(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, max_other, nullptr},
      {"max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "reduction",
       everywhere | out, infer_extremum_dim, nullptr, nullptr},
      {"min(Tensor self) -> Tensor", "reduction", everywhere, infer_extremum, nullptr,
       "The smallest element; with `dim`, the values and their indices. NaN wins.\n\n>>> lattis.min(lattis.tensor([1, "
       "5, 3]))\ntensor(1)\n"},
      {"min.other(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, min_other, nullptr},
      {"min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "reduction",
       everywhere | out, infer_extremum_dim, nullptr, nullptr},
      {"argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out, infer_arg,
       nullptr,
       "The index of the largest element (the first of equals), flat or along `dim`.\n\n>>> "
       "lattis.argmax(lattis.tensor([1, 5, 3]))\ntensor(1)\n"},
      {"argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out, infer_arg,
       nullptr,
       "The index of the smallest element (the first of equals), flat or along `dim`.\n\n>>> "
       "lattis.argmin(lattis.tensor([4, 1, 3]))\ntensor(1)\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
