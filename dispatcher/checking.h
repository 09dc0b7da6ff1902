// Checking kernels, with LAMELLA_CHECK_KERNELS=1: each kernel of a device runs between checks of what it was given and
// of what it leaves.
//
// Note [Checked kernels]  A kernel finds its outputs allocated and writes into them, and nowhere else. Without this
// mode
//   native kernels are trusted. With it a table's entries for devices are wrapped when the table is filled, so that a
//   call without the mode costs nothing. The wrapped kernel gets new outputs in guarded memory in place of those that
//   the dispatcher made; afterwards their device, dtype, shape, strides and memory must be as before, the guards too,
//   and the elements of arguments that the operator does not write. Then the elements go where they belong. A fault is
//   an error that names the kernel's owner. Memory that a kernel reads beyond its arguments is found by
//   AddressSanitizer, not here.
#pragma once

#include "dispatcher/table.h"

namespace lamella::dispatcher {

// The entry that runs the kernel of `e` between checks; `e` itself without the mode, and where no kernel runs.
Entry checked(const Entry& e, const std::string& owner);

}  // namespace lamella::dispatcher
