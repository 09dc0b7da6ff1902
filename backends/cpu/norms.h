// Softmax and norms over a row or over neighbouring columns, compiled once per instruction set, for float and double.
#pragma once

#include <lattis/c_api.h>

#include "backends/cpu/isa.h"

namespace lattis::cpu {

struct Softmax {
  void (*row)(int64_t n, const void* x, void* y, bool log);
  double (*logsumexp)(int64_t n, const void* x);  // in double, for what is subtracted from it
  // n rows of `width` (at most softmax_width) columns, each column by itself; strides in elements.
  void (*columns)(int64_t n, int64_t width, const void* x, int64_t x_stride, void* y, int64_t y_stride, bool log);
  void (*logsumexp_columns)(int64_t n, int64_t width, const void* x, int64_t x_stride, double* to);
};
inline constexpr int64_t softmax_width = 512;

struct Norms {
  void (*moments)(int64_t n, const void* x, double* mean, double* variance);
  double (*mean_square)(int64_t n, const void* x);
  // (x - mean) * scale * weight + bias, element by element; null is absent.
  void (*row)(int64_t n, const void* x, void* y, double mean, double scale, const void* weight, const void* bias);
  // (x - mean) * scale + shift with one value for all; and for rows that follow each other, with a value a column.
  void (*affine)(int64_t n, const void* x, void* y, double mean, double scale, double shift);
  void (*affine_each)(int64_t rows, int64_t n, const void* x, void* y, const void* mean, const void* scale,
                      const void* shift);
};

}  // namespace lattis::cpu

LATTIS_DECLARE_ISA(const Softmax*, softmax, (int dtype))
LATTIS_DECLARE_ISA(const Norms*, norms, (int dtype))
