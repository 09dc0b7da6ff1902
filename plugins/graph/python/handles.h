// The handles of a program's parts as Python's objects hold them.
#pragma once

#include "face.h"

namespace lamella::graph::face {

struct Graph {
  ProgramRef program;
  lamella_graph* graph;
  std::string name;
};
struct Block {
  ProgramRef program;
  lamella_graph_block* block;
};
struct Node {
  ProgramRef program;
  lamella_graph_node* node;
};
struct Value {
  ProgramRef program;
  lamella_graph_value* value;
};

}  // namespace lamella::graph::face
