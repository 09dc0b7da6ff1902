// Unique elements, or slices along a dimension.
#include "operators/sort.h"

namespace lamella::operators {
namespace {

// The values, the group of each element or slice, and the sizes of the groups.
using Results = std::tuple<Tensor, Tensor, Tensor>;

void infer_unique(const Tensor& self, bool, bool, bool, Output values, Output inverse, Output counts) {
  for (Output* out : {&values, &inverse, &counts}) out->dynamic();
  check_ordered("self", self);
}
void infer_unique_dim(const Tensor& self, int64_t dim, bool sorted, bool return_inverse, bool return_counts,
                      Output values, Output inverse, Output counts) {
  wrap_dim("dim", dim, self.dim());
  infer_unique(self, sorted, return_inverse, return_counts, values, inverse, counts);
}

// The groups of a vector, or of a matrix's rows, whose equals are neighbours: the start of each group, the group of
// each row, and the sizes. The last two are empty unless they were requested.
struct Groups {
  Tensor starts, group, counts;
};

Groups grouped(const Tensor& x, bool inverse, bool counts) {
  const int64_t n = x.size(0);
  const TensorOptions options = x.options();
  const Tensor first = lamella::full(n, true, options.dtype(kBool));
  if (n > 1) {
    Tensor differ = slice(x, 0, 1) != slice(x, 0, 0, n - 1);
    if (differ.dim() == 2) differ = differ.any(1);
    slice(first, 0, 1).copy_(differ);
  }
  const Tensor at = first.nonzero().select(1, 0), none = slice(at, 0, 0, 0);
  Groups g{at, none, none};
  if (inverse) g.group = first.cumsum(0, kLong) - 1;
  if (counts) {
    const Tensor all = lamella::cat({at, lamella::full(1, n, options.dtype(kLong))});
    g.counts = slice(all, 0, 1) - slice(all, 0, 0, at.numel());
  }
  return g;
}

// Returns the group of each element at its place before the sort.
Tensor unordered(const Tensor& group, const Tensor& order) {
  return lamella::empty_like(order).scatter_(0, order, group);
}

Results unique(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  const auto [values, order] = self.reshape(self.numel()).sort(true, 0, false);
  Groups g = grouped(values, return_inverse, return_counts);
  if (return_inverse) g.group = unordered(g.group, order).reshape(self.sizes());
  return {values.index_select(0, g.starts), g.group, g.counts};
}

// Returns the slices along a dimension as the rows of a matrix.
Tensor slices(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return self.reshape({1, 1});
  const int64_t n = self.size(dim);
  return self.movedim(dim, 0).reshape({n, n ? self.numel() / n : 0}).contiguous();
}

Results unique_dim(const Tensor& self, int64_t dim, bool /*sorted*/, bool return_inverse, bool return_counts) {
  const Tensor rows = slices(self, dim);
  const Tensor order = lamella::_row_order(rows);
  Groups g = grouped(rows.index_select(0, order), return_inverse, return_counts);
  if (return_inverse) g.group = unordered(g.group, order);
  const Tensor taken = order.index_select(0, g.starts);
  return {self.index_select(dim, taken), g.group, g.counts};
}

void infer_row_order(const Tensor& self, Output out) {
  LAMELLA_CHECK(self.dim() == 2, argument("self"), ": expected a matrix, got shape ", shape_text(self));
  out.set(self.size(0), kLong);
  check_ordered("self", self);
}

// Returns the sorted order of the rows, by stable sorts by one column after another, the first column last.
Tensor row_order(const Tensor& self) {
  Tensor order = lamella::arange(0, self.size(0), 1, self.options().dtype(kLong));
  for (int64_t k = self.size(1) - 1; k >= 0; k--) {
    const Tensor column = self.select(1, k).index_select(0, order);
    order = order.index_select(0, std::get<1>(column.sort(true, -1, false)));
  }
  return order;
}

Results unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  if (dim) wrap_dim("dim", *dim, self.dim());
  const Tensor x = dim ? slices(self, *dim) : self.reshape(self.numel());
  Groups g = grouped(x, return_inverse, return_counts);
  if (!dim && return_inverse) g.group = g.group.reshape(self.sizes());
  const Tensor values = dim ? self.index_select(*dim, g.starts) : x.index_select(0, g.starts);
  return {values, g.group, g.counts};
}

}  // namespace

LAMELLA_FAMILY(unique, .category = "sort", .forms = hidden | function) {
  return {
      {.schema = "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
                 "(Tensor, Tensor, Tensor)",
       .infer = shape<infer_unique>,
       .composite = composite<unique>,
       .doc = "The different elements in order, where each element of `self` went, and how many there were of each; "
              "what was not asked for is empty."},
      {.schema = "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
                 "return_counts=False) -> (Tensor, Tensor, Tensor)",
       .forms = function,
       .infer = shape<infer_unique_dim>,
       .composite = composite<unique_dim>,
       .doc = R"(The different slices along a dimension, in the order of their first elements, where each slice went,
and how many there were of each; what was not asked for is empty.

>>> lamella.unique_dim(lamella.tensor([[3, 1], [0, 2], [3, 1]]), 0)[0]
tensor([[0, 2],
        [3, 1]])
)"},
      {.schema = "_row_order(Tensor self) -> Tensor",
       .infer = shape<infer_row_order>,
       .composite = composite<row_order>,
       .doc = "The indices that put a matrix's rows in the order of their first elements, then their second; equal "
              "rows keep their order."},
      {.schema = "_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) "
                 "-> (Tensor, Tensor, Tensor)",
       .composite = composite<unique_consecutive>,
       .doc = "Of each run of equal elements, or slices along a dimension, one, the run of each element, and the runs' "
              "lengths; what was not asked for is empty."},
  };
}

}  // namespace lamella::operators
