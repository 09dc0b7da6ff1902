// Hooks of nodes: they are added, and removed by id, on any thread.
#pragma once

#include "graph/node.h"

namespace lamella::autograd {

// If this fails, the caller keeps the ownership of the hook.
lamella_status add_hook(Node* n, uint32_t output, const lamella_hook& hook, uint64_t* id);
void remove_hook(uint64_t id);  // does nothing if the hook was removed, or its node destroyed
void remove_hooks(Node* n);     // removes all hooks of the node

}  // namespace lamella::autograd
