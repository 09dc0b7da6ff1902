// The loader: opens a plugin's library and runs its lattis_plugin_init, once a process for each file.
#pragma once

#include <lattis/program.h>

#include <string>

namespace lattis::dispatcher {

// The file's stamp is judged before any of its code runs. The library stays mapped for ever; after an error nothing
// that it registered is left.
lattis_status load_plugin(const std::string& path);

// What a running lattis_plugin_init opens is closed again if it fails.
void note_opened(lattis_library*);
void note_closed(lattis_library*);

}  // namespace lattis::dispatcher
