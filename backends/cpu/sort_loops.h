// Sorting one row in memory; compiled once per instruction set.
//
// Note [Keys]  Each element becomes an unsigned key in whose order the result is to stand: sign bits are flipped, -0 is
//   +0, every NaN is the largest, and for a descending sort the bits are inverted. With its position it makes an item,
//   eight bytes where key and position fit 32 bits each, else sixteen. A radix sort takes a few bits of the keys at a
//   time, the lowest first, which is stable by itself; short rows are sorted by merging. A long row is spread over
//   buckets by the highest bits of its keys first, and the threads share the buckets. In the only row of a tensor of
//   integers the smallest key is subtracted from all, so that 64-bit integers of a small range fit narrow items. Values
//   are made from the keys again unless a key hides something (a -0, a NaN's bits): then they are fetched by position.
//   `digits` counts bits.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// A function that long loops call now and then, which returns whether to stop.
struct Halt {
  bool (*ask)(void*) = nullptr;
  void* context = nullptr;
  bool operator()() const { return ask && ask(context); }
};
constexpr int64_t sort_piece = 1 << 20;  // items between two checks
constexpr int sort_bucket_digits = 12;   // bits of a key that give its bucket
constexpr int64_t sort_buckets = 1 << sort_bucket_digits;

struct SortLoops {
  int64_t item;  // bytes of an item
  int digits;    // bits of a key
  // Computes the smallest and the largest key.
  void (*range)(int64_t n, const char* in, int64_t stride, bool descending, uint64_t* least, uint64_t* most);
  // Makes items of in[0 .. n), whose positions in their row begin with `first`, and subtracts `base` from their keys.
  // Returns whether a key hides something: see Note [Keys].
  bool (*build)(int64_t n, int64_t first, const char* in, int64_t stride, bool descending, uint64_t base, void* items);
  // Sorts the items in a, with b as a second buffer. Returns the buffer with the result; null if the sort was stopped.
  void* (*sort)(int64_t n, void* a, void* b, int digits, const Halt& halt);
  // Merges the halves [0, middle) and [middle, n), and writes the outputs [begin, end), which begin at the front or end
  // at the back. Returns false if it was stopped.
  bool (*merge)(int64_t n, int64_t middle, const void* items, void* out, int64_t begin, int64_t end, const Halt& halt);
  // Writes values and positions of sorted items. `in` is the row's start, or null if the keys hide nothing.
  void (*finish)(int64_t n, const void* items, bool descending, uint64_t base, const char* in, int64_t in_stride,
                 char* values, int64_t value_stride, int64_t* indices, int64_t index_stride);
  // The steps of a sort by buckets, where the bits of the key from `low` on give an item's bucket: `count` counts the
  // items of each bucket, `spread` moves each item to the next place of its bucket, and `bucket` sorts the items of one
  // bucket in a or b and returns the one with the result.
  void (*count)(int64_t n, const void* items, int low, int64_t* counts);
  void (*spread)(int64_t n, const void* items, int low, int64_t* places, void* out);
  void* (*bucket)(int64_t n, void* a, void* b, int low);
  // Writes the first k items in order to items[0 .. k). Both buffers hold `room` >= 2 k items. Returns the same as
  // `build`.
  bool (*top)(int64_t n, const char* in, int64_t stride, bool descending, int64_t k, int64_t room, void* items,
              void* other);
  // Reorders the items and returns the position of the k-th; with `nan`, the position of the last item in
  // order, if this is a NaN.
  int64_t (*kth)(int64_t n, void* items, int64_t k, bool nan);
  // Sorts n rows of a matrix, given by their numbers; strides in bytes.
  void (*order_few)(int64_t n, int64_t columns, const char* in, int64_t row, int64_t column, int64_t* order);
  // `keys` writes the keys of elements. `search` counts, for each of n values, the keys among `count` ordered ones that
  // are smaller or, with `right`, not larger.
  void (*keys)(int64_t n, const char* in, int64_t stride, void* out);
  void (*search)(int64_t count, const void* keys, int64_t n, const char* values, int64_t stride, bool right,
                 int64_t* out);
};

struct SortTable {
  SortLoops narrow[LAMELLA_PLAIN_DTYPES];  // fewer than 2^32 elements in a row, keys of at most 32 bits
  SortLoops wide[LAMELLA_PLAIN_DTYPES];
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const SortTable&, sort_loops, ())

namespace lamella::cpu {

// Returns the loops of the chosen instruction set.
inline const SortTable& sort_table() {
  static const SortTable& chosen = LAMELLA_BY_ISA(sort_loops)();
  return chosen;
}

}  // namespace lamella::cpu
