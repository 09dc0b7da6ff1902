// The checks of arguments that norms and their gradients share, and the lists of dimensions over which they compute.
#pragma once

#include <array>

#include "operators/shapes.h"

namespace lamella::operators {

// Raises unless a tensor is absent or has these sizes.
void check_shape(const char* name, const Tensor& t, IntArrayRef sizes);
// Raises unless a weight, bias or statistic is absent, or has these sizes and the input's dtype (or float32 for half
// precision).
void check_parameter(const char* name, const Tensor& t, const Tensor& input, IntArrayRef sizes);
// The last dimensions of the argument `input` must be those of the argument `normalized_shape`.
void check_normalized(const Tensor& input, IntArrayRef normalized_shape);
// The argument `input` must have a dimension of channels.
void check_channels(const Tensor& input);
void check_groups(const char* name, int64_t groups, int64_t channels);
// N, C and HxW must make up the input; the error names the argument `N`.
void check_volume(std::array<int64_t, 3> sizes, const Tensor& input);

// The sizes of the statistics of a norm over the last n dimensions: one number for each row.
DimVector row_sizes(const Tensor& input, size_t n);
DimVector last_dims(size_t n);
DimVector all_but_channels(int64_t ndim);
// One number for each channel, as a shape that broadcasts with an input of `ndim` dimensions; absent stays absent.
Tensor by_channel(const Tensor& v, int64_t ndim);

}  // namespace lamella::operators
