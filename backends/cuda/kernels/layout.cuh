// The offsets of the elements of several operands that are walked in one order.
#ifndef LAMELLA_CUDA_LAYOUT
#define LAMELLA_CUDA_LAYOUT
#include "common.cuh"
#include "layout.h"

DEVICE uint32_t quotient_of(const Layout& l, int d, uint32_t x) { return divide(x, l.quotients[d]); }
DEVICE uint64_t quotient_of(const Layout& l, int d, uint64_t x) { return x / static_cast<uint64_t>(l.sizes[d]); }

// Writes the operands' offsets of element i.
template <int Operands>
DEVICE void offsets_of(const Layout& l, uint32_t i, int64_t* offsets) {
#pragma unroll
  for (int k = 0; k < Operands; k++) offsets[k] = 0;
#pragma unroll
  for (int d = 0; d < layout_dims; d++) {
    if (d >= l.dims) break;
    const uint32_t q = d + 1 < l.dims ? quotient_of(l, d, i) : 0;
    const int64_t at = i - q * static_cast<uint32_t>(l.sizes[d]);
    i = q;
#pragma unroll
    for (int k = 0; k < Operands; k++) offsets[k] += at * l.steps[k][d];
  }
}
// Divisions of 64 bits take many instructions, so the loop is not unrolled.
template <int Operands>
DEVICE void offsets_of(const Layout& l, uint64_t i, int64_t* offsets) {
#pragma unroll
  for (int k = 0; k < Operands; k++) offsets[k] = 0;
#pragma unroll 1
  for (int d = 0; d < l.dims; d++) {
    const uint64_t q = d + 1 < l.dims ? quotient_of(l, d, i) : 0;
    const int64_t at = static_cast<int64_t>(i - q * static_cast<uint64_t>(l.sizes[d]));
    i = q;
#pragma unroll
    for (int k = 0; k < Operands; k++) offsets[k] += at * l.steps[k][d];
  }
}
// Takes numbers of either size, for kernels that are not compiled for each.
template <int Operands>
DEVICE void offsets_of(const Layout& l, int64_t i, int64_t* offsets) {
  if (l.dims <= 1) {
#pragma unroll
    for (int k = 0; k < Operands; k++) offsets[k] = l.dims ? i * l.steps[k][0] : 0;
  } else if (l.small) {
    offsets_of<Operands>(l, static_cast<uint32_t>(i), offsets);
  } else {
    offsets_of<Operands>(l, static_cast<uint64_t>(i), offsets);
  }
}
#endif
