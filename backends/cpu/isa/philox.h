// The rounds of Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011) over
// vector registers of counters.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "backends/cpu/isa/lanes.h"

namespace lamella::cpu {
namespace {

// A vector register of 32-bit words. Each word is the lower half of a lane of 64 bits, since the instruction for the
// 64-bit products of 32-bit words reads the lower halves of such lanes. The upper halves hold any bits.
#ifdef __AVX512F__
using Words = uint64_t __attribute__((vector_size(64)));
LAMELLA_INLINE Words product(Words a, Words b) {
  return reinterpret_cast<Words>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#elif defined(__AVX2__)
using Words = uint64_t __attribute__((vector_size(32)));
LAMELLA_INLINE Words product(Words a, Words b) {
  return reinterpret_cast<Words>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
#elif defined(__SSE2__)
using Words = uint64_t __attribute__((vector_size(16)));
LAMELLA_INLINE Words product(Words a, Words b) {
  return reinterpret_cast<Words>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
#else
using Words = uint64_t __attribute__((vector_size(16)));
LAMELLA_INLINE Words product(Words a, Words b) { return (a & 0xffffffff) * (b & 0xffffffff); }
#endif
constexpr int words_wide = sizeof(Words) / 8;

// Counters of two registers go side by side, since each step waits for the product before it.
constexpr int chains = 2;
struct Counters {
  Words c[4][chains];
  Words k0[chains], k1[chains];
};
constexpr int64_t counters_wide = chains * words_wide;

// Replaces the counters by their random words.
LAMELLA_INLINE void philox(Counters* s) {
#pragma GCC unroll 10
  for (int round = 0; round < 10; round++) {
    for (int k = 0; k < chains; k++) {
      const Words p0 = product(s->c[0][k], Words{} + 0xD2511F53), p1 = product(s->c[2][k], Words{} + 0xCD9E8D57);
      s->c[0][k] = (p1 >> 32) ^ s->c[1][k] ^ s->k0[k];
      s->c[2][k] = (p0 >> 32) ^ s->c[3][k] ^ s->k1[k];
      s->c[1][k] = p1;
      s->c[3][k] = p0;
      s->k0[k] += 0x9E3779B9;
      s->k1[k] += 0xBB67AE85;
    }
  }
}

}  // namespace
}  // namespace lamella::cpu
