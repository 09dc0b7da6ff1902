/* The functions that liblamella.so exports, for a program in C or C++ that links it or opens it: they return the table,
 * and load plugins by path. A plugin or an extension needs none of this; the loader hands it the table.
 *
 *   const lamella_api* api = lamella_get_api(LAMELLA_TARGET_VERSION);
 *   if (!api) return 1;
 *   if (lamella_load_default()) fputs(api->error_message(), stderr);
 */
#ifndef LAMELLA_PROGRAM_H
#define LAMELLA_PROGRAM_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Null if this library cannot serve a program built for that version: another major, or a newer minor. */
const lamella_api* lamella_get_api(uint32_t version);
/* The library's own version. */
uint32_t lamella_abi_version(void);
/* Reads the file's stamp, opens the library and runs its lamella_plugin_init, once a process for one file. After an
 * error nothing that it registered is left. Safe on any thread. */
lamella_status lamella_load_plugin(const char* path);
/* Loads the host's backend and the plugins (autograd, profiler) that are installed in the folder of liblamella.so, each
 * as by lamella_load_plugin. A second call does nothing. The first error ends it; what was loaded before stays. Other
 * devices and other packages' plugins are loaded by their paths. */
lamella_status lamella_load_default(void);
/* The version that a file was built for, read without opening it as a library. */
lamella_status lamella_plugin_stamp(const char* path, uint32_t* version);

#ifdef __cplusplus
}
#endif
#endif
