// Products of bytes for processors without VNNI: pairs of 16 bits, whose products one instruction of every x86-64 adds
// up in int32, and plain arithmetic elsewhere. Where one operand's numbers are from 0 to 127, bytes are multiplied as
// they are: an instruction adds two products in 16 bits, which 2 * 127 * 128 does not exceed.
#include <type_traits>

#include "backends/cpu/gemm.h"
#include "backends/cpu/isa/square.h"
#include "backends/cpu/isa/tile.h"
#ifdef __AVX2__
#include "backends/cpu/isa/quads.h"
#endif
#include "backends/cpu/isa/groups.h"

namespace lamella::cpu {
namespace {

template <class Left>
struct WidePairs {
  typedef uint8_t Number;
  typedef uint32_t Sum;
  static constexpr int64_t size = 2;
#ifdef __AVX2__
  static constexpr bool dense = false, widens = true, narrows = false;
#else
  static constexpr bool dense = false, widens = false, narrows = false;
#endif
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
#ifdef __AVX2__
  template <bool IsLeft>
  INLINE static Vector<uint32_t> widened(const uint8_t* from) {
    constexpr bool is_signed = !IsLeft || std::is_same_v<Left, int8_t>;
#ifdef __AVX512BW__
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return (Vector<uint32_t>)(is_signed ? _mm512_cvtepi8_epi16(bytes) : _mm512_cvtepu8_epi16(bytes));
#else
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return (Vector<uint32_t>)(is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
#endif
  }
#endif
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

#ifdef __AVX2__
// The operand of seven bits is the left one, or the right one.
template <bool Left>
struct SevenBits : ByteQuads {
  static constexpr uint32_t flipped = 0;

  INLINE static Vector<uint32_t> add(Vector<uint32_t> sum, Vector<uint32_t> x, Vector<uint32_t> y) {
    const Vector<uint32_t> seven = Left ? x : y, other = Left ? y : x;
#ifdef __AVX512BW__
    const __m512i pairs = _mm512_maddubs_epi16((__m512i)seven, (__m512i)other);
    return sum + (Vector<uint32_t>)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
#else
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)seven, (__m256i)other);
    return sum + (Vector<uint32_t>)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#endif
  }
};

constexpr ByteGemms kernels = {kernels_of<WidePairs<int8_t>>(), kernels_of<WidePairs<uint8_t>>(),
                               kernels_of<SevenBits<true>>(), kernels_of<SevenBits<false>>()};
#else
constexpr ByteGemms kernels = {kernels_of<WidePairs<int8_t>>(), kernels_of<WidePairs<uint8_t>>(), {}, {}};
#endif

}  // namespace

namespace LAMELLA_ISA {
const ByteGemms& byte_gemms() { return kernels; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
