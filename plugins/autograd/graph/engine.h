// The engine: runs backward over the graph, without recursion. Start reading at run_backward, at the end of engine.cpp.
#pragma once

#include "graph/node.h"
#include "graph/streams.h"

namespace lamella::autograd {

// The operators that the engine itself calls.
struct Operators {
  const lamella_operator *clone_op, *add_op, *add_into_op, *sum_op, *cast_op, *ones_op, *zeros_op, *real_op,
      *reshape_op, *isnan_op, *any_op, *item_op, *move_op, *alias_op;
  lamella_status clone(lamella_tensor* t, lamella_tensor** out) const;
  lamella_status add(lamella_tensor* a, lamella_tensor* b, lamella_tensor** out) const;
  lamella_status add_into(lamella_tensor* a, lamella_tensor* b) const;
  lamella_status ones_like(lamella_tensor* t, lamella_tensor** out) const;
  lamella_status zeros(const Result& like, lamella_tensor** out) const;
  lamella_status sum_to(lamella_tensor* t, const Result& to, lamella_tensor** out) const;
  lamella_status move(lamella_tensor* t, lamella_device to, lamella_tensor** out) const;
  lamella_status cast(lamella_tensor* t, uint8_t dtype, lamella_tensor** out) const;
  lamella_status has_nan(lamella_tensor* t, bool* out) const;
  lamella_status alias(lamella_tensor* t, lamella_tensor** out) const;
};
const Operators& operators();

// Switches recording on or off in this thread, until the end of the scope.
class GradMode {
 public:
  explicit GradMode(bool on) : thread_(api().thread()), saved_(thread_->exclude) {
    thread_->exclude = on ? saved_ & ~layer_bit : saved_ | layer_bit;
  }
  ~GradMode() { thread_->exclude = (thread_->exclude & ~layer_bit) | (saved_ & layer_bit); }
  GradMode(const GradMode&) = delete;

 private:
  lamella_thread* thread_;
  uint64_t saved_;
};
// Switches layers off in this thread, or on again, until the end of the scope.
class LayersSwitched {
 public:
  LayersSwitched(uint64_t layers, bool on)
      : thread_(api().thread()), layers_(layers), saved_(thread_->exclude & layers) {
    thread_->exclude = on ? thread_->exclude & ~layers : thread_->exclude | layers;
  }
  ~LayersSwitched() { thread_->exclude = (thread_->exclude & ~layers_) | saved_; }
  LayersSwitched(const LayersSwitched&) = delete;

 private:
  lamella_thread* thread_;
  uint64_t layers_, saved_;
};
inline bool grad_mode() { return !(api().thread()->exclude & layer_bit); }

// The state of one backward that nodes can see.
struct Run {
  virtual ~Run() = default;
  bool retain_graph = false, create_graph = false, accumulate = true;
  Streams streams;
  const Operators& ops = operators();

  // Returns whether this run needs a gradient along edge `edge` of node n.
  virtual bool needs(const Node* n, int edge) const = 0;
};

lamella_status run_backward(lamella_tensor* const* roots, lamella_tensor* const* grads, int num_roots,
                            lamella_tensor* const* inputs, int num_inputs, lamella_tensor** outs, uint32_t flags);

// Returns the layers that the backward of this thread has switched off, for hooks that run in the middle of it.
uint64_t layers_off_now();
// Returns the node whose backward runs on this thread, or null.
Node* running_node();
// Registers a function that runs after the backward of this thread has ended without an error.
lamella_status queue_callback(lamella_status (*run)(void*), void* context, void (*destroy)(void*));

// Makes a gradient fit the result that an edge leads to: takes its real part if the result is real, sums it to the
// result's shape, moves it to the device, and casts it to the dtype.
lamella_status conform(const Result& to, const Node* from, lamella_tensor* grad, lamella_tensor** out);

// Returns whether the backward of this thread needs a gradient along edge `edge` of node n; if no backward runs,
// whether the edge leads to a node.
bool edge_needed(const Node* n, int edge);

extern char* (*anomaly_trace)(void);
extern bool check_nan;

}  // namespace lamella::autograd
