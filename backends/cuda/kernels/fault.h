// An error that a kernel finds in its data.
#pragma once
#include <cstdint>

namespace cuda {

// The fault of a stream. The first error stays.
struct Fault {
  int32_t code, reserved;
  int64_t value, size;
};

}  // namespace cuda
