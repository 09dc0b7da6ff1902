// The arguments of sorts and selections.
#pragma once
#include <cstdint>

namespace cuda {

constexpr int radix_threads = 256, radix_each = 8, radix_tile = radix_threads * radix_each;  // elements of a block

// The rows of a strided tensor, whose other dimensions are `outer` before the sorted one and `inner` after it.
struct SortRows {
  int64_t length, inner;               // length: elements of a row; inner: rows side by side
  int64_t outer_stride, inner_stride;  // between rows
  int64_t stride;                      // between the elements of a row
};

// The blocks of a row: `count` of them, `part` elements each.
struct RowParts {
  int64_t count, part;
};

}  // namespace cuda
