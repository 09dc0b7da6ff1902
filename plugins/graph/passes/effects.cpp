// Effects: of primitives by their names, of operators by their signatures.
#include "passes/effects.h"

#include <algorithm>

#include "signatures/signature.h"

namespace lamella::graph {
namespace {

constexpr std::string_view pure[] = {
    "prim::Constant",   "prim::ListConstruct", "prim::ListUnpack", "prim::TupleConstruct", "prim::TupleUnpack",
    "prim::TupleIndex", "prim::DictConstruct", "prim::GetAttr",    "prim::unchecked_cast", "prim::isinstance",
    "prim::If",         "prim::Loop",          "prim::Param",      "prim::Uninitialized",  "prim::CreateObject",
};
constexpr std::string_view containers[] = {"prim::ListConstruct", "prim::DictConstruct", "prim::CreateObject"};

template <class List>
bool is_one_of(const Node& n, const List& names) {
  return std::find(std::begin(names), std::end(names), n.op) != std::end(names);
}

template <class Test>
bool any_within(const Node& n, Test test) {
  if (test(n)) return true;
  for (const auto& b : n.blocks)
    for (const Node* inner = b->first(); inner != b->end(); inner = inner->behind)
      if (any_within(*inner, test)) return true;
  return false;
}

}  // namespace

bool is_primitive(const Node& n) { return n.op.rfind("prim::", 0) == 0 && signatures_of(n.op).empty(); }

bool has_effect(const Node& n) {
  return any_within(n, [](const Node& each) {
    if (is_one_of(each, pure)) return false;
    if (is_primitive(each) || each.is("aten::wait")) return true;
    const Signature* s = signature_of(each);
    return !s || s->has_state || s->writes() || s->results.empty();
  });
}

bool writes(const Node& n) {
  return any_within(n, [](const Node& each) {
    if (is_one_of(each, pure)) return false;
    if (is_primitive(each) || each.is("aten::wait")) return !each.is("prim::Print") && !each.is("prim::RaiseException");
    const Signature* s = signature_of(each);
    return !s || s->writes() || s->results.empty();
  });
}

bool writes(const Block& b) {
  for (const Node* n = b.first(); n != b.end(); n = n->behind)
    if (writes(*n)) return true;
  return false;
}

bool may_alias(const Node& n) {
  if (is_primitive(n)) return true;
  const Signature* s = signature_of(n);
  return !s || std::any_of(s->results.begin(), s->results.end(), [](const auto& r) { return !r.alias.empty(); });
}

bool makes_new(const Node& n) {
  if (is_one_of(n, containers)) return true;
  if (is_primitive(n)) return false;
  const Signature* s = signature_of(n);
  if (!s || s->has_state) return true;
  return std::any_of(n.outputs.begin(), n.outputs.end(), [](const auto& v) {
    return v->type->kind == Kind::list || v->type->kind == Kind::dict || v->type->kind == Kind::object;
  });
}

bool may_escape(const Value& v) {
  constexpr size_t most_views = 64;  // of a value with more, each may escape
  std::vector<const Value*> views = {&v};
  for (size_t i = 0; i < views.size(); i++) {
    if (i == most_views) return true;
    for (const Use& u : views[i]->uses) {
      const Node& n = *u.user;
      if (&n == n.block->end() || !n.blocks.empty()) return true;
      if (!may_alias(n)) continue;
      if (is_primitive(n)) return true;
      for (const auto& out : n.outputs) views.push_back(out.get());
    }
  }
  return false;
}

bool is_unused(const Node& n) {
  return std::all_of(n.outputs.begin(), n.outputs.end(), [](const auto& v) { return v->uses.empty(); });
}

}  // namespace lamella::graph
