// The loops of products.h, compiled for several instruction sets.
#include <algorithm>
#include <type_traits>

#include "products.h"

namespace lamella::sparse {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAMELLA_EACH_ISA
#else
#define LAMELLA_EACH_ISA __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif
#define SPARSE_INLINE inline __attribute__((always_inline))

constexpr int64_t ahead = 6;  // entries between a prefetch and its use

// Returns whether the pointers of row r are in order and within the entries of the matrix.
template <class T, class I>
SPARSE_INLINE bool is_row(const Csr<T, I>& a, int64_t r) {
  return a.pointers[r] >= 0 && a.pointers[r] <= a.pointers[r + 1] && a.pointers[r + 1] <= a.entries;
}
// Returns whether the column of entry e is one of the matrix. The comparison costs nothing beside the cache misses that
// follow.
template <class T, class I>
SPARSE_INLINE bool is_column(const Csr<T, I>& a, int64_t e) {
  return __builtin_expect(static_cast<uint64_t>(static_cast<int64_t>(a.columns[e])) < static_cast<uint64_t>(a.width),
                          1);
}

// One sum for a row, in order: rows are short, and the branch that ends a row costs more than the latency of the sum.
template <class T, class I>
SPARSE_INLINE bool times_vector_loop(const Csr<T, I>& a, const T* x, T* out, int64_t begin, int64_t end) {
  const I *const pointers = a.pointers, *const columns = a.columns;
  const T* const values = a.values;
  const auto width = static_cast<uint64_t>(a.width);
  int64_t e = pointers[begin];
  if (e < 0) return false;
  for (int64_t r = begin; r < end; r++) {
    const int64_t last = pointers[r + 1];
    if (last < e || last > a.entries) return false;
    T s{};
    for (; e < last; e++) {
      const auto column = static_cast<uint64_t>(static_cast<int64_t>(columns[e]));
      if (__builtin_expect(column >= width, 0)) return false;
      s += values[e] * x[column];
    }
    out[r] = s;
  }
  return true;
}

// W columns of the result in registers.
template <int W, class T, class I>
SPARSE_INLINE bool row_times_block(const Csr<T, I>& a, const T* dense, int64_t k, T* out, int64_t e, int64_t end) {
  T s[W] = {};
  for (; e < end; e++) {
    if (!is_column(a, e)) return false;
    // The column of a later entry is not checked yet, but a prefetch may name any address.
    const int64_t later = std::min(e + ahead, a.entries - 1);
    const char* next = reinterpret_cast<const char*>(dense + a.columns[later] * k);
    for (int64_t b = 0; b < static_cast<int64_t>(W * sizeof(T)); b += 64) __builtin_prefetch(next + b);
    const T v = a.values[e];
    const T* x = dense + a.columns[e] * k;
    for (int j = 0; j < W; j++) s[j] += v * x[j];
  }
  for (int j = 0; j < W; j++) out[j] = s[j];
  return true;
}

template <class T, class I>
SPARSE_INLINE bool times_dense_loop(const Csr<T, I>& a, const T* dense, int64_t k, T* out, int64_t begin, int64_t end) {
  constexpr int wide = 256 / sizeof(T), narrow = 32 / sizeof(T);
  if (k == 1) return times_vector_loop(a, dense, out, begin, end);
  bool good = true;
  for (int64_t r = begin; r < end && good; r++) {
    if (!is_row(a, r)) return false;
    const int64_t e = a.pointers[r], last = a.pointers[r + 1];
    int64_t j = 0;
    for (; j + wide <= k; j += wide) good &= row_times_block<wide>(a, dense + j, k, out + r * k + j, e, last);
    for (; j + narrow <= k; j += narrow) good &= row_times_block<narrow>(a, dense + j, k, out + r * k + j, e, last);
    for (; j < k; j++) good &= row_times_block<1>(a, dense + j, k, out + r * k + j, e, last);
  }
  return good;
}

template <class T, class I>
SPARSE_INLINE bool transposed_loop(const Csr<T, I>& a, const T* dense, int64_t k, T* out, int64_t begin, int64_t end) {
  for (int64_t r = 0; r < a.rows; r++) {
    if (!is_row(a, r)) return false;
    const T* x = dense + r * k;
    for (int64_t e = a.pointers[r]; e < a.pointers[r + 1]; e++) {
      if (!is_column(a, e)) return false;
      const int64_t later = std::min(e + ahead, a.entries - 1);
      __builtin_prefetch(out + static_cast<int64_t>(a.columns[later]) * k + begin, 1);
      const T v = a.values[e];
      T* to = out + a.columns[e] * k;
      for (int64_t j = begin; j < end; j++) to[j] += v * x[j];
    }
  }
  return true;
}

template <class T, class I>
SPARSE_INLINE bool sampled_loop(const Csr<T, I>& a, const T* left, const T* right, int64_t k, T* out, int64_t begin,
                                int64_t end) {
  constexpr int lanes = std::max<int>(32 / sizeof(T), 2);
  for (int64_t r = begin; r < end; r++) {
    if (!is_row(a, r)) return false;
    const T* x = left + r * k;
    for (int64_t e = a.pointers[r]; e < a.pointers[r + 1]; e++) {
      if (!is_column(a, e)) return false;
      const int64_t later = std::min(e + ahead, a.entries - 1);
      __builtin_prefetch(right + static_cast<int64_t>(a.columns[later]) * k);
      const T* y = right + a.columns[e] * k;
      T s[lanes] = {};
      int64_t j = 0;
      for (; j + lanes <= k; j += lanes)
        for (int l = 0; l < lanes; l++) s[l] += x[j + l] * y[j + l];
      for (; j < k; j++) s[0] += x[j] * y[j];
      for (int l = 1; l < lanes; l++) s[0] += s[l];
      out[e] = s[0];
    }
  }
  return true;
}

}  // namespace

#define LAMELLA_LOOPS(T, I)                                                                                          \
  template <>                                                                                                        \
  LAMELLA_EACH_ISA bool times_dense<T, I>(const Csr<T, I>& a, const T* d, int64_t k, T* out, int64_t b, int64_t e) { \
    return times_dense_loop(a, d, k, out, b, e);                                                                     \
  }                                                                                                                  \
  template <>                                                                                                        \
  LAMELLA_EACH_ISA bool transposed_times_dense<T, I>(const Csr<T, I>& a, const T* d, int64_t k, T* out, int64_t b,   \
                                                     int64_t e) {                                                    \
    return transposed_loop(a, d, k, out, b, e);                                                                      \
  }                                                                                                                  \
  template <>                                                                                                        \
  LAMELLA_EACH_ISA bool sampled_product<T, I>(const Csr<T, I>& a, const T* l, const T* r, int64_t k, T* out,         \
                                              int64_t b, int64_t e) {                                                \
    return sampled_loop(a, l, r, k, out, b, e);                                                                      \
  }
#define LAMELLA_LOOPS_OF(T) \
  LAMELLA_LOOPS(T, int32_t) \
  LAMELLA_LOOPS(T, int64_t)
LAMELLA_LOOPS_OF(float)
LAMELLA_LOOPS_OF(double)
LAMELLA_LOOPS_OF(Complex<float>)
LAMELLA_LOOPS_OF(Complex<double>)

}  // namespace lamella::sparse
