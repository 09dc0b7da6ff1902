// The meta backend: tensors with a shape and no data. A call on it runs the operator's shape rule or,
// if it has none, its composite.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

void register_meta(Library& lib);

}  // namespace lamella::dispatcher
