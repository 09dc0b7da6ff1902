// The rows of recurrent layers: activations of gates and their gradients.
// Note [Instruction sets]: isa.h.
#include "backends/cpu/recurrent.h"

#include "backends/cpu/isa/exp.h"

namespace lamella::cpu {
namespace {

template <class T>
inline __attribute__((always_inline)) T sigmoid(T x) {
  const T e = exp_below(x < 0 ? x : -x), s = 1 / (1 + e);
  return x < 0 ? e * s : s;
}

// tanh as a quotient of exponentials; near 0, where this loses digits, the seventh convergent of the continued
// fraction.
template <class T>
inline __attribute__((always_inline)) T tangent(T x) {
  const T e = exp_below(x < 0 ? 2 * x : -2 * x), t = (1 - e) / (1 + e), square = x * x;
  const T above = x * (135135 + square * (17325 + square * (378 + square)));
  const T below = 135135 + square * (62370 + square * (3150 + square * 28));
  return square < T(0.16) ? above / below : x < 0 ? -t : t;
}

template <class T>
void lstm(int64_t n, void* gates, const void* before, void* cell, void* result) {
  T* __restrict__ i = static_cast<T*>(gates);
  T* __restrict__ f = i + n, * __restrict__ g = f + n, * __restrict__ o = g + n;
  const T* __restrict__ c0 = static_cast<const T*>(before);
  T* __restrict__ c = static_cast<T*>(cell), * __restrict__ h = static_cast<T*>(result);
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    i[k] = sigmoid(i[k]);
    f[k] = sigmoid(f[k]);
    g[k] = tangent(g[k]);
    o[k] = sigmoid(o[k]);
    c[k] = f[k] * c0[k] + i[k] * g[k];
    h[k] = o[k] * tangent(c[k]);
  }
}

template <class T, bool More>
void lstm_gradient(int64_t n, const T* __restrict__ gates, const T* __restrict__ before, const T* __restrict__ cell,
                   const T* __restrict__ result, const T* __restrict__ more, T* __restrict__ of_cell,
                   T* __restrict__ sums) {
  const T *i = gates, *f = i + n, *g = f + n, *o = g + n;
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const T t = tangent(cell[k]);
    const T dc = of_cell[k] + result[k] * o[k] * (1 - t * t);
    T di = dc * g[k], df = dc * before[k], dg = dc * i[k], d_o = result[k] * t;
    if (More) {
      di += more[k];
      df += more[n + k];
      dg += more[2 * n + k];
      d_o += more[3 * n + k];
    }
    sums[k] = di * i[k] * (1 - i[k]);
    sums[n + k] = df * f[k] * (1 - f[k]);
    sums[2 * n + k] = dg * (1 - g[k] * g[k]);
    sums[3 * n + k] = d_o * o[k] * (1 - o[k]);
    of_cell[k] = dc * f[k];
  }
}

template <class T>
void lstm_backward(int64_t n, const void* gates, const void* before, const void* cell, const void* result,
                   const void* more, void* of_cell, void* sums) {
  const auto run = more ? lstm_gradient<T, true> : lstm_gradient<T, false>;
  run(n, static_cast<const T*>(gates), static_cast<const T*>(before), static_cast<const T*>(cell),
      static_cast<const T*>(result), static_cast<const T*>(more), static_cast<T*>(of_cell), static_cast<T*>(sums));
}

template <class T>
void lstm_result(int64_t n, const void* gates, const void* cell, void* result) {
  const T *o = static_cast<const T*>(gates) + 3 * n, *c = static_cast<const T*>(cell);
  T* h = static_cast<T*>(result);
#pragma omp simd
  for (int64_t k = 0; k < n; k++) h[k] = o[k] * tangent(c[k]);
}

template <class T>
void gru(int64_t n, const void* input, const void* state, const void* before, void* kept, void* result) {
  const T* __restrict__ x = static_cast<const T*>(input), * __restrict__ u = static_cast<const T*>(state), * __restrict__ h0 = static_cast<const T*>(before);
  T* __restrict__ to = static_cast<T*>(kept), * __restrict__ h = static_cast<T*>(result);
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const T r = sigmoid(x[k] + u[k]), z = sigmoid(x[n + k] + u[n + k]), q = u[2 * n + k];
    const T m = tangent(x[2 * n + k] + r * q);
    to[k] = r;
    to[n + k] = z;
    to[2 * n + k] = m;
    to[3 * n + k] = q;
    h[k] = m + z * (h0[k] - m);
  }
}

template <class T, bool More>
void gru_gradient(int64_t n, const T* __restrict__ kept, const T* __restrict__ before, const T* __restrict__ more,
                  T* __restrict__ result, T* __restrict__ input, T* __restrict__ state) {
  const T *r = kept, *z = r + n, *m = z + n, *q = m + n;
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    T dz = result[k] * (before[k] - m[k]), dm = result[k] * (1 - z[k]);
    if (More) {
      dz += more[n + k];
      dm += more[2 * n + k];
    }
    const T of_m = dm * (1 - m[k] * m[k]);
    T dr = of_m * q[k], dq = of_m * r[k];
    if (More) {
      dr += more[k];
      dq += more[3 * n + k];
    }
    const T of_r = dr * r[k] * (1 - r[k]), of_z = dz * z[k] * (1 - z[k]);
    input[k] = state[k] = of_r;
    input[n + k] = state[n + k] = of_z;
    input[2 * n + k] = of_m;
    state[2 * n + k] = dq;
    result[k] *= z[k];
  }
}

template <class T>
void gru_backward(int64_t n, const void* kept, const void* before, const void* more, void* result, void* input,
                  void* state) {
  const auto run = more ? gru_gradient<T, true> : gru_gradient<T, false>;
  run(n, static_cast<const T*>(kept), static_cast<const T*>(before), static_cast<const T*>(more),
      static_cast<T*>(result), static_cast<T*>(input), static_cast<T*>(state));
}

// Writes of(k) to place k of `to`.
template <class T, class Of>
inline __attribute__((always_inline)) void fill(int64_t n, T* to, Of of) {
#pragma omp simd
  for (int64_t k = 0; k < n; k++) to[k] = of(k);
}

template <class T>
void curve(int64_t n, void* x, bool relu) {
  T* v = static_cast<T*>(x);
  if (relu)
    fill(n, v, [=](int64_t k) { return v[k] <= 0 ? T(0) : v[k]; });
  else
    fill(n, v, [=](int64_t k) { return tangent(v[k]); });
}

template <class T>
void curve_backward(int64_t n, const void* result, const void* grad, void* to, bool relu) {
  const T *h = static_cast<const T*>(result), *g = static_cast<const T*>(grad);
  if (relu)
    fill(n, static_cast<T*>(to), [=](int64_t k) { return h[k] <= 0 ? T(0) : g[k]; });
  else
    fill(n, static_cast<T*>(to), [=](int64_t k) { return g[k] * (1 - h[k] * h[k]); });
}

template <class T>
void add(int64_t n, const void* x, void* to) {
  const T *a = static_cast<const T*>(x), *b = static_cast<T*>(to);
  fill(n, static_cast<T*>(to), [=](int64_t k) { return b[k] + a[k]; });
}

template <class T>
constexpr RecurrentLoops loops_of = {lstm<T>,         lstm_backward<T>, lstm_result<T>,    gru<T>,
                                     gru_backward<T>, curve<T>,         curve_backward<T>, add<T>};
constexpr RecurrentLoops single = loops_of<float>, twice = loops_of<double>;

}  // namespace

namespace LAMELLA_ISA {
const RecurrentLoops* recurrent_loops(int dtype) { return dtype == LAMELLA_FLOAT64 ? &twice : &single; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
