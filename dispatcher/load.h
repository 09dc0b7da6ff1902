// The loader: opens a plugin's library and runs its lamella_plugin_init, once for each file until it is unloaded.
#pragma once

#include <lamella/program.h>

#include <string>
#include <vector>

namespace lamella::dispatcher {

// How a file is loaded; by default under its own namespace, beside the files that are loaded.
struct LoadOptions {
  std::string ns;        // what its own namespace is called, in place of the name that is written there
  std::string replaces;  // a file whose registrations it takes the place of: they are back if it cannot be loaded
};

// The file's stamp is checked before any of its code runs. The library is never unmapped; after an error nothing that
// it registered is left. `defined` (nullable): the namespaces that it has defined operators in.
lamella_status load_plugin(const std::string& path, const LoadOptions& = {},
                           std::vector<std::string>* defined = nullptr);
bool is_loaded(const std::string& path);
// Under which names a loaded file registers.
std::vector<std::string> owners_of(const std::string& path);
// Withdraws what the file has registered; loading it again runs its init once more. Nothing if it is not loaded.
void unload_plugin(const std::string& path);

// The C ABI's table calls these. A library that is opened while a file's lamella_plugin_init runs belongs to that file.
void note_opened(lamella_library*);
void note_closed(lamella_library*);

// Note [Chosen namespace]  A file's own namespace is the one that it opens first. The caller that loads the file may
//   choose another name for it: library_open then opens that one, and in all that is registered through the file's
//   libraries, then and later, names in its own namespace mean names in the chosen one. Look-ups, which have no
//   library, mean what they say: the file asks library_namespace.
std::string chosen_namespace(const std::string& ns);

}  // namespace lamella::dispatcher
