#include "dispatcher/slots.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/layer.h"
#include "dispatcher/restricted.h"
#include "dispatcher/slot_types.h"

namespace lamella::dispatcher {

using core::full;
using core::Tensor;

namespace {

bool same_meaning(const lamella_slot_type& a, const lamella_slot_type& b) {
  return a.layer == b.layer && a.destroy == b.destroy && a.traverse == b.traverse && a.clear == b.clear &&
         a.carry == b.carry && a.save == b.save && a.load == b.load;
}

SlotTypes<lamella_slot_type, same_meaning> types{"tensor slot"}, storage_types{"storage slot"};
std::atomic<uint64_t> slot_keys{0};  // keys of the layers that have a slot

void destroy_state(int index, void* state) { types.destroy(index, state); }
void destroy_storage_state(int index, void* state) { storage_types.destroy(index, state); }

uint64_t key_of(const lamella_slot_type& t) { return t.layer ? uint64_t{1} << t.layer : 0; }

// Calls what(index, type, state) for each slot that holds a state, until it returns nonzero.
template <class What>
int each_state(const Tensor* t, What what) {
  for (int i = 0, n = types.count(); i < n; i++)
    if (void* state = core::get_slot(t, i))
      if (int r = what(i, types[i], state)) return r;
  return 0;
}

// Returns whether any slot of the layer holds a state. A plugin that was edited and loaded again has two slots for one
// layer.
bool layer_has_state(const Tensor* t, int32_t layer) {
  return layer && each_state(t, [layer](int, const lamella_slot_type& type, void*) { return type.layer == layer; });
}

// Returns whether pickles and files can hold a value: they hold all kinds but objects, also in lists and dictionaries.
bool can_be_saved(const lamella_value& v) {
  for (uint64_t i = 0, n = core::num_values(v); i < n; i++)
    if (!can_be_saved(v.as.values[i])) return false;
  return v.tag <= LAMELLA_UINT && v.tag != LAMELLA_OBJECT;
}

}  // namespace

void install_slots() {
  core::destroy_slot = destroy_state;
  core::destroy_storage_slot = destroy_storage_state;
}

std::atomic<uint32_t> carrying_slots{0};

lamella_status add_tensor_slot(Library&, const lamella_slot_type& t, int32_t* index) {
  if (t.layer)
    if (lamella_status st = check_layer_bit("tensor_slot", t.name, t.layer)) return st;
  if (lamella_status st = types.add(t, index)) return st;
  if (t.carry) carrying_slots |= 1u << std::min<int>(*index, Tensor::inline_slots);
  slot_keys |= key_of(t);
  return LAMELLA_OK;
}

lamella_status add_storage_slot(Library&, const lamella_slot_type& t, int32_t* index) {
  const char* what = t.carry || t.save || t.load ? "'carry', 'save' or 'load'"
                     : t.traverse || t.clear     ? "'traverse' or 'clear'"
                     : t.layer                   ? "'layer'"
                                                 : nullptr;
  if (what)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("storage_slot: '") + t.name +
                                                "' sets members that only slots of tensors have: " + what);
  return storage_types.add(t, index);
}

lamella_status set_slot(lamella_tensor* t, int32_t index, void* state) {
  if (lamella_status st = types.check("slot_set", index)) return st;
  const uint64_t key = key_of(types[index]);
  void* old = core::exchange_slot(full(t), index, state);
  t->keys = state || layer_has_state(full(t), types[index].layer) ? t->keys | key : t->keys & ~key;
  if (old) types.destroy(index, old);
  return LAMELLA_OK;
}

void* get_slot(const lamella_tensor* t, int32_t index) { return index >= 0 ? core::get_slot(full(t), index) : nullptr; }

lamella_status set_storage_slot(lamella_storage* s, int32_t index, void* state) {
  if (lamella_status st = storage_types.check("storage_slot_set", index)) return st;
  if (void* old = core::exchange_slot_in(&s->slots, index, state)) storage_types.destroy(index, old);
  return LAMELLA_OK;
}

void* get_storage_slot(const lamella_storage* s, int32_t index) {
  return index >= 0 ? core::slot_in(s->slots, index) : nullptr;
}

int traverse_slots(const lamella_tensor* t, lamella_visit visit, void* context) {
  return each_state(full(t), [&](int, const lamella_slot_type& type, void* state) {
    return type.traverse ? type.traverse(state, visit, context) : 0;
  });
}

void clear_slots(lamella_tensor* t) {
  each_state(full(t), [](int, const lamella_slot_type& type, void* state) {
    if (type.clear) type.clear(state);
    return 0;
  });
}

bool has_slots(const lamella_tensor* t) {
  return each_state(full(t), [](int, const lamella_slot_type&, void*) { return 1; }) != 0;
}

lamella_status carry_slots(Tensor* from, Tensor* to, int32_t how) {
  const bool gradient = how == LAMELLA_CARRY_GRADIENT;
  bool carried = false;
  const int st = each_state(from, [&](int i, const lamella_slot_type& type, void* state) -> int {
    if (!type.carry) return LAMELLA_OK;
    if (core::get_slot(to, i)) {
      if (gradient) return LAMELLA_OK;  // the derivative has given it a state, perhaps its values
      if (lamella_status failed = set_slot(to, i, nullptr)) return failed;
    }
    core::exchange_slot(to, i, nullptr);  // makes room first: once carry() has made a state, storing it cannot fail
    void* made = nullptr;
    if (lamella_status failed = type.carry(state, from, to, how, &made)) return failed;
    carried |= made != nullptr;
    return made ? set_slot(to, i, made) : LAMELLA_OK;
  });
  if (st || carried || gradient || !from->opaque() || !to->opaque()) return st;
  const std::string layers = layers_of(from);
  return core::raise(LAMELLA_NOT_IMPLEMENTED,
                     "an opaque tensor of shape " + core::shape_string(from) +
                         " has no slot that carries its values to a view or a copy; its layers: " +
                         (layers.empty() ? "none" : layers));
}

lamella_status copy_opaque(Tensor* from, lamella_device device, core::TensorRef* out) {
  *out = core::TensorRef::steal(
      core::new_opaque(from->ndim(), from->sizes(), from->strides(), static_cast<core::DType>(from->dtype), device));
  const bool same = core::same_device(device, from->device());
  return carry_slots(from, out->get(), same ? LAMELLA_CARRY_COPY : LAMELLA_CARRY_DEVICE);
}

lamella_status detach(Tensor* from, uint64_t drop, core::TensorRef* out) {
  auto made = core::TensorRef::steal(core::new_alias(from));
  // carry() sets the key of each state that it carries.
  made->keys = from->keys & ~slot_keys.load(std::memory_order_relaxed);
  if (lamella_status st = carry(from, made.get(), LAMELLA_CARRY_DETACH)) return st;
  made->keys &= ~drop | core::restricted_key;  // the restricted key belongs to no layer
  *out = std::move(made);
  return LAMELLA_OK;
}

lamella_status assign(Tensor* to, Tensor* from) {
  if (to == from) return LAMELLA_OK;
  auto made = core::TensorRef::steal(core::new_alias(from));
  if (lamella_status st = carry(from, made.get(), LAMELLA_CARRY_DETACH)) return st;
  const int n = carrying_slots.load(std::memory_order_relaxed) ? types.count() : 0;
  for (int i = n - 1; i >= 0; i--)  // makes room for the states, from the last one on, before anything changes
    if (core::get_slot(made.get(), i)) core::exchange_slot(to, i, core::get_slot(to, i));
  core::assign(to, made.get());
  for (int i = 0; i < n; i++)
    if (types[i].carry) set_slot(to, i, core::exchange_slot(made.get(), i, nullptr));
  to->keys |= made->keys;
  return LAMELLA_OK;
}

bool has_carried_state(const Tensor* t) {
  if (!may_carry(t)) return false;
  return each_state(t, [](int, const lamella_slot_type& type, void*) { return type.carry != nullptr; }) != 0;
}

ResizedStates::~ResizedStates() {
  for (const auto& [slot, state] : states_) types.destroy(slot, state);
}

lamella_status ResizedStates::make(const char* name, Tensor* t, Tensor* to) {
  return each_state(t, [&](int i, const lamella_slot_type& type, void* state) -> int {
    if (!type.carry) return LAMELLA_OK;
    states_.reserve(states_.size() + 1);  // once carry() has made a state, keeping it cannot fail
    void* made = nullptr;
    if (lamella_status st = type.carry(state, t, to, LAMELLA_CARRY_RESIZE, &made)) return st;
    if (!made)
      return core::raise(LAMELLA_NOT_IMPLEMENTED,
                         core::format("%s: the slot '%s' of the tensor holds a state for its elements, and does not "
                                      "follow other sizes",
                                      name, type.name));
    states_.emplace_back(i, made);
    return LAMELLA_OK;
  });
}

void ResizedStates::give(Tensor* t) {
  for (auto& [slot, state] : states_)
    if (void* old = core::exchange_slot(t, slot, state)) types.destroy(slot, old);
  states_.clear();
}

lamella_status save_slots(Tensor* t, std::vector<SavedSlot>* out) {
  return each_state(t, [&](int, const lamella_slot_type& type, void* state) -> int {
    if (!type.save) return LAMELLA_OK;
    lamella_value v = core::none();
    if (lamella_status st = type.save(state, t, &v)) {
      core::add_note((std::string("in the 'save' of slot '") + type.name + "'").c_str());
      return st;
    }
    if (v.tag == LAMELLA_NONE) return LAMELLA_OK;
    out->push_back({type.name, core::OwnedValue::adopt(v)});
    if (can_be_saved(v)) return LAMELLA_OK;
    return core::raise(LAMELLA_TYPE_ERROR,
                       std::string("slot '") + type.name +
                           "': its 'save' returned a value that files do not hold: " + core::describe(v));
  });
}

lamella_status load_slot(Tensor* t, const char* name, const lamella_value& saved, bool* found) {
  *found = false;
  // Of several slots with one name, the last belongs to the plugin that is loaded now.
  for (int i = types.count() - 1; i >= 0; i--) {
    if (!types[i].load || std::strcmp(types[i].name, name)) continue;
    *found = true;
    void* made = nullptr;
    if (lamella_status st = types[i].load(t, &saved, &made)) return st;
    return made ? set_slot(t, i, made) : LAMELLA_OK;
  }
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
