/* float16 and bfloat16 as two bytes with conversions by integer arithmetic (round to nearest, ties to even), so
 * that compilers vectorize them and old ones need no _Float16. For kernels and for the core alike. */
#ifndef LATTIS_HALF_H
#define LATTIS_HALF_H

#include <cstdint>
#include <cstring>

/* Never a symbol of its own: objects of several instruction sets use these. */
#define LATTIS_INLINE __attribute__((always_inline)) inline

namespace lattis {

LATTIS_INLINE uint32_t float_bits(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u;
}

LATTIS_INLINE float bits_float(uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}

struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  LATTIS_INLINE explicit bfloat16(float x) {
    uint32_t u = float_bits(x);
    uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    uint32_t nan = (u >> 16) | 0x40u;
    bits = static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
  LATTIS_INLINE explicit operator float() const { return bits_float(static_cast<uint32_t>(bits) << 16); }
};

struct float16 {
  uint16_t bits;
  float16() = default;
  LATTIS_INLINE explicit float16(float x) {
    uint32_t u = float_bits(x);
    uint32_t sign = (u >> 16) & 0x8000u;
    uint32_t a = u & 0x7fffffffu;
    /* normal: rebias the exponent and round the mantissa; the carry may reach infinity, rightly */
    uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
    /* subnormal: let the float adder round at the right bit */
    uint32_t small = float_bits(bits_float(a) + 0.5f) - 0x3f000000u;
    uint32_t big = a > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t h = a >= 0x47800000u ? big : (a < 0x38800000u ? small : normal);
    bits = static_cast<uint16_t>(sign | h);
  }
  LATTIS_INLINE explicit operator float() const {
    uint32_t sign = (static_cast<uint32_t>(bits) & 0x8000u) << 16;
    uint32_t a = static_cast<uint32_t>(bits) & 0x7fffu;
    uint32_t normal = (a << 13) + 0x38000000u;
    uint32_t small = float_bits(static_cast<float>(static_cast<int32_t>(a)) * 5.9604644775390625e-8f);
    uint32_t big = (a << 13) | 0x7f800000u;
    uint32_t f = a >= 0x7c00u ? big : (a < 0x400u ? small : normal);
    return bits_float(sign | f);
  }
};

}  // namespace lattis
#endif
