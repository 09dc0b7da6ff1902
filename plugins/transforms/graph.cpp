#include "graph.h"

#include <unordered_set>

namespace lamella::transforms {
namespace {

// Calls f(node) with the node behind a tensor that requires a gradient, and with those behind what is in its box.
template <class F>
void each_node(const lamella_autograd* a, lamella_tensor* t, F&& f) {
  while (t) {
    lamella_node* n = nullptr;
    uint32_t output;
    if (a->requires_grad(t)) check(a->edge(t, &n, &output));
    if (n) {
      f(n);
      a->node_release(n);  // the tensor, or a node that was visited, holds it
    }
    const Box* b = box_of(t);
    if (b && tangent_of(t).defined()) each_node(a, tangent_of(t).get(), f);
    t = b ? inner_of(t).get() : nullptr;
  }
}

}  // namespace

bool has_other_leaves(const std::vector<lamella_tensor*>& roots, const std::vector<lamella_tensor*>& inputs) {
  const lamella_autograd* a = Tensor::autograd();
  if (!a) return false;
  std::unordered_set<lamella_node*> seen;
  std::vector<lamella_node*> waiting;
  const auto visit = [&](lamella_node* n) {
    if (n && seen.insert(n).second) waiting.push_back(n);
  };
  for (lamella_tensor* t : inputs) {  // the batches of an input belong to what is outside
    lamella_node* n = nullptr;
    uint32_t output;
    if (a->requires_grad(t)) check(a->edge(t, &n, &output));
    if (n) seen.insert(n);
    if (n) a->node_release(n);
  }
  for (lamella_tensor* t : roots) each_node(a, t, visit);
  while (!waiting.empty()) {
    lamella_node* n = waiting.back();
    waiting.pop_back();
    const int32_t edges = a->node_edges(n);
    if (edges == 0) return true;
    for (int32_t i = 0; i < edges; i++) {
      uint32_t output;
      visit(a->node_edge(n, i, &output));
    }
  }
  return false;
}

}  // namespace lamella::transforms
