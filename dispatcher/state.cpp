#include "dispatcher/state.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/tensor.h"
#include "core/thread.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

constexpr int max_slots = 256;  // plugins that are edited and loaded again take new ones
lamella_slot_type tensor_slots[max_slots];
lamella_thread_slot_type thread_slots[max_slots];
std::atomic<int> num_tensor_slots{0}, num_thread_slots{0};

std::vector<Attribute*>& attributes() {
  static auto* v = new std::vector<Attribute*>;
  return *v;
}

std::atomic<int> num_keywords{0};
std::vector<Keyword*>& keywords() {
  static auto* v = new std::vector<Keyword*>;
  return *v;
}

void (*attribute_hook)(const Attribute*, bool) = nullptr;
std::string (*attribute_holder)(const char*) = nullptr;

struct Captured {
  uint64_t include, exclude;
  lamella_device default_device;
  std::vector<void*> slots;
};

void destroy_tensor_slot(int index, void* state) {
  if (tensor_slots[index].destroy) tensor_slots[index].destroy(state);
}

void destroy_thread_state(int index, void* state) {
  if (thread_slots[index].destroy) thread_slots[index].destroy(state);
}

bool same_functions(const lamella_slot_type& a, const lamella_slot_type& b) {
  return a.destroy == b.destroy && a.traverse == b.traverse && a.clear == b.clear;
}
bool same_functions(const lamella_thread_slot_type& a, const lamella_thread_slot_type& b) {
  return a.capture == b.capture && a.restore == b.restore && a.destroy == b.destroy;
}

// Registers a slot's type, or finds it again. Slots below the count are never written again: readers need no lock.
template <class Type>
lamella_status add(const char* what, Type* slots, std::atomic<int>& count, const Type& t, int32_t* index) {
  RegistryLock lock;
  int n = count.load();
  for (int i = 0; i < n; i++)
    if (!std::strcmp(slots[i].name, t.name) && same_functions(slots[i], t)) {
      *index = i;
      return LAMELLA_OK;
    }
  if (n == max_slots)
    return core::raise(LAMELLA_RUNTIME_ERROR, core::format("%s: %d are taken, '%s' is one too many", what, n, t.name));
  slots[n] = t;
  slots[n].name = strdup(t.name);
  *index = n;
  count.store(n + 1, std::memory_order_release);
  return LAMELLA_OK;
}

}  // namespace

void install_state() {
  core::destroy_slot = destroy_tensor_slot;
  core::destroy_thread_slot = destroy_thread_state;
}

lamella_status add_tensor_slot(Library&, const lamella_slot_type& t, int32_t* index) {
  return add("tensor slot", tensor_slots, num_tensor_slots, t, index);
}
lamella_status add_thread_slot(Library&, const lamella_thread_slot_type& t, int32_t* index) {
  return add("thread slot", thread_slots, num_thread_slots, t, index);
}

namespace {

bool is_given(const char* entry, int32_t index, const std::atomic<int>& count) {
  if (__builtin_expect(index >= 0 && index < count.load(std::memory_order_acquire), 1)) return true;
  core::raise(LAMELLA_INDEX_ERROR, core::format("%s: there is no slot %d", entry, index));
  return false;
}

}  // namespace

void set_slot(lamella_tensor* t, int32_t index, void* state) {
  if (!is_given("slot_set", index, num_tensor_slots)) return;
  if (void* old = core::exchange_slot(core::full(t), index, state)) destroy_tensor_slot(index, old);
}

int traverse_slots(const lamella_tensor* t, lamella_visit visit, void* context) {
  for (int i = 0, n = num_tensor_slots.load(std::memory_order_acquire); i < n; i++)
    if (void* s = core::get_slot(core::full(t), i); s && tensor_slots[i].traverse)
      if (int r = tensor_slots[i].traverse(s, visit, context)) return r;
  return 0;
}

void clear_slots(lamella_tensor* t) {
  for (int i = 0, n = num_tensor_slots.load(std::memory_order_acquire); i < n; i++)
    if (void* s = core::get_slot(core::full(t), i); s && tensor_slots[i].clear) tensor_slots[i].clear(s);
}

bool has_slots(const lamella_tensor* t) {
  for (int i = 0, n = num_tensor_slots.load(std::memory_order_acquire); i < n; i++)
    if (core::get_slot(core::full(t), i)) return true;
  return false;
}

void* get_slot(const lamella_tensor* t, int32_t index) {
  return index >= 0 ? core::get_slot(core::full(t), index) : nullptr;
}

void* thread_slot(int32_t index) {
  auto& slots = core::this_thread().slots;
  return static_cast<size_t>(index) < slots.size() ? slots[index] : nullptr;
}

void set_thread_slot(int32_t index, void* state) {
  if (!is_given("thread_slot_set", index, num_thread_slots)) return;
  auto& slots = core::this_thread().slots;
  if (index >= static_cast<int32_t>(slots.size())) slots.resize(index + 1);
  if (void* old = std::exchange(slots[index], state)) destroy_thread_state(index, old);
}

void* capture_thread() {
  core::ThreadState& t = core::this_thread();
  auto* c = new Captured{t.shared.include, t.shared.exclude, t.shared.default_device, {}};
  for (size_t i = 0; i < t.slots.size(); i++)
    c->slots.push_back(t.slots[i] && thread_slots[i].capture ? thread_slots[i].capture(t.slots[i]) : nullptr);
  return c;
}

void restore_thread(void* captured) {
  auto* c = static_cast<Captured*>(captured);
  lamella_thread& t = core::this_thread().shared;
  t.include = c->include;
  t.exclude = c->exclude;
  t.default_device = c->default_device;
  for (size_t i = 0; i < c->slots.size(); i++)
    if (c->slots[i])
      set_thread_slot(static_cast<int32_t>(i),
                      thread_slots[i].restore ? thread_slots[i].restore(c->slots[i]) : c->slots[i]);
  delete c;
}

void discard_thread(void* captured) {
  auto* c = static_cast<Captured*>(captured);
  for (size_t i = 0; i < c->slots.size(); i++)
    if (c->slots[i]) destroy_thread_state(static_cast<int>(i), c->slots[i]);
  delete c;
}

lamella_status add_attribute(Library& lib, const char* name, lamella_get_attribute get, lamella_set_attribute set,
                             void* context, lamella_handle* handle) {
  std::string holder = attribute_holder ? attribute_holder(name) : "";  // may wait for Python: not under the lock
  RegistryLock lock;
  if (const Attribute* old = find_attribute(name)) holder = old->owner;
  if (!holder.empty())
    return core::raise(LAMELLA_RUNTIME_ERROR, std::string("attribute: Tensor.") + name + " is taken by " + holder +
                                                  "; " + lib.owner + " cannot register it too");
  auto* a = new Attribute{name, lib.owner, get, set, context, 0};
  attributes().push_back(a);
  if (attribute_hook) attribute_hook(a, true);
  a->handle = enter(lib, [a](lamella_handle) {
    std::erase(attributes(), a);
    if (attribute_hook) attribute_hook(a, false);
  });
  if (handle) *handle = a->handle;
  return LAMELLA_OK;
}

const Attribute* find_attribute(const std::string& name) {
  RegistryLock lock;
  for (const Attribute* a : attributes())
    if (a->name == name) return a;
  return nullptr;
}

void set_attribute_hooks(void (*changed)(const Attribute*, bool), std::string (*holder)(const char*)) {
  RegistryLock lock;
  attribute_hook = changed;
  attribute_holder = holder;
  for (const Attribute* a : attributes()) changed(a, true);
}

std::vector<std::string> attribute_names() {
  RegistryLock lock;
  std::vector<std::string> v;
  for (const Attribute* a : attributes()) v.push_back(a->name);
  return v;
}

lamella_status add_keyword(Library& lib, const char* name, lamella_apply_keyword apply, void* context,
                           lamella_handle* handle) {
  RegistryLock lock;
  if (const Keyword* old = find_keyword(name))
    return core::raise(LAMELLA_RUNTIME_ERROR, std::string("keyword: '") + name + "' is taken by " + old->owner + "; " +
                                                  lib.owner + " cannot register it too");
  auto* k = new Keyword{name, lib.owner, apply, context};
  keywords().push_back(k);
  num_keywords++;
  const lamella_handle h = enter(lib, [k](lamella_handle) {
    std::erase(keywords(), k);
    num_keywords--;
  });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

bool any_keywords() { return num_keywords.load(std::memory_order_relaxed) > 0; }

const Keyword* find_keyword(const std::string& name) {
  RegistryLock lock;
  for (const Keyword* k : keywords())
    if (k->name == name) return k;
  return nullptr;
}

}  // namespace lamella::dispatcher
