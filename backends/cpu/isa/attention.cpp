// The rows of attention's blocks: masks, exponentials, and their gradients.
// Note [Instruction sets]: isa.h.
#include <limits>

#include "backends/cpu/attention.h"
#include "backends/cpu/isa/exp.h"

namespace lamella::cpu {
namespace {

template <class T>
constexpr T lowest = -std::numeric_limits<T>::infinity();

template <class T>
void masked(int64_t n, void* scores, double scale, const void* mask, int64_t stride, bool bools) {
  auto* s = static_cast<T*>(scores);
  const T by = static_cast<T>(scale);
  if (!mask) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) s[i] *= by;
  } else if (bools) {
    auto* m = static_cast<const unsigned char*>(mask);
    for (int64_t i = 0; i < n; i++) s[i] = m[i * stride] ? s[i] * by : lowest<T>;
  } else if (stride == 1) {
    auto* m = static_cast<const T*>(mask);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) s[i] = s[i] * by + m[i];
  } else {
    auto* m = static_cast<const T*>(mask);
    for (int64_t i = 0; i < n; i++) s[i] = s[i] * by + m[i * stride];
  }
}

template <class T>
double take(int64_t n, void* scores, double* top, double* sum) {
  auto* s = static_cast<T*>(scores);
  const T before = static_cast<T>(*top);
  T largest = before;
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < n; i++) largest = s[i] > largest ? s[i] : largest;
  // With no score but -inf so far, any finite number serves, and makes each exponential 0.
  const T from = largest == lowest<T> ? T(0) : largest;
  T added = 0;
#pragma omp simd reduction(+ : added)
  for (int64_t i = 0; i < n; i++) {
    s[i] = exp_below(s[i] - from);
    added += s[i];
  }
  const double factor = before == lowest<T> ? 0 : static_cast<double>(exp_below(before - from));
  *top = static_cast<double>(largest);
  *sum = *sum * factor + static_cast<double>(added);
  return factor;
}

template <class T>
void scale(int64_t n, const void* from, void* to, double by) {
  auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  const T f = static_cast<T>(by);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) y[i] = x[i] * f;
}

template <class T>
void backward(int64_t n, void* scores, void* d, double logsumexp, double shift, double scale) {
  auto* s = static_cast<T*>(scores);
  auto* g = static_cast<T*>(d);
  const T from = static_cast<T>(logsumexp), less = static_cast<T>(shift), by = static_cast<T>(scale);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    s[i] = exp_below(s[i] - from);
    g[i] = s[i] * (g[i] - less) * by;
  }
}

template <class T>
void keep(int64_t n, void* x, const float* kept, double by) {
  auto* v = static_cast<T*>(x);
  const T f = static_cast<T>(by);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) v[i] *= static_cast<T>(kept[i]) * f;
}

template <class T>
double dot(int64_t n, const void* x, const void* y) {
  auto* a = static_cast<const T*>(x);
  auto* b = static_cast<const T*>(y);
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return static_cast<double>(sum);
}

template <class T>
constexpr AttentionLoops loops_of = {masked<T>, take<T>, scale<T>, backward<T>, keep<T>, dot<T>};
constexpr AttentionLoops single = loops_of<float>, twice = loops_of<double>;

}  // namespace

namespace LAMELLA_ISA {
const AttentionLoops* attention_loops(int dtype) { return dtype == LAMELLA_FLOAT64 ? &twice : &single; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
