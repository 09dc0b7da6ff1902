#include "files/hooks.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <lamella/error.h>
#include <lamella/library.h>

#include "run/forks.h"

namespace lamella::graph::files {
namespace {

struct Hook {
  uint64_t handle;
  lamella_graph_export_hook run;
  void* context;
  void (*destroy)(void*);
  ~Hook() {
    if (destroy) destroy(context);
  }
};
ForkMutex hooks_lock;
std::vector<std::shared_ptr<Hook>>& hooks() {  // never destroyed: what the hooks hold may be gone when the process ends
  static auto& all = *new std::vector<std::shared_ptr<Hook>>();
  return all;
}

}  // namespace

uint64_t add_hook(lamella_graph_export_hook hook, void* context, void (*destroy)(void*)) {
  static uint64_t next = 0;
  const std::lock_guard<std::mutex> guard(hooks_lock);
  // The hook owns its context once it is in the list.
  const auto made = std::make_shared<Hook>(Hook{next + 1, hook, context, nullptr});
  hooks().push_back(made);
  made->destroy = destroy;
  return ++next;
}

void remove_hook(uint64_t handle) {
  std::shared_ptr<Hook> found;                          // destroyed behind the lock, or by a save that runs it
  const std::lock_guard<std::mutex> guard(hooks_lock);  // released before `found` is
  const auto at = std::find_if(hooks().begin(), hooks().end(), [&](const auto& h) { return h->handle == handle; });
  LAMELLA_CHECK_VALUE(at != hooks().end(), "remove_export_hook: there is no hook ", handle);
  found = std::move(*at);
  hooks().erase(at);
}

void run_hooks(lamella_object* program, const lamella_graph_files& files) {
  std::vector<std::shared_ptr<Hook>> all;
  {
    const std::lock_guard<std::mutex> guard(hooks_lock);
    all = hooks();
  }
  for (const auto& h : all) check(h->run(h->context, program, &files));
}

}  // namespace lamella::graph::files
