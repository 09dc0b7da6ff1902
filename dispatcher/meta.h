// The meta backend: tensors with a shape and no data. A call on it runs the operator's kernel for "meta" if there is
// one, else the operator's shape rule, else its composite.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

void register_meta(Library& lib);

}  // namespace lamella::dispatcher
