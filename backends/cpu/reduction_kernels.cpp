// The reductions' kernels: which fold each operator takes. The walk over the input is in reduction.cpp.
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/reduction.h"

namespace lamella::cpu {
namespace {

int own(const Tensor& self) { return self.get()->dtype; }

// Reduces `self` in the dtype that the shape rule chose (or its own) over `dim`.
lamella_status reduce(lamella_frame* f, Reduce what, const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim,
                      int dtype, double param, lamella_tensor* out, lamella_tensor* second = nullptr) {
  // Elements are converted first if the dtype is half precision or bool, since rounding them changes the result.
  const Operand x(self.get(), dtype == LAMELLA_BOOL || is_half(dtype) ? dtype : own(self), true);
  const lamella_tensor* in = x.get();
  const Fold* folds = fold(what, dtype);
  if (!folds)
    return fail(LAMELLA_NOT_IMPLEMENTED, std::string(title(f)) +
                                             ": argument 'self': the cpu backend has no kernel for dtype " +
                                             name(static_cast<ScalarType>(dtype)) + "; convert with .to(...)");
  return reduce_over(f, *folds, folds->source, param, in, dim_set(dim, in), keepdim, out, second);
}

template <Reduce What>
Status over_all(lamella_frame* f, const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  return reduce(f, What, self, nullopt, false, f->compute_dtype, 0, out.get());
}
// `Dim` is the type of the schema's `dim`, here and below.
template <Reduce What, class Dim>
Status over_dims(lamella_frame* f, const Tensor& self, Dim dim, bool keepdim, std::optional<ScalarType>,
                 const Tensor& out) {
  return reduce(f, What, self, dim, keepdim, f->compute_dtype, 0, out.get());
}
// Only floating numbers have NaN.
Status nansum(lamella_frame* f, const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim,
              std::optional<ScalarType>, const Tensor& out) {
  const bool some =
      class_of(f->compute_dtype) >= LAMELLA_CLASS_FLOATING || class_of(own(self)) >= LAMELLA_CLASS_FLOATING;
  return reduce(f, some ? Reduce::nansum : Reduce::sum, self, dim, keepdim, f->compute_dtype, 0, out.get());
}
Status logsumexp(lamella_frame* f, const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {
  return reduce(f, Reduce::logsumexp, self, dim, keepdim, f->compute_dtype, 0, out.get());
}
template <Reduce What>
Status own_over_all(lamella_frame* f, const Tensor& self, const Tensor& out) {
  return reduce(f, What, self, nullopt, false, own(self), 0, out.get());
}
template <Reduce What, class Dim>
Status own_over_dims(lamella_frame* f, const Tensor& self, Dim dim, bool keepdim, const Tensor& out) {
  return reduce(f, What, self, dim, keepdim, own(self), 0, out.get());
}
template <Reduce What>
Status extremum_dim(lamella_frame* f, const Tensor& self, int64_t dim, bool keepdim, const Tensor& values,
                    const Tensor& indices) {
  return reduce(f, What, self, dim, keepdim, own(self), 0, indices.get(), values.get());
}
Status aminmax(lamella_frame* f, const Tensor& self, std::optional<int64_t> dim, bool keepdim, const Tensor& min,
               const Tensor& max) {
  return reduce(f, Reduce::aminmax, self, dim, keepdim, own(self), 0, min.get(), max.get());
}

// Reduces truth values: `any` is their maximum, `all` their minimum, count_nonzero their sum.
lamella_status of_truth(lamella_frame* f, Reduce what, int settled, const Tensor& self, const OptionalIntArrayRef& dim,
                        bool keepdim, lamella_tensor* out) {
  const lamella_tensor* in = self.get();
  return reduce_over(f, *fold(what, LAMELLA_BOOL), LAMELLA_BOOL, 0, in, dim_set(dim, in), keepdim, out, nullptr,
                     settled);
}
template <bool Any>
Status truth_all(lamella_frame* f, const Tensor& self, const Tensor& out) {
  return of_truth(f, Any ? Reduce::amax : Reduce::amin, Any, self, nullopt, false, out.get());
}
template <bool Any, class Dim>
Status truth_dims(lamella_frame* f, const Tensor& self, Dim dim, bool keepdim, const Tensor& out) {
  return of_truth(f, Any ? Reduce::amax : Reduce::amin, Any, self, dim, keepdim, out.get());
}
template <class Dim>
Status count_nonzero(lamella_frame* f, const Tensor& self, Dim dim, const Tensor& out) {
  return of_truth(f, Reduce::sum, -1, self, dim, false, out.get());
}

// Variances and standard deviations. `Mean` is Tensor if the mean is a second output, else empty.
template <Reduce What, class... Mean>
Status spread_all(lamella_frame* f, const Tensor& self, bool unbiased, const Tensor& out, const Mean&... mean) {
  return reduce(f, What, self, nullopt, false, own(self), unbiased ? 1 : 0, out.get(), mean.get()...);
}
template <Reduce What, class... Mean>
Status spread_dims(lamella_frame* f, const Tensor& self, std::optional<IntArrayRef> dim, bool unbiased, bool keepdim,
                   const Tensor& out, const Mean&... mean) {
  return reduce(f, What, self, dim, keepdim, own(self), unbiased ? 1 : 0, out.get(), mean.get()...);
}
template <Reduce What, class... Mean>
Status spread_corrected(lamella_frame* f, const Tensor& self, std::optional<IntArrayRef> dim,
                        const std::optional<Scalar>& correction, bool keepdim, const Tensor& out, const Mean&... mean) {
  return reduce(f, What, self, dim, keepdim, own(self), correction ? as_double(correction->value()) : 1, out.get(),
                mean.get()...);
}

Status vector_norm(lamella_frame* f, const Tensor& self, const Scalar& ord, std::optional<IntArrayRef> dim,
                   bool keepdim, std::optional<ScalarType>, const Tensor& out) {
  const double p = as_double(ord.value());
  const Reduce what = p == 2           ? Reduce::norm2
                      : p == 1         ? Reduce::norm1
                      : p == 0         ? Reduce::norm0
                      : p == INFINITY  ? Reduce::norm_max
                      : p == -INFINITY ? Reduce::norm_min
                                       : Reduce::norm_p;
  return reduce(f, what, self, dim, keepdim, f->compute_dtype, p, out.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  using Dims = std::optional<IntArrayRef>;
  add<over_all<Reduce::sum>>(m, "sum");
  add<over_dims<Reduce::sum, Dims>>(m, "sum.dim_IntList");
  add<over_all<Reduce::mean>>(m, "mean");
  add<over_dims<Reduce::mean, Dims>>(m, "mean.dim");
  add<nansum>(m, "nansum");
  add<over_all<Reduce::prod>>(m, "prod");
  add<over_dims<Reduce::prod, int64_t>>(m, "prod.dim_int");
  add<own_over_all<Reduce::amax>>(m, "max");
  add<extremum_dim<Reduce::argmax>>(m, "max.dim");
  add<own_over_all<Reduce::amin>>(m, "min");
  add<extremum_dim<Reduce::argmin>>(m, "min.dim");
  add<own_over_dims<Reduce::amax, IntArrayRef>>(m, "amax");
  add<own_over_dims<Reduce::amin, IntArrayRef>>(m, "amin");
  add<aminmax>(m, "aminmax");
  add<own_over_dims<Reduce::argmax, std::optional<int64_t>>>(m, "argmax");
  add<own_over_dims<Reduce::argmin, std::optional<int64_t>>>(m, "argmin");
  add<truth_all<true>>(m, "any");
  add<truth_dims<true, int64_t>>(m, "any.dim");
  add<truth_dims<true, Dims>>(m, "any.dims");
  add<truth_all<false>>(m, "all");
  add<truth_dims<false, int64_t>>(m, "all.dim");
  add<truth_dims<false, Dims>>(m, "all.dims");
  add<count_nonzero<std::optional<int64_t>>>(m, "count_nonzero");
  add<count_nonzero<IntArrayRef>>(m, "count_nonzero.dim_IntList");
  add<spread_all<Reduce::var>>(m, "var");
  add<spread_dims<Reduce::var>>(m, "var.dim");
  add<spread_corrected<Reduce::var>>(m, "var.correction");
  add<spread_all<Reduce::std>>(m, "std");
  add<spread_dims<Reduce::std>>(m, "std.dim");
  add<spread_corrected<Reduce::std>>(m, "std.correction");
  add<spread_all<Reduce::var, Tensor>>(m, "var_mean");
  add<spread_dims<Reduce::var, Tensor>>(m, "var_mean.dim");
  add<spread_corrected<Reduce::var, Tensor>>(m, "var_mean.correction");
  add<spread_all<Reduce::std, Tensor>>(m, "std_mean");
  add<spread_dims<Reduce::std, Tensor>>(m, "std_mean.dim");
  add<spread_corrected<Reduce::std, Tensor>>(m, "std_mean.correction");
  add<vector_norm>(m, "linalg_vector_norm");
  add<logsumexp>(m, "logsumexp");
}

}  // namespace lamella::cpu
