// The log of used features: each key is reported to the handlers once a process.
#pragma once

#include <lamella/library.h>
#include <lamella/profiler.h>

#include <mutex>

namespace lamella::profiler {

lamella_status log_usage_once(const char* key);
lamella_status add_usage_handler(lamella_usage_handler, void* context, void (*destroy)(void*), uint64_t* handle);
lamella_status remove_usage_handler(uint64_t handle);

// Logs the keys that other libraries send by the event channel as well.
lamella_status follow_usage(lamella_library*);

std::mutex& usage_mutex();
void reset_usage_in_child();  // for a child of fork, which lacks the thread that was calling handlers

}  // namespace lamella::profiler
