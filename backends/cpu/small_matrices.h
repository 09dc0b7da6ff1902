// Linear algebra of batches of small matrices, up to 32×32, computed many matrices at a time.
//
// Note [Interleaved matrices]  A group of matrices, as many as a vector register has elements, is copied so that each
//   vector holds one element (i, j) of all of them. The algorithms then run on vectors, with choices by masks where
//   matrices differ: in pivots, and in the number of steps until convergence. No operation mixes the elements of a
//   vector, and a matrix that has converged stays as it is while others of its group go on. So results depend neither
//   on a matrix's place in the batch, nor on the number of matrices, nor on the instruction set, and a batch may be
//   cut anywhere among threads. A last group that is not full repeats its last matrix.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

constexpr int64_t small_matrix = 32;  // the largest number of rows and of columns

// The matrices of a batch: element (i, j) of matrix b is data[b * matrix + i * row + j * column].
template <class T>
struct Matrices {
  T* data;
  int64_t matrix, row, column;
};

enum class SmallKind { cholesky, lu, lu_solve, solve, inverse, triangular, qr, eigh, eigvalsh, svd, svdvals };

// Every function here computes `count` matrices. `space` is memory of at least small_space() bytes, for one thread.
// Inputs may have strides of 0. An output may lie in an input's memory if it has the same strides.
template <class T>
struct SmallFactors {
  // Computes the lower L of a = L Lᵀ from the lower triangle of a; the other triangle of l becomes zero. info[b] is 0,
  // or the order of the first leading minor that is not positive: then the columns of l before it are right, and the
  // others have, below their diagonal, the elements of a.
  void (*cholesky)(int64_t count, int64_t n, Matrices<const T> a, Matrices<T> l, int32_t* info, void* space);
  // Computes a = P L U of m×n matrices with partial pivoting, L and U in one matrix. Row i was exchanged with row
  // pivots[b * min(m, n) + i] - 1, in the order of i. info[b] is 0, or the number (from 1) of the first zero pivot.
  void (*lu)(int64_t count, int64_t m, int64_t n, Matrices<const T> a, Matrices<T> lu, int32_t* pivots, int32_t* info,
             void* space);
  // Solves A X = B or, transposed, Aᵀ X = B, for k columns, any number, by the factors and pivots of A.
  void (*lu_solve)(int64_t count, int64_t n, int64_t k, Matrices<const T> lu, const int32_t* pivots,
                   Matrices<const T> b, Matrices<T> x, bool transposed, void* space);
  // Factors A and solves A X = B. lu.data and pivots may be null. If info[b] is not 0, x is not finite.
  void (*solve)(int64_t count, int64_t n, int64_t k, Matrices<const T> a, Matrices<const T> b, Matrices<T> x,
                Matrices<T> lu, int32_t* pivots, int32_t* info, void* space);
  // Inverts a. If info[b], as of lu, is not 0, the result is not finite.
  void (*inverse)(int64_t count, int64_t n, Matrices<const T> a, Matrices<T> x, int32_t* info, void* space);
  // Solves A X = B or, transposed, Aᵀ X = B, where A is the upper or lower triangle of a, with a diagonal of ones if
  // `unit`.
  void (*triangular)(int64_t count, int64_t n, int64_t k, Matrices<const T> a, Matrices<const T> b, Matrices<T> x,
                     bool upper, bool transposed, bool unit, void* space);
  // Computes a = Q R by Householder reflections, with LAPACK's signs: q is m×columns and r is columns×n, where
  // `columns` is min(m, n) or m. q.data may be null.
  void (*qr)(int64_t count, int64_t m, int64_t n, int64_t columns, Matrices<const T> a, Matrices<T> q, Matrices<T> r,
             void* space);
};

template <class T>
struct SmallSpectra {
  // Computes the ascending eigenvalues w[b * n + i] and the orthonormal eigenvectors, columns of v, of symmetric
  // matrices, of which one triangle is read. v.data may be null. info[b] is 0; -1, and results are NaN, where a has
  // an infinity or a NaN; or the number of values that did not converge.
  void (*eigh)(int64_t count, int64_t n, Matrices<const T> a, bool upper, T* w, Matrices<T> v, int32_t* info,
               void* space);
  // Computes a = U diag(s) Vᵀ with k = min(m, n): u is m×k, s[b * k + i] descends, vh is k×n. u.data and vh.data may be
  // null, both or none. info[b] is as of eigh.
  void (*svd)(int64_t count, int64_t m, int64_t n, Matrices<const T> a, Matrices<T> u, T* s, Matrices<T> vh,
              int32_t* info, void* space);
};

// The functions of both dtypes, and the bytes of a vector. A piece of a batch has full groups alone if its number of
// matrices is a multiple of vector_bytes / sizeof(T).
struct SmallMatrices {
  SmallFactors<float> factors_f32;
  SmallFactors<double> factors_f64;
  SmallSpectra<float> spectra_f32;
  SmallSpectra<double> spectra_f64;
  int64_t vector_bytes;
};

// Returns the functions of the chosen instruction set.
const SmallMatrices& small_matrices();
template <class T>
const SmallFactors<T>& small_factors() {
  if constexpr (sizeof(T) == 4)
    return small_matrices().factors_f32;
  else
    return small_matrices().factors_f64;
}
template <class T>
const SmallSpectra<T>& small_spectra() {
  if constexpr (sizeof(T) == 4)
    return small_matrices().spectra_f32;
  else
    return small_matrices().spectra_f64;
}
// Returns whether these functions are expected to be at least as fast as LAPACK for `count` m×n matrices; where systems
// are solved, for m×m matrices and n right-hand sides.
bool small_suits(SmallKind kind, int64_t element_bytes, int64_t count, int64_t m, int64_t n);
// Returns the bytes of memory that a function needs for such matrices, at most 192 KiB and a vector.
int64_t small_space(SmallKind kind, int64_t m, int64_t n);

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(void, add_small_factors, (SmallMatrices&))
LAMELLA_DECLARE_ISA(void, add_small_spectra, (SmallMatrices&))
