// Storage: a dumb owner of bytes, shared by views. Its pointer never moves, except by take_memory().
#pragma once

#include <lamella/c_api.h>

#include "core/dtype.h"
#include "core/object.h"

struct lamella_storage {
  static constexpr int64_t inline_bytes_size = 64;
#ifdef LAMELLA_NO_CACHE  // sanitizers must see every allocation
  static constexpr int64_t inline_capacity = 0;
#else
  static constexpr int64_t inline_capacity = inline_bytes_size;
#endif

  int64_t refcount;
  uint64_t sticky;   // layers that every write must reach, through whichever view
  uint64_t version;  // bumped once per mutating call
  void* data;
  int64_t bytes;
  lamella_device device;
  const lamella_allocator* allocator;                // null: inline, or foreign memory
  void (*deleter)(void*);                            // of foreign memory; may run on any thread
  void** slots;                                      // what plugins keep on it, see core/slots.h; null: nothing
  alignas(16) char inline_bytes[inline_bytes_size];  // as malloc aligns: wider wishes would cost each a gap
  void* deleter_context() const { return *reinterpret_cast<void* const*>(inline_bytes); }
};

namespace lamella::core {

using Storage = lamella_storage;

// The lowest bit of keys, which no layer has: a kernel must say that it takes such a tensor. Among a storage's sticky
// keys, the tensors over it are opaque; among a tensor's, its dtype is not plain. Calls with it reach
// dispatcher/restricted.h.
inline constexpr uint64_t restricted_key = 1;

// For elements of a dtype that the device must have.
lamella_status new_storage(int64_t bytes, lamella_device device, DType dtype, Storage** out);
// Memory of the host from the first backend that has such an allocator, for copies that do not block.
lamella_status new_pinned_storage(int64_t bytes, Storage** out);
bool is_pinned(const Storage* s);
// A storage over memory that it did not allocate; the deleter runs when the last reference has gone.
Storage* foreign_storage(void* data, int64_t bytes, lamella_device device, void (*deleter)(void*), void* context);
// Gives a storage other memory of as many bytes, which `from` owned and has no more; its own memory is freed. The only
// exception to the rule that the pointer never moves: the caller knows every tensor over `s`, and points each anew.
void take_memory(Storage* s, Storage* from);
// A storage of opaque tensors: no bytes, but a version and a count of its own.
Storage* opaque_storage(lamella_device device);
void destroy_storage(Storage* s);

inline void retain(Storage* s) { __atomic_fetch_add(&s->refcount, 1, __ATOMIC_RELAXED); }
inline void release(Storage* s) {
  if (drop_reference(&s->refcount)) destroy_storage(s);
}

}  // namespace lamella::core
