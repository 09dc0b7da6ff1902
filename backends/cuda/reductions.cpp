// The operators of reductions, with the fold and the types of each.
#include "reduce.h"

namespace cuda {
namespace {

using lamella::IntArrayRef, lamella::OptionalIntArrayRef, lamella::ScalarType, lamella::Scalar, lamella::Tensor;
using lamella::Status;
using Frame = lamella_frame;

// The numbers of the folds. sum_fold() below makes the name of the fold `sum_id`, and so on.
enum Id {
  sum_id,
  nansum_id,
  mean_id,
  product_id,
  count_id,
  any_id,
  all_id,
  largest_id,
  smallest_id,
  place_largest_id,
  place_smallest_id,
  variance_id,
  deviation_id,
  logsumexp_id
};

std::string two(const char* name, int as) {
  return std::string(name) + "<" + type_name(as) + ", " + wide_name(as) + ">";
}
std::string one(const char* name, int as, const char* more) {
  return std::string(name) + "<" + wide_name(as) + more + ">";
}
std::string sum_fold(int as) { return two("Sum", as); }
std::string nansum_fold(int as) { return two(as < LAMELLA_FLOAT16 ? "Sum" : "NanSum", as); }
std::string mean_fold(int as) { return two("Mean", as); }
std::string product_fold(int as) { return two("Product", as); }
std::string count_fold(int) { return "CountNonzero"; }
std::string any_fold(int) { return "Truth<true>"; }
std::string all_fold(int) { return "Truth<false>"; }
std::string largest_fold(int as) { return one("Extremum", as, ", true"); }
std::string smallest_fold(int as) { return one("Extremum", as, ", false"); }
std::string place_largest_fold(int as) { return one("Place", as, ", true"); }
std::string place_smallest_fold(int as) { return one("Place", as, ", false"); }
// Returns the fold of a variance: for float32 and the short floats by sums in double, for float64 and complex numbers
// by updates, which do not subtract large sums from each other.
std::string spread_fold(int as, const char* root) {
  if (as <= LAMELLA_FLOAT32) return std::string("Squares<") + root + ">";
  return std::string("Moments<") + (as == LAMELLA_FLOAT64 ? "double, " : "complex<double>, ") + root + ">";
}
std::string variance_fold(int as) { return spread_fold(as, "false"); }
std::string deviation_fold(int as) { return spread_fold(as, "true"); }
std::string logsumexp_fold(int as) { return one("LogSumExp", as, ""); }

int own(const Tensor& t) { return t.get()->dtype; }

template <int Id, auto Fold>
lamella_status over(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim, int as, const Tensor& out,
                    const Tensor* second = nullptr, double parameter = 0, bool ordered = false) {
  const lamella_tensor* in = self.get();
  return reduce(Id, Fold, as, in, dim_set(dim, in), keepdim, parameter, out.get(), second ? second->get() : nullptr,
                ordered);
}

template <int Id, auto Fold>
Status over_all(Frame*, const Tensor& self, std::optional<ScalarType>, const Tensor& out) {
  return over<Id, Fold>(self, lamella::nullopt, false, own(out), out);
}
template <int Id, auto Fold, class Dim>
Status over_dims(Frame*, const Tensor& self, Dim dim, bool keepdim, std::optional<ScalarType>, const Tensor& out) {
  return over<Id, Fold>(self, dim, keepdim, own(out), out);
}
template <int Id, auto Fold>
Status own_all(const Tensor& self, const Tensor& out) {
  return over<Id, Fold>(self, lamella::nullopt, false, own(self), out);
}
template <int Id, auto Fold, class Dim>
Status own_dims(const Tensor& self, Dim dim, bool keepdim, const Tensor& out) {
  return over<Id, Fold>(self, dim, keepdim, own(self), out, nullptr, 0, true);
}
template <int Id, auto Fold>
Status extremum_dim(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  return over<Id, Fold>(self, dim, keepdim, own(self), values, &indices, 0, true);
}
template <int Id, auto Fold, class Dim>
Status truth_dims(const Tensor& self, Dim dim, bool keepdim, const Tensor& out) {
  return over<Id, Fold>(self, dim, keepdim, LAMELLA_BOOL, out);
}
template <int Id, auto Fold>
Status truth_all(const Tensor& self, const Tensor& out) {
  return over<Id, Fold>(self, lamella::nullopt, false, LAMELLA_BOOL, out);
}
template <class Dim>
Status count_nonzero(const Tensor& self, Dim dim, const Tensor& out) {
  return over<count_id, count_fold>(self, dim, false, LAMELLA_BOOL, out);
}
Status logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim, const Tensor& out) {
  return over<logsumexp_id, logsumexp_fold>(self, dim, keepdim, own(out), out);
}

const Tensor* pointer() { return nullptr; }
const Tensor* pointer(const Tensor& t) { return &t; }
// `Mean` is empty, or Tensor if the mean is a second output.
template <int Id, auto Fold, class... Mean>
Status spread_all(const Tensor& self, bool unbiased, const Tensor& out, const Mean&... mean) {
  return over<Id, Fold>(self, lamella::nullopt, false, own(self), out, pointer(mean...), unbiased);
}
template <int Id, auto Fold, class... Mean>
Status spread_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool unbiased, bool keepdim, const Tensor& out,
                   const Mean&... mean) {
  return over<Id, Fold>(self, dim, keepdim, own(self), out, pointer(mean...), unbiased);
}
template <int Id, auto Fold, class... Mean>
Status spread_corrected(const Tensor& self, std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction,
                        bool keepdim, const Tensor& out, const Mean&... mean) {
  return over<Id, Fold>(self, dim, keepdim, own(self), out, pointer(mean...),
                        correction ? lamella::as_double(correction->value()) : 1);
}

template <int Id, auto Fold, class... Mean>
void add_spread(lamella::Library& m, const std::string& name) {
  m.impl<spread_all<Id, Fold, Mean...>>(name.c_str(), "cuda");
  m.impl<spread_dims<Id, Fold, Mean...>>((name + ".dim").c_str(), "cuda");
  m.impl<spread_corrected<Id, Fold, Mean...>>((name + ".correction").c_str(), "cuda");
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  using Dims = std::optional<IntArrayRef>;
  m.impl<over_all<sum_id, sum_fold>>("sum", "cuda");
  m.impl<over_dims<sum_id, sum_fold, Dims>>("sum.dim_IntList", "cuda");
  m.impl<over_all<mean_id, mean_fold>>("mean", "cuda");
  m.impl<over_dims<mean_id, mean_fold, Dims>>("mean.dim", "cuda");
  m.impl<over_dims<nansum_id, nansum_fold, Dims>>("nansum", "cuda");
  m.impl<over_all<product_id, product_fold>>("prod", "cuda");
  m.impl<over_dims<product_id, product_fold, int64_t>>("prod.dim_int", "cuda");
  m.impl<own_all<largest_id, largest_fold>>("max", "cuda");
  m.impl<own_all<smallest_id, smallest_fold>>("min", "cuda");
  m.impl<extremum_dim<largest_id, largest_fold>>("max.dim", "cuda");
  m.impl<extremum_dim<smallest_id, smallest_fold>>("min.dim", "cuda");
  m.impl<own_dims<largest_id, largest_fold, IntArrayRef>>("amax", "cuda");
  m.impl<own_dims<smallest_id, smallest_fold, IntArrayRef>>("amin", "cuda");
  m.impl<own_dims<place_largest_id, place_largest_fold, std::optional<int64_t>>>("argmax", "cuda");
  m.impl<own_dims<place_smallest_id, place_smallest_fold, std::optional<int64_t>>>("argmin", "cuda");
  m.impl<truth_all<any_id, any_fold>>("any", "cuda");
  m.impl<truth_dims<any_id, any_fold, int64_t>>("any.dim", "cuda");
  m.impl<truth_dims<any_id, any_fold, Dims>>("any.dims", "cuda");
  m.impl<truth_all<all_id, all_fold>>("all", "cuda");
  m.impl<truth_dims<all_id, all_fold, int64_t>>("all.dim", "cuda");
  m.impl<truth_dims<all_id, all_fold, Dims>>("all.dims", "cuda");
  m.impl<count_nonzero<std::optional<int64_t>>>("count_nonzero", "cuda");
  m.impl<count_nonzero<IntArrayRef>>("count_nonzero.dim_IntList", "cuda");
  m.impl<logsumexp>("logsumexp", "cuda");
  add_spread<variance_id, variance_fold>(m, "var");
  add_spread<deviation_id, deviation_fold>(m, "std");
  add_spread<variance_id, variance_fold, Tensor>(m, "var_mean");
  add_spread<deviation_id, deviation_fold, Tensor>(m, "std_mean");
}

}  // namespace cuda
