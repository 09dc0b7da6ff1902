// Walks: the offsets of a kernel's elements in each operand.
#pragma once
#include "scalars.cuh"
#include "walk.h"

// Calls visit(d, coordinate) for each dimension of element i.
template <int Operands, class Visit>
DEVICE void coordinates(const Walk<Operands>& w, int64_t i, Visit visit) {
  if (w.wide) {
    for (int d = w.ndim - 1; d > 0; d--) {
      const int64_t q = i / w.sizes[d];
      visit(d, i - q * w.sizes[d]);
      i = q;
    }
  } else {
    uint32_t n = (uint32_t)i;
    for (int d = w.ndim - 1; d > 0; d--) {
      const uint32_t q = divide(n, w.quotients[d]);
      visit(d, (int64_t)(n - q * w.quotients[d].by));
      n = q;
    }
    i = n;
  }
  if (w.ndim > 0) visit(0, i);
}

// Writes the offset of element i in each operand.
template <int Operands>
DEVICE void offsets_of(const Walk<Operands>& w, int64_t i, int64_t (&at)[Operands]) {
  for (int k = 0; k < Operands; k++) at[k] = 0;
  coordinates(w, i, [&](int d, int64_t c) {
    for (int k = 0; k < Operands; k++) at[k] += c * w.strides[k][d];
  });
}
