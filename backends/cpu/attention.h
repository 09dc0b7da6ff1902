// What attention does to a row of a block of scores, compiled once per instruction set, for float and double.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

struct AttentionLoops {
  // scores * scale + mask; a bool mask (`bools`) leaves -inf where it is false, and a null one all as it is.
  void (*masked)(int64_t n, void* scores, double scale, const void* mask, int64_t stride, bool bools);
  // Takes n scores into a softmax that began with others: scores become e^(score - top), where `top` is the largest one
  // so far, to whose size `sum` comes too. Returns by what the older ones' results must be multiplied.
  double (*take)(int64_t n, void* scores, double* top, double* sum);
  void (*scale)(int64_t n, const void* from, void* to, double by);
  // scores become p = e^(score - logsumexp), and d, the gradient of p, that of the score: p * (d - shift) * scale.
  void (*backward)(int64_t n, void* scores, void* d, double logsumexp, double shift, double scale);
  // x * kept * by, where `kept` has a float for each number.
  void (*keep)(int64_t n, void* x, const float* kept, double by);
  double (*dot)(int64_t n, const void* x, const void* y);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const AttentionLoops*, attention_loops, (int dtype))
