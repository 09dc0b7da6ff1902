// Rules: graphs that stand for other graphs.
#include <algorithm>

#include "ir/verify.h"
#include "passes/effects.h"
#include "passes/passes.h"
#include "text/text.h"

namespace lamella::graph {
namespace {

struct Match {
  ValueMap values;  // of the rule's graph to the matched graph's
  std::vector<Node*> nodes;
};

bool match_value(const Value* pattern, Value* v, Match& m) {
  const auto [at, fresh] = m.values.try_emplace(pattern, v);
  if (!fresh) return at->second == v;
  const Node* want = pattern->definition;
  if (want == want->block->begin_node()) return is_subtype(*v->type, *pattern->type);
  Node* n = v->definition;
  const bool alike = n->op == want->op && (want->overload.empty() || n->overload == want->overload) &&
                     n->inputs.size() == want->inputs.size() && want->attributes == n->attributes &&
                     n->blocks.empty() && n->outputs.size() == want->outputs.size() && v->output == pattern->output;
  if (!alike) return false;
  for (size_t i = 0; i < n->inputs.size(); i++)
    if (!match_value(want->inputs[i], n->inputs[i], m)) return false;
  m.nodes.push_back(n);
  return true;
}

// Returns whether the values within a match are used by it alone.
bool is_closed(const Match& m, const Node* last) {
  return std::all_of(m.nodes.begin(), m.nodes.end(), [&](const Node* n) {
    if (n == last || n->is("prim::Constant")) return true;
    return n->block == last->block && std::all_of(n->outputs.begin(), n->outputs.end(), [&](const auto& v) {
             return std::all_of(v->uses.begin(), v->uses.end(), [&](const Use& u) {
               return std::find(m.nodes.begin(), m.nodes.end(), u.user) != m.nodes.end();
             });
           });
  });
}

bool apply(Node* last, const Rule& r, bool closed) {
  const Value* root = r.from->top().results().at(0);
  for (const auto& v : last->outputs) {
    Match m;
    if (v->uses.empty() || !match_value(root, v.get(), m) || (closed && !is_closed(m, last))) continue;
    if (std::any_of(m.nodes.begin(), m.nodes.end(), [](const Node* n) { return has_effect(*n); })) continue;
    ValueMap made;
    const auto &wanted = r.to->top().parameters(), &given = r.from->top().parameters();
    for (size_t i = 0; i < wanted.size(); i++)
      if (const auto at = m.values.find(given[i].get()); at != m.values.end()) made[wanted[i].get()] = at->second;
    Node* const before = last->before;
    for (size_t i = 0; i < wanted.size(); i++)
      if (!wanted[i]->uses.empty() && !made.count(wanted[i].get()))
        throw Malformed("rewrite: the new graph uses its parameter %" + wanted[i]->name +
                        ", which the old graph does not use");
    const std::vector<Value*> results = copy_nodes(r.to->top(), last, made);
    for (Node* n = before->behind; n != last; n = n->behind) n->source = last->source;
    v->replace_uses_with(results.at(0));
    return true;
  }
  return false;
}

}  // namespace

Rule rule(std::string_view from, std::string_view to) {
  Rule r{parse_graph(from), parse_graph(to)};
  for (const Graph* g : {r.from.get(), r.to.get()})
    if (g->top().results().size() != 1) throw SyntaxError(1, 1, "a graph of a rule has one result");
  if (r.from->top().parameters().size() != r.to->top().parameters().size())
    throw SyntaxError(1, 1, "the graphs of a rule have the same parameters");
  const Node* last = r.from->top().results()[0]->definition;
  if (last == r.from->top().begin_node()) throw SyntaxError(1, 1, "the graph that is replaced has no node");
  return r;
}

int64_t rewrite(Graph& g, const std::vector<Rule>& rules, bool closed) {
  if (writes(g.top())) return 0;  // two values may then differ although they are computed alike
  int64_t applied = 0, before = -1;
  while (before != applied && applied < 100000) {
    before = applied;
    each_node(g.top(), [&](Node* n) {
      for (const Rule& r : rules)
        if (!is_unused(*n)) applied += apply(n, r, closed);
    });
  }
  return applied;
}

}  // namespace lamella::graph
