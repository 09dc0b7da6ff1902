// Layers, backends and dtypes come and go: their registration, and the names that they may not have.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

lamella_status register_layer(Library&, const lamella_layer&, int32_t* bit, lamella_handle*);
lamella_status register_backend(Library&, const lamella_backend&, int32_t* id, lamella_handle*);
lamella_status register_dtype(Library&, const lamella_dtype_def&, int32_t* dtype, lamella_handle*);
const lamella_dtype_def* describe_dtype(int32_t dtype);  // null if there is none; also of a withdrawn one
// Layers that are on for every thread while the handle lives.
lamella_status include_layers(Library&, uint64_t bits, lamella_handle*);

}  // namespace lamella::dispatcher
