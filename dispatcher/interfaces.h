// Interfaces: tables of C functions that one plugin publishes by name and others look up.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

lamella_status publish_interface(Library&, const char* name, uint32_t version, const void* table, lamella_handle*);
// Null if there is none of the name, or only an older one.
const void* find_interface(const char* name, uint32_t min_version);
// Tells of the interface whenever it comes and goes, and at once if it is there.
lamella_status on_interface(Library&, const char* name, uint32_t min_version, lamella_on_interface, void* context,
                            lamella_handle*);

}  // namespace lamella::dispatcher
