// Common parts of the kernels of norms and their gradients: numbers by row and by channel.
#pragma once

#include <algorithm>
#include <memory>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/norms.h"

namespace lamella::cpu {

inline double number(const Operand& p, int dtype, int64_t at, double absent) {
  if (!p.data()) return absent;
  return dtype == LAMELLA_FLOAT64 ? p.data<double>()[at] : static_cast<double>(p.data<float>()[at]);
}

inline int64_t numel_of(IntArrayRef sizes) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

// The input as (outer, count, area), with one mean and one scale for each index of dimension 1.
struct Channels {
  int64_t count, outer, area;
  explicit Channels(const lamella_tensor* t) : count(t->dl.shape[1]), outer(t->dl.shape[0]), area(1) {
    for (int d = 2; d < t->dl.ndim; d++) area *= t->dl.shape[d];
  }
};

inline bool channels_last(const lamella_tensor* t) {
  int64_t step = t->dl.shape[1];
  if (t->dl.strides[1] != 1) return false;
  for (int d = t->dl.ndim - 1; d >= 0; d--) {
    if (d == 1) continue;
    if (t->dl.shape[d] != 1 && t->dl.strides[d] != step) return false;
    step *= t->dl.shape[d];
  }
  return true;
}

// `as_doubles` converts numbers per channel to double, `from_doubles` back. If t is null, each number is `absent`.
inline void as_doubles(const lamella_tensor* t, int64_t n, double* to) {
  loops().cast[t->dtype][LAMELLA_FLOAT64](n, reinterpret_cast<char*>(to), sizeof(double),
                                          static_cast<const char*>(t->dl.data), t->dl.strides[0] * itemsize(t));
}
inline void from_doubles(lamella_tensor* t, int64_t n, const double* from) {
  loops().cast[LAMELLA_FLOAT64][t->dtype](n, static_cast<char*>(t->dl.data), t->dl.strides[0] * itemsize(t),
                                          reinterpret_cast<const char*>(from), sizeof(double));
}
inline void as_doubles(const lamella_tensor* t, int64_t n, double absent, double* to) {
  if (t)
    as_doubles(t, n, to);
  else
    std::fill(to, to + n, absent);
}

// An array of n doubles: on the stack if they are few.
class Doubles {
 public:
  explicit Doubles(int64_t n) : more_(n > few ? new double[n] : nullptr), data_(n > few ? more_.get() : here_) {}
  Doubles(const Doubles&) = delete;
  double* data() { return data_; }

 private:
  static constexpr int64_t few = 256;
  double here_[few];
  const std::unique_ptr<double[]> more_;
  double* const data_;
};

}  // namespace lamella::cpu
