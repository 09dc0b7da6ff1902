// The builtins that the machine computes itself.
#pragma once

#include <optional>

#include "run/code.h"

namespace lamella::graph {

std::optional<Op> inline_op(const Signature& s);

}  // namespace lamella::graph
