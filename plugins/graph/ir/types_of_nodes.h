// The types that nodes take and give: of primitives by their kind, of operators by their signatures.
#pragma once

#include <stdexcept>

#include "ir/graph.h"

namespace lamella::graph {

struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Raises Mismatch unless the types of a primitive's values fit; returns false for a node that is no primitive.
bool check_primitive(const Node& n, const Program& program);
// Raises Mismatch unless the types of the values of an operator or a builtin fit its signature.
void check_operator(const Node& n);

}  // namespace lamella::graph
