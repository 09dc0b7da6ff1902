// Sums of numbers that a function computes from elements: vector by vector, then one by one at the end. For the files
// of this folder.
#pragma once

#include "backends/cpu/isa/chain.h"

namespace lamella::cpu {
namespace {

template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  using type = Floats;
  // Each of four sums takes at most `chain` vectors; the total of the four is then added in double.
  static constexpr int64_t count = 16, chain = 8;
};
template <>
struct Lanes<double> {
  using type = Doubles;
  static constexpr int64_t count = 8, chain = 8;
};

LAMELLA_INLINE void into_double(Doubles& total, const Floats& v) { FloatChain<false>::into(total, v); }
LAMELLA_INLINE void into_double(Doubles& total, const Doubles& v) { total += v; }

// Computes N sums. make(i, to) sets the N numbers to add for element i, or N vectors for element i and those after it.
template <class T, int N, class Make>
LAMELLA_INLINE void add_all_made(int64_t n, Make make, double (&sums)[N]) {
  using V = typename Lanes<T>::type;
  constexpr int64_t size = Lanes<T>::count;
  Doubles total[N] = {};
  int64_t i = 0;
  while (i + 4 * size <= n) {
    int64_t steps = (n - i) / (4 * size);
    if (steps > Lanes<T>::chain) steps = Lanes<T>::chain;
    V a[N][4] = {}, v[N];
    for (; steps > 0; steps--, i += 4 * size)
#pragma GCC unroll 4
      for (int64_t k = 0; k < 4; k++) {
        make(i + k * size, v);
#pragma GCC unroll 2
        for (int s = 0; s < N; s++) a[s][k] += v[s];
      }
#pragma GCC unroll 2
    for (int s = 0; s < N; s++) into_double(total[s], (a[s][0] + a[s][1]) + (a[s][2] + a[s][3]));
  }
  for (; i + size <= n; i += size) {
    V v[N];
    make(i, v);
#pragma GCC unroll 2
    for (int s = 0; s < N; s++) into_double(total[s], v[s]);
  }
#pragma GCC unroll 2
  for (int s = 0; s < N; s++) sums[s] = add_up(total[s]);
  for (; i < n; i++) {
    T v[N];
    make(i, v);
#pragma GCC unroll 2
    for (int s = 0; s < N; s++) sums[s] += static_cast<double>(v[s]);
  }
}

}  // namespace
}  // namespace lamella::cpu
