#include "dispatcher/rules.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "core/error.h"
#include "dispatcher/fill.h"
#include "dispatcher/operators.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

using RuleRef = std::shared_ptr<const Rule>;                      // shared with the callbacks that are running
std::unordered_map<std::string, std::vector<RuleRef>>& rules() {  // by the operator's full name
  static auto* all = new std::unordered_map<std::string, std::vector<RuleRef>>;
  return *all;
}

// A callback for the rules of one layer, and the rules that it has seen added.
struct Watcher {
  lamella_handle handle;
  std::string layer;
  lamella_on_rule callback;
  void* context;
  std::vector<RuleRef> known;
  bool gone = false;

  lamella_status come(const RuleRef& rule) {
    const lamella_rule r = rule->described();
    if (const lamella_status st = callback(context, rule->handle, &r, 1)) return st;
    known.push_back(rule);
    if (gone) go(rule);  // the callback has withdrawn itself
    return LAMELLA_OK;
  }
  void go(const RuleRef& rule) {
    if (std::erase(known, rule) == 0) return;
    core::Error kept = std::exchange(core::pending_error(), {});  // the error of a rule that was refused
    const lamella_rule r = rule->described();
    callback(context, rule->handle, &r, 0);
    core::pending_error() = std::move(kept);
  }
};
std::vector<std::shared_ptr<Watcher>>& watchers() {
  static auto* all = new std::vector<std::shared_ptr<Watcher>>;
  return *all;
}

void invalidate_named(const std::string& full_name) {
  if (Operator* op = find_operator(full_name)) invalidate(op);
}

// Runs the callbacks for a rule that is withdrawn, in the reverse order of those for its addition.
void announce_gone(const RuleRef& rule) {
  const auto now = watchers();
  for (size_t i = now.size(); i-- > 0;) now[i]->go(rule);
}

void take_rule_back(const std::string& op, lamella_handle h) {
  auto& of_op = rules()[op];
  const auto found = std::find_if(of_op.begin(), of_op.end(), [h](const RuleRef& r) { return r->handle == h; });
  if (found == of_op.end()) return;
  const RuleRef rule = *found;
  of_op.erase(found);
  announce_gone(rule);
  if (rule->destroy) rule->destroy(rule->payload);
  invalidate_named(op);
}

}  // namespace

lamella_rule Rule::described() const {
  return {sizeof(lamella_rule), 0, op.c_str(), layer.c_str(), kind.empty() ? nullptr : kind.c_str(), payload, destroy,
          owner.c_str()};
}

lamella_status add_rule(Library& lib, const lamella_rule& def, lamella_handle* handle) {
  RegistryLock lock;
  const std::string name = name_within(lib, def.op);
  const lamella_handle h = enter(lib, [name](lamella_handle h) { take_rule_back(name, h); });
  const auto rule = std::make_shared<const Rule>(
      Rule{h, name, def.layer, def.kind ? def.kind : "", lib.owner, def.payload, def.destroy});
  const auto now = watchers();
  for (const auto& each : now) {
    if (each->gone || each->layer != rule->layer) continue;
    lamella_status st = each->come(rule);
    if (!st && !is_live(h))
      st = core::raise(LAMELLA_RUNTIME_ERROR,
                       "rule: the library of " + lib.owner + " was closed by a callback for the rule of " + name);
    if (!st) continue;
    announce_gone(rule);
    core::Error kept = std::exchange(core::pending_error(), {});
    if (is_live(h)) withdraw(h);  // the payload still belongs to the caller
    core::pending_error() = std::move(kept);
    return st;
  }
  rules()[name].push_back(rule);
  invalidate_named(name);
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status on_rule(Library& lib, const char* layer, lamella_on_rule callback, void* context,
                       lamella_handle* handle) {
  RegistryLock lock;
  auto made = std::make_shared<Watcher>(Watcher{0, layer, callback, context, {}});
  made->handle = enter(lib, [made](lamella_handle) {
    made->gone = true;
    std::erase(watchers(), made);
    while (!made->known.empty()) made->go(RuleRef(made->known.back()));
  });
  watchers().push_back(made);
  std::vector<RuleRef> there;
  for (const auto& [op, of_op] : rules())
    std::copy_if(of_op.begin(), of_op.end(), std::back_inserter(there),
                 [&](const RuleRef& r) { return r->layer == layer; });
  std::sort(there.begin(), there.end(), [](const RuleRef& a, const RuleRef& b) { return a->handle < b->handle; });
  if (handle) *handle = made->handle;
  for (const RuleRef& rule : there) {
    if (made->gone) break;                 // its own callback has withdrawn it
    if (!is_live(rule->handle)) continue;  // a callback has withdrawn the rule
    const lamella_status st = made->come(rule);
    if (!st) continue;
    core::Error kept = std::exchange(core::pending_error(), {});
    if (!made->gone) withdraw(made->handle);
    core::pending_error() = std::move(kept);
    return st;
  }
  return LAMELLA_OK;
}

void each_rule(const Operator* op, const std::function<void(const Rule&)>& visit) {
  std::vector<RuleRef> found;
  const auto look = [&](const std::string& name) {
    const auto known = rules().find(op->with_overload(name));
    if (known != rules().end()) found.insert(found.end(), known->second.begin(), known->second.end());
  };
  look(op->name);
  for (const std::string& alias : op->aliases) look(alias);
  std::sort(found.begin(), found.end(), [](const RuleRef& a, const RuleRef& b) { return a->handle < b->handle; });
  for (const RuleRef& rule : found) visit(*rule);
}

void each_rule_of_all(const std::function<void(const Rule&)>& visit) {
  for (const auto& [op, of_op] : rules())
    for (const RuleRef& rule : of_op) visit(*rule);
}

const Rule* rule_of(const Operator* op, const std::string& layer) {
  const Rule* last = nullptr;
  each_rule(op, [&](const Rule& r) {
    if (r.layer == layer && r.kind.empty()) last = &r;
  });
  return last;
}

void* find_rule(const Operator* op, const char* layer) {
  RegistryLock lock;
  const Rule* r = rule_of(op, layer);
  return r ? r->payload : nullptr;
}

}  // namespace lamella::dispatcher
