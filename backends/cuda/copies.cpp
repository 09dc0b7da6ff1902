// Copies of bytes: between a device and the host, on a device, and between two devices of this kind.
#include "faults.h"
#include "memory.h"

namespace cuda {
namespace {

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

struct Order {  // an event that lives until the copy is queued
  CUevent event = nullptr;
  explicit Order(int device) {
    enter(device);
    require(driver().event_create(&event, CU_EVENT_DISABLE_TIMING), "cuda: ordering a copy between devices");
  }
  ~Order() { driver().event_destroy(event); }
  void behind(int device, CUstream s, int other_device, CUstream other) {  // s waits for the work now on `other`
    enter(other_device);
    require(driver().event_record(event, other), "cuda: ordering a copy between devices");
    enter(device);
    require(driver().stream_wait(s, event, 0), "cuda: ordering a copy between devices");
  }
};

lamella_status between_devices(const lamella_copy* c) {
  const int from = c->from.index, to = c->to.index;
  const CUstream source = current_stream(from), target = current_stream(to);
  enter(from);
  if (from == to)
    return checked(driver().copy_on_device(address(c->dst), address(c->src), c->bytes, source), "cuda: a copy");
  Order before(to), after(from);
  before.behind(from, source, to, target);
  require(driver().copy_to_peer(address(c->dst), context_of(to), address(c->src), context_of(from), c->bytes, source),
          "cuda: a copy between devices");
  after.behind(to, target, from, source);
  return LAMELLA_OK;
}

// The driver reads pageable memory before its function returns, but pinned memory later. So a copy to the host or from
// pinned memory waits for the stream, unless the caller lets it run later and keep_pinned() keeps the block.
lamella_status move(const lamella_copy* c, int32_t* done) {
  const bool later = c->flags & LAMELLA_COPY_NON_BLOCKING;
  if (c->flags & LAMELLA_COPY_TO_HOST) {
    const int device = c->from.index;
    const CUstream s = current_stream(device);
    enter(device);
    require(driver().copy_to_host(c->dst, address(c->src), c->bytes, s), "cuda: a copy to the host");
    if (later && keep_pinned(c->dst, device, s)) return LAMELLA_OK;
    const CUresult r = driver().stream_synchronize(s);
    const lamella_status late = raise_fault(device, s);
    return late ? late : checked(r, "cuda: a copy to the host");
  }
  if (c->flags & LAMELLA_COPY_FROM_HOST) {
    const int device = c->to.index;
    const CUstream s = current_stream(device);
    enter(device);
    require(driver().copy_to_device(address(c->dst), c->src, c->bytes, s), "cuda: a copy from the host");
    unsigned kind = 0;
    if (later && keep_pinned(c->src, device, s)) return LAMELLA_OK;
    const bool locked = is_pinned(c->src) || (driver().pointer_attribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                                         address(c->src)) == CUDA_SUCCESS &&
                                              kind == CU_MEMORYTYPE_HOST);
    return locked ? checked(driver().stream_synchronize(s), "cuda: a copy from the host") : LAMELLA_OK;
  }
  // The other device's backend may support this copy; else the bytes go through the host.
  if (c->to.backend != c->from.backend) return *done = 0, LAMELLA_OK;
  return between_devices(c);
}

}  // namespace

void add_copies(lamella_backend& b) {
  b.copy = [](void*, const lamella_copy* c, int32_t* done) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status { return *done = 1, move(c, done); });
  };
}

}  // namespace cuda
