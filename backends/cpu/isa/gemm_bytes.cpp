// Products of bytes for processors without VNNI: pairs of 16 bits, whose products one instruction of every x86-64 adds
// up in int32, and plain arithmetic elsewhere.
#include "backends/cpu/gemm.h"
#include "backends/cpu/isa/square.h"
#include "backends/cpu/isa/tile.h"
#include "backends/cpu/isa/groups.h"

namespace lamella::cpu {
namespace {

template <class Left>
struct WidePairs {
  typedef uint8_t Number;
  typedef uint32_t Sum;
  static constexpr int64_t size = 2;
  static constexpr bool dense = false, narrows = false;
  static constexpr uint32_t flipped = 0;

  static uint32_t pair(int16_t low, int16_t high) {
    return static_cast<uint16_t>(low) | static_cast<uint32_t>(static_cast<uint16_t>(high)) << 16;
  }
  static uint32_t left(const uint8_t* first, int64_t along, int64_t count) {
    return pair(static_cast<Left>(first[0]), count > 1 ? static_cast<Left>(first[along]) : 0);
  }
  static uint32_t right(const uint8_t* first, int64_t along, int64_t count) {
    return pair(static_cast<int8_t>(first[0]), count > 1 ? static_cast<int8_t>(first[along]) : 0);
  }
  static void interleave(const uint8_t* b, int64_t row, uint32_t* to) {
    for (int j = 0; j < width; j++) to[j] = pair(static_cast<int8_t>(b[j]), static_cast<int8_t>(b[row + j]));
  }
  INLINE static Vector<uint32_t> add(Vector<uint32_t> sum, Vector<uint32_t> x, Vector<uint32_t> y) {
#if defined(__AVX512BW__)
    return sum + (Vector<uint32_t>)_mm512_madd_epi16((__m512i)x, (__m512i)y);
#elif defined(__AVX2__)
    return sum + (Vector<uint32_t>)_mm256_madd_epi16((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
    return sum + (Vector<uint32_t>)_mm_madd_epi16((__m128i)x, (__m128i)y);
#else
    typedef Vector<int32_t> V;
    const V low = ((V)(x << 16) >> 16) * ((V)(y << 16) >> 16), high = ((V)x >> 16) * ((V)y >> 16);
    return sum + (Vector<uint32_t>)low + (Vector<uint32_t>)high;
#endif
  }
};

constexpr ByteGemms kernels = {kernels_of<WidePairs<int8_t>>(), kernels_of<WidePairs<uint8_t>>()};

}  // namespace

namespace LAMELLA_ISA {
const ByteGemms& byte_gemms() { return kernels; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
