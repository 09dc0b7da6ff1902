/* Quotient: division of numbers below 2^31 by a constant, as a multiplication and a shift. The host computes the factor
 * and the shift, and a kernel divides with them. A kernel in CUDA's C++ defines LAMELLA_KERNEL before it includes this
 * file. */
#ifndef LAMELLA_QUOTIENT_H
#define LAMELLA_QUOTIENT_H

#include <cstdint>

#ifdef LAMELLA_KERNEL
#define LAMELLA_QUOTIENT_FUNCTION __device__ inline
#else
#define LAMELLA_QUOTIENT_FUNCTION inline
#endif

namespace lamella {

/* The method of Granlund and Montgomery: x / by = (x * factor / 2^32 + x) >> shift for x below 2^31. */
struct Quotient {
  uint32_t by, factor, shift;
};

/* Returns the Quotient of a divisor from 1 to 2^31 - 1. Any other divisor gives the Quotient of 1, which is not used:
 * such a division takes 64 bits. */
inline Quotient quotient_by(int64_t by) {
  if (by < 1 || by >> 31) return {1, 1, 0};
  const uint64_t size = static_cast<uint64_t>(by), whole = uint64_t{1} << 32;
  uint32_t shift = 0;
  while ((uint64_t{1} << shift) < size) shift++;
  return {static_cast<uint32_t>(size), static_cast<uint32_t>(whole * ((uint64_t{1} << shift) - size) / size + 1),
          shift};
}

LAMELLA_QUOTIENT_FUNCTION uint32_t divide(uint32_t x, Quotient q) {
  return (static_cast<uint32_t>(static_cast<uint64_t>(x) * q.factor >> 32) + x) >> q.shift;
}

} /* namespace lamella */

#endif
