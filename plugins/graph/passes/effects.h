// The effects of nodes: what they do beside giving results.
#pragma once

#include "ir/graph.h"

namespace lamella::graph {

// Returns whether the node, or one in its blocks, does more than compute its results: it writes a value, prints, raises,
// draws random numbers, or calls what may do so. Errors of operators do not count: a pass may drop a node that would
// raise one and whose results nobody uses.
bool has_effect(const Node& n);
// Returns whether the node, or one in its blocks, may write memory: of a tensor, a container or an instance.
bool writes(const Node& n);
// Returns whether a node of the block, or one in its blocks, may write.
bool writes(const Block& b);
// Returns whether a result may share memory with an input.
bool may_alias(const Node& n);
// Returns whether each run gives the node's results anew, so that a second node with the same inputs may not stand for
// it: for lists and other containers, which are compared by identity and written, and for random numbers.
bool makes_new(const Node& n);

// Calls visit(node) for each node of a block and of the blocks in it, inner ones first; the visited node may be removed.
template <class Visit>
void each_node(const Block& b, Visit visit) {
  for (Node* n = b.first(); n != b.end();) {
    Node* behind = n->behind;
    for (const auto& inner : n->blocks) each_node(*inner, visit);
    visit(n);
    n = behind;
  }
}

// Returns whether a value may be seen outside of its block: as a result, in a container, or by a view that may.
bool may_escape(const Value& v);
bool is_primitive(const Node& n);
bool is_unused(const Node& n);  // whether no result of it is used

}  // namespace lamella::graph
