// What composites draw from the stream of words, for the two families that do.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

// The largest integer that a dtype holds, or counts up to without gaps, as a bound of what random_ draws.
int64_t largest_integer(DType t);

// Raises unless a written argument's dtype is floating; says that the result is the argument itself.
lamella_status check_floating(lamella_frame* f, const Tensor* t, Meta* m);

// `count` words of the stream as int64; two words each as one number of at most 63 bits.
Var words(Compose& c, const Value& generator, lamella_device device, int64_t count);
Var wide_words(Compose& c, const Value& generator, lamella_device device, int64_t count, int bits);
// `count` uniform numbers from [0, 1), in float64 or else float32, made of words; and by uniform_, in a new tensor.
Var units(Compose& c, const Value& generator, lamella_device device, int64_t count, bool wide);
Var uniform_numbers(Compose& c, const Value& generator, lamella_device device, const Ints& size, DType dtype);

// Stores a row of numbers into self, whatever its shape and dtype, and returns self.
lamella_status store(Compose& c, const Value& self, const Var& row, Value* r);
// An empty tensor; options: dtype, layout, device, pin_memory.
Var new_like_factory(Compose& c, const Value& size, const Value* options, const Value& dtype);

}  // namespace lamella::dispatcher
