// Loops over index tensors, one strip at a time; compiled once per instruction set. All strides are in bytes.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// How an index i becomes an offset: i itself, or i + wrap if it is negative, times `scale` bytes. `wrap` is `size`, or
// 0 where negative indices are bad. An index is valid if its place is in [0, size).
struct Places {
  int64_t size, wrap, scale;
  static Places offsets() { return {INT64_MAX, 0, 1}; }  // indices that are checked and are offsets in bytes
  bool checked() const { return size == INT64_MAX; }
};

// A walk over self[place(index[i])] for n indices. `ss` is the step of `self` itself from one index to the next.
struct Strip {
  int64_t n;
  char* self;
  int64_t ss;
  const char* index;
  int64_t is;
  char* other;  // the output of a pick, the source of a put or a fold
  int64_t os;
};

enum { INDEX_SUM, INDEX_PROD, INDEX_AMAX, INDEX_AMIN };
using FoldLoop = void (*)(const Strip&, const Places&);

struct IndexLoops {
  bool (*valid)(int64_t n, const char* index, int64_t is, const Places&);
  bool (*pick[5])(const Strip&, const Places&);  // [log2 of the item's size]; returns false for a bad index
  // Copies n whole rows of `bytes` bytes to `out`, one after another, by index; false for a bad index.
  bool (*rows)(int64_t n, char* out, int64_t bytes, const char* self, const char* index, int64_t is, const Places&);
  void (*put[5])(const Strip&, const Places&);  // indices are valid
  FoldLoop fold[4][LAMELLA_PLAIN_DTYPES];       // joins elements of `other` to those of `self`
  bool (*offsets)(int64_t n, int64_t* out, const char* index, int64_t is, const Places&, bool accumulate);
  void (*reverse[5])(int64_t n, char* out, const char* from);  // out[i] = from[-i], in elements
  int64_t (*count)(int64_t n, const uint8_t* mask);            // returns the number of non-zero bytes
  // Writes `first` plus the position of each non-zero byte; returns their number.
  int64_t (*positions)(int64_t n, const uint8_t* mask, int64_t first, int64_t* out);
};

const IndexLoops& index_loops();

inline int log2_item(int64_t bytes) { return __builtin_ctzll(static_cast<unsigned long long>(bytes)); }

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const IndexLoops&, index_loops, ())
