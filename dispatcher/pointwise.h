// The one shape rule of all pointwise operators: broadcasting, promotion, and the layout of the result.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

// context: the operator's lamella_pointwise.
lamella_status infer_pointwise(lamella_frame* f, const lamella_value* args, lamella_meta* out);

// Gives `out`, whose sizes are known, the dense order of dimensions that its operands have, the first ones first, as
// torch does. Operands have at most its dimensions.
void choose_layout(const lamella_tensor* const* operands, int count, lamella_meta* out);

// A copy whose texts are its own, and its end.
const lamella_pointwise* copy_meaning(const lamella_pointwise&);
void free_meaning(const lamella_pointwise*);

// Broadcasts `sizes` into `into`; false where they do not fit.
bool broadcast(int* ndim, int64_t* into, int other_ndim, const int64_t* other);

// Raises where a number in the meaning of a pointwise operator has no meaning in this version.
lamella_status check_meaning(const lamella_pointwise&);

}  // namespace lamella::dispatcher
