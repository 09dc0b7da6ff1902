// Sorting. sort.stable is the primitive.
#include <cmath>

#include "dispatcher/operators/sort.h"

namespace lamella::dispatcher {

lamella_status check_ordered(lamella_frame* f, const Tensor* self) {
  if (core::dtype_class(self->dtype) != LAMELLA_CLASS_COMPLEX) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               where(f, 0) + ": dtype " + core::dtype_info(self->dtype).name + " has no order to sort by");
}

namespace {

lamella_status infer_sort_along(lamella_frame* f, const Value* a, int dim_arg, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  int dim;
  if (lamella_status st = check_ordered(f, self)) return st;
  if (lamella_status st = wrap_dim(f, dim_arg, a[dim_arg].as.i, self->ndim(), &dim)) return st;
  fresh(m, self->ndim(), self->sizes(), self->dtype);
  fresh(m + 1, self->ndim(), self->sizes(), LAMELLA_INT64);
  return LAMELLA_OK;
}

// self, *, stable, dim, descending
lamella_status infer_sort_stable(lamella_frame* f, const Value* a, Meta* m) { return infer_sort_along(f, a, 2, m); }
// self, dim, descending
lamella_status infer_sort(lamella_frame* f, const Value* a, Meta* m) { return infer_sort_along(f, a, 1, m); }

std::array<Var, 2> sorted(Compose& c, const Value& self, const Value& dim, bool descending) {
  return c.ops<"sort.stable", 2>(self, true, dim, descending);
}

lamella_status sort(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, sorted(c, a[0], a[1], a[2].as.i != 0));
}

lamella_status argsort(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, sorted(c, a[0], a[1], a[2].as.i != 0)[1]);
}
// self, *, stable, dim, descending
lamella_status argsort_stable(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, sorted(c, a[0], a[2], a[3].as.i != 0)[1]);
}

lamella_status msort(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, sorted(c, a[0], core::integer(0), false)[0]);
}

// self, k, dim, largest, sorted
lamella_status infer_topk(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = infer_sort_along(f, a, 2, m)) return st;
  const Tensor* self = tensor_arg(a[0]);
  int dim;
  wrap_dim(f, 2, a[2].as.i, self->ndim(), &dim);
  const int64_t n = self->ndim() ? self->sizes()[dim] : 1, k = a[1].as.i;
  if (k < 0 || k > n)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: %lld of the %lld elements along dimension %d", where(f, 1).c_str(),
                                               (long long)k, (long long)n, dim));
  if (self->ndim()) m[0].sizes[dim] = m[1].sizes[dim] = k;
  return LAMELLA_OK;
}

lamella_status topk(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  auto both = sorted(c, a[0], a[2], a[3].as.i != 0);
  for (Var& x : both)
    if (x.dim()) x = c.op<"contiguous">(c.op<"slice.Tensor">(x, a[2], 0, a[1]));
  return c.give(r, std::move(both));
}

// Position i of the sorted order along a dimension, values and indices.
std::array<Var, 2> ranked(Compose& c, const std::array<Var, 2>& both, const Value& dim, int64_t i, bool keepdim) {
  std::array<Var, 2> got{both[0], both[1]};
  for (Var& x : got) {
    if (!x.dim()) continue;
    x = c.op<"select.int">(x, dim, i);
    if (keepdim) x = c.op<"unsqueeze">(x, dim);
    x = c.op<"clone">(x);
  }
  return got;
}

int64_t length_along(const Tensor* t, int64_t dim) {
  return t->ndim() ? t->sizes()[dim < 0 ? dim + t->ndim() : dim] : 1;
}

// Values and indices of one element along a dimension.
lamella_status infer_picked(lamella_frame* f, const Tensor* self, int dim, bool keepdim, Meta* m) {
  if (lamella_status st = check_ordered(f, self)) return st;
  int64_t sizes[LAMELLA_MAX_DIMS];
  int n = 0;
  for (int d = 0; d < self->ndim(); d++)
    if (d != dim || keepdim) sizes[n++] = d == dim ? 1 : self->sizes()[d];
  fresh(m, n, sizes, self->dtype);
  fresh(m + 1, n, sizes, LAMELLA_INT64);
  return LAMELLA_OK;
}

// self, k, dim, keepdim
lamella_status infer_kthvalue(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  int dim;
  if (lamella_status st = wrap_dim(f, 2, a[2].as.i, self->ndim(), &dim)) return st;
  const int64_t n = length_along(self, dim), k = a[1].as.i;
  if (k < 1 || k > n)
    return raise(LAMELLA_RUNTIME_ERROR, format("%s: the %lldth of %lld elements along dimension %d; it takes 1 to %lld",
                                               where(f, 1).c_str(), (long long)k, (long long)n, dim, (long long)n));
  return infer_picked(f, self, dim, a[3].as.i != 0, m);
}
lamella_status kthvalue(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, ranked(c, sorted(c, a[0], a[2], false), a[2], a[1].as.i - 1, a[3].as.i != 0));
}

// The lower of two middle elements; a NaN where there is one.
std::array<Var, 2> medians(Compose& c, const Value& self, const Value& dim, int64_t n, bool keepdim) {
  auto both = sorted(c, self, dim, false);
  auto middle = ranked(c, both, dim, (n - 1) / 2, keepdim);
  if (c.status() || both[0].dtype_class() != LAMELLA_CLASS_FLOATING) return middle;
  auto last = ranked(c, both, dim, n - 1, keepdim);
  Var nan = c.op<"ne.Tensor">(last[0], last[0]);
  return {c.op<"where.self">(nan, last[0], middle[0]), c.op<"where.self">(nan, last[1], middle[1])};
}

lamella_status infer_median(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  fresh(m, 0, nullptr, self->dtype);
  if (lamella_status st = check_ordered(f, self)) return st;
  if (self->numel || core::dtype_class(self->dtype) == LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": an empty tensor of integers has no median");
}
lamella_status median(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  if (self->numel == 0) return c.give(r, c.op<"full">(Ints{}, std::nan(""), As{self->dtype}, Absent{}, self->device()));
  Var all = c.op<"reshape">(a[0], Ints{self->numel});
  if (c.status()) return c.status();
  return c.give(r, medians(c, all.value(), core::integer(0), self->numel, false)[0]);
}

// self, dim, keepdim
lamella_status infer_median_dim(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  int dim;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, self->ndim(), &dim)) return st;
  if (length_along(self, dim) == 0) return raise(LAMELLA_INDEX_ERROR, where(f, 1) + ": no elements along it");
  return infer_picked(f, self, dim, a[2].as.i != 0, m);
}
lamella_status median_dim(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, medians(c, a[0], a[1], length_along(tensor_arg(a[0]), a[1].as.i), a[2].as.i != 0));
}

}  // namespace

const std::vector<Declaration>& sort_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", "sort",
       everywhere | out, infer_sort, sort,
       "The elements in order along one dimension, and the indices they had. Equal ones keep their order; NaN is "
       "larger "
       "than all.\n\n>>> lamella.sort(lamella.tensor([3, 1, 2])).indices\ntensor([1, 2, 0])\n"},
      {"sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
       "indices)",
       "sort", everywhere | out, infer_sort_stable, nullptr, nullptr},
      {"argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", "sort", everywhere, nullptr, argsort,
       "The indices that sort() gives.\n\n>>> lamella.argsort(lamella.tensor([3, 1, 2]))\ntensor([1, 2, 0])\n"},
      {"argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor", "sort", everywhere,
       nullptr, argsort_stable, nullptr},
      {"msort(Tensor self) -> Tensor", "sort", everywhere | out, nullptr, msort,
       "The elements in order along the first dimension.\n\n>>> lamella.msort(lamella.tensor([3, 1, 2]))\n"
       "tensor([1, 2, 3])\n"},
      {"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor "
       "indices)",
       "sort", everywhere | out, infer_topk, topk,
       "The `k` largest elements along one dimension, or the smallest, in order, and their indices; of equal ones the "
       "first.\n\nRaises:\n    RuntimeError: there are fewer than `k`\n\n>>> lamella.topk(lamella.tensor([1, 5, 3]), "
       "2).values\ntensor([5, 3])\n"},
      {"kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", "sort",
       everywhere | out, infer_kthvalue, kthvalue,
       "The k-th smallest element along one dimension, counted from 1, and its index.\n\n>>> "
       "lamella.kthvalue(lamella.tensor([3, 1, 2]), 2).values\ntensor(2)\n"},
      {"median(Tensor self) -> Tensor", "sort", everywhere, infer_median, median,
       "The middle element in order, the lower of two; along one dimension also its index. A NaN comes before all.\n\n"
       ">>> lamella.median(lamella.tensor([3, 1, 2, 9]))\ntensor(2)\n"},
      {"median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "sort",
       everywhere | out, infer_median_dim, median_dim, nullptr},
  };
  return *table;
}

}  // namespace lamella::dispatcher
