// Elements that change places along a dimension: flip and roll.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/parts.h"

namespace lamella::cpu {
namespace {

lamella_status flip(lamella_frame*, const lamella_value* a, lamella_value* r) {
  const lamella_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (out->numel == 0) return LAMELLA_OK;
  const int64_t item = itemsize(self);
  int64_t strides[LAMELLA_MAX_DIMS];
  byte_strides(self, strides);
  auto* from = static_cast<char*>(self->dl.data);
  for (uint32_t i = 0; i < a[1].length && self->dl.ndim; i++) {
    const int d = static_cast<int>(a[1].as.ints[i] < 0 ? a[1].as.ints[i] + self->dl.ndim : a[1].as.ints[i]);
    from += (self->dl.shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  auto reverse = index_loops().reverse[log2_item(item)];
  CastLoop same = loops().cast[self->dtype][self->dtype];
  Strips s(out);
  s.add(from, strides);
  return s.run(grain, [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (step[0] == item && step[1] == -item)
      reverse(n, at[0], at[1]);
    else
      same(n, at[0], step[0], at[1], step[1]);
    return LAMELLA_OK;
  });
}

// Each rolled dimension is cut in two; the parts change places.
lamella_status roll_parts(const Part& to, const Part& from, const int64_t* shifts, const int64_t* dims, int count) {
  if (count == 0) return copy_into(&to.t, &from.t);
  const int d = static_cast<int>(dims[0] < 0 ? dims[0] + from.t.dl.ndim : dims[0]);
  const int64_t n = from.sizes[d], k = (shifts[0] % n + n) % n;
  for (int part = 0; part < 2; part++) {
    const int64_t length = part ? k : n - k;
    if (length == 0) continue;
    Part x(to), y(from);
    x.narrow(d, part ? 0 : k, length);
    y.narrow(d, part ? n - k : 0, length);
    if (lamella_status st = roll_parts(x, y, shifts + 1, dims + 1, count - 1)) return st;
  }
  return LAMELLA_OK;
}

lamella_status roll(lamella_frame*, const lamella_value* a, lamella_value* r) {
  const lamella_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (out->numel == 0) return LAMELLA_OK;
  if (a[2].length && self->dl.ndim)
    return roll_parts(Part(out), Part(self), a[1].as.ints, a[2].as.ints, static_cast<int>(a[2].length));
  if (self->dl.ndim == 0) return copy_into(out, self);
  Tensor packed = Tensor::borrow(a[0].as.tensor), target = Tensor::borrow(r[0].as.tensor);
  auto contiguous = [](const lamella_tensor* like, Tensor* made) -> lamella_status {
    lamella_tensor* raw;
    if (lamella_status st =
            api().tensor_empty(like->dl.ndim, like->dl.shape, nullptr, like->dtype, device_of(like), &raw))
      return st;
    *made = Tensor::steal(raw);
    return LAMELLA_OK;
  };
  if (!packed.contiguous()) {
    if (lamella_status st = contiguous(self, &packed)) return st;
    if (lamella_status st = copy_into(packed.get(), self)) return st;
  }
  if (!target.contiguous())
    if (lamella_status st = contiguous(out, &target)) return st;
  const int64_t item = itemsize(self), n = self->numel, k = (a[1].as.ints[0] % n + n) % n;
  char* to = target.data<char>();
  const char* from = packed.data<char>();
  if (lamella_status st = copy_bytes(to + k * item, from, (n - k) * item)) return st;
  if (lamella_status st = copy_bytes(to, from + (n - k) * item, k * item)) return st;
  return target.get() == out ? LAMELLA_OK : copy_into(out, target.get());
}

}  // namespace

void register_flipping(Library& m) { m.impl("flip", "cpu", flip).impl("roll", "cpu", roll); }

}  // namespace lamella::cpu
