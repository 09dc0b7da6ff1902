// The operators through which values enter and leave sparse tensors: Note [Boundary] in rules.h.
#include "rules.h"

namespace lamella::sparse {
namespace {

// ---- kernels of these operators, which run after autograd has recorded the call ----------------------------------

Tensor make_coo(const Tensor& indices, const Tensor& values, IntArrayRef size, bool coalesced, bool deep) {
  State s;
  s.kind = coo;
  s.outer = indices;
  s.values = values;
  s.coalesced = coalesced;
  check_parts(s, size, deep);
  return make(std::move(s), size);
}

Tensor make_compressed(const Tensor& outer, const Tensor& inner, const Tensor& values, IntArrayRef size, int64_t kind,
                       bool deep) {
  State s;
  s.kind = static_cast<Kind>(kind);
  s.outer = outer;
  s.inner = inner;
  s.values = values;
  check_parts(s, size, deep);
  return make(std::move(s), size);
}

Tensor read_values(const Tensor& self) { return state_in(self).values.detach(); }

Tensor put_values(const Tensor& like, const Tensor& values) {
  State s = state_in(like, "like");
  const int64_t lead = s.batch() + 1;
  LAMELLA_CHECK(values.dim() >= lead, "argument 'values': shape ", values.sizes(), " has fewer than ", lead,
                " dimensions");
  DimVector size(like.sizes().size() ? IntArrayRef(like.sizes().data(), like.dim() - s.dense_dim()) : IntArrayRef());
  for (int64_t d = lead; d < values.dim(); d++) size.push_back(values.size(d));
  s.values = values;
  check_parts(s, size, false);
  return make(std::move(s), size);
}

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.is_same(b) || (a.defined() && b.defined() && a.get()->storage == b.get()->storage &&
                          a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() && a.dtype() == b.dtype());
}
bool same_places(const State& a, const State& b) {
  if (a.kind != b.kind) return false;
  if (same_memory(a.outer, b.outer) && same_memory(a.inner, b.inner)) return true;
  if (a.outer.sizes() != b.outer.sizes() || a.outer.dtype() != b.outer.dtype() || a.outer.is_meta()) return false;
  if (a.inner.defined() && (a.inner.sizes() != b.inner.sizes() || !a.inner.equal(b.inner))) return false;
  return a.outer.equal(b.outer);
}

Tensor read_at(const Tensor& self, const Tensor& like) {
  const State& at = state_in(like, "like");
  LAMELLA_CHECK(self.sizes() == like.sizes(), "argument 'self': has shape ", self.sizes(),
                ", and the sparse tensor has ", like.sizes());
  const State* from = state_of(self);
  if (from && same_places(*from, at)) return from->values.detach();
  DimVector shape(at.values.sizes());
  if (!from) {
    const Tensor places = places_of(entries_of(like).indices, like.sizes());
    const int64_t lead = like.dim() - at.dense_dim();
    return (lead ? self.flatten(0, lead - 1) : self.unsqueeze(0)).index_select(0, places).reshape(shape);
  }
  const Entries e = coalesced_entries(self), to = entries_of(like);
  static const Operator<Tensor(const Tensor&, const Tensor&, IntArrayRef)> lookup("sparse::lookup");
  const Tensor where = lookup(e.indices, to.indices, self.sizes());
  shape[at.batch()] = where.numel();
  if (!e.values.size(0)) return lamella::zeros(at.values.sizes(), self.options());
  const Tensor found = e.values.index_select(0, where.clamp(0));
  DimVector wide(size_t(found.dim()), 1);
  wide[0] = where.numel();
  return lamella::where(where.ge(0).view(wide), found, lamella::zeros({}, found.options())).reshape(at.values.sizes());
}

// The gradient of values_at: sparse for a sparse tensor, else dense.
Tensor values_at_grad(const Tensor& grad, const Tensor& self, const Tensor& like) {
  const Tensor placed = with_values(like, grad);
  return state_of(self) ? placed : dense_of(placed);
}

Tensor outer_indices(const Tensor& self) { return state_in(self).outer.detach(); }
Tensor inner_indices(const Tensor& self) {
  const State& s = state_in(self);
  LAMELLA_CHECK(s.inner.defined(), "argument 'self': layout sparse_coo has no compressed indices");
  return s.inner.detach();
}

// The layout, the number of entries, sparse, dense and batch dimensions, and whether the tensor is coalesced; an empty
// list for a strided tensor.
std::vector<int64_t> describe(const Tensor& self) {
  const State* s = state_of(self);
  if (!s) return {};
  return {s->kind, s->nnz(), s->sparse_dim(), s->dense_dim(), s->batch(), s->coalesced ? 1 : 0};
}

}  // namespace

Tensor values_of(const Tensor& sparse) {
  static const Operator<Tensor(const Tensor&)> op("sparse::_values");
  return op(sparse);
}
Tensor with_values(const Tensor& like, const Tensor& values) {
  static const Operator<Tensor(const Tensor&, const Tensor&)> op("sparse::_with_values");
  return op(like, values);
}
Tensor coo_of(const Tensor& indices, const Tensor& values, IntArrayRef size, bool coalesced) {
  static const Operator<Tensor(const Tensor&, const Tensor&, IntArrayRef, bool, bool)> op("sparse::_coo");
  return op(indices, values, size, coalesced, false);
}
Tensor compressed_of(const Tensor& outer, const Tensor& inner, const Tensor& values, IntArrayRef size, Kind kind) {
  static const Operator<Tensor(const Tensor&, const Tensor&, const Tensor&, IntArrayRef, int64_t, bool)> op(
      "sparse::_compressed");
  return op(outer, inner, values, size, kind, false);
}
Tensor values_at(const Tensor& self, const Tensor& like) {
  static const Operator<Tensor(const Tensor&, const Tensor&)> op("sparse::_values_at");
  return op(self, like);
}

void register_boundary(Library& m) {
  const auto define = [&](const char* schema, auto function, const char* derivative) {
    const std::string name(schema, std::strchr(schema, '('));
    m.define(schema);
    m.impl(name.c_str(), "composite", function);
    m.impl(name.c_str(), layer_name, static_cast<lamella_kernel>(nullptr));
    if (derivative) m.derivative(name.c_str(), derivative);
  };
  define("_coo(Tensor indices, Tensor values, int[] size, bool coalesced, bool check) -> Tensor", make_coo,
         "indices: none; values: sparse::_values_at(grad, result)");
  define("_compressed(Tensor outer, Tensor inner, Tensor values, int[] size, int layout, bool check) -> Tensor",
         make_compressed, "outer: none; inner: none; values: sparse::_values_at(grad, result)");
  define("_values(Tensor self) -> Tensor", read_values, "self: sparse::_with_values(self, grad)");
  define("_with_values(Tensor like, Tensor values) -> Tensor", put_values,
         "like: none; values: sparse::_values_at(grad, like)");
  define("_values_at(Tensor self, Tensor like) -> Tensor", read_at,
         "self: sparse::_values_at_grad(grad, self, like); like: none");
  define("_outer(Tensor self) -> Tensor", outer_indices, "self: none");
  define("_inner(Tensor self) -> Tensor", inner_indices, "self: none");
  define("_describe(Tensor self) -> int[]", describe, nullptr);
  define_composite(m, "_values_at_grad(Tensor grad, Tensor self, Tensor like) -> Tensor", values_at_grad);
  m.attribute("_sparse_layout", [](const Tensor& self) -> int64_t {
    const State* s = state_of(self);
    return s ? s->kind : strided;
  });
}

}  // namespace lamella::sparse
