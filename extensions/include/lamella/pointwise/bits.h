/* Words of the vocabulary over the bits of floating numbers. Included by vocabulary.h. */
#ifndef LAMELLA_POINTWISE_BITS_H
#define LAMELLA_POINTWISE_BITS_H

namespace lamella::pointwise {
namespace {

/* The next number of the type from x toward y. Numbers of one sign are in the order of their bits. */
template <class T, class Bits>
inline T next_after(T x, T y) {
  Bits bits, tiny = 1;
  T step, least;
  __builtin_memcpy(&bits, &x, sizeof x);
  bits += (x < y) == (x > T(0)) ? 1 : -1;
  __builtin_memcpy(&step, &bits, sizeof x);
  __builtin_memcpy(&least, &tiny, sizeof x);
  const T moved = where(x == T(0), copysign_(least, y), step);
  return where(x != x || y != y, x + y, where(x == y, y, moved));
}
inline float nextafter_(float x, float y) { return next_after<float, int32_t>(x, y); }
inline double nextafter_(double x, double y) { return next_after<double, int64_t>(x, y); }

/* 2^n for a whole n in [-1022, 1023]. */
inline double power_of_two_(double n) {
  const double shifted = n + 6755399441055744.0; /* n in the low bits: 1.5 * 2^52 */
  int64_t bits;
  double x;
  __builtin_memcpy(&bits, &shifted, 8);
  bits = static_cast<int64_t>(static_cast<uint64_t>(bits + 1023) << 52);
  __builtin_memcpy(&x, &bits, 8);
  return x;
}
/* x * 2^y. The power is applied in four parts, since it may be no number itself; a part of y after the point counts. */
inline double scaled_by_(double x, double y) {
  const double inside = lamella_within(y, -4000, 4000), n = floor_(inside), part = inside - n;
  const double quarter = floor_(n * 0.25), q = power_of_two_(quarter), last = power_of_two_(n - 3 * quarter);
  const double r = (n > 0 ? x * last * q : x * q * q) * (n > 0 ? q * q : q * last);
  const double scaled = where(part == 0, r, r * exp2_(part));
  return where(y - y == 0, scaled, x * exp2_(y));
}
inline float scaled_by_(float x, float y) { return static_cast<float>(scaled_by_(double{x}, double{y})); }
/* x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1; of 0, infinity and NaN the exponent is 0. */
inline double exponent_(double x) {
  const double big = abs_(x) * 18014398509481984.0, y = where(abs_(x) < 2.2250738585072014e-308, big, abs_(x));
  uint64_t bits;
  __builtin_memcpy(&bits, &y, 8);
  bits = (bits >> 52) | 0x4330000000000000u; /* 2^52 plus the biased exponent */
  double e;
  __builtin_memcpy(&e, &bits, 8);
  e -= 4503599627370496.0 + 1022;
  e = where(abs_(x) < 2.2250738585072014e-308, e - 54, e);
  return where(x == 0 || x - x != 0, 0.0, e);
}
inline double mantissa_(double x) {
  const double e = exponent_(x), half = floor_(e * -0.5);
  return x * power_of_two_(half) * power_of_two_(-e - half);
}
inline float exponent_(float x) { return static_cast<float>(exponent_(double{x})); }
inline float mantissa_(float x) { return static_cast<float>(mantissa_(double{x})); }

}  // namespace
}  // namespace lamella::pointwise

#endif
