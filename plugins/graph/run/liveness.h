// Finds the last use of each value.
#pragma once

#include <unordered_set>

#include "ir/graph.h"

namespace lamella::graph {

// Holds where the values of a graph die, which is at their last use. A value that a branch uses last dies in each branch
// of the `prim::If`: at its last use there, or where the branch begins. A value from outside that a loop uses dies behind
// the loop.
class Liveness {
 public:
  explicit Liveness(const Graph& g);

  // Returns whether a value's last use is this node, as one of its inputs.
  bool dies_at(const Value& v, const Node& n) const;
  // The values that die behind a node although they are not its inputs, or where a block begins.
  const std::vector<const Value*>& behind(const Node& n) const { return at(behind_, &n); }
  const std::vector<const Value*>& at_begin(const Block& b) const { return at(at_begin_, &b); }
  // Returns the call that puts the list of this `prim::ListConstruct` together; null if the list is a value of its own.
  const Node* list_of_call(const Node& n) const;

 private:
  template <class Map, class Key>
  static const std::vector<const Value*>& at(const Map& map, const Key* key) {
    static const std::vector<const Value*> none;
    const auto found = map.find(key);
    return found == map.end() ? none : found->second;
  }
  void number(const Block& b);
  void plan(const Block& b, const std::vector<const Value*>& from_outside);
  const Node* last_user(const Value& v, const Block& b) const;

  std::unordered_map<const Node*, int64_t> order_;
  std::unordered_map<const Node*, const Node*> lists_;
  std::unordered_map<const Node*, std::unordered_set<const Value*>> dying_;
  std::unordered_map<const Node*, std::vector<const Value*>> behind_;
  std::unordered_map<const Block*, std::vector<const Value*>> at_begin_;
};

// Returns whether values of a type may hold memory that is released.
bool holds_memory(const Type& t);

}  // namespace lamella::graph
