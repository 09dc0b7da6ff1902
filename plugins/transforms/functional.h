// Calls with boxes of a level of functionalize: writes make new values, and no tensor outside of the level is written.
#pragma once

#include "rule.h"

namespace lamella::transforms {

// Serves a call whose innermost level is one of functionalize. A box of a level that is closed counts as its value.
lamella_status serve_functional(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s,
                                int64_t level, Served& op);

// Returns a box at a level of functionalize whose value is that of a tensor from outside. It shares the value with all
// tensors that share the memory of this one.
Tensor functional_of(const Tensor& outside, int64_t level);

// Returns the tensors from outside that were written at a level, and their values, in turn; the level forgets all.
std::vector<Tensor> settle_functional(int64_t level);

}  // namespace lamella::transforms
