#include "core/storage.h"

#include <cstdlib>

#include "core/device.h"
#include "core/error.h"
#include "core/thread.h"

namespace lamella::core {
namespace {

inline Storage* blank(lamella_device device, int64_t bytes) {
  ThreadState& t = this_thread();
  auto* s = static_cast<Storage*>(t.storages.pop());
  if (!s) s = static_cast<Storage*>(checked(std::malloc(sizeof(Storage))));
  s->refcount = 1;
  s->sticky = 0;
  s->version = 0;
  s->data = nullptr;
  s->bytes = bytes;
  s->device = device;
  s->allocator = nullptr;
  s->deleter = nullptr;
  return s;
}

void recycle(Storage* s) {
  if (!this_thread().storages.push(s)) std::free(s);
}

}  // namespace

lamella_status new_storage(int64_t bytes, lamella_device device, Storage** out) {
  Storage* s = blank(device, bytes);
  if (device.backend != meta_backend && bytes > 0) {
    const lamella_backend* b = backend(device.backend);
    if (!b) {
      recycle(s);
      return raise(LAMELLA_RUNTIME_ERROR, format("device '%s' is no longer registered", backend_name(device.backend)));
    }
    if ((b->flags & LAMELLA_BACKEND_HOST) && bytes <= Storage::inline_capacity) {
      s->data = s->inline_bytes;
    } else if (lamella_status st = b->allocator->alloc(b->allocator->context, bytes, device.index, nullptr, &s->data)) {
      recycle(s);
      return from_backend(st, device, format("allocating %lld bytes", static_cast<long long>(bytes)));
    } else {
      s->allocator = b->allocator;
    }
  }
  *out = s;
  return LAMELLA_OK;
}

Storage* foreign_storage(void* data, int64_t bytes, lamella_device device, void (*deleter)(void*), void* context) {
  Storage* s = blank(device, bytes);
  s->data = data;
  s->deleter = deleter;
  *reinterpret_cast<void**>(s->inline_bytes) = context;
  return s;
}

void destroy_storage(Storage* s) {
  if (s->allocator) s->allocator->free(s->allocator->context, s->data, s->bytes, s->device.index);
  if (s->deleter) s->deleter(s->deleter_context());
  recycle(s);
}

}  // namespace lamella::core
