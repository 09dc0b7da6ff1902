// Engine: backward over the graph, without recursion. Read run_backward at the end of engine.cpp first.
#pragma once

#include "node.h"

namespace lattis::autograd {

// The operators that the engine itself calls.
struct Operators {
  const lattis_operator *clone_op, *add_op, *add_into_op, *sum_op, *cast_op, *ones_op, *zeros_op, *real_op, *reshape_op,
      *isnan_op, *any_op, *item_op, *move_op;
  lattis_status clone(lattis_tensor* t, lattis_tensor** out) const;
  lattis_status add(lattis_tensor* a, lattis_tensor* b, lattis_tensor** out) const;
  lattis_status add_into(lattis_tensor* a, lattis_tensor* b) const;
  lattis_status ones_like(lattis_tensor* t, lattis_tensor** out) const;
  lattis_status zeros(const Result& like, lattis_tensor** out) const;
  lattis_status sum_to(lattis_tensor* t, const Result& to, lattis_tensor** out) const;
  lattis_status move(lattis_tensor* t, lattis_device to, lattis_tensor** out) const;
  lattis_status cast(lattis_tensor* t, uint8_t dtype, lattis_tensor** out) const;
  lattis_status has_nan(lattis_tensor* t, bool* out) const;
};
const Operators& operators();

// Whether gradients are recorded while something runs in this thread.
class GradMode {
 public:
  explicit GradMode(bool on) : thread_(api().thread()), saved_(thread_->exclude) {
    thread_->exclude = on ? saved_ & ~layer_bit : saved_ | layer_bit;
  }
  ~GradMode() { thread_->exclude = (thread_->exclude & ~layer_bit) | (saved_ & layer_bit); }
  GradMode(const GradMode&) = delete;

 private:
  lattis_thread* thread_;
  uint64_t saved_;
};
inline bool grad_mode() { return !(api().thread()->exclude & layer_bit); }

// One walk.
struct Run {
  virtual ~Run() = default;
  bool retain_graph = false, create_graph = false, accumulate = true;
  const Operators& ops = operators();

  // Whether a gradient along this edge of the node that runs now is asked for.
  virtual bool needs(const Node* n, int edge) const = 0;
};

lattis_status run_backward(lattis_tensor* const* roots, lattis_tensor* const* grads, int num_roots,
                           lattis_tensor* const* inputs, int num_inputs, lattis_tensor** outs, uint32_t flags);

// What a gradient must be to flow along an edge: summed to the shape, cast to the dtype.
lattis_status conform(const Result& to, const Node* from, lattis_tensor* grad, lattis_tensor** out);

// Whether a gradient along this edge is asked for, in this thread's run.
bool edge_needed(const Node* n, int edge);

extern char* (*anomaly_trace)(void);
extern bool check_nan;

}  // namespace lattis::autograd
