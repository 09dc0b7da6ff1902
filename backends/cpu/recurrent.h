// What recurrent layers do to the gates of one row, compiled once per instruction set, for float and double.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// n is the number of hidden units; gates follow each other, n numbers each: i, f, g, o of an LSTM; r, z, n of a GRU.
struct RecurrentLoops {
  // Sums become activations, in place; from the old cell the new one and the result.
  void (*lstm)(int64_t n, void* gates, const void* before, void* cell, void* result);
  // By the gradient of the result, and of the cell, which becomes that of the cell before; `more` is the gradient of
  // the activations, or null. Writes the gradient of the sums.
  void (*lstm_backward)(int64_t n, const void* gates, const void* before, const void* cell, const void* result,
                        const void* more, void* of_cell, void* sums);
  // The result again, from activations and the cell.
  void (*lstm_result)(int64_t n, const void* gates, const void* cell, void* result);
  // From what the input and the state give to the gates; keeps r, z, n and the state's part of n.
  void (*gru)(int64_t n, const void* input, const void* state, const void* before, void* kept, void* result);
  // The gradient of the result becomes what comes to the state before past the gates.
  void (*gru_backward)(int64_t n, const void* kept, const void* before, const void* more, void* result, void* input,
                       void* state);
  void (*curve)(int64_t n, void* x, bool relu);  // tanh, or relu, in place
  void (*curve_backward)(int64_t n, const void* result, const void* grad, void* to, bool relu);
  void (*add)(int64_t n, const void* x, void* to);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const RecurrentLoops*, recurrent_loops, (int dtype))
