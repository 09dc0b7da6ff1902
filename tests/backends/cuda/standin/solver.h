// The common part of the stand-in for cuSOLVER: handles, checks of arguments, and factorizations by LAPACK.
#pragma once

#include "lapack.h"

namespace standin {

enum { success = 0, alloc_failed = 2, invalid = 3, unsupported = 9 };
enum { of_float = 0, of_double = 1, of_complex = 4, of_wide_complex = 5 };  // cudaDataType

struct Handle {
  static constexpr uint64_t ours = 0x501fe5;
  uint64_t mark = ours;
  void* stream = nullptr;
};
struct Params {
  static constexpr uint64_t ours = 0x9a4a35;
  uint64_t mark = ours;
};
struct Jacobi {
  char kind;
};

inline bool wrong(const Handle* h) { return !h || h->mark != Handle::ours; }
inline bool wrong(const Handle* h, const Params* p) { return wrong(h) || !p || p->mark != Params::ours; }
inline bool wrong(const Jacobi* j, char kind) { return !j || j->kind != kind; }
inline bool wrong_bit(int number) { return number != 0 && number != 1; }
inline bool wrong_type(int type) {
  return type != of_float && type != of_double && type != of_complex && type != of_wide_complex;
}
inline int real_of(int type) { return type == of_complex ? of_float : type == of_wide_complex ? of_double : type; }
[[maybe_unused]] inline int complex_of(int type) {
  return type == of_float ? of_complex : type == of_double ? of_wide_complex : type;
}

// The workspaces of a call. `device` and `host` are the bytes that the function needs.
struct Space {
  void* data;
  size_t bytes;
  void* host;
  size_t host_bytes;
  bool wrong(size_t device, size_t on_host) const {
    if (bytes < device || host_bytes < on_host || reinterpret_cast<uintptr_t>(data) % 16) return true;
    return (device && !data) || (on_host && !host);
  }
  void overwrite() const {
    if (bytes) std::memset(data, 0xa5, bytes);
    if (host_bytes) std::memset(host, 0xa5, host_bytes);
  }
};
inline size_t space_for(int64_t m, int64_t n) { return static_cast<size_t>(16 * (m + n) + 48); }
constexpr size_t some_host = 24;
inline int answer(size_t* device, size_t* host, size_t bytes, size_t on_host) {
  if (!device || !host) return invalid;
  return *device = bytes, *host = on_host, success;
}

template <class F>
void by_type(int type, F f) {
  if (type == of_float) f(float());
  if (type == of_double) f(double());
  if (type == of_complex) f(std::complex<float>());
  if (type == of_wide_complex) f(std::complex<double>());
}

template <class T>
void cholesky(int uplo, int n, T* a, int lda, int* info) {
  call(function<T>("potrf"), uplo ? "U" : "L", &n, a, &lda, info, one_letter);
  spoil(a);
}
template <class T>
void eigh(int job, int uplo, int n, T* a, int lda, Real<T>* w, int* info) {
  const int size = 64 * n;
  std::vector<T> work(static_cast<size_t>(size));
  std::vector<Real<T>> reals(static_cast<size_t>(3 * n));
  if constexpr (is_complex<T>)
    call(function<T>("", "heev"), job ? "V" : "N", uplo ? "U" : "L", &n, a, &lda, w, work.data(), &size, reals.data(),
         info, one_letter, one_letter);
  else
    call(function<T>("syev"), job ? "V" : "N", uplo ? "U" : "L", &n, a, &lda, w, work.data(), &size, info, one_letter,
         one_letter);
  spoil(w);
}
template <class T>
void svd(char job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt, int* info) {
  const int size = 64 * (m + n);
  std::vector<T> work(static_cast<size_t>(size));
  std::vector<Real<T>> reals(static_cast<size_t>(5 * (m + n)));
  if constexpr (is_complex<T>)
    call(function<T>("gesvd"), &job, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.data(), &size, reals.data(),
         info, one_letter, one_letter);
  else
    call(function<T>("gesvd"), &job, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.data(), &size, info, one_letter,
         one_letter);
  spoil(s);
}
template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

}  // namespace standin
