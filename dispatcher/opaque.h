// Opaque tensors below the layers: who gets one, and the error where none can.
//
// Note [Opaque arguments]  The storage of an opaque tensor has the lowest bit of keys among its sticky ones, a bit that
//   no layer has. So a call with such a tensor comes here after all layers, and one without pays nothing. The thread
//   cannot switch the bit off. What comes here goes on to the backend only where nothing reads the tensor's memory: to
//   a kernel that was registered for it, to a composite, or to a shape rule that is the whole operator.
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::dispatcher {

// Serves every operator at the lowest rank of keys.
lamella_status run_opaque(Frame*, const Value* args, Value* rets);
// Raises an error that names the first opaque argument, and the layers that may know its values.
lamella_status refuse_opaque(const Frame&, const Value* args);
// Which layers a tensor asks for, as a text: "'packed' (lamella-packed)"; empty if there are none.
std::string layers_of(const core::Tensor*);

}  // namespace lamella::dispatcher
