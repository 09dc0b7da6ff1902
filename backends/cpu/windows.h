// Windows of images on plain memory: loops compiled once per instruction set.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// Windows of one padded image, seen as the matrix b of a product: (channels · taps, places). If neighbouring windows
// are `stride` columns apart, the image is split into `stride` images of every stride-th column, so that neighbouring
// windows read neighbours in memory. The image has `slack` zeros after its end. Vectors may read them: the results are
// not used, but products of other bytes could be denormal, which takes a hundred times as long.
struct Windows {
  const void* image;
  int64_t channels, plane;  // elements per channel
  int64_t taps;
  const int64_t* tap;  // the offset that each tap reads, from the window's first place
  int64_t rows, columns;
  const int64_t* row;  // the offset of the windows of each row of outputs
};
inline constexpr int64_t slack = 64;

// A depthwise convolution of one channels-last image, for some rows of its outputs: each output channel comes from the
// input channel of the same number.
struct Pixels {
  const void* image;
  int64_t height, width, channels;
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  const void* weight;  // (taps, channels)
  const void* bias;
  void* out;
  int64_t begin, end, columns;  // rows [begin, end) of outputs; the places of a row
};

// The loops over windows of float, double, uint32_t or uint64_t.
struct WindowKernels {
  int64_t vector;  // elements of a vector
  // Computes one channel of a depthwise convolution: out[i, j] = bias + sum over the taps of weight · image.
  void (*depthwise)(const Windows&, const void* weight, const void* bias, void* out);
  void (*depthwise_pixels)(const Pixels&);
  // Adds to sums (channels · taps, width) the windows times grad (places, width); the width is a multiple of `vector`.
  void (*weight_gradient)(const Windows&, const void* grad, int64_t width, void* sums);
  // Adds the windows times grad (outs, places), whose channels are grad_step elements apart, to sums (channels, outs,
  // taps, vector). The caller adds up each vector.
  void (*weight_gradient_by_places)(const Windows&, const void* grad, int64_t outs, int64_t grad_step, void* sums);
  // Adds values (channels, taps, places) to the image, each at the place that its tap reads: the transpose of reading.
  void (*add_windows)(const Windows&, const void* values);
};
struct WindowLoops {
  WindowKernels f32, f64, u32, u64;
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const WindowLoops&, window_loops, ())
