/* float8_e4m3fn and float8_e5m2 as one byte with conversions by arithmetic of 32-bit integers and floats (round to
 * nearest, ties to even). They hold numbers; arithmetic is done in float. The formats are those of "FP8 Formats for
 * Deep Learning" (Micikevicius et al., 2022): e4m3fn has no infinity, its largest number is 448, and what rounds to
 * more is NaN. */
#ifndef LAMELLA_FLOAT8_H
#define LAMELLA_FLOAT8_H

#include <lamella/half.h>

namespace lamella {

/* A sign bit, Exponent bits and Fraction bits. Finite: the largest exponent holds numbers, too; with all
 * fraction bits set it is NaN. */
template <int Exponent, int Fraction, bool Finite>
struct float8 {
  static_assert(1 + Exponent + Fraction == 8, "one byte");
  uint8_t bits;

  float8() = default;
  LAMELLA_INLINE explicit float8(float x) {
    const uint32_t u = float_bits(x), a = u & 0x7fffffffu;
    constexpr int shift = 23 - Fraction;
    constexpr uint32_t rebias = (127u - bias) << 23;
    /* normal: rebias the exponent and round the fraction; the carry may reach the next exponent, rightly */
    const uint32_t normal = (a - rebias + ((1u << (shift - 1)) - 1u) + ((a >> shift) & 1u)) >> shift;
    /* subnormal: let the float adder round at the right bit */
    constexpr uint32_t magic = (127u - bias + 1u + shift) << 23;
    const uint32_t small = float_bits(bits_float(a) + bits_float(magic)) - magic;
    const uint32_t h = a < rebias + (1u << 23) ? small : normal;
    const uint32_t beyond = Finite || a > 0x7f800000u ? nan : infinity;
    bits = static_cast<uint8_t>(((u >> 24) & 0x80u) | (a >= 0x7f800000u || h > largest ? beyond : h));
  }
  LAMELLA_INLINE explicit operator float() const {
    const uint32_t sign = (static_cast<uint32_t>(bits) & 0x80u) << 24, a = bits & 0x7fu;
    if (a > largest) return bits_float(sign | (!Finite && a == infinity ? 0x7f800000u : 0x7fc00000u));
    const uint32_t normal = (a << (23 - Fraction)) + ((127u - bias) << 23);
    const uint32_t small = float_bits(static_cast<float>(a) * bits_float((128u - bias - Fraction) << 23));
    return bits_float(sign | (a >> Fraction ? normal : small));
  }

 private:
  static constexpr uint32_t bias = (1u << (Exponent - 1)) - 1u;
  static constexpr uint32_t infinity = ((1u << Exponent) - 1u) << Fraction; /* if there is one */
  static constexpr uint32_t nan = 0x7fu;
  static constexpr uint32_t largest = Finite ? 0x7eu : infinity - 1u;
};

using float8_e4m3fn = float8<4, 3, true>;
using float8_e5m2 = float8<5, 2, false>;

}  // namespace lamella
#endif
