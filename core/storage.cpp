#include "core/storage.h"

#include <cstdlib>
#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "core/event.h"
#include "core/large.h"
#include "core/slots.h"
#include "core/thread.h"

namespace lamella::core {

void (*destroy_storage_slot)(int, void*) = nullptr;

namespace {

inline Storage* blank(lamella_device device, int64_t bytes) {
  ThreadState& t = this_thread();
  auto* s = static_cast<Storage*>(t.storages.pop());
  if (!s) s = static_cast<Storage*>(checked(std::malloc(sizeof(Storage))));
  s->refcount = 1;
  s->sticky = 0;
  s->writes[0] = s->writes[1] = 0;
  s->data = nullptr;
  s->bytes = bytes;
  s->device = device;
  s->allocator = nullptr;
  s->deleter = nullptr;
  s->slots = nullptr;
  return s;
}

__attribute__((cold, noinline)) void tell(lamella_event_kind kind, const Storage* s, void* stream = nullptr) {
  lamella_event e = new_event(kind, LAMELLA_EVENT_INSTANT);
  e.device = s->device;
  e.data = s->data;
  e.bytes = s->bytes;
  e.stream = stream;
  send_event(e);
}

void recycle(Storage* s) {
  if (!this_thread().storages.push(s)) std::free(s);
}

}  // namespace

namespace {

// Allocates. If the allocator has no memory and has a `trim`, this function makes the allocator free its cached blocks
// and tries once more; if the second attempt fails too, the first error stays.
__attribute__((noinline)) lamella_status take(const lamella_allocator* a, int64_t bytes, int32_t index, void** out) {
  const lamella_status st = a->alloc(a->context, bytes, index, nullptr, out);
  if (__builtin_expect(st != LAMELLA_OUT_OF_MEMORY || !a->trim, 1)) return st;
  Error first = std::exchange(pending_error(), {});
  a->trim(a->context, -1, 0);  // all devices: they may share one memory
  pending_error().clear();
  const bool found = a->alloc(a->context, bytes, index, nullptr, out) == LAMELLA_OK;
  pending_error().clear();
  if (found) first.clear();
  if (!found) pending_error() = std::move(first);
  return found ? LAMELLA_OK : st;
}

// The slow path of new_storage(): memory outside the storage object, or a backend whose dtypes must be checked.
__attribute__((noinline)) lamella_status allocate(const lamella_backend* b, DType dtype, Storage* s) {
  if (!has_dtype(b, dtype)) return lacks_dtype(b, dtype);
  if ((b->flags & LAMELLA_BACKEND_HOST) && s->bytes <= Storage::inline_capacity) {
    s->data = s->inline_bytes;
    return LAMELLA_OK;
  }
  if (lamella_status st = take(b->allocator, s->bytes, s->device.index, &s->data)) {
    from_backend(st, s->device, format("allocating %lld bytes", static_cast<long long>(s->bytes)));
    if (const std::string largest = st == LAMELLA_OUT_OF_MEMORY ? largest_on(s->device) : ""; !largest.empty())
      add_note(largest.c_str());
    if (st == LAMELLA_OUT_OF_MEMORY && event_wanted(LAMELLA_EVENT_OUT_OF_MEMORY)) tell(LAMELLA_EVENT_OUT_OF_MEMORY, s);
    return pending_error().kind;
  }
  s->allocator = b->allocator;
  if (__builtin_expect(s->bytes >= large_bytes, 0)) note_large(s, dtype);
  return LAMELLA_OK;
}

}  // namespace

lamella_status new_storage(int64_t bytes, lamella_device device, DType dtype, Storage** out) {
  Storage* s = blank(device, bytes);
  if (device.backend != meta_backend && bytes > 0) {
    const lamella_backend* b = backend(device.backend);
    if (!b) {
      recycle(s);
      return raise(LAMELLA_RUNTIME_ERROR, format("device '%s' is no longer registered", backend_name(device.backend)));
    }
    if ((b->flags & (LAMELLA_BACKEND_HOST | declares_dtypes)) == LAMELLA_BACKEND_HOST &&
        bytes <= Storage::inline_capacity) {
      s->data = s->inline_bytes;
    } else if (lamella_status st = allocate(b, dtype, s)) {
      recycle(s);
      return st;
    }
    if (event_wanted(LAMELLA_EVENT_ALLOCATE)) tell(LAMELLA_EVENT_ALLOCATE, s);
  }
  *out = s;
  return LAMELLA_OK;
}

lamella_status new_pinned_storage(int64_t bytes, Storage** out) {
  for (int32_t i = 0, n = backend_count(); i < n; i++) {
    const lamella_backend* b = backend(i);
    if (!b || !b->host_allocator) continue;
    const lamella_allocator* from = b->host_allocator;
    Storage* s = blank({host_backend(), 0}, bytes);
    if (bytes > 0) {
      if (lamella_status st = take(from, bytes, 0, &s->data)) {
        recycle(s);
        return from_backend(st, {i, 0}, format("pinning %lld bytes of the host's memory", (long long)bytes));
      }
      s->allocator = from;
      if (event_wanted(LAMELLA_EVENT_ALLOCATE)) tell(LAMELLA_EVENT_ALLOCATE, s);
    }
    *out = s;
    return LAMELLA_OK;
  }
  return raise(LAMELLA_RUNTIME_ERROR,
               "no loaded device pins the host's memory; load the device's plugin first, or leave pin_memory out");
}

bool is_pinned(const Storage* s) { return s->allocator && s->allocator->flags & LAMELLA_ALLOCATOR_PINNED; }

Storage* foreign_storage(void* data, int64_t bytes, lamella_device device, void (*deleter)(void*), void* context) {
  Storage* s = blank(device, bytes);
  s->data = data;
  s->deleter = deleter;
  *reinterpret_cast<void**>(s->inline_bytes) = context;
  return s;
}

namespace {

constexpr uint64_t of_storages = uint64_t{1} << LAMELLA_EVENT_FREE | uint64_t{1} << LAMELLA_EVENT_STORAGE_END;

__attribute__((cold, noinline)) void tell_end(const Storage* s) {
  const bool own = s->allocator || s->data == s->inline_bytes;
  if (event_wanted(LAMELLA_EVENT_STORAGE_END)) tell(LAMELLA_EVENT_STORAGE_END, s);
  if (own && event_wanted(LAMELLA_EVENT_FREE)) tell(LAMELLA_EVENT_FREE, s);
}

void free_memory(Storage* s) {
  if (s->allocator) {
    if (__builtin_expect(s->bytes >= large_bytes, 0)) forget_large(s);
    s->allocator->free(s->allocator->context, s->data, s->bytes, s->device.index);
  }
  if (s->deleter) s->deleter(s->deleter_context());
}

}  // namespace

void take_memory(Storage* s, Storage* from) {
  if (__builtin_expect(event_kinds.load(std::memory_order_relaxed) & of_storages, 0)) tell_end(s);
  free_memory(s);
  s->data = std::exchange(from->data, nullptr);
  s->allocator = std::exchange(from->allocator, nullptr);
  s->deleter = std::exchange(from->deleter, nullptr);
  *reinterpret_cast<void**>(s->inline_bytes) = from->deleter_context();
  from->bytes = 0;
}

void destroy_storage(Storage* s) {
  if (__builtin_expect(s->slots != nullptr, 0)) free_slots(s->slots, destroy_storage_slot);
  if (__builtin_expect(event_kinds.load(std::memory_order_relaxed) & of_storages, 0)) tell_end(s);
  free_memory(s);
  recycle(s);
}

}  // namespace lamella::core
