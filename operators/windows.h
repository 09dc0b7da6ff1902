// Helpers of convolutions, pools and padding: sizes per spatial dimension, images seen as windows, layouts of images.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// The numbers of one argument, one per spatial dimension; a single number stands for all.
void read_spatial(const char* name, IntArrayRef list, int count, int64_t least, int64_t* out);

// An image (…, spatial dimensions) padded with `value`; a view of its windows (…, places, taps).
Tensor padded(const Tensor& x, int spatial, const int64_t* before, const int64_t* after, const Scalar& value);
Tensor windows(const Tensor& x, int spatial, const int64_t* kernel, const int64_t* stride, const int64_t* dilation,
               const int64_t* places);

// One dimension alone: padded with zeros, or cut where a number is negative; `step - 1` zeros behind each place.
Tensor padded_along(const Tensor& x, int64_t d, int64_t before, int64_t after);
Tensor spread_along(const Tensor& x, int64_t d, int64_t step);

// Whether an image lies channels last, as torch decides from sizes and strides.
bool channels_last(const Tensor& t);
// The strides of four sizes that lie channels last.
DimVector image_strides(IntArrayRef sizes);
// A copy that lies channels last.
Tensor in_channels_last(const Tensor& x);

// Describes a result, channels last or plain.
void set_image(Output& out, IntArrayRef sizes, ScalarType t, bool last);

}  // namespace lamella::operators
