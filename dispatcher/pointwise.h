// The one shape rule of all pointwise operators: broadcasting, promotion, and the layout of the result.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

// The shape rule; f->context is the operator's lamella_pointwise.
lamella_status infer_pointwise(lamella_frame* f, const lamella_value* args, lamella_meta* out);

// Sets the strides of `out`, whose sizes are set: dense, in the order of dimensions that the operands' strides have;
// earlier operands take precedence, as in torch. Sets none if all operands are contiguous. No operand has more
// dimensions than `out`.
void choose_layout(const lamella_tensor* const* operands, int count, lamella_meta* out);

// copy_meaning() duplicates a lamella_pointwise with its strings; free_meaning() releases the copy.
const lamella_pointwise* copy_meaning(const lamella_pointwise&);
void free_meaning(const lamella_pointwise*);

// Broadcasts the sizes `other` into the sizes `into`, which may get more dimensions; returns false if they do not
// broadcast.
bool broadcast(int* ndim, int64_t* into, int other_ndim, const int64_t* other);

// Raises if a number in a lamella_pointwise has no meaning in this version.
lamella_status check_meaning(const lamella_pointwise&);

}  // namespace lamella::dispatcher
