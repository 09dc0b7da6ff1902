// Sums and softmaxes over dimensions of sparse tensors.
#include <algorithm>

#include "arithmetic.h"

namespace lamella::sparse {
namespace {

bool counts(ScalarType t) { return !is_floating_point(t) && !is_complex(t); }

Tensor sum_rule(const Tensor& self, std::optional<ScalarType> dtype) { return values_of(self).sum(dtype); }

// Drops or keeps (as size 1) the dimensions; a sparse dimension that is dropped makes entries share places, which are
// added up. Without a sparse dimension the sum is dense.
Tensor sum_dims_rule(const Tensor& self, const std::optional<std::vector<int64_t>>& dim, bool keepdim,
                     std::optional<ScalarType> dtype) {
  const State& s = state_in(self);
  const int64_t n = self.dim(), lead = n - s.dense_dim();
  std::vector<bool> gone(n, !dim.has_value() || dim->empty());
  if (dim.has_value())
    for (int64_t d : *dim) {
      const int64_t at = wrapped(d, n);
      LAMELLA_CHECK(!gone[at] || dim->empty(), "argument 'dim': names dimension ", at, " twice");
      gone[at] = true;
    }
  const Entries e = entries_of(self);
  const ScalarType to = dtype.value_or(counts(self.dtype()) ? kLong : self.dtype());
  Tensor values = e.values.dtype() == to ? e.values : e.values.to(to);
  DimVector inner, size;
  for (int64_t d = lead; d < n; d++)
    if (gone[d]) inner.push_back(d - lead + 1);
  if (inner.size()) values = values.sum(IntArrayRef(inner), keepdim, to);
  std::vector<Tensor> rows;
  bool dropped = false;
  for (int64_t d = 0; d < n; d++) {
    if (!gone[d] || keepdim) size.push_back(gone[d] ? 1 : self.size(d));
    if (d >= lead) continue;
    dropped = dropped || gone[d];
    if (!gone[d])
      rows.push_back(e.indices.select(0, d));
    else if (keepdim)
      rows.push_back(lamella::zeros_like(e.indices.select(0, d)));
  }
  const bool none = std::all_of(gone.begin(), gone.begin() + lead, [](bool x) { return x; });
  if (none) return values.sum({0}, false, to).reshape(size);
  const Entries made{lamella::stack(rows, 0), values, e.coalesced && !dropped};
  return from_entries(coalesced_entries(made, size), size, coo);
}

Tensor softmax_rule(const Tensor& self, int64_t dim, bool logarithm, std::optional<ScalarType> dtype) {
  const State& s = coo_in(self);
  const int64_t n = self.dim(), lead = s.sparse_dim(), at = wrapped(dim, n);
  Entries e = coalesced_entries(self);
  if (dtype) e.values = e.values.to(*dtype);
  LAMELLA_CHECK(is_floating_point(e.values.dtype()), "argument 'self': expected a floating dtype, got ",
                e.values.dtype(), "; pass dtype=");
  if (at >= lead) {
    const int64_t d = at - lead + 1;
    return coo_of(e.indices, logarithm ? e.values.log_softmax(d) : e.values.softmax(d), self.sizes(), true);
  }
  if (!e.values.numel()) return coo_of(e.indices, e.values, self.sizes(), true);
  DimVector others;
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < lead; d++)
    if (d != at) {
      others.push_back(self.size(d));
      rows.push_back(e.indices.select(0, d));
    }
  // The entries of one group differ in `dim` alone.
  const int64_t entries = e.indices.size(1);
  const Tensor ids =
      rows.empty() ? lamella::zeros({entries}, e.indices.options()) : places_of(lamella::stack(rows, 0), others);
  const auto [groups, group, counts] = lamella::_unique2(ids, true, true, false);
  DimVector sizes(e.values.sizes());
  sizes[0] = groups.numel();
  DimVector wide(size_t(e.values.dim()), 1);
  wide[0] = entries;
  const Tensor fixed = e.values.detach();
  const Tensor least = lamella::full(sizes, -std::numeric_limits<double>::infinity(), fixed.options());
  const Tensor most =
      least.scatter_reduce(0, group.view(wide).expand(e.values.sizes()), fixed, "amax").index_select(0, group);
  const Tensor less = e.values - lamella::where(most.isfinite(), most, lamella::zeros({}, most.options()));
  const Tensor sums = lamella::zeros(sizes, fixed.options()).index_add(0, group, less.exp());
  const Tensor made = logarithm ? less - sums.log().index_select(0, group) : less.exp() / sums.index_select(0, group);
  return coo_of(e.indices, made, self.sizes(), true);
}

Tensor norm_rule(const Tensor& self, const std::optional<Scalar>& p, const std::optional<std::vector<int64_t>>& dim,
                 bool, std::optional<ScalarType> dtype) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(!dim.has_value() || dim->empty(),
                                "argument 'dim': a norm of a sparse tensor is that of all "
                                "its elements; call to_dense() first");
  const double order = p ? p->toDouble() : 2;
  LAMELLA_CHECK_NOT_IMPLEMENTED(order > 0 && order < std::numeric_limits<double>::infinity(),
                                "argument 'p': expected a positive finite number for a sparse tensor, got ", order);
  return coalesced_entries(self).values.norm(p, {}, false, dtype);
}

Tensor any_rule(const Tensor& self) { return coalesced_entries(self).values.any(); }

}  // namespace

void register_reductions(Library& m) {
  m.impl("aten::sum", layer_name, sum_rule);
  m.impl("aten::sum.dim_IntList", layer_name, sum_dims_rule);
  m.impl("aten::norm", layer_name, norm_rule);
  m.impl("aten::any", layer_name, any_rule);
  define_composite(m, "softmax(Tensor self, int dim, bool logarithm, ScalarType? dtype=None) -> Tensor", softmax_rule);
}

}  // namespace lamella::sparse
