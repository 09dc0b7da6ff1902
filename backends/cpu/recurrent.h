// The loops of recurrent layers over the gates of one row, compiled once per instruction set, for float and double.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// n is the number of hidden units; gates follow each other, n numbers each: i, f, g, o of an LSTM; r, z, n of a GRU.
struct RecurrentLoops {
  // Replaces the sums in `gates` by their activations, and computes the new cell and the result from the cell before.
  void (*lstm)(int64_t n, void* gates, const void* before, void* cell, void* result);
  // Writes the gradient of the sums, from the gradient of the result and of the cell. The gradient of the cell is
  // replaced by that of the cell before. `more` is the gradient of the activations, or null.
  void (*lstm_backward)(int64_t n, const void* gates, const void* before, const void* cell, const void* result,
                        const void* more, void* of_cell, void* sums);
  // Computes the result again, from activations and the cell.
  void (*lstm_result)(int64_t n, const void* gates, const void* cell, void* result);
  // Computes the result from the sums that the input and the state give the gates; `kept` gets r, z, n and the state's
  // part of n.
  void (*gru)(int64_t n, const void* input, const void* state, const void* before, void* kept, void* result);
  // `result` is at first the gradient of the result; it is replaced by the direct part of the previous state's gradient,
  // which does not pass through the gates. Writes to `input` and `state` the gradients of gru()'s arguments of these
  // names. `more` is the gradient of `kept`, or null.
  void (*gru_backward)(int64_t n, const void* kept, const void* before, const void* more, void* result, void* input,
                       void* state);
  void (*curve)(int64_t n, void* x, bool relu);  // tanh, or relu, in place
  void (*curve_backward)(int64_t n, const void* result, const void* grad, void* to, bool relu);
  void (*add)(int64_t n, const void* x, void* to);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const RecurrentLoops*, recurrent_loops, (int dtype))
