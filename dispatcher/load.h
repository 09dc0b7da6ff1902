// The loader: opens a plugin's library and runs its lamella_plugin_init, once for each file until it is unloaded.
#pragma once

#include <lamella/program.h>

#include <string>
#include <vector>

namespace lamella::dispatcher {

// Options of a load. By default the file keeps its namespace and is loaded beside the files that are loaded already.
struct LoadOptions {
  std::string ns;        // replaces the name of the namespace that is written in the file
  std::string replaces;  // a loaded file that this one replaces; its registrations return if the load fails
};

// Checks the file's stamp before any of its code runs. The library is never unmapped; after an error nothing that it
// registered is left. `defined`, unless null, gets the namespaces in which the file has defined operators.
lamella_status load_plugin(const std::string& path, const LoadOptions& = {},
                           std::vector<std::string>* defined = nullptr);
// Loads the host's backend and the plugins that are installed beside liblamella.so. It stops at the first error.
lamella_status load_default();
bool is_loaded(const std::string& path);
// Returns the owners under whose names a loaded file registers.
std::vector<std::string> owners_of(const std::string& path);
// Withdraws all that the file has registered; loading it again runs its init once more. Does nothing if it is not
// loaded.
void unload_plugin(const std::string& path);

// The entries of the C ABI call these. A library that is opened while a file's lamella_plugin_init runs belongs to the
// file.
void note_opened(lamella_library*);
void note_closed(lamella_library*);

// Note [Chosen namespace]  A file's own namespace is the one that it opens first. The caller that loads the file may
//   choose another name for it: library_open then opens the chosen namespace, and in all that is registered through the
//   file's libraries, then and later, names in its own namespace mean names in the chosen one. Look-ups have no library
//   and are not translated: the file calls library_namespace to get the chosen name.
std::string chosen_namespace(const std::string& ns);

}  // namespace lamella::dispatcher
