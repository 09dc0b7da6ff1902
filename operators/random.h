// The draws from the stream of words that the composites of random.cpp, random_integers.cpp and sampling.cpp share.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// Returns the largest integer that a dtype holds, or counts up to without gaps, as a bound for random_.
int64_t largest_integer(ScalarType t);

// check_drawn() and check_continuous() raise unless the dtype of a named argument is floating. check_drawn() raises
// that the operator is not implemented, as torch's kernels do; its message, unlike check_floating's, names no
// conversion.
void check_drawn(const char* name, ScalarType t);
void check_continuous(const char* name, ScalarType t);
void check_plain(const char* name, ScalarType t);  // raises for a dtype that has no arithmetic

// Returns `count` words of the stream as int64.
Tensor words(const Generator& generator, const Device& device, int64_t count);
// Returns `count` numbers of `bits` bits, 32 to 63, as int64, each made of two words of the stream.
Tensor wide_words(const Generator& generator, const Device& device, int64_t count, int bits);
// Draws uniform numbers from [0, 1) into a new tensor, by uniform_.
Tensor uniform_numbers(const Generator& generator, const Device& device, IntArrayRef size, ScalarType dtype);

// The shape rules of new tensors: with these sizes, or laid out as `self` or by a memory format.
void set_new(Output& out, IntArrayRef size, ScalarType t);
void set_like(Output& out, const Tensor& self, ScalarType t, std::optional<MemoryFormat> memory_format);

// Stores a row of numbers into self, whatever its shape and dtype, and returns self.
const Tensor& store(const Tensor& self, const Tensor& row);

// The arguments of factories of random numbers.
#define RANDOM_OPTIONS                                                                                     \
  "*, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? " \
  "pin_memory=None) -> Tensor"
#define RANDOM_LIKE                                                                                            \
  "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? " \
  "memory_format=None) -> Tensor"

}  // namespace lamella::operators
