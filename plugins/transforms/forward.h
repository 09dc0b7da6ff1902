// Calls with boxes of a level of forward mode: the operator computes the primal, and its tangent rule the tangent.
#pragma once

#include "rule.h"

namespace lamella::transforms {

// Serves a call whose innermost level is one of forward mode. A box of a level that is closed counts as its primal.
lamella_status serve_forward(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, int64_t level,
                             bool is_open, Served& op);

}  // namespace lamella::transforms
