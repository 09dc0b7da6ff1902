// Gamma draws in vectors, as <lamella/pointwise/special/draws.h> defines them: one try for 64 elements at once. The
// elements whose try fails are collected and tried again, 64 at once.
#include <lamella/pointwise/vocabulary.h>

#include <cstring>

#include "backends/cpu/isa/philox.h"
#include "backends/cpu/random.h"

namespace lamella::cpu {
namespace {

using lamella::pointwise::cos_;
using lamella::pointwise::exp_;
using lamella::pointwise::log_;

constexpr int64_t lanes = 64;

// The arguments of one try for each lane (key, number of the block, shape), and its results.
template <class F>
struct Tries {
  alignas(64) uint32_t k0[lanes], k1[lanes], block[lanes];
  alignas(64) F shape[lanes], out[lanes];
  alignas(64) int32_t done[lanes];
  int32_t place[lanes];
};

using Narrow = uint32_t __attribute__((vector_size(4 * words_wide)));
// Loads words as a register of them.
LAMELLA_INLINE Words spread(const uint32_t* from) {
  Narrow words;
  load(words, from);
  return __builtin_convertvector(words, Words);
}

template <class F>
inline F inner_unit(uint32_t word) {
  return (static_cast<F>(static_cast<int32_t>(word >> 1)) + F(0.5)) * F(4.656612873077393e-10);
}

template <class F>
inline __attribute__((always_inline)) void attempt(Tries<F>* t, bool logarithm, F least, F infinity) {
  alignas(64) uint32_t w[4][lanes];
  for (int64_t i = 0; i < lanes; i += counters_wide) {
    Counters c{};
    for (int k = 0; k < chains; k++) {
      const int64_t at = i + k * words_wide;
      c.c[0][k] = spread(t->block + at);
      c.c[3][k] = Words{} + 1;
      c.k0[k] = spread(t->k0 + at);
      c.k1[k] = spread(t->k1 + at);
    }
    philox(&c);
    for (int word = 0; word < 4; word++)
      for (int k = 0; k < chains; k++) {
        const auto narrow = __builtin_convertvector(c.c[word][k], Narrow);
        std::memcpy(&w[word][i + k * words_wide], &narrow, sizeof narrow);
      }
  }
  alignas(64) F scale[lanes];
  int32_t small = 0;
#pragma omp simd reduction(| : small)
  for (int64_t i = 0; i < lanes; i++) {
    const F shape = t->shape[i], raised = shape < 1 ? shape + 1 : shape;
    const F d = raised - F(0.3333333333333333), c = 1 / lamella::pointwise::sqrt_(9 * d);
    const F radius = lamella::pointwise::sqrt_(-2 * log_(inner_unit<F>(w[0][i])));
    const F x = radius * cos_(F(6.283185307179586) * inner_unit<F>(w[1][i]));
    const F root = 1 + c * x, safe = root > 0 ? root : F(1), v = safe * safe * safe, logs = 3 * log_(safe);
    const bool taken = log_(inner_unit<F>(w[2][i])) < F(0.5) * x * x + d * (1 - v + logs);
    const bool odd = !(shape >= 0) || shape == infinity;
    t->done[i] = (root > 0 && taken) || odd;
    scale[i] = log_(inner_unit<F>(w[3][i])) / shape;
    t->out[i] = odd ? (shape > 0 ? shape : infinity - infinity) : logarithm ? logs + log_(d) : d * v;
    small |= shape < 1;
  }
  if (!small) return;
  if (logarithm) {
#pragma omp simd
    for (int64_t i = 0; i < lanes; i++) t->out[i] = t->shape[i] < 1 ? t->out[i] + scale[i] : t->out[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < lanes; i++) {
      const F y = t->shape[i] < 1 ? t->out[i] * exp_(scale[i]) : t->out[i];
      t->out[i] = y < least ? least : y;
    }
  }
}

// The elements whose tries have failed so far: fewer than `lanes`, and up to `lanes` more after the next try.
template <class F>
struct Waiting {
  int64_t count = 0;
  uint32_t k0[2 * lanes], k1[2 * lanes], block[2 * lanes];
  F shape[2 * lanes];
  int32_t place[2 * lanes];
};

// Stores the finished draws among the first n, and adds the other elements to `w` for their next try.
template <class F>
inline void settle(const Tries<F>& t, int64_t n, F* out, Waiting<F>* w) {
  for (int64_t i = 0; i < n; i++) {
    out[t.place[i]] = t.out[i];
    if (t.done[i] || t.block[i] == 63) continue;
    const int64_t k = w->count++;
    w->k0[k] = t.k0[i];
    w->k1[k] = t.k1[i];
    w->block[k] = t.block[i] + 1;
    w->shape[k] = t.shape[i];
    w->place[k] = t.place[i];
  }
}

// Takes the last n elements from `w` for a try; the lanes above n compute the first of these n again.
template <class F>
inline void resume(Tries<F>* t, int64_t n, Waiting<F>* w) {
  w->count -= n;
  for (int64_t i = 0; i < lanes; i++) {
    const int64_t k = w->count + (i < n ? i : 0);
    t->k0[i] = w->k0[k];
    t->k1[i] = w->k1[k];
    t->block[i] = w->block[k];
    t->shape[i] = w->shape[k];
    t->place[i] = w->place[k];
  }
}

template <class F>
inline __attribute__((always_inline)) void gammas(Stream s, int64_t n, const F* shape, F* out, bool logarithm) {
  const F least = sizeof(F) == 4 ? F(1.17549435e-38) : F(2.2250738585072014e-308), infinity = F(__builtin_inf());
  alignas(64) uint32_t words[2 * lanes];
  Tries<F> t;
  Waiting<F> waiting;
  const auto draw_words = LAMELLA_ISA::random_loops().words;
  for (int64_t start = 0; start < n || waiting.count > 0;) {
    int64_t m;
    if (start < n && waiting.count < lanes) {
      m = n - start < lanes ? n - start : lanes;
      draw_words(s, 2 * lanes, words);
      for (int64_t i = 0; i < lanes; i++) {
        const uint64_t seed = (uint64_t{words[2 * i]} << 32 | words[2 * i + 1]) >> 11;
        t.k0[i] = static_cast<uint32_t>(seed);
        t.k1[i] = static_cast<uint32_t>(seed >> 32);
        t.block[i] = 0;
        t.shape[i] = shape[start + (i < m ? i : 0)];
        t.place[i] = static_cast<int32_t>(start + i);
      }
      start += m;
      s.counter += lanes / 2;
    } else {
      m = waiting.count < lanes ? waiting.count : lanes;
      resume(&t, m, &waiting);
    }
    attempt(&t, logarithm, least, infinity);
    settle(t, m, out, &waiting);
  }
}

void gamma32(Stream s, int64_t n, const float* shape, float* out, bool logarithm) {
  gammas(s, n, shape, out, logarithm);
}
void gamma64(Stream s, int64_t n, const double* shape, double* out, bool logarithm) {
  gammas(s, n, shape, out, logarithm);
}

}  // namespace

namespace LAMELLA_ISA {

const GammaLoops& gamma_loops() {
  static const GammaLoops l = {gamma32, gamma64};
  return l;
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
