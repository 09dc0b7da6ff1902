// Random streams, compiled once per instruction set. Element i of a stream depends on the seed and on its place alone:
// every tile, also the last and shortest one, goes through the same vector code.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// A place in Philox's stream: four words for each value of the counter.
struct Stream {
  uint64_t seed, counter;
};

struct RandomLoops {
  // n words.
  void (*words)(Stream s, int64_t n, uint32_t* out);
  // n numbers from [0, 1): low + width * u, at most limit. A float takes one word, a double two.
  void (*uniform32)(Stream s, int64_t n, float* out, float low, float width, float limit);
  void (*uniform64)(Stream s, int64_t n, double* out, double low, double width, double limit);
  // n normal numbers, by Box and Muller's transform of neighbouring uniform ones.
  void (*normal32)(Stream s, int64_t n, float* out, float mean, float std);
  void (*normal64)(Stream s, int64_t n, double* out, double mean, double std);
  // 1 where the uniform number is below p, else 0.
  void (*bernoulli)(Stream s, int64_t n, float* out, float p);
  // low + floor(range * word / 2^32), of one word; range at most 2^31.
  void (*integers)(Stream s, int64_t n, int64_t* out, int64_t low, int64_t range);
};

const RandomLoops& random_loops();

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const RandomLoops&, random_loops, ())
