// Dead nodes and common nodes.
#include "passes/effects.h"
#include "passes/passes.h"

namespace lamella::graph {
namespace {

bool remove_dead_in(Block& b) {
  bool removed = false;
  for (Node* n = b.end()->before; n != b.begin_node();) {  // users before what they use
    Node* before = n->before;
    if (is_unused(*n) && !has_effect(*n)) {
      b.remove(n);
      removed = true;
    } else {
      for (const auto& inner : n->blocks) removed = remove_dead_in(*inner) || removed;
    }
    n = before;
  }
  return removed;
}

bool alike(const Node& a, const Node& b) {
  if (a.op != b.op || a.overload != b.overload || a.inputs != b.inputs || a.attributes != b.attributes ||
      a.outputs.size() != b.outputs.size())
    return false;
  for (size_t i = 0; i < a.outputs.size(); i++)
    if (!same(a.outputs[i]->type, b.outputs[i]->type)) return false;
  return true;
}

// Returns whether both nodes give a tensor that may be seen outside of the graph, where one of them may be written.
bool both_escape(const Node& a, const Node& b) {
  for (size_t i = 0; i < a.outputs.size(); i++)
    if (!is_primitive(a) && a.outputs[i]->type->kind == Kind::tensor && may_escape(*a.outputs[i]) &&
        may_escape(*b.outputs[i]))
      return true;
  return false;
}

// The nodes that a block sees, by operator, inputs and attributes, so that few are compared.
struct Scope {
  const Scope* outer;
  std::unordered_multimap<std::string, Node*> nodes;

  static std::string key(const Node& n) {
    std::string k = n.op;
    for (const Value* v : n.inputs) k += " " + v->name;
    for (const Attribute& a : n.attributes) k += " " + a.value.text();
    return k;
  }
  Node* find(const Node& n) const {
    const std::string k = key(n);
    for (const Scope* s = this; s; s = s->outer)
      for (auto [at, end] = s->nodes.equal_range(k); at != end; ++at)
        if (alike(*at->second, n) && !both_escape(*at->second, n)) return at->second;
    return nullptr;
  }
};

bool share_in(Block& b, const Scope* outer, bool writes) {
  Scope scope{outer, {}};
  bool shared = false;
  for (Node* n = b.first(); n != b.end();) {
    Node* behind = n->behind;
    for (const auto& inner : n->blocks) shared = share_in(*inner, &scope, writes) || shared;
    const Literal* value = n->attribute("value");  // a list is made anew by each run of its node
    const bool constant = n->is("prim::Constant") && !(value && std::holds_alternative<Literal::List>(value->value));
    const bool candidate =
        n->blocks.empty() && !n->outputs.empty() && (constant || (!writes && !has_effect(*n) && !makes_new(*n)));
    if (candidate) {
      if (const Node* found = scope.find(*n)) {
        for (size_t i = 0; i < n->outputs.size(); i++) n->outputs[i]->replace_uses_with(found->outputs[i].get());
        b.remove(n);
        shared = true;
      } else {
        scope.nodes.emplace(Scope::key(*n), n);
      }
    }
    n = behind;
  }
  return shared;
}

}  // namespace

bool remove_dead_nodes(Program&, Graph& g) { return remove_dead_in(g.top()); }

bool share_common_nodes(Program&, Graph& g) { return share_in(g.top(), nullptr, writes(g.top())); }

std::vector<Value*> copy_nodes(const Block& from, Node* before, ValueMap& values) {
  const auto mapped = [&](Value* v) {
    const auto found = values.find(v);
    return found == values.end() ? v : found->second;  // a value from outside of the block
  };
  for (const Node* n = from.first(); n != from.end(); n = n->behind) {
    Node* made = before->block->insert(before, n->op, n->overload);
    made->attributes = n->attributes;
    made->source = n->source;
    for (Value* v : n->inputs) made->add_input(mapped(v));
    for (const auto& b : n->blocks) {
      Block& inner = made->add_block();
      for (const auto& p : b->parameters()) values[p.get()] = inner.add_parameter(p->type, p->name);
      for (Value* v : copy_nodes(*b, inner.end(), values)) inner.add_result(v);
    }
    for (const auto& v : n->outputs) values[v.get()] = made->add_output(v->type, v->name);
  }
  std::vector<Value*> results;
  for (Value* v : from.results()) results.push_back(mapped(v));
  return results;
}

const std::vector<NamedPass>& own_passes() {
  static const std::vector<NamedPass> all = {
      {"inline", inline_calls},   {"constant_propagation", propagate_constants},
      {"peephole", peephole},     {"cse", share_common_nodes},
      {"dce", remove_dead_nodes}, {"unroll", unroll_loops},
  };
  return all;
}

}  // namespace lamella::graph
