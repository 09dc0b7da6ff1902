// The arguments of sorts and selections.
#pragma once
#include <cstdint>

namespace cuda {

constexpr int radix_threads = 256, radix_each = 8, radix_tile = radix_threads * radix_each;  // elements of a block

// The rows of a strided tensor, whose other dimensions are `outer` and `inner` around the sorted one.
struct SortRows {
  int64_t length, inner;               // elements of a row; rows side by side
  int64_t outer_stride, inner_stride;  // of rows
  int64_t stride;                      // of the elements of a row
};

// Several blocks for each row, `part` elements each.
struct RowParts {
  int64_t count, part;
};

}  // namespace cuda
