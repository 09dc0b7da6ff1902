// One convolution as its kernels see it: what convolution.cpp computes itself, and onednn_convolution.cpp gives away.
#pragma once

#include <lattis/extension.h>

#include "backends/cpu/kernels.h"

namespace lattis::cpu {

// Everything about one call. Images have three spatial dimensions here, the missing ones of size 1.
struct Convolution {
  const lattis_tensor *input, *weight, *bias, *out;
  int dtype, source;                 // computed in, and read as
  int64_t size, parts;               // bytes of a computed element; real numbers in an element
  int64_t images, groups, in, outs;  // channels per group
  int64_t image[3], kernel[3], stride[3], padding[3], dilation[3], places[3], step[3];  // step: bytes in the input
  int64_t taps, count;           // per channel; places of an image
  int64_t phase, row, plane;     // the padded image: a row holds `stride` images of every stride-th column
  const char *weights, *biases;  // plain, computed dtype
  char* results;
  Tensor owned[3];

  // Results that lie channels last; one pixel's lie in both layouts, and the image decides.
  bool channels_last() const {
    return lies_channels_last(out) && !(is_contiguous(out) && (is_contiguous(input) || !lies_channels_last(input)));
  }
  double work() const {  // of an image and a group, in multiplications
    return static_cast<double>(outs) * static_cast<double>(count) * static_cast<double>(depth());
  }
  int64_t rows() const { return places[0] * places[1]; }
  int64_t depth() const { return in * taps; }
};

// oneDNN's result, where it has something for the shape: false, and the output as it was, where it has not. See
// docs/decisions/0007-convolution.md.
lattis_status onednn_convolution(const Convolution& c, bool* done);

}  // namespace lattis::cpu
