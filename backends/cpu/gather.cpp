// gather and the scatters, with one index for each element along one dimension, and take.
#include "backends/cpu/gather.h"

#include <string>
#include <string_view>

namespace lamella::cpu {

const IndexLoops& index_loops() {
  static const IndexLoops& chosen = LAMELLA_BY_ISA(index_loops)();
  return chosen;
}

lamella_status bad_index(lamella_frame* f, const char* argument, const lamella_tensor* index, const Places& p,
                         int dim) {
  int64_t bad = 0;
  int64_t at[LAMELLA_MAX_DIMS] = {};
  for (int64_t k = 0; k < index->numel; k++) {
    int64_t offset = 0;
    for (int d = 0; d < index->dl.ndim; d++) offset += at[d] * index->dl.strides[d];
    bad = static_cast<const int64_t*>(index->dl.data)[offset];
    if (bad >= p.size || bad < -p.wrap) break;
    for (int d = index->dl.ndim - 1; d >= 0 && ++at[d] == index->dl.shape[d]; d--) at[d] = 0;
  }
  return fail(LAMELLA_INDEX_ERROR, title(f) + ": argument '" + argument + "': index " + std::to_string(bad) +
                                       " is out of range for dimension " + std::to_string(dim) + " of size " +
                                       std::to_string(p.size));
}

lamella_status check_indices(lamella_frame* f, const char* argument, const lamella_tensor* index, const Places& p,
                             int dim) {
  Strips s(index);
  bool good = true;
  auto check = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (!index_loops().valid(n, at[0], step[0], p)) __atomic_store_n(&good, false, __ATOMIC_RELAXED);
    return LAMELLA_OK;
  };
  if (lamella_status st = s.run(grain * 2, check)) return st;
  return good ? LAMELLA_OK : bad_index(f, argument, index, p, dim);
}

lamella_status resolve(lamella_frame* f, const char* argument, int dim, Operand* index, Places* places) {
  const Tensor offsets = allocate_like(index->get(), LAMELLA_INT64);
  Strips s(offsets.get());
  s.add(index->get());
  bool good = true;
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (!index_loops().offsets(n, reinterpret_cast<int64_t*>(at[0]), at[1], step[1], *places, false))
      __atomic_store_n(&good, false, __ATOMIC_RELAXED);
    return LAMELLA_OK;
  };
  if (lamella_status st = s.run(grain, body)) return st;
  if (!good) return bad_index(f, argument, index->get(), *places, dim);
  *index = Operand::made(offsets);
  *places = Places::offsets();
  return LAMELLA_OK;
}

namespace {

// The strides of self in the walk over `index`: 0 along `dim`, where the index gives the place instead.
struct Along {
  int dim;
  Places places;
  int64_t strides[LAMELLA_MAX_DIMS];

  Along(const lamella_tensor* self, int64_t d) : dim(wrapped_dim(d, self->dl.ndim)) {
    byte_strides(self, strides);
    const bool scalar = self->dl.ndim == 0;
    places = {scalar ? 1 : self->dl.shape[dim], 0, scalar ? 0 : self->dl.strides[dim] * itemsize(self)};
    strides[dim] = 0;
  }
};

Status gather(lamella_frame* f, const Tensor& self, int64_t dim, const Tensor& index, bool, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  const Operand wide = as_int64(index.get());
  const Along along(self.get(), dim);
  auto loop = index_loops().pick[log2_item(out.itemsize())];
  Strips s(out.get());
  s.add(wide.get());
  s.add(self.data_ptr(), along.strides);
  bool bad = false;
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (!loop({n, at[2], step[2], at[1], step[1], at[0], step[0]}, along.places))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LAMELLA_OK;
  };
  if (lamella_status st = s.run(grain, body)) return st;
  return bad ? bad_index(f, "index", wide.get(), along.places, along.dim) : LAMELLA_OK;
}

// Scatters src into self by `loop`. Only elements that differ along `dim` alone can go to the same place. With
// `checked`, all indices are checked first, since self must not change if one is bad; else they are checked as they are
// read.
template <class Loop>
lamella_status scattered(lamella_frame* f, const lamella_tensor* self, int64_t dim, lamella_tensor* given,
                         const lamella_tensor* src, Loop loop, bool checked) {
  if (given->numel == 0) return LAMELLA_OK;
  const Operand wide = as_int64(given);
  const lamella_tensor* index = wide.get();
  const Along along(self, dim);
  if (checked)
    if (lamella_status st = check_indices(f, "index", index, along.places, along.dim)) return st;
  int64_t from[LAMELLA_MAX_DIMS];
  byte_strides(src, from);
  Strips s(index);
  s.add(self->dl.data, along.strides);
  s.add(src->dl.data, from);
  return s.run_apart(
      uint64_t{1} << along.dim, grain, 1, [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
        constexpr int64_t tile = 1024;
        for (int64_t b = 0; b < n; b += tile) {
          const int64_t m = std::min(tile, n - b);
          const char* i = at[0] + b * step[0];
          if (!checked && !index_loops().valid(m, i, step[0], along.places))
            return bad_index(f, "index", index, along.places, along.dim);
          loop({m, at[1] + b * step[1], step[1], i, step[0], at[2] + b * step[2], step[2]}, along.places);
        }
        return LAMELLA_OK;
      });
}

Put add_of(const lamella_tensor* self) { return index_loops().fold[INDEX_SUM][self->dtype]; }

// Scatters with a reduction: 'prod', 'amax' or 'amin'.
Status scatter_fold(lamella_frame* f, const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                    std::string_view reduce, const Tensor& out) {
  const int kind = reduce == "prod" ? INDEX_PROD : reduce == "amax" ? INDEX_AMAX : INDEX_AMIN;
  return scattered(f, out.get(), dim, index.get(), src.get(), index_loops().fold[kind][out.get()->dtype], true);
}

template <Put (*Loop)(const lamella_tensor*)>
Status scatter_inplace(lamella_frame* f, const Tensor&, int64_t dim, const Tensor& index, const Tensor& src,
                       const Tensor& out) {
  return scattered(f, out.get(), dim, index.get(), src.get(), Loop(out.get()), true);
}
template <Put (*Loop)(const lamella_tensor*)>
Status scatter(lamella_frame* f, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
               const Tensor& out) {
  if (lamella_status st = copy_into(out.get(), self.get())) return st;
  return scattered(f, out.get(), dim, index.get(), src.get(), Loop(out.get()), false);
}

// A number in place of src: one element, expanded.
struct Number {
  alignas(16) char data[16];
  lamella_tensor t;
  int64_t strides[LAMELLA_MAX_DIMS] = {};
  Number(const Scalar& number, const lamella_tensor* self, const lamella_tensor* shape) : t(*self) {
    store_number(number.value(), self->dtype, data);
    t.dl.data = data;
    t.dl.ndim = shape->dl.ndim;
    t.dl.shape = shape->dl.shape;
    t.dl.strides = strides;
  }
};

Status scatter_value_inplace(lamella_frame* f, const Tensor&, int64_t dim, const Tensor& index, const Scalar& value,
                             const Tensor& out) {
  Number n(value, out.get(), index.get());
  return scattered(f, out.get(), dim, index.get(), &n.t, put_of(out.get()), true);
}
Status scatter_value(lamella_frame* f, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                     const Tensor& out) {
  if (lamella_status st = copy_into(out.get(), self.get())) return st;
  return scatter_value_inplace(f, self, dim, index, value, out);
}

Status take(lamella_frame* f, const Tensor& self, const Tensor& index, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  const Operand wide = as_int64(index.get()), packed(self);
  const Places places = {self.numel(), self.numel(), self.itemsize()};
  const int64_t still[LAMELLA_MAX_DIMS] = {};
  auto loop = index_loops().pick[log2_item(self.itemsize())];
  bool bad = false;
  Strips s(out.get());
  s.add(wide.get());
  s.add(packed->dl.data, still);
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (!loop({n, at[2], step[2], at[1], step[1], at[0], step[0]}, places))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LAMELLA_OK;
  };
  if (lamella_status st = s.run(grain, body)) return st;
  return bad ? bad_index(f, "index", wide.get(), places, 0) : LAMELLA_OK;
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<gather>(m, "gather");
  add<take>(m, "take");
  add<scatter_inplace<put_of>>(m, "scatter_.src");
  add<scatter_fold>(m, "_scatter_fold_");
  add<scatter_inplace<add_of>>(m, "scatter_add_");
  add<scatter_value_inplace>(m, "scatter_.value");
  add<scatter<put_of>>(m, "scatter.src");
  add<scatter<add_of>>(m, "scatter_add");
  add<scatter_value>(m, "scatter.value");
}

}  // namespace lamella::cpu
