// The table by which the Python face opens and closes levels and makes boxes. An operator cannot do this, since its
// arguments would come to the layer.
#pragma once

#include <lamella/c_api.h>

namespace lamella::transforms {

struct Interface {
  uint32_t size;
  // Opens a level of vmap; with size -1 one of forward mode.
  lamella_status (*open)(int64_t size, int32_t randomness, int32_t fallback, int64_t* level);
  lamella_status (*close)(int64_t level);
  // Makes a box for a batch along a dimension; an owned tensor.
  lamella_status (*box)(lamella_tensor* batch, int64_t dim, int64_t level, lamella_tensor** out);
  // Returns the batch along a dimension of the result, owned. A tensor that is no box of the level is repeated.
  lamella_status (*unbox)(lamella_tensor*, int64_t dim, int64_t level, lamella_tensor** out);
  // Makes a box of a level of forward mode; an owned tensor.
  lamella_status (*dual)(lamella_tensor* primal, lamella_tensor* tangent, int64_t level, lamella_tensor** out);
  // Returns the batch or the primal of a box, borrowed, and its level; null for another tensor.
  lamella_tensor* (*inner)(const lamella_tensor*, int64_t* level);
  // Returns whether a tensor is a box of a level of forward mode.
  int32_t (*is_forward)(const lamella_tensor*);
  // Returns whether autograd follows a tensor, or something in a box of it.
  int32_t (*is_recorded)(lamella_tensor*);
  // Returns the tangent of a box, borrowed; null for another tensor.
  lamella_tensor* (*tangent)(const lamella_tensor*);
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
