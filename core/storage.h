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
  uint64_t sticky;     // keys of layers that every call with a tensor over this storage reaches
  uint64_t writes[2];  // two counts of mutating calls: Note [Counts of writes] in tensor.h
  void* data;
  int64_t bytes;
  lamella_device device;
  const lamella_allocator* allocator;                // null: inline, foreign or no memory
  void (*deleter)(void*);                            // of foreign memory; may run on any thread
  void** slots;                                      // a block of plugins' slots, see core/slots.h; null: none
  alignas(16) char inline_bytes[inline_bytes_size];  // malloc's alignment: a wider one would pad each storage
  void* deleter_context() const { return *reinterpret_cast<void* const*>(inline_bytes); }
};

namespace lamella::core {

using Storage = lamella_storage;

// The lowest bit of keys, which no layer has. A tensor has it if it is opaque, or if its dtype is not plain. Only
// kernels that declare so take such tensors: see dispatcher/restricted.h.
inline constexpr uint64_t restricted_key = 1;

// Makes a storage for elements of a dtype; raises if the device does not have the dtype, unless `bytes` is 0.
lamella_status new_storage(int64_t bytes, lamella_device device, DType dtype, Storage** out);
// Makes a storage in pinned memory of the host, so that copies to a device need not block. The first backend with a
// host_allocator provides the memory.
lamella_status new_pinned_storage(int64_t bytes, Storage** out);
bool is_pinned(const Storage* s);
// A storage over memory that it did not allocate; the deleter runs when the last reference has gone.
Storage* foreign_storage(void* data, int64_t bytes, lamella_device device, void (*deleter)(void*), void* context);
// Frees the memory of `s` and gives `s` the memory of `from`, a foreign storage of as many bytes, which is left without
// memory. The only exception to the rule that a storage's pointer never moves: the caller knows every tensor over `s`,
// and sets the tensor's data pointer anew.
void take_memory(Storage* s, Storage* from);
void destroy_storage(Storage* s);

inline void retain(Storage* s) { __atomic_fetch_add(&s->refcount, 1, __ATOMIC_RELAXED); }
inline void release(Storage* s) {
  if (drop_reference(&s->refcount)) destroy_storage(s);
}

}  // namespace lamella::core
