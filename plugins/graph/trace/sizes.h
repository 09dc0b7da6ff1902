// Numbers of a recorded graph that depend on the sizes of its inputs.
//
// Note [Sizes]  There are no symbolic sizes: a function is recorded again by shape, with a size twice and three times
//   as great, and the three graphs are compared, node by node. A number that is a multiple of one size plus a constant
//   becomes an expression of the graph. Other differences are reported, and the number stays. The graphs for other
//   sizes have no names and no prim::GetAttr: an attribute is a parameter, whose name is the way to it: "0.weight".
#pragma once

#include "ir/graph.h"

namespace lamella::graph {

// An input of a function: a tensor, by its value in the graph, and its name in reports.
struct SizedInput {
  Value* value;
  std::string name;
};

// A size of an input, and the graphs that were recorded for other sizes.
struct OtherSizes {
  size_t input;  // the number of the input
  int64_t dim;
  int64_t length;  // the size for which the first graph was recorded
  const Graph *twice, *thrice;
};

// Makes expressions of the numbers of a graph that depend on one size; returns the reports of other differences.
std::vector<std::string> replace_sizes(Graph& g, const std::vector<SizedInput>& inputs,
                                       const std::vector<OtherSizes>& others);

}  // namespace lamella::graph
