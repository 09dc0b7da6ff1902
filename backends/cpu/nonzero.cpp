#include "backends/cpu/nonzero.h"

#include "backends/cpu/gather.h"

namespace lattis::cpu {
namespace {

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

}  // namespace

void register_nonzero(Library& m) { m.impl("nonzero", "cpu", nonzero); }

}  // namespace lattis::cpu
