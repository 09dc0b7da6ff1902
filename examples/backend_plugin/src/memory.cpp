// The banks' memory: host memory under sealed pointers, pooled by the pool that Lattis lends to any backend.
#include "bank.h"

#include <cstdlib>

namespace bank {
namespace {

lattis_status alloc(void*, int64_t bytes, int32_t index, void*, void** out) {
  void* host = std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64));
  if (!host) return lattis::fail(LATTIS_OUT_OF_MEMORY, "bank: cannot allocate " + std::to_string(bytes) + " bytes");
  *out = seal(host, index);
  return LATTIS_OK;
}

void release(void*, void* data, int64_t, int32_t) { std::free(open(data)); }

}  // namespace

const lattis_allocator* memory() {
  static const lattis_allocator upstream = {sizeof upstream, nullptr, alloc, release, nullptr, nullptr, nullptr};
  const lattis_allocator* pool = nullptr;
  lattis::api().host_pool(&upstream, int64_t{64} << 20, &pool);
  return pool;
}

// Either side may be the host's.
lattis_status copy_bytes(void*, int32_t, void* dst, const void* src, int64_t bytes) {
  std::memcpy(open(dst), open(src), static_cast<size_t>(bytes));
  return LATTIS_OK;
}

}  // namespace bank
