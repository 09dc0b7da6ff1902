// Node, one step of the graph that backward walks, and Variable, the state of autograd in a tensor's slot.
//
// Note [Who owns whom]  A tensor's Variable owns the node that made it (grad_fn). A node owns the nodes that its edges
//   lead to, and its saved values. A leaf's Variable owns the node that accumulates into it, which knows the Variable
//   weakly: edges to it may outlive the leaf. Nodes of the usual kind hold the Variable of their first result within
//   themselves, so that recording a call allocates once.
// Note [Freeing]  A graph may be a million nodes deep. A node released while another is being destroyed waits in a list
//   of the thread, and the outermost release empties it: there is no recursion.
// Note [Cycles]  The host language's garbage collector is shown the objects that a tensor alone keeps alive: the hooks
//   and host objects of its node, and of the nodes behind it, as long as each is owned by the one before alone. A node
//   with another owner counts as in use.
#pragma once

#include <lamella/autograd.h>
#include <lamella/library.h>
#include <lamella/scalar_type.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace lamella::autograd {

using Tensor = TensorRef;

extern int32_t slot;        // of a Variable on a tensor
extern uint64_t layer_bit;  // in keys

struct Node;
struct Run;
struct Extra;

// The gradient of result `output` of `node` flows along it. The holder of an Edge owns its reference to the node.
struct Edge {
  Node* node;
  uint32_t output;
};

struct Variable {
  Node* node = nullptr;  // grad_fn, or of a leaf the node that accumulates, made when first needed; owned
  uint32_t output = 0;
  bool requires_grad = false, leaf = true, retains_grad = false, embedded = false;
  lamella_tensor* grad = nullptr;     // owned
  lamella_tensor* tangent = nullptr;  // of forward mode; owned
  uint64_t version = 0;  // of the storage when this history was made: views look whether their base's is newer
};

// One result of a recorded call: the shape and dtype of its gradient, and that gradient while backward collects it.
struct Result {
  static constexpr int inline_dims = 5;
  lamella_device device{-1, 0};
  uint8_t dtype = LAMELLA_NO_DTYPE;  // stays so for results without a gradient
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
  // Owned gradients out, one for each edge. Of the gradients in, null where there is none, it may take some over and
  // leave null.
  lamella_status (*apply)(Node* n, Run& run, lamella_tensor** grads, lamella_tensor** outs);
  void (*release_saved)(Node* n);  // after backward without retain_graph
  void (*destroy)(Node* n);        // ends the kind's own members; the rest follows
  std::string (*name)(const Node* n);
  int (*traverse)(Node* n, lamella_visit visit, void* visitor);  // nullable
};

struct Node {
  int64_t refcount = 1;
  const NodeKind* kind = nullptr;
  uint64_t sequence = 0;                   // later calls have larger numbers; a node that accumulates has the largest
  uint32_t steps = 0;                      // of its block of memory
  int32_t num_edges = 0, num_results = 0;  // a list counts as its tensors
  bool released = false;                   // its saved values are gone
  bool holds_host = false;                 // it or a node further down holds objects of the host language
  bool gives_view = false;                 // made by hand, and a result is a view: writes in place would go around it
  std::atomic<bool> busy{false};           // a short lock around the saved values
  Extra* extra = nullptr;
  // A run claims the nodes that it meets; see engine.cpp.
  std::atomic<Run*> run{nullptr};
  int32_t dependencies = 0;
  bool wanted = true;
  lamella_device stream_device{-1, 0};
  void* stream = nullptr;  // on which the forward ran, if that device has streams; see streams.h
  Variable first;

  // Behind the node's own members, in its block: edges, then results.
  Edge* edges = nullptr;
  Result* results = nullptr;
};

// The members that few nodes need.
struct Extra {
  struct Owner {  // keeps a hook while it runs, even if it is removed then
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
  std::vector<Hook> hooks;  // see hooks.h; under the node's lock, as is `retained`
  std::vector<std::pair<uint32_t, Variable*>>
      retained;  // results whose gradient is kept: weak, cleared with the Variable
  void* host = nullptr;
  void* metadata = nullptr;
  void (*destroy_metadata)(void*) = nullptr;
  std::string trace;  // where the call was recorded, in anomaly mode
  ~Extra();
};

// A hook may be added while others record calls that lead to the node.
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

// A node of class T (derived from Node) with room for its edges, results and `room` more bytes behind it.
constexpr size_t block_step = 64;
void* take_block(size_t bytes);
void give_block(void* p, size_t bytes);
uint64_t next_sequence();

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
Variable& variable_for(lamella_tensor* t);  // makes one
// The same for a view whose base has a newer history: that is made its own first.
lamella_status refreshed(lamella_tensor* t, Variable** out);
void destroy_variable(void* state);
int traverse_variable(void* state, lamella_visit visit, void* visitor);
void clear_variable(void* state);
// Owned: where the gradient of this tensor goes. A null node if it needs none.
lamella_status gradient_edge(lamella_tensor* t, Edge* out);
Node* accumulator(Variable& leaf, const lamella_tensor* t);  // borrowed
void retain_grad(Variable& v);                               // of a result
// `t` is result `output` of `n`; takes over the reference to n. The second one leaves the result's description alone.
void set_history(lamella_tensor* t, Node* n, uint32_t output);
void give_history(lamella_tensor* t, Node* n, uint32_t output);
// The same for a tensor that was just written in place, whose version will be that; if it is a view, its base's history
// takes it in.
lamella_status set_written(lamella_tensor* t, Node* n, uint32_t output, int self_edge, uint64_t version);
lamella_status check_writable(const char* op, lamella_tensor* t);
// A view whose history leads through a node made by hand: it cannot be made again from its base.
bool is_view_by_hand(const Variable& v);
lamella_status refuse_view_by_hand(const std::string& op);
bool is_by_hand(const Node* n);  // made of functions from outside; in record/custom.cpp
bool is_view_operator(const Node* n);

inline bool same_shape(const lamella_tensor* a, const lamella_tensor* b) {
  return a->dl.ndim == b->dl.ndim && std::equal(a->dl.shape, a->dl.shape + a->dl.ndim, b->dl.shape);
}
inline bool is_complex(const lamella_tensor* t) { return dtype_class(t) == LAMELLA_CLASS_COMPLEX; }
inline bool is_differentiable(const lamella_tensor* t) { return dtype_class(t) >= LAMELLA_CLASS_FLOATING; }

class Guard {  // a short lock of one node
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
