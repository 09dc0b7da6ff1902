// Calls with boxes of a level of functionalize: writes make new values, and no tensor outside of the level is written.
#pragma once

#include "rule.h"

namespace lamella::transforms {

// Serves a call whose innermost level is one of functionalize. A box of a level that is closed counts as its value.
lamella_status serve_functional(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s,
                                int64_t level, Served& op);

// Makes plain tensors of those that became boxes of a level. With `copy` they get the values that were written to them.
void settle_functional(int64_t level, bool copy);

}  // namespace lamella::transforms
