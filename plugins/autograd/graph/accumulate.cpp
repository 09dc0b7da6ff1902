#include "graph/accumulate.h"

#include <array>
#include <mutex>

#include "fork.h"
#include "graph/engine.h"

namespace lamella::autograd {
namespace {

struct AccumulateNode : Node {
  Variable* leaf;         // null after the leaf was destroyed; guarded by the node's lock
  bool reshaped = false;  // the leaf has got other sizes, and another node; guarded likewise
};

// Returns the mutex that an engine holds while it adds to a leaf, since engines of several threads may reach one leaf.
// Operators run meanwhile and may wait for the host language's lock, so a thread that holds the host's lock must not
// take this mutex. (Guard, the node's own lock, is held for a few instructions only.)
std::recursive_mutex& adding(const Node* n) {
  static auto& all = new_locks<std::array<std::recursive_mutex, 64>>();
  return all[(reinterpret_cast<uintptr_t>(n) / 64) % 64];
}

// Calls a function under the lock of the tensor's node, if it has one.
template <class Function>
void locked(const Variable& v, Function function) {
  if (!v.node) return function();
  Guard guard(v.node);
  function();
}

bool sole_owner(const lamella_tensor* t) { return __atomic_load_n(&t->object.refcount, __ATOMIC_ACQUIRE) == 1; }

// Makes the tensor that is stored as a first `grad`. It is g, or for a view of its whole base a detached tensor over
// the same memory, if g is dense, nothing else refers to the memory and backward has not switched streams. Otherwise it
// is a copy, so that a write to the grad changes no other tensor. Takes over the reference to g.
lamella_status keep(Run& run, lamella_tensor* g, lamella_tensor** out) {
  const lamella_tensor* base = api().tensor_base(g);
  const bool alone =
      sole_owner(g) && (!base || sole_owner(base)) && api().storage_use_count(g->storage) == (base ? 2 : 1);
  lamella_status st = LAMELLA_OK;
  if (alone && !run.streams.switched() && (g->flags & LAMELLA_DENSE) && (!base || base->numel == g->numel) &&
      !(base && run.create_graph)) {  // a detached tensor has no history
    if (!base) {
      *out = g;
      return LAMELLA_OK;
    }
    st = api().tensor_detach(g, layer_bit, out);  // without a base, so that nothing else refers to the memory
  } else {
    st = run.ops.clone(g, out);
  }
  api().release(g);
  return st;
}

// Adds g to the leaf's `grad`, which other threads may read or replace at the same time. Takes over the reference to g.
lamella_status add_to(Run& run, Node* n, lamella_tensor* g) {
  if (__builtin_expect(g->dtype != n->results[0].dtype, 0)) {  // a layer has changed the dtype of a sum of gradients
    lamella_tensor* cast = nullptr;
    const lamella_status st = run.ops.cast(g, n->results[0].dtype, &cast);
    api().release(g);
    if (st) return st;
    g = cast;
  }
  std::lock_guard lock(adding(n));
  const auto leaf = [n] { return static_cast<AccumulateNode*>(n)->leaf; };
  lamella_tensor *there = nullptr, *sum = nullptr;
  bool reshaped;
  {
    Guard guard(n);
    reshaped = static_cast<AccumulateNode*>(n)->reshaped;
    if (leaf() && (there = leaf()->grad)) api().retain(there);
  }
  if (reshaped) {
    const Result& r = n->results[0];
    const std::string was = shape_text(r.sizes(), r.ndim);
    api().release(g);
    return fail(LAMELLA_RUNTIME_ERROR, "backward: a leaf had the shape " + was +
                                           " when it was used, and has got another one since, so that it cannot take "
                                           "the gradient; change its shape after backward");
  }
  lamella_status st;
  if (there && !run.create_graph && !(there->flags & LAMELLA_OPAQUE)) {
    st = run.ops.add_into(there, g);
    api().release(g);
    api().release(there);
    return st;
  }
  if (there) {
    st = run.ops.add(there, g, &sum);
    api().release(g);
    api().release(there);
  } else {
    st = keep(run, g, &sum);
  }
  if (st) return st;
  {
    Guard guard(n);
    if (leaf()) {
      std::swap(leaf()->grad, sum);
      leaf()->fresh_grad = true;
    }
  }
  if (sum) api().release(sum);
  return LAMELLA_OK;
}

lamella_status apply(Node* n, Run& run, lamella_tensor** grads, lamella_tensor**) {
  return add_to(run, n, std::exchange(grads[0], nullptr));
}

const NodeKind kind = {apply, [](Node*) {}, [](Node*) {}, [](const Node*) { return std::string("AccumulateGrad"); },
                       nullptr};

}  // namespace

bool is_accumulator(const Node* n) { return n->kind == &kind; }

void forget_leaf(Node* n) { static_cast<AccumulateNode*>(n)->leaf = nullptr; }

// Several threads may call this function for a new leaf at once; the node that is stored first is kept, and all return
// it.
Node* accumulator(Variable& v, const lamella_tensor* t) {
  Node* there = __atomic_load_n(&v.node, __ATOMIC_ACQUIRE);
  if (__builtin_expect(there && there->results[0].has_shape_of(t), 1)) {
    Result& r = there->results[0];
    const lamella_device now = device_of(t);
    if (__builtin_expect((r.dtype ^ t->dtype) | (r.device.backend ^ now.backend) | (r.device.index ^ now.index), 0)) {
      r.dtype = t->dtype;  // `.data =` has given the leaf another dtype or device, as Module.to() does
      r.device = now;
    }
    return there;
  }
  auto* n = new_node<AccumulateNode>(&kind, 0, 1);
  n->sequence = UINT64_MAX;
  n->leaf = &v;
  n->results[0].describe(t);
  if (__atomic_compare_exchange_n(&v.node, &there, static_cast<Node*>(n), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    if (there) {  // the leaf's shape has changed since its node was made
      {
        Guard guard(there);
        forget_leaf(there);
        static_cast<AccumulateNode*>(there)->reshaped = true;
      }
      release(there);
    }
    return n;
  }
  n->leaf = nullptr;
  release(n);
  return there;
}

lamella_status accumulate(Run& run, Variable& v, lamella_tensor* g) {
  if (v.leaf) return add_to(run, v.node, g);
  lamella_tensor* sum = nullptr;
  lamella_status st;
  if (v.grad) {
    st = run.ops.add(v.grad, g, &sum);
    api().release(g);
  } else {
    st = keep(run, g, &sum);
  }
  if (st) return st;
  set_grad(v, sum, true);
  return LAMELLA_OK;
}

lamella_status read_grad(lamella_tensor* t, Variable& v, lamella_tensor** out) {
  bool fresh = false;
  const auto read = [&] {
    fresh = std::exchange(v.fresh_grad, false);
    if ((*out = v.grad)) api().retain(*out);
  };
  locked(v, read);
  if (!fresh || !*out) return LAMELLA_OK;
  const lamella_status st = api().tensor_carry(t, *out, LAMELLA_CARRY_GRADIENT);
  if (!st) return LAMELLA_OK;
  if (Variable* now = variable(t))                               // a slot's function may have replaced it
    locked(*now, [&] { now->fresh_grad = now->grad == *out; });  // the next reading tries again
  api().release(std::exchange(*out, nullptr));
  return st;
}

void set_grad(Variable& v, lamella_tensor* owned, bool fresh) {
  locked(v, [&] {
    std::swap(v.grad, owned);
    v.fresh_grad = fresh;
  });
  if (owned) api().release(owned);
}

}  // namespace lamella::autograd
