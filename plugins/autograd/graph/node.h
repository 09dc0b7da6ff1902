// Node, one step of the graph that backward walks, and Variable, the autograd state in a tensor's slot.
//
// Note [Who owns whom]  A tensor's Variable owns the node that made it (grad_fn). A node owns its saved values and the
//   nodes that its edges lead to. A leaf's Variable owns the node that accumulates into the leaf; that node has a weak
//   pointer to the Variable, because edges to the node may outlive the leaf. A node contains the Variable of its first
//   result (`first`), so that recording a call allocates once.
// Note [Freeing]  A graph may be a million nodes deep, so nodes are not destroyed recursively. A node that is released
//   while another is being destroyed is put into a list of the thread, which the outermost release empties.
// Note [Cycles]  The host language's garbage collector must see the host objects that a tensor alone keeps alive: the
//   hooks and host objects of its node, and of a chain of further nodes, each owned by the preceding node alone. A node
//   with another owner counts as in use. If a node leads to several nodes with host objects, the chain follows the last
//   one; see traverse_variable().
#pragma once

#include <lamella/autograd.h>
#include <lamella/library.h>
#include <lamella/scalar_type.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace lamella::autograd {

using Tensor = TensorRef;

extern int32_t slot;        // index of the Variable's slot on a tensor
extern uint64_t layer_bit;  // the layer's bit in a tensor's keys

struct Node;
struct Run;
struct Extra;

// The gradient of result `output` of `node` flows along an Edge. The holder of an Edge owns a reference to the node.
struct Edge {
  Node* node;
  uint32_t output;
};

struct Variable {
  Node* node = nullptr;  // owned: grad_fn; for a leaf the node that accumulates, made at first use
  uint32_t output = 0;
  bool requires_grad = false, leaf = true, retains_grad = false, embedded = false;
  bool fresh_grad = false;            // backward made `grad`, and the tensor's slots have not carried to it yet
  lamella_tensor* grad = nullptr;     // owned
  lamella_tensor* tangent = nullptr;  // of forward mode; owned
  // The storage's version when this history was made; a view with a lower version than its base is stale.
  uint64_t version = 0;
};

// One result of a recorded call: the shape and dtype of its gradient, and that gradient while backward collects it.
struct Result {
  static constexpr int inline_dims = 5;
  lamella_device device{-1, 0};
  uint8_t dtype = LAMELLA_NO_DTYPE;  // LAMELLA_NO_DTYPE: this result has no gradient
  uint8_t ndim = 0;
  int64_t inline_sizes[inline_dims];
  int64_t* more_sizes = nullptr;
  lamella_tensor* pending = nullptr;

  const int64_t* sizes() const { return more_sizes ? more_sizes : inline_sizes; }
  bool described() const { return dtype != LAMELLA_NO_DTYPE; }
  bool has_shape_of(const lamella_tensor* t) const {
    if (t->dl.ndim != ndim) return false;
    for (int i = 0; i < ndim; i++)
      if (t->dl.shape[i] != sizes()[i]) return false;
    return true;
  }
  void describe(const lamella_tensor* t);
};

struct NodeKind {
  // Computes the gradients: in `outs` one owned tensor, or null, for each edge. An element of `grads` is null where
  // backward has no gradient; `apply` may take elements over, and sets these to null.
  lamella_status (*apply)(Node* n, Run& run, lamella_tensor** grads, lamella_tensor** outs);
  void (*release_saved)(Node* n);  // after backward without retain_graph
  void (*destroy)(Node* n);        // destroys the kind's own members; the caller destroys the rest
  std::string (*name)(const Node* n);
  int (*traverse)(Node* n, lamella_visit visit, void* visitor);  // nullable
};

struct Node {
  int64_t refcount = 1;
  const NodeKind* kind = nullptr;
  uint64_t sequence = 0;  // increases with each node that a thread makes; UINT64_MAX for a node that accumulates
  uint32_t steps = 0;     // the size of the node's memory block, in units of block_step
  int32_t num_edges = 0, num_results = 0;  // each tensor of a list counts
  bool released = false;                   // the saved values have been freed
  bool holds_host = false;                 // this node, or one that it leads to, holds host objects
  // A node of a Function whose result is a view: a write in place would bypass its backward.
  bool gives_view = false;
  std::atomic<bool> busy{false};  // the lock that Guard takes
  Extra* extra = nullptr;
  // The state of the run that has claimed this node; see Note [Claims] in walk.h.
  std::atomic<Run*> run{nullptr};
  int32_t dependencies = 0;
  bool wanted = true;
  lamella_device stream_device{-1, 0};
  void* stream = nullptr;  // the stream on which forward ran, or null; see streams.h
  Variable first;

  // Both arrays lie in the node's memory block, after the node's own members: edges, then results.
  Edge* edges = nullptr;
  Result* results = nullptr;
};

// Rarely needed members of a node, allocated at first use.
struct Extra {
  struct Owner {  // keeps a hook alive while it runs, even if it is removed meanwhile
    lamella_hook hook{};
    Owner() = default;
    Owner(const Owner&) = delete;
    ~Owner() {
      if (hook.destroy) hook.destroy(hook.context);
    }
  };
  struct Hook {
    uint64_t id;
    uint32_t output;
    std::shared_ptr<const Owner> owner;
  };
  std::vector<Hook> hooks;  // see hooks.h; guarded by the node's lock, as `retained` is
  std::vector<std::pair<uint32_t, Variable*>>
      retained;  // results whose tensors called retain_grad(); a Variable that is destroyed removes its entry
  void* host = nullptr;
  void* metadata = nullptr;
  void (*destroy_metadata)(void*) = nullptr;
  std::string trace;  // the stack of the recorded call, in anomaly mode
  ~Extra();
};

// Atomic, since a hook may be added while other threads record calls that lead to the node.
inline bool holds_host(const Node* n) { return __atomic_load_n(&n->holds_host, __ATOMIC_RELAXED); }
inline void hold_host(Node* n) { __atomic_store_n(&n->holds_host, true, __ATOMIC_RELAXED); }

inline void retain(Node* n) { __atomic_fetch_add(&n->refcount, 1, __ATOMIC_RELAXED); }
void free_node(Node* n);
inline void release(Node* n) {
  if (__atomic_load_n(&n->refcount, __ATOMIC_ACQUIRE) == 1 ||
      __atomic_sub_fetch(&n->refcount, 1, __ATOMIC_ACQ_REL) == 0)
    free_node(n);
}
Extra& extra_of(Node* n);
inline Extra* has_extra(const Node* n) { return __atomic_load_n(&n->extra, __ATOMIC_ACQUIRE); }

constexpr size_t block_step = 64;
void* take_block(size_t bytes);
void give_block(void* p, size_t bytes);
uint64_t next_sequence();

// Allocates a node of class T (derived from Node), with its edges, its results and `room` more bytes in the same block.
template <class T>
T* new_node(const NodeKind* kind, int num_edges, int num_results, size_t room = 0) {
  const size_t head = (sizeof(T) + 15) / 16 * 16;
  const size_t bytes = head + sizeof(Edge) * num_edges + sizeof(Result) * num_results + room;
  auto* block = static_cast<char*>(take_block(bytes));
  T* n = new (block) T;
  n->kind = kind;
  n->steps = static_cast<uint32_t>((bytes - 1) / block_step + 1);
  n->sequence = next_sequence();
  n->num_edges = num_edges;
  n->num_results = num_results;
  n->edges = reinterpret_cast<Edge*>(block + head);
  n->results = reinterpret_cast<Result*>(n->edges + num_edges);
  for (int i = 0; i < num_edges; i++) new (n->edges + i) Edge{};
  for (int i = 0; i < num_results; i++) new (n->results + i) Result;
  return n;
}
inline void* room_behind(Node* n) { return n->results + n->num_results; }

// ---- tensors ----------------------------------------------------------------------------------------------------

inline Variable* variable(const lamella_tensor* t) { return static_cast<Variable*>(api().slot_get(t, slot)); }
Variable& variable_for(lamella_tensor* t);  // makes one if there is none
// Returns the tensor's Variable, or null, in `out`. If the tensor is a view whose base has a newer history, makes the
// view's history anew first.
lamella_status refreshed(lamella_tensor* t, Variable** out);
void destroy_variable(void* state);
int traverse_variable(void* state, lamella_visit visit, void* visitor);
void clear_variable(void* state);
// Returns the edge along which the gradient of this tensor flows, owned. Its node is null if the tensor needs no
// gradient.
lamella_status gradient_edge(lamella_tensor* t, Edge* out);
Node* accumulator(Variable& leaf, const lamella_tensor* t);  // borrowed
void retain_grad(Variable& v);                               // for a tensor that is not a leaf
// Makes `t` result `output` of node n; takes over the reference to n. set_history() also stores the shape, dtype and
// device of t in the node's result, and the current stream in the node; give_history() does not.
void set_history(lamella_tensor* t, Node* n, uint32_t output);
void give_history(lamella_tensor* t, Node* n, uint32_t output);
// set_written() does the same for a tensor that was written in place: `version` is the storage's version after the
// write, and `self_edge` the edge of n that leads to the former history of t, or -1. If t is a view, the base's history
// is extended by the write as well.
lamella_status set_written(lamella_tensor* t, Node* n, uint32_t output, int self_edge, uint64_t version);
lamella_status check_writable(const char* op, lamella_tensor* t);
// Returns the node of the Function that made the view (gives_view), also where view operators have made it from such a
// view: its history cannot be made anew from the base's. Null for another tensor.
const Node* view_by_hand(const Variable& v);
lamella_status refuse_view_by_hand(const std::string& op, const Node* n);
bool is_by_hand(const Node* n);  // made by node_new(); see record/custom.cpp
bool is_view_operator(const Node* n);

inline bool same_shape(const lamella_tensor* a, const lamella_tensor* b) {
  return a->dl.ndim == b->dl.ndim && std::equal(a->dl.shape, a->dl.shape + a->dl.ndim, b->dl.shape);
}
// For messages: "(2, 3)", "float32", and "cpu" or, if the backend numbers its devices, "bank:0".
inline std::string shape_text(const int64_t* sizes, int n) {
  std::string s = "(";
  for (int i = 0; i < n; i++) s += (i ? ", " : "") + std::to_string(sizes[i]);
  return s + ")";
}
inline std::string shape_text(const lamella_tensor* t) { return shape_text(t->dl.shape, t->dl.ndim); }
inline std::string dtype_text(uint8_t dtype) {
  const lamella_dtype_def* d = api().dtype_info(dtype);
  return d ? d->name : "none";
}
inline std::string device_text(lamella_device d) {
  const lamella_backend* b = api().backend_description(d.backend);
  return std::string(api().backend_name(d.backend)) + (b && b->device_count ? ":" + std::to_string(d.index) : "");
}
inline bool is_complex(const lamella_tensor* t) { return dtype_class(t) == LAMELLA_CLASS_COMPLEX; }
inline bool is_differentiable(const lamella_tensor* t) { return dtype_class(t) >= LAMELLA_CLASS_FLOATING; }

class Guard {  // holds the lock of one node, for a few instructions
 public:
  explicit Guard(Node* n) : n_(n) {
    while (n_->busy.exchange(true, std::memory_order_acquire)) __builtin_ia32_pause();
  }
  ~Guard() { n_->busy.store(false, std::memory_order_release); }

 private:
  Node* n_;
};

std::string operator_text(const lamella_operator* op);  // "aten::mul.Tensor"
std::string node_name(const lamella_operator* op);      // "MulBackward0"

}  // namespace lamella::autograd
