// Registration of layers, backends and dtypes, whose names are the keys of kernels.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

// Sets `out` to the one spelling of a key under which kernels are registered: a name in capitals ("CPU") is turned to
// small letters, and torch's keys are translated. Raises if the key cannot be a name, or is a key that only torch has.
lamella_status read_key(const std::string& who, const std::string& key, std::string* out);

lamella_status register_layer(Library&, const lamella_layer&, int32_t* bit, lamella_handle*);
lamella_status register_backend(Library&, const lamella_backend&, int32_t* id, lamella_handle*);
lamella_status register_dtype(Library&, const lamella_dtype_def&, int32_t* dtype, lamella_handle*);
const lamella_dtype_def* describe_dtype(int32_t dtype);  // null if it does not exist; a withdrawn one does
// Turns layers on for every thread until the handle is withdrawn.
lamella_status include_layers(Library&, uint64_t bits, lamella_handle*);

}  // namespace lamella::dispatcher
