#include "dispatcher/thread_state.h"

#include <algorithm>
#include <utility>

#include "core/thread.h"
#include "dispatcher/layer.h"
#include "dispatcher/slot_types.h"

namespace lamella::dispatcher {
namespace {

bool same_functions(const lamella_thread_slot_type& a, const lamella_thread_slot_type& b) {
  return a.copy == b.copy && a.destroy == b.destroy && a.swapped == b.swapped;
}

SlotTypes<lamella_thread_slot_type, same_functions> types{"thread slot"};

void destroy_state(int index, void* state) { types.destroy(index, state); }

// Makes a captured state with the settings of `rest` and copies of the slots.
lamella_status with_slots(const lamella_captured& rest, const std::vector<void*>& slots, lamella_captured** out) {
  auto* c = new lamella_captured(rest);
  c->slots.resize(slots.size());
  for (size_t i = 0; i < slots.size(); i++)
    if (slots[i] && types[i].copy)
      if (lamella_status st = types[i].copy(slots[i], &c->slots[i])) {
        discard_captured(c);
        return st;
      }
  *out = c;
  return LAMELLA_OK;
}

}  // namespace

void install_thread_slots() { core::destroy_thread_slot = destroy_state; }

lamella_status add_thread_slot(const lamella_thread_slot_type& t, int32_t* index) { return types.add(t, index); }

void* thread_slot(int32_t index) {
  auto& slots = core::this_thread().slots;
  return static_cast<size_t>(index) < slots.size() ? slots[index] : nullptr;
}

lamella_status set_thread_slot(int32_t index, void* state) {
  if (lamella_status st = types.check("thread_slot_set", index)) return st;
  auto& slots = core::this_thread().slots;
  if (index >= static_cast<int32_t>(slots.size())) slots.resize(index + 1);
  if (void* old = std::exchange(slots[index], state)) types.destroy(index, old);
  return LAMELLA_OK;
}

bool has_state() {
  const core::ThreadState& t = core::this_thread();
  if (t.shared.include || t.shared.exclude || t.shared.default_device.backend >= 0) return true;
  for (size_t i = 0; i < t.slots.size(); i++)
    if (t.slots[i] && types[i].copy) return true;
  return false;
}

lamella_status capture_thread(lamella_captured** out) {
  const core::ThreadState& t = core::this_thread();
  return with_slots({t.shared.include, t.shared.exclude, last_gift(), t.shared.default_device, {}}, t.slots, out);
}

lamella_status copy_captured(const lamella_captured* from, lamella_captured** out) {
  return with_slots({from->include, from->exclude, from->gifts, from->default_device, {}}, from->slots, out);
}

lamella_status swap_captured(lamella_captured* c) {
  core::ThreadState& t = core::this_thread();
  const size_t n = std::max(c->slots.size(), t.slots.size());
  c->slots.resize(n);
  t.slots.resize(n);
  const uint64_t gone = bits_given_since(c->gifts);
  c->gifts = last_gift();
  c->include = std::exchange(t.shared.include, c->include & ~gone);
  c->exclude = std::exchange(t.shared.exclude, c->exclude & ~gone);
  std::swap(t.shared.default_device, c->default_device);
  for (size_t i = 0; i < n; i++) {
    if (!types[i].copy || t.slots[i] == c->slots[i]) continue;  // a slot that is not captured stays
    std::swap(t.slots[i], c->slots[i]);
    if (types[i].swapped) types[i].swapped(t.slots[i]);
  }
  return LAMELLA_OK;
}

void discard_captured(lamella_captured* c) {
  if (!c) return;
  for (size_t i = 0; i < c->slots.size(); i++)
    if (c->slots[i]) types.destroy(static_cast<int>(i), c->slots[i]);
  delete c;
}

}  // namespace lamella::dispatcher
