// Hooks of nodes. The code that added a hook refers to it by its id alone. An id keeps nothing alive, and becomes
// invalid when the hook is removed or the node is destroyed.
#include "graph/hooks.h"

#include <mutex>
#include <unordered_map>

#include "fork.h"

namespace lamella::autograd {
namespace {

// Maps the id of each hook to its node. Its lock is always taken before a node's lock.
struct Places {
  std::mutex& lock = new_innermost_mutex();
  std::unordered_map<uint64_t, Node*> nodes;
  uint64_t next = 1;
};
Places& places() {
  static auto* all = new Places;  // never destroyed: graphs may outlive static objects
  return *all;
}

}  // namespace

lamella_status add_hook(Node* n, uint32_t output, const lamella_hook& hook, uint64_t* id) {
  if (int64_t{output} >= n->num_results)
    return fail(LAMELLA_INDEX_ERROR, "hook_add: the node has no result " + std::to_string(output) + "; it has " +
                                         std::to_string(n->num_results));
  Extra& e = extra_of(n);
  Places& all = places();
  auto owner = std::make_shared<Extra::Owner>();
  std::lock_guard lock(all.lock);
  Guard guard(n);
  e.hooks.reserve(e.hooks.size() + 1);
  all.nodes.emplace(*id = all.next, n);
  all.next++;
  owner->hook = hook;  // nothing fails after this line; before it the caller owns the hook
  e.hooks.push_back({*id, output, std::move(owner)});
  if (hook.traverse) hold_host(n);
  return LAMELLA_OK;
}

void remove_hook(uint64_t id) {
  Places& all = places();
  // declared first, so that the hook is destroyed after both locks are released
  std::shared_ptr<const Extra::Owner> gone;
  std::lock_guard lock(all.lock);
  const auto at = all.nodes.find(id);
  if (at == all.nodes.end()) return;
  Node* n = at->second;
  all.nodes.erase(at);
  Guard guard(n);
  std::vector<Extra::Hook>& hooks = n->extra->hooks;
  const auto hook = std::find_if(hooks.begin(), hooks.end(), [id](const auto& h) { return h.id == id; });
  gone = std::move(hook->owner);
  hooks.erase(hook);
}

void remove_hooks(Node* n) {
  Extra* e = has_extra(n);
  if (!e) return;
  Places& all = places();
  std::vector<Extra::Hook> gone;
  std::lock_guard lock(all.lock);
  Guard guard(n);
  gone.swap(e->hooks);
  for (const Extra::Hook& h : gone) all.nodes.erase(h.id);
}

}  // namespace lamella::autograd
