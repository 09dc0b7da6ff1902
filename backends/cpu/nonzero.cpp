// The places of nonzero elements: nonzero, and masked_scatter, which writes to the places of a mask.
#include "backends/cpu/nonzero.h"

#include <string>

#include "backends/cpu/gather.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

lamella_status nonzero(lamella_frame*, const lamella_value* a, lamella_value* r) {
  lamella_tensor *self = a[0].as.tensor, *out;
  Tensor bytes;
  if (lamella_status st = as_bytes(self, &bytes)) return st;
  const Found found(bytes);
  if (found.status) return found.status;
  const int ndim = self->dl.ndim;
  const int64_t count = found.count(), sizes[2] = {count, ndim};
  if (lamella_status st = api().tensor_empty(2, sizes, nullptr, LAMELLA_INT64, device_of(self), &out)) return st;
  r[0] = value(out);
  if (ndim == 0 || count == 0) return LAMELLA_OK;
  auto* data = static_cast<int64_t*>(out->dl.data);
  if (ndim == 1) return found.write(data);
  std::vector<int64_t> far;
  int64_t near[64], *flat = near;
  if (count > 64) {
    far.resize(count);
    flat = far.data();
  }
  if (lamella_status st = found.write(flat)) return st;
  auto take_apart = [&](int64_t b, int64_t e) -> lamella_status {
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
    return LAMELLA_OK;
  };
  return count <= grain / 4 ? take_apart(0, count) : parallel_for(0, count, grain / 4, take_apart);
}

lamella_status contiguous(lamella_tensor* t, Tensor* out) {
  if (is_contiguous(t)) {
    *out = Tensor::borrow(t);
    return LAMELLA_OK;
  }
  lamella_tensor* raw;
  if (lamella_status st = api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, t->dtype, device_of(t), &raw)) return st;
  *out = Tensor::steal(raw);
  return copy_into(raw, t);
}

// self, mask, source
lamella_status masked_scatter(lamella_frame*, const lamella_value* a, lamella_value* r) {
  lamella_tensor *self = a[0].as.tensor, *mask = a[1].as.tensor, *out = r[0].as.tensor;
  Tensor bytes, source, target;
  lamella_tensor* raw;
  if (lamella_status st =
          api().tensor_empty(self->dl.ndim, self->dl.shape, nullptr, LAMELLA_BOOL, device_of(self), &raw))
    return st;
  bytes = Tensor::steal(raw);
  if (lamella_status st = copy_into(raw, mask)) return st;  // which broadcasts
  const Found found(bytes);
  if (found.status) return found.status;
  const int64_t count = found.count();
  if (count > a[2].as.tensor->numel)
    return fail(LAMELLA_RUNTIME_ERROR, "masked_scatter: argument 'source': " + std::to_string(a[2].as.tensor->numel) +
                                           " elements for " + std::to_string(count) + " places of the mask");
  Space places;
  if (lamella_status st = places.take(count * 8)) return st;
  if (lamella_status st = found.write(reinterpret_cast<int64_t*>(places.data()))) return st;
  if (lamella_status st = contiguous(a[2].as.tensor, &source)) return st;
  if (lamella_status st = contiguous(out, &target)) return st;
  if (target.get()->dl.data != self->dl.data)
    if (lamella_status st = copy_into(target.get(), self)) return st;
  const int64_t item = itemsize(self);
  if (count)
    index_loops().put[log2_item(item)]({count, target.data<char>(), 0, places.data(), 8, source.data<char>(), item},
                                       {INT64_MAX, 0, item});
  return target.get() == out ? LAMELLA_OK : copy_into(out, target.get());
}

}  // namespace

void register_nonzero(Library& m) { m.impl("nonzero", "cpu", nonzero).impl("masked_scatter", "cpu", masked_scatter); }

}  // namespace lamella::cpu
