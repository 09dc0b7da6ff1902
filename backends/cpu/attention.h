// The loops of attention over one row of a block of scores, compiled once per instruction set, for float and double.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

struct AttentionLoops {
  // Sets scores to scores * scale + mask. A bool mask (`bools`) sets -inf where it is false; a null mask adds nothing.
  void (*masked)(int64_t n, void* scores, double scale, const void* mask, int64_t stride, bool bools);
  // Adds n scores to a softmax over several blocks: raises `top` to the largest score so far, sets scores to
  // e^(score - top), and adds these to `sum`, which is first scaled to the new `top`. Returns the factor by which the
  // results of earlier blocks must be multiplied.
  double (*take)(int64_t n, void* scores, double* top, double* sum);
  void (*scale)(int64_t n, const void* from, void* to, double by);
  // Sets scores to p = e^(score - logsumexp), and d, which holds the gradient of p, to the gradient of the score:
  // p * (d - shift) * scale.
  void (*backward)(int64_t n, void* scores, void* d, double logsumexp, double shift, double scale);
  // Sets x to x * kept * by, where `kept` has a float for each number.
  void (*keep)(int64_t n, void* x, const float* kept, double by);
  double (*dot)(int64_t n, const void* x, const void* y);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const AttentionLoops*, attention_loops, (int dtype))
