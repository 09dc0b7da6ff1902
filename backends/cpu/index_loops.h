// Loops over index tensors, one strip at a time; compiled once per instruction set. All strides are in bytes.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// How an index becomes a place: i, or i + size where it is negative and `wrap` is `size` (0: negative ones are bad),
// times `scale` bytes. Valid places are those of [0, size).
struct Places {
  int64_t size, wrap, scale;
  static Places offsets() { return {INT64_MAX, 0, 1}; }  // checked already
  bool checked() const { return size == INT64_MAX; }
};

// self[place(index[i])] for n indices; `self` may move along too, by `ss`.
struct Strip {
  int64_t n;
  char* self;
  int64_t ss;
  const char* index;
  int64_t is;
  char* other;  // the output of a pick, the source of a put or an addition
  int64_t os;
};

enum { INDEX_SUM, INDEX_PROD, INDEX_AMAX, INDEX_AMIN };
using FoldLoop = void (*)(const Strip&, const Places&);

struct IndexLoops {
  bool (*valid)(int64_t n, const char* index, int64_t is, const Places&);
  bool (*pick[5])(const Strip&, const Places&);  // by log2 of the item's size; false: a bad index
  // n whole rows of some bytes, one after another, by index.
  bool (*rows)(int64_t n, char* out, int64_t bytes, const char* self, const char* index, int64_t is, const Places&);
  void (*put[5])(const Strip&, const Places&);  // indices are valid
  FoldLoop fold[4][LAMELLA_PLAIN_DTYPES];       // self = two(self, other), one after another
  bool (*offsets)(int64_t n, int64_t* out, const char* index, int64_t is, const Places&, bool accumulate);
  void (*reverse[5])(int64_t n, char* out, const char* from);                         // out[i] = from[-i]
  int64_t (*count)(int64_t n, const uint8_t* mask);                                   // of non-zero bytes
  int64_t (*positions)(int64_t n, const uint8_t* mask, int64_t first, int64_t* out);  // of non-zero bytes, plus first
};

const IndexLoops& index_loops();

inline int log2_item(int64_t bytes) { return __builtin_ctzll(static_cast<unsigned long long>(bytes)); }

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const IndexLoops&, index_loops, ())
