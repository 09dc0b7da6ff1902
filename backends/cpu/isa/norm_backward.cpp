// Gradients of norms: sums over runs and over columns, and what is made of them. Note [Instruction sets]: isa.h.
#include "backends/cpu/isa/made.h"
#include "backends/cpu/norms.h"

namespace lattis::cpu {
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
  if (w) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p * (g[i] * w[i]) + (q * (x[i] - m) + r);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p * g[i] + (q * (x[i] - m) + r);
  }
}

// Eight rows at a time as T, then on as double. `make` is what (row, column) adds to the two sums.
template <class T, class Make>
LATTIS_INLINE void add_down(int64_t rows, int64_t n, Make make, double* sum, double* by_x) {
  for (int64_t r = 0; r < rows; r += 8) {
    const int64_t last = rows - r < 8 ? rows : r + 8;
    if (last - r == 8) {
#pragma omp simd
      for (int64_t i = 0; i < n; i++) {
        T s = 0, q = 0;
#pragma GCC unroll 8
        for (int64_t k = 0; k < 8; k++) make(r + k, i, s, q);
        sum[i] += static_cast<double>(s);
        by_x[i] += static_cast<double>(q);
      }
    } else {
#pragma omp simd
      for (int64_t i = 0; i < n; i++) {
        T s = 0, q = 0;
        for (int64_t k = r; k < last; k++) make(k, i, s, q);
        sum[i] += static_cast<double>(s);
        by_x[i] += static_cast<double>(q);
      }
    }
  }
}

template <class T>
void add_rows(int64_t rows, int64_t n, const void* gradient, const void* input, const double* means,
              const double* scales, double* sum, double* by_x) {
  auto *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(input);
  for (int64_t r = 0; r < rows; r += 8) {
    T m[8], a[8];
    const int64_t count = rows - r < 8 ? rows - r : 8;
    for (int64_t k = 0; k < count; k++) {
      m[k] = static_cast<T>(means[r + k]);
      a[k] = static_cast<T>(scales[r + k]);
    }
    auto make = [&](int64_t k, int64_t i, T & s, T & q) __attribute__((always_inline)) {
      const T v = g[(r + k) * n + i];
      s += v;
      q += v * ((x[(r + k) * n + i] - m[k]) * a[k]);
    };
    add_down<T>(count, n, make, sum, by_x);
  }
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
  add_down<T>(rows, n, make, sum, by_x);
}

template <class T>
void each(int64_t rows, int64_t n, const void* gradient, const void* input, void* out, const void* mean, const void* a,
          const void* b, const void* c) {
  auto *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(input), *m = static_cast<const T*>(mean);
  auto *p = static_cast<const T*>(a), *q = static_cast<const T*>(b), *s = static_cast<const T*>(c);
  auto* to = static_cast<T*>(out);
  for (; rows > 0; rows--, g += n, x += n, to += n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = p[i] * g[i] + (q[i] * (x[i] - m[i]) + s[i]);
  }
}

template <class T>
constexpr NormGradients table = {sums<T>, row<T>, add_rows<T>, add_columns<T>, each<T>};

}  // namespace

namespace LATTIS_ISA {

const NormGradients* norm_gradients(int dtype) { return dtype == LATTIS_FLOAT64 ? &table<double> : &table<float>; }

}  // namespace LATTIS_ISA
}  // namespace lattis::cpu
