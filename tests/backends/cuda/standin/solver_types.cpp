// The functions of the stand-in for cuSOLVER that have a symbol for each dtype: see solver.cpp.
#include "solver.h"

using namespace standin;

namespace {

template <class T>
int potrf_batched(Handle* h, int uplo, int n, T** a, int lda, int* info, int count) {
  calls_of("potrfBatched")++;
  if (wrong(h) || wrong_bit(uplo) || n < 1 || !a || lda < n || !info || count < 1) return invalid;
  return later(h->stream, [=] {
    for (int i = 0; i < count; i++) {
      cholesky(uplo, n, a[i], lda, info + i);
      for (int c = 0; c < n; c++)  // the library uses the other triangle as workspace
        for (int r = 0; r < n; r++)
          if (uplo ? r > c : r < c) a[i][int64_t{c} * lda + r] = T(-77);
    }
  });
}

template <class T>
int orgqr_space(Handle* h, int m, int n, int k, const T* a, int lda, const T* tau, int* size) {
  if (wrong(h) || n < 1 || m < n || k < 1 || k > n || !a || lda < m || !tau || !size) return invalid;
  return *size = 3 * n + 1, success;
}
template <class T>
int orgqr(Handle* h, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size, int* info) {
  calls_of("orgqr")++;
  int least;
  if (orgqr_space(h, m, n, k, a, lda, tau, &least) || !work || size < least || !info) return invalid;
  return later(h->stream, [=] {
    std::memset(static_cast<void*>(work), 0xa5, static_cast<size_t>(size) * sizeof(T));
    const int own = 64 * (m + n);
    std::vector<T> space(static_cast<size_t>(own));
    call(function<T>("orgqr", "ungqr"), &m, &n, &k, a, &lda, tau, space.data(), &own, info);
    spoil(a);
  });
}

template <class T>
int ormqr_space(Handle* h, int side, int turn, int m, int n, int k, const T* a, int lda, const T* tau, const T* c,
                int ldc, int* size) {
  // Of complex numbers the function has no transpose without conjugation, and of real ones none with it.
  if (wrong(h) || wrong_bit(side) || (turn != 0 && turn != (is_complex<T> ? 2 : 1)) || m < 1 || n < 1 || k < 1 ||
      k > (side ? n : m) || !a || lda < (side ? n : m) || !tau || !c || ldc < m || !size)
    return invalid;
  return *size = 3 * (m + n) + 1, success;
}
template <class T>
int ormqr(Handle* h, int side, int turn, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc, T* work,
          int size, int* info) {
  calls_of("ormqr")++;
  int least;
  if (ormqr_space(h, side, turn, m, n, k, a, lda, tau, c, ldc, &least) || !work || size < least || !info)
    return invalid;
  return later(h->stream, [=] {
    std::memset(static_cast<void*>(work), 0xa5, static_cast<size_t>(size) * sizeof(T));
    const int own = 64 * (m + n);
    std::vector<T> space(static_cast<size_t>(own));
    call(function<T>("ormqr", "unmqr"), side ? "R" : "L",
         turn == 0   ? "N"
         : turn == 1 ? "T"
                     : "C",
         &m, &n, &k, a, &lda, tau, c, &ldc, space.data(), &own, info, one_letter, one_letter);
    spoil(c);
  });
}

template <class T>
int sytrf_space(Handle* h, int n, T* a, int lda, int* size) {
  if (wrong(h) || n < 1 || !a || lda < n || !size) return invalid;
  return *size = 2 * n, success;
}
template <class T>
int sytrf(Handle* h, int uplo, int n, T* a, int lda, int* pivots, T* work, int size, int* info) {
  calls_of("sytrf")++;
  int least;
  if (sytrf_space(h, n, a, lda, &least) || wrong_bit(uplo) || !pivots || !work || size < least || !info) return invalid;
  return later(h->stream, [=] {
    std::memset(static_cast<void*>(work), 0xa5, static_cast<size_t>(size) * sizeof(T));
    const int own = 64 * n;
    std::vector<T> space(static_cast<size_t>(own));
    call(function<T>("sytrf"), uplo ? "U" : "L", &n, a, &lda, pivots, space.data(), &own, info, one_letter);
    spoil(a);
  });
}

template <class T>
int syevj_batched_space(Handle* h, int job, int uplo, int n, const T* a, int lda, const Real<T>* w, int* size,
                        Jacobi* how, int count) {
  if (wrong(h) || wrong_bit(job) || wrong_bit(uplo) || n < 1 || !a || lda < n || !w || !size || wrong(how, 'e') ||
      count < 1)
    return invalid;
  return *size = n * count + 1, success;
}
template <class T>
int syevj_batched(Handle* h, int job, int uplo, int n, T* a, int lda, Real<T>* w, T* work, int size, int* info,
                  Jacobi* how, int count) {
  calls_of("syevjBatched")++;
  int least;
  if (syevj_batched_space(h, job, uplo, n, a, lda, w, &least, how, count) || !work || size < least || !info)
    return invalid;
  return later(h->stream, [=] {
    std::memset(static_cast<void*>(work), 0xa5, static_cast<size_t>(size) * sizeof(T));
    for (int i = 0; i < count; i++) eigh(job, uplo, n, a + int64_t{i} * n * lda, lda, w + int64_t{i} * n, info + i);
  });
}

// Decomposes a matrix, and writes V with as many columns as Vh has rows.
template <class T>
void svd_with_v(int job, bool full, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv, int* info) {
  const int least = m < n ? m : n, rows = full ? n : least;
  std::vector<T> vt(static_cast<size_t>(rows) * static_cast<size_t>(n));
  svd(job ? (full ? 'A' : 'S') : 'N', m, n, a, lda, s, u, ldu, vt.data(), rows, info);
  for (int r = 0; job && r < rows; r++)
    for (int c = 0; c < n; c++)
      v[int64_t{r} * ldv + c] =
          conjugate(vt[static_cast<size_t>(c) * static_cast<size_t>(rows) + static_cast<size_t>(r)]);
}
template <class T>
int gesvdj_space(Handle* h, int job, int econ, int m, int n, const T* a, int lda, const Real<T>* s, const T* u, int ldu,
                 const T* v, int ldv, int* size, Jacobi* how) {
  if (wrong(h) || wrong_bit(job) || wrong_bit(econ) || m < 1 || n < 1 || !a || lda < m || !s || !u || ldu < m || !v ||
      ldv < n || !size || wrong(how, 's'))
    return invalid;
  return *size = m + n, success;
}
template <class T>
int gesvdj(Handle* h, int job, int econ, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv, T* work,
           int size, int* info, Jacobi* how) {
  calls_of("gesvdj")++;
  int least;
  if (gesvdj_space(h, job, econ, m, n, a, lda, s, u, ldu, v, ldv, &least, how) || !work || size < least || !info)
    return invalid;
  return later(h->stream, [=] {
    std::memset(static_cast<void*>(work), 0xa5, static_cast<size_t>(size) * sizeof(T));
    svd_with_v(job, !econ, m, n, a, lda, s, u, ldu, v, ldv, info);
  });
}
template <class T>
int gesvdj_batched_space(Handle* h, int job, int m, int n, const T* a, int lda, const Real<T>* s, const T* u, int ldu,
                         const T* v, int ldv, int* size, Jacobi* how, int count) {
  if (m > 32 || n > 32 || count < 1) return invalid;
  return gesvdj_space(h, job, 0, m, n, a, lda, s, u, ldu, v, ldv, size, how);
}
template <class T>
int gesvdj_batched(Handle* h, int job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv, T* work,
                   int size, int* info, Jacobi* how, int count) {
  calls_of("gesvdjBatched")++;
  int least;
  if (gesvdj_batched_space(h, job, m, n, a, lda, s, u, ldu, v, ldv, &least, how, count) || !work || size < least ||
      !info)
    return invalid;
  return later(h->stream, [=] {
    std::memset(static_cast<void*>(work), 0xa5, static_cast<size_t>(size) * sizeof(T));
    for (int64_t i = 0; i < count; i++)
      svd_with_v(job, true, m, n, a + i * n * lda, lda, s + i * (m < n ? m : n), u + i * m * ldu, ldu, v + i * n * ldv,
                 ldv, info + i);
  });
}

}  // namespace

#define STANDIN_SOLVER(letter, T, R, org, orm, eig)                                                                    \
  API cusolverDn##letter##potrfBatched(Handle* h, int uplo, int n, T** a, int lda, int* info, int count) {             \
    return potrf_batched(h, uplo, n, a, lda, info, count);                                                             \
  }                                                                                                                    \
  API cusolverDn##letter##sytrf_bufferSize(Handle* h, int n, T* a, int lda, int* size) {                               \
    return sytrf_space(h, n, a, lda, size);                                                                            \
  }                                                                                                                    \
  API cusolverDn##letter##sytrf(Handle* h, int uplo, int n, T* a, int lda, int* pivots, T* work, int size,             \
                                int* info) {                                                                           \
    return sytrf(h, uplo, n, a, lda, pivots, work, size, info);                                                        \
  }                                                                                                                    \
  API cusolverDn##letter##org##_bufferSize(Handle* h, int m, int n, int k, const T* a, int lda, const T* tau,          \
                                           int* size) {                                                                \
    return orgqr_space(h, m, n, k, a, lda, tau, size);                                                                 \
  }                                                                                                                    \
  API cusolverDn##letter##org(Handle* h, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size,          \
                              int* info) {                                                                             \
    return orgqr(h, m, n, k, a, lda, tau, work, size, info);                                                           \
  }                                                                                                                    \
  API cusolverDn##letter##orm##_bufferSize(Handle* h, int side, int turn, int m, int n, int k, const T* a, int lda,    \
                                           const T* tau, const T* c, int ldc, int* size) {                             \
    return ormqr_space(h, side, turn, m, n, k, a, lda, tau, c, ldc, size);                                             \
  }                                                                                                                    \
  API cusolverDn##letter##orm(Handle* h, int side, int turn, int m, int n, int k, const T* a, int lda, const T* tau,   \
                              T* c, int ldc, T* work, int size, int* info) {                                           \
    return ormqr(h, side, turn, m, n, k, a, lda, tau, c, ldc, work, size, info);                                       \
  }                                                                                                                    \
  API cusolverDn##letter##eig##_bufferSize(Handle* h, int job, int uplo, int n, const T* a, int lda, const R* w,       \
                                           int* size, Jacobi* how, int count) {                                        \
    return syevj_batched_space<T>(h, job, uplo, n, a, lda, w, size, how, count);                                       \
  }                                                                                                                    \
  API cusolverDn##letter##eig(Handle* h, int job, int uplo, int n, T* a, int lda, R* w, T* work, int size, int* info,  \
                              Jacobi* how, int count) {                                                                \
    return syevj_batched<T>(h, job, uplo, n, a, lda, w, work, size, info, how, count);                                 \
  }                                                                                                                    \
  API cusolverDn##letter##gesvdj_bufferSize(Handle* h, int job, int econ, int m, int n, const T* a, int lda,           \
                                            const R* s, const T* u, int ldu, const T* v, int ldv, int* size,           \
                                            Jacobi* how) {                                                             \
    return gesvdj_space<T>(h, job, econ, m, n, a, lda, s, u, ldu, v, ldv, size, how);                                  \
  }                                                                                                                    \
  API cusolverDn##letter##gesvdj(Handle* h, int job, int econ, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v, \
                                 int ldv, T* work, int size, int* info, Jacobi* how) {                                 \
    return gesvdj<T>(h, job, econ, m, n, a, lda, s, u, ldu, v, ldv, work, size, info, how);                            \
  }                                                                                                                    \
  API cusolverDn##letter##gesvdjBatched_bufferSize(Handle* h, int job, int m, int n, const T* a, int lda, const R* s,  \
                                                   const T* u, int ldu, const T* v, int ldv, int* size, Jacobi* how,   \
                                                   int count) {                                                        \
    return gesvdj_batched_space<T>(h, job, m, n, a, lda, s, u, ldu, v, ldv, size, how, count);                         \
  }                                                                                                                    \
  API cusolverDn##letter##gesvdjBatched(Handle* h, int job, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v,    \
                                        int ldv, T* work, int size, int* info, Jacobi* how, int count) {               \
    return gesvdj_batched<T>(h, job, m, n, a, lda, s, u, ldu, v, ldv, work, size, info, how, count);                   \
  }
STANDIN_SOLVER(S, float, float, orgqr, ormqr, syevjBatched)
STANDIN_SOLVER(D, double, double, orgqr, ormqr, syevjBatched)
STANDIN_SOLVER(C, std::complex<float>, float, ungqr, unmqr, heevjBatched)
STANDIN_SOLVER(Z, std::complex<double>, double, ungqr, unmqr, heevjBatched)
