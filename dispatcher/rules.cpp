#include "dispatcher/rules.h"

#include <unordered_map>

#include "dispatcher/fill.h"
#include "dispatcher/operators.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

using Rules = std::unordered_map<std::string, std::vector<Rule>>;  // by the operator's full name
Rules& rules() {
  static auto* all = new Rules;
  return *all;
}

void invalidate_named(const std::string& full_name) {
  if (Operator* op = find_operator(full_name)) invalidate(op);
}

}  // namespace

lamella_status add_rule(Library& lib, const char* op, const char* layer, void* payload, void (*destroy)(void*),
                        lamella_handle* handle) {
  RegistryLock lock;
  const std::string name = name_within(lib, op);
  const lamella_handle h = enter(lib, [name](lamella_handle h) {
    for (Rule& r : rules()[name])
      if (r.handle == h && r.destroy) r.destroy(r.payload);
    erase_handle(rules()[name], h);
    invalidate_named(name);
  });
  rules()[name].push_back({h, layer, lib.owner, payload, destroy});
  invalidate_named(name);
  if (handle) *handle = h;
  return LAMELLA_OK;
}

// The last one, under whichever of the operator's names it came.
const Rule* rule_of(const Operator* op, const std::string& layer) {
  const Rule* found = nullptr;
  const auto look = [&](const std::string& name) {
    const auto known = rules().find(op->with_overload(name));
    if (known == rules().end()) return;
    for (const Rule& r : known->second)
      if (r.layer == layer && (!found || r.handle > found->handle)) found = &r;
  };
  look(op->name);
  for (const std::string& alias : op->aliases) look(alias);
  return found;
}

void* find_rule(const Operator* op, const char* layer) {
  RegistryLock lock;
  const Rule* r = rule_of(op, layer);
  return r ? r->payload : nullptr;
}

}  // namespace lamella::dispatcher
