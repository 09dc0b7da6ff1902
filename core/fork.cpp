#include "core/fork.h"

#include <pthread.h>

#include <vector>

namespace lamella::core {
namespace {

struct Registered {
  AroundFork outermost{};
  std::mutex own;  // guards both lists
  std::vector<AroundFork> middle;
  std::vector<std::mutex*> innermost;
};

void run(void (*f)()) {
  if (f) f();
}

Registered& registered() {
  static Registered* r = [] {
    pthread_atfork(
        [] {
          Registered& r = registered();
          run(r.outermost.before);
          r.own.lock();
          for (size_t i = r.middle.size(); i-- > 0;) run(r.middle[i].before);
          for (std::mutex* m : r.innermost) m->lock();
        },
        [] {
          Registered& r = registered();
          for (std::mutex* m : r.innermost) m->unlock();
          for (const AroundFork& a : r.middle) run(a.parent);
          r.own.unlock();
          run(r.outermost.parent);
        },
        [] {
          Registered& r = registered();
          for (std::mutex* m : r.innermost) m->unlock();
          r.own.unlock();
          run(r.outermost.child);  // first, since the others may use the registry
          for (const AroundFork& a : r.middle) run(a.child);
        });
    return new Registered;
  }();
  return *r;
}

}  // namespace

void around_fork_outermost(AroundFork a) { registered().outermost = a; }

void around_fork(AroundFork a) {
  Registered& r = registered();
  const std::lock_guard lock(r.own);
  r.middle.push_back(a);
}

std::mutex& new_innermost_mutex() {
  auto* made = new std::mutex;
  free_in_children(*made);
  return *made;
}

void free_in_children(std::mutex& m) {
  Registered& r = registered();
  const std::lock_guard lock(r.own);
  r.innermost.push_back(&m);
}

}  // namespace lamella::core
