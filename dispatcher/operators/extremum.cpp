// Extrema: the largest and the smallest elements and where they are. The composites stand on amax, amin and argmax.
#include "dispatcher/operators/reduction.h"

namespace lamella::dispatcher {
namespace {

lamella_status check_order(lamella_frame* f, const Tensor* t, bool empty) {
  if (core::dtype_class(t->dtype) == LAMELLA_CLASS_COMPLEX)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": dtype " + core::dtype_info(t->dtype).name + " has no order");
  if (empty)
    return raise(LAMELLA_INDEX_ERROR, where(f, 0) + ": shape " + core::shape_string(t) +
                                          " has no element to choose from; reduce a dimension that is not empty");
  return LAMELLA_OK;
}

lamella_status infer_extremum(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (lamella_status st = check_order(f, t, t->numel == 0)) return st;
  fresh(m, 0, nullptr, t->dtype);
  return LAMELLA_OK;
}

lamella_status infer_extremum_dim(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  if (lamella_status st = check_order(f, t, t->ndim() > 0 && t->sizes()[d] == 0)) return st;
  reduced(&m[0], t, t->ndim() ? uint64_t{1} << d : 0, a[2].as.i, t->dtype);
  reduced(&m[1], t, t->ndim() ? uint64_t{1} << d : 0, a[2].as.i, LAMELLA_INT64);
  return LAMELLA_OK;
}

lamella_status infer_arg(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims = all_dims(t);
  int d = -1;
  if (given(a[1])) {
    if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
    dims = t->ndim() ? uint64_t{1} << d : 0;
  }
  if (lamella_status st = check_order(f, t, d < 0 ? t->numel == 0 : t->ndim() > 0 && t->sizes()[d] == 0)) return st;
  reduced(m, t, dims, a[2].as.i, LAMELLA_INT64);
  return LAMELLA_OK;
}

// Over dimensions that must not be empty.
lamella_status extremum_dims(lamella_frame* f, const Value* a, uint64_t* dims) {
  const Tensor* t = tensor_arg(a[0]);
  if (a[1].tag == LAMELLA_INT) {
    int d;
    if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
    *dims = t->ndim() ? uint64_t{1} << d : 0;
  } else if (lamella_status st = dims_of(f, 1, a[1], t, dims)) {
    return st;
  }
  return check_order(f, t, length_over(t, *dims) == 0);
}

lamella_status infer_extremum_dims(lamella_frame* f, const Value* a, Meta* m) {
  uint64_t dims;
  if (lamella_status st = extremum_dims(f, a, &dims)) return st;
  reduced(m, tensor_arg(a[0]), dims, a[2].as.i, tensor_arg(a[0])->dtype);
  return LAMELLA_OK;
}

lamella_status infer_aminmax(lamella_frame* f, const Value* a, Meta* m) {
  uint64_t dims;
  if (lamella_status st = extremum_dims(f, a, &dims)) return st;
  for (int k : {0, 1}) reduced(m + k, tensor_arg(a[0]), dims, a[2].as.i, tensor_arg(a[0])->dtype);
  return LAMELLA_OK;
}

// The smallest element is the first that equals the minimum; a NaN is one that does not equal itself.
Var position(Compose& c, const Var& x, const Value& dim, bool keepdim, bool largest) {
  if (largest) return c.op<"argmax">(x, dim, keepdim);
  Var low = c.op<"amin">(x, dim_list(dim), x.dim() > 0 && given(dim));
  Var found = c.op<"eq.Tensor">(x, low);
  if (x.dtype_class() == LAMELLA_CLASS_FLOATING) found = c.op<"logical_or">(found, nan_in(c, x));
  return c.op<"argmax">(found, dim, keepdim);
}

template <bool Max>
lamella_status extremum_all(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, Max ? c.op<"amax">(a[0], Ints{}, false) : c.op<"amin">(a[0], Ints{}, false));
}

template <bool Max>
lamella_status extremum_dim(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  Var best = Max ? c.op<"amax">(x, dim_list(a[1]), a[2]) : c.op<"amin">(x, dim_list(a[1]), a[2]);
  return c.give(r, best, position(c, x, a[1], a[2].as.i != 0, Max));
}

lamella_status argmin(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, position(c, c.arg(a[0]), a[1], a[2].as.i != 0, false));
}

lamella_status aminmax(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Value dims = dim_list(a[1]);
  return c.give(r, c.op<"amin">(a[0], dims, a[2]), c.op<"amax">(a[0], dims, a[2]));
}

lamella_status max_other(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"maximum">(a[0], a[1]));
}
lamella_status min_other(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"minimum">(a[0], a[1]));
}

}  // namespace

const std::vector<Declaration>& extremum_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"max(Tensor self) -> Tensor", "reduction", everywhere, infer_extremum, extremum_all<true>,
       "The largest element; with `dim`, the values and their indices; with another tensor, maximum. NaN wins.\n\n"
       "Raises:\n    IndexError: there is no element\n\n>>> lamella.max(lamella.tensor([1, 5, 3]))\ntensor(5)\n"},
      {"max.other(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, max_other, nullptr},
      {"max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "reduction",
       everywhere | out, infer_extremum_dim, extremum_dim<true>, nullptr},
      {"min(Tensor self) -> Tensor", "reduction", everywhere, infer_extremum, extremum_all<false>,
       "The smallest element; with `dim`, the values and their indices. NaN wins.\n\n>>> "
       "lamella.min(lamella.tensor([1, "
       "5, 3]))\ntensor(1)\n"},
      {"min.other(Tensor self, Tensor other) -> Tensor", "pointwise", everywhere | out, nullptr, min_other, nullptr},
      {"min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "reduction",
       everywhere | out, infer_extremum_dim, extremum_dim<false>, nullptr},
      {"argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out, infer_arg,
       nullptr,
       "The index of the largest element (the first of equals), flat or along `dim`.\n\n>>> "
       "lamella.argmax(lamella.tensor([1, 5, 3]))\ntensor(1)\n"},
      {"argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out, infer_arg,
       argmin,
       "The index of the smallest element (the first of equals), flat or along `dim`.\n\n>>> "
       "lamella.argmin(lamella.tensor([4, 1, 3]))\ntensor(1)\n"},
      {"amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       infer_extremum_dims, nullptr,
       "The largest element over dimensions; over all without `dim`. NaN wins.\n\nRaises:\n    IndexError: there is no "
       "element\n\n>>> lamella.amax(lamella.tensor([[1, 5], [3, 2]]), dim=0)\ntensor([3, 5])\n"},
      {"amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       infer_extremum_dims, nullptr,
       "The smallest element over dimensions; over all without `dim`. NaN wins.\n\n>>> "
       "lamella.amin(lamella.tensor([[1, "
       "5], [3, 2]]), dim=0)\ntensor([1, 2])\n"},
      {"aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", "reduction",
       everywhere | out, infer_aminmax, aminmax,
       "The smallest and the largest element, over all or along `dim`. NaN wins.\n\n>>> "
       "lamella.aminmax(lamella.tensor([2, 5, 3])).max\ntensor(5)\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
