// Interfaces: tables of C functions that one plugin publishes by name and others look up.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

lamella_status publish_interface(Library&, const char* name, uint32_t version, const void* table, lamella_handle*);
// Returns null if no interface has the name, or only one of an older version.
const void* find_interface(const char* name, uint32_t min_version);
// Calls `callback` with the table when an interface of the name and of at least `min_version` is published, and at once
// if it is there already; with null when that interface is withdrawn.
lamella_status on_interface(Library&, const char* name, uint32_t min_version, lamella_on_interface callback,
                            void* context, lamella_handle*);

}  // namespace lamella::dispatcher
