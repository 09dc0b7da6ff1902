// Device `cuda` registers itself through the C ABI, as any plugin does: its memory, streams and copies, then kernels.
#include "devices.h"
#include "kernels.h"

namespace cuda {

LAMELLA_LIBRARY_FRAGMENT(aten, m) {
  LAMELLA_CHECK(open_driver().empty(), open_driver());
  LAMELLA_CHECK(open_nvrtc().empty(), open_nvrtc());
  static lamella_backend b{};
  b.size = sizeof b;
  b.name = "cuda";
  b.dlpack_type = kDLCUDA;
  b.flags = LAMELLA_BACKEND_CPU_FALLBACK;
  add_properties(b);
  add_memory(b);
  add_pinned(b);
  add_copies(b);
  add_streams(m, b);
  m.backend(b, nullptr);
  add_pointwise(m);
  add_reductions(m);
  add_scans(m);
  add_random(m);
  add_arange(m);
  add_products(m);
  add_gather(m);
  add_indexing(m);
  add_nonzero(m);
  add_sorts(m);
  add_softmax(m);
  add_norms(m);
  add_losses(m);
  add_updates(m);
  add_convolutions(m);
  add_pools(m);
  add_attention(m);
  add_code(m);
}

}  // namespace cuda
