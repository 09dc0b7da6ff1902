// Sharing: whether the elements of two tensors use the same memory.
#pragma once

#include <lamella/extension.h>

namespace lamella::operators {

enum class Sharing {
  nothing,
  everything,  // each element of one is the same element of the other
  something,   // the two share memory in another way
};

// The range of addresses of a tensor's elements; empty if it has none.
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

// Compares two tensors on one device whose spans meet.
Sharing sharing_where_met(const lamella_tensor* a, const lamella_tensor* b);
Sharing sharing(const lamella_tensor* a, const lamella_tensor* b);

}  // namespace lamella::operators
