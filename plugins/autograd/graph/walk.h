// Walk: one run of backward over the graph, with the nodes, the gradients and the callbacks that it keeps.
//
// Note [A run]  The run first visits every node that the roots reach, and counts the edges that lead to each. Then it
//   runs the nodes whose gradients are complete, that of the largest `sequence` first: nodes that accumulate, then the
//   most recently recorded node. That frees memory as early as possible, and fixes the order of every sum.
// Note [Claims]  A run keeps its counts and pending gradients in the nodes themselves, after it has claimed them. For a
//   node that another run has claimed (one of another thread, or an outer one of this thread), it keeps them in its own
//   table, `unclaimed`.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "graph/accumulate.h"
#include "graph/engine.h"
#include "graph/event.h"

namespace lamella::autograd {
namespace {

struct Callback {
  lamella_status (*run)(void*);
  void* context;
  void (*destroy)(void*);
};

struct Walk : Run {
  struct Unclaimed {
    int32_t dependencies = 0;
    bool wanted = true;
    std::vector<lamella_tensor*> pending;
  };
  struct Capture {
    uint32_t output;
    lamella_tensor** into;
  };

  bool selective = false;   // true: run only the nodes that lead to a capture
  uint64_t layers_off = 0;  // the layers that this walk has switched off, except in hooks and callbacks
  std::vector<Node*> met, ready;
  std::unordered_map<const Node*, Unclaimed> unclaimed;
  std::unordered_multimap<const Node*, Capture> captures;
  std::vector<Edge> roots, targets;  // owned
  int since_interrupt = 0;
  Node* running = nullptr;
  std::vector<Callback> callbacks;  // run after the walk; see queue_callback()

  lamella_status run_callbacks() {
    const LayersSwitched on(layers_off, true);
    for (size_t i = 0; i < callbacks.size(); i++) {
      const Callback c = callbacks[i];  // a copy: the callback may queue another, which moves the vector
      if (lamella_status st = c.run(c.context)) return st;
    }
    return LAMELLA_OK;
  }

  Walk() = default;
  Walk(const Walk&) = delete;
  ~Walk() override {
    for (const Callback& c : callbacks)
      if (c.destroy) c.destroy(c.context);
    for (Node* n : met)
      if (claimed(n)) drop(n);
    for (auto& [n, b] : unclaimed)
      for (lamella_tensor* t : b.pending)
        if (t) api().release(t);
    for (const auto* edges : {&roots, &targets})
      for (const Edge& e : *edges) release(e.node);
  }

  bool claimed(const Node* n) const { return n->run.load(std::memory_order_relaxed) == this; }
  int32_t& dependencies(Node* n) { return claimed(n) ? n->dependencies : unclaimed[n].dependencies; }
  lamella_tensor*& pending(Node* n, uint32_t i) {
    return claimed(n) ? n->results[i].pending : unclaimed.find(n)->second.pending[i];
  }
  // Returns whether n leads to a capture; true for a node that this run has not visited.
  bool wanted(const Node* n) const {
    if (claimed(n)) return n->wanted;
    const auto at = unclaimed.find(n);
    return at == unclaimed.end() || at->second.wanted;
  }
  void want(Node* n, bool w) { (claimed(n) ? n->wanted : unclaimed[n].wanted) = w; }

  bool needs(const Node* n, int edge) const override {
    const Node* to = n->edges[edge].node;
    return to && (!selective || wanted(to));
  }

  // Adds n to this run; returns false if the run has it already.
  bool meet(Node* n) {
    if (claimed(n) || (!unclaimed.empty() && unclaimed.count(n))) return false;
    Run* none = nullptr;
    if (n->run.compare_exchange_strong(none, this, std::memory_order_acq_rel)) {
      n->dependencies = 0;
      n->wanted = true;
      met.push_back(n);
      return true;
    }
    const auto [at, first] = unclaimed.try_emplace(n);
    if (first) at->second.pending.resize(n->num_results);
    return first;
  }

  void drop(Node* n) {
    for (int i = 0; i < n->num_results; i++)
      if (lamella_tensor* t = std::exchange(n->results[i].pending, nullptr)) api().release(t);
    n->run.store(nullptr, std::memory_order_release);
  }

  void discover() {
    std::vector<Node*> stack;
    for (const Edge& e : roots)
      if (meet(e.node)) stack.push_back(e.node);
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      for (int i = 0; i < n->num_edges; i++)
        if (Node* to = n->edges[i].node) {
          if (meet(to)) stack.push_back(to);
          dependencies(to)++;
        }
    }
  }

  // Marks a node as wanted if it, or a node that it leads to, has a capture. Runs after discover(). The walk is
  // depth-first, so that the nodes that an edge leads to are finished before the node itself.
  void select() {
    struct Step {
      Node* node;
      int edge;
    };
    std::unordered_map<const Node*, bool> done;
    std::vector<Step> path;
    const auto enter = [&](Node* n) {
      if (done.try_emplace(n, true).second) {
        want(n, captures.count(n) != 0);
        path.push_back({n, 0});
      }
    };
    for (const Edge& e : roots) {
      enter(e.node);
      while (!path.empty()) {
        Step& s = path.back();
        if (s.edge < s.node->num_edges) {
          if (Node* to = s.node->edges[s.edge++].node) enter(to);
          continue;
        }
        Node* n = s.node;
        path.pop_back();
        for (int i = 0; i < n->num_edges; i++)
          if (const Node* to = n->edges[i].node; to && wanted(to)) want(n, true);
      }
    }
  }

  static bool earlier(const Node* a, const Node* b) { return a->sequence < b->sequence; }
  void make_ready(Node* n) {
    ready.push_back(n);
    std::push_heap(ready.begin(), ready.end(), earlier);
  }

  // Adds the gradient g to the pending one of `to`; takes over the reference to g.
  lamella_status deliver(const Edge& to, lamella_tensor* g) {
    lamella_tensor*& there = pending(to.node, to.output);
    void* const reader = streams.reader(g, to.node);
    lamella_status st = streams.hand_over(g, reader);
    if (!there) {
      there = g;
      return st;
    }
    const Streams::On on(streams, device_of(g), reader);
    if (st || (st = on.status())) {
      api().release(g);
      return st;
    }
    // A large sum is written in place if nothing else refers to its memory, no graph is created and no stream was
    // switched; for a small sum a new tensor is cheaper than the checks of a write in place.
    constexpr int64_t large = 1024;
    const bool in_place = there->numel >= large && !create_graph && !streams.switched() &&
                          (there->flags & (LAMELLA_DENSE | LAMELLA_OPAQUE)) == LAMELLA_DENSE &&
                          __atomic_load_n(&there->object.refcount, __ATOMIC_ACQUIRE) == 1 &&
                          api().storage_use_count(there->storage) == 1;
    if (in_place) {
      st = ops.add_into(there, g);
    } else {
      lamella_tensor* sum = nullptr;
      if (!(st = ops.add(there, g, &sum))) api().release(std::exchange(there, sum));
    }
    api().release(g);
    return st;
  }

  static bool stands(Node* n, const Extra& e, uint64_t id) {
    Guard guard(n);
    return std::any_of(e.hooks.begin(), e.hooks.end(), [id](const Extra::Hook& h) { return h.id == id; });
  }

  static bool has_hooks(Node* n, int32_t kind) {
    Extra* e = has_extra(n);
    if (!e) return false;
    Guard guard(n);
    return std::any_of(e->hooks.begin(), e->hooks.end(), [&](const auto& h) { return h.owner->hook.kind == kind; });
  }

  lamella_status run_hooks(Node* n, int32_t kind, lamella_tensor** grads, int count, lamella_tensor* const* also,
                           int m) {
    Extra* e = has_extra(n);
    if (!e) return LAMELLA_OK;
    std::vector<Extra::Hook> hooks;  // a copy, since a hook may remove others
    {
      Guard guard(n);
      for (const Extra::Hook& h : e->hooks)
        if (h.owner->hook.kind == kind) hooks.push_back(h);
    }
    const LayersSwitched on(layers_off, true);
    for (const Extra::Hook& h : hooks) {
      const bool one = kind == LAMELLA_HOOK_TENSOR;
      if ((one && !grads[h.output]) || !stands(n, *e, h.id)) continue;
      const lamella_hook& hook = h.owner->hook;
      if (lamella_status st = hook.run(hook.context, one ? grads + h.output : grads, one ? 1 : count, also, m))
        return st;
    }
    const bool of_results = kind == LAMELLA_HOOK_TENSOR || kind == LAMELLA_HOOK_BEFORE;
    for (int i = 0; of_results && i < n->num_results; i++)
      if (lamella_status st = check_replaced(n, i, grads[i])) return st;
    return LAMELLA_OK;
  }

  static lamella_status check_replaced(const Node* n, int i, const lamella_tensor* g) {
    const Result& r = n->results[i];
    if (!g || !r.described() || (r.has_shape_of(g) && r.dtype == g->dtype && r.device.backend == g->backend))
      return LAMELLA_OK;
    std::string wrong = "hook: the gradient that it returned has another ";
    if (r.dtype != g->dtype)
      wrong += "dtype than the tensor: expected " + dtype_text(r.dtype) + ", got " + dtype_text(g->dtype);
    else if (!r.has_shape_of(g))
      wrong += "shape than the tensor: expected " + shape_text(r.sizes(), r.ndim) + ", got " + shape_text(g);
    else
      wrong += "device than the tensor: expected " + device_text(r.device) + ", got " + device_text(device_of(g));
    return fail(LAMELLA_RUNTIME_ERROR, wrong);
  }

  // Adds the gradients of results whose tensors called retain_grad() to the grad of these tensors. Another thread may
  // destroy such a tensor at the same time.
  lamella_status keep_retained(Node* n, Extra& e, lamella_tensor* const* grads) {
    std::vector<std::pair<uint32_t, Variable*>> retained;
    {
      Guard guard(n);
      retained = e.retained;
    }
    for (const auto& r : retained) {
      lamella_tensor *g = grads[r.first], *kept = nullptr, *there = nullptr;
      if (!g) continue;
      const auto is_there = [&] { return std::find(e.retained.begin(), e.retained.end(), r) != e.retained.end(); };
      {
        Guard guard(n);
        if (is_there() && (there = r.second->grad)) api().retain(there);
      }
      void* const caller = streams.caller(g, n);  // the stream that will read the kept gradient
      lamella_status st = streams.hand_over(g, caller);
      const Streams::On on(streams, device_of(g), caller);
      if (!st) st = on.status();
      if (!st && there)
        st = ops.add(there, g, &kept);
      else if (!st)
        st = ops.clone(g, &kept);
      if (there) api().release(there);
      if (st) return st;
      {
        Guard guard(n);
        if (is_there()) {
          std::swap(r.second->grad, kept);
          r.second->fresh_grad = true;
        }
      }
      if (kept) api().release(kept);
    }
    return LAMELLA_OK;
  }

  // Runs all that reads or replaces a node's gradients before the node runs: tensor hooks, retained grads, captures,
  // pre-hooks.
  lamella_status before(Node* n, lamella_tensor** grads) {
    if (Extra* e = has_extra(n)) {
      if (lamella_status st = run_hooks(n, LAMELLA_HOOK_TENSOR, grads, n->num_results, nullptr, 0)) return st;
      if (lamella_status st = keep_retained(n, *e, grads)) return st;
    }
    if (selective) {
      const auto [first, last] = captures.equal_range(n);
      for (auto c = first; c != last; ++c)
        if (lamella_tensor* g = grads[c->second.output]) {
          if (lamella_status st = streams.hand_over(g, streams.caller(g, n))) return st;
          api().retain(g);
          *c->second.into = g;
        }
    }
    return run_hooks(n, LAMELLA_HOOK_BEFORE, grads, n->num_results, nullptr, 0);
  }

  lamella_status hand_on(Node* n, int i, lamella_tensor* g) {
    const Edge& e = n->edges[i];
    if (!e.node || (selective && !wanted(e.node))) {
      api().release(g);
      return LAMELLA_OK;
    }
    const Result& to = e.node->results[e.output];
    const int other =
        (to.dtype ^ g->dtype) | (to.device.backend ^ g->backend) | (to.device.index ^ g->dl.device.device_id);
    if (__builtin_expect(other || !to.has_shape_of(g), 0)) {
      lamella_tensor* fit = nullptr;
      lamella_status st = conform(to, n, g, &fit);
      api().release(g);
      if (st) return st;
      g = fit;
    }
    return deliver(e, g);
  }

  lamella_status apply(Node* n, lamella_tensor** grads, lamella_tensor** outs) {
    for (int i = 0; i < n->num_edges; i++) outs[i] = nullptr;
    // The incoming gradients, for the hooks that run after the node. They are kept for these alone: an accumulator stores
    // a gradient that nothing else refers to without a copy.
    std::vector<lamella_tensor*> came;
    if (has_hooks(n, LAMELLA_HOOK_AFTER)) {
      came.assign(grads, grads + n->num_results);
      for (lamella_tensor* t : came)
        if (t) api().retain(t);
    }
    lamella_status st = LAMELLA_OK;
    {
      const Event told(LAMELLA_EVENT_NODE, n);
      Node* const outer = std::exchange(running, n);
      st = n->kind->apply(n, *this, grads, outs);
      running = outer;
    }
    if (!st && __builtin_expect(check_nan, 0)) st = find_nan(n, outs);
    if (!st && has_extra(n)) {
      const int m = static_cast<int>(came.size());
      st = run_hooks(n, LAMELLA_HOOK_AFTER, outs, n->num_edges, came.data(), m);
      if (!st && is_accumulator(n)) st = run_hooks(n, LAMELLA_HOOK_ACCUMULATED, nullptr, 0, nullptr, 0);
    }
    for (lamella_tensor* t : came)
      if (t) api().release(t);
    return st;
  }

  lamella_status find_nan(Node* n, lamella_tensor** outs) {
    for (int i = 0; i < n->num_edges; i++) {
      bool nan = false;
      if (outs[i])
        if (lamella_status st = ops.has_nan(outs[i], &nan)) return st;
      if (nan)
        return fail(LAMELLA_RUNTIME_ERROR,
                    "backward: " + n->kind->name(n) + " returned nan values in its output " + std::to_string(i));
    }
    return LAMELLA_OK;
  }

  lamella_status execute(Node* n) {
    constexpr int few = 8;
    lamella_tensor* small[2 * few];
    std::vector<lamella_tensor*> large;
    lamella_tensor** grads = small;
    if (n->num_results + n->num_edges > 2 * few) {
      large.resize(n->num_results + n->num_edges);
      grads = large.data();
    }
    lamella_tensor** outs = grads + n->num_results;
    bool any = false, runs = !selective && is_accumulator(n);
    for (int i = 0; i < n->num_results; i++) any |= (grads[i] = std::exchange(pending(n, i), nullptr)) != nullptr;
    for (int i = 0; i < n->num_edges && !runs; i++) runs = needs(n, i);
    const Streams::On on(streams, n->stream_device, n->stream);
    lamella_status st = on.status();
    if (!st && any) st = before(n, grads);
    if (!st && any && runs) {
      if (!(st = apply(n, grads, outs)) && !retain_graph && !n->released) n->kind->release_saved(n);
      for (int i = 0; i < n->num_edges; i++)
        if (outs[i]) {
          if (!st)
            st = hand_on(n, i, outs[i]);
          else
            api().release(outs[i]);
        }
      if (__builtin_expect(st != LAMELLA_OK, 0)) explain(n);
    }
    for (int i = 0; i < n->num_results; i++)
      if (grads[i]) api().release(grads[i]);
    for (int i = 0; i < n->num_edges && !st; i++)
      if (Node* to = n->edges[i].node; to && --dependencies(to) == 0) make_ready(to);
    if (claimed(n)) drop(n);
    return st;
  }

  static void explain(const Node* n) {
    api().add_note(("while the gradient of " + n->kind->name(n) + " was computed").c_str());
    if (n->extra && !n->extra->trace.empty())
      api().add_note(("the call whose gradient failed was recorded here:\n" + n->extra->trace).c_str());
  }

  lamella_status walk() {
    for (const Edge& e : roots)
      if (dependencies(e.node) == 0 && std::find(ready.begin(), ready.end(), e.node) == ready.end()) make_ready(e.node);
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), earlier);
      Node* n = ready.back();
      ready.pop_back();
      if (++since_interrupt % 64 == 0)
        if (lamella_status st = api().check_interrupt()) return st;
      if (lamella_status st = execute(n)) return st;
    }
    return LAMELLA_OK;
  }
};

}  // namespace
}  // namespace lamella::autograd
