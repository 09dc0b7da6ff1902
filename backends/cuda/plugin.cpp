// Device `cuda` registers itself through the C ABI, as any plugin does: its memory, streams and copies. Files of
// operators register their kernels afterwards, in blocks of their own.
#include "devices.h"

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
}

}  // namespace cuda
