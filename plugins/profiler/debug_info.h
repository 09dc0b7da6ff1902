// Debug information: values by kind, which follow the work to other threads and tasks.
//
// Note [Two chains]  A thread has a chain of entries in a slot, which is copied with the thread's state to other
//   threads. A host language whose own context follows the work (Python's contextvars, of which each asyncio task has a
//   copy) keeps a second chain in that context; it is read only when debug information is queried. Each entry has a
//   number, in the order of their making: among entries of one kind the latest counts, whichever chain it is in. A copy
//   of the thread's state contains the entries of both chains, merged into one.
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

// Gives this thread a state in the slot, so that the host's entries are copied with the thread's state even if nothing
// was pushed here.
void carry_host_info();
// take_info() returns the entries of both chains that count, as one chain, owned; null if there are none. show_info()
// makes such a chain the thread's third one, while a step of backward runs, so that the information of the recorded
// call counts there; it returns the third chain from before.
void* take_info();
void* show_info(void* taken);
void retain_info(void* taken);

lamella_status register_info_slot(lamella_library*);

}  // namespace lamella::profiler
