// The plugin's entry: registers the layer that records, and publishes the interface "graph".
#include <lamella/library.h>

#include "interface/program.h"
#include "run/forks.h"
#include "run/stacks.h"
#include "trace/layer.h"

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
    add_tracing(t);
    add_files(t);
    return t;
  }();
  return &made;
}

}  // namespace
}  // namespace lamella::graph

LAMELLA_LIBRARY_FRAGMENT(graph, m) {
  lamella::graph::register_layer(m);
  lamella::graph::register_stacks(m);
  lamella::graph::register_forks(m);
  m.interface("graph", 1, lamella::graph::table());
}
