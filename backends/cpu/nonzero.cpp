// The places of nonzero elements: nonzero, and masked_scatter, which writes to the places of a mask.
#include "backends/cpu/nonzero.h"

#include <string>

#include "backends/cpu/gather.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

Tensor nonzero(const Tensor& self) {
  const Operand bytes = as_bytes(self.get());
  const Found found(bytes);
  check(found.status);
  const int ndim = self.get()->dl.ndim;
  const int64_t count = found.count(), sizes[2] = {count, ndim}, *shape = self.get()->dl.shape;
  Tensor out = allocate({sizes, 2}, LAMELLA_INT64, device_of(self.get()));
  if (ndim == 0 || count == 0) return out;
  auto* data = static_cast<int64_t*>(out.get()->dl.data);
  if (ndim == 1) {
    check(found.write(data));
    return out;
  }
  std::vector<int64_t> far;
  int64_t near[64], *flat = near;
  if (count > 64) {
    far.resize(count);
    flat = far.data();
  }
  check(found.write(flat));
  auto take_apart = [&](int64_t b, int64_t e) -> lamella_status {
    for (; b < e; b++) {
      auto rest = static_cast<uint64_t>(flat[b]);
      for (int d = ndim - 1; d > 0; d--) {
        const auto size = static_cast<uint64_t>(shape[d]);
        const uint64_t q =
            (rest | size) >> 32 ? rest / size : static_cast<uint32_t>(rest) / static_cast<uint32_t>(size);
        data[b * ndim + d] = static_cast<int64_t>(rest - q * size);
        rest = q;
      }
      data[b * ndim] = static_cast<int64_t>(rest);
    }
    return LAMELLA_OK;
  };
  check(count <= grain / 4 ? take_apart(0, count) : parallel_for(0, count, grain / 4, take_apart));
  return out;
}

Status masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source, const Tensor& out) {
  const lamella_tensor* like = out.get();  // the common shape of self and the mask
  const Tensor spread = allocate_like(like, LAMELLA_BOOL);
  if (lamella_status st = copy_into(spread.get(), mask.get())) return st;  // broadcasts
  const Operand bytes(spread);
  const Found found(bytes);
  if (found.status) return found.status;
  const int64_t count = found.count();
  if (count > source.numel())
    return fail(LAMELLA_RUNTIME_ERROR, "masked_scatter: argument 'source': " + std::to_string(source.numel()) +
                                           " elements for " + std::to_string(count) + " places of the mask");
  Space places;
  if (lamella_status st = places.take(count * 8)) return st;
  if (lamella_status st = found.write(reinterpret_cast<int64_t*>(places.data()))) return st;
  const Operand from(source);
  const Result target(out);
  if (target->dl.data != self.get()->dl.data)
    if (lamella_status st = copy_into(target.get(), self.get())) return st;
  const int64_t item = itemsize(like);
  if (count)
    index_loops().put[log2_item(item)](
        {count, target.data(), 0, places.data(), 8, const_cast<char*>(from.data()), item}, {INT64_MAX, 0, item});
  return target.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<nonzero>(m, "nonzero");
  add<masked_scatter>(m, "masked_scatter");
}

}  // namespace lamella::cpu
