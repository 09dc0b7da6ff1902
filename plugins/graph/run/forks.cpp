#include "run/forks.h"

#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include <lamella/dispatcher.h>

#include "run/containers.h"
#include "run/future.h"
#include "run/shared_state.h"

namespace lamella::graph {
namespace {

struct Entry {
  ForkMutex* mutex;
  bool taken = false;
};
std::vector<Entry>& entries() {
  static auto& all = *new std::vector<Entry>();
  return all;
}

void before_fork() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  for (Entry& e : entries()) {
    while (!(e.taken = e.mutex->try_lock()) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}
void in_parent() {
  for (Entry& e : entries())
    if (e.taken) e.mutex->unlock();
}
void in_child() {
  for (Entry& e : entries())
    if (e.taken)
      e.mutex->unlock();
    else
      new (static_cast<std::mutex*>(e.mutex)) std::mutex;
  SharedState::renew();
  process_number++;
  forget_threads();
}

}  // namespace

ForkMutex::ForkMutex() { entries().push_back({this}); }

void register_forks(Library&) {
  static std::once_flag once;
  const auto* dispatcher = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
  if (dispatcher) std::call_once(once, [&] { dispatcher->around_fork(before_fork, in_parent, in_child); });
}

}  // namespace lamella::graph
