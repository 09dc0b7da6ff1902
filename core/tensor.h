// Tensor: sizes and strides over a Storage, plus the pointers that layers and the host language keep on it. The public
// prefix is lamella_tensor; the members after it belong to the core.
#pragma once

#include <lamella/c_api.h>

#include "core/dtype.h"
#include "core/object.h"
#include "core/slots.h"
#include "core/storage.h"

namespace lamella::core {

// Note [Counts of writes]  A storage counts the writes through its tensors without the flag counts_apart, and those
//   through tensors with it. Views and aliases inherit the flag; `.data` makes an alias with the opposite flag, so that
//   backward does not see a write through it, and a program may clip weights between forward and backward. The counts
//   are two words, so that threads that write through tensors of both kinds lose none of the other's.
inline constexpr uint8_t counts_apart = 8;  // beside enum lamella_tensor_flags

// Returns the count to which a write through the tensor adds, and which the tensor's version is.
inline uint64_t& writes_of(const lamella_tensor* t) { return t->storage->writes[(t->flags & counts_apart) != 0]; }

struct Tensor : lamella_tensor {
  static constexpr int inline_dims = 5;
  static constexpr int inline_slots = 2;

  Tensor* base;  // of a view: the tensor that is viewed, itself no view, retained; null if this is no view
  void* host;    // the host language's object for this tensor, see host_released
  void* slots[inline_slots];
  void** more_slots;  // a block of the slots beyond the inline ones, see core/slots.h
  int64_t inline_shape[2 * inline_dims];

  int ndim() const { return dl.ndim; }
  const int64_t* sizes() const { return dl.shape; }
  const int64_t* strides() const { return dl.strides; }
  lamella_device device() const { return {backend, dl.device.device_id}; }
  bool contiguous() const { return flags & LAMELLA_CONTIGUOUS; }
  bool opaque() const { return flags & LAMELLA_OPAQUE; }
};

inline Tensor* full(lamella_tensor* t) { return static_cast<Tensor*>(t); }
inline const Tensor* full(const lamella_tensor* t) { return static_cast<const Tensor*>(t); }

using TensorRef = Ref<Tensor>;

inline void retain(Tensor* t) { retain(&t->object); }
inline void release(Tensor* t) { release(&t->object); }

// Raises on more than LAMELLA_MAX_DIMS dimensions, on a negative size, and if the sizes, with zeros left out, need more
// bytes than 63 bits can count. `op` begins the message; `numel` may be null.
lamella_status check_sizes(const char* op, int ndim, const int64_t* sizes, int64_t item, int64_t* numel);

lamella_status new_tensor(int ndim, const int64_t* sizes, const int64_t* strides, DType dtype, lamella_device device,
                          Tensor** out);
// Makes a tensor on the host, in memory that a backend pins.
lamella_status new_pinned(int ndim, const int64_t* sizes, const int64_t* strides, DType dtype, Tensor** out);
// Make an opaque tensor: new_opaque() over a storage of its own without bytes, opaque_over() over an existing storage,
// which it retains. The caller has checked the sizes.
Tensor* new_opaque(int ndim, const int64_t* sizes, const int64_t* strides, DType dtype, lamella_device device);
Tensor* opaque_over(Storage* storage, int ndim, const int64_t* sizes, const int64_t* strides, DType dtype);
// A tensor with elements over an existing storage, which it retains. The caller has checked the bounds.
Tensor* tensor_over(Storage* storage, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                    DType dtype);
// Another tensor over the storage of `of`, opaque if `of` is; no view, without layers' keys and slots. Without a
// geometry it has that of `of`.
Tensor* new_alias(const Tensor* of);
Tensor* new_alias(const Tensor* of, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                  DType dtype = LAMELLA_NO_DTYPE);
// A view of `of`: an alias with the base set to the root; strides and offset count elements of the view's dtype.
Tensor* new_view(Tensor* of, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                 DType dtype = LAMELLA_NO_DTYPE);

// set_geometry() changes the sizes, strides and offset of a tensor (resize_, set_). replace_storage() gives a tensor
// that grows another storage, takes over the caller's reference to that storage, and keeps the version and the layers'
// sticky keys; set_geometry() must follow, since it sets the data pointer.
void set_geometry(Tensor* t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset);
void replace_storage(Tensor* t, Storage* owned);
// Gives `to` the storage, the geometry, the dtype and the device of `from`; it is opaque afterwards if `from` is, and no
// view. Its slots and its keys stay, except the restricted key.
void assign(Tensor* to, const Tensor* from);

void contiguous_strides(int ndim, const int64_t* sizes, int64_t* strides);
// Strides of four dimensions (N, C, H, W) whose elements lie in the order N, H, W, C.
void channels_last_strides(const int64_t* sizes, int64_t* strides);
// Returns whether a tensor's strides are those of a format; always true for LAMELLA_PRESERVE_FORMAT.
bool lies_in(const lamella_tensor* t, lamella_memory_format format);
// Raises if the bytes that a strided layout spans, with empty dimensions counted as one element, overflow 63 bits. Sums
// in 128 bits.
lamella_status check_span(int ndim, const int64_t* sizes, const int64_t* strides, int64_t item);
// The bytes that a strided layout spans from its first element; 0 for an empty one.
int64_t span_bytes(int ndim, const int64_t* sizes, const int64_t* strides, int64_t item);

inline void* get_slot(const Tensor* t, int index) {
  if (index < Tensor::inline_slots) return t->slots[index];
  return slot_in(t->more_slots, index - Tensor::inline_slots);
}
// Puts a state into a slot, and returns the state that was there.
inline void* exchange_slot(Tensor* t, int index, void* state) {
  if (index < Tensor::inline_slots) return std::exchange(t->slots[index], state);
  return exchange_slot_in(&t->more_slots, index - Tensor::inline_slots, state);
}

// Called when the last reference to a tensor with a `host` is gone. Returns true if the host object still needs the
// tensor and has taken a reference of its own. The core never reads the object itself.
extern bool (*host_released)(Tensor*);

}  // namespace lamella::core
