// What is different: elements, or slices along a dimension, once each.
#include "dispatcher/operators/sort.h"

namespace lamella::dispatcher {
namespace {

lamella_status infer_unique(lamella_frame* f, const Value* a, Meta* m) {
  for (int i = 0; i < 3; i++) m[i].kind = LAMELLA_META_DYNAMIC;
  return check_ordered(f, tensor_arg(a[0]));
}
lamella_status infer_unique_dim(lamella_frame* f, const Value* a, Meta* m) {
  int dim;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, tensor_arg(a[0])->ndim(), &dim)) return st;
  return infer_unique(f, a, m);
}

// Of a vector, or a matrix's rows, whose equals are neighbours: where each group starts, the group of each, and the
// groups' sizes. What was not asked for is empty.
struct Groups {
  Var starts, group, counts;
};

Groups grouped(Compose& c, const Var& x, bool inverse, bool counts) {
  const int64_t n = x.size(0);
  const lamella_device device = x.tensor() ? x.tensor()->device() : lamella_device{};
  Var first = c.op<"full">(Ints{n}, true, As{LAMELLA_BOOL}, Absent{}, device);
  if (n > 1) {
    Var differ = c.op<"ne.Tensor">(c.op<"slice.Tensor">(x, 0, 1), c.op<"slice.Tensor">(x, 0, 0, n - 1));
    if (differ.dim() == 2) differ = c.op<"any.dim">(differ, 1);
    c.op<"copy_">(c.op<"slice.Tensor">(first, 0, 1), differ);
  }
  Var at = c.op<"select.int">(c.op<"nonzero">(first), 1, 0);
  Var none = c.op<"slice.Tensor">(at, 0, 0, 0);
  Groups g{at, none, none};
  if (inverse) g.group = c.op<"cumsum">(first, 0, As{LAMELLA_INT64}) - 1;
  if (counts) {
    Var all = c.op<"cat">(c.list({at, c.op<"full">(Ints{1}, n, As{LAMELLA_INT64}, Absent{}, device)}));
    g.counts = c.op<"slice.Tensor">(all, 0, 1) - c.op<"slice.Tensor">(all, 0, 0, at.numel());
  }
  return g;
}

// Groups of what was put in order, for the places that it had.
Var unordered(Compose& c, const Var& group, const Var& order) {
  return c.op<"scatter_.src">(c.op<"empty_like">(order), 0, order, group);
}

// self, sorted, return_inverse, return_counts
lamella_status unique(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  const bool inverse = a[2].as.i != 0;
  auto [values, order] = c.ops<"sort.stable", 2>(c.op<"reshape">(a[0], Ints{self->numel}), true, 0, false);
  if (c.status()) return c.status();
  Groups g = grouped(c, values, inverse, a[3].as.i != 0);
  if (inverse) g.group = c.op<"reshape">(unordered(c, g.group, order), Ints(self->sizes(), self->ndim()));
  return c.give(r, std::array<Var, 3>{c.op<"index_select">(values, 0, g.starts), g.group, g.counts});
}

// The slices along a dimension as a matrix's rows.
Var slices(Compose& c, const Value& self, const Value& dim) {
  const Tensor* t = tensor_arg(self);
  if (t->ndim() == 0) return c.op<"reshape">(self, Ints{1, 1});
  int64_t n = t->sizes()[dim.as.i < 0 ? dim.as.i + t->ndim() : dim.as.i], width = 1;
  for (int d = 0; d < t->ndim(); d++) width *= t->sizes()[d];
  return c.op<"contiguous">(c.op<"reshape">(c.op<"movedim.int">(self, dim, 0), Ints{n, n ? width / n : 0}));
}

// self, dim, sorted, return_inverse, return_counts
lamella_status unique_dim(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const bool inverse = a[3].as.i != 0;
  Var rows = slices(c, a[0], a[1]);
  Var order = c.op<"_row_order">(rows);
  Groups g = grouped(c, c.op<"index_select">(rows, 0, order), inverse, a[4].as.i != 0);
  if (inverse) g.group = unordered(c, g.group, order);
  Var taken = c.op<"index_select">(order, 0, g.starts);
  return c.give(r, std::array<Var, 3>{c.op<"index_select">(a[0], a[1], taken), g.group, g.counts});
}

lamella_status infer_row_order(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  if (self->ndim() != 2)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected a matrix, got shape " + core::shape_string(self));
  fresh(m, 1, self->sizes(), LAMELLA_INT64);
  return check_ordered(f, self);
}

// Stable sorts by one column after another, the first one last.
lamella_status row_order(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  Var order = c.op<"arange.start_step">(0, self->sizes()[0], 1, As{LAMELLA_INT64}, Absent{}, self->device());
  for (int64_t k = self->sizes()[1] - 1; k >= 0; k--) {
    Var column = c.op<"index_select">(c.op<"select.int">(a[0], 1, k), 0, order);
    order = c.op<"index_select">(order, 0, c.ops<"sort.stable", 2>(column, true)[1]);
  }
  return c.give(r, order);
}

// self, return_inverse, return_counts, dim
lamella_status unique_consecutive(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* self = tensor_arg(a[0]);
  const bool inverse = a[1].as.i != 0, whole = !given(a[3]);
  int dim;
  if (!whole)
    if (lamella_status st = wrap_dim(f, 3, a[3].as.i, self->ndim(), &dim)) return st;
  Var x = whole ? c.op<"reshape">(a[0], Ints{self->numel}) : slices(c, a[0], a[3]);
  Groups g = grouped(c, x, inverse, a[2].as.i != 0);
  if (whole && inverse) g.group = c.op<"reshape">(g.group, Ints(self->sizes(), self->ndim()));
  Var values = whole ? c.op<"index_select">(x, 0, g.starts) : c.op<"index_select">(a[0], a[3], g.starts);
  return c.give(r, std::array<Var, 3>{values, g.group, g.counts});
}

}  // namespace

const std::vector<Declaration>& unique_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
       "Tensor, Tensor)",
       "sort", hidden | function, infer_unique, unique,
       "The different elements in order, where each element of `self` went, and how many there were of each; what was "
       "not asked for is empty."},
      {"unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
       "(Tensor, Tensor, Tensor)",
       "sort", function, infer_unique_dim, unique_dim,
       "The different slices along a dimension, in the order of their first elements, where each slice went, and how "
       "many there were of each; what was not asked for is empty.\n\n>>> lamella.unique_dim(lamella.tensor([[3, 1], "
       "[0, "
       "2], [3, 1]]), 0)[0]\ntensor([[0, 2],\n        [3, 1]])\n"},
      {"_row_order(Tensor self) -> Tensor", "sort", hidden | function, infer_row_order, row_order,
       "The indices that put a matrix's rows in the order of their first elements, then their second; equal rows keep "
       "their order."},
      {"_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> "
       "(Tensor, Tensor, Tensor)",
       "sort", hidden | function, nullptr, unique_consecutive,
       "Of each run of equal elements, or slices along a dimension, one, the run of each element, and the runs' "
       "lengths; what was not asked for is "
       "empty."},
  };
  return *table;
}

}  // namespace lamella::dispatcher
