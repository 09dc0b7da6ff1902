// Loops over the rows of a matrix in CSR form, on plain arrays. Each checks the pointers and the indices that it
// follows, and returns false for bad ones. T is an element, I an index.
#pragma once

#include <cstdint>

namespace lamella::sparse {

// A complex number whose product is the four products of the textbook, without the standard's care for infinities.
template <class T>
struct Complex {
  T re = 0, im = 0;
  Complex& operator+=(Complex o) {
    re += o.re;
    im += o.im;
    return *this;
  }
  friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
};

template <class T, class I>
struct Csr {
  const I* pointers;  // rows + 1
  const I* columns;
  const T* values;
  int64_t rows, width, entries;
};

// Rows [begin, end) of the product with `dense`, (width, k) -> out (rows, k).
template <class T, class I>
bool times_dense(const Csr<T, I>& a, const T* dense, int64_t k, T* out, int64_t begin, int64_t end);
// Columns [begin, end) of the product of the transposed matrix with `dense`, (rows, k), added to out (width, k).
template <class T, class I>
bool transposed_times_dense(const Csr<T, I>& a, const T* dense, int64_t k, T* out, int64_t begin, int64_t end);
// For each entry (r, c) of rows [begin, end) the sum of left[r, j] right[c, j] over k columns. `values` is not read.
template <class T, class I>
bool sampled_product(const Csr<T, I>& a, const T* left, const T* right, int64_t k, T* out, int64_t begin, int64_t end);

}  // namespace lamella::sparse
