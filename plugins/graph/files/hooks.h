// Hooks of saving: functions that take part in every save of the process.
#pragma once

#include <lamella/graph.h>

namespace lamella::graph::files {

uint64_t add_hook(lamella_graph_export_hook hook, void* context, void (*destroy)(void*));
void remove_hook(uint64_t handle);  // raises if there is none
void run_hooks(lamella_object* program, const lamella_graph_files& files);

}  // namespace lamella::graph::files
