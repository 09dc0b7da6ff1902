// The description of one convolution, which convolution.cpp computes unless onednn_convolution.cpp does.
#pragma once

#include <lamella/library.h>

#include "backends/cpu/gemm.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {

// Returns the least multiple of `to` that is at least n.
inline int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// One call. Images have three spatial dimensions here; the missing ones have size 1.
struct Convolution : Window<3> {
  const lamella_tensor *input, *weight, *bias, *out;
  int dtype, source;                 // the dtype of the computation, and the dtype as which the input is read
  char filler = 0;                   // each byte of the padding
  int64_t size, parts;               // bytes of a computed element; real numbers in an element
  int64_t images, groups, in, outs;  // in and outs are channels per group
  int64_t step[3];                   // the input's strides, in bytes
  int64_t taps, count;               // taps of a channel; places of an image
  int64_t phase, row, plane;         // in elements; a padded row is stride[2] phases of every stride[2]-th column
  const char *weights, *biases;      // in plain layout and `dtype`
  char* results;
  Operand operands[2];  // the weight and the bias, in plain layout
  Result result;
  Tensor pairs;  // in place of the result: the real and the imaginary parts of complex numbers

  // Returns whether the results lie channels last. If they fit both layouts, as those of one pixel do, the input's
  // layout decides.
  bool channels_last() const {
    return lies_channels_last(out) && !(is_contiguous(out) && (is_contiguous(input) || !lies_channels_last(input)));
  }
  double work() const {  // multiplications for an image and a group
    return static_cast<double>(outs) * static_cast<double>(count) * static_cast<double>(depth());
  }
  int64_t rows() const { return places[0] * places[1]; }
  int64_t depth() const { return in * taps; }
};

// Describes the convolution from `input` to `out`. A gradient's kernel describes the convolution that it belongs to,
// with its own result as the input or the weight, and the given gradient as `out`. The bias may be null.
void read_convolution(const lamella_tensor* input, const lamella_tensor* weight, const lamella_tensor* bias,
                      const lamella_tensor* out, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      int64_t groups, Convolution* c);
// Computes the sizes of the padded image.
void pad_sizes(Convolution* c);
// Takes memory for `channels` padded channels, with `slack` zeros after them.
lamella_status take_padded(Space* space, const Convolution& c, int64_t channels);
// Copies one channel of an image into its padded plane.
void pad_channel(const Convolution& c, int64_t image, int64_t channel, char* to);
// Computes the offsets of taps and of rows of outputs in a padded image.
void locate(const Convolution& c, int64_t* tap, int64_t* row);
const GemmKernels& gemm_of(int dtype);
const WindowKernels& windows_of(int dtype);

// The kernel of _convolution_backward_weight.
Status convolution_backward_weight(const Tensor& grad_output, const Tensor& input, IntArrayRef weight_size,
                                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups,
                                   const Tensor& out);

// Computes the convolution by oneDNN and sets *done to true, if oneDNN suits the layouts, the dtypes and the sizes.
// Otherwise sets *done to false; the output may then hold a part of the result. See docs/decisions/0007-convolution.md.
lamella_status onednn_convolution(const Convolution& c, bool* done);

}  // namespace lamella::cpu
