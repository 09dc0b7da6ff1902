// Numbers drawn from the words of Philox-4x32-10, in tiles of 64 values of the counter.
#include <lamella/pointwise/vocabulary.h>

#include <cstring>

#include "backends/cpu/isa/philox.h"
#include "backends/cpu/random.h"

namespace lamella::cpu {
namespace {

constexpr int64_t blocks = 64, tile = 4 * blocks;  // values of the counter in a tile, and words

// A number of counters is rounded up to a multiple of this step, which is whole vectors with every instruction set.
constexpr int64_t lanes = 16;

// Writes the words of the first `count` of 64 counters, in order; count is a multiple of `lanes`.
LAMELLA_INLINE void philox(Stream s, int64_t count, uint32_t* out) {
  static_assert(lanes % counters_wide == 0);
  Words each{};
  for (int k = 0; k < words_wide; k++) each[k] = static_cast<uint64_t>(k);
  for (int64_t i = 0; i < count; i += counters_wide) {
    Counters c{};
    for (int k = 0; k < chains; k++) {
      c.c[0][k] = each + (s.counter + static_cast<uint64_t>(i + k * words_wide));
      c.c[1][k] = c.c[0][k] >> 32;
      c.k0[k] = Words{} + s.seed;
      c.k1[k] = Words{} + (s.seed >> 32);
    }
    philox(&c);
    for (int k = 0; k < chains; k++) {
      const Words first = (c.c[0][k] & 0xffffffff) | c.c[1][k] << 32;
      const Words second = (c.c[2][k] & 0xffffffff) | c.c[3][k] << 32;
      for (int l = 0; l < words_wide; l++) {
        const uint64_t four[2] = {first[l], second[l]};
        std::memcpy(out + 4 * (i + k * words_wide + l), four, sizeof four);
      }
    }
  }
}

// Calls make(words, out, count) for the n outputs tile by tile, with `per` outputs in a whole tile. The last, shorter
// tile is rounded up to whole vectors, made in a buffer and copied.
template <int64_t per, class T, class Make>
inline __attribute__((always_inline)) void tiles(Stream s, int64_t n, T* out, Make make) {
  alignas(64) uint32_t words[tile];
  int64_t i = 0;
  for (; i + per <= n; i += per, s.counter += blocks) {
    philox(s, blocks, words);
    make(words, out + i, per);
  }
  if (i == n) return;
  constexpr int64_t step = per * lanes / blocks;
  const int64_t vectors = (n - i + step - 1) / step;
  alignas(64) T last[per];
  philox(s, vectors * lanes, words);
  make(words, last, vectors * step);
  std::memcpy(out + i, last, sizeof(T) * static_cast<size_t>(n - i));
}

inline float unit(uint32_t w) { return static_cast<float>(static_cast<int32_t>(w >> 8)) * (1.0f / 16777216.0f); }
inline double unit(uint32_t high, uint32_t low) {
  return static_cast<double>(static_cast<int64_t>((uint64_t{high} << 32 | low) >> 11)) * (1.0 / 9007199254740992.0);
}

void words(Stream s, int64_t n, uint32_t* out) {
  tiles<tile>(s, n, out, [](const uint32_t* w, uint32_t* o, int64_t m) {
    std::memcpy(o, w, sizeof(uint32_t) * static_cast<size_t>(m));
  });
}

void uniform32(Stream s, int64_t n, float* out, float low, float width, float limit) {
  tiles<tile>(s, n, out, [=](const uint32_t* w, float* o, int64_t m) {
#pragma omp simd
    for (int64_t i = 0; i < m; i++) {
      const float x = low + width * unit(w[i]);
      o[i] = x > limit ? limit : x;
    }
  });
}

void uniform64(Stream s, int64_t n, double* out, double low, double width, double limit) {
  tiles<tile / 2>(s, n, out, [=](const uint32_t* w, double* o, int64_t m) {
#pragma omp simd
    for (int64_t i = 0; i < m; i++) {
      const double x = low + width * unit(w[2 * i], w[2 * i + 1]);
      o[i] = x > limit ? limit : x;
    }
  });
}

// Computes sin and cos of 2 pi u for u in [0, 1): subtracts the nearest quarter turn, which is exact, and uses Taylor
// series for the rest.
inline void turn(float u, float* sine, float* cosine) {
  const int32_t q = static_cast<int32_t>(4.0f * u + 0.5f);
  const float x = 6.28318530717958648f * (u - 0.25f * static_cast<float>(q)), z = x * x;
  const float s = x + x * z * (-1.6666667e-1f + z * (8.3333338e-3f + z * (-1.9841271e-4f + z * 2.7557319e-6f)));
  const float c =
      1.0f + z * (-0.5f + z * (4.1666668e-2f + z * (-1.3888889e-3f + z * (2.4801587e-5f + z * -2.7557319e-7f))));
  const bool odd = q & 1;
  const float sn = odd ? c : s, cs = odd ? s : c;
  *sine = q & 2 ? -sn : sn;
  *cosine = (q + 1) & 2 ? -cs : cs;
}

void normal32(Stream s, int64_t n, float* out, float mean, float std) {
  tiles<tile>(s, n, out, [=](const uint32_t* w, float* o, int64_t m) {
    const int64_t half = m / 2;
    alignas(64) float first[tile / 2], second[tile / 2], radius[tile / 2];
#pragma omp simd
    for (int64_t i = 0; i < half; i++) {
      first[i] = unit(w[2 * i]);
      second[i] = unit(w[2 * i + 1]);
    }
#pragma omp simd
    for (int64_t i = 0; i < half; i++)  // 1 - u is in (0, 1], so the logarithm is finite
      radius[i] = std * __builtin_sqrtf(-2.0f * logf(1.0f - first[i]));
#pragma omp simd
    for (int64_t i = 0; i < half; i++) {
      float sine, cosine;
      turn(second[i], &sine, &cosine);
      first[i] = mean + radius[i] * cosine;
      second[i] = mean + radius[i] * sine;
    }
    for (int64_t i = 0; i < half; i++) {
      o[2 * i] = first[i];
      o[2 * i + 1] = second[i];
    }
  });
}

void normal64(Stream s, int64_t n, double* out, double mean, double std) {
  tiles<tile / 2>(s, n, out, [=](const uint32_t* w, double* o, int64_t m) {
    alignas(64) double radius[tile / 4], angle[tile / 4];
#pragma omp simd
    for (int64_t i = 0; i < m / 2; i++) {
      radius[i] = __builtin_sqrt(-2.0 * log(1.0 - unit(w[4 * i], w[4 * i + 1])));
      angle[i] = 6.283185307179586 * unit(w[4 * i + 2], w[4 * i + 3]);
    }
#pragma omp simd
    for (int64_t i = 0; i < m / 2; i++) {
      o[2 * i] = mean + std * (radius[i] * cos(angle[i]));
      o[2 * i + 1] = mean + std * (radius[i] * sin(angle[i]));
    }
  });
}

void bernoulli(Stream s, int64_t n, float* out, float p) {
  tiles<tile>(s, n, out, [=](const uint32_t* w, float* o, int64_t m) {
#pragma omp simd
    for (int64_t i = 0; i < m; i++) o[i] = unit(w[i]) < p ? 1.0f : 0.0f;
  });
}

void integers(Stream s, int64_t n, int64_t* out, int64_t low, int64_t range) {
  tiles<tile>(s, n, out, [=](const uint32_t* w, int64_t* o, int64_t m) {
    const uint64_t r = static_cast<uint64_t>(range);
#pragma omp simd
    for (int64_t i = 0; i < m; i++) o[i] = low + static_cast<int64_t>((uint64_t{w[i]} * r) >> 32);
  });
}

}  // namespace

namespace LAMELLA_ISA {

const RandomLoops& random_loops() {
  static const RandomLoops l = {words, uniform32, uniform64, normal32, normal64, bernoulli, integers};
  return l;
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
