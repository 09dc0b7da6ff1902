// Windows of images on plain memory: loops compiled once per instruction set.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// Windows of one padded image, seen as the matrix b of a product: (channels · taps, places). Where the columns of a
// window are `stride` apart, the image was split into that many images of every stride-th column, so the neighbours of
// a row of outputs are neighbours in memory. The image has `slack` zeros behind its end: vectors that reach beyond it
// count for nothing there, but a product of what was left in memory may be denormal, and take a hundred times as long.
struct Windows {
  const void* image;
  int64_t channels, plane;  // elements per channel
  int64_t taps;
  const int64_t* tap;  // where each tap reads, from the window's first place
  int64_t rows, columns;
  const int64_t* row;  // where each row of outputs begins
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
  int64_t begin, end, columns;  // rows, and places of each
};

// For float, double, uint32_t and uint64_t.
struct WindowKernels {
  int64_t vector;  // elements
  // Depthwise: one channel of outputs, out[i, j] = bias + sum over the taps of weight · image.
  void (*depthwise)(const Windows&, const void* weight, const void* bias, void* out);
  void (*depthwise_pixels)(const Pixels&);
  // Adds to sums (channels · taps, width) the windows times grad (places, width); the width is a multiple of `vector`.
  void (*weight_gradient)(const Windows&, const void* grad, int64_t width, void* sums);
  // The same with grad (outs, places), whose channels are grad_step elements apart; sums (channels, outs, taps,
  // vector): the caller adds up each vector.
  void (*weight_gradient_by_places)(const Windows&, const void* grad, int64_t outs, int64_t grad_step, void* sums);
  // The transpose of reading windows: adds values (channels, taps, places) to the image, each where its tap reads.
  void (*add_windows)(const Windows&, const void* values);
};
struct WindowLoops {
  WindowKernels f32, f64, u32, u64;
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const WindowLoops&, window_loops, ())
