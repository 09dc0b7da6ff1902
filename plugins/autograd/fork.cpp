#include "fork.h"

#include <lamella/dispatcher.h>
#include <lamella/kernel.h>

#include <utility>
#include <vector>

namespace lamella::autograd {
namespace {

struct Followed {
  std::mutex own;  // guards both lists
  std::vector<std::mutex*> innermost;
  std::vector<std::pair<void*, void (*)(void*)>> renewed;
};

Followed& followed();

void before() {
  followed().own.lock();
  for (std::mutex* m : followed().innermost) m->lock();
}

void in_parent() {
  for (std::mutex* m : followed().innermost) m->unlock();
  followed().own.unlock();
}

void in_child() {
  in_parent();
  for (const auto& [place, renew] : followed().renewed) renew(place);
}

Followed& followed() {
  static auto* all = [] {
    if (const auto* dispatcher = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1)))
      dispatcher->around_fork(before, in_parent, in_child);
    return new Followed;  // never destroyed, like the locks
  }();
  return *all;
}

}  // namespace

std::mutex& new_innermost_mutex() {
  auto* made = new std::mutex;
  const std::lock_guard lock(followed().own);
  followed().innermost.push_back(made);
  return *made;
}

void renew_in_children(void* place, void (*renew)(void*)) {
  const std::lock_guard lock(followed().own);
  followed().renewed.emplace_back(place, renew);
}

}  // namespace lamella::autograd
