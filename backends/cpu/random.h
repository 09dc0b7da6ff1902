// Random streams, compiled once per instruction set. Element i of a stream depends on the seed and on its place alone:
// every tile, also the last and shortest one, goes through the same vector code.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// A place in Philox's stream, which has four words for each value of the counter.
struct Stream {
  uint64_t seed, counter;
};

struct RandomLoops {
  // Writes n words.
  void (*words)(Stream s, int64_t n, uint32_t* out);
  // Write n numbers low + width * u, at most limit, with u from [0, 1). A float takes one word, a double two.
  void (*uniform32)(Stream s, int64_t n, float* out, float low, float width, float limit);
  void (*uniform64)(Stream s, int64_t n, double* out, double low, double width, double limit);
  // Write n normal numbers, by Box and Muller's transform of neighbouring uniform numbers.
  void (*normal32)(Stream s, int64_t n, float* out, float mean, float std);
  void (*normal64)(Stream s, int64_t n, double* out, double mean, double std);
  // Writes 1 where the uniform number is below p, else 0.
  void (*bernoulli)(Stream s, int64_t n, float* out, float p);
  // Writes low + floor(range * word / 2^32), with one word each; range is at most 2^31.
  void (*integers)(Stream s, int64_t n, int64_t* out, int64_t low, int64_t range);
};

const RandomLoops& random_loops();

// Write n gamma draws of the shapes, or their logarithms, with a seed of two words each; n is below 2^31.
struct GammaLoops {
  void (*gamma32)(Stream s, int64_t n, const float* shape, float* out, bool logarithm);
  void (*gamma64)(Stream s, int64_t n, const double* shape, double* out, bool logarithm);
};

const GammaLoops& gamma_loops();

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const RandomLoops&, random_loops, ())
LAMELLA_DECLARE_ISA(const GammaLoops&, gamma_loops, ())
