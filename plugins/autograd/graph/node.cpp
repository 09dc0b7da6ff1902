#include "graph/node.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "graph/accumulate.h"
#include "graph/hooks.h"
#include "graph/streams.h"

namespace lamella::autograd {

int32_t slot = -1;
uint64_t layer_bit = 0;

namespace {

// A thread's free memory blocks by size, and the released nodes that wait to be destroyed.
struct Pool {
  static constexpr size_t classes = 16;
  static constexpr int capacity = 2048;  // the most free blocks that are kept of one size
  struct Block {
    Block* next;
  };
  Block* free[classes] = {};
  int count[classes] = {};
  std::vector<Node*> waiting;
  bool freeing = false;
  uint64_t sequence = 0;

  ~Pool() {
    for (Block* b : free)
      while (b) std::free(std::exchange(b, b->next));
  }
};

__thread Pool* this_pool __attribute__((tls_model("initial-exec"))) = nullptr;

// Makes the thread's pool, which is freed when the thread ends. Code that runs in the thread after that makes another
// pool, which is not freed.
__attribute__((noinline)) Pool& start_pool() {
  struct Owner {
    Pool pool;
    bool ended = false;
    ~Owner() {
      this_pool = nullptr;
      ended = true;
    }
  };
  static thread_local Owner owner;
  return *(this_pool = owner.ended ? new Pool : &owner.pool);
}

inline Pool& pool() { return __builtin_expect(this_pool != nullptr, 1) ? *this_pool : start_pool(); }

void destroy_one(Node* n) {
  n->kind->destroy(n);
  for (int i = 0; i < n->num_edges; i++)
    if (n->edges[i].node) release(n->edges[i].node);
  for (int i = 0; i < n->num_results; i++) {
    Result& r = n->results[i];
    if (r.more_sizes) std::free(r.more_sizes);
    if (r.pending) api().release(r.pending);
  }
  if (n->extra) {
    remove_hooks(n);
    delete n->extra;
  }
  give_block(n, n->steps * block_step);
}

}  // namespace

void* take_block(size_t bytes) {
  const size_t k = (bytes - 1) / block_step;
#ifndef LAMELLA_NO_CACHE
  Pool& p = pool();
  if (k < Pool::classes && p.free[k]) {
    p.count[k]--;
    return std::exchange(p.free[k], p.free[k]->next);
  }
#endif
  void* block = std::malloc((k + 1) * block_step);
  if (!block) throw std::bad_alloc();
  return block;
}

void give_block(void* block, size_t bytes) {
#ifndef LAMELLA_NO_CACHE
  const size_t k = (bytes - 1) / block_step;
  Pool& p = pool();
  if (k < Pool::classes && p.count[k] < Pool::capacity) {
    p.count[k]++;
    p.free[k] = new (block) Pool::Block{p.free[k]};
    return;
  }
#endif
  (void)bytes;
  std::free(block);
}

uint64_t next_sequence() { return pool().sequence++; }

void free_node(Node* n) {
  Pool& p = pool();
  p.waiting.push_back(n);
  if (p.freeing) return;
  p.freeing = true;
  while (!p.waiting.empty()) {
    Node* last = p.waiting.back();
    p.waiting.pop_back();
    destroy_one(last);
  }
  p.freeing = false;
}

Extra::~Extra() {
  if (metadata) destroy_metadata(metadata);
}

Extra& extra_of(Node* n) {
  if (Extra* e = has_extra(n)) return *e;
  Guard guard(n);
  if (!n->extra) __atomic_store_n(&n->extra, new Extra, __ATOMIC_RELEASE);
  return *n->extra;
}

void Result::describe(const lamella_tensor* t) {
  device = device_of(t);
  dtype = t->dtype;
  ndim = static_cast<uint8_t>(t->dl.ndim);
  int64_t* to = inline_sizes;
  if (__builtin_expect(ndim > inline_dims, 0)) {
    to = more_sizes = static_cast<int64_t*>(std::malloc(sizeof(int64_t) * ndim));
    if (!to) throw std::bad_alloc();
  }
  for (int i = 0; i < ndim; i++) to[i] = t->dl.shape[i];
}

// ---- variables --------------------------------------------------------------------------------------------------

// Puts a Variable into the tensor's slot; the tensor owns it.
static void put(lamella_tensor* t, Variable* v) {
  if (__builtin_expect(api().slot_set(t, slot, v) == LAMELLA_OK, 1)) return;
  api().error_clear();
  destroy_variable(v);
  throw std::bad_alloc();  // the only error that slot_set() has here
}

Variable& variable_for(lamella_tensor* t) {
  if (Variable* there = variable(t)) return *there;
  auto* v = new (take_block(sizeof(Variable))) Variable;
  put(t, v);
  return *v;
}

void destroy_variable(void* state) {
  auto* v = static_cast<Variable*>(state);
  Node* n = std::exchange(v->node, nullptr);
  if (n && (v->leaf || v->retains_grad)) {
    Guard guard(n);
    if (v->leaf)
      forget_leaf(n);
    else
      std::erase_if(extra_of(n).retained, [v](const auto& r) { return r.second == v; });
  }
  if (lamella_tensor* g = std::exchange(v->grad, nullptr)) api().release(g);
  if (lamella_tensor* g = std::exchange(v->tangent, nullptr)) api().release(g);
  if (!v->embedded) give_block(v, sizeof(Variable));
  if (n) release(n);
}

void set_history(lamella_tensor* t, Node* n, uint32_t output) {
  n->results[output].describe(t);
  note_stream(n, t);
  give_history(t, n, output);
}

void give_history(lamella_tensor* t, Node* n, uint32_t output) {
  Variable* v;
  if (output == 0 && !n->first.embedded) {
    v = &n->first;
    v->embedded = true;
  } else {
    v = new (take_block(sizeof(Variable))) Variable;
  }
  v->node = n;
  v->output = output;
  v->leaf = false;
  v->requires_grad = true;
  if (api().tensor_base(t)) v->version = api().tensor_version(t);
  put(t, v);
  if (!(t->keys & layer_bit)) api().tensor_update_keys(t, layer_bit, 0);
}

lamella_status gradient_edge(lamella_tensor* t, Edge* out) {
  Variable* v;
  *out = {};
  if (lamella_status st = refreshed(t, &v)) return st;
  if (!v) return LAMELLA_OK;
  if (__builtin_expect(v->tangent != nullptr, 0))
    return fail(LAMELLA_NOT_IMPLEMENTED,
                "autograd: a tensor has a forward tangent, and autograd does not compute the tangents of results; a "
                "layer that computes them takes the tangents from the tensors first");
  if (!v->requires_grad) return LAMELLA_OK;
  Node* n = v->leaf ? accumulator(*v, t) : v->node;
  retain(n);
  *out = {n, v->leaf ? 0 : v->output};
  return LAMELLA_OK;
}

void retain_grad(Variable& v) {
  Extra& e = extra_of(v.node);
  Guard guard(v.node);
  v.retains_grad = true;
  e.retained.emplace_back(v.output, &v);
}

const Node* view_by_hand(const Variable& v) {
  const Node* n = v.leaf ? nullptr : v.node;
  while (n && !n->gives_view && is_view_operator(n)) n = n->edges[0].node;
  return n && n->gives_view ? n : nullptr;
}

lamella_status refuse_view_by_hand(const std::string& op, const Node* n) {
  std::string name = n->kind->name(n);
  name = name.substr(0, name.rfind("Backward"));
  return fail(LAMELLA_RUNTIME_ERROR, op + ": a view that " + name +
                                         " returned, or its base, is being used in an in-place operation, which would "
                                         "go around its backward; write out of place, or to a clone()");
}

lamella_status check_writable(const char* op, lamella_tensor* t) {
  const Variable* v = variable(t);
  if (v && v->leaf && v->requires_grad)
    return fail(LAMELLA_RUNTIME_ERROR,
                std::string(op) +
                    ": a leaf Variable that requires grad is being used in an in-place operation; "
                    "write to it under no_grad(), or to a clone()");
  lamella_tensor* base = api().tensor_base(t);
  if (const Node* n = base && v ? view_by_hand(*v) : nullptr) return refuse_view_by_hand(op, n);
  const Variable* b = base ? variable(base) : nullptr;
  if (b && b->leaf && b->requires_grad)
    return fail(
        LAMELLA_RUNTIME_ERROR,
        std::string(op) +
            ": a view of a leaf Variable that requires grad is being used in an in-place operation; write to it "
            "under no_grad(), or to a view of a clone()");
  return LAMELLA_OK;
}

// ---- objects that the host language's garbage collector is shown: see Note [Cycles] in node.h -----------------------

int traverse_variable(void* state, lamella_visit visit, void* visitor) {
  auto* v = static_cast<Variable*>(state);
  // Follows a chain of at most 1000 nodes, as long as each has one owner and leads to host objects.
  Node* n = v->node;
  for (int depth = 0; n && holds_host(n) && depth < 1000; depth++) {
    if (__atomic_load_n(&n->refcount, __ATOMIC_ACQUIRE) != 1) return 0;
    if (n->kind->traverse)
      if (int r = n->kind->traverse(n, visit, visitor)) return r;
    if (Extra* e = has_extra(n)) {
      Guard guard(n);
      for (const Extra::Hook& h : e->hooks)
        if (h.owner->hook.traverse)
          if (int r = h.owner->hook.traverse(h.owner->hook.context, visit, visitor)) return r;
    }
    Node* next = nullptr;
    for (int i = 0; i < n->num_edges; i++)
      if (n->edges[i].node && holds_host(n->edges[i].node)) next = n->edges[i].node;
    n = next;
  }
  return 0;
}

void clear_variable(void* state) {
  auto* v = static_cast<Variable*>(state);
  if (!v->node || __atomic_load_n(&v->node->refcount, __ATOMIC_ACQUIRE) != 1) return;
  remove_hooks(v->node);
  v->node->kind->release_saved(v->node);
}

std::string operator_text(const lamella_operator* op) {
  const std::string overload = api().operator_overload(op);
  return api().operator_name(op) + (overload.empty() ? "" : "." + overload);
}

std::string node_name(const lamella_operator* op) {
  std::string s = api().operator_name(op), out;
  s = s.substr(s.rfind(':') + 1);
  bool upper = true;
  for (char c : s) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return out + "Backward0";
}

}  // namespace lamella::autograd
