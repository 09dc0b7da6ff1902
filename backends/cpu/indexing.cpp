// self[indices] for index tensors and masks, read and written. Each element of the index shape becomes an offset in
// bytes into self, unless a single index tensor can be read as it is; elements are then picked from or put at these
// places.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/nonzero.h"

namespace lamella::cpu {
namespace {

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

// self indexed by a list of index tensors: its dimensions before them, the index shape, its dimensions after them. If
// the index tensors are not neighbours in the list, the index shape comes first.
class Indexed {
 public:
  Indexed() {}  // NOLINT: each part is constructed when it is added
  Indexed(const Indexed&) = delete;
  ~Indexed() {
    for (int k = 0; k < count_; k++) parts_[k].~Part();
  }

  lamella_status read(lamella_frame* f, const lamella_tensor* self, TensorList list, bool apart) {
    self_ = self;
    const int64_t item = itemsize(self);
    int d = 0, last = -1, first = -1;
    bool adjacent = true;
    int kept[LAMELLA_MAX_DIMS], kept_count = 0, lead = 0;
    for (size_t i = 0; i < list.size(); i++) {
      lamella_tensor* t = list[i].get();
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
      if (t->dtype == LAMELLA_BOOL) {
        if (lamella_status st = masked(t, d, &p)) return st;
        d += t->dl.ndim;
      } else {
        p.index = as_int64(t);
        const int64_t n = self->dl.shape[d];
        p.places = {n, n, self->dl.strides[d] * item};
        d++;
      }
      if (!broadcast_into(&ndim_, sizes_, p.index->dl.ndim, p.index->dl.shape))
        return fail(
            LAMELLA_INDEX_ERROR,
            lamella::detail::text(
                title(f), ": argument 'indices': the shapes of masks and index tensors do not broadcast; index ", i,
                " gives shape ", IntArrayRef(p.index->dl.shape, static_cast<size_t>(p.index->dl.ndim))));
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

  // Returns the only index tensor if it picks whole rows, of at least 16 bytes, of a contiguous self, else null.
  const lamella_tensor* whole_rows() const {
    const lamella_tensor* only = parts_[0].index.get();
    const bool plain = count_ == 1 && parts_[0].dim == 0 && places_.scale >= 16 && is_contiguous(self_);
    return plain && is_contiguous(only) && index_ == only->dl.data ? only : nullptr;
  }

  // `add_index` adds the index or the offsets to the operands of a walk; `add_self` adds self.
  void add_index(Strips& s) const { s.add(index_, index_strides_); }
  void add_self(Strips& s) const { s.add(self_->dl.data, strides_); }

 private:
  struct Part {
    Operand index;  // int64
    Places places;
    int dim;
  };

  void keep(int d, int64_t item) {
    shape_[total_] = self_->dl.shape[d];
    strides_[total_++] = self_->dl.shape[d] == 1 ? 0 : self_->dl.strides[d] * item;
  }

  // Replaces a mask by the offsets of the elements that it selects.
  lamella_status masked(lamella_tensor* t, int d, Part* p) {
    const Operand bytes = as_bytes(t);
    const Found found(bytes);
    if (found.status) return found.status;
    const int64_t count = found.count();
    const Tensor places = allocate(count, LAMELLA_INT64, device_of(t));
    p->index = Operand::made(places);
    auto* at = static_cast<int64_t*>(places.get()->dl.data);
    if (lamella_status st = found.write(at)) return st;
    const int n = t->dl.ndim;
    const int64_t item = itemsize(self_), *strides = self_->dl.strides + d;
    bool even = true;  // the mask's dimensions are walked by one stride
    for (int k = 0; k + 1 < n; k++) even = even && strides[k] == strides[k + 1] * t->dl.shape[k + 1];
    if (n > 0 && !even) {
      auto some = [&](int64_t b, int64_t e) -> lamella_status {
        for (; b < e; b++) {
          int64_t rest = at[b], offset = 0;
          for (int k = n - 1; k >= 0; k--) {
            offset += rest % t->dl.shape[k] * strides[k];
            rest /= t->dl.shape[k];
          }
          at[b] = offset;
        }
        return LAMELLA_OK;
      };
      if (lamella_status st = parallel_for(0, count, grain / 4, some)) return st;
    }
    p->places = {INT64_MAX, 0, n == 0 ? 0 : even ? strides[n - 1] * item : item};
    return LAMELLA_OK;
  }

  // Chooses the index that the loops read: a single tensor as it is, or offsets. Several index tensors are added up to
  // offsets. A single one becomes offsets if it is read several times, for slices along the dimensions before its own,
  // or, with `apart`, if it is not contiguous or shares memory with self. With `apart`, bad indices raise here.
  lamella_status offsets(lamella_frame* f, bool apart) {
    const lamella_tensor* only = parts_[0].index.get();
    int64_t slices = 1;
    for (int k = 0; k < first_; k++) slices *= shape_[k];
    if (count_ == 1 && slices <= 1 && !(apart && (only->storage == self_->storage || !is_contiguous(only)))) {
      places_ = parts_[0].places;
      index_ = only->dl.data;
      std::fill(index_strides_, index_strides_ + total_, 0);
      for (int k = 0; k < ndim_; k++) index_strides_[first_ + k] = only->dl.shape[k] == 1 ? 0 : only->dl.strides[k] * 8;
      return apart ? check_indices(f, "indices", only, places_, parts_[0].dim) : LAMELLA_OK;
    }
    offsets_ = allocate({sizes_, static_cast<size_t>(ndim_)}, LAMELLA_INT64, device_of(self_));
    const lamella_tensor* raw = offsets_.get();
    for (int k = 0; k < count_; k++) {
      const Part& p = parts_[k];
      Strips s(raw);
      s.add(p.index.get());
      bool good = true;
      auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
        if (step[0] != 8) {  // a single element, or a walk along another dimension
          for (int64_t i = 0; i < n; i++)
            if (!index_loops().offsets(1, reinterpret_cast<int64_t*>(at[0] + i * step[0]), at[1] + i * step[1], 8,
                                       p.places, k > 0))
              __atomic_store_n(&good, false, __ATOMIC_RELAXED);
        } else if (!index_loops().offsets(n, reinterpret_cast<int64_t*>(at[0]), at[1], step[1], p.places, k > 0)) {
          __atomic_store_n(&good, false, __ATOMIC_RELAXED);
        }
        return LAMELLA_OK;
      };
      if (lamella_status st = s.run(grain, body)) return st;
      if (!good) return bad(f, p);
    }
    places_ = Places::offsets();
    index_ = raw->dl.data;
    std::fill(index_strides_, index_strides_ + total_, 0);
    byte_strides(raw, index_strides_ + first_);
    return LAMELLA_OK;
  }

  lamella_status bad(lamella_frame* f, const Part& p) const {
    return bad_index(f, "indices", p.index.get(), p.places, p.dim);
  }

 public:
  // Raises the error for a bad index that a loop has found.
  lamella_status bad(lamella_frame* f) const { return bad(f, parts_[0]); }

 private:
  const lamella_tensor* self_ = nullptr;
  // Only the first count_ parts are constructed, since most of the possible parts are not used.
  union {
    Part parts_[LAMELLA_MAX_DIMS];
  };
  int count_ = 0, ndim_ = 0, first_ = 0, total_ = 0;
  int64_t sizes_[LAMELLA_MAX_DIMS];                                      // the index shape
  int64_t shape_[2 * LAMELLA_MAX_DIMS], strides_[2 * LAMELLA_MAX_DIMS];  // the result's shape; self's byte strides
  int64_t index_strides_[2 * LAMELLA_MAX_DIMS];
  Places places_;
  void* index_ = nullptr;
  Tensor offsets_;
};

lamella_status too_many(lamella_frame* f, const Indexed& indexed) {
  return fail(LAMELLA_RUNTIME_ERROR,
              lamella::detail::text(title(f), ": argument 'indices': the selected elements would have ", indexed.ndim(),
                                    " dimensions, and at most ", LAMELLA_MAX_DIMS, " are supported"));
}

// Copies the elements at the indices to out.
lamella_status pick(lamella_frame* f, const lamella_tensor* self, const Indexed& indexed, const lamella_tensor* out) {
  if (const lamella_tensor* rows = indexed.whole_rows(); rows && out->numel && is_contiguous(out))
    return whole_rows(f, "indices", rows->numel, out, self, rows, 8, indexed.places(), 0);
  auto loop = index_loops().pick[log2_item(itemsize(out))];
  Strips s(out);
  indexed.add_index(s);
  indexed.add_self(s);
  bool bad = false;
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (!loop({n, at[2], step[2], at[1], step[1], at[0], step[0]}, indexed.places()))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LAMELLA_OK;
  };
  if (lamella_status st = s.run(grain, body)) return st;
  return bad ? indexed.bad(f) : LAMELLA_OK;
}

Status index_into(lamella_frame* f, const Tensor& self, TensorList indices, const Tensor& out) {
  if (nothing_indexed(indices)) return copy_into(out.get(), self.get());
  Indexed indexed;
  if (lamella_status st = indexed.read(f, self.get(), indices, false)) return st;
  if (indexed.ndim() > LAMELLA_MAX_DIMS) return too_many(f, indexed);
  return pick(f, self.get(), indexed, out.get());
}

// Serves indices with masks among them: the number of elements that these select decides the result's shape.
Tensor index_by_masks(lamella_frame* f, const Tensor& self, TensorList indices) {
  Indexed indexed;
  check(indexed.read(f, self.get(), indices, false));
  if (indexed.ndim() > LAMELLA_MAX_DIMS) check(too_many(f, indexed));
  Tensor out =
      allocate({indexed.shape(), static_cast<size_t>(indexed.ndim())}, self.get()->dtype, device_of(self.get()));
  check(pick(f, self.get(), indexed, out.get()));
  return out;
}

// The adapter of a typed function.
template <auto Kernel>
using Typed = detail::SignatureFor<detail::Constant<Kernel>>;

// Calls index_into if the shape rule has allocated the result, else index_by_masks: masks leave the shape open.
lamella_status index(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const bool allocated = rets->tag == LAMELLA_TENSOR;
  return (allocated ? Typed<index_into>::kernel() : Typed<index_by_masks>::kernel())(f, args, rets);
}

// Adds values, which broadcast, to self.
lamella_status add_into(lamella_frame* f, lamella_tensor* self, lamella_tensor* values) {
  static const lamella_operator* add = api().find_operator("aten::add_", "Tensor");
  const lamella_value args[3] = {value(self), value(values), value(1)};
  lamella_value sum = none();
  if (lamella_status st = api().call(f, add, args, 3, &sum, 1)) return st;
  api().value_release(&sum);
  return LAMELLA_OK;
}

// Writes values to self[indices], or adds them if `accumulate`.
lamella_status put_into(lamella_frame* f, lamella_tensor* self, TensorList indices, lamella_tensor* values,
                        bool accumulate) {
  Tensor beside;
  if (values->storage == self->storage) {  // self is written while values are read, so the values are copied
    beside = allocate_like(values, values->dtype);
    if (lamella_status st = copy_into(beside.get(), values)) return st;
    values = beside.get();
  }
  if (nothing_indexed(indices)) return accumulate ? add_into(f, self, values) : copy_into(self, values);
  Indexed indexed;
  if (lamella_status st = indexed.read(f, self, indices, true)) return st;
  if (indexed.ndim() > LAMELLA_MAX_DIMS) return too_many(f, indexed);
  int64_t from[LAMELLA_MAX_DIMS];
  const int shift = indexed.ndim() - values->dl.ndim;
  bool fits = shift >= 0;
  for (int d = 0; d < indexed.ndim() && fits; d++) {
    const int64_t n = d < shift ? 1 : values->dl.shape[d - shift];
    fits = n == 1 || n == indexed.shape()[d];
    from[d] = n == 1 ? 0 : values->dl.strides[d - shift] * itemsize(values);
  }
  if (!fits)
    return fail(LAMELLA_RUNTIME_ERROR,
                lamella::detail::text(title(f), ": argument 'values': shape ",
                                      IntArrayRef(values->dl.shape, static_cast<size_t>(values->dl.ndim)),
                                      " does not broadcast to the indexed shape ",
                                      IntArrayRef(indexed.shape(), static_cast<size_t>(indexed.ndim()))));
  auto put = index_loops().put[log2_item(itemsize(self))];
  auto add = index_loops().fold[INDEX_SUM][self->dtype];
  auto loop = accumulate ? add : put;
  Strips s(indexed.ndim(), indexed.shape());
  indexed.add_index(s);
  indexed.add_self(s);
  s.add(values->dl.data, from);
  return s.run_apart(indexed.tied(), grain, 1, [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    loop({n, at[1], step[1], at[0], step[0], at[2], step[2]}, indexed.places());
    return LAMELLA_OK;
  });
}

Status index_put_(lamella_frame* f, const Tensor&, TensorList indices, const Tensor& values, bool accumulate,
                  const Tensor& out) {
  return put_into(f, out.get(), indices, values.get(), accumulate);
}
Status index_put(lamella_frame* f, const Tensor& self, TensorList indices, const Tensor& values, bool accumulate,
                 const Tensor& out) {
  if (lamella_status st = copy_into(out.get(), self.get())) return st;
  return put_into(f, out.get(), indices, values.get(), accumulate);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  m.impl("index.Tensor", "cpu", index);
  m.impl<index_put_>("index_put_", "cpu", LAMELLA_KERNEL_CALLS_OPERATORS);
  m.impl<index_put>("index_put", "cpu", LAMELLA_KERNEL_CALLS_OPERATORS);
}

}  // namespace lamella::cpu
