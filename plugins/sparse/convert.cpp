// Conversions between the layouts, and between sparse and dense tensors.
#include <algorithm>

#include "rules.h"

namespace lamella::sparse {
namespace {

TensorOptions longs(const Tensor& like) { return TensorOptions().dtype(kLong).device(like.device()); }

// The row pointers of entries whose rows are in order.
Tensor pointers_of(const Tensor& rows, int64_t n) {
  return lamella::searchsorted(rows, lamella::arange(n + 1, longs(rows)));
}

Tensor lookup_rule(const Tensor& places, const Tensor& indices, IntArrayRef size) {
  LAMELLA_CHECK(places.dim() == 2 && indices.dim() == 2 && places.size(0) == indices.size(0),
                "argument 'indices': shape ", indices.sizes(), " does not fit 'places', shape ", places.sizes());
  LAMELLA_CHECK(static_cast<int64_t>(size.size()) >= places.size(0), "argument 'size': has ", size.size(),
                " dimensions, and 'places' name ", places.size(0));
  const Tensor known = places_of(places, size), sought = places_of(indices, size);
  const int64_t n = known.numel();
  if (!n) return lamella::full({sought.numel()}, -1, longs(sought));
  const Tensor at = lamella::searchsorted(known, sought).clamp(0, n - 1);
  return lamella::where(known.index_select(0, at).eq(sought), at, lamella::full({}, -1, longs(at)));
}

Entries compressed_entries(const Tensor& sparse, const State& s) {
  const int64_t b = s.batch(), n = s.outer.size(-1) - 1, entries = s.nnz();
  const Tensor values = values_of(sparse);
  const Tensor counts = (s.outer.narrow(b, 1, n) - s.outer.narrow(b, 0, n)).to(kLong).reshape({-1});
  const Tensor inner = s.inner.to(kLong).reshape({-1});
  const int64_t all = counts.numel();
  const Tensor lines = lamella::arange(all, longs(s.outer)).repeat_interleave(counts, 0, inner.numel());
  std::vector<Tensor> rows;
  Tensor batch = b ? lines.floor_divide(std::max<int64_t>(n, 1)) : Tensor();
  for (int64_t d = b; d-- > 0;) {
    const int64_t size = std::max<int64_t>(sparse.size(d), 1);
    rows.insert(rows.begin(), d ? batch.remainder(size) : batch);
    batch = batch.floor_divide(size);
  }
  const Tensor line = b ? lines.remainder(std::max<int64_t>(n, 1)) : lines;
  rows.push_back(s.kind == csr ? line : inner);
  rows.push_back(s.kind == csr ? inner : line);
  (void)entries;
  return {lamella::stack(rows, 0), b ? values.flatten(0, b) : values, s.kind == csr};
}

Tensor coo_from(const Entries& e, IntArrayRef size) { return coo_of(e.indices, e.values, size, e.coalesced); }

Tensor compressed_from(const Entries& given, IntArrayRef size, Kind kind) {
  LAMELLA_CHECK(given.indices.size(0) == 2, "a tensor with ", given.indices.size(0),
                " sparse dimensions has no layout ", kind_name(kind), ", which needs 2");
  if (kind == csr) {
    const Entries e = coalesced_entries(given, size);
    return compressed_of(pointers_of(e.indices.select(0, 0), size[0]), e.indices.select(0, 1), e.values, size, csr);
  }
  DimVector turned(size);
  std::swap(turned[0], turned[1]);
  const Entries e = coalesced_entries({given.indices.flip({0}), given.values, false}, turned);
  return compressed_of(pointers_of(e.indices.select(0, 0), size[1]), e.indices.select(0, 1), e.values, size, csc);
}

// ---- operators ----------------------------------------------------------------------------------------------------

Tensor to_dense(const Tensor& self, std::optional<ScalarType> dtype) {
  const Tensor t = state_of(self) ? dense_of(self) : self;
  return dtype ? t.to(*dtype) : t;
}

Kind known_kind(int64_t layout) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(layout == coo || layout == csr || layout == csc,
                                "argument 'layout': ", kind_name(layout),
                                " is not here; sparse_coo, sparse_csr and sparse_csc are");
  return static_cast<Kind>(layout);
}

Tensor to_sparse(const Tensor& self, int64_t layout, std::optional<int64_t> sparse_dim,
                 std::optional<int64_t> dense_dim) {
  const Kind kind = known_kind(layout);
  const State* s = state_of(self);
  if (s) {
    LAMELLA_CHECK(!sparse_dim || *sparse_dim == s->sparse_dim(), "argument 'sparse_dim': the tensor is sparse with ",
                  s->sparse_dim(), " sparse dimensions already, got ", sparse_dim.value_or(0));
    return to_layout(self, kind);
  }
  int64_t lead = sparse_dim.value_or(kind == coo ? self.dim() - dense_dim.value_or(0) : 2);
  if (kind != coo) {
    LAMELLA_CHECK(self.dim() >= 2, "argument 'self': expected at least 2 dimensions, got shape ", self.sizes());
    LAMELLA_CHECK_NOT_IMPLEMENTED(self.dim() - dense_dim.value_or(0) == 2, "argument 'self': shape ", self.sizes(),
                                  " has ", self.dim() - dense_dim.value_or(0),
                                  " sparse dimensions, and a batch of sparse matrices is made by "
                                  "sparse_csr_tensor(); give dense_dim, or convert one matrix after the other");
  }
  LAMELLA_CHECK(lead >= (self.dim() ? 1 : 0) && lead <= self.dim(), "argument 'sparse_dim': expected 1 to ", self.dim(),
                ", got ", lead);
  const Tensor detached = self.detach();
  Tensor is = detached.ne(0);
  for (int64_t d = self.dim(); d-- > lead;) is = is.any(d);
  const Tensor at = is.nonzero().t().contiguous();
  Tensor values;
  if (lead == 0)
    values = self.reshape({1}).narrow(0, 0, at.size(1));
  else
    values = self.flatten(0, lead - 1).index_select(0, places_of(at, self.sizes()));
  return from_entries({at, values, true}, self.sizes(), kind);
}

Tensor coalesce_rule(const Tensor& self) {
  const State& s = coo_in(self);
  if (s.coalesced) return self;
  return coo_from(coalesced_entries(entries_of(self), self.sizes()), self.sizes());
}

Tensor sparse_mask_rule(const Tensor& self, const Tensor& mask) {
  const State& s = state_in(mask, "mask");
  LAMELLA_CHECK(self.sizes() == mask.sizes(), "argument 'mask': has shape ", mask.sizes(), ", and 'self' has ",
                self.sizes());
  const Tensor at = s.kind == coo && !s.coalesced ? coalesce_rule(mask) : mask;
  const Tensor from =
      state_of(self) && state_of(self)->kind == coo && !state_of(self)->coalesced ? coalesce_rule(self) : self;
  return with_values(at.detach(), values_at(from, at.detach()));
}

Tensor materialize(const Tensor& self, bool) {
  throw Error(LAMELLA_TYPE_ERROR, std::string("a sparse tensor (") + kind_name(state_in(self).kind) +
                                      ") has no array of its elements; call to_dense() first");
}

}  // namespace

Tensor places_of(const Tensor& indices, IntArrayRef size) {
  const int64_t dims = indices.size(0);
  int64_t step = 1;
  Tensor sum;
  for (int64_t d = dims; d-- > 0;) {
    const Tensor part = step == 1 ? indices.select(0, d) : indices.select(0, d) * step;
    sum = sum.defined() ? sum + part : part;
    LAMELLA_CHECK(!__builtin_mul_overflow(step, std::max<int64_t>(size[d], 1), &step), "argument 'self': size ", size,
                  " has more places than int64 can count; this call needs their numbers");
  }
  return sum.defined() ? sum : lamella::zeros({indices.size(1)}, longs(indices));
}

Entries entries_of(const Tensor& sparse) {
  const State& s = state_in(sparse);
  if (s.kind != coo) return compressed_entries(sparse, s);
  return {s.outer.detach(), values_of(sparse), s.coalesced};
}

Entries coalesced_entries(const Entries& e, IntArrayRef size) {
  if (e.coalesced) return e;
  static const Operator<std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, IntArrayRef)> op("sparse::coalesced");
  const auto [indices, values] = op(e.indices, e.values, size);
  return {indices, values, true};
}
Entries coalesced_entries(const Tensor& sparse) { return coalesced_entries(entries_of(sparse), sparse.sizes()); }

Tensor dense_of(const Tensor& sparse) {
  const State& s = state_in(sparse);
  const Entries e = entries_of(sparse);
  const int64_t lead = sparse.dim() - s.dense_dim();
  DimVector flat{1};
  for (int64_t d = 0; d < sparse.dim(); d++)
    if (d < lead)
      flat[0] *= sparse.size(d);
    else
      flat.push_back(sparse.size(d));
  const bool truth = e.values.dtype() == kBool;
  const Tensor values = truth ? e.values.to(kInt) : e.values;
  const Tensor sums =
      lamella::zeros(flat, values.options()).index_add_(0, places_of(e.indices, sparse.sizes()), values);
  return (truth ? sums.ne(0) : sums).reshape(sparse.sizes());
}

Tensor from_entries(const Entries& e, IntArrayRef size, Kind kind) {
  return kind == coo ? coo_from(e, size) : compressed_from(e, size, kind);
}

Tensor to_layout(const Tensor& sparse, Kind kind) {
  const State& s = state_in(sparse);
  if (s.kind == kind) return sparse;
  LAMELLA_CHECK_NOT_IMPLEMENTED(!s.batch() || kind == coo, "argument 'self': a batch of sparse matrices (",
                                kind_name(s.kind), ") is converted to sparse_coo alone, not to ", kind_name(kind));
  return from_entries(entries_of(sparse), sparse.sizes(), kind);
}

void register_conversions(Library& m) {
  m.define("lookup(Tensor places, Tensor indices, int[] size) -> Tensor", nullptr, nullptr,
           "The position in `places`, which are in order, of each column of `indices`; -1 if it is not there.");
  m.impl("lookup", "composite", lookup_rule);
  define_composite(m, "to_dense(Tensor self, ScalarType? dtype=None) -> Tensor", to_dense);
  define_composite(m, "to_sparse(Tensor self, int layout, int? sparse_dim=None, int? dense_dim=None) -> Tensor",
                   to_sparse);
  define_composite(m, "coalesce(Tensor self) -> Tensor", coalesce_rule);
  define_composite(m, "sparse_mask(Tensor self, Tensor mask) -> Tensor", sparse_mask_rule);
  m.impl("aten::_materialize", layer_name, materialize);
}

}  // namespace lamella::sparse
