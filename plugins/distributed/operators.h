// The operators of collectives, and the layer that keeps tensors from being used while a collective is under way in their
// memory.
#pragma once

#include <lamella/library.h>

#include "group/work.h"

namespace lamella::distributed {

void register_operators(Library& m);
void register_gradients(Library& m);
void register_layer(Library& m);

// Notes that a collective is under way in a tensor's memory, which it reads, or writes.
void mark(const Tensor& t, const WorkRef& work, bool writes);
// Waits for what an operator that reads, or writes, the tensor has to wait for.
void settle(const lamella_tensor* t, bool writes);
// Returns the work that was started last on a tensor's memory, and that is not known to have ended; or null.
WorkRef work_of(const lamella_tensor* t);
// Forgets a work of c10d::start_all_reduce, which goes on.
void drop_work(int64_t work);
// The layer's bit, for the group's own calls of operators on memory in which their collective is under way.
uint64_t layer_mask();

}  // namespace lamella::distributed
