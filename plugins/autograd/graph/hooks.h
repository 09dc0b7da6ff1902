// Hooks of nodes: added, and removed by their ids, on any thread.
#pragma once

#include "graph/node.h"

namespace lamella::autograd {

// The hook stays the caller's if this fails.
lamella_status add_hook(Node* n, uint32_t output, const lamella_hook& hook, uint64_t* id);
void remove_hook(uint64_t id);  // nothing if it was removed, or went with its node
void remove_hooks(Node* n);     // all of them

}  // namespace lamella::autograd
