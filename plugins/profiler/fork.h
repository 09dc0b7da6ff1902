// Fork while the profiler is in use: its locks, and what does not go on in a child.
#pragma once

#include <lamella/library.h>

namespace lamella::profiler {

lamella_status follow_forks();  // once, when the plugin is loaded

}  // namespace lamella::profiler
