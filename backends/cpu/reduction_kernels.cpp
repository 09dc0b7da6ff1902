// The reductions' kernels: which fold each operator takes. The walk over the input is in reduction.cpp.
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/reduction.h"

namespace lamella::cpu {
namespace {

// A copy in another dtype, where rounding each element before the sum shows: to half precision, and to bool.
lamella_status rounded(const lamella_tensor*& in, int dtype, Tensor* holder) {
  const bool shows = dtype == LAMELLA_BOOL || dtype == LAMELLA_FLOAT16 || dtype == LAMELLA_BFLOAT16;
  if (dtype == in->dtype || !shows) return LAMELLA_OK;
  lamella_tensor* raw;
  if (lamella_status st =
          api().tensor_empty(in->dl.ndim, in->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(in), &raw))
    return st;
  *holder = Tensor::steal(raw);
  if (lamella_status st = copy_into(raw, in)) return st;
  in = raw;
  return LAMELLA_OK;
}

// Reduces `self` in the dtype that the shape rule chose (or its own) over `dim`.
lamella_status reduce(lamella_frame* f, Reduce what, const lamella_value& self, const lamella_value& dim, bool keepdim,
                      int dtype, double param, lamella_tensor* out, lamella_tensor* second = nullptr) {
  const lamella_tensor* in = self.as.tensor;
  Tensor holder;
  if (lamella_status st = rounded(in, dtype, &holder)) return st;
  const Fold* folds = fold(what, dtype);
  if (!folds)
    return fail(LAMELLA_NOT_IMPLEMENTED,
                std::string(title(f)) + ": argument 'self': the cpu backend has no such reduction for this dtype");
  return reduce_over(f, *folds, folds->source, param, in, dim_set(dim, in), keepdim, out, second);
}

int own(const lamella_value& self) { return self.as.tensor->dtype; }
bool truth(const lamella_value& v) { return v.as.i != 0; }

template <Reduce What>
lamella_status over_all(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return reduce(f, What, a[0], none(), false, f->compute_dtype, 0, r[0].as.tensor);
}
template <Reduce What>
lamella_status over_dims(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return reduce(f, What, a[0], a[1], truth(a[2]), f->compute_dtype, 0, r[0].as.tensor);
}
// Only floating numbers have NaN.
lamella_status nansum(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  const bool some = f->compute_dtype >= LAMELLA_FLOAT16 || a[0].as.tensor->dtype >= LAMELLA_FLOAT16;
  return reduce(f, some ? Reduce::nansum : Reduce::sum, a[0], a[1], truth(a[2]), f->compute_dtype, 0, r[0].as.tensor);
}
template <Reduce What>
lamella_status own_over_all(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return reduce(f, What, a[0], none(), false, own(a[0]), 0, r[0].as.tensor);
}
template <Reduce What>
lamella_status own_over_dims(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return reduce(f, What, a[0], a[1], truth(a[2]), own(a[0]), 0, r[0].as.tensor);
}
template <Reduce What>
lamella_status extremum_dim(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return reduce(f, What, a[0], a[1], truth(a[2]), own(a[0]), 0, r[1].as.tensor, r[0].as.tensor);
}
lamella_status aminmax(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return reduce(f, Reduce::aminmax, a[0], a[1], truth(a[2]), own(a[0]), 0, r[0].as.tensor, r[1].as.tensor);
}

// Of truth values: any is their maximum, all their minimum, count_nonzero their sum.
lamella_status of_truth(lamella_frame* f, Reduce what, int settled, const lamella_value& self, const lamella_value& dim,
                        bool keepdim, lamella_tensor* out) {
  const lamella_tensor* in = self.as.tensor;
  return reduce_over(f, *fold(what, LAMELLA_BOOL), LAMELLA_BOOL, 0, in, dim_set(dim, in), keepdim, out, nullptr,
                     settled);
}
template <bool Any>
lamella_status truth_all(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return of_truth(f, Any ? Reduce::amax : Reduce::amin, Any, a[0], none(), false, r[0].as.tensor);
}
template <bool Any>
lamella_status truth_dims(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return of_truth(f, Any ? Reduce::amax : Reduce::amin, Any, a[0], a[1], truth(a[2]), r[0].as.tensor);
}
lamella_status count_nonzero(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return of_truth(f, Reduce::sum, -1, a[0], a[1], false, r[0].as.tensor);
}

template <Reduce What>
lamella_status spread(lamella_frame* f, const lamella_value* a, lamella_value* r, const lamella_value& dim,
                      double correction, bool keepdim, bool with_mean) {
  return reduce(f, What, a[0], dim, keepdim, own(a[0]), correction, r[0].as.tensor,
                with_mean ? r[1].as.tensor : nullptr);
}
template <Reduce What, bool WithMean>
lamella_status spread_all(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return spread<What>(f, a, r, none(), truth(a[1]) ? 1 : 0, false, WithMean);
}
template <Reduce What, bool WithMean>
lamella_status spread_dims(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return spread<What>(f, a, r, a[1], truth(a[2]) ? 1 : 0, truth(a[3]), WithMean);
}
template <Reduce What, bool WithMean>
lamella_status spread_corrected(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  return spread<What>(f, a, r, a[1], a[2].tag == LAMELLA_NONE ? 1 : as_double(a[2]), truth(a[3]), WithMean);
}

lamella_status vector_norm(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  const double p = as_double(a[1]);
  const Reduce what = p == 2           ? Reduce::norm2
                      : p == 1         ? Reduce::norm1
                      : p == 0         ? Reduce::norm0
                      : p == INFINITY  ? Reduce::norm_max
                      : p == -INFINITY ? Reduce::norm_min
                                       : Reduce::norm_p;
  return reduce(f, what, a[0], a[2], truth(a[3]), f->compute_dtype, p, r[0].as.tensor);
}

}  // namespace

void register_reductions(Library& m) {
  m.impl("sum", "cpu", over_all<Reduce::sum>).impl("sum.dim_IntList", "cpu", over_dims<Reduce::sum>);
  m.impl("mean", "cpu", over_all<Reduce::mean>).impl("mean.dim", "cpu", over_dims<Reduce::mean>);
  m.impl("nansum", "cpu", nansum);
  m.impl("prod", "cpu", over_all<Reduce::prod>).impl("prod.dim_int", "cpu", over_dims<Reduce::prod>);
  m.impl("max", "cpu", own_over_all<Reduce::amax>).impl("max.dim", "cpu", extremum_dim<Reduce::argmax>);
  m.impl("min", "cpu", own_over_all<Reduce::amin>).impl("min.dim", "cpu", extremum_dim<Reduce::argmin>);
  m.impl("amax", "cpu", own_over_dims<Reduce::amax>).impl("amin", "cpu", own_over_dims<Reduce::amin>);
  m.impl("aminmax", "cpu", aminmax);
  m.impl("argmax", "cpu", own_over_dims<Reduce::argmax>).impl("argmin", "cpu", own_over_dims<Reduce::argmin>);
  m.impl("any", "cpu", truth_all<true>).impl("any.dim", "cpu", truth_dims<true>);
  m.impl("any.dims", "cpu", truth_dims<true>);
  m.impl("all", "cpu", truth_all<false>).impl("all.dim", "cpu", truth_dims<false>);
  m.impl("all.dims", "cpu", truth_dims<false>);
  m.impl("count_nonzero", "cpu", count_nonzero).impl("count_nonzero.dim_IntList", "cpu", count_nonzero);
  m.impl("var", "cpu", spread_all<Reduce::var, false>).impl("var.dim", "cpu", spread_dims<Reduce::var, false>);
  m.impl("var.correction", "cpu", spread_corrected<Reduce::var, false>);
  m.impl("std", "cpu", spread_all<Reduce::std, false>).impl("std.dim", "cpu", spread_dims<Reduce::std, false>);
  m.impl("std.correction", "cpu", spread_corrected<Reduce::std, false>);
  m.impl("var_mean", "cpu", spread_all<Reduce::var, true>).impl("var_mean.dim", "cpu", spread_dims<Reduce::var, true>);
  m.impl("var_mean.correction", "cpu", spread_corrected<Reduce::var, true>);
  m.impl("std_mean", "cpu", spread_all<Reduce::std, true>).impl("std_mean.dim", "cpu", spread_dims<Reduce::std, true>);
  m.impl("std_mean.correction", "cpu", spread_corrected<Reduce::std, true>);
  m.impl("linalg_vector_norm", "cpu", vector_norm);
  m.impl("logsumexp", "cpu", over_dims<Reduce::logsumexp>);
}

}  // namespace lamella::cpu
