// Losses of two runs of numbers, and their sums. Note [Instruction sets]: isa.h.
#include "backends/cpu/isa/chain.h"
#include "backends/cpu/losses.h"

namespace lamella::cpu {
namespace {

template <class T>
LAMELLA_INLINE T size_of(T d) {
  return d < 0 ? -d : d;
}
struct SquaredError {
  template <class T>
  static LAMELLA_INLINE T of(T d, T) {
    return d * d;
  }
  template <class T>
  static LAMELLA_INLINE T slope(T d, T) {
    return d * T(2);
  }
};
struct AbsoluteError {
  template <class T>
  static LAMELLA_INLINE T of(T d, T) {
    return size_of(d);
  }
  template <class T>
  static LAMELLA_INLINE T slope(T d, T) {
    return d > 0 ? T(1) : d < 0 ? T(-1) : T(0);
  }
};
// Quadratic below `width`, linear above it.
struct Huber {
  template <class T>
  static LAMELLA_INLINE T of(T d, T width) {
    const T a = size_of(d), near = a * a * T(.5), far = (a - T(.5) * width) * width;
    return a < width ? near : far;
  }
  template <class T>
  static LAMELLA_INLINE T slope(T d, T width) {
    const T low = d < -width ? -width : d;
    return low > width ? width : low;
  }
};
struct SmoothL1 {
  template <class T>
  static LAMELLA_INLINE T of(T d, T width) {
    return Huber::of(d, width) / width;
  }
  template <class T>
  static LAMELLA_INLINE T slope(T d, T width) {
    return Huber::slope(d, width) / width;
  }
};

constexpr int64_t piece = 1024;

template <class Loss, class T>
double pair(int64_t n, const void* in, const void* target, double width, void* each) {
  auto *x = static_cast<const T*>(in), *y = static_cast<const T*>(target);
  const T w = static_cast<T>(width);
  alignas(64) T made[piece];
  double sum = 0;
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t m = n - i < piece ? n - i : piece;
    T* to = each ? static_cast<T*>(each) + i : made;
#pragma omp simd
    for (int64_t k = 0; k < m; k++) to[k] = Loss::of(x[i + k] - y[i + k], w);
    if (!each) sum += add_all(m, made);
  }
  return sum;
}

template <class Loss, class T>
void pair_backward(int64_t n, const void* in, const void* target, const void* gradient, double scale, double width,
                   void* out) {
  auto *x = static_cast<const T*>(in), *y = static_cast<const T*>(target), *g = static_cast<const T*>(gradient);
  auto* to = static_cast<T*>(out);
  const T w = static_cast<T>(width), s = static_cast<T>(scale);
  if (g) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = Loss::slope(x[i] - y[i], w) * (g[i] * s);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) to[i] = Loss::slope(x[i] - y[i], w) * s;
  }
}

template <class T>
constexpr Losses table = {{pair<SquaredError, T>, pair<AbsoluteError, T>, pair<Huber, T>, pair<SmoothL1, T>},
                          {pair_backward<SquaredError, T>, pair_backward<AbsoluteError, T>, pair_backward<Huber, T>,
                           pair_backward<SmoothL1, T>}};

}  // namespace

namespace LAMELLA_ISA {

const Losses* losses(int dtype) { return dtype == LAMELLA_FLOAT64 ? &table<double> : &table<float>; }

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
