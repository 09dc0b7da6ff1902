// Sums, means, products, truth, counts and norms. Kernels get `dim` as it was passed, and the result allocated. The
// composites call sum, prod, amax and amin.
#include "operators/reduction.h"

#include <cmath>

namespace lamella::operators {

void reduced(Output& out, const Tensor& t, uint64_t dims, bool keepdim, ScalarType dtype) {
  DimVector sizes;
  for (int64_t d = 0; d < t.dim(); d++) {
    if (!(dims >> d & 1))
      sizes.push_back(t.size(d));
    else if (keepdim)
      sizes.push_back(1);
  }
  out.set(sizes, dtype);
}

uint64_t dims_of(const Tensor& t, const OptionalIntArrayRef& dim) {
  if (dim.has_value() && !(*dim).empty()) return wrap_dims("dim", *dim, t.dim());
  return t.dim() == 64 ? ~uint64_t{0} : (uint64_t{1} << t.dim()) - 1;
}

int64_t length_over(const Tensor& t, uint64_t dims) {
  int64_t n = 1;
  for (int64_t d = 0; d < t.dim(); d++)
    if (dims >> d & 1) n *= t.size(d);
  return n;
}

void check_inexact(const Tensor& self, const char* what) {
  LAMELLA_CHECK(self.is_floating_point() || self.is_complex(), argument("self"), ": ", what,
                " needs a floating or complex dtype, got ", self.dtype(), "; convert it with .to(lamella.float32)");
}

Tensor mean_over(const Tensor& x, const OptionalIntArrayRef& dim, bool keepdim) {
  return x.sum(dim, keepdim) / length_over(x, dims_of(x, dim));
}

namespace {

ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.value_or(is_integral(self.dtype(), true) ? kLong : self.dtype());
}

void infer_sum(const Tensor& self, std::optional<ScalarType> dtype, Output out) { out.set({}, sum_dtype(self, dtype)); }

void infer_sum_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype,
                    Output out) {
  reduced(out, self, dims_of(self, dim), keepdim, sum_dtype(self, dtype));
}

ScalarType mean_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  LAMELLA_CHECK(is_floating_point(t) || is_complex(t), argument(dtype ? "dtype" : "self"),
                ": a mean needs a floating or complex dtype, got ", t, "; pass dtype=lamella.float32");
  return t;
}

void infer_mean(const Tensor& self, std::optional<ScalarType> dtype, Output out) {
  out.set({}, mean_dtype(self, dtype));
}

void infer_mean_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype,
                     Output out) {
  const ScalarType t = mean_dtype(self, dtype);
  reduced(out, self, dims_of(self, dim), keepdim, t);
}

void infer_prod_dim(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype, Output out) {
  reduced(out, self, dims_of(self, dim), keepdim, sum_dtype(self, dtype));
}

void infer_nansum(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype,
                  Output out) {
  LAMELLA_CHECK(!self.is_complex(), argument("self"), ": complex dtypes are not supported, got ", self.dtype());
  infer_sum_dims(self, dim, keepdim, dtype, out);
}

void infer_nanmean(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype,
                   Output out) {
  LAMELLA_CHECK(is_floating_point(dtype.value_or(self.dtype())), argument(dtype ? "dtype" : "self"),
                ": a mean needs a floating dtype, got ", dtype.value_or(self.dtype()), "; pass dtype=lamella.float32");
  infer_mean_dims(self, dim, keepdim, dtype, out);
}

// Truth values are bool, except that those of uint8 are uint8, as in torch.
ScalarType truth_dtype(const Tensor& self) { return self.dtype() == kByte ? kByte : kBool; }

void infer_truth(const Tensor& self, Output out) { out.set({}, truth_dtype(self)); }
template <class Dim>
void infer_truth_over(const Tensor& self, Dim dim, bool keepdim, Output out) {
  reduced(out, self, dims_of(self, dim), keepdim, truth_dtype(self));
}

void infer_count(const Tensor& self, std::optional<int64_t> dim, Output out) {
  reduced(out, self, dims_of(self, one_or_all(dim)), false, kLong);
  out.exact();
}
void infer_count_dims(const Tensor& self, IntArrayRef dim, Output out) {
  reduced(out, self, dims_of(self, dim), false, kLong);
  out.exact();
}

void infer_vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntArrayRef> dim, bool keepdim,
                       std::optional<ScalarType> dtype, Output out) {
  check_inexact(self, "a norm");
  const ScalarType t = dtype.value_or(self.dtype());
  LAMELLA_CHECK(is_complex(t) || (is_floating_point(t) && !self.is_complex()), argument("dtype"), ": ", t,
                " cannot hold elements of ", self.dtype());
  const uint64_t dims = dims_of(self, dim);
  const double p = as_double(ord.value());
  LAMELLA_CHECK(length_over(self, dims) != 0 || (!(p < 0) && !std::isinf(p)), argument("self"), ": shape ",
                shape_text(self), " has no element, and the norm of order ", p, " needs one");
  reduced(out, self, dims, keepdim, real_of(t));
  out.compute_in(t);
}

void infer_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim, Output out) {
  LAMELLA_CHECK(!self.is_complex(), argument("self"), ": complex dtypes have no largest element, got ", self.dtype());
  reduced(out, self, dims_of(self, dim), keepdim, self.is_floating_point() ? self.dtype() : default_dtype());
}

// ---- composites -----------------------------------------------------------------------------------------------------

Tensor sum_all(const Tensor& self, std::optional<ScalarType> dtype) { return self.sum(nullopt, false, dtype); }

Tensor prod_all(const Tensor& self, std::optional<ScalarType> dtype) {
  return self.reshape({-1}).prod(0, false, dtype);
}

Tensor mean_dims(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  return as(mean_over(as(as(self, t), wide_of(t)), dim, keepdim), t);
}
Tensor mean_all(const Tensor& self, std::optional<ScalarType> dtype) { return mean_dims(self, nullopt, false, dtype); }

Tensor nansum(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype) {
  Tensor x = self;
  if (x.is_floating_point()) x = lamella::where(nan_in(x), 0, x);
  return x.sum(dim, keepdim, dtype);
}

Tensor nanmean(const Tensor& self, std::optional<IntArrayRef> dim, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  const Tensor x = as(self, wide_of(t)), count = x.eq(x).sum(dim, keepdim);
  return as(x.nansum(dim, keepdim) / count, t);
}

template <bool Any>
Tensor truth(const Tensor& self, const OptionalIntArrayRef& dim, bool keepdim) {
  if (Any) return as(self.ne(0).sum(dim, keepdim).ne(0), truth_dtype(self));
  return as(self.eq(0).sum(dim, keepdim).eq(0), truth_dtype(self));
}
template <bool Any>
Tensor truth_all(const Tensor& self) {
  return truth<Any>(self, nullopt, false);
}
template <bool Any, class Dim>
Tensor truth_over(const Tensor& self, Dim dim, bool keepdim) {
  return truth<Any>(self, dim, keepdim);
}

Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) { return self.ne(0).sum(one_or_all(dim), false); }
Tensor count_nonzero_dims(const Tensor& self, IntArrayRef dim) { return self.ne(0).sum(dim, false); }

Tensor vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntArrayRef> dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  const double p = as_double(ord.value());
  const IntArrayRef dims = dim.value_or(IntArrayRef());
  const Tensor x = as(as(self, t), wide_of(t)).abs();
  Tensor n;
  if (std::isinf(p))
    n = p > 0 ? x.amax(dims, keepdim) : x.amin(dims, keepdim);
  else if (p == 0)
    n = x.ne(0).sum(dim, keepdim);
  else if (p == 1)
    n = x.sum(dim, keepdim);
  else if (p == 2)
    n = (x * x).sum(dim, keepdim).sqrt();
  else
    n = x.pow(p).sum(dim, keepdim).pow(1 / p);
  return as(n, real_of(t));
}

Tensor norm(const Tensor& self, const std::optional<Scalar>& p, std::optional<IntArrayRef> dim, bool keepdim,
            std::optional<ScalarType> dtype) {
  return linalg_vector_norm(self, p.value_or(2), dim, keepdim, dtype);
}
Tensor named_norm(const Tensor& self, std::string_view p, std::optional<IntArrayRef> dim, bool keepdim,
                  std::optional<ScalarType> dtype) {
  if (p == "nuc") {
    const IntArrayRef given = dim.value_or(IntArrayRef());
    LAMELLA_CHECK(given.size() == 2 || (given.empty() && self.dim() == 2), argument("dim"),
                  ": the norm 'nuc' is that of matrices and takes two dimensions, got ", given.size(), " for shape ",
                  shape_text(self));
    return linalg_matrix_norm(self, p, given.empty() ? IntArrayRef{0, 1} : given, keepdim, dtype);
  }
  LAMELLA_CHECK(p == "fro", argument("p"), ": expected a number, 'fro' or 'nuc', got '", p, "'");
  return linalg_vector_norm(self, 2, dim, keepdim, dtype);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return linalg_vector_norm(self - other, p, std::nullopt, false, std::nullopt);
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const ScalarType t = self.is_floating_point() ? self.dtype() : default_dtype();
  const Tensor x = as(self, wide_of(t));
  if (length_over(x, dims_of(x, dim)) == 0)  // the logarithm of nothing, -inf
    return as(x.sum(dim, keepdim).log(), t);
  const auto finite = [](const Tensor& v) {  // an infinite maximum is not subtracted: inf - inf is NaN
    return lamella::where(v.abs().eq(INFINITY), 0, v);
  };
  Tensor top = x.amax(dim, true);
  const Tensor sum = (x - finite(top)).exp().sum(dim, keepdim);
  if (!keepdim) top = x.amax(dim, false);
  return as(sum.log() + finite(top), t);
}

}  // namespace

LAMELLA_FAMILY(reduction, .category = "reduction", .forms = everywhere | out, .dims = "reduce") {
  return {
      {.schema = "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
       .forms = everywhere,
       .infer = shape<infer_sum>,
       .composite = composite<sum_all>,
       .doc = R"(The sum of all elements, or over dimensions; integers and bools give int64.

Floats are added pairwise in a fixed order, whatever the number of threads.

>>> lamella.sum(lamella.tensor([[1., 2.], [3., 4.]]), dim=0)
tensor([4., 6.])
)"},
      {.schema = "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       .infer = shape<infer_sum_dims>},
      {.schema = "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
       .forms = everywhere,
       .infer = shape<infer_mean>,
       .composite = composite<mean_all>,
       .doc = R"(The arithmetic mean of all elements, or over dimensions.

Raises:
    RuntimeError: the dtype is neither floating nor complex

>>> lamella.mean(lamella.tensor([1., 2., 6.]))
tensor(3.)
)"},
      {.schema = "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       .infer = shape<infer_mean_dims>,
       .composite = composite<mean_dims>},
      {.schema = "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
       .forms = everywhere,
       .infer = shape<infer_sum>,
       .composite = composite<prod_all>,
       .doc = R"(The product of all elements, or over a dimension; integers and bools give int64.

>>> lamella.prod(lamella.tensor([[1., 2.], [3., 4.]]), dim=0)
tensor([3., 8.])
)"},
      {.schema = "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       .infer = shape<infer_prod_dim>},
      {.schema = "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       .infer = shape<infer_nansum>,
       .composite = composite<nansum>,
       .doc = R"(The sum of what is not NaN.

>>> lamella.nansum(lamella.tensor([1., float('nan'), 2.]))
tensor(3.)
)"},
      {.schema = "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       .infer = shape<infer_nanmean>,
       .composite = composite<nanmean>,
       .doc = R"(The mean of what is not NaN.

>>> lamella.nanmean(lamella.tensor([1., float('nan'), 2.]))
tensor(1.5000)
)"},
      {.schema = "any(Tensor self) -> Tensor",
       .infer = shape<infer_truth>,
       .composite = composite<truth_all<true>>,
       .doc = R"(Whether any element is not zero, among all or over dimensions; NaN counts.

>>> lamella.any(lamella.tensor([[0, 1], [0, 0]]), dim=1)
tensor([ True, False])
)"},
      {.schema = "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
       .infer = shape<infer_truth_over<int64_t>>,
       .composite = composite<truth_over<true, int64_t>>},
      {.schema = "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
       .infer = shape<infer_truth_over<std::optional<IntArrayRef>>>,
       .composite = composite<truth_over<true, std::optional<IntArrayRef>>>},
      {.schema = "all(Tensor self) -> Tensor",
       .infer = shape<infer_truth>,
       .composite = composite<truth_all<false>>,
       .doc = R"(Whether no element is zero, among all or over dimensions; of nothing it is True.

>>> lamella.all(lamella.tensor([[0, 1], [1, 1]]), dim=1)
tensor([False,  True])
)"},
      {.schema = "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
       .infer = shape<infer_truth_over<int64_t>>,
       .composite = composite<truth_over<false, int64_t>>},
      {.schema = "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
       .infer = shape<infer_truth_over<std::optional<IntArrayRef>>>,
       .composite = composite<truth_over<false, std::optional<IntArrayRef>>>},
      {.schema = "count_nonzero(Tensor self, int? dim=None) -> Tensor",
       .infer = shape<infer_count>,
       .composite = composite<count_nonzero>,
       .doc = R"(How many elements are not zero, among all or over dimensions.

>>> lamella.count_nonzero(lamella.tensor([0, 3, 4]))
tensor(2)
)"},
      {.schema = "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
       .infer = shape<infer_count_dims>,
       .composite = composite<count_nonzero_dims>},
      {.schema = "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
                 "dtype=None) -> Tensor",
       .forms = function | out,
       .infer = shape<infer_vector_norm>,
       .composite = composite<vector_norm>,
       .doc = R"(The norm of vectors: (sum |x|^ord)^(1/ord); the largest for inf, the smallest for -inf, how many are
not zero for 0.

>>> lamella.linalg.vector_norm(lamella.tensor([3., -4.]))
tensor(5.)
)",
       .module = "linalg"},
      {.schema = "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
       .forms = everywhere,
       .composite = composite<dist>,
       .doc = R"(The norm of order `p` of the difference of two tensors, which broadcast.

>>> lamella.dist(lamella.tensor([3., 0.]), lamella.tensor([0., 4.]))
tensor(5.)
)"},
      {.schema =
           "norm(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       .composite = composite<norm>,
       .doc = R"(The norm of order `p` over all elements, or over dimensions; 'fro' is 2, and 'nuc' the sum of a
matrix's singular values.

>>> lamella.norm(lamella.tensor([3., -4.]))
tensor(5.)
)"},
      {.schema =
           "norm.str(Tensor self, str p, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       .forms = everywhere,
       .composite = composite<named_norm>},
      {.schema = "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
       .infer = shape<infer_logsumexp>,
       .composite = composite<logsumexp>,
       .doc = R"(log(sum(exp(self))) over dimensions, without overflow.

>>> lamella.logsumexp(lamella.tensor([1000., 1000.]), 0)
tensor(1000.6932)
)"},
  };
}

}  // namespace lamella::operators
