#include "core/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "core/thread.h"
#include "core/value.h"

namespace lamella::core {

void (*destroy_slot)(int, void*) = nullptr;
bool (*host_released)(Tensor*) = nullptr;

namespace {

void free_slots(Tensor* t) {
  for (int i = 0; i < Tensor::inline_slots; i++)
    if (void* s = std::exchange(t->slots[i], nullptr)) destroy_slot(i, s);
  core::free_slots(std::exchange(t->more_slots, nullptr), destroy_slot, Tensor::inline_slots);
}

void free_shape(Tensor* t) {
  if (t->dl.shape != t->inline_shape) std::free(t->dl.shape);
}

void destroy_tensor(lamella_object* o) {
  auto* t = reinterpret_cast<Tensor*>(o);
  if (t->host && host_released && host_released(t)) return;  // the host object keeps the tensor
  if (t->slots[0] || t->slots[1] || t->more_slots) free_slots(t);
  release(t->storage);
  if (t->base) release(t->base);
  free_shape(t);
  if (!this_thread().tensors.push(t)) std::free(t);
}

const lamella_object_type tensor_type = {sizeof(lamella_object_type), 0, "Tensor", destroy_tensor};

bool is_dense(const Tensor* t) {
  // Dense: with the dimensions sorted by stride, and those of size 1 left out, each stride is the product of the sizes
  // before it.
  if (t->flags & LAMELLA_CONTIGUOUS) return true;
  int64_t expected = 1;
  bool used[LAMELLA_MAX_DIMS] = {};
  for (int k = 0; k < t->dl.ndim; k++) {
    int best = -1;
    for (int i = 0; i < t->dl.ndim; i++)
      if (!used[i] && t->dl.shape[i] != 1 && t->dl.strides[i] == expected) best = i;
    if (best < 0) {
      for (int i = 0; i < t->dl.ndim; i++)
        if (!used[i] && t->dl.shape[i] != 1) return false;
      return true;
    }
    used[best] = true;
    expected *= t->dl.shape[best];
  }
  return true;
}

// Sets the sizes, the strides and the flags that follow from them.
void set_shape(Tensor* t, int ndim, const int64_t* sizes, const int64_t* strides) {
  int64_t* shape = t->inline_shape;
  if (ndim > Tensor::inline_dims) shape = static_cast<int64_t*>(checked(std::malloc(2 * sizeof(int64_t) * ndim)));
  int64_t* steps = shape + (ndim > Tensor::inline_dims ? ndim : Tensor::inline_dims);
  int64_t n = 1;
  bool contiguous = true;
  for (int i = ndim - 1; i >= 0; i--) {
    shape[i] = sizes[i];
    steps[i] = strides ? strides[i] : n;
    contiguous &= sizes[i] == 1 || steps[i] == n;
    n *= sizes[i];
  }
  if (!strides && n == 0) {  // strides as if empty dimensions had one element, as torch's
    int64_t m = 1;
    for (int i = ndim - 1; i >= 0; i--) {
      steps[i] = m;
      m *= sizes[i] > 1 ? sizes[i] : 1;
    }
  }
  t->dl.ndim = ndim;
  t->dl.shape = shape;
  t->dl.strides = steps;
  t->numel = n;
  t->flags = contiguous || n == 0 ? LAMELLA_CONTIGUOUS | LAMELLA_DENSE : 0;
  if (!t->flags && is_dense(t)) t->flags = LAMELLA_DENSE;
}

void point(Tensor* t, int64_t offset) {
  t->storage_offset = offset;
  auto base = reinterpret_cast<uintptr_t>(t->storage->data);
  // The product is unsigned, since that of an empty tensor, which may have any offset, may overflow.
  t->dl.data = base ? reinterpret_cast<void*>(base + static_cast<uintptr_t>(offset) * itemsize(t->dtype)) : nullptr;
}

// Returns the key that a tensor has because of its dtype.
inline uint64_t own_key(DType dtype) { return is_plain(dtype) ? 0 : restricted_key; }

// Sets the dtype, the device and the fields that follow from them, except `keys`.
inline void set_type(Tensor* t, DType dtype, lamella_device device) {
  const lamella_backend* b = backend(device.backend);
  t->dl.device.device_type = b ? b->dlpack_type : kDLExtDev;
  t->dl.device.device_id = device.index;
  t->dl.dtype = dtype_info(dtype).dlpack;
  t->backend = static_cast<uint16_t>(device.backend);
  t->dtype = dtype;
  t->device_key = static_cast<uint32_t>(device.backend) << 16 | static_cast<uint32_t>(device.index);
}

// Makes a tensor and sets every field but its geometry. Takes over the reference to `storage`.
inline __attribute__((always_inline)) Tensor* blank(Storage* storage, DType dtype) {
  auto* t = static_cast<Tensor*>(this_thread().tensors.pop());
  if (!t) t = static_cast<Tensor*>(std::malloc(sizeof(Tensor)));
  if (__builtin_expect(!t, 0)) {
    release(storage);
    throw std::bad_alloc();
  }
  t->object.refcount = 1;
  t->object.type = &tensor_type;
  t->keys = own_key(dtype);
  set_type(t, dtype, storage->device);
  t->dl.byte_offset = 0;
  t->storage = storage;
  t->base = nullptr;
  t->host = nullptr;
  for (void*& s : t->slots) s = nullptr;
  t->more_slots = nullptr;
  return t;
}

// Takes over the reference to `storage`.
Tensor* build(Storage* storage, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset, DType dtype) {
  TensorRef t = TensorRef::steal(blank(storage, dtype));
  t->dl.shape = t->inline_shape;
  set_shape(t.get(), ndim, sizes, strides);
  point(t.get(), offset);
  return t.take();
}

// Makes a tensor opaque, whose geometry is set.
Tensor* hide(Tensor* t) {
  t->flags |= LAMELLA_OPAQUE;
  t->keys |= restricted_key;
  t->dl.data = nullptr;
  return t;
}

constexpr uint8_t inherited_flags = LAMELLA_OPAQUE | counts_apart;

// Gives a new alias of a tensor the flags of that tensor that its geometry does not decide.
Tensor* inherit(Tensor* t, const Tensor* of) {
  t->flags |= of->flags & counts_apart;
  return of->opaque() ? hide(t) : t;
}

// Makes the usual new tensor: few dimensions, row-major. The caller has checked that all sizes are positive and that
// nothing overflows.
inline __attribute__((always_inline)) Tensor* build_small(Storage* storage, int ndim, const int64_t* sizes,
                                                          int64_t numel, DType dtype) {
  Tensor* t = blank(storage, dtype);
  int64_t* shape = t->inline_shape;
  int64_t step = 1;
  for (int i = ndim - 1; i >= 0; i--) {
    shape[i] = sizes[i];
    shape[Tensor::inline_dims + i] = step;
    step *= sizes[i];
  }
  t->dl.ndim = ndim;
  t->dl.shape = shape;
  t->dl.strides = shape + Tensor::inline_dims;
  t->dl.data = storage->data;
  t->numel = numel;
  t->flags = LAMELLA_CONTIGUOUS | LAMELLA_DENSE;
  t->storage_offset = 0;
  return t;
}

}  // namespace

lamella_status check_sizes(const char* op, int ndim, const int64_t* sizes, int64_t item, int64_t* numel) {
  if (ndim > LAMELLA_MAX_DIMS)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %d dimensions, at most %d are supported", op, ndim, LAMELLA_MAX_DIMS));
  int64_t n = item, empty = 0;
  for (int i = 0; i < ndim; i++) {
    if (sizes[i] < 0)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: size[%d] is %lld; sizes must not be negative", op, i, (long long)sizes[i]));
    if (sizes[i] == 0)
      empty = 1;
    else if (__builtin_mul_overflow(n, sizes[i], &n))
      return raise(LAMELLA_RUNTIME_ERROR, std::string(op) + ": size " + shape_string(ndim, sizes) +
                                              " needs more bytes than 63 bits can count");
  }
  if (numel) *numel = empty ? 0 : n / item;
  return LAMELLA_OK;
}

void channels_last_strides(const int64_t* sizes, int64_t* strides) {
  int64_t step = 1;
  for (int d : {1, 3, 2, 0}) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
}

bool lies_in(const lamella_tensor* t, lamella_memory_format format) {
  if (format == LAMELLA_PRESERVE_FORMAT) return true;
  if (format == LAMELLA_CONTIGUOUS_FORMAT) return (t->flags & LAMELLA_CONTIGUOUS) != 0;
  if (t->dl.ndim != 4) return false;
  int64_t strides[4];
  channels_last_strides(t->dl.shape, strides);
  for (int d = 0; d < 4; d++)
    if (t->dl.shape[d] != 1 && t->dl.strides[d] != strides[d]) return false;
  return true;
}

lamella_status check_span(int ndim, const int64_t* sizes, const int64_t* strides, int64_t item) {
  __int128 last = 0;
  for (int i = 0; i < ndim; i++) {
    if (sizes[i] == 0) return LAMELLA_OK;  // no element, at whatever strides
    last += static_cast<__int128>(sizes[i] - 1) * strides[i];
  }
  if ((last + 1) * item <= INT64_MAX) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, "'size' " + shape_string(ndim, sizes) + " with 'stride' " +
                                          shape_string(ndim, strides) + " needs more bytes than 63 bits can count");
}

int64_t span_bytes(int ndim, const int64_t* sizes, const int64_t* strides, int64_t item) {
  if (std::find(sizes, sizes + ndim, 0) != sizes + ndim) return 0;
  int64_t last = 0;
  for (int i = 0; i < ndim; i++) last += (sizes[i] - 1) * strides[i];
  return (last + 1) * item;
}

void contiguous_strides(int ndim, const int64_t* sizes, int64_t* strides) {
  int64_t n = 1;
  for (int i = ndim - 1; i >= 0; i--) {
    strides[i] = n;
    n *= sizes[i] > 1 ? sizes[i] : 1;
  }
}

namespace {

lamella_status bytes_needed(int ndim, const int64_t* sizes, const int64_t* strides, int64_t item, int64_t* bytes) {
  int64_t numel;
  if (lamella_status st = check_sizes("empty", ndim, sizes, item, &numel)) return st;
  if (strides)
    if (lamella_status st = check_span(ndim, sizes, strides, item)) return st;
  *bytes = strides ? span_bytes(ndim, sizes, strides, item) : numel * item;
  return LAMELLA_OK;
}

}  // namespace

lamella_status new_tensor(int ndim, const int64_t* sizes, const int64_t* strides, DType dtype, lamella_device device,
                          Tensor** out) {
  const int64_t item = itemsize(dtype);
  if (!strides && ndim <= Tensor::inline_dims) {
    uint64_t n = 1, all = 0;
    for (int i = 0; i < ndim; i++) {
      n *= static_cast<uint64_t>(sizes[i]);
      all |= static_cast<uint64_t>(sizes[i]) | n;
      if (all >> 31) break;  // stops before the product of five sizes can wrap
    }
    if (__builtin_expect(n - 1 < (uint64_t{1} << 31) && all >> 31 == 0, 1)) {
      Storage* s;
      if (lamella_status st = new_storage(static_cast<int64_t>(n) * item, device, dtype, &s)) return st;
      *out = build_small(s, ndim, sizes, static_cast<int64_t>(n), dtype);
      return LAMELLA_OK;
    }
  }
  int64_t bytes;
  if (lamella_status st = bytes_needed(ndim, sizes, strides, item, &bytes)) return st;
  Storage* s;
  if (lamella_status st = new_storage(bytes, device, dtype, &s)) return st;
  *out = build(s, ndim, sizes, strides, 0, dtype);
  return LAMELLA_OK;
}

lamella_status new_pinned(int ndim, const int64_t* sizes, const int64_t* strides, DType dtype, Tensor** out) {
  int64_t bytes;
  if (lamella_status st = bytes_needed(ndim, sizes, strides, itemsize(dtype), &bytes)) return st;
  Storage* s;
  if (lamella_status st = new_pinned_storage(bytes, &s)) return st;
  *out = build(s, ndim, sizes, strides, 0, dtype);
  return LAMELLA_OK;
}

Tensor* new_opaque(int ndim, const int64_t* sizes, const int64_t* strides, DType dtype, lamella_device device) {
  return hide(build(foreign_storage(nullptr, 0, device, nullptr, nullptr), ndim, sizes, strides, 0, dtype));
}

Tensor* opaque_over(Storage* storage, int ndim, const int64_t* sizes, const int64_t* strides, DType dtype) {
  retain(storage);
  return hide(build(storage, ndim, sizes, strides, 0, dtype));
}

Tensor* tensor_over(Storage* storage, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                    DType dtype) {
  retain(storage);
  return build(storage, ndim, sizes, strides, offset, dtype);
}

Tensor* new_alias(const Tensor* of, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                  DType dtype) {
  Tensor* t = tensor_over(of->storage, ndim, sizes, strides, offset, dtype == LAMELLA_NO_DTYPE ? of->dtype : dtype);
  return __builtin_expect(of->flags & inherited_flags, 0) ? inherit(t, of) : t;
}

Tensor* new_alias(const Tensor* of) {
  return new_alias(of, of->ndim(), of->sizes(), of->strides(), of->storage_offset);
}

Tensor* new_view(Tensor* of, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset, DType dtype) {
  Tensor* t = tensor_over(of->storage, ndim, sizes, strides, offset, dtype == LAMELLA_NO_DTYPE ? of->dtype : dtype);
  if (__builtin_expect(of->flags & inherited_flags, 0)) inherit(t, of);
  t->base = of->base ? of->base : of;
  retain(t->base);
  return t;
}

void set_geometry(Tensor* t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) {
  int64_t* old = t->dl.shape;
  int64_t copy[2 * LAMELLA_MAX_DIMS];  // sizes may be the tensor's own
  std::copy_n(sizes, ndim, copy);
  if (strides) std::copy_n(strides, ndim, copy + LAMELLA_MAX_DIMS);
  const bool opaque = t->opaque();
  const uint8_t apart = t->flags & counts_apart;
  set_shape(t, ndim, copy, strides ? copy + LAMELLA_MAX_DIMS : nullptr);
  if (old != t->inline_shape) std::free(old);
  t->flags |= apart;
  point(t, offset);
  if (opaque) hide(t);
}

void replace_storage(Tensor* t, Storage* owned) {
  Storage* old = t->storage;
  owned->sticky |= old->sticky;
  std::copy_n(old->writes, 2, owned->writes);
  t->storage = owned;
  release(old);
}

void assign(Tensor* to, const Tensor* from) {
  if (to == from) return;
  // The geometry is set first, since nothing after it can fail.
  set_geometry(to, from->ndim(), from->sizes(), from->strides(), from->storage_offset);
  retain(from->storage);
  release(std::exchange(to->storage, from->storage));
  if (Tensor* base = std::exchange(to->base, nullptr)) release(base);
  set_type(to, static_cast<DType>(from->dtype), from->device());
  to->keys = (to->keys & ~restricted_key) | (from->keys & restricted_key);
  to->flags = static_cast<uint8_t>((from->flags & ~counts_apart) | (to->flags & counts_apart));
  point(to, from->storage_offset);
  if (from->opaque()) hide(to);
}

}  // namespace lamella::core
