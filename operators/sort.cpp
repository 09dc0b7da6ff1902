// Sorting. sort.stable is the primitive; the others are composites of it.
#include "operators/sort.h"

#include <cmath>

namespace lamella::operators {

void check_ordered(const char* name, const Tensor& t) {
  LAMELLA_CHECK(!t.is_complex(), argument(name), ": dtype ", t.dtype(), " has no order to sort by");
}

namespace {

// Values and their indices.
using Both = std::tuple<Tensor, Tensor>;

void set_both(IntArrayRef sizes, ScalarType t, Output& values, Output& indices) {
  values.set(sizes, t);
  indices.set(sizes, kLong);
  indices.exact();
}

}  // namespace

void set_picked(const Tensor& self, int64_t dim, bool keepdim, Output& values, Output& indices) {
  check_ordered("self", self);
  DimVector sizes;
  for (int64_t d = 0; d < self.dim(); d++)
    if (d != dim || keepdim) sizes.push_back(d == dim ? 1 : self.size(d));
  set_both(sizes, self.dtype(), values, indices);
}

namespace {

void infer_sort(const Tensor& self, int64_t dim, bool, Output values, Output indices) {
  check_ordered("self", self);
  wrap_dim("dim", dim, self.dim());
  set_both(self.sizes(), self.dtype(), values, indices);
}
void infer_sort_stable(const Tensor& self, std::optional<bool>, int64_t dim, bool descending, Output values,
                       Output indices) {
  infer_sort(self, dim, descending, values, indices);
}

Both sorted(const Tensor& self, int64_t dim, bool descending) { return self.sort(true, dim, descending); }

Both sort(const Tensor& self, int64_t dim, bool descending) { return sorted(self, dim, descending); }

Tensor argsort(const Tensor& self, int64_t dim, bool descending) { return std::get<1>(sorted(self, dim, descending)); }
Tensor argsort_stable(const Tensor& self, bool, int64_t dim, bool descending) {
  return std::get<1>(sorted(self, dim, descending));
}

Tensor msort(const Tensor& self) { return std::get<0>(sorted(self, 0, false)); }

void infer_topk(const Tensor& self, int64_t k, int64_t dim, bool, bool, Output values, Output indices) {
  check_ordered("self", self);
  const int64_t d = wrap_dim("dim", dim, self.dim()), n = self.dim() ? self.size(d) : 1;
  LAMELLA_CHECK(k >= 0 && k <= n, argument("k"), ": expected 0 to ", n, ", the size of dimension ", d, ", got ", k);
  DimVector sizes(self.sizes());
  if (self.dim()) sizes[d] = k;
  set_both(sizes, self.dtype(), values, indices);
}

Both topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/) {
  auto [values, indices] = sorted(self, dim, largest);
  for (Tensor* x : {&values, &indices})
    if (x->dim()) *x = slice(*x, dim, 0, k).contiguous();
  return {values, indices};
}

// Returns the values and indices at position i of the sorted order along a dimension.
Both ranked(const Both& both, int64_t dim, int64_t i, bool keepdim) {
  auto [values, indices] = both;
  for (Tensor* x : {&values, &indices}) {
    if (!x->dim()) continue;
    *x = x->select(dim, i);
    if (keepdim) *x = x->unsqueeze(dim);
    *x = x->clone();
  }
  return {values, indices};
}

int64_t length_along(const Tensor& t, int64_t dim) { return t.dim() ? t.size(dim) : 1; }

void infer_kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim, Output values, Output indices) {
  const int64_t d = wrap_dim("dim", dim, self.dim()), n = length_along(self, d);
  LAMELLA_CHECK(k >= 1 && k <= n, argument("k"), ": expected 1 to ", n, ", the size of dimension ", d, ", got ", k);
  set_picked(self, d, keepdim, values, indices);
}
Both kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  return ranked(sorted(self, dim, false), dim, k - 1, keepdim);
}

// Returns the lower of the two middle elements, or a NaN if there is one, and its index.
Both medians(const Tensor& self, int64_t dim, int64_t n, bool keepdim) {
  const Both both = sorted(self, dim, false);
  const auto [value, index] = ranked(both, dim, (n - 1) / 2, keepdim);
  if (!value.is_floating_point()) return {value, index};
  const auto [last, last_index] = ranked(both, dim, n - 1, keepdim);
  const Tensor nan = last != last;
  return {lamella::where(nan, last, value), lamella::where(nan, last_index, index)};
}

void infer_median(const Tensor& self, Output out) {
  check_ordered("self", self);
  LAMELLA_CHECK(self.numel() || self.is_floating_point(), argument("self"),
                ": an empty tensor of integers has no median, got shape ", shape_text(self));
  out.set({}, self.dtype());
}
Tensor median(const Tensor& self) {
  if (self.numel() == 0) return lamella::full({}, std::nan(""), self.options());
  return std::get<0>(medians(self.reshape(self.numel()), 0, self.numel(), false));
}

void infer_median_dim(const Tensor& self, int64_t dim, bool keepdim, Output values, Output indices) {
  const int64_t d = wrap_dim("dim", dim, self.dim());
  LAMELLA_CHECK_INDEX(length_along(self, d) != 0, argument("dim"), ": dimension ", d, " has no elements, got shape ",
                      shape_text(self));
  set_picked(self, d, keepdim, values, indices);
}
Both median_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return medians(self, dim, length_along(self, dim), keepdim);
}

}  // namespace

LAMELLA_FAMILY(sort, .category = "sort", .forms = everywhere | out, .dims = "keep") {
  return {
      {.schema = "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
       .infer = shape<infer_sort>,
       .composite = composite<sort>,
       .doc = R"(The elements in order along one dimension, and the indices they had. Equal ones keep their order;
NaN is larger than all.

>>> lamella.sort(lamella.tensor([3, 1, 2])).indices
tensor([1, 2, 0])
)"},
      {.schema = "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, "
                 "Tensor indices)",
       .infer = shape<infer_sort_stable>},
      {.schema = "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
       .forms = everywhere,
       .composite = composite<argsort>,
       .doc = R"(The indices that sort() gives.

>>> lamella.argsort(lamella.tensor([3, 1, 2]))
tensor([1, 2, 0])
)"},
      {.schema = "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
       .forms = everywhere,
       .composite = composite<argsort_stable>},
      {.schema = "msort(Tensor self) -> Tensor",
       .dims = "a~ ... -> a~ ...",
       .composite = composite<msort>,
       .doc = R"(The elements in order along the first dimension.

>>> lamella.msort(lamella.tensor([3, 1, 2]))
tensor([1, 2, 3])
)"},
      {.schema = "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, "
                 "Tensor indices)",
       .infer = shape<infer_topk>,
       .composite = composite<topk>,
       .doc = R"(The `k` largest elements along one dimension, or the smallest, in order, and their indices; of equal
ones the first.

Raises:
    RuntimeError: there are fewer than `k`

>>> lamella.topk(lamella.tensor([1, 5, 3]), 2).values
tensor([5, 3])
)"},
      {.schema = "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
       .dims = "reduce",
       .infer = shape<infer_kthvalue>,
       .composite = composite<kthvalue>,
       .doc = R"(The k-th smallest element along one dimension, counted from 1, and its index.

>>> lamella.kthvalue(lamella.tensor([3, 1, 2]), 2).values
tensor(2)
)"},
      {.schema = "median(Tensor self) -> Tensor",
       .dims = "reduce",
       .forms = everywhere,
       .infer = shape<infer_median>,
       .composite = composite<median>,
       .doc = R"(The middle element in order, the lower of two; along one dimension also its index. A NaN comes
before all.

>>> lamella.median(lamella.tensor([3, 1, 2, 9]))
tensor(2)
)"},
      {.schema = "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
       .dims = "reduce",
       .infer = shape<infer_median_dim>,
       .composite = composite<median_dim>},
  };
}

}  // namespace lamella::operators
