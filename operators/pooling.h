// Common parts of pools: their windows over lines, images and volumes, checks of dtypes, and layouts of results.
#pragma once

#include "operators/windows.h"

namespace lamella::operators {

// The windows of a pool over the last `spatial` dimensions.
struct Pool {
  int spatial;
  int64_t kernel[3], stride[3], padding[3], dilation[3], places[3];
};

// Raises unless `self` has `spatial` dimensions, one of channels, and perhaps one of a batch.
void check_spatial(const Tensor& self, int spatial);
// Reads the arguments of a pool. An empty stride is the kernel.
Pool read_pool(const Tensor& self, int spatial, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool ceil_mode);
// Reads the number of windows, which divide an image evenly: place i of m takes [floor(i n / m), ceil((i + 1) n / m)).
void read_adaptive(const Tensor& self, IntArrayRef output_size, int spatial, int64_t* places);

// check_ordered() raises for a complex dtype and bool, check_has_mean() for one that is not floating, and
// check_averages() for one that is neither floating nor int64, whose means are rounded toward zero.
void check_ordered(const Tensor& self);
void check_has_mean(const Tensor& self);
void check_averages(const Tensor& self);
void check_divisor(std::optional<int64_t> divisor);

// pooled_sizes() returns the sizes of a result. set_pooled() describes the result, as channels last if `spatial` is 2
// and `self` is channels last.
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
  int64_t lead, depth, plane;  // images times channels; planes in each; elements in a plane
  explicit Volume(const Tensor& self);
  Tensor planes(const Tensor& self) const;                    // (lead · depth, height, width)
  Tensor columns(const Tensor& planes, int64_t inner) const;  // (lead, depth, inner)
};

// Returns the largest element of each window, and its flat index in its image. `tables` hold, for each spatial
// dimension, the places that the windows take: (images and channels or 1, taps, places).
std::tuple<Tensor, Tensor> largest_of(const Tensor& self, int spatial, ArrayRef<Tensor> tables);

}  // namespace lamella::operators
