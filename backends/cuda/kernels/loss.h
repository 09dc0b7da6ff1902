// The arguments of losses by class.
#pragma once
#include <cstdint>

namespace cuda {

// Samples of an input (outer, classes, area), with a target for each (outer, area).
struct Classes {
  int64_t count, classes, area, ignored;
  // Returns the first element of a sample, whose elements lie `area` apart.
  int64_t first(int64_t sample) const {
    return area == 1 ? sample * classes : sample / area * classes * area + sample % area;
  }
};

}  // namespace cuda
