// Parts of tensors, and runs of bytes, which the kernels of joining, repeating, rolling and diag_embed copy.
#pragma once

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels.h"

namespace lamella::cpu {

inline constexpr int64_t copy_grain = 1 << 17;  // the least bytes of a thread's share

// A part of a tensor, with sizes and strides of its own.
struct Part {
  lamella_tensor t;
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS];

  explicit Part(const lamella_tensor* of) : t(*of) {
    std::copy(of->dl.shape, of->dl.shape + of->dl.ndim, sizes);
    std::copy(of->dl.strides, of->dl.strides + of->dl.ndim, strides);
    settle();
  }
  Part(const Part& o) : t(o.t) {
    std::copy(o.sizes, o.sizes + t.dl.ndim, sizes);
    std::copy(o.strides, o.strides + t.dl.ndim, strides);
    settle();
  }
  void narrow(int d, int64_t start, int64_t length) {
    move(start * strides[d]);
    sizes[d] = length;
    settle();
  }
  void drop(int d) {
    std::copy(sizes + d + 1, sizes + t.dl.ndim, sizes + d);
    std::copy(strides + d + 1, strides + t.dl.ndim, strides + d);
    t.dl.ndim--;
    settle();
  }
  void move(int64_t elements) { t.dl.data = static_cast<char*>(t.dl.data) + elements * itemsize(&t); }

 private:
  void settle() {
    t.dl.shape = sizes;
    t.dl.strides = strides;
    t.numel = 1;
    for (int d = 0; d < t.dl.ndim; d++) t.numel *= sizes[d];
    t.flags = 0;
  }
};

inline lamella_status copy_bytes(char* dst, const char* src, int64_t bytes) {
  if (bytes == 0) return LAMELLA_OK;  // an empty tensor's memory may be null
  if (bytes < 2 * copy_grain) {
    std::memcpy(dst, src, bytes);
    return LAMELLA_OK;
  }
  return parallel_for(0, bytes, copy_grain, [=](int64_t b, int64_t e) -> lamella_status {
    std::memcpy(dst + b, src + b, e - b);
    return LAMELLA_OK;
  });
}

}  // namespace lamella::cpu
