// Rows that are written to places of a contiguous tensor: Note [Meeting elements] in kernels/indexing.cu.
#pragma once

#include "operands.h"

namespace cuda {

// Targets holds the place of each of `count` rows of `width` elements, among `limit` rows.
struct Targets {
  Tensor places;
  int64_t count, limit, width;
  int bytes;  // the bytes of a place, 4 or 8
  // Returns 4 if 32 bits hold `limit` and `count`, besides the number that means no place, else 8.
  static int bytes_for(int64_t limit, int64_t count) {
    const int64_t most = int64_t{0xffffffff} - 2;
    return limit < most && count < most ? 4 : 8;
  }
  Targets(const lamella_tensor* on, int64_t count, int64_t limit, int64_t width)
      : count(count), limit(limit), width(width), bytes(bytes_for(limit, count)) {
    places = empty_on(on, {count}, bytes == 4 ? LAMELLA_UINT32 : LAMELLA_UINT64);
  }
  const char* place() const { return bytes == 4 ? "uint32_t" : "uint64_t"; }
};

enum class Fold { sum, product, largest, least };

// Writes the rows of src, which follow each other, to their places; with `same` the one row of src to all places.
lamella_status put_rows(const lamella_tensor* self, const Targets&, const void* src, bool same);
// Folds factor * src into self. `sorted` gets the places in order, unless it is null.
lamella_status fold_rows(const lamella_tensor* self, const Targets&, Fold, const void* src, const Scalar& factor = 1,
                         Sorted* sorted = nullptr);

// Sets the places to rows o * size + index[j] for each o below `outer`. With `wraps`, negative indices count from the
// end. Rows whose index is `skipped` get no place; -1 skips none. `code` is the fault of an index out of range.
lamella_status row_targets(const Targets&, const lamella_tensor* index, int64_t outer, int64_t size, bool wraps,
                           int64_t skipped, int32_t code);

// A contiguous tensor to write to: self, or a copy that finish() copies back.
class Written {
 public:
  explicit Written(const lamella_tensor* self);
  const lamella_tensor* get() const { return copy_.defined() ? copy_.get() : self_; }
  lamella_status finish() const;

 private:
  const lamella_tensor* self_;
  Tensor copy_;
};

// Returns a number as a tensor of one element.
Tensor number_on(const lamella_tensor* on, const Scalar&, int dtype);

}  // namespace cuda
