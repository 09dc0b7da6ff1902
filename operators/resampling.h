// What an image of another size is made of: for each place of an axis the places that it is computed from, and their
// weights.
#pragma once

#include <vector>

#include "operators/windows.h"

namespace lamella::operators {

enum class Filter { nearest, nearest_exact, linear, cubic, linear_smooth, cubic_smooth, lanczos_smooth };

constexpr bool only_picks(Filter f) { return f == Filter::nearest || f == Filter::nearest_exact; }

// One axis: tap k of place i is index[k * out + i], with that weight; without weights each place is one element.
struct Taps {
  int64_t count = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
};

// The taps of an axis of `in` elements at `out` places. With `align`, the first and last elements lie on the first and
// last places; else `scale`, if it is given and positive, says how many places an element has, in place of out / in.
Taps taps_of(Filter f, int64_t in, int64_t out, bool align, std::optional<double> scale);

}  // namespace lamella::operators
