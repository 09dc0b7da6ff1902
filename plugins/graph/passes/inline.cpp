// Calls become the graphs that they call.
#include <set>

#include "passes/effects.h"
#include "passes/passes.h"

namespace lamella::graph {
namespace {

constexpr int64_t most_nodes = 100000;  // of a graph behind inlining

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

class Inliner {
 public:
  Inliner(Program& p, Graph& g) : program_(p) {
    each_node(g.top(), [&](const Node*) { nodes_++; });
    for (const auto& [name, graph] : p.graphs)
      if (graph.get() == &g) own_ = name;
  }

  // Inlines the calls of the graph until none is left that can be. A function that calls itself, directly or through
  // others, stays a call.
  bool run(Graph& g) {
    bool changed = false;
    std::vector<Node*> calls;
    do {
      calls.clear();
      each_node(g.top(), [&](Node* n) {
        const std::string name = callee_of(*n, program_);
        if (!name.empty() && name != own_ && !reaches(name, name)) calls.push_back(n);
      });
      for (Node* n : calls) {
        const Graph& callee = *program_.find(callee_of(*n, program_));
        each_node(callee.top(), [&](const Node*) { nodes_++; });
        if (nodes_ > most_nodes) return changed;
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
  // Returns whether a function calls another one, through any number of calls.
  bool reaches(const std::string& from, const std::string& to) {
    const auto [at, fresh] = reached_.try_emplace(from);
    if (fresh) {
      std::vector<std::string> left = {from};
      std::set<std::string> found;
      while (!left.empty()) {
        const std::string name = left.back();
        left.pop_back();
        each_node(program_.find(name)->top(), [&](const Node* n) {
          const std::string callee = callee_of(*n, program_);
          if (!callee.empty() && found.insert(callee).second) left.push_back(callee);
        });
      }
      at->second = std::move(found);
    }
    return at->second.count(to);
  }

  Program& program_;
  std::string own_;
  int64_t nodes_ = 0;
  std::unordered_map<std::string, std::set<std::string>> reached_;
};

}  // namespace

bool inline_calls(Program& p, Graph& g) { return Inliner(p, g).run(g); }

}  // namespace lamella::graph
