// The meta backend: tensors with a shape and no data. A call on it is the operator's shape rule and nothing else.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

void register_meta(Library& lib);

}  // namespace lamella::dispatcher
