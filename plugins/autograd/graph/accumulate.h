// AccumulateNode, the node of a leaf: it adds the gradients that arrive to the leaf's grad.
#pragma once

#include "graph/node.h"

namespace lamella::autograd {

bool is_accumulator(const Node* n);
// Clears the node's pointer to its leaf, which is being destroyed or gets another node. The caller holds the node's
// lock.
void forget_leaf(Node* n);
// Adds the gradient g to the grad of a tensor; takes over the reference to g.
lamella_status accumulate(Run& run, Variable& v, lamella_tensor* g);
// Returns the tensor's grad in `out`, owned, or null. The first reading of a grad that backward made lets the tensor's
// slots carry to it: here, since a node that accumulates knows no tensor.
lamella_status read_grad(lamella_tensor* t, Variable& v, lamella_tensor** out);
// `fresh`: backward has made it.
void set_grad(Variable& v, lamella_tensor* owned, bool fresh = false);

}  // namespace lamella::autograd
