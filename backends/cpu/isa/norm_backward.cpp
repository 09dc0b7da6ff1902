// Gradients of norms: sums over runs and over columns, and the gradients from these. Note [Instruction sets]: isa.h.
#include "backends/cpu/isa/sums.h"
#include "backends/cpu/norms.h"

namespace lamella::cpu {
namespace {

template <class T>
void sums(int64_t n, const void* gradient, const void* input, const void* weight, double mean, double* sum,
          double* by_x) {
  auto *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(input), *w = static_cast<const T*>(weight);
  const T m = static_cast<T>(mean);
  double made[2];
  auto plain = [=](int64_t i, auto(&to)[2]) __attribute__((always_inline)) {
    load(to[0], g + i);
    load(to[1], x + i);
    to[1] = (to[1] - m) * to[0];
  };
  auto weighted = [=](int64_t i, auto(&to)[2]) __attribute__((always_inline)) {
    load(to[0], g + i);
    load(to[1], w + i);
    to[0] *= to[1];
    load(to[1], x + i);
    to[1] = (to[1] - m) * to[0];
  };
  if (w)
    add_all_made<T>(n, weighted, made);
  else
    add_all_made<T>(n, plain, made);
  *sum = made[0];
  *by_x = made[1];
}

template <class T>
void row(int64_t n, const void* gradient, const void* input, const void* weight, void* out, double mean, double a,
         double b, double c) {
  auto *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(input), *w = static_cast<const T*>(weight);
  auto* to = static_cast<T*>(out);
  const T m = static_cast<T>(mean), p = static_cast<T>(a), q = static_cast<T>(b), r = static_cast<T>(c);
  if (!x) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p * g[i];
  } else if (w) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p * (g[i] * w[i]) + (q * (x[i] - m) + r);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p * g[i] + (q * (x[i] - m) + r);
  }
}

template <class T>
void row_adding(int64_t n, const void* gradient, const void* input, const void* weight, void* out, double mean,
                double scale, double b, double c, void* sums, void* sums_by_x) {
  auto *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(input), *w = static_cast<const T*>(weight);
  auto *to = static_cast<T*>(out), *sum = static_cast<T*>(sums), *by_x = static_cast<T*>(sums_by_x);
  const T m = static_cast<T>(mean), p = static_cast<T>(scale), q = static_cast<T>(b), r = static_cast<T>(c);
  auto add = [=](int64_t i) __attribute__((always_inline)) {
    const T d = x[i] - m;
    sum[i] += g[i];
    by_x[i] += g[i] * (d * p);
    return d;
  };
  if (!to) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) add(i);
  } else if (w) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p * (g[i] * w[i]) + (q * add(i) + r);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p * g[i] + (q * add(i) + r);
  }
}

template <class T>
void take_in(int64_t n, void* from, double* to) {
  auto* x = static_cast<T*>(from);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    to[i] += static_cast<double>(x[i]);
    x[i] = 0;
  }
}

// Adds rows [begin, rows) of columns [first, n) to two sums of each column: eight rows at a time in T, these sums in
// double. `make` adds the summands of a row and a column to its last two arguments.
template <class T, class Make>
LAMELLA_INLINE void add_down(int64_t begin, int64_t rows, int64_t first, int64_t n, Make make, double* sum,
                             double* by_x) {
  for (int64_t r = begin; r < rows; r += 8) {
    const int64_t last = rows - r < 8 ? rows : r + 8;
    if (last - r == 8) {
#pragma omp simd
      for (int64_t i = first; i < n; i++) {
        T s = 0, q = 0;
#pragma GCC unroll 8
        for (int64_t k = 0; k < 8; k++) make(r + k, i, s, q);
        sum[i] += static_cast<double>(s);
        by_x[i] += static_cast<double>(q);
      }
    } else {
#pragma omp simd
      for (int64_t i = first; i < n; i++) {
        T s = 0, q = 0;
        for (int64_t k = r; k < last; k++) make(k, i, s, q);
        sum[i] += static_cast<double>(s);
        by_x[i] += static_cast<double>(q);
      }
    }
  }
}

template <class T>
LAMELLA_INLINE void add_wide(double* to, const typename Lanes<T>::type& v) {
  if constexpr (sizeof(T) == 4) {
    Doubles half[2], sum[2];
    widen(half[0], half[1], v);
    load(sum, to);
    sum[0] += half[0];
    sum[1] += half[1];
    __builtin_memcpy(to, sum, sizeof sum);
  } else {
    Doubles sum;
    load(sum, to);
    sum += v;
    __builtin_memcpy(to, &sum, sizeof sum);
  }
}

// Adds strips of eight narrow rows in the order of the memory, since the prefetcher does not follow eight streams
// within a page. Returns the number of columns that the strips cover.
template <class T>
int64_t add_strips(int64_t n, const T* g, const T* x, const T* mean, double* sum, double* by_x) {
  using V = typename Lanes<T>::type;
  constexpr int64_t size = Lanes<T>::count, width = 4 * size;
  int64_t first = 0;
  for (; first + width <= n; first += width) {
    V s[4] = {}, q[4] = {}, m[4], v, d;
#pragma GCC unroll 4
    for (int64_t k = 0; k < 4; k++) load(m[k], mean + first + size * k);
    for (int64_t row = 0; row < 8; row++) {
      const int64_t at = row * n + first;
#pragma GCC unroll 4
      for (int64_t k = 0; k < 4; k++) {
        load(v, g + at + size * k);
        load(d, x + at + size * k);
        s[k] += v;
        q[k] += v * (d - m[k]);
      }
    }
#pragma GCC unroll 4
    for (int64_t k = 0; k < 4; k++) {
      add_wide<T>(sum + first + size * k, s[k]);
      add_wide<T>(by_x + first + size * k, q[k]);
    }
  }
  return first;
}

template <class T>
void add_columns(int64_t rows, int64_t n, const void* gradient, const void* input, const void* mean, double* sum,
                 double* by_x) {
  auto *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(input), *m = static_cast<const T*>(mean);
  auto make = [=](int64_t r, int64_t i, T & s, T & q) __attribute__((always_inline)) {
    const T v = g[r * n + i];
    s += v;
    q += v * (x[r * n + i] - m[i]);
  };
  if (n > 256) return add_down<T>(0, rows, 0, n, make, sum, by_x);
  for (int64_t r = 0; r < rows; r += 8) {
    const int64_t last = rows - r < 8 ? rows : r + 8;
    const int64_t done = last - r == 8 ? add_strips(n, g + r * n, x + r * n, m, sum, by_x) : 0;
    if (done < n) add_down<T>(r, last, done, n, make, sum, by_x);
  }
}

template <class T>
void each(int64_t rows, int64_t n, const void* gradient, const void* input, void* out, const void* mean, const void* a,
          const void* b, const void* c) {
  auto *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(input), *m = static_cast<const T*>(mean);
  auto *p = static_cast<const T*>(a), *q = static_cast<const T*>(b), *s = static_cast<const T*>(c);
  auto* to = static_cast<T*>(out);
  for (; !x && rows > 0; rows--, g += n, to += n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p[i] * g[i];
  }
  for (; rows > 0; rows--, g += n, x += n, to += n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p[i] * g[i] + (q[i] * (x[i] - m[i]) + s[i]);
  }
}

template <class T>
constexpr NormGradients table = {sums<T>, row<T>, row_adding<T>, take_in<T>, add_columns<T>, each<T>};

}  // namespace

namespace LAMELLA_ISA {

const NormGradients* norm_gradients(int dtype) { return dtype == LAMELLA_FLOAT64 ? &table<double> : &table<float>; }

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
