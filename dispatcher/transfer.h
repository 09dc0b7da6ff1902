// Transfer: bytes between devices, and the copies that the dispatcher itself makes around a kernel.
//
// Note [Copying]  The dispatcher copies, clones and moves tensors, but it knows no operator. The catalogue hands in the
//   functions that do this, once, before the first call.
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::dispatcher {

struct Copying {
  // Writes `from` into `to`, converting the dtype; the devices may differ.
  lamella_status (*copy)(core::Tensor* to, core::Tensor* from);
  lamella_status (*clone)(core::Tensor* from, core::TensorRef* out);
  // `from` itself where it is on the device already.
  lamella_status (*to_device)(core::Tensor* from, lamella_device, core::TensorRef* out);
  // Serves a call of an operator with form_between_devices whose first two arguments, the destination and the
  // source, are on different devices.
  lamella_status (*between_devices)(core::Tensor* to, core::Tensor* from, bool non_blocking);
  // Serves such a call on one device whose backend has no kernel for it, in host memory; says how many bytes moved.
  lamella_status (*within_device)(core::Tensor* to, core::Tensor* from, int64_t* bytes);
};
void set_copying(const Copying&);
const Copying& copying();

// The same as `copy` and `clone`, for the dispatcher's own needs: the layers that the call has passed do not see them.
lamella_status copy_aside(Frame&, core::Tensor* to, core::Tensor* from);
lamella_status clone_aside(Frame&, core::Tensor* from, core::TensorRef* out);

// The bytes of a contiguous tensor into another one of the same dtype and size. The destination's backend is asked,
// then the source's; else they go through host memory.
// `non_blocking`: a copy from or to the host may return before the bytes have moved.
lamella_status move_bytes(const core::Tensor* to, const core::Tensor* from, bool non_blocking);

// Work that is put on `stream` from now on runs behind what is on `behind` now. Null is the current one.
lamella_status run_behind(lamella_device device, void* stream, void* behind);

}  // namespace lamella::dispatcher
