// Layers, backends and dtypes come and go: their registration, their names, and the keys that these are for kernels.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

// The one spelling of a key that a kernel is registered under: a name in capitals is that in small letters ("CPU"), and
// torch's keys have their meaning here. An error where the key cannot be a name, or is a key that only torch has.
lamella_status read_key(const std::string& who, const std::string& key, std::string* out);

lamella_status register_layer(Library&, const lamella_layer&, int32_t* bit, lamella_handle*);
lamella_status register_backend(Library&, const lamella_backend&, int32_t* id, lamella_handle*);
lamella_status register_dtype(Library&, const lamella_dtype_def&, int32_t* dtype, lamella_handle*);
const lamella_dtype_def* describe_dtype(int32_t dtype);  // null if there is none; also of a withdrawn one
// Layers that are on for every thread while the handle lives.
lamella_status include_layers(Library&, uint64_t bits, lamella_handle*);

}  // namespace lamella::dispatcher
