// Sharing: whether the elements of two tensors lie in the same memory.
#pragma once

#include <lamella/extension.h>

namespace lamella::operators {

enum class Sharing {
  nothing,
  everything,  // each element of one is the same element of the other
  something,   // an element of one is another element of the other
};

// The addresses between which a tensor's elements lie; empty where there are none.
struct Span {
  const char *begin = nullptr, *end = nullptr;
  bool meets(const Span& other) const { return begin < other.end && other.begin < end; }
};

inline int64_t item_of(const lamella_tensor* t) { return t->dl.dtype.bits / 8; }
inline Span span_of(const lamella_tensor* t) {
  if (t->numel == 0 || !t->dl.data) return {};
  int64_t last = 0;
  for (int d = 0; d < t->dl.ndim; d++) last += (t->dl.shape[d] - 1) * t->dl.strides[d];
  const char* begin = static_cast<const char*>(t->dl.data);
  return {begin, begin + (last + 1) * item_of(t)};
}

// Two tensors on one device, where their spans meet.
Sharing sharing_where_met(const lamella_tensor* a, const lamella_tensor* b);
Sharing sharing(const lamella_tensor* a, const lamella_tensor* b);

}  // namespace lamella::operators
