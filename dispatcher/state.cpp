#include "dispatcher/state.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "core/tensor.h"
#include "core/thread.h"
#include "dispatcher/layer.h"
#include "dispatcher/opaque.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

constexpr int max_slots = 256;  // plugins that are edited and loaded again take new ones
lamella_slot_type tensor_slots[max_slots], storage_slots[max_slots];
lamella_thread_slot_type thread_slots[max_slots];
std::atomic<int> num_tensor_slots{0}, num_storage_slots{0}, num_thread_slots{0};

std::vector<Attribute*>& attributes() {
  static auto* v = new std::vector<Attribute*>;
  return *v;
}

std::atomic<int> num_keywords{0}, num_claims{0};
std::vector<Keyword*>& keywords() {
  static auto* v = new std::vector<Keyword*>;
  return *v;
}

void (*attribute_hook)(const Attribute*, bool) = nullptr;
std::string (*attribute_holder)(const char*) = nullptr;

void destroy_tensor_slot(int index, void* state) {
  if (tensor_slots[index].destroy) tensor_slots[index].destroy(state);
}

void destroy_storage_state(int index, void* state) {
  if (storage_slots[index].destroy) storage_slots[index].destroy(state);
}

void destroy_thread_state(int index, void* state) {
  if (thread_slots[index].destroy) thread_slots[index].destroy(state);
}

bool same_functions(const lamella_slot_type& a, const lamella_slot_type& b) {
  return a.destroy == b.destroy && a.traverse == b.traverse && a.clear == b.clear && a.carry == b.carry &&
         a.save == b.save && a.load == b.load;
}
bool same_functions(const lamella_thread_slot_type& a, const lamella_thread_slot_type& b) {
  return a.copy == b.copy && a.destroy == b.destroy && a.swapped == b.swapped;
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
  core::destroy_storage_slot = destroy_storage_state;
  core::destroy_thread_slot = destroy_thread_state;
}

std::atomic<bool> slots_carry{false};

lamella_status add_tensor_slot(Library&, const lamella_slot_type& t, int32_t* index) {
  if (t.carry) slots_carry = true;
  return add("tensor slot", tensor_slots, num_tensor_slots, t, index);
}
lamella_status add_storage_slot(Library&, const lamella_slot_type& t, int32_t* index) {
  if (t.carry || t.save || t.load)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("storage_slot: '") + t.name +
                                                "' has a function for tensors alone: 'carry', 'save' or 'load'");
  return add("storage slot", storage_slots, num_storage_slots, t, index);
}
lamella_status add_thread_slot(Library&, const lamella_thread_slot_type& t, int32_t* index) {
  return add("thread slot", thread_slots, num_thread_slots, t, index);
}

namespace {

lamella_status check_given(const char* entry, int32_t index, const std::atomic<int>& count) {
  if (__builtin_expect(index >= 0 && index < count.load(std::memory_order_acquire), 1)) return LAMELLA_OK;
  return core::raise(LAMELLA_INDEX_ERROR, core::format("%s: there is no slot %d", entry, index));
}

}  // namespace

lamella_status set_slot(lamella_tensor* t, int32_t index, void* state) {
  if (lamella_status st = check_given("slot_set", index, num_tensor_slots)) return st;
  if (void* old = core::exchange_slot(core::full(t), index, state)) destroy_tensor_slot(index, old);
  return LAMELLA_OK;
}

lamella_status set_storage_slot(lamella_storage* s, int32_t index, void* state) {
  if (lamella_status st = check_given("storage_slot_set", index, num_storage_slots)) return st;
  if (void* old = core::exchange_slot_in(&s->slots, index, state)) destroy_storage_state(index, old);
  return LAMELLA_OK;
}

void* get_storage_slot(const lamella_storage* s, int32_t index) {
  return index >= 0 ? core::slot_in(s->slots, index) : nullptr;
}

lamella_status carry_slots(core::Tensor* from, core::Tensor* to, int32_t how) {
  bool carried = false;
  for (int i = 0, n = num_tensor_slots.load(std::memory_order_acquire); i < n; i++) {
    void *state = core::get_slot(from, i), *made = nullptr;
    if (!state || !tensor_slots[i].carry) continue;
    if (lamella_status st = tensor_slots[i].carry(state, from, to, how, &made)) return st;
    if (made)
      if (lamella_status st = set_slot(to, i, made)) return st;
    carried = true;
  }
  if (carried || !from->opaque()) return LAMELLA_OK;
  const std::string layers = layers_of(from);
  return core::raise(LAMELLA_NOT_IMPLEMENTED,
                     "an opaque tensor of shape " + core::shape_string(from) +
                         " has no slot that says what becomes of its values in a view or a copy; its layers: " +
                         (layers.empty() ? "none" : layers));
}

lamella_status copy_opaque(core::Tensor* from, lamella_device device, core::TensorRef* out) {
  *out = core::TensorRef::steal(
      core::new_opaque(from->ndim(), from->sizes(), from->strides(), static_cast<core::DType>(from->dtype), device));
  const bool same = core::operator_equal(device, from->device());
  return carry_slots(from, out->get(), same ? LAMELLA_CARRY_COPY : LAMELLA_CARRY_DEVICE);
}

lamella_status save_slots(core::Tensor* t, std::vector<SavedSlot>* out) {
  for (int i = 0, n = num_tensor_slots.load(std::memory_order_acquire); i < n; i++) {
    void* state = core::get_slot(t, i);
    if (!state || !tensor_slots[i].save) continue;
    lamella_value v = core::none();
    if (lamella_status st = tensor_slots[i].save(state, t, &v)) return st;
    if (v.tag != LAMELLA_NONE) out->push_back({tensor_slots[i].name, core::OwnedValue::adopt(v)});
  }
  return LAMELLA_OK;
}

lamella_status load_slot(core::Tensor* t, const char* name, const lamella_value& saved, bool* found) {
  *found = false;
  // Of several slots of one name, the youngest is the one of the plugin that is loaded now.
  for (int i = num_tensor_slots.load(std::memory_order_acquire) - 1; i >= 0; i--) {
    if (!tensor_slots[i].load || std::strcmp(tensor_slots[i].name, name)) continue;
    *found = true;
    void* made = nullptr;
    if (lamella_status st = tensor_slots[i].load(t, &saved, &made)) return st;
    return made ? set_slot(t, i, made) : LAMELLA_OK;
  }
  return LAMELLA_OK;
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

lamella_status set_thread_slot(int32_t index, void* state) {
  if (lamella_status st = check_given("thread_slot_set", index, num_thread_slots)) return st;
  auto& slots = core::this_thread().slots;
  if (index >= static_cast<int32_t>(slots.size())) slots.resize(index + 1);
  if (void* old = std::exchange(slots[index], state)) destroy_thread_state(index, old);
  return LAMELLA_OK;
}

lamella_status capture_thread(lamella_captured** out) {
  const core::ThreadState& t = core::this_thread();
  // The thread's own state as if it had been captured, without owning it.
  const lamella_captured now = {t.shared.include, t.shared.exclude, t.shared.default_device, t.slots};
  return copy_captured(&now, out);
}

lamella_status copy_captured(const lamella_captured* from, lamella_captured** out) {
  auto* c = new lamella_captured{from->include, from->exclude, from->default_device, {}};
  c->slots.resize(from->slots.size());
  for (size_t i = 0; i < c->slots.size(); i++)
    if (from->slots[i] && thread_slots[i].copy)
      if (lamella_status st = thread_slots[i].copy(from->slots[i], &c->slots[i])) {
        discard_captured(c);
        return st;
      }
  *out = c;
  return LAMELLA_OK;
}

lamella_status swap_captured(lamella_captured* c) {
  core::ThreadState& t = core::this_thread();
  const size_t n = std::max(c->slots.size(), t.slots.size());
  c->slots.resize(n);
  t.slots.resize(n);
  std::swap(t.shared.include, c->include);
  std::swap(t.shared.exclude, c->exclude);
  std::swap(t.shared.default_device, c->default_device);
  for (size_t i = 0; i < n; i++) {
    if (!thread_slots[i].copy || t.slots[i] == c->slots[i]) continue;  // it stays, or there is none on either side
    std::swap(t.slots[i], c->slots[i]);
    if (thread_slots[i].swapped) thread_slots[i].swapped(t.slots[i]);
  }
  return LAMELLA_OK;
}

void discard_captured(lamella_captured* c) {
  if (!c) return;
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

int32_t Keyword::rank() const {
  RegistryLock lock;
  return layer_bit(layer);
}

lamella_status add_keyword(Library& lib, const lamella_keyword_def& def, lamella_handle* handle) {
  RegistryLock lock;
  if (const Keyword* old = find_keyword(def.name))
    return core::raise(LAMELLA_RUNTIME_ERROR, std::string("keyword: '") + def.name + "' is taken by " + old->owner +
                                                  "; " + lib.owner + " cannot register it too");
  const bool claims = def.flags & LAMELLA_KEYWORD_CLAIMS;
  auto* k = new Keyword{def.name, lib.owner, def.layer ? def.layer : "", claims, def.apply, def.context};
  keywords().push_back(k);
  num_keywords++;
  num_claims += claims;
  const lamella_handle h = enter(lib, [k](lamella_handle) {
    std::erase(keywords(), k);
    num_keywords--;
    num_claims -= k->claims;
  });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

bool any_keywords() { return num_keywords.load(std::memory_order_relaxed) > 0; }
bool any_claims() { return num_claims.load(std::memory_order_relaxed) > 0; }

const Keyword* find_keyword(const std::string& name) {
  RegistryLock lock;
  for (const Keyword* k : keywords())
    if (k->name == name) return k;
  return nullptr;
}

}  // namespace lamella::dispatcher
