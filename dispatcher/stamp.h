// The stamp of a library: the version of the C ABI that its file was built for, read without loading the library.
#pragma once

#include <lamella/c_api.h>

#include <string>

namespace lamella::dispatcher {

// Raises if there is no such file, if it is no shared library for this machine, or if it has no stamp.
lamella_status read_stamp(const std::string& path, uint32_t* version);

// Raises if the file ends before the part that the loader would map: a process that reads beyond the end is killed.
lamella_status check_whole(const std::string& path);

// Raises if this library cannot run code that was built for that version; the error names both and the remedy.
lamella_status check_version(const std::string& path, uint32_t version);

}  // namespace lamella::dispatcher
