// Gradients of means of windows: each place's share is added to all elements of its window. Note [Instruction sets] is
// in backends/cpu/isa.h.
#include "backends/cpu/pool.h"

namespace lamella::cpu {
namespace {

// Adds up the shares of a row of places along the columns, then adds this line to all rows of their windows.
template <class T>
int backward(const PoolShares& p) {
  PoolWatch watch(p.interrupted);
  T *out = static_cast<T*>(p.out), *line = static_cast<T*>(p.line);
  const T* grad = static_cast<const T*>(p.grad);
  for (int64_t k = 0; k < p.height * p.width; k++) out[k] = 0;
  for (int64_t i = 0; i < p.places[0]; i++, grad += p.places[1]) {
    for (int64_t q = 0; q < p.width; q++) line[q] = 0;
    for (int64_t j = 0; j < p.places[1]; j++) {
      const T share = grad[j] / static_cast<T>(p.count[0][i] * p.count[1][j]);
      for (int64_t q = p.begin[1][j]; q < p.end[1][j]; q++) line[q] += share;
      if (watch.stops(p.end[1][j] - p.begin[1][j])) return watch.status();
    }
    for (int64_t r = p.begin[0][i]; r < p.end[0][i]; r++) {
      T* __restrict row = out + r * p.width;
      for (int64_t q = 0; q < p.width; q++) row[q] += line[q];
      if (watch.stops(p.width)) return watch.status();
    }
  }
  return 0;
}

constexpr PoolMeans make() {
  PoolMeans p{};
  p.backward[LAMELLA_FLOAT32] = backward<float>;
  p.backward[LAMELLA_FLOAT64] = backward<double>;
  return p;
}

constexpr PoolMeans all = make();

}  // namespace

namespace LAMELLA_ISA {
const PoolMeans& pool_means() { return all; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
