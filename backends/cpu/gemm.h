// Matrix products and convolutions on plain memory: what is compiled once per instruction set, and oneDNN's product.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace lattis::cpu {

// c (m, n) = a (m, k) times b (k, n), plus a bias. Strides in elements; the columns of c are neighbours.
struct Gemm {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t c_row;
  const void* row_bias = nullptr;     // one number per row of c
  const void* column_bias = nullptr;  // one number per column of c
  int (*interrupted)() = nullptr;     // asked between blocks; the first answer that is not 0 is returned
};

// Windows of one padded image, seen as the matrix b of a product: (channels · taps, places). Where the columns of a
// window are `stride` apart, the image was split into that many images of every stride-th column, so the neighbours of
// a row of outputs are neighbours in memory. The image has `slack` elements behind its end.
struct Windows {
  const void* image;
  int64_t channels, plane;  // elements per channel
  int64_t taps;
  const int64_t* tap;  // where each tap reads, from the window's first place
  int64_t rows, columns;
  const int64_t* row;  // where each row of outputs begins
};
inline constexpr int64_t slack = 64;

// One image whose channels are neighbours, and the rows of outputs to compute from it, one channel each.
struct Pixels {
  const void* image;
  int64_t height, width, channels;
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  const void* weight;  // (taps, channels)
  const void* bias;
  void* out;
  int64_t begin, end, columns;  // rows, and places of each
};

// For float, double, uint32_t and uint64_t.
struct GemmKernels {
  int64_t (*space)(int64_t m, int64_t n, int64_t k);  // bytes
  int (*multiply)(const Gemm&, void* space);
  int (*convolve)(const Gemm&, const Windows&, int64_t first_place, void* space);  // b is read from the windows
  // Depthwise: one channel of outputs, out[i, j] = bias + sum over the taps of weight · image.
  void (*depthwise)(const Windows&, const void* weight, const void* bias, void* out);
  void (*depthwise_pixels)(const Pixels&);
};
struct Gemms {
  GemmKernels f32, f64, u32, u64;
};

const Gemms& gemms();

// a and b as BLAS reads them: without gaps in one of the two dimensions. False if oneDNN is not there.
bool onednn_sgemm(const Gemm& g);
bool onednn_available();

}  // namespace lattis::cpu

LATTIS_DECLARE_ISA(const Gemms&, gemms, ())
