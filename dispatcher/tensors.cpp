#include "dispatcher/tensors.h"

#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "core/tensor.h"
#include "dispatcher/layer.h"
#include "dispatcher/slots.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {

using core::full;
using core::Tensor;

namespace {
// Checks dtype, device, sizes and strides, most of which the core does not check again.
lamella_status check_geometry(const char* entry, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                              int32_t dtype, lamella_device d, int64_t* numel) {
  if (ndim < 0 || (ndim > 0 && !sizes))
    return core::raise(LAMELLA_VALUE_ERROR, core::format(ndim < 0 ? "%s: got %d dimensions, expected 0 or more"
                                                                  : "%s: 'sizes' must not be null for %d dimensions",
                                                         entry, ndim));
  if (!core::is_dtype(dtype))
    return core::raise(LAMELLA_VALUE_ERROR, core::format("%s: there is no dtype %d", entry, dtype));
  if (lamella_status st = core::check_device(entry, d)) return st;
  for (int32_t i = 0; strides && i < ndim && i < LAMELLA_MAX_DIMS; i++)
    if (strides[i] < 0)
      return core::raise(LAMELLA_VALUE_ERROR, core::format("%s: stride[%d] is %lld; strides must not be negative",
                                                           entry, i, (long long)strides[i]));
  const int64_t item = core::itemsize(static_cast<core::DType>(dtype));
  if (lamella_status st = core::check_sizes(entry, ndim, sizes, item, numel)) return st;
  return strides ? core::check_span(ndim, sizes, strides, item) : LAMELLA_OK;
}
}  // namespace

lamella_status tensor_empty(int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype, lamella_device d,
                            lamella_tensor** out) {
  if (lamella_status st = check_geometry("tensor_empty", ndim, sizes, strides, dtype, d, nullptr)) return st;
  Tensor* t;
  lamella_status st = core::new_tensor(ndim, sizes, strides, static_cast<core::DType>(dtype), d, &t);
  if (!st) *out = t;
  return st;
}

lamella_status tensor_from_blob(void* data, int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                lamella_device d, void (*deleter)(void*), void* context, lamella_tensor** out) {
  int64_t numel;
  if (lamella_status st = check_geometry("tensor_from_blob", ndim, sizes, strides, dtype, d, &numel)) return st;
  if (!data && numel > 0 && d.backend != core::meta_backend)
    return core::raise(LAMELLA_VALUE_ERROR, "tensor_from_blob: argument 0 must not be null");
  const auto type = static_cast<core::DType>(dtype);
  if (const lamella_backend* b = core::backend(d.backend); b && !core::has_dtype(b, type))
    return core::lacks_dtype(b, type);
  const int64_t item = core::itemsize(type);
  const int64_t bytes = strides ? core::span_bytes(ndim, sizes, strides, item) : numel * item;
  core::Storage* s = core::foreign_storage(data, bytes, d, nullptr, context);
  *out = core::tensor_over(s, ndim, sizes, strides, 0, type);
  s->deleter = deleter;  // only now: after an error the memory is still the caller's
  core::release(s);
  return LAMELLA_OK;
}

lamella_status tensor_opaque(int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                             lamella_device d, lamella_tensor** out) {
  if (lamella_status st = check_geometry("tensor_opaque", ndim, sizes, strides, dtype, d, nullptr)) return st;
  *out = core::new_opaque(ndim, sizes, strides, static_cast<core::DType>(dtype), d);
  return LAMELLA_OK;
}

lamella_status tensor_opaque_over(lamella_storage* s, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                  int32_t dtype, lamella_tensor** out) {
  if (lamella_status st = check_geometry("tensor_opaque_over", ndim, sizes, strides, dtype, s->device, nullptr))
    return st;
  *out = core::opaque_over(s, ndim, sizes, strides, static_cast<core::DType>(dtype));
  return LAMELLA_OK;
}

lamella_status tensor_set_storage(lamella_tensor* t, lamella_storage* s) {
  if (!full(t)->opaque())
    return core::raise(LAMELLA_VALUE_ERROR,
                       "tensor_set_storage: the tensor has elements; only an opaque tensor changes its storage without "
                       "its sizes, and tensor_assign gives others new memory");
  if (full(t)->base)
    return core::raise(LAMELLA_VALUE_ERROR,
                       "tensor_set_storage: the tensor is a view, which stands over its base's storage");
  if (!core::same_device(s->device, full(t)->device()))
    return core::raise(LAMELLA_VALUE_ERROR, "tensor_set_storage: the storage is on device '" +
                                                core::device_name(s->device) + "', the tensor on '" +
                                                core::device_name(full(t)->device()) + "'; both must be the same");
  core::retain(s);
  core::release(std::exchange(t->storage, s));
  return LAMELLA_OK;
}

namespace {
// Raises if an offset is negative.
lamella_status check_offset(const char* entry, int64_t offset) {
  if (offset >= 0) return LAMELLA_OK;
  return core::raise(LAMELLA_VALUE_ERROR,
                     core::format("%s: the storage offset is %lld; it must not be negative", entry, (long long)offset));
}

// Raises unless a window lies within a storage.
lamella_status check_window(const char* entry, const lamella_storage* s, int32_t ndim, const int64_t* sizes,
                            const int64_t* strides, int64_t offset, int64_t numel, int64_t item) {
  if (lamella_status st = check_offset(entry, offset)) return st;
  const int64_t bytes = strides ? core::span_bytes(ndim, sizes, strides, item) : numel * item;
  if (offset <= s->bytes / item && bytes <= s->bytes - offset * item) return LAMELLA_OK;
  return core::raise(LAMELLA_RUNTIME_ERROR,
                     core::format("%s: the tensor reaches beyond its storage of %lld bytes: it has "
                                  "%lld bytes from element %lld on",
                                  entry, (long long)s->bytes, (long long)bytes, (long long)offset));
}
}  // namespace

lamella_status tensor_over(lamella_storage* s, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                           int64_t offset, int32_t dtype, lamella_tensor** out) {
  int64_t numel;
  if (lamella_status st = check_geometry("tensor_over", ndim, sizes, strides, dtype, s->device, &numel)) return st;
  const auto type = static_cast<core::DType>(dtype);
  if (lamella_status st = check_window("tensor_over", s, ndim, sizes, strides, offset, numel, core::itemsize(type)))
    return st;
  *out = core::tensor_over(s, ndim, sizes, strides, offset, type);
  return LAMELLA_OK;
}

lamella_status tensor_view(lamella_tensor* of, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                           int64_t offset, lamella_tensor** out) {
  const lamella_device d = full(of)->device();
  int64_t numel;
  if (lamella_status st = check_geometry("tensor_view", ndim, sizes, strides, of->dtype, d, &numel)) return st;
  if (ndim > 0 && !strides) return core::raise(LAMELLA_VALUE_ERROR, "tensor_view: argument 3 must not be null");
  // The offset of a view of an opaque tensor counts the tensor's own elements, of which the storage knows nothing.
  if (lamella_status st = full(of)->opaque() ? check_offset("tensor_view", offset)
                                             : check_window("tensor_view", of->storage, ndim, sizes, strides, offset,
                                                            numel, core::itemsize(of->dtype)))
    return st;
  *out = core::new_view(full(of), ndim, sizes, strides, offset);
  return LAMELLA_OK;
}

lamella_tensor* tensor_base(const lamella_tensor* t) { return full(t)->base; }
uint64_t tensor_version(const lamella_tensor* t) { return core::writes_of(t); }

namespace {
// Raises if a bit belongs to no layer whose keys tensors may have. A bit that a tensor has had is not checked again.
inline lamella_status check_keys(const char* entry, uint64_t set, uint64_t clear) {
  const uint64_t first = (set | clear) & ~marked_layers.load(std::memory_order_relaxed);
  return __builtin_expect(first == 0, 1) ? LAMELLA_OK : mark_layers(entry, set, clear);
}
}  // namespace
lamella_status tensor_update_keys(lamella_tensor* t, uint64_t set, uint64_t clear) {
  if (lamella_status st = check_keys("tensor_update_keys", set, clear)) return st;
  t->keys = (t->keys | set) & ~clear;
  return LAMELLA_OK;
}
void* storage_data(const lamella_storage* s) { return s->data; }
int64_t storage_bytes(const lamella_storage* s) { return s->bytes; }
lamella_status storage_add_sticky(lamella_storage* s, uint64_t keys) {
  if (lamella_status st = check_keys("storage_add_sticky", keys, 0)) return st;
  __atomic_fetch_or(&s->sticky, keys, __ATOMIC_RELAXED);
  return LAMELLA_OK;
}
void storage_retain(lamella_storage* s) {
  if (s) core::retain(s);
}
void storage_release(lamella_storage* s) {
  if (s) core::release(s);
}
int64_t storage_use_count(const lamella_storage* s) { return __atomic_load_n(&s->refcount, __ATOMIC_ACQUIRE); }
lamella_status tensor_detach(lamella_tensor* t, uint64_t drop_keys, lamella_tensor** out) {
  core::TensorRef made;
  if (lamella_status st = detach(full(t), drop_keys, &made)) return st;
  *out = made.take();
  return LAMELLA_OK;
}
lamella_status tensor_assign(lamella_tensor* to, lamella_tensor* from) { return assign(full(to), full(from)); }

namespace {

// Returns how many bytes of its storage a tensor has from its first element on. An empty one may begin anywhere.
int64_t bytes_from(const Tensor* t) {
  const int64_t item = core::itemsize(t->dtype);
  return t->storage_offset > t->storage->bytes / item ? 0 : t->storage->bytes - t->storage_offset * item;
}

// Makes a tensor of `bytes` bytes that begins with the bytes of the storage of `t` from the first element of `t` on.
lamella_status grown(const Tensor* t, int64_t bytes, core::TensorRef* out) {
  Tensor* flat;
  if (lamella_status st = core::new_tensor(1, &bytes, nullptr, LAMELLA_UINT8, t->device(), &flat)) return st;
  *out = core::TensorRef::steal(flat);
  const int64_t old = bytes_from(t), begin = t->storage->bytes - old;
  if (old == 0) return LAMELLA_OK;
  const auto from = core::TensorRef::steal(core::tensor_over(t->storage, 1, &old, nullptr, begin, LAMELLA_UINT8));
  const auto to = core::TensorRef::steal(core::tensor_over(flat->storage, 1, &old, nullptr, 0, LAMELLA_UINT8));
  return copying().copy(to.get(), from.get());
}

}  // namespace

lamella_status restride(const char* name, Tensor* t, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                        int64_t offset, core::Storage* memory) {
  ResizedStates states;
  if (has_carried_state(t)) {
    const auto to = core::TensorRef::steal(memory ? core::tensor_over(memory, ndim, sizes, strides, offset, t->dtype)
                                                  : core::new_alias(t, ndim, sizes, strides, offset));
    if (lamella_status st = states.make(name, t, to.get())) return st;
  } else if (t->opaque()) {
    return core::raise(
        LAMELLA_NOT_IMPLEMENTED,
        core::format("%s: the tensor is opaque, and no slot of it carries its values to other sizes", name));
  }
  if (memory) {
    core::retain(memory);
    core::replace_storage(t, memory);
  }
  core::set_geometry(t, ndim, sizes, strides, offset);
  states.give(t);
  // The new version makes backward refuse a tensor that was saved before.
  __atomic_fetch_add(&core::writes_of(t), 1, __ATOMIC_RELAXED);
  return LAMELLA_OK;
}

lamella_status tensor_carry(lamella_tensor* from, lamella_tensor* to, int32_t how) {
  if (how < LAMELLA_CARRY_VIEW || how > LAMELLA_CARRY_GRADIENT || how == LAMELLA_CARRY_RESIZE)
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("tensor_carry: 'how' is %d; expected LAMELLA_CARRY_VIEW, _DETACH, _COPY, _DEVICE or "
                     "_GRADIENT",
                     how));
  if (from == to) return core::raise(LAMELLA_VALUE_ERROR, "tensor_carry: 'from' and 'to' are one tensor");
  return carry(full(from), full(to), how);
}

lamella_status resize(const char* name, Tensor* t, int32_t ndim, const int64_t* sizes, const int64_t* strides) {
  int64_t numel;
  if (lamella_status st = check_geometry(name, ndim, sizes, strides, t->dtype, t->device(), &numel)) return st;
  if (t->opaque()) return restride(name, t, ndim, sizes, strides, t->storage_offset);  // its slots know their memory
  const int64_t item = core::itemsize(t->dtype);
  const int64_t bytes = strides ? core::span_bytes(ndim, sizes, strides, item) : numel * item;
  core::TensorRef memory;
  if (bytes > bytes_from(t)) {
    if (t->base)
      return core::raise(
          LAMELLA_RUNTIME_ERROR,
          core::format("%s: 'size' asks for %lld bytes; the tensor is a view, and cannot grow beyond its "
                       "base's %lld bytes",
                       name, (long long)bytes, (long long)t->storage->bytes));
    if (t->storage->deleter)  // others use the memory, perhaps another process, and would not follow
      return core::raise(
          LAMELLA_RUNTIME_ERROR,
          core::format("%s: 'size' asks for %lld bytes; the tensor's memory belongs to others (shared with "
                       "a process, or an array of numpy) and cannot grow beyond its %lld bytes; resize "
                       "a clone()",
                       name, (long long)bytes, (long long)t->storage->bytes));
    if (lamella_status st = grown(t, bytes, &memory)) return st;
  }
  return memory ? restride(name, t, ndim, sizes, strides, 0, memory->storage)
                : restride(name, t, ndim, sizes, strides, t->storage_offset, nullptr);
}

lamella_status tensor_resize(lamella_tensor* t, int32_t ndim, const int64_t* sizes, const int64_t* strides) {
  return resize("tensor_resize", full(t), ndim, sizes, strides);
}

}  // namespace lamella::dispatcher
