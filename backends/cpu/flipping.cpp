// Elements that change places along a dimension: flip and roll.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/parts.h"

namespace lamella::cpu {
namespace {

Status flip(const Tensor& self, IntArrayRef dims, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  const lamella_tensor* t = self.get();
  const int64_t item = itemsize(t);
  int64_t strides[LAMELLA_MAX_DIMS];
  byte_strides(t, strides);
  auto* from = static_cast<char*>(t->dl.data);
  for (size_t i = 0; i < dims.size() && t->dl.ndim; i++) {
    const int d = static_cast<int>(dims[i] < 0 ? dims[i] + t->dl.ndim : dims[i]);
    from += (t->dl.shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  auto reverse = index_loops().reverse[log2_item(item)];
  CastLoop same = loops().cast[t->dtype][t->dtype];
  Strips s(out.get());
  s.add(from, strides);
  return s.run(grain, [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (step[0] == item && step[1] == -item)
      reverse(n, at[0], at[1]);
    else
      same(n, at[0], step[0], at[1], step[1]);
    return LAMELLA_OK;
  });
}

// Cuts each rolled dimension in two and exchanges the parts.
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

Status roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  if (!dims.empty() && self.dim())
    return roll_parts(Part(out.get()), Part(self.get()), shifts.data(), dims.data(), static_cast<int>(dims.size()));
  if (self.dim() == 0) return copy_into(out.get(), self.get());
  const Operand packed(self);
  const Result target(out);
  const int64_t item = self.itemsize(), n = self.numel(), k = (shifts[0] % n + n) % n;
  char* to = target.data();
  const char* from = packed.data();
  if (lamella_status st = copy_bytes(to + k * item, from, (n - k) * item)) return st;
  if (lamella_status st = copy_bytes(to, from + (n - k) * item, k * item)) return st;
  return target.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<flip>(m, "flip");
  add<roll>(m, "roll");
}

}  // namespace lamella::cpu
