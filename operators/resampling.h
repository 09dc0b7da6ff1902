// Resampling of images: for each place of an axis, the elements that it is computed from, and their weights.
#pragma once

#include <vector>

#include "operators/windows.h"

namespace lamella::operators {

enum class Filter { nearest, nearest_exact, linear, cubic, linear_smooth, cubic_smooth, lanczos_smooth };

constexpr bool only_picks(Filter f) { return f == Filter::nearest || f == Filter::nearest_exact; }

// One axis: tap k of place i is element index[k * out + i] times weight[k * out + i]. Without weights each place is one
// element.
struct Taps {
  int64_t count = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
};

// Returns the taps of an axis of `in` elements at `out` places. With `align`, which nearest and nearest_exact ignore,
// neighbouring places are (in - 1) / (out - 1) elements apart; else `scale`, if it is given and positive, is the number
// of places for one element, in place of out / in.
Taps taps_of(Filter f, int64_t in, int64_t out, bool align, std::optional<double> scale);

// Moves taps of weight 0 to the heaviest tap of their place, which shares its weight with them: an element of an image
// counts only where it has a weight, be it infinite or NaN, and no kernel has to ask for weights of 0.
void merge_weightless(Taps* t);

// Resamples images of uint8, (batch, channels, height, width), with weights of 16 bits: each sum is rounded to a byte,
// first along rows, then along columns. An axis that keeps its size is not resampled.
Tensor resample_bytes(const Tensor& self, const int64_t (&out)[2], const Taps& rows, const Taps& columns);

}  // namespace lamella::operators
