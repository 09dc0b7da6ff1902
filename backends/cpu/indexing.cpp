// Index tensors and masks. Each element of the index shape becomes an offset in bytes into self; rows are then picked
// or put at these offsets.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"

namespace lattis::cpu {
namespace {

// ---- nonzero
// ---------------------------------------------------------------------------------------------------------

// A mask or any tensor as contiguous bytes that are zero or not.
lattis_status as_bytes(lattis_tensor* t, Tensor* out) {
  if (is_contiguous(t) && itemsize(t) == 1) {
    *out = Tensor::borrow(t);
    return LATTIS_OK;
  }
  lattis_tensor* raw;
  if (lattis_status st = api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, LATTIS_BOOL, device_of(t), &raw))
    return st;
  *out = Tensor::steal(raw);
  return copy_into(raw, t);
}

constexpr int64_t mask_block = 65536;

// The flat positions of what is not zero, block by block; place(begin, count, positions) may run on any thread.
struct Found {
  const uint8_t* mask;
  int64_t n, blocks;
  int64_t near[2] = {};
  std::vector<int64_t> far;
  int64_t* before = near;            // by block
  lattis_status status = LATTIS_OK;  // of counting

  explicit Found(const Tensor& bytes)
      : mask(bytes.data<uint8_t>()), n(bytes.numel()), blocks((n + mask_block - 1) / mask_block) {
    if (blocks <= 1) {
      near[1] = index_loops().count(n, mask);
      blocks = 1;
      return;
    }
    far.resize(blocks + 1);
    before = far.data();
    status = parallel_for(0, blocks, 4, [&](int64_t b, int64_t e) -> lattis_status {
      for (; b < e; b++)
        before[b + 1] = index_loops().count(std::min(mask_block, n - b * mask_block), mask + b * mask_block);
      return LATTIS_OK;
    });
    for (int64_t b = 0; b < blocks; b++) before[b + 1] += before[b];
  }
  Found(const Found&) = delete;
  int64_t count() const { return before[blocks]; }

  // Flat positions into out, as they come.
  lattis_status write(int64_t* out) const {
    if (blocks == 1) {
      index_loops().positions(n, mask, 0, out);
      return LATTIS_OK;
    }
    return parallel_for(0, blocks, 4, [&](int64_t b, int64_t e) -> lattis_status {
      for (; b < e; b++)
        index_loops().positions(std::min(mask_block, n - b * mask_block), mask + b * mask_block, b * mask_block,
                                out + before[b]);
      return LATTIS_OK;
    });
  }
};

lattis_status nonzero(lattis_frame*, const lattis_value* a, lattis_value* r) {
  lattis_tensor *self = a[0].as.tensor, *out;
  Tensor bytes;
  if (lattis_status st = as_bytes(self, &bytes)) return st;
  const Found found(bytes);
  if (found.status) return found.status;
  const int ndim = self->dl.ndim;
  const int64_t count = found.count(), sizes[2] = {count, ndim};
  if (lattis_status st = api().tensor_empty(2, sizes, nullptr, LATTIS_INT64, device_of(self), &out)) return st;
  r[0] = value(out);
  if (ndim == 0 || count == 0) return LATTIS_OK;
  auto* data = static_cast<int64_t*>(out->dl.data);
  if (ndim == 1) return found.write(data);
  std::vector<int64_t> far;
  int64_t near[64], *flat = near;
  if (count > 64) {
    far.resize(count);
    flat = far.data();
  }
  if (lattis_status st = found.write(flat)) return st;
  auto take_apart = [&](int64_t b, int64_t e) -> lattis_status {
    for (; b < e; b++) {
      auto rest = static_cast<uint64_t>(flat[b]);
      for (int d = ndim - 1; d > 0; d--) {
        const auto size = static_cast<uint64_t>(self->dl.shape[d]);
        const uint64_t q =
            (rest | size) >> 32 ? rest / size : static_cast<uint32_t>(rest) / static_cast<uint32_t>(size);
        data[b * ndim + d] = static_cast<int64_t>(rest - q * size);
        rest = q;
      }
      data[b * ndim] = static_cast<int64_t>(rest);
    }
    return LATTIS_OK;
  };
  return count <= grain / 4 ? take_apart(0, count) : parallel_for(0, count, grain / 4, take_apart);
}

// ---- index and index_put_
// ----------------------------------------------------------------------------------------------

lattis_status as_int64(lattis_tensor* t, Tensor* out) {
  if (t->dtype == LATTIS_INT64) {
    *out = Tensor::borrow(t);
    return LATTIS_OK;
  }
  lattis_tensor* raw;
  if (lattis_status st = api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, LATTIS_INT64, device_of(t), &raw))
    return st;
  *out = Tensor::steal(raw);
  return copy_into(raw, t);
}

bool broadcast_into(int* ndim, int64_t* sizes, int n, const int64_t* other) {
  if (n > *ndim) {
    std::copy_backward(sizes, sizes + *ndim, sizes + n);
    std::fill(sizes, sizes + n - *ndim, 1);
    *ndim = n;
  }
  for (int i = 1; i <= n; i++) {
    int64_t& mine = sizes[*ndim - i];
    const int64_t its = other[n - i];
    if (mine != its && mine != 1 && its != 1) return false;
    if (mine == 1) mine = its;
  }
  return true;
}

// self as it is seen by a list of index tensors: dimensions before, the index shape, dimensions after.
class Indexed {
 public:
  Indexed() {}  // NOLINT: the parts are made as they come
  Indexed(const Indexed&) = delete;
  ~Indexed() {
    for (int k = 0; k < count_; k++) parts_[k].~Part();
  }

  lattis_status read(lattis_frame* f, const lattis_tensor* self, const lattis_value& list, bool apart) {
    self_ = self;
    const int64_t item = itemsize(self);
    int d = 0, last = -1, first = -1;
    bool adjacent = true;
    int kept[LATTIS_MAX_DIMS], kept_count = 0, lead = 0;
    for (uint32_t i = 0; i < list.length; i++) {
      lattis_tensor* t = list.as.tensors[i];
      if (!t) {
        kept[kept_count++] = d++;
        continue;
      }
      if (first < 0) {
        first = static_cast<int>(i);
        lead = kept_count;
      }
      adjacent = adjacent && (last < 0 || last == static_cast<int>(i) - 1);
      last = static_cast<int>(i);
      Part& p = *new (parts_ + count_++) Part;
      p.dim = d;
      if (t->dtype == LATTIS_BOOL) {
        if (lattis_status st = masked(t, d, &p)) return st;
        d += t->dl.ndim;
      } else {
        if (lattis_status st = as_int64(t, &p.index)) return st;
        const int64_t n = self->dl.shape[d];
        p.places = {n, n, self->dl.strides[d] * item};
        d++;
      }
      if (!broadcast_into(&ndim_, sizes_, p.index.dim(), p.index.sizes()))
        return fail(LATTIS_INDEX_ERROR,
                    title(f) + ": argument 'indices': the shapes of masks and index tensors do not broadcast");
    }
    for (; d < self->dl.ndim; d++) kept[kept_count++] = d;
    if (!adjacent) lead = 0;
    for (int k = 0; k < lead; k++) keep(kept[k], item);
    first_ = lead;
    total_ = lead;
    for (int k = 0; k < ndim_; k++) {
      shape_[total_] = sizes_[k];
      strides_[total_++] = 0;
    }
    for (int k = lead; k < kept_count; k++) keep(kept[k], item);
    return offsets(f, apart);
  }

  int ndim() const { return total_; }
  const int64_t* shape() const { return shape_; }
  uint64_t tied() const { return ((ndim_ >= 64 ? 0 : uint64_t{1} << ndim_) - 1) << first_; }
  const Places& places() const { return places_; }

  // The one index tensor, if it stands for whole rows of a contiguous tensor of several dimensions.
  const lattis_tensor* whole_rows() const {
    const lattis_tensor* only = parts_[0].index.get();
    const bool plain = count_ == 1 && parts_[0].dim == 0 && places_.scale >= 16 && is_contiguous(self_);
    return plain && is_contiguous(only) && index_ == only->dl.data ? only : nullptr;
  }

  // Adds what the index says, and self.
  void add_index(Strips& s) const { s.add(index_, index_strides_); }
  void add_self(Strips& s) const { s.add(self_->dl.data, strides_); }

 private:
  struct Part {
    Tensor index;  // int64
    Places places;
    int dim;
  };

  static std::string title(lattis_frame* f) {
    std::string name = api().operator_name(f->op);
    return name.rfind("aten::", 0) == 0 ? name.substr(6) : name;
  }

  void keep(int d, int64_t item) {
    shape_[total_] = self_->dl.shape[d];
    strides_[total_++] = self_->dl.shape[d] == 1 ? 0 : self_->dl.strides[d] * item;
  }

  // A mask becomes the offsets of what it selects.
  lattis_status masked(lattis_tensor* t, int d, Part* p) {
    Tensor bytes;
    if (lattis_status st = as_bytes(t, &bytes)) return st;
    const Found found(bytes);
    if (found.status) return found.status;
    const int64_t count = found.count();
    lattis_tensor* raw;
    if (lattis_status st = api().tensor_empty(1, &count, nullptr, LATTIS_INT64, device_of(t), &raw)) return st;
    p->index = Tensor::steal(raw);
    auto* at = static_cast<int64_t*>(raw->dl.data);
    if (lattis_status st = found.write(at)) return st;
    const int n = t->dl.ndim;
    const int64_t item = itemsize(self_), *strides = self_->dl.strides + d;
    bool even = true;  // one stride for all of the mask's dimensions
    for (int k = 0; k + 1 < n; k++) even = even && strides[k] == strides[k + 1] * t->dl.shape[k + 1];
    if (n > 0 && !even) {
      auto some = [&](int64_t b, int64_t e) -> lattis_status {
        for (; b < e; b++) {
          int64_t rest = at[b], offset = 0;
          for (int k = n - 1; k >= 0; k--) {
            offset += rest % t->dl.shape[k] * strides[k];
            rest /= t->dl.shape[k];
          }
          at[b] = offset;
        }
        return LATTIS_OK;
      };
      if (lattis_status st = parallel_for(0, count, grain / 4, some)) return st;
    }
    p->places = {INT64_MAX, 0, n == 0 ? 0 : even ? strides[n - 1] * item : item};
    return LATTIS_OK;
  }

  // One index tensor is walked as it is; several are added up to offsets. `apart`: also one whose elements do not stand
  // in row-major order or are written to.
  lattis_status offsets(lattis_frame* f, bool apart) {
    const lattis_tensor* only = parts_[0].index.get();
    if (count_ == 1 && !(apart && (only->storage == self_->storage || !is_contiguous(only)))) {
      places_ = parts_[0].places;
      index_ = only->dl.data;
      std::fill(index_strides_, index_strides_ + total_, 0);
      for (int k = 0; k < ndim_; k++) index_strides_[first_ + k] = only->dl.shape[k] == 1 ? 0 : only->dl.strides[k] * 8;
      return apart ? check_indices(f, "indices", only, places_, parts_[0].dim) : LATTIS_OK;
    }
    lattis_tensor* raw;
    if (lattis_status st = api().tensor_empty(ndim_, sizes_, nullptr, LATTIS_INT64, device_of(self_), &raw)) return st;
    offsets_ = Tensor::steal(raw);
    for (int k = 0; k < count_; k++) {
      const Part& p = parts_[k];
      Strips s(raw);
      s.add(p.index.get());
      bool good = true;
      auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
        if (step[0] != 8) {  // a single element, or a walk along another dimension
          for (int64_t i = 0; i < n; i++)
            if (!index_loops().offsets(1, reinterpret_cast<int64_t*>(at[0] + i * step[0]), at[1] + i * step[1], 8,
                                       p.places, k > 0))
              __atomic_store_n(&good, false, __ATOMIC_RELAXED);
        } else if (!index_loops().offsets(n, reinterpret_cast<int64_t*>(at[0]), at[1], step[1], p.places, k > 0)) {
          __atomic_store_n(&good, false, __ATOMIC_RELAXED);
        }
        return LATTIS_OK;
      };
      if (lattis_status st = s.run(grain, body)) return st;
      if (!good) return bad(f, p);
    }
    places_ = {INT64_MAX, 0, 1};
    index_ = raw->dl.data;
    std::fill(index_strides_, index_strides_ + total_, 0);
    byte_strides(raw, index_strides_ + first_);
    return LATTIS_OK;
  }

  lattis_status bad(lattis_frame* f, const Part& p) const {
    return bad_index(f, "indices", p.index.get(), p.places, p.dim);
  }

 public:
  // The error for a bad index found on the way.
  lattis_status bad(lattis_frame* f) const { return bad(f, parts_[0]); }

 private:
  const lattis_tensor* self_ = nullptr;
  // Few are used of the many that there may be: made as they come.
  union {
    Part parts_[LATTIS_MAX_DIMS];
  };
  int count_ = 0, ndim_ = 0, first_ = 0, total_ = 0;
  int64_t sizes_[LATTIS_MAX_DIMS];                                     // of the index shape
  int64_t shape_[2 * LATTIS_MAX_DIMS], strides_[2 * LATTIS_MAX_DIMS];  // of the result; of self, in bytes
  int64_t index_strides_[2 * LATTIS_MAX_DIMS];
  Places places_;
  void* index_ = nullptr;
  Tensor offsets_;
};

bool nothing_indexed(const lattis_value& list) {
  for (uint32_t i = 0; i < list.length; i++)
    if (list.as.tensors[i]) return false;
  return true;
}

lattis_status too_many(lattis_frame*) {
  return fail(LATTIS_RUNTIME_ERROR,
              "index: the result has more than " + std::to_string(LATTIS_MAX_DIMS) + " dimensions");
}

// Rows of memory, one after another.
lattis_status whole_rows(lattis_frame* f, const char* name, int64_t n, const lattis_tensor* out,
                         const lattis_tensor* self, const lattis_tensor* index, int64_t is, const Places& places,
                         int dim) {
  const int64_t bytes = out->numel * itemsize(out) / n;
  bool bad = false;
  auto some = [&](int64_t b, int64_t e) -> lattis_status {
    if (!index_loops().rows(e - b, static_cast<char*>(out->dl.data) + b * bytes, bytes,
                            static_cast<const char*>(self->dl.data), static_cast<const char*>(index->dl.data) + b * is,
                            is, places))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LATTIS_OK;
  };
  const lattis_status st =
      n * bytes < (1 << 18) ? some(0, n) : parallel_for(0, n, std::max<int64_t>((1 << 17) / bytes, 1), some);
  if (st) return st;
  return bad ? bad_index(f, name, index, places, dim) : LATTIS_OK;
}

lattis_status index(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor* self = a[0].as.tensor;
  if (nothing_indexed(a[1])) return copy_into(r[0].as.tensor, self);
  Indexed indexed;
  if (lattis_status st = indexed.read(f, self, a[1], false)) return st;
  if (indexed.ndim() > LATTIS_MAX_DIMS) return too_many(f);
  if (r[0].tag == LATTIS_NONE) {
    lattis_tensor* out;
    if (lattis_status st =
            api().tensor_empty(indexed.ndim(), indexed.shape(), nullptr, self->dtype, device_of(self), &out))
      return st;
    r[0] = value(out);
  }
  const lattis_tensor* out = r[0].as.tensor;
  if (const lattis_tensor* rows = indexed.whole_rows(); rows && out->numel && is_contiguous(out))
    return whole_rows(f, "indices", rows->numel, out, self, rows, 8, indexed.places(), 0);
  auto loop = index_loops().pick[log2_item(itemsize(out))];
  Strips s(out);
  indexed.add_index(s);
  indexed.add_self(s);
  bool bad = false;
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
    if (!loop({n, at[2], step[2], at[1], step[1], at[0], step[0]}, indexed.places()))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LATTIS_OK;
  };
  if (lattis_status st = s.run(grain, body)) return st;
  return bad ? indexed.bad(f) : LATTIS_OK;
}

lattis_status index_put_(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor* self = r[0].as.tensor;
  lattis_tensor* values = a[2].as.tensor;
  Tensor beside;
  if (values->storage == self->storage) {  // reading what is being written: from a copy
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(values->dl.ndim, values->dl.shape, nullptr, values->dtype, device_of(values), &raw))
      return st;
    beside = Tensor::steal(raw);
    if (lattis_status st = copy_into(raw, values)) return st;
    values = raw;
  }
  const bool accumulate = a[3].as.i != 0;
  if (nothing_indexed(a[1]) && !accumulate) return copy_into(self, values);
  Indexed indexed;
  if (lattis_status st = indexed.read(f, self, a[1], true)) return st;
  if (indexed.ndim() > LATTIS_MAX_DIMS) return too_many(f);
  int64_t from[LATTIS_MAX_DIMS];
  const int shift = indexed.ndim() - values->dl.ndim;
  bool fits = shift >= 0;
  for (int d = 0; d < indexed.ndim() && fits; d++) {
    const int64_t n = d < shift ? 1 : values->dl.shape[d - shift];
    fits = n == 1 || n == indexed.shape()[d];
    from[d] = n == 1 ? 0 : values->dl.strides[d - shift] * itemsize(values);
  }
  if (!fits)
    return fail(LATTIS_RUNTIME_ERROR, "index_put_: argument 'values': its shape does not broadcast to the " +
                                          std::to_string(indexed.shape()[0]) + " selected rows");
  auto put = index_loops().put[log2_item(itemsize(self))];
  auto add = index_loops().add[self->dtype];
  auto loop = accumulate ? add : put;
  Strips s(indexed.ndim(), indexed.shape());
  indexed.add_index(s);
  indexed.add_self(s);
  s.add(values->dl.data, from);
  return s.run_apart(indexed.tied(), grain, [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
    loop({n, at[1], step[1], at[0], step[0], at[2], step[2]}, indexed.places());
    return LATTIS_OK;
  });
}

// index_select(self, dim, index) and embedding(weight, indices): one vector or tensor of indices along one dimension.
lattis_status rows_of(lattis_frame* f, const char* name, const lattis_tensor* self, int dim, lattis_tensor* indices,
                      bool vector, const lattis_tensor* out) {
  if (out->numel == 0 && indices->numel == 0) return LATTIS_OK;
  Tensor index;
  if (lattis_status st = as_int64(indices, &index)) return st;
  const bool scalar = self->dl.ndim == 0;
  const Places places = {scalar ? 1 : self->dl.shape[dim], 0, scalar ? 0 : self->dl.strides[dim] * itemsize(self)};
  int64_t by_index[LATTIS_MAX_DIMS], by_self[LATTIS_MAX_DIMS];
  const int width = vector ? (scalar ? 0 : 1) : index.dim();
  for (int d = 0; d < out->dl.ndim; d++) {
    const bool indexed = d >= dim && d < dim + width;
    const int from = d < dim ? d : d - width + 1;
    by_index[d] = !indexed || out->dl.shape[d] == 1 ? 0 : index.strides()[vector ? 0 : d - dim] * 8;
    by_self[d] = indexed || out->dl.shape[d] == 1 ? 0 : self->dl.strides[from] * itemsize(self);
  }
  auto loop = index_loops().pick[log2_item(itemsize(out))];
  if (out->numel == 0) return check_indices(f, name, index.get(), places, dim);
  if (dim == 0 && is_contiguous(out) && is_contiguous(self) && (vector ? index.dim() == 1 : index.contiguous())) {
    const int64_t n = index.numel(), is = vector ? index.strides()[0] * 8 : 8;
    return whole_rows(f, name, n, out, self, index.get(), is, places, dim);
  }
  Strips s(out);
  s.add(index.get()->dl.data, by_index);
  s.add(self->dl.data, by_self);
  bool bad = false;
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
    if (!loop({n, at[2], step[2], at[1], step[1], at[0], step[0]}, places))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LATTIS_OK;
  };
  if (lattis_status st = s.run(grain, body)) return st;
  return bad ? bad_index(f, name, index.get(), places, dim) : LATTIS_OK;
}

lattis_status index_select(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor* self = a[0].as.tensor;
  return rows_of(f, "index", self, wrapped_dim(a[1], self->dl.ndim), a[2].as.tensor, true, r[0].as.tensor);
}

lattis_status embedding(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  return rows_of(f, "indices", a[0].as.tensor, 0, a[1].as.tensor, false, r[0].as.tensor);
}

// ---- slices written by a vector of indices
// ---------------------------------------------------------------------------

using Put = void (*)(const Strip&, const Places&);

// self[…, index[i], …] gets source[…, i, …]; `from`: the source's strides in bytes, its shape is self's but along dim.
lattis_status write_slices(lattis_frame* f, const lattis_tensor* self, const lattis_value& dim, lattis_tensor* indices,
                           char* source, const int64_t* from, bool wrap, Put loop) {
  Tensor index;
  if (lattis_status st = as_int64(indices, &index)) return st;
  const bool scalar = self->dl.ndim == 0;
  const int d = wrapped_dim(dim, self->dl.ndim);
  const int64_t n = scalar ? 1 : self->dl.shape[d];
  const Places places = {n, wrap ? n : 0, scalar ? 0 : self->dl.strides[d] * itemsize(self)};
  if (lattis_status st = check_indices(f, "index", index.get(), places, d)) return st;
  int64_t sizes[LATTIS_MAX_DIMS], by_index[LATTIS_MAX_DIMS] = {}, by_self[LATTIS_MAX_DIMS];
  std::copy(self->dl.shape, self->dl.shape + self->dl.ndim, sizes);
  byte_strides(self, by_self);
  if (!scalar) {
    sizes[d] = index.numel();
    by_index[d] = index.dim() ? index.strides()[0] * 8 : 0;
    by_self[d] = 0;
  }
  Strips s(self->dl.ndim, sizes);
  s.add(index.get()->dl.data, by_index);
  s.add(self->dl.data, by_self);
  s.add(source, from);
  return s.run_apart(uint64_t{1} << d, grain, [&](int64_t k, char* const* at, const int64_t* step) -> lattis_status {
    loop({k, at[1], step[1], at[0], step[0], at[2], step[2]}, places);
    return LATTIS_OK;
  });
}

Put put_of(const lattis_tensor* self) { return index_loops().put[log2_item(itemsize(self))]; }

// self, dim, index, source
lattis_status index_copy_(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  int64_t from[LATTIS_MAX_DIMS] = {};
  byte_strides(a[3].as.tensor, from);
  return write_slices(f, r[0].as.tensor, a[1], a[2].as.tensor, static_cast<char*>(a[3].as.tensor->dl.data), from, false,
                      put_of(r[0].as.tensor));
}

// self, dim, index, source, alpha
lattis_status index_add_(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  static const lattis_operator* mul = api().find_operator("aten::mul", "Tensor");
  lattis_tensor* source = a[3].as.tensor;
  Tensor scaled;
  if (as_double(a[4]) != 1 || a[4].tag == LATTIS_COMPLEX) {
    lattis_tensor* number;
    if (lattis_status st = api().tensor_empty(0, nullptr, nullptr, source->dtype, device_of(source), &number))
      return st;
    const Tensor held = Tensor::steal(number);
    store_number(a[4], source->dtype, number->dl.data);
    const lattis_value args[2] = {a[3], value(number)};
    lattis_value product = none();
    if (lattis_status st = api().call(f, mul, args, &product)) return st;
    scaled = Tensor::steal(product.as.tensor);
    source = scaled.get();
  }
  int64_t from[LATTIS_MAX_DIMS] = {};
  byte_strides(source, from);
  return write_slices(f, r[0].as.tensor, a[1], a[2].as.tensor, static_cast<char*>(source->dl.data), from, false,
                      index_loops().add[source->dtype]);
}

// self, dim, index, value: a number or a zero-dim tensor
lattis_status index_fill_(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor* self = r[0].as.tensor;
  alignas(16) char number[16];
  if (a[3].tag == LATTIS_TENSOR) {
    const lattis_tensor* t = a[3].as.tensor;
    loops().cast[t->dtype][self->dtype](1, number, 0, static_cast<const char*>(t->dl.data), 0);
  } else {
    store_number(a[3], self->dtype, number);
  }
  const int64_t still[LATTIS_MAX_DIMS] = {};
  return write_slices(f, self, a[1], a[2].as.tensor, number, still, true, put_of(self));
}

// The same on a copy.
template <lattis_kernel InPlace>
lattis_status copied(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  if (lattis_status st = copy_into(r[0].as.tensor, a[0].as.tensor)) return st;
  return InPlace(f, a, r);
}

lattis_status take(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (out->numel == 0) return LATTIS_OK;
  Tensor index, packed = Tensor::borrow(a[0].as.tensor);
  if (lattis_status st = as_int64(a[1].as.tensor, &index)) return st;
  if (!is_contiguous(self)) {
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(self->dl.ndim, self->dl.shape, nullptr, self->dtype, device_of(self), &raw))
      return st;
    packed = Tensor::steal(raw);
    if (lattis_status st = copy_into(raw, self)) return st;
  }
  const Places places = {self->numel, self->numel, itemsize(self)};
  const int64_t still[LATTIS_MAX_DIMS] = {};
  auto loop = index_loops().pick[log2_item(itemsize(self))];
  bool bad = false;
  Strips s(out);
  s.add(index.get());
  s.add(packed.get()->dl.data, still);
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
    if (!loop({n, at[2], step[2], at[1], step[1], at[0], step[0]}, places))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LATTIS_OK;
  };
  if (lattis_status st = s.run(grain, body)) return st;
  return bad ? bad_index(f, "index", index.get(), places, 0) : LATTIS_OK;
}

lattis_status index_put(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  if (lattis_status st = copy_into(r[0].as.tensor, a[0].as.tensor)) return st;
  return index_put_(f, a, r);
}

}  // namespace

void register_indexing(Library& m) {
  m.impl("nonzero", "cpu", nonzero)
      .impl("index.Tensor", "cpu", index)
      .impl("index_put_", "cpu", index_put_)
      .impl("index_put", "cpu", index_put)
      .impl("index_add_", "cpu", index_add_, nullptr, LATTIS_KERNEL_CALLS_OPERATORS)
      .impl("index_add", "cpu", copied<index_add_>, nullptr, LATTIS_KERNEL_CALLS_OPERATORS)
      .impl("index_copy_", "cpu", index_copy_)
      .impl("index_copy", "cpu", copied<index_copy_>)
      .impl("index_fill_.int_Scalar", "cpu", index_fill_)
      .impl("index_fill_.int_Tensor", "cpu", index_fill_)
      .impl("index_fill.int_Scalar", "cpu", copied<index_fill_>)
      .impl("index_fill.int_Tensor", "cpu", copied<index_fill_>)
      .impl("take", "cpu", take)
      .impl("index_select", "cpu", index_select)
      .impl("embedding", "cpu", embedding);
}

}  // namespace lattis::cpu
