/* Makes opaque tensors, for layers: Note [Opaque tensors] in c_api.h. */
#ifndef LAMELLA_OPAQUE_H
#define LAMELLA_OPAQUE_H

#include <lamella/tensor.h>

#pragma GCC visibility push(hidden)

namespace lamella {

namespace detail {
inline const int64_t* strides_for(const char* who, IntArrayRef sizes, IntArrayRef strides) {
  LAMELLA_CHECK_VALUE(strides.empty() || strides.size() == sizes.size(), who, ": ", strides.size(), " strides for ",
                      sizes.size(), " sizes");
  return strides.empty() ? nullptr : strides.data();
}
}  // namespace detail

/* Makes an opaque tensor, for a layer that then sets its state and the layer's key. The dtype is the options', or
 * float32; the device the options', or the host. Without strides it is row-major. */
inline Tensor opaque(IntArrayRef sizes, const TensorOptions& options = {}, IntArrayRef strides = {}) {
  const Device device = options.device() ? *options.device() : Device("cpu");
  lamella_tensor* t;
  check(api().tensor_opaque(static_cast<int32_t>(sizes.size()), sizes.data(),
                            detail::strides_for("opaque", sizes, strides),
                            static_cast<uint8_t>(options.dtype() ? *options.dtype() : kFloat), device.get(), &t));
  return Tensor::steal(t);
}

/* Makes an opaque tensor whose values a layer keeps in the memory of `memory`: it has that tensor's storage, version
 * and device. The device of the options is not read. Without strides it is row-major. */
inline Tensor opaque_over(const Tensor& memory, IntArrayRef sizes, const TensorOptions& options = {},
                          IntArrayRef strides = {}) {
  lamella_tensor* t;
  check(api().tensor_opaque_over(memory.get()->storage, static_cast<int32_t>(sizes.size()), sizes.data(),
                                 detail::strides_for("opaque_over", sizes, strides),
                                 static_cast<uint8_t>(options.dtype() ? *options.dtype() : kFloat), &t));
  return Tensor::steal(t);
}

}  // namespace lamella

#pragma GCC visibility pop
#endif
