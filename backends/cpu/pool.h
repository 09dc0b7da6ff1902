// Pools over planes, or over pixels of neighbouring channels: loops compiled once per instruction set.
#pragma once

#include <lamella/c_api.h>
#include <lamella/window.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// One plane of neighbouring elements, or one image of pixels with `channels` neighbouring channels; its windows, and
// rows [begin, end) of its outputs, which a loop computes.
struct PoolPlane : Window<2> {
  const void* in;
  int64_t channels;  // 0: a plane
  void* out;
  int64_t* indices;  // null, or the places of the largest elements
  int64_t begin, end;
  bool count_padding;
  int64_t divisor;       // of the sums, for means; 0: the number of elements in the window
  void* space;           // pool_space() elements of at least four bytes
  int (*interrupted)();  // called now and then; a result that is not 0 ends the loops and is returned
};

// The least number of bytes of a pixel for the loops over pixels: a vector of any instruction set.
inline constexpr int64_t least_pixel = 64;

// Checks for an interrupt every few milliseconds of work.
class PoolWatch {
 public:
  explicit PoolWatch(int (*interrupted)()) : interrupted_(interrupted) {}
  // Counts `work` more elements and returns whether the call was interrupted.
  bool stops(int64_t work) {
    left_ -= work;
    if (left_ > 0) return false;
    left_ = most;
    status_ = interrupted_();
    return status_ != 0;
  }
  int status() const { return status_; }

 private:
  static constexpr int64_t most = 1 << 22;
  int (*interrupted_)();
  int64_t left_ = most;
  int status_ = 0;
};

// pool_row() is the length of a padded row of the image, to the end of the windows when their number is rounded up to
// whole vectors.
inline constexpr int64_t pool_vector = 16;
static inline int64_t pool_row(const PoolPlane& p) {
  return p.image[1] + 2 * p.padding[1] + (p.places[1] + pool_vector) * p.stride[1] + p.dilation[1] * p.kernel[1];
}
static inline int64_t pool_space(const PoolPlane& p) { return 3 * pool_row(p); }

struct Pools {
  int (*largest[LAMELLA_PLAIN_DTYPES])(const PoolPlane&);  // null where there is none
  int (*mean[LAMELLA_PLAIN_DTYPES])(const PoolPlane&);
  int (*adaptive[LAMELLA_PLAIN_DTYPES])(const PoolPlane&);  // means of nearly equal parts; of the Window only the sizes
};

// `largest` computes the largest elements and their indices in rows [begin, end). `backward` serves one plane: `in` are
// the gradients of its places.
struct PoolIndices {
  int (*largest[LAMELLA_PLAIN_DTYPES])(const PoolPlane&);
  void (*backward[LAMELLA_PLAIN_DTYPES])(const PoolPlane&);
};

// One plane (height, width) to which the gradients of means are added: each place adds its share, its gradient divided
// by the product of two counts, to rows [begin[0], end[0]) and columns [begin[1], end[1]).
struct PoolShares {
  const void* grad;
  void* out;
  int64_t height, width, places[2];
  const int64_t *begin[2], *end[2], *count[2];
  void* line;  // memory for one row
  int (*interrupted)();
};
struct PoolMeans {
  int (*backward[LAMELLA_PLAIN_DTYPES])(const PoolShares&);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const PoolMeans&, pool_means, ())
LAMELLA_DECLARE_ISA(const Pools&, pools, ())
LAMELLA_DECLARE_ISA(const PoolIndices&, pool_indices, ())
