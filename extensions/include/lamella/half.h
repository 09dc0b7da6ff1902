/* float16 and bfloat16 as two bytes with conversions by arithmetic of 32-bit integers and floats (round to nearest,
 * ties to even), so that compilers vectorize the conversions and old ones need no _Float16. For kernels and for the
 * core alike. */
#ifndef LAMELLA_HALF_H
#define LAMELLA_HALF_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/* Inlined everywhere: objects for several instruction sets use these functions, and must not share a compiled one. */
#define LAMELLA_INLINE __attribute__((always_inline)) inline

namespace lamella {

LAMELLA_INLINE uint32_t float_bits(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u;
}

LAMELLA_INLINE float bits_float(uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}

/* The unsigned integer of as many bytes. */
template <size_t Bytes>
using Unsigned =
    std::conditional_t<Bytes == 1, uint8_t,
                       std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  LAMELLA_INLINE explicit bfloat16(float x) {
    uint32_t u = float_bits(x);
    uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    uint32_t nan = (u >> 16) | 0x40u;
    bits = static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
  LAMELLA_INLINE explicit operator float() const { return bits_float(static_cast<uint32_t>(bits) << 16); }
};

struct float16 {
  uint16_t bits;
  float16() = default;
  LAMELLA_INLINE explicit float16(float x) {
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
  LAMELLA_INLINE explicit operator float() const {
    uint32_t sign = (static_cast<uint32_t>(bits) & 0x8000u) << 16;
    uint32_t a = static_cast<uint32_t>(bits) & 0x7fffu;
    uint32_t normal = (a << 13) + 0x38000000u;
    uint32_t small = float_bits(static_cast<float>(static_cast<int32_t>(a)) * 5.9604644775390625e-8f);
    uint32_t big = (a << 13) | 0x7f800000u;
    uint32_t f = a >= 0x7c00u ? big : (a < 0x400u ? small : normal);
    return bits_float(sign | f);
  }
};

/* Returns the largest number of a floating type below `end`: numbers of a range without its end are cut to it, since
 * rounding may give `end`. */
template <class T>
inline double largest_below(double end) {
  using Bits = Unsigned<sizeof(T)>;
  auto widened = [](T t) {
    if constexpr (sizeof(T) == 2)
      return static_cast<double>(static_cast<float>(t));
    else
      return static_cast<double>(t);
  };
  T t;
  if constexpr (sizeof(T) == 2)
    t = T(static_cast<float>(end));
  else
    t = static_cast<T>(end);
  while (!(widened(t) < end)) { /* at most twice: to the neighbour, or away from infinity */
    Bits bits;
    std::memcpy(&bits, &t, sizeof t);
    const Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    bits = static_cast<Bits>(bits == 0 || bits == sign ? sign | 1u : bits & sign ? bits + 1u : bits - 1u);
    std::memcpy(&t, &bits, sizeof t);
  }
  return widened(t);
}

}  // namespace lamella
#endif
