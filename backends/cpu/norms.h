// Softmax and norms over a row or over neighbouring columns, compiled once per instruction set, for float and double.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

struct Softmax {
  void (*row)(int64_t n, const void* x, void* y, bool log);
  double (*logsumexp)(int64_t n, const void* x);  // returns a double, since logits are subtracted from it
  // Normalizes each column of n rows of `width` (at most softmax_width) columns; strides in elements.
  void (*columns)(int64_t n, int64_t width, const void* x, int64_t x_stride, void* y, int64_t y_stride, bool log);
  void (*logsumexp_columns)(int64_t n, int64_t width, const void* x, int64_t x_stride, double* to);
  // `scaled_row` computes the softmax of a row, then multiplies it by a factor. `scaled_columns` does the same for
  // columns, each with a factor of its own.
  void (*scaled_row)(int64_t n, const void* x, void* y, double factor);
  void (*scaled_columns)(int64_t n, int64_t width, const void* x, void* y, int64_t stride, const double* factors);
  // Compute the gradient of the input from g, the gradient of the output, and y, the output. The columns of g, y and to
  // have the same stride.
  void (*row_backward)(int64_t n, const void* g, const void* y, void* to, bool log);
  void (*columns_backward)(int64_t n, int64_t width, const void* g, const void* y, void* to, int64_t stride, bool log);
};
inline constexpr int64_t softmax_width = 512;

struct Norms {
  void (*moments)(int64_t n, const void* x, double* mean, double* variance);
  double (*mean_square)(int64_t n, const void* x);
  // Computes (x - mean) * scale * weight + bias, element by element; a null weight or bias is left out.
  void (*row)(int64_t n, const void* x, void* y, double mean, double scale, const void* weight, const void* bias);
  // Compute (x - mean) * scale + shift: `affine` with one value for all elements, `affine_each` for rows that follow
  // each other, with values for each column.
  void (*affine)(int64_t n, const void* x, void* y, double mean, double scale, double shift);
  void (*affine_each)(int64_t rows, int64_t n, const void* x, void* y, const void* mean, const void* scale,
                      const void* shift);
};

// Gradients of norms: x is their input, g the gradient of their output. Sums are in double.
struct NormGradients {
  // Computes the sums of g * weight and of g * weight * (x - mean); weight may be null.
  void (*sums)(int64_t n, const void* g, const void* x, const void* weight, double mean, double* sum, double* by_x);
  // Computes a * g * weight + b * (x - mean) + c, element by element. Weight may be null. If x is null, computes
  // a * g alone, without the weight.
  void (*row)(int64_t n, const void* g, const void* x, const void* weight, void* to, double mean, double a, double b,
              double c);
  // `row_adding` does what `row` does with a = scale, and also adds g and g * (x - mean) * scale to the sums of each
  // column, which are of the dtype; `to` may be null. `take_in` adds these sums to sums in double and clears them.
  void (*row_adding)(int64_t n, const void* g, const void* x, const void* weight, void* to, double mean, double scale,
                     double b, double c, void* sum, void* by_x);
  void (*take_in)(int64_t n, void* from, double* to);
  // Adds g and g * (x - mean) of rows that follow each other to the sums of each column; each column has its mean.
  void (*add_columns)(int64_t rows, int64_t n, const void* g, const void* x, const void* means, double* sum,
                      double* by_x);
  // Does what `row` does for rows that follow each other, with values for each column and no weight.
  void (*each)(int64_t rows, int64_t n, const void* g, const void* x, void* to, const void* mean, const void* a,
               const void* b, const void* c);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const Softmax*, softmax, (int dtype))
LAMELLA_DECLARE_ISA(const Norms*, norms, (int dtype))
LAMELLA_DECLARE_ISA(const NormGradients*, norm_gradients, (int dtype))
