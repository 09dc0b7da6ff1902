// Checks that a graph is well formed.
#pragma once

#include <stdexcept>

#include "ir/graph.h"

namespace lamella::graph {

// A defect of a graph: what() names the node, by its place in the program and its text, and says what is wrong.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Raises Malformed unless every value is defined before it is used and where it is seen, uses and definitions belong
// together, control flow has the blocks and types that it needs, and nodes get and give values of the types that their
// operators, functions and classes say. A program that passes holds values of the types that it states when it runs:
// where a type follows from no signature, the machine checks the value.
void verify(const Program& program);
// Checks one graph without its operators and the rest of the program: its values, blocks and control flow.
void verify_structure(const Graph& g);

}  // namespace lamella::graph
