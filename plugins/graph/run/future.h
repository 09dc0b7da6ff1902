// Functions of a program that run beside their caller: `prim::fork` starts one, `aten::wait` gives its result.
#pragma once

#include "run/machine.h"

namespace lamella::graph {

extern const lamella_object_type future_type;
void delete_future(lamella_object* o);  // at once; `destroy` of run/containers.h calls it

void forget_threads();  // for the child of a fork, in which they are not

// Starts a function, with arguments that it takes over; returns an owned future. At most as many run as there are
// processors; `wait` runs a function that has not begun itself, so that functions which wait for each other end.
lamella_value start_future(const Executable& exe, Limits limits, const Code& callee, std::vector<lamella_value> args);
// Waits; returns the owned result, or raises the error of the function, and appends a line to `trace` for each call that
// was under way. A function that has not begun runs on this thread, within `depth` calls.
lamella_value result_of_future(const lamella_value& future, int64_t depth, std::vector<std::string>* trace);

}  // namespace lamella::graph
