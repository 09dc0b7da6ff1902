// Finds the builtins that are instructions of the machine.
#pragma once

#include <optional>

#include "run/code.h"

namespace lamella::graph {

std::optional<Op> inline_op(const Signature& s);

}  // namespace lamella::graph
