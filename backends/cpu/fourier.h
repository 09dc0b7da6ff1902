// Fourier transforms of blocks of lines, one line in each lane of the vectors. Compiled once per instruction set.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu::fourier {

inline constexpr int most_lanes = 16, most_radices = 40;
inline constexpr int most_prime = 50;  // lengths with a greater prime factor are transformed by Bluestein's way

// A transform of one length by passes of small transforms (Stockham's order, which needs no reordering). `factors`
// holds for each pass the complex roots that multiply its results, and `roots` the powers of the root of unity of each
// radix. Both are float or double, as the lines are.
struct Passes {
  int64_t n;
  int count;
  int radix[most_radices];
  const void* factors[most_radices];
  const void* roots[most_radices];
  // Bluestein's transform, if not null: the passes of a longer transform, the chirp of n complex numbers, and the
  // transform of the chirp's conjugate, divided by the longer length.
  const Passes* longer;
  const void* chirp;
  const void* filter;
};

// The addresses of the lines that a block reads or writes. `step` is the number of bytes from an element to the next,
// and `imag` that from the real part of an element to its imaginary part; 0 if there are no imaginary parts.
struct Side {
  char* at[most_lanes];
  int64_t step, imag;
};

enum class Kind {
  complex,  // n elements to n elements
  halve,    // n real elements to the first n / 2 + 1 complex ones of their transform; n is odd
  pack,     // n complex elements that are 2 n real ones, to n + 1 complex ones
  unpack,   // n + 1 complex elements to n complex ones that are 2 n real ones
  mirror,   // n / 2 + 1 complex elements to n real ones; n is odd
};

struct Block {
  const Passes* passes;
  Kind kind;
  int lanes;
  Side in, out;
  double scale;
  const void* half_roots;  // for `pack` and `unpack`: exp(-pi i k / n) for k to n
  const void* twiddles;    // vectors that multiply the results, a real and an imaginary one for each element, or null
};

struct Transforms {
  int lanes;                                  // lines in a block, for float or double
  int (*order)(int lane);                     // the line of the block that lies in a lane
  int64_t (*bytes)(const Passes&);            // the size of the memory that a block needs
  void (*block)(const Block&, void* memory);  // transforms the lines of a block
  // `pack` and `unpack` of Kind for a single line: `pack` works in place, and `unpack` is its inverse.
  void (*pack)(int64_t n, const Side& line, const void* half_roots);
  void (*unpack)(int64_t n, const Side& in, const Side& out, const void* half_roots);
};

}  // namespace lamella::cpu::fourier

LAMELLA_DECLARE_ISA(const fourier::Transforms*, fourier_transforms, (bool wide))
