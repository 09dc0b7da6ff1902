// The stamp of a library: which version of the C ABI its file was built for, read without opening it as a library.
#pragma once

#include <lamella/c_api.h>

#include <string>

namespace lamella::dispatcher {

// Raises where there is no such file, where it is no shared library for this machine, and where it has no stamp.
lamella_status read_stamp(const std::string& path, uint32_t* version);

// Raises if the file ends before what the loader would map: a process that touches the rest dies.
lamella_status check_whole(const std::string& path);

// Raises if this library cannot run what was built for that version, naming both and what to do.
lamella_status check_version(const std::string& path, uint32_t version);

}  // namespace lamella::dispatcher
