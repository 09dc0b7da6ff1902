// Products of blocks in plain memory on the calling thread; the memory that they need is taken once.
#pragma once

#include "backends/cpu/gemm.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {

// A matrix of T in memory; strides in elements.
template <class T>
struct Block {
  T* data;
  int64_t row, column = 1;

  Block from(int64_t i, int64_t j = 0) const { return {data + i * row + j * column, row, column}; }
  Block transposed() const { return {data, column, row}; }
};

template <class T>
class Multiplier {
 public:
  // Takes memory for products of at most these sizes.
  lamella_status open(int64_t m, int64_t n, int64_t k) { return space_.take(kernels().space(m, n, k)); }
  // Computes c (m, n) = a (m, k) · b (k, n), or with `adds` adds the product to c; adds a number for each column unless
  // `column_bias` is null.
  void operator()(int64_t m, int64_t n, int64_t k, const Block<const T>& a, const Block<const T>& b, const Block<T>& c,
                  bool adds = false, const T* column_bias = nullptr) const {
    if (m == 0 || n == 0) return;
    if (k == 0 || (adds && (m == 1 || n == 1))) return small(m, n, k, a, b, c, adds, column_bias);
    const Gemm g{m,        n,      k,     a.data,  a.row,       a.column, b.data, b.row,
                 b.column, c.data, c.row, nullptr, column_bias, nullptr,  adds};
    kernels().multiply(g, space_.data());
  }

 private:
  static const GemmKernels& kernels() {
    if constexpr (sizeof(T) == 4)
      return gemms().f32;
    else
      return gemms().f64;
  }
  static void small(int64_t m, int64_t n, int64_t k, const Block<const T>& a, const Block<const T>& b,
                    const Block<T>& c, bool adds, const T* bias) {
    for (int64_t i = 0; i < m; i++) {
      T* to = c.data + i * c.row;
      for (int64_t j = 0; j < n; j++) to[j] = (adds ? to[j] : T(0)) + (bias ? bias[j] : T(0));
      for (int64_t p = 0; p < k; p++) {
        const T by = a.data[i * a.row + p * a.column];
        const T* row = b.data + p * b.row;
        for (int64_t j = 0; j < n; j++) to[j] += by * row[j * b.column];
      }
    }
  }

  Space space_;
};

template <class T>
Block<const T> constant(const Block<T>& b) {
  return {b.data, b.row, b.column};
}

}  // namespace lamella::cpu
