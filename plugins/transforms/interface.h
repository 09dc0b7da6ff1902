// The table by which the Python face opens and closes levels and makes boxes. An operator cannot do this, since its
// arguments would come to the layer.
#pragma once

#include <lamella/c_api.h>

namespace lamella::transforms {

struct Interface {
  uint32_t size;
  // Opens a level of a kind, of enum Kind, with the other members of Level.
  lamella_status (*open)(int32_t kind, int64_t size, int32_t randomness, int32_t choice, int64_t* level);
  lamella_status (*close)(int64_t level);
  // Returns the number of the last level that was opened in the process.
  int64_t (*last)();
  // Makes a box for a batch along a dimension; an owned tensor.
  lamella_status (*box)(lamella_tensor* batch, int64_t dim, int64_t level, lamella_tensor** out);
  // Returns the batch along a dimension of the result, owned. A tensor that is no box of the level is repeated.
  lamella_status (*unbox)(lamella_tensor*, int64_t dim, int64_t level, lamella_tensor** out);
  // Makes a box of a level of forward mode; an owned tensor.
  lamella_status (*dual)(lamella_tensor* primal, lamella_tensor* tangent, int64_t level, lamella_tensor** out);
  // Returns the number of this thread's innermost level of functionalize that serves calls now; 0 if there is none.
  int64_t (*functional_level)();
  // Makes a box of a level of functionalize for a tensor from outside of it; an owned tensor.
  lamella_status (*functional)(lamella_tensor* outside, int64_t level, lamella_tensor** out);
  // Calls take(context, tensor, value) with the tensors from outside that were written at a level of functionalize, and with
  // their values; both are owned. The level forgets what it knows of tensors from outside.
  lamella_status (*settle)(int64_t level, void (*take)(void* context, lamella_tensor*, lamella_tensor* value),
                           void* context);
  // From now on calls of this thread belong to the levels below a number. Returns the number until now.
  int64_t (*set_below)(int64_t level);
  // Sets `out` to what is in a box, borrowed, and `level` to its level; `out` is null for another tensor.
  lamella_status (*inner)(const lamella_tensor*, lamella_tensor** out, int64_t* level);
  // Sets `kind` to that of a box, of enum Kind; to -1 for another tensor.
  lamella_status (*kind_of)(const lamella_tensor*, int32_t* kind);
  // Sets `is` to whether autograd follows a tensor, or something in a box of it.
  lamella_status (*is_recorded)(lamella_tensor*, int32_t* is);
  // Sets `out` to the tangent of a box, borrowed; to null for another tensor.
  lamella_status (*tangent)(const lamella_tensor*, lamella_tensor** out);
  // Sets `place` to a level's place among those that are open on this thread, from 1 on; to 0 if it is not open.
  lamella_status (*depth)(int64_t level, int32_t* place);
  // Returns a tensor over the same elements without history, owned; what is in a box keeps its own.
  lamella_status (*cut)(lamella_tensor*, lamella_tensor** out);
  // Returns a leaf over the same elements that requires a gradient, owned.
  lamella_status (*fresh)(lamella_tensor*, lamella_tensor** out);
  // Sets `found` to 1 if the roots, or their batches, depend on a leaf that requires a gradient and is not one of the
  // inputs: then gradients of the roots are recorded in their turn.
  lamella_status (*has_other_leaves)(lamella_tensor* const* roots, int32_t num_roots, lamella_tensor* const* inputs,
                                     int32_t num_inputs, int32_t* found);
};

}  // namespace lamella::transforms
