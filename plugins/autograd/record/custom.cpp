// CustomNode: a node whose backward is a function of another library, for a derivative given as functions or a node
// made by hand.
#include <cstring>

#include "graph/given.h"
#include "record/record.h"

namespace lamella::autograd {
namespace {

struct CustomNode : Node {
  std::vector<SavedValue> saved;
  const Rule* rule = nullptr;  // of an operator's derivative; null in a node made by hand
  lamella_node_type type{};    // of a node made by hand
  std::string name;            // of a node made by hand; type.name is null
  const lamella_node_type* identity = nullptr;
  void* context = nullptr;
};

CustomNode* cast(Node* n) { return static_cast<CustomNode*>(n); }

lamella_status apply(Node* node, Run&, lamella_tensor** grads, lamella_tensor** outs) {
  CustomNode* n = cast(node);
  auto* handle = reinterpret_cast<lamella_node*>(node);
  if (n->rule) return n->rule->functions->backward(n->rule->functions->context, handle, grads, outs);
  return n->type.backward(n->context, handle, grads, outs);
}

void release_saved(Node* node) {
  CustomNode* n = cast(node);
  std::vector<SavedValue> own;
  {
    Guard guard(n);
    n->released |= !n->saved.empty();  // a node that saved nothing may run again
    own.swap(n->saved);
  }
  for (SavedValue& s : own) s.drop();
  if (n->type.release) n->type.release(n->context);
}

void destroy(Node* node) {
  CustomNode* n = cast(node);
  for (SavedValue& s : n->saved) s.drop();
  if (n->type.destroy) n->type.destroy(n->context);
  n->saved.~vector();
  n->name.~basic_string();
}

std::string name(const Node* node) {
  const auto* n = static_cast<const CustomNode*>(node);
  return n->rule ? n->rule->name : n->name;
}

int traverse(Node* node, lamella_visit visit, void* visitor) {
  CustomNode* n = cast(node);
  return n->type.traverse ? n->type.traverse(n->context, visit, visitor) : 0;
}

const NodeKind custom_kind = {apply, release_saved, destroy, name, traverse};

}  // namespace

Node* new_function_node(const Rule& r, int num_edges, int num_results) {
  auto* n = new_node<CustomNode>(&custom_kind, num_edges, num_results);
  n->rule = &r;
  return n;
}

lamella_status node_new(const lamella_node_type* type, void* context, lamella_tensor* const* inputs, int32_t num_inputs,
                        int32_t num_results, lamella_node** out) {
  lamella_node_type own;
  std::string wrong = copy_given(*type, &own);
  if (wrong.empty() && own.reserved) wrong = "'reserved' must be zero";
  if (wrong.empty() && (!own.name || !own.backward)) wrong = "argument 'type' has no name, or no function `backward`";
  if (!wrong.empty()) return fail(LAMELLA_VALUE_ERROR, "node_new: " + wrong);
  std::string name = own.name;
  own.name = nullptr;
  auto* n = new_node<CustomNode>(&custom_kind, num_inputs, num_results);
  n->type = own;
  n->name = std::move(name);
  n->identity = type;
  n->context = context;
  if (own.traverse) hold_host(n);
  for (int i = 0; i < num_inputs; i++) {
    if (!inputs[i] || !is_differentiable(inputs[i])) continue;
    if (lamella_status st = gradient_edge(inputs[i], &n->edges[i])) {
      n->type = {};  // if node_new() fails, the caller keeps the context
      release(n);
      return st;
    }
    if (n->edges[i].node && holds_host(n->edges[i].node)) hold_host(n);
  }
  if (anomaly_trace)
    if (char* text = anomaly_trace()) {
      extra_of(n).trace = text;
      std::free(text);
    }
  *out = reinterpret_cast<lamella_node*>(static_cast<Node*>(n));
  return LAMELLA_OK;
}

bool is_by_hand(const Node* n) { return n->kind == &custom_kind && static_cast<const CustomNode*>(n)->identity; }

void* node_context(lamella_node* node, const lamella_node_type* type) {
  auto* n = reinterpret_cast<Node*>(node);
  return is_by_hand(n) && (cast(n)->identity == type || &cast(n)->type == type) ? cast(n)->context : nullptr;
}

const lamella_node_type* type_of_node(lamella_node* node) {
  auto* n = reinterpret_cast<Node*>(node);
  return is_by_hand(n) ? &cast(n)->type : nullptr;
}

lamella_status node_save(lamella_node* node, const lamella_value* v, int32_t result) {
  CustomNode* n = cast(reinterpret_cast<Node*>(node));
  if (n->kind != &custom_kind)
    return fail(LAMELLA_TYPE_ERROR,
                "node_save: " + n->kind->name(n) + " was not made by node_new(); it saves what its formulas read");
  n->saved.emplace_back();
  SavedValue& to = n->saved.back();
  lamella_status st = to.keep(*v, result);
  if (st) {
    to.drop();
    n->saved.pop_back();
  }
  return st;
}

int32_t node_num_saved(lamella_node* node) {
  auto* n = reinterpret_cast<Node*>(node);
  return n->kind == &custom_kind ? static_cast<int32_t>(cast(n)->saved.size()) : 0;
}

lamella_status node_saved(lamella_node* node, int32_t i, lamella_value* out) {
  CustomNode* n = cast(reinterpret_cast<Node*>(node));
  *out = none();
  SavedValue own;
  {
    Guard guard(n);
    if (n->kind != &custom_kind || i < 0 || (i >= static_cast<int32_t>(n->saved.size()) && !n->released))
      return fail(LAMELLA_INDEX_ERROR, "saved: there is no saved value " + std::to_string(i) + "; the node has " +
                                           std::to_string(node_num_saved(node)));
    if (n->released) return used_twice(n);
    if (lamella_status st = n->saved[i].copy(&own)) return st;
  }
  lamella_status st = own.unpack(n, grad_mode(), out);
  own.drop();
  return st;
}

}  // namespace lamella::autograd
