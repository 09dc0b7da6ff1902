// What tiles of sums are made of: vectors as wide as the instruction set's, and as many as its registers hold.
#pragma once

#include <cstdint>

namespace lattis::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, tile_rows = 12;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32, tile_rows = 6;
#else
constexpr int vector_bytes = 16, tile_rows = 4;
#endif
#define INLINE inline __attribute__((always_inline))

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
template <class T>
constexpr int tile_columns = 2 * lanes<T>;

INLINE int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

}  // namespace
}  // namespace lattis::cpu
