// The arguments of kernels of norms.
#pragma once
#include <cstdint>

namespace cuda {

// The place of the weight of a row's element: row r belongs to group r % groups, which has `channels` weights, each
// for `area` neighbours. A layer norm has one group whose channels are the elements of a row.
struct Channels {
  int64_t groups = 1, channels = 0, area = 1;
  int64_t of(int64_t row, int64_t k) const {
    const int64_t first = groups == 1 ? 0 : row % groups * channels;
    if (area == 1) return first + k;
    return first +
           ((k | area) >> 31 ? k / area : static_cast<int64_t>(static_cast<uint32_t>(k) / static_cast<uint32_t>(area)));
  }
};

}  // namespace cuda
