// Images describes a convolution: images and a weight of up to three spatial dimensions, absent ones of size 1.
#pragma once
#include <lamella/quotient.h>

namespace cuda {

struct Images {
  int64_t images, groups, in, out;  // in and out: channels of a group
  int64_t positions, spots;         // elements of a channel: of an image, and of a result
  int64_t taps;                     // elements of a channel of the weight
  int32_t size[3], places[3], kernel[3], stride[3], padding[3], dilation[3];
  lamella::Quotient by_taps, by_kernel[3], by_places[3], by_size[3], by_stride[3];
};

}  // namespace cuda
