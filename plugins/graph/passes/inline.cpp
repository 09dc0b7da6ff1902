// Calls become the graphs that they call.
#include <algorithm>
#include <set>

#include "passes/effects.h"
#include "passes/passes.h"

namespace lamella::graph {
namespace {

constexpr int64_t most_nodes = 100000;  // of a program behind inlining

// Returns the name of the program's function or method that a node calls; empty for another node and for the method of
// an interface.
std::string callee_of(const Node& n, const Program& p) {
  const Literal* x = n.attribute("name");
  const auto* name = x ? std::get_if<std::string>(&x->value) : nullptr;
  if (!name) return {};
  if (n.is("prim::CallFunction")) return p.find(*name) ? *name : std::string();
  if (!n.is("prim::CallMethod") || n.inputs.empty()) return {};
  const std::string full = n.inputs[0]->type->name + "." + *name;
  return p.find(full) ? full : std::string();
}

// The functions of a program that call themselves, directly or through others, and those that stand between two such.
class Recursion {
 public:
  explicit Recursion(const Program& p) {
    for (const auto& [name, graph] : p.graphs) {
      left_.insert(name);
      std::set<std::string>& all = callees_[name];
      each_node(graph->top(), [&](const Node* n) {
        if (std::string callee = callee_of(*n, p); !callee.empty()) all.insert(std::move(callee));
      });
      for (const std::string& callee : all) callers_[callee].insert(name);
    }
    trim(callees_, callers_);
    trim(callers_, callees_);
  }
  bool has(const std::string& name) const { return left_.count(name); }

 private:
  using Edges = std::unordered_map<std::string, std::set<std::string>>;

  // Takes out what has no edge to a function that is left.
  void trim(Edges& edges, Edges& back) {
    std::unordered_map<std::string, size_t> count;
    std::vector<std::string> ready;
    for (const std::string& name : left_) {
      size_t& n = count[name];
      for (const std::string& to : edges[name]) n += left_.count(to);
      if (!n) ready.push_back(name);
    }
    while (!ready.empty()) {
      const std::string name = std::move(ready.back());
      ready.pop_back();
      left_.erase(name);
      for (const std::string& from : back[name])
        if (left_.count(from) && !--count[from]) ready.push_back(from);
    }
  }

  Edges callees_, callers_;
  std::set<std::string> left_;
};

// Returns how many blocks lie around a node.
int depth_of(const Node* n) {
  int depth = 0;
  for (n = n->block->owner(); n; n = n->block->owner()) depth++;
  return depth;
}
// Returns how deep blocks lie within a block.
int depth_within(const Block& b) {
  int depth = 0;
  for (const Node* n = b.first(); n != b.end(); n = n->behind)
    for (const auto& inner : n->blocks) depth = std::max(depth, 1 + depth_within(*inner));
  return depth;
}

class Inliner {
 public:
  Inliner(Program& p, const Graph& g) : program_(p), recursion_(p) {
    for (const auto& [name, graph] : p.graphs) {
      each_node(graph->top(), [&](const Node*) { nodes_++; });
      if (graph.get() == &g) own_ = name;
    }
  }

  // Inlines the calls of the graph until none is left that can be, or the program is large. A function that calls
  // itself, directly or through others, stays a call.
  bool run(Graph& g) {
    bool changed = false;
    std::vector<Node*> calls;
    do {
      calls.clear();
      each_node(g.top(), [&](Node* n) {
        const std::string name = callee_of(*n, program_);
        if (!name.empty() && name != own_ && !recursion_.has(name)) calls.push_back(n);
      });
      for (Node* n : calls) {
        const Graph& callee = *program_.find(callee_of(*n, program_));
        each_node(callee.top(), [&](const Node*) { nodes_++; });
        if (nodes_ > most_nodes || depth_of(n) + depth_within(callee.top()) > most_depth) return changed;
        ValueMap values;
        const auto& parameters = callee.top().parameters();
        for (size_t i = 0; i < parameters.size(); i++) values[parameters[i].get()] = n->inputs.at(i);
        const std::vector<Value*> results = copy_nodes(callee.top(), n, values);
        for (size_t i = 0; i < results.size(); i++) n->outputs.at(i)->replace_uses_with(results[i]);
        n->block->remove(n);
        changed = true;
      }
    } while (!calls.empty());
    return changed;
  }

 private:
  Program& program_;
  const Recursion recursion_;
  std::string own_;
  int64_t nodes_ = 0;
};

}  // namespace

bool inline_calls(Program& p, Graph& g) { return Inliner(p, g).run(g); }

}  // namespace lamella::graph
