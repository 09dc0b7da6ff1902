// Transfer: bytes between devices, and the copies that the dispatcher itself makes around a kernel.
//
// Note [Copying]  The dispatcher copies, clones and moves tensors, but it names no operator. The catalogue passes the
//   functions that do this to set_copying() once, before the first call.
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::dispatcher {

struct Copying {
  // Writes `from` into `to`, converting the dtype; the devices may differ.
  lamella_status (*copy)(core::Tensor* to, core::Tensor* from);
  lamella_status (*clone)(core::Tensor* from, core::TensorRef* out);
  // Sets `out` to `from` itself if it is on the device, else to a copy there.
  lamella_status (*to_device)(core::Tensor* from, lamella_device, core::TensorRef* out);
  // Serves a call of an operator with form_between_devices whose first two arguments, the destination and the
  // source, are on different devices.
  lamella_status (*between_devices)(core::Tensor* to, core::Tensor* from, bool non_blocking);
  // Serves a call of such an operator if both arguments are on one device, whose backend has no kernel for it: copies
  // in host memory, and sets `bytes` to the number of bytes that moved.
  lamella_status (*within_device)(core::Tensor* to, core::Tensor* from, int64_t* bytes);
};
void set_copying(const Copying&);
const Copying& copying();

// Call `copy` and `clone` of copying() with the layers turned off that the running call has passed.
lamella_status copy_aside(Frame&, core::Tensor* to, core::Tensor* from);
lamella_status clone_aside(Frame&, core::Tensor* from, core::TensorRef* out);

// Copies the bytes of a contiguous tensor into another contiguous one of the same dtype and size. Between the host and
// a device, the device's backend copies. Between two devices, the destination's backend copies, else the source's, else
// the bytes move through host memory. A copy to meta does nothing. `non_blocking`: the copy may return before the
// bytes have moved, unless they move between two devices through host memory.
lamella_status move_bytes(const core::Tensor* to, const core::Tensor* from, bool non_blocking);

// Makes later work on `stream` wait for the work that is on `behind` now. A null stream is the current one.
lamella_status run_behind(lamella_device device, void* stream, void* behind);

}  // namespace lamella::dispatcher
