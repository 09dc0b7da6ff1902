// The version of the operators that programs are saved with, and the upgrades of older programs: jit/upgrades.txt.
#pragma once

#include <map>

#include "ir/graph.h"

namespace lamella::graph::files {

inline constexpr int64_t operators_version = 1;  // as VERSION in jit/upgrades.py

// One change of an operator.
struct Upgrade {
  int64_t version;           // the first one with the change
  std::string op, overload;  // as older programs have it
  size_t inputs;             // their number there
  std::string now;           // the text of a graph that computes the same
};

// Reads upgrades: `version N`, the old graph, `->` on a line of its own, and the new graph, for each. Raises
// std::runtime_error for another text.
std::vector<Upgrade> read_upgrades(std::string_view text);
// The upgrades of jit/upgrades.txt, whose text CMake puts into the library.
const std::vector<Upgrade>& upgrades();
extern const char upgrades_text[];

// Changes a graph of an older program, in which calls of functions take the place of operators that have changed.
// `functions` gets the texts of their graphs by name.
void upgrade(Graph& graph, int64_t version, const std::vector<Upgrade>& all,
             std::map<std::string, std::string>* functions);

}  // namespace lamella::graph::files
