// The device `bank`, registered: two of them, their memory, and three kernels. Read this file first.
#include "bank.h"

namespace bank {

LATTIS_LIBRARY(aten, m) {
  static lattis_backend b{};
  b.size = sizeof b;
  b.name = "bank";
  b.dlpack_type = kDLExtDev;
  b.flags = 0;  // not a host, no mixed dtypes: operands arrive in the computed dtype
  b.allocator = memory();
  b.device_count = [](void*) -> int32_t { return devices; };
  b.copy_from_host = b.copy_to_host = copy_bytes;
  if (!b.allocator) return;
  int32_t id;
  m.backend(b, &id);
  m.impl("copy_", "bank", copy_kernel);
  m.impl("fill_.Scalar", "bank", fill_kernel);
  m.category("pointwise", "bank", pointwise_kernel);
}

}  // namespace bank
