// The plugin's entry: publishes the interface "graph".
#include <lamella/library.h>

#include "interface/program.h"

namespace lamella::graph {
namespace {

const lamella_graph_table* table() {
  static const lamella_graph_table made = [] {
    lamella_graph_table t{};
    t.size = sizeof t;
    add_programs(t);
    add_nodes(t);
    add_values(t);
    add_passes(t);
    return t;
  }();
  return &made;
}

}  // namespace
}  // namespace lamella::graph

LAMELLA_LIBRARY_FRAGMENT(graph, m) { m.interface("graph", 1, lamella::graph::table()); }
