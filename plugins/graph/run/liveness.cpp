// The last uses of values, block by block.
#include "run/liveness.h"

#include <algorithm>

#include "signatures/signature.h"

namespace lamella::graph {
namespace {

// Returns the node of block b that is the node, or has it in its blocks.
const Node* ancestor_in(const Node* n, const Block& b) {
  while (n->block != &b) n = n->block->owner();
  return n;
}

}  // namespace

bool holds_memory(const Type& t) {
  switch (t.kind) {
    case Kind::integer:
    case Kind::floating:
    case Kind::boolean:
    case Kind::none:
    case Kind::device:
    case Kind::dtype:
    case Kind::layout:
    case Kind::memory_format:
      return false;
    case Kind::optional:
      return holds_memory(*t.inner[0]);
    default:
      return true;
  }
}

Liveness::Liveness(const Graph& g) {
  number(g.top());
  plan(g.top(), {});
}

void Liveness::number(const Block& b) {
  int64_t i = 0;
  order_[b.begin_node()] = i++;
  for (const Node* n = b.first(); n != b.end(); n = n->behind) {
    order_[n] = i++;
    for (const auto& inner : n->blocks) number(*inner);
    // A list with one use, as an argument of a registered operator in the same block, is put together by the call.
    if (!n->is("prim::ListConstruct") || n->outputs[0]->uses.size() != 1) continue;
    const Node* user = n->outputs[0]->uses[0].user;
    if (user->block != &b || !user->blocks.empty()) continue;
    const Signature* s = signature_of(*user);
    if (s && s->op) lists_[n] = user;
  }
  order_[b.end()] = i;
}

const Node* Liveness::list_of_call(const Node& n) const {
  const auto found = lists_.find(&n);
  return found == lists_.end() ? nullptr : found->second;
}

const Node* Liveness::last_user(const Value& v, const Block& b) const {
  const Node* last = nullptr;
  for (const Use& u : v.uses) {
    const Node* user = list_of_call(*u.user) ? list_of_call(*u.user) : u.user;
    user = ancestor_in(user, b);
    if (!last || order_.at(user) > order_.at(last)) last = user;
  }
  return last;
}

void Liveness::plan(const Block& b, const std::vector<const Value*>& from_outside) {
  std::unordered_map<const Node*, std::vector<const Value*>> into;  // values that die within the branches of an If
  const auto live = [&](const Value* v, const Node* user, const Node* definition) {
    if (!user) {
      if (definition)
        behind_[definition].push_back(v);
      else
        at_begin_[&b].push_back(v);
      return;
    }
    const bool is_input = std::find(user->inputs.begin(), user->inputs.end(), v) != user->inputs.end();
    if (user->is("prim::If")) {
      into[user].push_back(v);
    } else if (user->is("prim::Loop")) {
      const bool inside =
          std::any_of(v->uses.begin(), v->uses.end(), [&](const Use& u) { return u.user->block != &b; });
      // The loop reads the number of trips and the condition behind the moves of the carried values.
      const bool read_later = user->inputs[0] == v || user->inputs[1] == v;
      if (!inside && !read_later)
        dying_[user].insert(v);
      else
        behind_[user].push_back(v);
    } else if (is_input || user == b.end() || user->blocks.empty()) {
      dying_[user].insert(v);
    } else {
      behind_[user].push_back(v);
    }
  };
  for (const auto& p : b.parameters()) live(p.get(), last_user(*p, b), nullptr);
  for (const Value* v : from_outside) {
    const Node* user = nullptr;
    for (const Use& u : v->uses) {  // those in this block
      const Node* n = list_of_call(*u.user) ? list_of_call(*u.user) : u.user;
      while (n && n->block != &b) n = n->block->owner();
      if (n && (!user || order_.at(n) > order_.at(user))) user = n;
    }
    live(v, user, nullptr);
  }
  for (const Node* n = b.first(); n != b.end(); n = n->behind) {
    if (list_of_call(*n)) continue;
    for (const auto& v : n->outputs) live(v.get(), last_user(*v, b), n);
  }
  for (const Node* n = b.first(); n != b.end(); n = n->behind) {
    const auto given = into.find(n);
    for (const auto& inner : n->blocks) plan(*inner, given == into.end() ? std::vector<const Value*>() : given->second);
  }
}

bool Liveness::dies_at(const Value& v, const Node& n) const {
  const auto found = dying_.find(&n);
  return found != dying_.end() && found->second.count(&v);
}

}  // namespace lamella::graph
