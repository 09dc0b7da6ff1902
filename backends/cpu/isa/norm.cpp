// Norms: moments of a run, and scaling of its elements by them. Note [Instruction sets]: isa.h.
#include "backends/cpu/isa/moments.h"
#include "backends/cpu/norms.h"

namespace lamella::cpu {
namespace {

constexpr int64_t block = 4096;

template <class T>
void moments(int64_t n, const void* data, double* mean, double* variance) {
  auto* x = static_cast<const T*>(data);
  Moments m = {};
  for (int64_t i = 0; i < n; i += block) add_run(m, n - i < block ? n - i : block, x + i);
  *mean = m.mean;
  *variance = m.squares / static_cast<double>(n);
}

template <class T>
double mean_square(int64_t n, const void* data) {
  auto* x = static_cast<const T*>(data);
  Doubles a[2] = {}, v;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
      load_wide(v, x + i + 8 * k);
      a[k] += v * v;
    }
  double sum = add_up(a[0] + a[1]);
  for (; i < n; i++) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum / static_cast<double>(n);
}

template <class T>
void row(int64_t n, const void* in, void* out, double mean, double scale, const void* weight, const void* bias) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  auto* w = static_cast<const T*>(weight);
  auto* b = static_cast<const T*>(bias);
  const T m = static_cast<T>(mean), s = static_cast<T>(scale);
  if (w && b) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * s * w[i] + b[i];
  } else if (w) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * s * w[i];
  } else if (b) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * s + b[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * s;
  }
}

template <class T>
void affine(int64_t n, const void* in, void* out, double mean, double scale, double shift) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  const T m = static_cast<T>(mean), a = static_cast<T>(scale), b = static_cast<T>(shift);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m) * a + b;
}

template <class T>
void affine_each(int64_t rows, int64_t n, const void* in, void* out, const void* mean, const void* scale,
                 const void* shift) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  auto *m = static_cast<const T*>(mean), *a = static_cast<const T*>(scale), *b = static_cast<const T*>(shift);
  for (; rows > 0; rows--, x += n, y += n) {  // in the order of the memory, for the prefetcher
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m[i]) * a[i] + b[i];
  }
}

template <class T>
constexpr Norms table = {moments<T>, mean_square<T>, row<T>, affine<T>, affine_each<T>};

}  // namespace

namespace LAMELLA_ISA {

const Norms* norms(int dtype) { return dtype == LAMELLA_FLOAT64 ? &table<double> : &table<float>; }

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
