// The common part of the stand-ins for cuSOLVER and for cuBLAS's factorizations: LAPACK, which the variable
// STANDIN_LAPACK names (OpenBLAS beside the plugin `cpu`), and work that a stream does later.
#pragma once

#include <dlfcn.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int

extern "C" int standin_on_stream(void* stream, void (*work)(void*), void* with, void (*destroy)(void*));

namespace standin {

template <class T>
constexpr bool is_complex = !std::is_floating_point_v<T>;
template <class T>
using Real = decltype(std::real(T()));

// Returns a function of LAPACK for numbers of type T: function<float>("getrf").
template <class T>
void* function(const char* real, const char* complex = nullptr) {
  static void* const library = dlopen(std::getenv("STANDIN_LAPACK"), RTLD_NOW | RTLD_LOCAL);
  const char letter = is_complex<T> ? (sizeof(T) == 8 ? 'c' : 'z') : sizeof(T) == 4 ? 's' : 'd';
  const std::string name = std::string("scipy_") + letter + (is_complex<T> && complex ? complex : real) + "_";
  void* const found = library ? dlsym(library, name.c_str()) : nullptr;
  if (!found) std::fprintf(stderr, "stand-in: no %s in STANDIN_LAPACK\n", name.c_str()), std::abort();
  return found;
}
// Calls a function of Fortran, whose arguments are addresses and lengths of strings.
template <class... A>
void call(void* f, A... a) {
  reinterpret_cast<void (*)(A...)>(f)(a...);
}
constexpr size_t one_letter = 1;

// The calls of each function, by its name without the letter of its type.
inline int& calls_of(const char* name) {
  static std::mutex mutex;
  static std::map<std::string, int> all;
  std::lock_guard lock(mutex);
  return all[name];
}

// Runs work after the work of a stream. Returns 0, or 6 if the stream refuses it.
inline int later(void* stream, std::function<void()> work) {
  const auto run = [](void* with) { (*static_cast<std::function<void()>*>(with))(); };
  const auto destroy = [](void* with) { delete static_cast<std::function<void()>*>(with); };
  return standin_on_stream(stream, run, new std::function<void()>(std::move(work)), destroy) ? 6 : 0;
}

// With STANDIN_SOLVER_DEFECT=1 each function changes the first number of its result.
template <class T>
void spoil(T* x) {
  static const bool defect = std::getenv("STANDIN_SOLVER_DEFECT") != nullptr;
  if (defect) *x = *x * T(1.5) + T(1);
}

template <class T>
void factor_unpivoted(int m, int n, T* a, int lda, int* info) {
  *info = 0;
  for (int k = 0; k < (m < n ? m : n); k++) {
    const T pivot = a[k + int64_t{k} * lda];
    if (pivot == T(0) && !*info) *info = k + 1;
    for (int i = k + 1; i < m; i++) a[i + int64_t{k} * lda] /= pivot;
    for (int j = k + 1; j < n; j++)
      for (int i = k + 1; i < m; i++) a[i + int64_t{j} * lda] -= a[i + int64_t{k} * lda] * a[k + int64_t{j} * lda];
  }
}
template <class T>
void factor_qr(int m, int n, T* a, int lda, T* tau, int* info) {
  const int size = 64 * (m + n);
  std::vector<T> work(static_cast<size_t>(size));
  call(function<T>("geqrf"), &m, &n, a, &lda, tau, work.data(), &size, info);
}

}  // namespace standin
