// The C table that every plugin gets, and the loader that hands it over.
#pragma once

#include <lattis/c_api.h>

#include <string>

namespace lattis::dispatcher {

const lattis_api* api();

// Registers meta, composites and the catalogue. Called once by whoever uses the library first; cheap afterwards.
void start();

// Opens a plugin's library and runs its lattis_plugin_init. The library stays mapped for ever.
lattis_status load_plugin(const std::string& path);

}  // namespace lattis::dispatcher

// For programs without Python.
extern "C" __attribute__((visibility("default"))) const lattis_api* lattis_get_api(void);
extern "C" __attribute__((visibility("default"))) lattis_status lattis_load_plugin(const char* path);
