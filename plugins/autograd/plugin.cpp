// The plugin's entry: the layer, its slot on tensors, their attributes, and the interface. The files of derivatives/
// add derivatives in blocks of their own, which run after this one.
#include <lamella/closed.h>

#include <cstring>
#include <memory>

#include "graph/accumulate.h"
#include "derivatives/formula.h"
#include "graph/given.h"
#include "graph/hooks.h"
#include "record/record.h"

namespace lamella::autograd {

namespace {

Node* node_of(lamella_node* n) { return reinterpret_cast<Node*>(n); }
lamella_node* handle_of(Node* n) { return reinterpret_cast<lamella_node*>(n); }

// ---- tensors -------------------------------------------------------------------------------------------------------

int32_t requires_grad(lamella_tensor* t) {
  Variable* v = nullptr;
  if (refreshed(t, &v)) api().error_clear();
  return v && v->requires_grad;
}

int32_t is_leaf(lamella_tensor* t) {
  Variable* v = nullptr;
  if (refreshed(t, &v)) api().error_clear();
  return !v || v->leaf;
}

lamella_status set_requires_grad(lamella_tensor* t, int32_t on) {
  if (on && !is_differentiable(t))
    return fail(LAMELLA_RUNTIME_ERROR,
                "requires_grad: only Tensors of floating point and complex dtype can require gradients, got " +
                    dtype_text(t->dtype));
  Variable* v = nullptr;
  if (lamella_status st = refreshed(t, &v)) return st;
  if (v && !v->leaf) {
    if (on) return LAMELLA_OK;
    return fail(
        LAMELLA_RUNTIME_ERROR,
        "requires_grad: you can only change requires_grad flags of leaf variables; use detach() for a tensor that "
        "does not require it");
  }
  if (!v && !on) return LAMELLA_OK;
  variable_for(t).requires_grad = on;
  return api().tensor_update_keys(t, on ? layer_bit : 0, on ? 0 : layer_bit);
}

lamella_status grad(lamella_tensor* t, lamella_tensor** out) {
  *out = nullptr;
  Variable* v = variable(t);
  return v ? read_grad(t, *v, out) : LAMELLA_OK;
}

lamella_tensor* tangent(lamella_tensor* t) {
  Variable* v = variable(t);
  if (v && v->tangent) api().retain(v->tangent);
  return v ? v->tangent : nullptr;
}

lamella_status set_tangent(lamella_tensor* t, lamella_tensor* to) {
  if (!to && !variable(t)) return LAMELLA_OK;
  if (to && (!is_differentiable(t) || to->dtype != t->dtype || to->device_key != t->device_key ||
             !std::equal(t->dl.shape, t->dl.shape + t->dl.ndim, to->dl.shape, to->dl.shape + to->dl.ndim)))
    return fail(
        LAMELLA_RUNTIME_ERROR,
        "set_tangent: argument 'tangent' must be a floating or complex tensor with the sizes, the dtype and the "
        "device of the tensor that it belongs to; reshape it, or move it with to()");
  Variable& v = variable_for(t);
  if (to) api().retain(to);
  if (lamella_tensor* before = std::exchange(v.tangent, to)) api().release(before);
  const bool used = to || v.requires_grad;
  return api().tensor_update_keys(t, used ? layer_bit : 0, used ? 0 : layer_bit);
}

lamella_status assign_grad(lamella_tensor* t, lamella_tensor* g) {
  if (!g) {
    if (Variable* v = variable(t)) set_grad(*v, nullptr);
    return LAMELLA_OK;
  }
  const auto wrong = [](const std::string& what, const std::string& got) {
    return fail(LAMELLA_RUNTIME_ERROR, "grad: the assigned grad must have the tensor's " + what + ", got " + got);
  };
  if (g == t) return fail(LAMELLA_RUNTIME_ERROR, "grad: a tensor cannot be its own grad");
  if (!same_shape(g, t)) return wrong("shape " + shape_text(t), shape_text(g));
  if (g->dtype != t->dtype) return wrong("dtype " + dtype_text(t->dtype), dtype_text(g->dtype));
  if (g->device_key != t->device_key) return wrong("device " + device_text(device_of(t)), device_text(device_of(g)));
  api().retain(g);
  set_grad(variable_for(t), g);
  return LAMELLA_OK;
}

int32_t retains_grad(lamella_tensor* t) {
  const Variable* v = variable(t);
  return v && !v->leaf && v->retains_grad;
}

lamella_status retain_grad(lamella_tensor* t) {
  Variable* v = nullptr;
  if (lamella_status st = refreshed(t, &v)) return st;
  if (!v || !v->requires_grad)
    return fail(LAMELLA_RUNTIME_ERROR, "retain_grad: can't retain_grad on Tensor that has requires_grad=False");
  if (!v->leaf && !v->retains_grad) retain_grad(*v);
  return LAMELLA_OK;
}

lamella_status detach_in_place(lamella_tensor* t) {
  if (api().tensor_base(t))
    return fail(LAMELLA_RUNTIME_ERROR, "detach_: can't detach views in-place; use detach() instead");
  const Variable* v = variable(t);
  if (v && v->leaf) return set_requires_grad(t, 0);
  if (lamella_status st = api().slot_set(t, slot, nullptr)) return st;
  return api().tensor_update_keys(t, 0, layer_bit);
}

lamella_status grad_fn(lamella_tensor* t, lamella_node** out, uint32_t* output) {
  Variable* v = nullptr;
  *out = nullptr;
  if (lamella_status st = refreshed(t, &v)) return st;
  if (!v || v->leaf) return LAMELLA_OK;
  retain(v->node);
  *out = handle_of(v->node);
  if (output) *output = v->output;
  return LAMELLA_OK;
}

lamella_status edge(lamella_tensor* t, lamella_node** out, uint32_t* output) {
  Edge e{};
  if (lamella_status st = gradient_edge(t, &e)) return st;
  *out = handle_of(e.node);
  if (output) *output = e.output;
  return LAMELLA_OK;
}

lamella_status history(lamella_tensor* t, lamella_node* n, uint32_t output) {
  if (!is_differentiable(t))
    return fail(LAMELLA_RUNTIME_ERROR,
                "set_history: a tensor of integers or bools has no gradient, got " + dtype_text(t->dtype));
  retain(node_of(n));
  node_of(n)->gives_view |= api().tensor_base(t) != nullptr;
  set_history(t, node_of(n), output);
  return LAMELLA_OK;
}

lamella_status written_history(lamella_tensor* t, lamella_node* n, uint32_t output) {
  const std::string name = node_of(n)->kind->name(node_of(n));
  if (lamella_status st = check_writable(name.c_str(), t)) return st;
  if (api().tensor_base(t) && node_of(n)->num_results > 1)
    return fail(LAMELLA_RUNTIME_ERROR,
                name +
                    ": it wrote a view in place and has several results, which is not supported; write to a "
                    "clone(), or return one result");
  retain(node_of(n));
  return set_written(t, node_of(n), output, -1, api().tensor_version(t));
}

// ---- nodes ------------------------------------------------------------------------------------------------------

void node_retain(lamella_node* n) { retain(node_of(n)); }
void node_release(lamella_node* n) { release(node_of(n)); }
const char* node_name_of(lamella_node* n) try {
  static thread_local std::string name;
  return (name = node_of(n)->kind->name(node_of(n))).c_str();
} catch (const std::bad_alloc&) {
  return "a node";  // the name could not be allocated
}
uint64_t node_sequence(lamella_node* n) { return node_of(n)->sequence; }
int32_t node_results(lamella_node* n) { return node_of(n)->num_results; }
int32_t node_edges(lamella_node* n) { return node_of(n)->num_edges; }
lamella_node* node_edge(lamella_node* n, int32_t i, uint32_t* output) {
  if (i < 0 || i >= node_of(n)->num_edges) return nullptr;
  if (output) *output = node_of(n)->edges[i].output;
  return handle_of(node_of(n)->edges[i].node);
}
int32_t node_needs(lamella_node* n, int32_t i) {
  return i >= 0 && i < node_of(n)->num_edges && edge_needed(node_of(n), i);
}
void** node_host(lamella_node* n) try { return &extra_of(node_of(n)).host; } catch (const std::bad_alloc&) {
  return nullptr;
}
lamella_status node_metadata(lamella_node* n, void* object, void (*destroy)(void*)) {
  Extra& e = extra_of(node_of(n));
  if (e.metadata) e.destroy_metadata(e.metadata);
  e.metadata = object;
  e.destroy_metadata = destroy;
  return LAMELLA_OK;
}
void* node_metadata_of(lamella_node* n) { return node_of(n)->extra ? node_of(n)->extra->metadata : nullptr; }

lamella_status check_result(const char* who, lamella_node* n, int64_t i) {
  if (i >= 0 && i < node_of(n)->num_results) return LAMELLA_OK;
  return fail(LAMELLA_INDEX_ERROR, std::string(who) + ": the node has no result " + std::to_string(i) + "; it has " +
                                       std::to_string(node_of(n)->num_results));
}
lamella_status describe_result(lamella_node* n, uint32_t i, const lamella_tensor* t) {
  if (lamella_status st = check_result("describe_result", n, i)) return st;
  if (!node_of(n)->results[i].described()) node_of(n)->results[i].describe(t);
  return LAMELLA_OK;
}
lamella_status zeros(lamella_node* n, int32_t i, lamella_tensor** out) {
  *out = nullptr;
  if (lamella_status st = check_result("zeros", n, i)) return st;
  const Result& r = node_of(n)->results[i];
  return r.described() ? operators().zeros(r, out) : LAMELLA_OK;
}

lamella_status hook_add(lamella_node* n, uint32_t output, const lamella_hook* hook, uint64_t* id) {
  lamella_hook own;
  std::string wrong = copy_given(*hook, &own);
  if (wrong.empty() && (own.kind < LAMELLA_HOOK_TENSOR || own.kind > LAMELLA_HOOK_ACCUMULATED))
    wrong = "there is no kind " + std::to_string(own.kind) + " of hooks";
  if (wrong.empty() && !own.run) wrong = "argument 'hook' has no function `run`";
  return wrong.empty() ? add_hook(node_of(n), output, own, id) : fail(LAMELLA_VALUE_ERROR, "hook_add: " + wrong);
}

void set_anomaly(char* (*trace)(void), int32_t nan) {
  anomaly_trace = trace;
  check_nan = trace && nan;
}

lamella_node* current_node() { return handle_of(running_node()); }

// ---- the table -----------------------------------------------------------------------------------------------------

lamella_autograd table = {sizeof table,
                          -1,
                          requires_grad,
                          is_leaf,
                          closed<set_requires_grad>,
                          closed<grad>,
                          closed<assign_grad>,
                          closed<retain_grad>,
                          retains_grad,
                          closed<detach_in_place>,
                          closed<grad_fn>,
                          closed<edge>,
                          closed<history>,
                          closed<written_history>,
                          node_retain,
                          node_release,
                          node_name_of,
                          node_sequence,
                          node_results,
                          node_edges,
                          node_edge,
                          closed<node_new>,
                          node_needs,
                          node_context,
                          node_host,
                          closed<node_metadata>,
                          node_metadata_of,
                          closed<node_save>,
                          node_num_saved,
                          closed<node_saved>,
                          closed<zeros>,
                          closed<hook_add>,
                          remove_hook,
                          closed<run_backward>,
                          closed<push_saved_hooks>,
                          pop_saved_hooks,
                          set_anomaly,
                          current_node,
                          closed<queue_callback>,
                          tangent,
                          closed<set_tangent>,
                          closed<describe_result>,
                          type_of_node};

// The interface "autograd.saved_hooks": while this thread's hooks are suspended, saved tensors are kept as they are.
// suspend(on) returns whether hooks were at work before.
struct SavedHooks {
  int32_t (*suspend)(int32_t on);
};
const SavedHooks saved_hooks = {suspend_saved_hooks};

// The interface "autograd.reader". The Python face sets the function, which is called where `grad` is read of a tensor
// that gets none, since it is no leaf and does not retain its gradient; an error that it returns is that of the reading.
struct Reader {
  lamella_status (*fruitless)();
};
Reader reader = {nullptr};

// ---- attributes ----------------------------------------------------------------------------------------------------

lamella_status get_requires_grad(lamella_frame*, void*, lamella_tensor* t, lamella_value* out) {
  *out = value(requires_grad(t) != 0);
  return LAMELLA_OK;
}
lamella_status set_requires_grad_to(lamella_frame*, void*, lamella_tensor* t, const lamella_value* v) {
  if (v->tag != LAMELLA_BOOLEAN) return fail(LAMELLA_TYPE_ERROR, "requires_grad: must be a bool");
  return set_requires_grad(t, v->as.i != 0);
}
lamella_status apply_requires_grad(const lamella_operator*, void* context, lamella_tensor** t, const lamella_value* v) {
  return v->tag == LAMELLA_NONE ? LAMELLA_OK : set_requires_grad_to(nullptr, context, *t, v);
}
lamella_status get_grad(lamella_frame*, void*, lamella_tensor* t, lamella_value* out) {
  lamella_tensor* g = nullptr;
  const lamella_status st = grad(t, &g);
  *out = g ? value(g) : none();
  if (g || st) return st;
  const Variable* v = variable(t);
  return v && !v->leaf && !v->retains_grad && reader.fruitless ? reader.fruitless() : LAMELLA_OK;
}
lamella_status set_grad_to(lamella_frame*, void*, lamella_tensor* t, const lamella_value* v) {
  if (v->tag != LAMELLA_TENSOR && v->tag != LAMELLA_NONE)
    return fail(LAMELLA_TYPE_ERROR, "grad: must be a Tensor or None");
  return assign_grad(t, v->tag == LAMELLA_TENSOR ? v->as.tensor : nullptr);
}
lamella_status get_is_leaf(lamella_frame*, void*, lamella_tensor* t, lamella_value* out) {
  *out = value(is_leaf(t) != 0);
  return LAMELLA_OK;
}
lamella_status get_retains_grad(lamella_frame*, void*, lamella_tensor* t, lamella_value* out) {
  *out = value(retains_grad(t) != 0);
  return LAMELLA_OK;
}

}  // namespace
}  // namespace lamella::autograd

LAMELLA_LIBRARY(autograd, m) {
  using namespace lamella::autograd;
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = layer.at = "autograd";
  layer.flags = LAMELLA_LAYER_DECOMPOSE | LAMELLA_LAYER_FOLLOWS_ALIAS;
  layer.fallback = record_unknown;
  layer.rule = record;
  layer.prepare = prepare;
  m.layer(layer, &table.layer);
  if (m.status()) return;
  layer_bit = uint64_t{1} << table.layer;
  static const lamella_slot_type type = {sizeof type,    0,       "autograd", destroy_variable, traverse_variable,
                                         clear_variable, nullptr, nullptr,    nullptr};
  m.tensor_slot(type, &slot);
  if (m.status() || register_hooks_slot(m.handle())) return;
  m.attribute("requires_grad", get_requires_grad, set_requires_grad_to);
  m.attribute("grad", get_grad, set_grad_to);
  m.attribute("is_leaf", get_is_leaf);
  m.attribute("retains_grad", get_retains_grad);
  m.keyword("requires_grad", apply_requires_grad, "autograd");
  m.impl("aten::detach", "autograd", nullptr);        // falls through: its result has no history
  m.impl("aten::_materialize", "autograd", nullptr);  // falls through: an exported value has no history
  m.impl("aten::set_data", "autograd", nullptr);      // falls through: the tensor keeps its history
  for (const char* op : {"aten::t_", "aten::transpose_", "aten::swapaxes_", "aten::squeeze_", "aten::squeeze_.dim",
                         "aten::squeeze_.dims", "aten::unsqueeze_"})
    m.impl(op, "autograd", record_geometry);
  m.impl("aten::as_strided_", "autograd", record_window);
  for (const char* op :
       {"aten::resize_", "aten::resize_as_", "aten::set_.source_Tensor", "aten::set_.source_Tensor_storage_offset"})
    m.impl(op, "autograd", refuse_geometry);
  m.interface("autograd", 1, &table);
  m.interface("autograd.reader", 1, &reader);
  m.interface("autograd.saved_hooks", 1, &saved_hooks);
}
