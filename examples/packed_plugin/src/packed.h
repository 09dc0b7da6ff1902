// Matrices packed to four bits: their form, packing, unpacking and products. layer.cpp adds the layer.
#pragma once

#include <lamella/extension.h>

namespace packed {

using lamella::Tensor;

constexpr int64_t group = 64;  // elements of a row that share a scale

// A packed matrix (rows, columns): the element at (r, c) is (nibble - 8) * scales[r][c / group]. It is the state of an
// opaque tensor, which stands over the storage of `bytes`.
struct Packed {
  Tensor bytes;   // uint8 (rows, (columns + 1) / 2): the even column in the lower four bits
  Tensor scales;  // float32 (rows, groups)
  int64_t rows, columns;

  // The functions of the slot; layer.cpp defines them.
  std::optional<Packed> carry(const Tensor& from, const Tensor& to, int32_t how) const;
  std::vector<Tensor> save(const Tensor&) const { return {bytes, scales}; }
  static std::optional<Packed> load(const Tensor& to, const lamella_value& saved);
};

// These call operators of the catalogue, so they run on every device.
Packed pack(const Tensor& x);
Tensor unpack(const Packed& p);
Packed copied(const Packed& p, const lamella::Device& device);
// Makes the matrix of a view of `from`, over the same bytes; raises unless the view has whole rows of `p`.
Packed rows_of(const Packed& p, const Tensor& from, const Tensor& view);

// Multiply x (n, columns) by the transposed matrix, and x (n, rows) by the matrix; on the host without unpacking it.
Tensor times_transposed(const Tensor& x, const Packed& p);
Tensor times(const Tensor& x, const Packed& p);

// Makes the packed matrix of `to` from saved tensors; raises unless they describe a matrix of its size and device.
Packed loaded(const Tensor& bytes, const Tensor& scales, const Tensor& to);

}  // namespace packed

// The interface "packed", version 1.
struct lamella_packed {
  uint32_t size;
  int32_t layer;
  int32_t (*allow)(int32_t on);  // sets whether this thread's operators may unpack; returns the former setting
  int32_t (*entries)();          // the number of operators that have unpacked
  const char* (*name)(int32_t i);
  int64_t (*count)(int32_t i);
};
