// The log of used features: each key is told once a process.
#pragma once

#include <lamella/library.h>
#include <lamella/profiler.h>

#include <mutex>

namespace lamella::profiler {

lamella_status log_usage_once(const char* key);
lamella_status add_usage_handler(lamella_usage_handler, void* context, void (*destroy)(void*), uint64_t* handle);
lamella_status remove_usage_handler(uint64_t handle);

// Has keys that others send by the event channel logged, too.
lamella_status follow_usage(lamella_library*);

std::mutex& usage_mutex();
void tell_usage_in_child();  // of fork, where a thread that told is not there any more

}  // namespace lamella::profiler
