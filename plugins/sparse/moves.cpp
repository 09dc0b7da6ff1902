// The rules of operators that copy, convert, join and pick entries.
#include <algorithm>

#include "arithmetic.h"

namespace lamella::sparse {
namespace {

Tensor rebuilt(const Tensor& self, const Tensor& outer, const Tensor& inner, const Tensor& values) {
  const State& s = state_in(self);
  return s.kind == coo ? coo_of(outer, values, self.sizes(), s.coalesced)
                       : compressed_of(outer, inner, values, self.sizes(), s.kind);
}

Tensor clone_rule(const Tensor& self, std::optional<MemoryFormat>) {
  const State& s = state_in(self);
  return rebuilt(self, s.outer.clone(), s.inner.defined() ? s.inner.clone() : s.inner, values_of(self).clone());
}

Tensor converted(const Tensor& self, const std::optional<Device>& device, std::optional<ScalarType> dtype,
                 bool non_blocking, bool copy) {
  const State& s = state_in(self);
  const Device there = device ? lamella::empty({0}, TensorOptions().device(*device)).device() : self.device();
  const bool moves = there != self.device();
  if (!copy && !moves && dtype.value_or(self.dtype()) == self.dtype()) return self;
  const Tensor values = values_of(self).to(there, dtype, non_blocking, copy);
  if (!moves && !copy) return with_values(self, values);
  return rebuilt(self, s.outer.to(there, {}, non_blocking, copy),
                 s.inner.defined() ? s.inner.to(there, {}, non_blocking, copy) : s.inner, values);
}
Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat>) {
  return converted(self, {}, dtype, non_blocking, copy);
}
Tensor to_device(const Tensor& self, const std::optional<Device>& device, std::optional<ScalarType> dtype,
                 bool non_blocking, bool copy, std::optional<MemoryFormat>) {
  return converted(self, device, dtype, non_blocking, copy);
}
Tensor to_other(lamella_frame* f, const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                std::optional<MemoryFormat> format) {
  if (!state_of(self)) return self.to(other.device(), other.dtype(), non_blocking, copy, format);
  (void)f;
  return converted(self, other.device(), other.dtype(), non_blocking, copy);
}

const Tensor& copy_rule(const Tensor& self, const Tensor& src, bool non_blocking) {
  const State *to = state_of(self), *from = state_of(src);
  LAMELLA_CHECK(to && from, "a copy between layouts is not made silently: argument '", to ? "src" : "self",
                "' is strided and the other one is ", kind_name(to ? to->kind : from->kind),
                "; call to_dense() or to_sparse() first");
  LAMELLA_CHECK(to->kind == from->kind, "argument 'src': has layout ", kind_name(from->kind), ", and 'self' has ",
                kind_name(to->kind));
  assign(self, converted(src, self.device(), self.dtype(), non_blocking, true));
  return self;
}

// A sparse tensor without entries.
Tensor without_entries(const Tensor& self, ScalarType dtype, const Device& device) {
  const State& s = state_in(self);
  DimVector values(s.values.sizes());
  values[s.batch()] = 0;
  const TensorOptions longs = TensorOptions().dtype(s.outer.dtype()).device(device);
  const Tensor none = lamella::zeros(values, TensorOptions().dtype(dtype).device(device));
  if (s.kind == coo) return coo_of(lamella::zeros({s.sparse_dim(), 0}, longs), none, self.sizes(), true);
  DimVector inner(s.inner.sizes());
  inner[s.batch()] = 0;
  return compressed_of(lamella::zeros(s.outer.sizes(), longs), lamella::zeros(inner, longs), none, self.sizes(),
                       s.kind);
}

const Tensor& zero_rule(const Tensor& self) {
  assign(self, without_entries(self, self.dtype(), self.device()));
  return self;
}

Tensor zeros_like_rule(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                       std::optional<Device> device, std::optional<bool>, std::optional<MemoryFormat>) {
  const Device there = device.value_or(self.device());
  const ScalarType t = dtype.value_or(self.dtype());
  if (layout) return lamella::zeros(self.sizes(), TensorOptions().dtype(t).device(there));
  return without_entries(self, t, there);
}
Tensor empty_like_rule(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                       std::optional<Device> device, std::optional<bool> pin, std::optional<MemoryFormat> format) {
  return zeros_like_rule(self, dtype, layout, device, pin, format);
}

bool equal_rule(const Tensor& self, const Tensor& other) {
  const State *x = state_of(self), *y = state_of(other);
  LAMELLA_CHECK(x && y, "a sparse tensor is compared with sparse ones alone; call to_dense() first");
  if (self.sizes() != other.sizes() || self.dtype() != other.dtype() || x->kind != y->kind) return false;
  const Entries a = coalesced_entries(self), b = coalesced_entries(other);
  return a.indices.sizes() == b.indices.sizes() && a.indices.equal(b.indices) && a.values.equal(b.values);
}

// ---- dimensions ---------------------------------------------------------------------------------------------------

Tensor permute_rule(const Tensor& self, IntArrayRef dims) {
  const State& s = state_in(self);
  const int64_t n = self.dim(), lead = n - s.dense_dim();
  LAMELLA_CHECK(static_cast<int64_t>(dims.size()) == n, "argument 'dims': has ", dims.size(),
                " numbers for a tensor of ", n, " dimensions");
  DimVector order, size;
  std::vector<bool> seen(n, false);
  for (int64_t d : dims) {
    const int64_t at = wrapped(d, n, "dims");
    LAMELLA_CHECK(!seen[at], "argument 'dims': names dimension ", at, " twice");
    seen[at] = true;
    order.push_back(at);
    size.push_back(self.size(at));
  }
  bool same = true;
  for (int64_t d = 0; d < n; d++) {
    same = same && order[d] == d;
    LAMELLA_CHECK((order[d] < lead) == (d < lead), "argument 'dims': moves a sparse dimension among the ",
                  s.dense_dim(), " dense ones; to_dense() first");
  }
  if (same) return self;
  Tensor values = values_of(self);
  if (s.dense_dim()) {
    DimVector inner;
    for (int64_t d = 0; d <= s.batch(); d++) inner.push_back(d);
    for (int64_t d = lead; d < n; d++) inner.push_back(order[d] - lead + 1 + s.batch());
    values = values.permute(inner);
  }
  if (s.kind != coo) {
    bool plain = true;
    for (int64_t d = 0; d < s.batch(); d++) plain = plain && order[d] == d;
    LAMELLA_CHECK_NOT_IMPLEMENTED(plain, "the dimensions of a batch of sparse matrices cannot be permuted");
    const bool turned = order[s.batch()] != s.batch();
    return compressed_of(s.outer.detach(), s.inner.detach(), values, size,
                         turned ? (s.kind == csr ? csc : csr) : s.kind);
  }
  const IntArrayRef rows(order.data(), lead);
  const Tensor which = lamella::from_blob(const_cast<int64_t*>(rows.data()), {lead}).to(self.device(), {}, false, true);
  bool unmoved = true;
  for (int64_t d = 0; d < lead; d++) unmoved = unmoved && order[d] == d;
  return coo_of(s.outer.index_select(0, which), values, size, s.coalesced && unmoved);
}

Tensor transpose_rule(const Tensor& self, int64_t dim0, int64_t dim1) {
  DimVector order;
  for (int64_t d = 0; d < self.dim(); d++) order.push_back(d);
  if (self.dim()) std::swap(order[wrapped(dim0, self.dim(), "dim0")], order[wrapped(dim1, self.dim(), "dim1")]);
  return permute_rule(self, order);
}
Tensor t_rule(const Tensor& self) {
  LAMELLA_CHECK(self.dim() <= 2, "argument 'self': expected at most 2 dimensions, got shape ", self.sizes());
  return self.dim() == 2 ? transpose_rule(self, 0, 1) : self;
}

Tensor unsqueeze_rule(const Tensor& self, int64_t dim) {
  const State& s = coo_in(self);
  const int64_t at = wrapped(dim, self.dim() + 1), lead = s.sparse_dim();
  DimVector size;
  for (int64_t d = 0; d <= self.dim(); d++) {
    if (d == at) size.push_back(1);
    if (d < self.dim()) size.push_back(self.size(d));
  }
  if (at > lead) return coo_of(s.outer.detach(), values_of(self).unsqueeze(at - lead + 1), size, s.coalesced);
  const Tensor zeros = lamella::zeros({1, s.nnz()}, s.outer.options());
  const Tensor indices = lamella::cat({s.outer.narrow(0, 0, at), zeros, s.outer.narrow(0, at, lead - at)}, 0);
  return coo_of(indices, values_of(self), size, s.coalesced);
}

Tensor select_rule(const Tensor& self, int64_t dim, int64_t index) {
  LAMELLA_CHECK_INDEX(self.dim() > 0, "argument 'self': has no dimension to select from");
  const int64_t at = wrapped(dim, self.dim()), i = index < 0 ? index + self.size(at) : index;
  LAMELLA_CHECK_INDEX(i >= 0 && i < self.size(at), "argument 'index': ", index, " is out of range for dimension ", at,
                      " of size ", self.size(at));
  const State& s = state_in(self);
  DimVector size;
  for (int64_t d = 0; d < self.dim(); d++)
    if (d != at) size.push_back(self.size(d));
  const Entries e = entries_of(self);
  const int64_t lead = self.dim() - s.dense_dim();
  if (at >= lead) {
    const Tensor values = e.values.select(at - lead + 1, i);
    return coo_of(e.indices, values, size, e.coalesced);
  }
  const Tensor which = e.indices.select(0, at).eq(i).nonzero().reshape({-1});
  const Tensor values = e.values.index_select(0, which);
  if (lead == 1) return values.sum({0}, false, values.dtype());  // no sparse dimension is left
  const Tensor rest = lamella::cat({e.indices.narrow(0, 0, at), e.indices.narrow(0, at + 1, lead - at - 1)}, 0);
  return coo_of(rest.index_select(1, which), values, size, e.coalesced);
}

Tensor index_select_rule(const Tensor& self, int64_t dim, const Tensor& index) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(!state_of(index), "argument 'index' is sparse; call to_dense() first");
  const State& s = state_in(self);
  LAMELLA_CHECK(index.dim() <= 1, "argument 'index': expected a vector, got shape ", index.sizes());
  LAMELLA_CHECK(index.dtype() == kLong || index.dtype() == kInt, "argument 'index': expected int64 or int32, got ",
                index.dtype());
  LAMELLA_CHECK_INDEX(self.dim() > 0, "argument 'self': has no dimension to select from");
  const int64_t at = wrapped(dim, self.dim()), lead = self.dim() - s.dense_dim();
  const Tensor want = index.reshape({-1}).to(kLong);
  if (!want.is_meta() && want.numel())
    LAMELLA_CHECK_INDEX(want.amin().item().to<int64_t>() >= 0 && want.amax().item().to<int64_t>() < self.size(at),
                        "argument 'index': an index is out of range for dimension ", at, " of size ", self.size(at));
  DimVector size(self.sizes());
  size[at] = want.numel();
  const Entries e = entries_of(self);
  if (at >= lead) {
    const Entries made{e.indices, e.values.index_select(at - lead + 1, want), e.coalesced};
    return from_entries(made, size, s.kind);
  }
  // The entries that have a wanted index lie between two places in the order of the indices.
  const TensorOptions longs = TensorOptions().dtype(kLong).device(want.device());
  const auto [sorted, order] = lamella::sort(e.indices.select(0, at), std::optional<bool>(true), 0);
  const Tensor begins = lamella::searchsorted(sorted, want);
  const Tensor counts = lamella::searchsorted(sorted, want, false, true) - begins;
  const Tensor which = lamella::arange(want.numel(), longs).repeat_interleave(counts, 0);
  const Tensor before = counts.cumsum(0) - counts;
  const Tensor places =
      lamella::arange(which.numel(), longs) - before.index_select(0, which) + begins.index_select(0, which);
  const Tensor from = order.index_select(0, places);
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < lead; d++) rows.push_back(d == at ? which : e.indices.select(0, d).index_select(0, from));
  return from_entries({lamella::stack(rows, 0), e.values.index_select(0, from), false}, size, s.kind);
}

Tensor narrow_copy_rule(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  const int64_t at = wrapped(dim, self.dim()), begin = start < 0 ? start + self.size(at) : start;
  LAMELLA_CHECK(begin >= 0 && length >= 0 && length <= self.size(at) - begin, "argument 'start' and 'length': ", start,
                " and ", length, " are out of range for dimension ", at, " of size ", self.size(at));
  return index_select_rule(self, at,
                           lamella::arange(begin, begin + length, TensorOptions().dtype(kLong).device(self.device())));
}

Tensor cat_rule(TensorList tensors, int64_t dim) {
  const State* first = nullptr;
  for (const Tensor& t : tensors)
    if (!first) first = state_of(t);
  LAMELLA_CHECK_NOT_IMPLEMENTED(first, "argument 'tensors': none is sparse");
  const Tensor* like = nullptr;
  for (const Tensor& t : tensors)
    if (state_of(t)) like = like ? like : &t;
  const int64_t n = like->dim(), at = wrapped(dim, n), lead = n - first->dense_dim();
  DimVector size(like->sizes());
  size[at] = 0;
  std::vector<Tensor> indices, values;
  ScalarType dtype = like->dtype();
  for (const Tensor& t : tensors) {
    const State* s = state_of(t);
    LAMELLA_CHECK(s && s->kind == first->kind, "argument 'tensors': layouts ", kind_name(first->kind), " and ",
                  kind_name(s ? s->kind : strided), " cannot be joined; convert them to one layout");
    LAMELLA_CHECK(t.dim() == n && s->dense_dim() == first->dense_dim(), "argument 'tensors': shapes ", like->sizes(),
                  " and ", t.sizes(), " do not fit, or have other numbers of dense dimensions");
    for (int64_t d = 0; d < n; d++)
      LAMELLA_CHECK(d == at || t.size(d) == like->size(d), "argument 'tensors': shapes ", like->sizes(), " and ",
                    t.sizes(), " differ in dimension ", d);
    if (t.dtype() != dtype)
      dtype = lamella::zeros({0}, TensorOptions().dtype(dtype))
                  .add(lamella::zeros({0}, TensorOptions().dtype(t.dtype())))
                  .dtype();
    const Entries e = entries_of(t);
    if (at < lead) {
      std::vector<Tensor> rows;
      for (int64_t d = 0; d < lead; d++)
        rows.push_back(d == at && size[at] ? e.indices.select(0, d) + size[at] : e.indices.select(0, d));
      indices.push_back(lamella::stack(rows, 0));
      values.push_back(e.values);
    } else {  // the entries of each tensor have zeros in the dense dimension of the others
      LAMELLA_CHECK(t.dtype() == like->dtype(), "argument 'tensors': dtypes differ");
      indices.push_back(e.indices);
      values.push_back(e.values);
    }
    size[at] += t.size(at);
  }
  bool coalesced = at == 0 && lead > 0;
  for (const Tensor& t : tensors)
    coalesced = coalesced && (state_in(t).kind == csr || (state_in(t).kind == coo && state_in(t).coalesced));
  if (at >= lead) {
    int64_t begin = 0;
    const int64_t d = at - lead + 1;
    for (size_t i = 0; i < values.size(); i++) {
      const int64_t width = values[i].size(d);
      DimVector before(values[i].sizes()), after(values[i].sizes());
      before[d] = begin;
      after[d] = size[at] - begin - width;
      values[i] = lamella::cat(
          {lamella::zeros(before, values[i].options()), values[i], lamella::zeros(after, values[i].options())}, d);
      begin += width;
    }
  }
  for (Tensor& v : values)
    if (v.dtype() != dtype) v = v.to(dtype);
  return from_entries({lamella::cat(indices, 1), lamella::cat(values, 0), coalesced}, size, first->kind);
}

Tensor itself(const Tensor& self, MemoryFormat) { return self; }

}  // namespace

void register_moves(Library& m) {
  for (const char* op : {"aten::detach", "aten::alias"}) m.impl(op, layer_name, static_cast<lamella_kernel>(nullptr));
  m.impl("aten::clone", layer_name, clone_rule);
  m.impl("aten::contiguous", layer_name, itself);
  m.impl("aten::to.dtype", layer_name, to_dtype);
  m.impl("aten::to.device", layer_name, to_device);
  m.impl("aten::to.other", layer_name, to_other);
  m.impl("aten::copy_", layer_name, copy_rule);
  m.impl("aten::zero_", layer_name, zero_rule);
  m.impl("aten::zeros_like", layer_name, zeros_like_rule);
  m.impl("aten::empty_like", layer_name, empty_like_rule);
  m.impl("aten::equal", layer_name, equal_rule);
  m.impl("aten::permute", layer_name, permute_rule);
  m.impl("aten::transpose.int", layer_name, transpose_rule);
  m.impl("aten::t", layer_name, t_rule);
  m.impl("aten::unsqueeze", layer_name, unsqueeze_rule);
  m.impl("aten::select.int", layer_name, select_rule);
  m.impl("aten::index_select", layer_name, index_select_rule);
  m.impl("aten::cat", layer_name, cat_rule);
  m.impl("aten::narrow_copy", layer_name, narrow_copy_rule);
}

}  // namespace lamella::sparse
