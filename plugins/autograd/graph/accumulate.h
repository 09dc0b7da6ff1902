// The node at the end of every path: it adds the gradients that arrive to a leaf's grad.
#pragma once

#include "graph/node.h"

namespace lamella::autograd {

bool is_accumulator(const Node* n);
// The leaf is gone; under the node's lock.
void forget_leaf(Node* n);
// Adds a gradient to that of a tensor; takes over the reference to it.
lamella_status accumulate(Run& run, Variable& v, lamella_tensor* g);
// The leaf's gradient, owned; null if the leaf is gone or has none.
lamella_tensor* grad_of(Variable& v);
void set_grad(Variable& v, lamella_tensor* owned);

}  // namespace lamella::autograd
