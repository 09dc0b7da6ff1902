#include "fork.h"

#include <lamella/dispatcher.h>

#include <mutex>

#include "memory/history.h"
#include "observe/calls.h"
#include "observe/observers.h"
#include "observe/thread.h"
#include "trace/trace.h"
#include "usage.h"

namespace lamella::profiler {
namespace {

// Visits the locks that are held during a fork, in the order in which they are taken. (The locks of trace/devices.cpp
// and switching() of memory/history.cpp are not among them: the child makes new ones.)
template <class Visit>
void each_lock(Visit visit) {
  for (std::mutex* m : {&observers_mutex(), &usage_mutex(), &history_mutex(), &traces_mutex(), &pages_mutex()})
    visit(*m);
}

void before() {
  each_lock([](std::mutex& m) { m.lock(); });
}

void in_parent() {
  each_lock([](std::mutex& m) { m.unlock(); });
}

void in_child() {
  in_parent();
  if (current_thread) current_thread->name_anew();
  forget_other_threads();
  free_calls_in_child();
  reset_usage_in_child();
  switch_memory_in_child();
  end_traces_in_child();
}

}  // namespace

lamella_status follow_forks() {
  static bool followed = false;  // a later load of the plugin must not register again; guarded by the registry's lock
  const auto* dispatcher = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
  if (!dispatcher) return fail(LAMELLA_RUNTIME_ERROR, "profiler: there is no interface 'dispatcher'");
  if (!std::exchange(followed, true)) dispatcher->around_fork(before, in_parent, in_child);
  return LAMELLA_OK;
}

}  // namespace lamella::profiler
