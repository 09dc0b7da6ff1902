// Passes: changes of a program that keep what its graphs compute, bit for bit. Each returns whether it changed something.
#pragma once

#include "ir/graph.h"

namespace lamella::graph {

// Removes nodes without an effect whose results are not used.
bool remove_dead_nodes(Program& p, Graph& g);
// Gives values that are computed twice in the same way one definition: constants anywhere, other nodes in graphs that
// write nothing. Two results of a graph that are tensors stay two, since whoever gets them may write one.
bool share_common_nodes(Program& p, Graph& g);
// Replaces calls of the program's functions and methods by their graphs, but for calls of themselves.
bool inline_calls(Program& p, Graph& g);
// Computes what depends on constants alone, and replaces branches whose condition is known by the branch.
bool propagate_constants(Program& p, Graph& g);
// Applies the rules of passes/peephole.cpp, and takes tuples apart where they are made.
bool peephole(Program& p, Graph& g);
// Unrolls loops: with a constant number of at most 8 trips whole; any other loop over a number by 4 trips, with a second
// loop for the rest.
bool unroll_loops(Program& p, Graph& g);

// A rule: a graph whose one result can be computed as that of another graph with the same parameters.
struct Rule {
  std::unique_ptr<Graph> from, to;
};
Rule rule(std::string_view from, std::string_view to);
// Applies rules where they match, until none does; returns the number of applications. closed: no node outside of a match
// uses a value within it, so that all of it becomes dead.
int64_t rewrite(Graph& g, const std::vector<Rule>& rules, bool closed);

// Copies the nodes of a block before another node, where `values` has values for the parameters; returns the values of
// the block's results. Adds to `values` what was copied.
using ValueMap = std::unordered_map<const Value*, Value*>;
std::vector<Value*> copy_nodes(const Block& from, Node* before, ValueMap& values);

using Pass = bool (*)(Program&, Graph&);
struct NamedPass {
  const char* name;
  Pass run;
};
const std::vector<NamedPass>& own_passes();

}  // namespace lamella::graph
