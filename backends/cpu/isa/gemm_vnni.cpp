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
#include "backends/cpu/isa/quads.h"
#include "backends/cpu/isa/groups.h"

namespace lamella::cpu {
namespace {

template <bool Signed>
struct Quads : ByteQuads {
  static constexpr uint32_t flipped = Signed ? 0x80808080 : 0;

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

constexpr ByteGemms kernels = {kernels_of<Quads<true>>(), kernels_of<Quads<false>>(), {}, {}};

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
