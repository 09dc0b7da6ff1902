// SHA-256 as FIPS 180-4 describes it: by the processor's instructions if it has them, else by words.
#include "core/archive/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lamella::archive {
namespace {

using State = std::array<uint32_t, 8>;

alignas(16) constexpr uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t turned(uint32_t x, int by) { return std::rotr(x, by); }

void by_words(State& state, const uint8_t* p, size_t blocks) {
  for (; blocks; blocks--, p += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
      w[i] = uint32_t{p[4 * i]} << 24 | uint32_t{p[4 * i + 1]} << 16 | uint32_t{p[4 * i + 2]} << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (int i = 0; i < 64; i++) {
      const uint32_t chosen = (e & f) ^ (~e & g), most = (a & b) ^ (a & c) ^ (b & c);
      const uint32_t first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + constants[i] + w[i];
      const uint32_t second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most;
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const State mixed = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += mixed[i];
  }
}

#if defined(__x86_64__)
// Four rounds at a time. The instructions keep the state as the words (a, b, e, f) and (c, d, g, h), the first of them
// in the highest place.
__attribute__((target("sha,sse4.1,ssse3"))) void by_instructions(State& state, const uint8_t* p, size_t blocks) {
  const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);  // big-endian words
  const auto load = [](const void* from) __attribute__((always_inline)) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i abcd = _mm_shuffle_epi32(load(state.data()), 0xB1);      // b a d c, from the lowest place on: c d a b
  const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1B);  // from the lowest place on: h g f e
  __m128i abef = _mm_alignr_epi8(abcd, efgh, 8), cdgh = _mm_blend_epi16(efgh, abcd, 0xF0);
  for (; blocks; blocks--, p += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(load(p + 16 * i), order);
    for (int i = 0; i < 16; i++) {
      if (i >= 4) {  // the next four words of the message
        const __m128i begun = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
        const __m128i ninth = _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4);
        w[i & 3] = _mm_sha256msg2_epu32(_mm_add_epi32(begun, ninth), w[(i + 3) & 3]);
      }
      const __m128i sum = _mm_add_epi32(w[i & 3], load(constants + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool has_instructions() {
  unsigned a, b, c, d;
  return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}
#endif

void mix(State& state, const uint8_t* p, size_t blocks) {
#if defined(__x86_64__)
  static const bool fast = has_instructions();
  if (fast) return by_instructions(state, p, blocks);
#endif
  by_words(state, p, blocks);
}

}  // namespace

void Sha256::add(const void* data, size_t size) {
  const auto* p = static_cast<const uint8_t*>(data);
  const size_t held = size_ % 64;
  size_ += size;
  if (held) {
    const size_t n = std::min(size, 64 - held);
    std::memcpy(block_ + held, p, n);
    p += n, size -= n;
    if (held + n < 64) return;
    mix(state_, block_, 1);
  }
  mix(state_, p, size / 64);
  if (size % 64) std::memcpy(block_, p + size / 64 * 64, size % 64);
}

Sha256::Digest Sha256::finish() {
  const uint64_t bits = size_ * 8;
  uint8_t end[72] = {0x80};
  const size_t padding = 64 - (size_ + 8) % 64;  // 1 to 64 bytes, of which the first is 0x80
  for (int i = 0; i < 8; i++) end[padding + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  add(end, padding + 8);
  Digest out;
  for (int i = 0; i < 32; i++) out[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - i % 4 * 8));
  return out;
}

}  // namespace lamella::archive
