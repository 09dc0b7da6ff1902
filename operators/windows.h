// Helpers of convolutions, pools and padding: numbers per spatial dimension, windows of images, layouts of images.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// Reads the numbers of one argument, one per spatial dimension; a single number stands for all. Raises unless each is
// from `least` to 2^30.
void read_spatial(const char* name, IntArrayRef list, int count, int64_t least, int64_t* out);

// Raises unless the input, of sizes `x`, has in dimension `dim` the channels that the weight, of sizes `w`, takes: its
// dimension `of` times the groups.
void check_channels(const char* input, IntArrayRef x, int64_t dim, const char* weight, IntArrayRef w, int64_t of,
                    int64_t groups);

// padded() pads an image (…, spatial dimensions) with `value`; windows() returns a view of its windows (…, places,
// taps).
Tensor padded(const Tensor& x, int spatial, const int64_t* before, const int64_t* after, const Scalar& value);
Tensor windows(const Tensor& x, int spatial, const int64_t* kernel, const int64_t* stride, const int64_t* dilation,
               const int64_t* places);

// Change one dimension: padded_along() pads with zeros, or cuts for a negative number; spread_along() puts `step - 1`
// zeros after each place.
Tensor padded_along(const Tensor& x, int64_t d, int64_t before, int64_t after);
Tensor spread_along(const Tensor& x, int64_t d, int64_t step);

// Returns whether an image is channels last, as torch decides from sizes and strides.
bool channels_last(const Tensor& t);
// Returns the channels-last strides for four sizes.
DimVector image_strides(IntArrayRef sizes);
// Returns a channels-last copy.
Tensor in_channels_last(const Tensor& x);

// Describes a result, channels last or plain.
void set_image(Output& out, IntArrayRef sizes, ScalarType t, bool last);

}  // namespace lamella::operators
