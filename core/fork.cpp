#include "core/fork.h"

#include <pthread.h>

#include <vector>

namespace lamella::core {
namespace {

struct Guarded {
  std::mutex own;  // of the list
  std::vector<std::mutex*> all;
};

Guarded& guarded() {
  static Guarded* g = [] {
    static constexpr auto let_go = [] {
      for (std::mutex* m : guarded().all) m->unlock();
      guarded().own.unlock();
    };
    pthread_atfork(
        [] {
          guarded().own.lock();
          for (std::mutex* m : guarded().all) m->lock();
        },
        let_go, let_go);
    return new Guarded;
  }();
  return *g;
}

}  // namespace

void free_in_children(std::mutex& m) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.own);
  g.all.push_back(&m);
}

}  // namespace lamella::core
