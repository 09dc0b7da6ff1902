// The arguments of reductions.
#pragma once
#include <cstdint>

namespace cuda {

struct ReductionShape {
  int64_t outputs, length, part;          // part: elements of a part
  int32_t parts, packed, line, reserved;  // packed: packs can be read; line: the reduced elements are `step` apart
  int64_t step;
  double parameter;
};

}  // namespace cuda
