// The rows of recurrent layers, for their kernels: loops over them, and copies.
#pragma once

#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/recurrent.h"

namespace lamella::cpu {

inline const RecurrentLoops& loops_for(int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(recurrent_loops);
  return *chosen(dtype);
}

template <class T>
constexpr int dtype_of = sizeof(T) == 4 ? LAMELLA_FLOAT32 : LAMELLA_FLOAT64;

template <class T>
T* written(const Tensor& t) {
  return static_cast<T*>(t.get()->dl.data);
}

template <class T>
void copy_rows(int64_t count, const T* from, T* to) {
  if (count == 0) return;  // pointers may be null then
  if (from)
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  else
    std::memset(to, 0, static_cast<size_t>(count) * sizeof(T));
}

// Calls body(row) for rows of n hidden units, with threads if there are many.
template <class Body>
lamella_status each_row(int64_t rows, int64_t n, const Body& body) {
  constexpr int64_t cost = 16;  // the work for a unit, in additions of two numbers
  return parallel_for(0, rows, grain / (cost * n + 1) + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    for (int64_t i = begin; i < end; i++) body(i);
    return LAMELLA_OK;
  });
}

}  // namespace lamella::cpu
