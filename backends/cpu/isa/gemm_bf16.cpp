// Products of bfloat16 matrices, summed in float32 by the instruction that multiplies and adds pairs of numbers.
#include "backends/cpu/gemm.h"
#include "backends/cpu/isa/square.h"
#include "backends/cpu/isa/tile.h"

#ifdef __AVX512F__
#pragma GCC push_options
#pragma GCC target("avx512bf16")
#include "backends/cpu/isa/groups.h"

namespace lamella::cpu {
namespace {

struct Pairs {
  typedef uint16_t Number;  // the bits of a bfloat16
  typedef float Sum;
  static constexpr int64_t size = 2;
  static constexpr bool dense = true, widens = false, narrows = true;
  static constexpr uint32_t flipped = 0;

  static uint32_t left(const uint16_t* first, int64_t along, int64_t count) {
    return first[0] | (count > 1 ? static_cast<uint32_t>(first[along]) << 16 : 0);
  }
  static uint32_t right(const uint16_t* first, int64_t along, int64_t count) { return left(first, along, count); }
  static void interleave(const uint16_t* b, int64_t row, uint32_t* to) {
    for (int j = 0; j < width; j += lanes<float>) {
      auto numbers = [&](const uint16_t* at) {
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + j)));
      };
      _mm512_storeu_si512(to + j, _mm512_or_si512(numbers(b), _mm512_slli_epi32(numbers(b + row), 16)));
    }
  }
  INLINE static Vector<float> add(Vector<float> sum, Vector<uint32_t> x, Vector<uint32_t> y) {
    return (Vector<float>)_mm512_dpbf16_ps((__m512)sum, (__m512bh)x, (__m512bh)y);
  }
  // Rounds to the nearest, ties to even, as casts do.
  INLINE static void narrow(Vector<float> sum, uint16_t* to, int64_t count) {
    typedef Vector<uint32_t> V;
    const V bits = (V)sum, rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const __mmask16 nan = _mm512_cmp_ps_mask((__m512)sum, (__m512)sum, _CMP_UNORD_Q);
    const __m512i all = _mm512_mask_mov_epi32((__m512i)rounded, nan, _mm512_set1_epi32(0x7fc0));
    _mm256_mask_storeu_epi16(to, static_cast<__mmask16>((1u << count) - 1), _mm512_cvtepi32_epi16(all));
  }
};

static_assert(block_groups * Pairs::size == narrow_depth);
constexpr GemmKernels kernels = kernels_of<Pairs>();

}  // namespace
}  // namespace lamella::cpu
#pragma GCC pop_options
#else
namespace lamella::cpu {
namespace {
constexpr GemmKernels kernels = {};
}  // namespace
}  // namespace lamella::cpu
#endif

namespace lamella::cpu::LAMELLA_ISA {
const GemmKernels& bf16_gemm() { return kernels; }
}  // namespace lamella::cpu::LAMELLA_ISA
