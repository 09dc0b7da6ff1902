// Common parts of pools: their windows over lines, images and volumes, checks of dtypes, and layouts of results.
#pragma once

#include "operators/windows.h"

namespace lamella::operators {

// The windows of a pool over the last `spatial` dimensions.
struct Pool {
  int spatial;
  int64_t kernel[3], stride[3], padding[3], dilation[3], places[3];
};

// An image has `spatial` dimensions, channels, and perhaps a batch.
void check_spatial(const Tensor& self, int spatial);
// Reads the arguments of a pool. An empty stride is the kernel.
Pool read_pool(const Tensor& self, int spatial, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode);
// Reads the number of windows, which divide an image evenly: place i of m takes [floor(i n / m), ceil((i + 1) n / m)).
void read_adaptive(const Tensor& self, IntArrayRef output_size, int spatial, int64_t* places);

// check_ordered() raises for a dtype without a largest element, check_has_mean() for one that is not floating, and
// check_averages() for one that is neither floating nor int64, whose means are rounded toward zero.
void check_ordered(const Tensor& self);
void check_has_mean(const Tensor& self);
void check_averages(const Tensor& self);
void check_divisor(std::optional<int64_t> divisor);

// The sizes and the description of a result: channels last if an image of two dimensions is.
DimVector pooled_sizes(const Tensor& self, int spatial, const int64_t* places);
void set_pooled(Output& out, const Tensor& self, int spatial, const int64_t* places);
// Converts a result to channels last if `like`, the operator's input, is channels last, as the shape rule promises.
Tensor laid_out(const Tensor& result, const Tensor& like);

// Returns how many elements of each window count: those in the image and, if `padding` is set, in its padding.
Tensor counted(const Tensor& self, const Pool& p, bool padding);
// Divides sums by counts; integers are rounded toward zero.
template <class Counts>  // a tensor or a number
Tensor mean_of(const Tensor& sums, const Counts& counts) {
  return sums.is_floating_point() ? lamella::div(sums, counts) : lamella::div(sums, counts, "trunc");
}

// A volume as images: its planes are pooled first, then the depth.
struct Volume {
  int64_t lead, depth, plane;  // images and channels; planes of each; elements of a plane
  explicit Volume(const Tensor& self);
  Tensor planes(const Tensor& self) const;                    // (lead · depth, height, width)
  Tensor columns(const Tensor& planes, int64_t inner) const;  // (lead, depth, inner)
};

// Returns the largest element of each window, and its flat index in its image. `tables` hold, for each spatial
// dimension, the places that the windows take: (images and channels or 1, taps, places).
std::tuple<Tensor, Tensor> largest_of(const Tensor& self, int spatial, ArrayRef<Tensor> tables);

}  // namespace lamella::operators
