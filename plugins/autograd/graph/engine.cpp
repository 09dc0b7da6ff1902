// run_backward(), which runs a Walk over the graph (see the notes in walk.h), and functions for code that a backward
// calls on its thread, such as hooks: running_node(), queue_callback() and edge_needed().
#include "graph/walk.h"

namespace lamella::autograd {

char* (*anomaly_trace)(void) = nullptr;
bool check_nan = false;

namespace {

thread_local Walk* current = nullptr;

struct Current {
  Walk* before;
  explicit Current(Walk* w) : before(std::exchange(current, w)) {}
  ~Current() { current = before; }
};

// Returns the gradient that backward starts with at a root: the given one, in the root's dtype, or 1 if none was given.
lamella_status root_gradient(const Operators& ops, lamella_tensor* root, lamella_tensor* given, int i,
                             lamella_tensor** out) {
  const std::string which = "backward: argument 'grad_tensors', element " + std::to_string(i) + ": it has ";
  if (given) {
    if (!same_shape(given, root))
      return fail(LAMELLA_RUNTIME_ERROR,
                  which + "another shape than the tensor: expected " + shape_text(root) + ", got " + shape_text(given));
    if (given->device_key != root->device_key)
      return fail(LAMELLA_RUNTIME_ERROR, which + "another device than the tensor: expected " +
                                             device_text(device_of(root)) + ", got " + device_text(device_of(given)));
    if (is_complex(given) != is_complex(root) || !is_differentiable(given))
      return fail(LAMELLA_RUNTIME_ERROR, which +
                                             (!is_differentiable(given) ? "a dtype that is neither floating nor complex"
                                              : is_complex(given)       ? "a complex dtype, and the tensor a real one"
                                                                  : "a real dtype, and the tensor a complex one") +
                                             ": got " + dtype_text(given->dtype));
    if (given->dtype != root->dtype) return ops.cast(given, root->dtype, out);
    api().retain(*out = given);
    return LAMELLA_OK;
  }
  if (root->numel != 1 || is_complex(root))
    return fail(LAMELLA_RUNTIME_ERROR,
                "backward: grad can be implicitly created only for real scalar outputs; output " + std::to_string(i) +
                    " has " + std::to_string(root->numel) + (is_complex(root) ? " complex" : "") +
                    " elements: pass its gradient");
  return ops.ones_like(root, out);
}

// Owns a list of tensors; releases them at the end of the scope.
struct Owned : std::vector<lamella_tensor*> {
  using vector::vector;
  ~Owned() {
    for (lamella_tensor* t : *this)
      if (t) api().release(t);
  }
};

// Gives a gradient the states that the slots of its input carry, such as names. If anything else has the same tensor,
// such as the caller or another input, another tensor over its memory takes its place: an alias if it has a history.
lamella_status carry_to(const Operators& ops, lamella_tensor* input, lamella_tensor*& gradient) {
  if (!gradient || !(input->keys & ~gradient->keys & ~layer_bit)) return LAMELLA_OK;
  if (__atomic_load_n(&gradient->object.refcount, __ATOMIC_ACQUIRE) != 1) {
    lamella_tensor* own;
    if (lamella_status st =
            gradient->keys & layer_bit ? ops.alias(gradient, &own) : api().tensor_detach(gradient, layer_bit, &own))
      return st;
    api().release(std::exchange(gradient, own));
  }
  return api().tensor_carry(input, gradient, LAMELLA_CARRY_GRADIENT);
}

}  // namespace

uint64_t layers_off_now() { return current ? current->layers_off : 0; }

Node* running_node() { return current ? current->running : nullptr; }

lamella_status queue_callback(lamella_status (*run)(void*), void* context, void (*destroy)(void*)) {
  if (!run) return fail(LAMELLA_VALUE_ERROR, "queue_callback: argument 'run' must not be null");
  if (!current) return fail(LAMELLA_RUNTIME_ERROR, "queue_callback: no backward runs on this thread");
  current->callbacks.push_back({run, context, destroy});
  return LAMELLA_OK;
}

bool edge_needed(const Node* n, int edge) { return current ? current->needs(n, edge) : n->edges[edge].node != nullptr; }

lamella_status run_backward(lamella_tensor* const* roots, lamella_tensor* const* grads, int num_roots,
                            lamella_tensor* const* inputs, int num_inputs, lamella_tensor** outs, uint32_t flags) {
  Owned captured(num_inputs), starts(num_roots);
  if (flags & ~uint32_t{LAMELLA_BACKWARD_RETAIN_GRAPH | LAMELLA_BACKWARD_CREATE_GRAPH | LAMELLA_BACKWARD_ACCUMULATE})
    return fail(LAMELLA_VALUE_ERROR,
                "backward: the flags " + std::to_string(flags) + " have a bit that is unknown here");
  Walk w;
  w.retain_graph = flags & LAMELLA_BACKWARD_RETAIN_GRAPH;
  w.create_graph = flags & LAMELLA_BACKWARD_CREATE_GRAPH;
  w.selective = num_inputs > 0;
  GradMode mode(w.create_graph);
  w.layers_off = __atomic_load_n(api().layers_not_in_backward(), __ATOMIC_RELAXED) & ~api().thread()->exclude;
  if (running_node()) w.layers_off |= layers_off_now();  // this walk was started by a node of another one
  const LayersSwitched off(w.layers_off, false);
  Current now(&w);
  for (int i = 0; i < num_roots; i++) {
    Edge e{};
    if (lamella_status st = gradient_edge(roots[i], &e)) return st;
    if (!e.node)
      return fail(LAMELLA_RUNTIME_ERROR, "backward: element " + std::to_string(i) +
                                             " of tensors does not require grad and does not have a grad_fn");
    w.roots.push_back(e);
    if (lamella_status st = root_gradient(w.ops, roots[i], grads ? grads[i] : nullptr, i, &starts[i])) return st;
  }
  for (int i = 0; i < num_inputs; i++) {
    Edge e{};
    if (lamella_status st = gradient_edge(inputs[i], &e)) return st;
    if (!e.node)
      return fail(LAMELLA_RUNTIME_ERROR, "backward: element " + std::to_string(i) + " of inputs does not require grad");
    w.targets.push_back(e);
    w.captures.insert({e.node, {e.output, &captured[i]}});
  }
  const Event told(LAMELLA_EVENT_BACKWARD, nullptr);
  w.discover();
  if (w.selective) w.select();
  for (int i = 0; i < num_roots; i++)
    if (lamella_status st = w.deliver(w.roots[i], std::exchange(starts[i], nullptr))) return st;
  if (lamella_status st = w.walk()) return st;
  const bool accumulates = flags & LAMELLA_BACKWARD_ACCUMULATE;
  for (int i = 0; accumulates && i < num_inputs; i++) {
    if (!captured[i] || std::find(inputs, inputs + i, inputs[i]) != inputs + i) continue;
    Variable& v = variable_for(inputs[i]);
    if (v.retains_grad) continue;  // keep_retained() has added to v.grad already
    if (lamella_status st = accumulate(w, v, std::exchange(captured[i], nullptr))) return st;
    if (v.leaf)
      if (lamella_status st = w.run_hooks(w.targets[i].node, LAMELLA_HOOK_ACCUMULATED, nullptr, 0, nullptr, 0))
        return st;
  }
  if (lamella_status st = w.run_callbacks()) return st;
  for (int i = 0; !accumulates && i < num_inputs; i++)
    if (lamella_status st = carry_to(w.ops, inputs[i], captured[i])) return st;
  for (int i = 0; !accumulates && i < num_inputs; i++) outs[i] = std::exchange(captured[i], nullptr);
  return LAMELLA_OK;
}

}  // namespace lamella::autograd
