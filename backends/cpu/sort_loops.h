// Sorting one row in memory; compiled once per instruction set.
//
// Note [Keys]  Each element becomes an unsigned key in whose order the result is to stand: sign bits are flipped, -0 is
//   +0, every NaN is the largest, and for a descending sort the bits are inverted. With its position it makes an item,
//   eight bytes where key and position fit 32 bits each, else sixteen. Items are sorted by least significant digits,
//   which is stable by itself; short rows are merged. A long row is spread over buckets by its highest digits first,
//   which the threads share. Its integers count from the smallest: those of 64 bits become narrow items if their range
//   is small enough. Values are made from the keys again unless a key hides something
//   (a -0, a NaN's bits): then they are fetched by position.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// Whether to stop, which long loops ask now and then.
struct Halt {
  bool (*ask)(void*) = nullptr;
  void* context = nullptr;
  bool operator()() const { return ask && ask(context); }
};
constexpr int64_t sort_piece = 1 << 20;  // items between two questions
constexpr int sort_bucket_digits = 12;
constexpr int64_t sort_buckets = 1 << sort_bucket_digits;

struct SortLoops {
  int64_t item;  // bytes
  int digits;    // bits of a key
  // The smallest and the largest key.
  void (*range)(int64_t n, const char* in, int64_t stride, bool descending, uint64_t* least, uint64_t* most);
  // Items of in[0 .. n), which stand at `first` and after in their row, with keys less `base`; true if they hide
  // something.
  bool (*build)(int64_t n, int64_t first, const char* in, int64_t stride, bool descending, uint64_t base, void* items);
  // Sorts items in a or b, whichever the result is in: returned; null if it was to stop.
  void* (*sort)(int64_t n, void* a, void* b, int digits, const Halt& halt);
  // Of the merged halves [0, middle) and [middle, n): the outputs [begin, end), from the front or from the back. False
  // if it was to stop.
  bool (*merge)(int64_t n, int64_t middle, const void* items, void* out, int64_t begin, int64_t end, const Halt& halt);
  // Values and positions of sorted items; in: the row's start, or null where the keys hide nothing.
  void (*finish)(int64_t n, const void* items, bool descending, uint64_t base, const char* in, int64_t in_stride,
                 char* values, int64_t value_stride, int64_t* indices, int64_t index_stride);
  // Items by their digits from `low` on, which are those of a bucket: how many each has, each to the next of its
  // bucket's places, and the items of one sorted in a or b, whichever is returned.
  void (*count)(int64_t n, const void* items, int low, int64_t* counts);
  void (*spread)(int64_t n, const void* items, int low, int64_t* places, void* out);
  void* (*bucket)(int64_t n, void* a, void* b, int low);
  // The k first items in order, in items[0 .. k); room for `room` >= 2 k items in both buffers. True as build.
  bool (*top)(int64_t n, const char* in, int64_t stride, bool descending, int64_t k, int64_t room, void* items,
              void* other);
  // Where the k-th of the items in order is, which are moved; `nan`: where the last one is, if that is a NaN.
  int64_t (*kth)(int64_t n, void* items, int64_t k, bool nan);
  // Puts n of a matrix's rows, given by their numbers, in order; strides in bytes.
  void (*order_few)(int64_t n, int64_t columns, const char* in, int64_t row, int64_t column, int64_t* order);
  // Keys one after another, and how many of `count` ordered ones are smaller than each of n values, or not larger.
  void (*keys)(int64_t n, const char* in, int64_t stride, void* out);
  void (*search)(int64_t count, const void* keys, int64_t n, const char* values, int64_t stride, bool right,
                 int64_t* out);
};

struct SortTable {
  SortLoops narrow[LAMELLA_PLAIN_DTYPES];  // fewer than 2^32 elements in a row, keys of 32 bits
  SortLoops wide[LAMELLA_PLAIN_DTYPES];
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const SortTable&, sort_loops, ())

namespace lamella::cpu {

// Of the chosen instruction set.
inline const SortTable& sort_table() {
  static const SortTable& chosen = LAMELLA_BY_ISA(sort_loops)();
  return chosen;
}

}  // namespace lamella::cpu
