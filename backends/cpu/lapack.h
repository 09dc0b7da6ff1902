// LAPACK and BLAS, opened at their first use: OpenBLAS, which the package has beside this plugin. Matrices lie in
// column-major order, and integers have 32 bits. OpenBLAS computes on the thread that calls it; parallel_for shares out
// the matrices of a batch.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels.h"

namespace lamella::cpu {

using Int = int32_t;

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

// The functions of LAPACK and BLAS for numbers of type T (float, double and the complex numbers of both), in the
// calling convention of Fortran: all arguments are addresses, and the lengths of strings follow them. For complex
// numbers `syevd`, `orgqr` and `ormqr` are LAPACK's heevd, ungqr and unmqr. `sytrf` and `sytrs` are for symmetric
// matrices, and `hetrf` and `hetrs` for Hermitian ones.
template <class T>
struct Lapack {
  using Text = const char*;
  using In = const Int*;
  using Size = size_t;

  // ---- products and triangles ----
  void (*gemm)(Text, Text, In m, In n, In k, const T* alpha, const T* a, In lda, const T* b, In ldb, const T* beta,
               T* c, In ldc, Size, Size);
  void (*gemv)(Text, In m, In n, const T* alpha, const T* a, In lda, const T* x, In incx, const T* beta, T* y, In incy,
               Size);
  void (*trsm)(Text side, Text uplo, Text trans, Text diag, In m, In n, const T* alpha, const T* a, In lda, T* b,
               In ldb, Size, Size, Size, Size);
  // ---- factors ----
  void (*potrf)(Text uplo, In n, T* a, In lda, Int* info, Size);
  void (*getrf)(In m, In n, T* a, In lda, Int* pivots, Int* info);
  void (*getrs)(Text trans, In n, In k, const T* a, In lda, const Int* pivots, T* b, In ldb, Int* info, Size);
  void (*geqrf)(In m, In n, T* a, In lda, T* tau, T* work, In lwork, Int* info);
  void (*orgqr)(In m, In n, In k, T* a, In lda, const T* tau, T* work, In lwork, Int* info);
  void (*ormqr)(Text side, Text trans, In m, In n, In k, const T* a, In lda, const T* tau, T* c, In ldc, T* work,
                In lwork, Int* info, Size, Size);
  void (*sytrf)(Text uplo, In n, T* a, In lda, Int* pivots, T* work, In lwork, Int* info, Size);
  void (*hetrf)(Text uplo, In n, T* a, In lda, Int* pivots, T* work, In lwork, Int* info, Size);
  void (*sytrs)(Text uplo, In n, In k, const T* a, In lda, const Int* pivots, T* b, In ldb, Int* info, Size);
  void (*hetrs)(Text uplo, In n, In k, const T* a, In lda, const Int* pivots, T* b, In ldb, Int* info, Size);
  // ---- least squares ----
  void (*gels)(Text trans, In m, In n, In k, T* a, In lda, T* b, In ldb, T* work, In lwork, Int* info, Size);

  // ---- values and vectors; the complex functions take further workspace, `rwork` ----
  using R = Real<T>;
  template <class Plain, class Complex>
  using Either = std::conditional_t<is_complex_number<T>, Complex, Plain>*;
  Either<void(Text job, Text uplo, In n, T* a, In lda, R* w, T* work, In lwork, Int* iwork, In liwork, Int* info, Size,
              Size),
         void(Text job, Text uplo, In n, T* a, In lda, R* w, T* work, In lwork, R* rwork, In lrwork, Int* iwork,
              In liwork, Int* info, Size, Size)>
      syevd;
  Either<void(Text left, Text right, In n, T* a, In lda, T* real, T* imaginary, T* vl, In ldvl, T* vr, In ldvr, T* work,
              In lwork, Int* info, Size, Size),
         void(Text left, Text right, In n, T* a, In lda, T* w, T* vl, In ldvl, T* vr, In ldvr, T* work, In lwork,
              R* rwork, Int* info, Size, Size)>
      geev;
  Either<void(Text job, In m, In n, T* a, In lda, R* s, T* u, In ldu, T* vt, In ldvt, T* work, In lwork, Int* iwork,
              Int* info, Size),
         void(Text job, In m, In n, T* a, In lda, R* s, T* u, In ldu, T* vt, In ldvt, T* work, In lwork, R* rwork,
              Int* iwork, Int* info, Size)>
      gesdd;
  Either<void(In m, In n, In k, T* a, In lda, T* b, In ldb, Int* jpvt, const R* rcond, Int* rank, T* work, In lwork,
              Int* info),
         void(In m, In n, In k, T* a, In lda, T* b, In ldb, Int* jpvt, const R* rcond, Int* rank, T* work, In lwork,
              R* rwork, Int* info)>
      gelsy;
  Either<void(In m, In n, In k, T* a, In lda, T* b, In ldb, R* s, const R* rcond, Int* rank, T* work, In lwork,
              Int* info),
         void(In m, In n, In k, T* a, In lda, T* b, In ldb, R* s, const R* rcond, Int* rank, T* work, In lwork,
              R* rwork, Int* info)>
      gelss;
  Either<void(In m, In n, In k, T* a, In lda, T* b, In ldb, R* s, const R* rcond, Int* rank, T* work, In lwork,
              Int* iwork, Int* info),
         void(In m, In n, In k, T* a, In lda, T* b, In ldb, R* s, const R* rcond, Int* rank, T* work, In lwork,
              R* rwork, Int* iwork, Int* info)>
      gelsd;
};

// Returns whether OpenBLAS is there.
bool lapack_available();
// Returns the functions, or raises an error that says what is absent.
template <class T>
const Lapack<T>& lapack();

extern template const Lapack<float>& lapack<float>();
extern template const Lapack<double>& lapack<double>();
extern template const Lapack<std::complex<float>>& lapack<std::complex<float>>();
extern template const Lapack<std::complex<double>>& lapack<std::complex<double>>();

// Calls f with a number of the type that a dtype names: one of the four of LAPACK.
template <class F>
auto with_number(int dtype, F&& f) {
  switch (dtype) {
    case LAMELLA_FLOAT32:
      return f(float());
    case LAMELLA_FLOAT64:
      return f(double());
    case LAMELLA_COMPLEX64:
      return f(std::complex<float>());
    default:
      return f(std::complex<double>());
  }
}

}  // namespace lamella::cpu
