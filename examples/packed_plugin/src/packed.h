// Four-bit tensors: the numbers that stand for a matrix, and what is computed with them. layer.cpp makes a layer of it.
#pragma once

#include <lamella/extension.h>

namespace packed {

using lamella::Tensor;

constexpr int64_t group = 64;  // elements of a row that share a scale

// A matrix (rows, columns) as integers: row r, column c is (nibble - 8) * scales[r][c / group]. Never written again, so
// that tensors share it. Counted by hand, as any thread may drop it.
struct Packed {
  Tensor bytes;   // uint8 (rows, (columns + 1) / 2): the even column in the lower four bits
  Tensor scales;  // float32 (rows, groups)
  int64_t rows, columns;
  mutable int64_t references = 1;
};

inline void retain(const Packed* p) { __atomic_fetch_add(&p->references, 1, __ATOMIC_RELAXED); }
inline void release(const Packed* p) {
  if (__atomic_sub_fetch(&p->references, 1, __ATOMIC_ACQ_REL) == 0) delete p;
}

// By operators of the catalogue, so on every device.
Packed* pack(const Tensor& x);
Tensor unpack(const Packed& p);
Packed* moved(const Packed& p, const lamella::Device& device);

// x (n, columns) times the matrix transposed, and x (n, rows) times the matrix: on the host without unpacking it.
Tensor times_transposed(const Tensor& x, const Packed& p);
Tensor times(const Tensor& x, const Packed& p);

// The state of `p` from what was saved; an error unless it describes a matrix of this size on this device.
Packed* loaded(const Tensor& bytes, const Tensor& scales, const lamella_tensor* to);

}  // namespace packed

// The interface "packed", version 1.
struct lamella_packed {
  uint32_t size;
  int32_t layer;
  int32_t (*allow)(int32_t on);  // whether this thread's operators may unpack; returns what held before
  int32_t (*entries)();          // operators that have unpacked
  const char* (*name)(int32_t i);
  int64_t (*count)(int32_t i);
};
