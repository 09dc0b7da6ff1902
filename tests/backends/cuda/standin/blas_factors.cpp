// The functions of libcublas.so.13 for batches of small matrices, for tests: by LAPACK, one matrix after the other. Like
// the library, they refuse leading sizes below the sizes that they lead, unknown numbers and null arrays.
#include "blas.h"
#include "lapack.h"

using namespace standin;

namespace {

bool wrong(const Handle* h) { return !h || h->mark != Handle::ours; }
bool wrong(int number, int most) { return number < 0 || number > most; }
const char* turn_of(int turn) { return turn == 0 ? "N" : turn == 1 ? "T" : "C"; }

template <class T>
void solve(int side, int uplo, int turn, int diagonal, int m, int n, T alpha, const T* a, int lda, T* b, int ldb) {
  call(function<T>("trsm"), side ? "R" : "L", uplo ? "U" : "L", turn_of(turn), diagonal ? "U" : "N", &m, &n, &alpha, a,
       &lda, b, &ldb, one_letter, one_letter, one_letter, one_letter);
  spoil(b);
}

template <class T>
int trsm(Handle* h, int side, int uplo, int turn, int diagonal, int m, int n, const T* alpha, const T* a, int lda, T* b,
         int ldb) {
  calls_of("trsm")++;
  if (wrong(h) || wrong(side, 1) || wrong(uplo, 1) || wrong(turn, 2) || wrong(diagonal, 1) || lda < (side ? n : m) ||
      ldb < m || m < 1 || n < 1 || !alpha || !a || !b)
    return invalid;
  return later(h->stream, [=, alpha = *alpha] { solve(side, uplo, turn, diagonal, m, n, alpha, a, lda, b, ldb); });
}

template <class T>
int trsm_batched(Handle* h, int side, int uplo, int turn, int diagonal, int m, int n, const T* alpha, const T* const* a,
                 int lda, T* const* b, int ldb, int count) {
  calls_of("trsmBatched")++;
  if (wrong(h) || wrong(side, 1) || wrong(uplo, 1) || wrong(turn, 2) || wrong(diagonal, 1) || lda < (side ? n : m) ||
      ldb < m || m < 1 || n < 1 || count < 1 || !alpha || !a || !b)
    return invalid;
  if ((side ? m : n) > 524280) return 13;  // cuBLAS fails so with more sides: CUBLAS_STATUS_EXECUTION_FAILED
  return later(h->stream, [=, alpha = *alpha] {
    for (int i = 0; i < count; i++) solve(side, uplo, turn, diagonal, m, n, alpha, a[i], lda, b[i], ldb);
  });
}

template <class T>
int getrf_batched(Handle* h, int n, T* const* a, int lda, int* pivots, int* info, int count) {
  calls_of("getrfBatched")++;
  if (wrong(h) || n < 1 || lda < n || count < 1 || !a || !info) return invalid;
  return later(h->stream, [=] {
    for (int i = 0; i < count; i++) {
      if (pivots)
        call(function<T>("getrf"), &n, &n, a[i], &lda, pivots + int64_t{i} * n, info + i);
      else
        factor_unpivoted(n, n, a[i], lda, info + i);
      spoil(a[i]);
    }
  });
}

template <class T>
int getrs_batched(Handle* h, int turn, int n, int k, const T* const* a, int lda, const int* pivots, T* const* b,
                  int ldb, int* info, int count) {
  calls_of("getrsBatched")++;
  if (!info) return invalid;
  *info = wrong(turn, 2) ? -1 : n < 1 ? -2 : k < 1 ? -3 : !a ? -4 : lda < n ? -5 : !b ? -7 : ldb < n ? -8 : 0;
  if (wrong(h) || *info || count < 1 || !pivots) return invalid;
  return later(h->stream, [=] {
    for (int i = 0; i < count; i++) {
      int code;
      call(function<T>("getrs"), turn_of(turn), &n, &k, a[i], &lda, pivots + int64_t{i} * n, b[i], &ldb, &code,
           one_letter);
      spoil(b[i]);
    }
  });
}

template <class T>
int geqrf_batched(Handle* h, int m, int n, T* const* a, int lda, T* const* tau, int* info, int count) {
  calls_of("geqrfBatched")++;
  if (!info) return invalid;
  *info = m < 1 ? -1 : n < 1 ? -2 : !a ? -3 : lda < m ? -4 : !tau ? -5 : 0;
  if (wrong(h) || *info || count < 1) return invalid;
  return later(h->stream, [=] {
    for (int i = 0; i < count; i++) {
      int code;
      factor_qr(m, n, a[i], lda, tau[i], &code);
      spoil(a[i]);
    }
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int standin_factor_calls(const char* name) { return calls_of(name); }

#define STANDIN_FACTORS(letter, T)                                                                                     \
  API cublas##letter##trsm_v2(Handle* h, int side, int uplo, int turn, int diagonal, int m, int n, const T* alpha,     \
                              const T* a, int lda, T* b, int ldb) {                                                    \
    return trsm<T>(h, side, uplo, turn, diagonal, m, n, alpha, a, lda, b, ldb);                                        \
  }                                                                                                                    \
  API cublas##letter##trsmBatched(Handle* h, int side, int uplo, int turn, int diagonal, int m, int n, const T* alpha, \
                                  const T* const* a, int lda, T* const* b, int ldb, int count) {                       \
    return trsm_batched<T>(h, side, uplo, turn, diagonal, m, n, alpha, a, lda, b, ldb, count);                         \
  }                                                                                                                    \
  API cublas##letter##getrfBatched(Handle* h, int n, T* const* a, int lda, int* pivots, int* info, int count) {        \
    return getrf_batched<T>(h, n, a, lda, pivots, info, count);                                                        \
  }                                                                                                                    \
  API cublas##letter##getrsBatched(Handle* h, int turn, int n, int k, const T* const* a, int lda, const int* pivots,   \
                                   T* const* b, int ldb, int* info, int count) {                                       \
    return getrs_batched<T>(h, turn, n, k, a, lda, pivots, b, ldb, info, count);                                       \
  }                                                                                                                    \
  API cublas##letter##geqrfBatched(Handle* h, int m, int n, T* const* a, int lda, T* const* tau, int* info,            \
                                   int count) {                                                                        \
    return geqrf_batched<T>(h, m, n, a, lda, tau, info, count);                                                        \
  }
STANDIN_FACTORS(S, float)
STANDIN_FACTORS(D, double)
STANDIN_FACTORS(C, std::complex<float>)
STANDIN_FACTORS(Z, std::complex<double>)
