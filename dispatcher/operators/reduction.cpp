// Sums, means, products, truth, counts and norms. Kernels find `dim` as it was passed and the result allocated. The
// composites stand on sum, prod, amax and amin.
#include "dispatcher/operators/reduction.h"

#include <cmath>

namespace lamella::dispatcher {

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

lamella_status dims_of(lamella_frame* f, int arg, const Value& v, const Tensor* t, uint64_t* dims) {
  if (!given(v) || v.length == 0)
    *dims = all_dims(t);
  else
    return wrap_dims(f, arg, v, t->ndim(), dims);
  return LAMELLA_OK;
}

int64_t length_over(const Tensor* t, uint64_t dims) {
  int64_t n = 1;
  for (int d = 0; d < t->ndim(); d++)
    if (dims >> d & 1) n *= t->sizes()[d];
  return n;
}

lamella_status check_inexact(lamella_frame* f, const Tensor* t, const char* what) {
  if (core::dtype_class(t->dtype) >= LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": " + what + " needs a floating or complex dtype, got " +
                                          core::dtype_info(t->dtype).name + "; convert it with .to(lamella.float32)");
}

int64_t length_over(const Var& x, const Value& dim) {
  const Tensor* t = x.tensor();
  if (!t) return 1;
  if (!given(dim) || (dim.tag != LAMELLA_INT && dim.length == 0)) return t->numel;
  const int64_t* list = dim.tag == LAMELLA_INT ? &dim.as.i : dim.as.ints;
  int64_t n = 1;
  for (uint32_t i = 0; i < (dim.tag == LAMELLA_INT ? 1 : dim.length); i++) n *= x.size(static_cast<int>(list[i]));
  return t->ndim() ? n : 1;
}

Value dim_list(const Value& dim) {
  return dim.tag == LAMELLA_INT ? core::int_list(&dim.as.i, 1) : given(dim) ? dim : core::int_list(nullptr, 0);
}

Var sum_over(Compose& c, const Var& x, const Value& dim, bool keepdim) {
  return c.op<"sum.dim_IntList">(x, given(dim) ? dim_list(dim) : dim, keepdim);
}

Var mean_over(Compose& c, const Var& x, const Value& dim, bool keepdim) {
  return sum_over(c, x, dim, keepdim) / length_over(x, dim);
}

Var nan_in(Compose& c, const Var& x) { return c.op<"ne.Tensor">(x, x); }

namespace {

DType sum_dtype(const Tensor* t, const Value& dtype) {
  return dtype_or(dtype,
                  core::dtype_class(t->dtype) <= LAMELLA_CLASS_INTEGRAL ? static_cast<DType>(LAMELLA_INT64) : t->dtype);
}

lamella_status infer_sum(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  fresh(m, 0, nullptr, sum_dtype(t, a[1]));
  f->compute_dtype = m->dtype;
  return LAMELLA_OK;
}

lamella_status infer_sum_dims(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  if (lamella_status st = dims_of(f, 1, a[1], t, &dims)) return st;
  reduced(m, t, dims, a[2].as.i, sum_dtype(t, a[3]));
  f->compute_dtype = m->dtype;
  return LAMELLA_OK;
}

lamella_status mean_dtype(lamella_frame* f, const Tensor* t, const Value& dtype, DType* out) {
  *out = dtype_or(dtype, t->dtype);
  if (core::dtype_class(*out) >= LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a mean needs a floating or complex dtype, got " +
                                          core::dtype_info(*out).name + "; pass dtype=lamella.float32");
}

lamella_status infer_mean(lamella_frame* f, const Value* a, Meta* m) {
  DType dtype;
  if (lamella_status st = mean_dtype(f, tensor_arg(a[0]), a[1], &dtype)) return st;
  fresh(m, 0, nullptr, dtype);
  f->compute_dtype = dtype;
  return LAMELLA_OK;
}

lamella_status infer_mean_dims(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  DType dtype;
  if (lamella_status st = mean_dtype(f, t, a[3], &dtype)) return st;
  if (lamella_status st = dims_of(f, 1, a[1], t, &dims)) return st;
  reduced(m, t, dims, a[2].as.i, dtype);
  f->compute_dtype = dtype;
  return LAMELLA_OK;
}

lamella_status infer_prod_dim(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  reduced(m, t, t->ndim() ? uint64_t{1} << d : 0, a[2].as.i, sum_dtype(t, a[3]));
  f->compute_dtype = m->dtype;
  return LAMELLA_OK;
}

lamella_status infer_nansum(lamella_frame* f, const Value* a, Meta* m) {
  if (core::dtype_class(tensor_arg(a[0])->dtype) == LAMELLA_CLASS_COMPLEX)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": complex dtypes are not supported; pass a real tensor");
  return infer_sum_dims(f, a, m);
}

lamella_status infer_nanmean(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (core::dtype_class(dtype_or(a[3], t->dtype)) != LAMELLA_CLASS_FLOATING)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": a nanmean needs a floating dtype, got " +
                                            core::dtype_info(t->dtype).name + "; convert it with .to(lamella.float32)");
  return infer_mean_dims(f, a, m);
}

// Truth values are bool, but of uint8 they stay uint8, as in torch.
DType truth_dtype(const Tensor* t) { return t->dtype == LAMELLA_UINT8 ? LAMELLA_UINT8 : LAMELLA_BOOL; }

lamella_status infer_truth(lamella_frame*, const Value* a, Meta* m) {
  fresh(m, 0, nullptr, truth_dtype(tensor_arg(a[0])));
  return LAMELLA_OK;
}
lamella_status infer_truth_dim(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  reduced(m, t, t->ndim() ? uint64_t{1} << d : 0, a[2].as.i, truth_dtype(t));
  return LAMELLA_OK;
}
lamella_status infer_truth_dims(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  if (lamella_status st = dims_of(f, 1, a[1], t, &dims)) return st;
  reduced(m, t, dims, a[2].as.i, truth_dtype(t));
  return LAMELLA_OK;
}

lamella_status infer_count(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims = all_dims(t);
  if (a[1].tag == LAMELLA_INT) {
    int d;
    if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
    dims = t->ndim() ? uint64_t{1} << d : 0;
  } else if (lamella_status st = dims_of(f, 1, a[1], t, &dims)) {
    return st;
  }
  reduced(m, t, dims, false, LAMELLA_INT64);
  return LAMELLA_OK;
}

lamella_status infer_vector_norm(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  if (lamella_status st = check_inexact(f, t, "a norm")) return st;
  const DType dtype = dtype_or(a[4], t->dtype);
  if (core::dtype_class(dtype) < core::dtype_class(t->dtype))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 4) + ": " + core::dtype_info(dtype).name +
                                            " cannot hold elements of " + core::dtype_info(t->dtype).name);
  if (lamella_status st = dims_of(f, 2, a[2], t, &dims)) return st;
  const double p = a[1].tag == LAMELLA_FLOAT ? a[1].as.d : static_cast<double>(a[1].as.i);
  if (length_over(t, dims) == 0 && (p < 0 || std::isinf(p)))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": shape " + core::shape_string(t) +
                                            " has no element, and a norm of this order has no value for nothing");
  reduced(m, t, dims, a[3].as.i, real_of(dtype));
  f->compute_dtype = dtype;
  return LAMELLA_OK;
}

lamella_status infer_logsumexp(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  uint64_t dims;
  if (core::dtype_class(t->dtype) == LAMELLA_CLASS_COMPLEX)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": complex dtypes have no largest element; pass a real tensor");
  if (lamella_status st = dims_of(f, 1, a[1], t, &dims)) return st;
  reduced(m, t, dims, a[2].as.i,
          core::dtype_class(t->dtype) == LAMELLA_CLASS_FLOATING ? t->dtype : core::default_dtype());
  f->compute_dtype = m->dtype;
  return LAMELLA_OK;
}

// ---- composites -----------------------------------------------------------------------------------------------------

lamella_status sum_all(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"sum.dim_IntList">(a[0], Absent{}, false, a[1]));
}

lamella_status prod_all(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"prod.dim_int">(c.op<"reshape">(a[0], Ints{-1}), 0, false, a[1]));
}

lamella_status mean_of(lamella_frame* f, const Value& self, const Value& dim, bool keepdim, const Value& dtype,
                       Value* r) {
  Compose c(f);
  Var x = c.arg(self);
  const DType t = dtype_or(dtype, x.dtype());
  x = as(c, as(c, x, t), wide_of(t));
  return c.give(r, as(c, mean_over(c, x, dim, keepdim), t));
}
lamella_status mean_all(lamella_frame* f, const Value* a, Value* r) {
  return mean_of(f, a[0], core::none(), false, a[1], r);
}
lamella_status mean_dims(lamella_frame* f, const Value* a, Value* r) {
  return mean_of(f, a[0], a[1], a[2].as.i != 0, a[3], r);
}

lamella_status nansum(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  if (x.dtype_class() == LAMELLA_CLASS_FLOATING) x = c.op<"where.ScalarSelf">(nan_in(c, x), 0, x);
  return c.give(r, c.op<"sum.dim_IntList">(x, a[1], a[2], a[3]));
}

lamella_status nanmean(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  const DType t = dtype_or(a[3], x.dtype());
  x = as(c, x, wide_of(t));
  Var count = sum_over(c, c.op<"eq.Tensor">(x, x), a[1], a[2].as.i != 0);
  return c.give(r, as(c, c.op<"nansum">(x, a[1], a[2]) / count, t));
}

Var truth(Compose& c, const Value& self, const Value& dim, bool keepdim, bool any) {
  Var x = c.arg(self);
  if (any)
    return as(c, c.op<"ne.Scalar">(sum_over(c, c.op<"ne.Scalar">(x, 0), dim, keepdim), 0), truth_dtype(x.tensor()));
  return as(c, c.op<"eq.Scalar">(sum_over(c, c.op<"eq.Scalar">(x, 0), dim, keepdim), 0), truth_dtype(x.tensor()));
}
template <bool Any>
lamella_status truth_all(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, truth(c, a[0], core::none(), false, Any));
}
template <bool Any>
lamella_status truth_dims(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, truth(c, a[0], a[1], a[2].as.i != 0, Any));
}

lamella_status count_nonzero(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, sum_over(c, c.op<"ne.Scalar">(a[0], 0), a[1], false));
}

lamella_status vector_norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  const DType t = dtype_or(a[4], x.dtype());
  const double p = a[1].tag == LAMELLA_FLOAT ? a[1].as.d : static_cast<double>(a[1].as.i);
  const bool keepdim = a[3].as.i != 0;
  x = c.op<"abs">(as(c, as(c, x, t), wide_of(t)));
  Var n = c.nothing();
  if (std::isinf(p))
    n = p > 0 ? c.op<"amax">(x, dim_list(a[2]), keepdim) : c.op<"amin">(x, dim_list(a[2]), keepdim);
  else if (p == 0)
    n = sum_over(c, c.op<"ne.Scalar">(x, 0), a[2], keepdim);
  else if (p == 1)
    n = sum_over(c, x, a[2], keepdim);
  else if (p == 2)
    n = c.op<"sqrt">(sum_over(c, x * x, a[2], keepdim));
  else
    n = c.op<"pow.Tensor_Scalar">(sum_over(c, c.op<"pow.Tensor_Scalar">(x, p), a[2], keepdim), 1 / p);
  return c.give(r, as(c, n, real_of(t)));
}

lamella_status norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Value p = a[1];
  if (p.tag == LAMELLA_STRING) {
    if (std::string(p.as.string, p.length) != "fro")
      return raise(LAMELLA_RUNTIME_ERROR,
                   where(f, 1) + ": expected a number or 'fro', got '" + std::string(p.as.string, p.length) + "'");
    p = core::integer(2);
  }
  return c.give(r, c.op<"linalg_vector_norm">(a[0], given(p) ? p : core::integer(2), a[2], a[3], a[4]));
}

lamella_status logsumexp(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  const DType t = x.dtype_class() == LAMELLA_CLASS_FLOATING ? x.dtype() : core::default_dtype();
  const bool keepdim = a[2].as.i != 0;
  x = as(c, x, wide_of(t));
  if (length_over(x, a[1]) == 0)  // the logarithm of nothing, -inf
    return c.give(r, as(c, c.op<"log">(sum_over(c, x, a[1], keepdim)), t));
  auto finite = [&](const Var& v) {  // an infinite maximum is no reference: inf - inf
    return c.op<"where.ScalarSelf">(c.op<"eq.Scalar">(c.op<"abs">(v), INFINITY), 0, v);
  };
  Var top = c.op<"amax">(x, dim_list(a[1]), true);
  Var sum = sum_over(c, c.op<"exp">(x - finite(top)), a[1], keepdim);
  if (!keepdim) top = c.op<"amax">(x, dim_list(a[1]), false);
  return c.give(r, as(c, c.op<"log">(sum) + finite(top), t));
}

}  // namespace

const std::vector<Declaration>& reduction_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", "reduction", everywhere, infer_sum, sum_all,
       "The sum of all elements, or over dimensions; integers and bools give int64.\n\nFloats are added pairwise in a "
       "fixed order, whatever the number of threads.\n\n"
       ">>> lamella.sum(lamella.tensor([[1., 2.], [3., 4.]]), dim=0)\ntensor([4., 6.])\n"},
      {"sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       "reduction", everywhere | out, infer_sum_dims, nullptr, nullptr},
      {"mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", "reduction", everywhere, infer_mean, mean_all,
       "The arithmetic mean of all elements, or over dimensions.\n\nRaises:\n    RuntimeError: the dtype is neither "
       "floating nor complex\n\n>>> lamella.mean(lamella.tensor([1., 2., 6.]))\ntensor(3.)\n"},
      {"mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", "reduction",
       everywhere | out, infer_mean_dims, mean_dims, nullptr},
      {"prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", "reduction", everywhere, infer_sum, prod_all,
       "The product of all elements, or over a dimension; integers and bools give int64.\n\n"
       ">>> lamella.prod(lamella.tensor([[1., 2.], [3., 4.]]), dim=0)\ntensor([3., 8.])\n"},
      {"prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", "reduction",
       everywhere | out, infer_prod_dim, nullptr, nullptr},
      {"nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", "reduction",
       everywhere | out, infer_nansum, nansum,
       "The sum of what is not NaN.\n\n>>> lamella.nansum(lamella.tensor([1., float('nan'), 2.]))\ntensor(3.)\n"},
      {"nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", "reduction",
       everywhere | out, infer_nanmean, nanmean,
       "The mean of what is not NaN.\n\n>>> lamella.nanmean(lamella.tensor([1., float('nan'), 2.]))\ntensor(1.5000)\n"},
      {"any(Tensor self) -> Tensor", "reduction", everywhere | out, infer_truth, truth_all<true>,
       "Whether any element is not zero, among all or over dimensions; NaN counts.\n\n>>> "
       "lamella.any(lamella.tensor([[0, 1], [0, 0]]), dim=1)\ntensor([ True, False])\n"},
      {"any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "reduction", everywhere | out, infer_truth_dim,
       truth_dims<true>, nullptr},
      {"any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       infer_truth_dims, truth_dims<true>, nullptr},
      {"all(Tensor self) -> Tensor", "reduction", everywhere | out, infer_truth, truth_all<false>,
       "Whether no element is zero, among all or over dimensions; of nothing it is True.\n\n>>> "
       "lamella.all(lamella.tensor([[0, 1], [1, 1]]), dim=1)\ntensor([False,  True])\n"},
      {"all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "reduction", everywhere | out, infer_truth_dim,
       truth_dims<false>, nullptr},
      {"all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       infer_truth_dims, truth_dims<false>, nullptr},
      {"count_nonzero(Tensor self, int? dim=None) -> Tensor", "reduction", everywhere | out, infer_count, count_nonzero,
       "How many elements are not zero, among all or over dimensions.\n\n>>> lamella.count_nonzero(lamella.tensor([0, "
       "3, "
       "4]))\ntensor(2)\n"},
      {"count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", "reduction", everywhere | out, infer_count,
       count_nonzero, nullptr},
      {"linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
       "-> "
       "Tensor",
       "reduction", hidden | function | out, infer_vector_norm, vector_norm,
       "The norm of vectors: (sum |x|^ord)^(1/ord); the largest for inf, the smallest for -inf, how many are not zero "
       "for 0.\n\n>>> lamella.ops.aten.linalg_vector_norm(lamella.tensor([3., -4.]))\ntensor(5.)\n"},
      {"norm(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       "reduction", everywhere | out, nullptr, norm,
       "The norm of order `p` over all elements, or over dimensions; 'fro' is 2.\n\n>>> "
       "lamella.norm(lamella.tensor([3., "
       "-4.]))\ntensor(5.)\n"},
      {"norm.str(Tensor self, str p, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
       "reduction", everywhere, nullptr, norm, nullptr},
      {"logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", "reduction", everywhere | out,
       infer_logsumexp, logsumexp,
       "log(sum(exp(self))) over dimensions, without overflow.\n\n>>> lamella.logsumexp(lamella.tensor([1000., "
       "1000.]), "
       "0)\ntensor(1000.6932)\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
