// The mean of a run and its sum of squared deviations: shifted by the block's first element, blocks joined by Chan's
// formula, in double throughout. For the files of this folder.
#pragma once

#include "backends/cpu/isa/lanes.h"

namespace lattis::cpu {
namespace {

struct Moments {
  double count, mean, squares;
};

inline double finite_or_zero(double x) { return x - x == 0 ? x : 0; }

inline void add_block(Moments& a, double count, double shift, double sum, double squares) {
  const double mean = shift + sum / count;
  squares -= sum * (sum / count);
  if (squares < 0) squares = 0;
  if (a.count == 0) {
    a = {count, mean, squares};
    return;
  }
  const double total = a.count + count, delta = mean - a.mean;
  a.squares += squares + delta * delta * (a.count / total * count);
  a.mean = delta - delta == 0 ? a.mean + delta * (count / total) : (a.mean * a.count + mean * count) / total;
  a.count = total;
}

// One block, at most a few thousand elements.
template <class T>
inline void add_run(Moments& a, int64_t n, const T* x) {
  if (n == 0) return;
  const double shift = finite_or_zero(static_cast<double>(x[0]));
  Doubles sum[2] = {}, squares[2] = {}, v;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
      load_wide(v, x + i + 8 * k);
      v -= shift;
      sum[k] += v;
      squares[k] += v * v;
    }
  double s = add_up(sum[0] + sum[1]), q = add_up(squares[0] + squares[1]);
  for (; i < n; i++) {
    const double d = static_cast<double>(x[i]) - shift;
    s += d;
    q += d * d;
  }
  add_block(a, static_cast<double>(n), shift, s, q);
}

}  // namespace
}  // namespace lattis::cpu
