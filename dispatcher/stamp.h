// The stamp of a library: the version of the C ABI that its file was built for, read without loading the library.
#pragma once

#include <lamella/c_api.h>

#include <string>

namespace lamella::dispatcher {

// Sets `version` to the newest of the file's stamps. Raises if there is no such file, if it is no shared library for
// this machine, if it has no stamp, or if its stamps have different major versions.
lamella_status read_stamp(const std::string& path, uint32_t* version);

// Raises if the file ends before the end of the part that the loader would map: a process that reads beyond a file's
// end is killed.
lamella_status check_whole(const std::string& path);

// Raises if this library cannot run code that was built for that version; the error names both versions and the remedy.
lamella_status check_version(const std::string& path, uint32_t version);

}  // namespace lamella::dispatcher
