// A stream of random words, and the numbers that are drawn from it.
#pragma once
#include <cstdint>

namespace cuda {

// The counter counts fours of words.
struct Stream {
  uint64_t seed = 0, counter = 0;
};

// The numbers that describe a distribution; each kind of draw reads its own ones.
struct Distribution {
  double first = 0, second = 1, limit = 1;
  int64_t low = 0, range = 0;
};

}  // namespace cuda
