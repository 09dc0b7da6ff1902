// Recording: what the layer does with a call. Start at `record` in record.cpp.
#pragma once

#include "formula.h"
#include "saved.h"

namespace lattis::autograd {

// The usual node: a rule and what its formulas need.
struct FormulaNode : Node {
  const Rule* rule;
  uint8_t num_saved;
  SavedValue* saved() { return static_cast<SavedValue*>(room_behind(this)); }
};
extern const NodeKind formula_kind;  // in apply.cpp

// The layer's kernel for operators with a derivative; the frame's context is the Derivative.
lattis_status record(lattis_frame* frame, const lattis_value* args, lattis_value* rets);
// For all others: a node that says at backward that there is no derivative.
lattis_status record_unknown(lattis_frame* frame, const lattis_value* args, lattis_value* rets);

// In views.cpp: `view`, as a strided view of its base, from that base's present history.
lattis_status regenerate(lattis_tensor* view, lattis_tensor* base, const Variable& base_history);
// Before a write: a view that was made unrecorded, of a base with a history, gets that history after all.
lattis_status adopt(lattis_tensor* t);

// In custom.cpp: nodes made by hand, and what derivatives that are functions save.
lattis_status node_new(const lattis_node_type* type, void* context, lattis_tensor* const* inputs, int32_t num_inputs,
                       int32_t num_results, lattis_node** out);
Node* new_function_node(const Rule& r, int num_edges, int num_results);
lattis_status node_save(lattis_node* node, const lattis_value* v, int32_t result);
lattis_status node_saved(lattis_node* node, int32_t i, lattis_value* out);
int32_t node_num_saved(lattis_node* node);
bool is_by_hand(const Node* n);
void* node_context(lattis_node* node, const lattis_node_type* type);

}  // namespace lattis::autograd
