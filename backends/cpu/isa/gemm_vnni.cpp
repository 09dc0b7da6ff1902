// Products of bytes, summed in int32 by the instruction that multiplies four unsigned bytes by four signed ones (VNNI).
//
// If the left operand is signed, 128 is added to its numbers by inverting their highest bits, and 128 times the sums of
// the right operand's columns are subtracted from the result. All sums wrap, so this is exact.
#include "backends/cpu/gemm.h"
#include "backends/cpu/isa/square.h"
#include "backends/cpu/isa/tile.h"

#ifdef __AVX512F__
#pragma GCC push_options
#pragma GCC target("avx512vnni")
#include "backends/cpu/isa/groups.h"

namespace lamella::cpu {
namespace {

template <bool Signed>
struct Quads {
  typedef uint8_t Number;
  typedef uint32_t Sum;
  static constexpr int64_t size = 4;
  static constexpr bool dense = true, narrows = false;
  static constexpr uint32_t flipped = Signed ? 0x80808080 : 0;

  static uint32_t left(const uint8_t* first, int64_t along, int64_t count) {
    uint32_t group = 0;
    for (int64_t p = 0; p < count; p++) group |= static_cast<uint32_t>(first[p * along]) << (8 * p);
    return group;
  }
  static uint32_t right(const uint8_t* first, int64_t along, int64_t count) { return left(first, along, count); }
  static void interleave(const uint8_t* b, int64_t row, uint32_t* to) {
    for (int j = 0; j < width; j += 16) {
      auto numbers = [&](int64_t p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + p * row + j)); };
      const __m128i r0 = numbers(0), r1 = numbers(1), r2 = numbers(2), r3 = numbers(3);
      const __m128i low[2] = {_mm_unpacklo_epi8(r0, r1), _mm_unpacklo_epi8(r2, r3)};
      const __m128i high[2] = {_mm_unpackhi_epi8(r0, r1), _mm_unpackhi_epi8(r2, r3)};
      auto* at = reinterpret_cast<__m128i*>(to + j);
      _mm_storeu_si128(at, _mm_unpacklo_epi16(low[0], low[1]));
      _mm_storeu_si128(at + 1, _mm_unpackhi_epi16(low[0], low[1]));
      _mm_storeu_si128(at + 2, _mm_unpacklo_epi16(high[0], high[1]));
      _mm_storeu_si128(at + 3, _mm_unpackhi_epi16(high[0], high[1]));
    }
  }
  INLINE static Vector<uint32_t> add(Vector<uint32_t> sum, Vector<uint32_t> x, Vector<uint32_t> y) {
    return (Vector<uint32_t>)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, (__m512i)y);
  }
  static void offsets(const uint32_t* panel, int64_t groups, uint32_t* to) {
    typedef Vector<uint32_t> V;
    constexpr int n = lanes<uint32_t>;
    const V by = V{} + 0x80808080;
    V sum[2] = {};
    for (int64_t p = 0; p < groups; p++, panel += width)
      for (int j = 0; j < 2; j++) sum[j] = add(sum[j], by, *reinterpret_cast<const V*>(panel + j * n));
    for (int j = 0; j < 2; j++) *reinterpret_cast<V*>(to + j * n) = -sum[j];
  }
};

constexpr ByteGemms kernels = {kernels_of<Quads<true>>(), kernels_of<Quads<false>>()};

}  // namespace
}  // namespace lamella::cpu
#pragma GCC pop_options
#else
namespace lamella::cpu {
namespace {
constexpr ByteGemms kernels = {};
}  // namespace
}  // namespace lamella::cpu
#endif

namespace lamella::cpu::LAMELLA_ISA {
const ByteGemms& vnni_gemms() { return kernels; }
}  // namespace lamella::cpu::LAMELLA_ISA
