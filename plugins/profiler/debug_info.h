// Debug information: values by kind that travel with the work.
//
// Note [Two chains]  A thread has a chain of entries in a slot, which its state carries to other threads. A host whose
//   own context travels (Python's contextvars, which every task of asyncio has) keeps a second chain there, and it is
//   read only when somebody asks. Every entry has a number in the order in which they were made: of two of one kind
//   the later one counts, whichever chain it stands in. What is carried from a thread is both, as one.
#pragma once

#include <lamella/library.h>
#include <lamella/profiler.h>

namespace lamella::profiler {

lamella_status info_push(const char* kind, const lamella_value* value, void** token);
lamella_status info_pop(void* token);
lamella_status info_get(const char* kind, lamella_value* out);
lamella_status info_each(lamella_status (*visit)(void*, const char*, const lamella_value*), void* context);
lamella_status info_make(const char* kind, const lamella_value* value, void* below, void** entry);
void info_free(void* entry);
void set_info_reader(void* (*innermost)());

// Has this thread's state carry what the host's context has, also where nothing was pushed here.
void carry_host_info();
// What counts here, owned, to be looked at elsewhere; null if there is nothing. And such a chain as this thread's third
// one while a step of backward runs: what counted where its call was made. It gives the one from before.
void* take_info();
void* show_info(void* taken);
void retain_info(void* taken);

lamella_status register_info_slot(lamella_library*);

}  // namespace lamella::profiler
