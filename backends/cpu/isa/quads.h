// Groups of four bytes for isa/groups.h: how they are packed. A file includes this before groups.h, inside the region
// that is compiled for its instruction.
#include <cstdint>

namespace lamella::cpu {
namespace {

struct ByteQuads {
  typedef uint8_t Number;
  typedef uint32_t Sum;
  static constexpr int64_t size = 4;
  static constexpr bool dense = true, widens = false, narrows = false;

  static uint32_t left(const uint8_t* first, int64_t along, int64_t count) {
    uint32_t group = 0;
    for (int64_t p = 0; p < count; p++) group |= static_cast<uint32_t>(first[p * along]) << (8 * p);
    return group;
  }
  static uint32_t right(const uint8_t* first, int64_t along, int64_t count) { return left(first, along, count); }
  static void interleave(const uint8_t* b, int64_t row, uint32_t* to) {
    for (int j = 0; j < tile_columns<uint32_t>; j += 16) {
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
};

}  // namespace
}  // namespace lamella::cpu
