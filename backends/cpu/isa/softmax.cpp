// Softmax and log_softmax. Sums of exponentials are short chains of floats, added in double.
// Note [Instruction sets]: isa.h.
#include <cmath>
#include <limits>

#include "backends/cpu/isa/exp.h"
#include "backends/cpu/isa/lanes.h"
#include "backends/cpu/norms.h"

namespace lattis::cpu {
namespace {

template <class T>
LATTIS_INLINE T larger(T a, T b) {  // NaN comes out in the sum, if not here
  return b > a ? b : a;
}

template <class T>
T largest(int64_t n, const T* x) {
  constexpr int64_t lanes = 256 / sizeof(T);
  T best = x[0];
  int64_t i = 0;
  if (n >= lanes) {
    T lane[lanes];
    for (int64_t k = 0; k < lanes; k++) lane[k] = x[k];
    for (i = lanes; i + lanes <= n; i += lanes)
      for (int64_t k = 0; k < lanes; k++) lane[k] = larger(lane[k], x[i + k]);
    for (int64_t w = lanes / 2; w > 0; w /= 2)
      for (int64_t k = 0; k < w; k++) lane[k] = larger(lane[k], lane[k + w]);
    best = lane[0];
  }
  for (; i < n; i++) best = larger(best, x[i]);
  return best;
}

constexpr int64_t piece = 512;

// A piece of exponentials.
double total(int64_t n, const float* x) {
  Floats a[4] = {}, v;
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      load(v, x + i + 16 * k);
      a[k] += v;
    }
  Doubles low, high;
  widen(low, high, (a[0] + a[1]) + (a[2] + a[3]));
  double rest = 0;
  for (; i < n; i++) rest += static_cast<double>(x[i]);
  return add_up(low + high) + rest;
}
double total(int64_t n, const double* x) {
  Doubles a[4] = {}, v;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      load(v, x + i + 8 * k);
      a[k] += v;
    }
  double rest = 0;
  for (; i < n; i++) rest += x[i];
  return add_up((a[0] + a[1]) + (a[2] + a[3])) + rest;
}

template <class T>
void row(int64_t n, const void* in, void* out, bool log) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  const T top = largest(n, x);
  double sum = 0;
  alignas(64) T made[piece];
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t m = n - i < piece ? n - i : piece;
    T* e = log ? made : y + i;
    for (int64_t k = 0; k < m; k++) e[k] = exp_of(x[i + k] - top);
    sum += total(m, e);
  }
  if (log) {
    const T shift = static_cast<T>(::log(sum));
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - top) - shift;
  } else {
    const T scale = static_cast<T>(1 / sum);
    for (int64_t i = 0; i < n; i++) y[i] *= scale;
  }
}

template <class T>
void columns(int64_t n, int64_t width, const void* in, int64_t xs, void* out, int64_t ys, bool log) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  T top[softmax_width], last[softmax_width];
  double sum[softmax_width];
  for (int64_t k = 0; k < width; k++) {
    top[k] = x[k];
    sum[k] = 0;
  }
  for (int64_t r = 1; r < n; r++) {
    const T* at = x + r * xs;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) top[k] = at[k] > top[k] ? at[k] : top[k];
  }
  for (int64_t r = 0; r < n; r++) {
    const T* at = x + r * xs;
    T* to = log ? last : y + r * ys;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) {
      const T e = exp_of(at[k] - top[k]);
      to[k] = e;
      sum[k] += static_cast<double>(e);
    }
  }
  for (int64_t k = 0; k < width; k++) last[k] = static_cast<T>(log ? ::log(sum[k]) : 1 / sum[k]);
  for (int64_t r = 0; r < n; r++) {
    const T* at = x + r * xs;
    T* to = y + r * ys;
    if (log) {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) to[k] = (at[k] - top[k]) - last[k];
    } else {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) to[k] *= last[k];
    }
  }
}

template <class T>
constexpr Softmax table = {row<T>, columns<T>};

}  // namespace

namespace LATTIS_ISA {

const Softmax* softmax(int dtype) { return dtype == LATTIS_FLOAT64 ? &table<double> : &table<float>; }

}  // namespace LATTIS_ISA
}  // namespace lattis::cpu
