// Checking kernels, with LAMELLA_CHECK_KERNELS=1: the arguments and outputs of each kernel of a device are compared
// before and after it runs.
//
// Note [Checked kernels]  A kernel finds its outputs allocated and writes into them, and nowhere else. Without this
//   mode native kernels are trusted. With it a table's entries for devices are wrapped when the table is filled, so
//   that a call without the mode costs nothing. The wrapped kernel gets new outputs in guarded memory in place of those
//   that the dispatcher made, except those that share memory with arguments. After the kernel, the outputs' device,
//   dtype, shape, strides and memory must be as before, and so must the guards and the elements of arguments that the
//   operator does not write. (A kernel of a functional form may replace an output by a tensor of its own with the same
//   device, dtype and shape.) Then the elements are copied into the outputs that the dispatcher made. A fault is an
//   error that names the kernel's owner. AddressSanitizer, not this mode, finds reads beyond the arguments.
#pragma once

#include "dispatcher/table.h"

namespace lamella::dispatcher {

// Returns an entry that runs the kernel of `e` between checks. Returns `e` itself without the mode, or if `e` is a
// shape rule, a composite, a missing kernel, or a kernel whose own results a derived form stores.
Entry checked(const Entry& e, const std::string& owner);

}  // namespace lamella::dispatcher
