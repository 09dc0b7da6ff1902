// Matrices in column-major order before and after cuSOLVER and cuBLAS compute with them: see linalg.cpp.
#include "scalars.cuh"

template <class T>
DEVICE T conjugated(T x) {
  return x;
}
template <class R>
DEVICE complex<R> conjugated(complex<R> x) {
  return {x.re, -x.im};
}
template <class T>
DEVICE bool finite(T x) {
  return isfinite(x);
}
template <class R>
DEVICE bool finite(complex<R> x) {
  return isfinite(x.re) && isfinite(x.im);
}
template <class T>
DEVICE bool is_zero(T x) {
  return x == 0;
}
template <class R>
DEVICE bool is_zero(complex<R> x) {
  return x.re == 0 && x.im == 0;
}
template <class T>
DEVICE T number(double x) {
  if constexpr (Is<T>::complex_number)
    return {static_cast<typename PartOf<T>::type>(x), 0};
  else
    return static_cast<T>(x);
}

// Writes the addresses of a batch of matrices, `step` bytes apart.
__global__ void __launch_bounds__(256) addresses(char* first, i64 step, i64 count, char** out) {
  for (i64 i = thread_index(); i < count; i += grid_threads()) out[i] = first + i * step;
}

// Writes zeros above the diagonals of m by n matrices, or below them.
template <class T>
__global__ void __launch_bounds__(256) clear_side(T* x, i64 m, i64 n, i64 count, bool above) {
  for (i64 i = thread_index(); i < m * n * count; i += grid_threads()) {
    const i64 row = i % m, column = i / m % n;
    if (above ? row < column : row > column) x[i] = number<T>(0);
  }
}

// Writes the upper triangles of m by n matrices into matrices of `rows` rows, with zeros below the diagonals.
template <class T>
__global__ void __launch_bounds__(256) copy_upper(const T* from, i64 m, T* to, i64 rows, i64 n, i64 count) {
  for (i64 i = thread_index(); i < rows * n * count; i += grid_threads()) {
    const i64 row = i % rows, column = i / rows % n, matrix = i / rows / n;
    to[i] = row <= column ? from[(matrix * n + column) * m + row] : number<T>(0);
  }
}

// Copies the first `part` elements of each matrix; matrices are `from_each` and `to_each` elements apart.
template <class T>
__global__ void __launch_bounds__(256)
    copy_part(const T* from, i64 from_each, T* to, i64 to_each, i64 part, i64 count) {
  for (i64 i = thread_index(); i < part * count; i += grid_threads())
    to[i / part * to_each + i % part] = from[i / part * from_each + i % part];
}

// Writes the adjoints of the first k columns of n by n matrices, or of matrices of `from_each` elements with n rows.
template <class T>
__global__ void __launch_bounds__(256) copy_adjoint(const T* from, i64 from_each, T* to, i64 k, i64 n, i64 count) {
  for (i64 i = thread_index(); i < k * n * count; i += grid_threads()) {
    const i64 row = i % k, column = i / k % n;
    to[i] = conjugated(from[i / k / n * from_each + row * n + column]);
  }
}

template <class T>
__global__ void __launch_bounds__(256) conjugate(T* x, i64 n) {
  for (i64 i = thread_index(); i < n; i += grid_threads()) x[i] = conjugated(x[i]);
}

// Writes 1 on the diagonals of m by n matrices, and zeros elsewhere.
template <class T>
__global__ void __launch_bounds__(256) write_identity(T* x, i64 m, i64 n, i64 count) {
  for (i64 i = thread_index(); i < m * n * count; i += grid_threads())
    x[i] = number<T>(i % m == i / m % n ? 1 : 0);
}

// Writes the numbers from 1 to k for each matrix: the pivots of factors without exchanges.
template <class To>
__global__ void __launch_bounds__(256) count_rows(To* to, i64 k, i64 count) {
  for (i64 i = thread_index(); i < k * count; i += grid_threads()) to[i] = static_cast<To>(i % k + 1);
}

// Copies pivots. One that is no row of an n by n matrix becomes its own row and is reported.
template <class To>
__global__ void __launch_bounds__(256)
    checked_pivots(const int32_t* from, To* to, i64 n, i64 count, Fault* fault, int32_t code) {
  for (i64 i = thread_index(); i < n * count; i += grid_threads()) {
    const int32_t given = from[i];
    const bool right = given >= 1 && given <= n;
    if (!right) report(fault, code, given, n);
    to[i] = right ? given : static_cast<To>(i % n + 1);
  }
}

// Copies the pivots of LDL: rows of an n by n matrix, or pairs of the negatives of rows. If a matrix has other ones, its
// pivots become its own rows, and the first wrong one is reported.
__global__ void __launch_bounds__(256)
    checked_blocks(const int32_t* from, i64* to, i64 n, i64 count, Fault* fault, int32_t code) {
  for (i64 b = thread_index(); b < count; b += grid_threads()) {
    const int32_t* at = from + b * n;
    bool right = true;
    for (i64 i = 0; i < n && right; i++) {
      const bool pair = at[i] < 0;
      right = at[i] && at[i] >= -n && at[i] <= n && (!pair || (i + 1 < n && at[i + 1] < 0 && at[i + 1] >= -n));
      if (!right) report(fault, code, at[i], n);
      i += pair;
    }
    for (i64 i = 0; i < n; i++) to[b * n + i] = right ? at[i] : i + 1;
  }
}

// Sets the flag of each matrix with an infinity or a NaN, and writes zeros to it. `side` 1 reads the upper triangle
// alone, -1 the lower one, 0 all of it. A block takes a matrix.
template <class T>
__global__ void __launch_bounds__(256) find_infinite(T* x, i64 m, i64 n, i64 count, int side, int32_t* flags) {
  for (i64 b = blockIdx.x; b < count; b += gridDim.x) {
    T* at = x + b * m * n;
    bool found = false;
    for (i64 i = threadIdx.x; i < m * n; i += 256) {
      const i64 row = i % m, column = i / m;
      if (side > 0 ? row <= column : side < 0 ? row >= column : true) found = found || !finite(at[i]);
    }
    const bool any = __syncthreads_or(found);
    if (threadIdx.x == 0) flags[b] = any;
    if (any)
      for (i64 i = threadIdx.x; i < m * n; i += 256) at[i] = number<T>(0);
    __syncthreads();
  }
}

// Writes NaNs, or -1 as `info`, to the results of flagged matrices.
template <class T>
__global__ void __launch_bounds__(256) spoil(const int32_t* flags, T* x, i64 each, i64 count) {
  for (i64 i = thread_index(); i < each * count; i += grid_threads())
    if (flags[i / each]) {
      if constexpr (Is<T>::integral)
        x[i] = -1;
      else
        x[i] = number<T>(NAN);
    }
}

// Writes the number of the first diagonal element that is 0 for each matrix, counted from 1, or 0.
template <class T>
__global__ void __launch_bounds__(256) first_zeros(const T* x, i64 m, i64 n, i64 count, int32_t* to) {
  for (i64 b = thread_index(); b < count; b += grid_threads()) {
    int32_t first = 0;
    for (i64 i = 0; i < m && i < n && !first; i++)
      if (is_zero(x[b * m * n + i * m + i])) first = static_cast<int32_t>(i + 1);
    to[b] = first;
  }
}

template <class T>
DEVICE bool above_zero(T x) {
  return isfinite(x) && x > 0;
}
template <class R>
DEVICE bool above_zero(complex<R> x) {
  return above_zero(x.re);
}

// Where `info` is 0, writes the number of the first diagonal element of an n by n Cholesky factor that is not a finite
// number above 0, counted from 1.
template <class T>
__global__ void __launch_bounds__(256) find_unfinished(const T* x, i64 n, i64 count, int32_t* info) {
  for (i64 b = thread_index(); b < count; b += grid_threads())
    for (i64 i = 0; i < n && !info[b]; i++)
      if (!above_zero(x[b * n * n + i * n + i])) info[b] = static_cast<int32_t>(i + 1);
}

// Writes complex eigenvectors. `parts` has the real and the imaginary part of the first of two conjugate vectors as two
// columns, as LAPACK returns them, and the vectors of real eigenvalues as one.
template <class R>
__global__ void __launch_bounds__(256) pair_vectors(const complex<R>* values, const R* parts, complex<R>* to, i64 n,
                                                     i64 count) {
  for (i64 i = thread_index(); i < n * n * count; i += grid_threads()) {
    const i64 column = i / n % n;
    const R side = values[i / n].im;  // any number, if the matrix did not converge
    const bool second = side < 0 && column > 0, first = side > 0 && column + 1 < n;
    to[i] = {parts[second ? i - n : i], second ? -parts[i] : first ? parts[i + n] : R(0)};
  }
}
