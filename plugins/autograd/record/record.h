// Recording: the layer's kernels, which make a node for a call. Start at `record` in record.cpp.
#pragma once

#include "derivatives/formula.h"
#include "graph/saved.h"

namespace lamella::autograd {

// The node of a call whose derivative is written in formulas: the rule, and the values that its formulas need.
struct FormulaNode : Node {
  const Rule* rule;
  uint8_t num_saved;
  SavedValue* saved() { return static_cast<SavedValue*>(room_behind(this)); }
};
extern const NodeKind formula_kind;  // in apply.cpp

// Owns a call's results until they have their history, so that an error releases them.
class Results {
 public:
  Results(lamella_value* rets, int n) : rets_(rets), n_(n) {}
  Results(const Results&) = delete;
  ~Results() {
    for (int i = 0; i < n_; i++) api().value_release(&rets_[i]);
  }
  void keep() { n_ = 0; }

 private:
  lamella_value* rets_;
  int n_;
};

// The layer's kernel for operators with a derivative; the frame's context is the operator's Derivative.
lamella_status record(lamella_frame* frame, const lamella_value* args, lamella_value* rets);
// The layer's kernel for all other operators: it records a node whose backward fails, because there is no derivative.
lamella_status record_unknown(lamella_frame* frame, const lamella_value* args, lamella_value* rets);

// In views.cpp: the layer's kernels for operators that change the first argument's own sizes and strides, and store no
// element. record_geometry() gives the tensor the history of a strided view of itself; refuse_geometry() raises if the
// tensor requires grad. record_window(), for as_strided_, also raises if the tensor is no view and would lose an
// element: views of it that were made before would lose that element's gradient.
lamella_status record_geometry(lamella_frame* frame, const lamella_value* args, lamella_value* rets);
lamella_status refuse_geometry(lamella_frame* frame, const lamella_value* args, lamella_value* rets);
lamella_status record_window(lamella_frame* frame, const lamella_value* args, lamella_value* rets);
// In views.cpp: makes the history of `view` anew, as a strided view of `base` with that base's current history.
lamella_status regenerate(lamella_tensor* view, lamella_tensor* base, const Variable& base_history);
// Called before a write: gives a view that was made without recording, of a base with a history, the history that
// recording would have given it.
lamella_status adopt(lamella_tensor* t);

// In custom.cpp: nodes made by hand, and nodes of derivatives given as functions, with their saved values.
lamella_status node_new(const lamella_node_type* type, void* context, lamella_tensor* const* inputs, int32_t num_inputs,
                        int32_t num_results, lamella_node** out);
Node* new_function_node(const Rule& r, int num_edges, int num_results);
lamella_status node_save(lamella_node* node, const lamella_value* v, int32_t result);
lamella_status node_saved(lamella_node* node, int32_t i, lamella_value* out);
int32_t node_num_saved(lamella_node* node);
void* node_context(lamella_node* node, const lamella_node_type* type);
const lamella_node_type* type_of_node(lamella_node* node);

}  // namespace lamella::autograd
