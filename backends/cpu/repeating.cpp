// Repeating dimensions and elements: one copy between two views of more dimensions.
#include <string>

#include "backends/cpu/gather.h"
#include "backends/cpu/parts.h"

namespace lamella::cpu {
namespace {

// A source and where it is copied to, dimension by dimension.
struct Pair {
  Part to, from;

  Pair(const lamella_tensor* out, const lamella_tensor* self) : to(out), from(self) {
    to.t.dl.ndim = from.t.dl.ndim = 0;
  }
  bool add(int64_t n, int64_t to_stride, int64_t from_stride) {
    if (n == 1) return true;
    int& k = to.t.dl.ndim;
    if (k == LAMELLA_MAX_DIMS) return false;
    to.sizes[k] = from.sizes[k] = n;
    to.strides[k] = to_stride;
    from.strides[k++] = from_stride;
    from.t.dl.ndim = k;
    return true;
  }
  lamella_status copy() const {
    const Part x(to), y(from);
    return copy_into(&x.t, &y.t);
  }
};

// self, counts; dimensions that are new come first
lamella_status repeat(lamella_frame*, const lamella_value* a, lamella_value* r) {
  const lamella_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (out->numel == 0) return LAMELLA_OK;
  Pair p(out, self);
  const int lead = out->dl.ndim - self->dl.ndim;
  bool fits = true;
  for (int d = 0; d < out->dl.ndim; d++) {
    const int64_t n = d < lead ? 1 : self->dl.shape[d - lead], stride = out->dl.strides[d];
    fits = fits && p.add(out->dl.shape[d] / n, n * stride, 0) &&
           p.add(n, stride, d < lead ? 0 : self->dl.strides[d - lead]);
  }
  return fits ? p.copy() : fail(LAMELLA_RUNTIME_ERROR, "repeat: argument 'repeats': too many dimensions are repeated");
}

// self, count, dim: each position of a dimension, or each element, so often in a row
lamella_status repeat_interleave(lamella_frame*, const lamella_value* a, lamella_value* r) {
  const lamella_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (out->numel == 0) return LAMELLA_OK;
  Pair p(out, self);
  const int64_t count = a[1].as.i;
  const bool whole = a[2].tag == LAMELLA_NONE || self->dl.ndim == 0;
  const int dim = whole ? -1 : wrapped_dim(a[2], self->dl.ndim);
  bool fits = true;
  int64_t rest = self->numel;
  for (int d = 0; d < self->dl.ndim; d++) {
    const int64_t n = self->dl.shape[d];
    rest /= n;
    const int64_t stride = whole ? rest * count * out->dl.strides[0] : out->dl.strides[d] * (d == dim ? count : 1);
    fits = fits && p.add(n, stride, self->dl.strides[d]);
    if (d == dim) fits = fits && p.add(count, out->dl.strides[d], 0);
  }
  if (whole) fits = fits && p.add(count, out->dl.strides[0], 0);
  return fits ? p.copy()
              : fail(LAMELLA_RUNTIME_ERROR, "repeat_interleave: argument 'self': it has no room for a dimension");
}

template <class T>
void positions(int64_t n, const int64_t* counts, int64_t step, lamella_tensor* out) {
  auto* to = static_cast<T*>(out->dl.data);
  for (int64_t i = 0; i < n; i++) to = std::fill_n(to, counts[i * step], static_cast<T>(i));
}

// repeats: position i as often as repeats[i] says
lamella_status repeat_interleave_counts(lamella_frame*, const lamella_value* a, lamella_value* r) {
  lamella_tensor *repeats = a[0].as.tensor, *out;
  Tensor counts;
  if (lamella_status st = as_int64(repeats, &counts)) return st;
  const auto* from = counts.data<int64_t>();
  const int64_t n = counts.numel(), step = counts.strides()[0];
  int64_t total = 0;
  for (int64_t i = 0; i < n; i++)
    if (from[i * step] < 0 || __builtin_add_overflow(total, from[i * step], &total))
      return fail(LAMELLA_RUNTIME_ERROR,
                  "repeat_interleave: argument 'repeats': expected no negative count, and a sum " +
                      std::string("below 2^63; got ") + std::to_string(from[i * step]));
  const bool narrow = repeats->dtype == LAMELLA_INT32;
  if (lamella_status st =
          api().tensor_empty(1, &total, nullptr, narrow ? LAMELLA_INT32 : LAMELLA_INT64, device_of(repeats), &out))
    return st;
  r[0] = value(out);
  (narrow ? positions<int32_t> : positions<int64_t>)(n, from, step, out);
  return LAMELLA_OK;
}

}  // namespace

void register_repeating(Library& m) {
  m.impl("repeat", "cpu", repeat)
      .impl("tile", "cpu", repeat)
      .impl("repeat_interleave.self_int", "cpu", repeat_interleave)
      .impl("repeat_interleave.Tensor", "cpu", repeat_interleave_counts);
}

}  // namespace lamella::cpu
