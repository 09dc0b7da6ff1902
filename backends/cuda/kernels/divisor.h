// Division of numbers below 2^31 by a number that the host has: a multiplication in place of a division.
#pragma once
#include <cstdint>

namespace cuda {

// By Granlund and Montgomery: x / by = (x * factor / 2^32 + x) >> shift for x below 2^31.
struct Divisor {
  uint32_t by = 1, factor = 1, shift = 0;
};

// A number that is not positive, or not below 2^31, gives a Divisor that must not be used.
constexpr Divisor divisor_of(int64_t by) {
  Divisor d;
  if (by < 1 || by >> 31) return d;
  d.by = static_cast<uint32_t>(by);
  while ((uint64_t{1} << d.shift) < d.by) d.shift++;
  d.factor = static_cast<uint32_t>((uint64_t{1} << 32) * ((uint64_t{1} << d.shift) - d.by) / d.by + 1);
  return d;
}

constexpr uint32_t divide(uint32_t x, const Divisor& d) {
  return static_cast<uint32_t>((static_cast<uint64_t>(x) * d.factor >> 32) + x) >> d.shift;
}

}  // namespace cuda
