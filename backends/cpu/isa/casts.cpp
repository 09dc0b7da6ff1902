// Casts between all plain dtypes. Note [Instruction sets] is in backends/cpu/isa.h.
#include <lamella/half.h>
#include <lamella/pointwise/vocabulary.h>

#include <cstring>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "backends/cpu/isa/truth.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

using pointwise::Complex;
using pointwise::is_complex;

template <class T>
constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

// Converts a floating number to an integer, which C++ defines only for numbers in the type's range. Others are first
// converted to int64 and wrap; those beyond int64, and NaN, count as the smallest int64. For uint64, negative numbers
// wrap, and those of 2^64 or more, and NaN, become 0.
template <class To>
inline To from_float(double x) {
  if constexpr (std::is_same_v<To, uint64_t>)
    return x < 0        ? static_cast<To>(static_cast<int64_t>(x))
           : x < 0x1p63 ? static_cast<To>(static_cast<int64_t>(x))
           : x < 0x1p64 ? static_cast<To>(x)
                        : To(0);
  else
    return static_cast<To>(x >= -9.2233720368547758e18 && x < 9.2233720368547758e18
                               ? static_cast<int64_t>(x)
                               : std::numeric_limits<int64_t>::min());
}

template <class To, class From>
inline To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (std::is_same_v<From, Truth>)
    return convert<To>(static_cast<uint8_t>(x));
  else if constexpr (is_complex<From>) {
    if constexpr (is_complex<To>)
      return To(static_cast<typename To::part>(x.re), static_cast<typename To::part>(x.im));
    else if constexpr (std::is_same_v<To, bool>)
      return x.re != 0 || x.im != 0;
    else
      return convert<To>(x.re);
  } else if constexpr (is_half<From>)
    return convert<To>(static_cast<float>(x));
  else if constexpr (is_complex<To>)
    return To(static_cast<typename To::part>(x), 0);
  else if constexpr (is_half<To>)
    return To(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return from_float<To>(x);
  else
    return static_cast<To>(x);
}

template <class From, class To>
void convert_dense(int64_t n, To* d, const From* s) {
  for (int64_t i = 0; i < n; i++) d[i] = convert<To>(s[i]);
}

#ifdef __F16C__
// Converts N elements at a time by `eight`, the rest by way of a buffer: the instructions give a NaN other bits than
// half.h, so all elements must go through them.
template <int64_t N, class To, class From, class Eight>
inline void by_eights(int64_t n, To* d, const From* s, Eight eight) {
  int64_t i = 0;
  for (; i + N <= n; i += N) eight(d + i, s + i);
  if (i == n) return;
  From from[N] = {};
  To to[N];
  std::memcpy(from, s + i, (n - i) * sizeof(From));
  eight(to, from);
  std::memcpy(d + i, to, (n - i) * sizeof(To));
}
template <>
void convert_dense<float16, float>(int64_t n, float* d, const float16* s) {
  by_eights<8>(n, d, s, [](float* to, const float16* from) {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  });
}
template <>
void convert_dense<float, float16>(int64_t n, float16* d, const float* s) {
  by_eights<8>(n, d, s, [](float16* to, const float* from) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), 0));
  });
}
#endif

template <class From, class To>
constexpr bool has_instruction = (std::is_same_v<From, float16> && std::is_same_v<To, float>) ||
                                 (std::is_same_v<From, float> && std::is_same_v<To, float16>);

template <class From, class To>
void cast_loop(int64_t n, char* dst, int64_t ds, const char* src, int64_t ss) {
  if (ds == sizeof(To) && ss == sizeof(From)) {
    if constexpr (!std::is_same_v<To, From>)
      convert_dense(n, reinterpret_cast<To*>(dst), reinterpret_cast<const From*>(src));
    else if (n)  // without elements, the addresses may be null
      std::memcpy(dst, src, n * sizeof(To));
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    auto* d = reinterpret_cast<To*>(dst + i * ds);
    auto* s = reinterpret_cast<const From*>(src + i * ss);
    if constexpr (has_instruction<From, To>)
      convert_dense(1, d, s);
    else
      *d = convert<To>(*s);
  }
}

template <class... T>
struct Types {};
// The types of numbers, in the order of their dtypes, which follow LAMELLA_BOOL.
using Numbers = Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16,
                      float, double, Complex<float>, Complex<double>>;

template <class From, class... To>
void fill_row(CastLoop* row, Types<To...>) {
  *row = cast_loop<From, bool>;
  ((*++row = cast_loop<From, To>), ...);
}
template <class... From>
void fill_rows(Loops& l, Types<From...> numbers) {
  fill_row<Truth>(l.cast[LAMELLA_BOOL], numbers);
  int dtype = LAMELLA_BOOL;
  (fill_row<From>(l.cast[++dtype], numbers), ...);
}

}  // namespace

namespace LAMELLA_ISA {

void fill_casts(Loops& l) { fill_rows(l, Numbers()); }

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
