// Rules that make graphs shorter, as pairs of graphs, and tuples that are taken apart where they are made. A rule holds
// for all dtypes and sizes, since a graph is run with any.
#include "passes/effects.h"
#include "passes/passes.h"

namespace lamella::graph {
namespace {

struct RuleText {
  const char *from, *to;
};

constexpr RuleText rule_texts[] = {
    {"graph(%x : Tensor) { %a : Tensor = aten::t(%x) %b : Tensor = aten::t(%a) return (%b) }",
     "graph(%x : Tensor) { return (%x) }"},
    {"graph(%x : Tensor, %i : int, %j : int) { %a : Tensor = aten::transpose.int(%x, %i, %j) "
     "%b : Tensor = aten::transpose.int(%a, %i, %j) return (%b) }",
     "graph(%x : Tensor, %i : int, %j : int) { return (%x) }"},
    {"graph(%x : Tensor, %i : int, %j : int) { %a : Tensor = aten::transpose.int(%x, %i, %j) "
     "%b : Tensor = aten::transpose.int(%a, %j, %i) return (%b) }",
     "graph(%x : Tensor, %i : int, %j : int) { return (%x) }"},
    {"graph(%x : Tensor, %d : int) { %a : Tensor = aten::unsqueeze(%x, %d) %b : Tensor = aten::squeeze.dim(%a, %d) "
     "return (%b) }",
     "graph(%x : Tensor, %d : int) { return (%x) }"},
    {"graph(%x : Tensor) { %a : Tensor = aten::relu(%x) %b : Tensor = aten::relu(%a) return (%b) }",
     "graph(%x : Tensor) { %a : Tensor = aten::relu(%x) return (%a) }"},
    {"graph(%x : Tensor) { %a : Tensor = aten::abs(%x) %b : Tensor = aten::abs(%a) return (%b) }",
     "graph(%x : Tensor) { %a : Tensor = aten::abs(%x) return (%a) }"},
    {"graph(%x : Tensor) { %a : Tensor = aten::floor(%x) %b : Tensor = aten::floor(%a) return (%b) }",
     "graph(%x : Tensor) { %a : Tensor = aten::floor(%x) return (%a) }"},
    {"graph(%x : Tensor) { %a : Tensor = aten::ceil(%x) %b : Tensor = aten::ceil(%a) return (%b) }",
     "graph(%x : Tensor) { %a : Tensor = aten::ceil(%x) return (%a) }"},
    {"graph(%x : Tensor) { %a : Tensor = aten::trunc(%x) %b : Tensor = aten::trunc(%a) return (%b) }",
     "graph(%x : Tensor) { %a : Tensor = aten::trunc(%x) return (%a) }"},
    {"graph(%b : bool) { %x : bool = aten::__not__(%b) %y : bool = aten::__not__(%x) return (%y) }",
     "graph(%b : bool) { return (%b) }"},
    {"graph(%i : int) { %n : int = prim::Constant[value=0]() %r : int = aten::add.int(%i, %n) return (%r) }",
     "graph(%i : int) { return (%i) }"},
    {"graph(%i : int) { %n : int = prim::Constant[value=1]() %r : int = aten::mul.int(%i, %n) return (%r) }",
     "graph(%i : int) { return (%i) }"},
};

// Replaces the parts of a tuple that was made here by the values that it was made of.
bool lower_tuple(Node* n) {
  if (!n->is("prim::TupleUnpack") && !n->is("prim::TupleIndex")) return false;
  const Node* made = n->inputs[0]->definition;
  if (!made->is("prim::TupleConstruct")) return false;
  if (n->is("prim::TupleIndex"))
    n->outputs[0]->replace_uses_with(
        made->inputs.at(static_cast<size_t>(std::get<int64_t>(n->attribute("index")->value))));
  else
    for (size_t i = 0; i < n->outputs.size(); i++) n->outputs[i]->replace_uses_with(made->inputs.at(i));
  n->block->remove(n);
  return true;
}

}  // namespace

bool peephole(Program&, Graph& g) {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (const RuleText& t : rule_texts) all.push_back(rule(t.from, t.to));
    return all;
  }();
  bool changed = false;
  each_node(g.top(), [&](Node* n) { changed = lower_tuple(n) || changed; });
  return rewrite(g, rules, false) > 0 || changed;
}

}  // namespace lamella::graph
