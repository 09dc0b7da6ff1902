// Handlers of fork: they hold the profiler's locks during the fork, and reset in the child the state of threads that it
// does not have.
#pragma once

#include <lamella/library.h>

namespace lamella::profiler {

lamella_status follow_forks();  // called when the plugin is loaded

}  // namespace lamella::profiler
