#include "dispatcher/meta.h"

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/keys.h"

namespace lamella::dispatcher {
namespace {

lamella_status no_alloc(void*, int64_t, int32_t, void*, void** out) {
  *out = nullptr;
  return LAMELLA_OK;
}
void no_free(void*, void*, int64_t, int32_t) {}

const lamella_allocator allocator = {
    sizeof(lamella_allocator), 0, nullptr, no_alloc, no_free, nullptr, nullptr, nullptr};

lamella_status copy(void*, const lamella_copy* c, int32_t*) {
  if (c->to.backend == core::meta_backend) return LAMELLA_OK;
  return core::raise(
      LAMELLA_NOT_IMPLEMENTED,
      "copy_: argument 'src': tensors on device 'meta' have no data; create one on a real device instead");
}

}  // namespace

void register_meta(Library& lib) {
  lamella_backend b{};
  b.size = sizeof b;
  b.name = "meta";
  b.dlpack_type = kDLExtDev;
  b.flags = LAMELLA_BACKEND_MIXED_DTYPES;
  b.allocator = &allocator;
  b.copy = copy;
  int32_t id;
  register_backend(lib, b, &id, nullptr);  // the first to register, so its id is 0
}

}  // namespace lamella::dispatcher
