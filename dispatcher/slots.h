// Slots on tensors and on storages: their types, and how states are carried to tensors that are made from a tensor.
// Note [Slots] in c_api.h says what a plugin may rely on.
#pragma once

#include <atomic>
#include <vector>

#include "core/tensor.h"
#include "core/value.h"
#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

lamella_status add_tensor_slot(Library&, const lamella_slot_type&, int32_t* index);
lamella_status add_storage_slot(Library&, const lamella_slot_type&, int32_t* index);
lamella_status set_slot(lamella_tensor* t, int32_t index, void* state);
lamella_status set_storage_slot(lamella_storage* s, int32_t index, void* state);
void* get_storage_slot(const lamella_storage* s, int32_t index);
void* get_slot(const lamella_tensor* t, int32_t index);  // null for an index that was never given
// traverse_slots() visits the host objects that the slots of a tensor hold; clear_slots() drops them.
int traverse_slots(const lamella_tensor* t, lamella_visit visit, void* context);
void clear_slots(lamella_tensor* t);
bool has_slots(const lamella_tensor* t);

// Calls the slots of `from` to carry their states to `to`, which was made from it (enum lamella_carry). Raises if a
// slot refuses, or if an opaque tensor has no slot that carries.
lamella_status carry_slots(core::Tensor* from, core::Tensor* to, int32_t how);
// The slots whose types carry: bit i for the inline slot i, and bit Tensor::inline_slots for all others.
extern std::atomic<uint32_t> carrying_slots;
// Returns whether `t` may hold a state that is carried: false for a tensor without states, whatever types there are. A
// type that carries adds no instruction to views of tensors without its states.
inline bool may_carry(const core::Tensor* t) {
  if (__builtin_expect(!t->slots[0] && !t->slots[1] && !t->more_slots, 1)) return false;
  static_assert(core::Tensor::inline_slots == 2);
  const uint32_t held = uint32_t{t->slots[0] != nullptr} | uint32_t{t->slots[1] != nullptr} << 1 |
                        uint32_t{t->more_slots != nullptr} << 2;
  return held & carrying_slots.load(std::memory_order_relaxed);
}
// Calls carry_slots(), but returns at once in the usual case that `from` holds nothing to carry and is not opaque.
inline lamella_status carry(core::Tensor* from, core::Tensor* to, int32_t how) {
  if (__builtin_expect(!may_carry(from) && !from->opaque(), 1)) return LAMELLA_OK;
  return carry_slots(from, to, how);
}
// Copies an opaque tensor to a device: its slots carry their states to a new opaque tensor.
lamella_status copy_opaque(core::Tensor* from, lamella_device, core::TensorRef* out);
// Makes a tensor over the same elements, with the states that the slots of `from` carry and with the keys of `from`,
// except `drop` and the keys of layers whose slots carry nothing.
lamella_status detach(core::Tensor* from, uint64_t drop, core::TensorRef* out);
// Gives `to` the memory, the geometry, the dtype and the device of `from`, and the states that the slots of `from`
// carry. States of `to` in slots that do not carry stay. After an error `to` is unchanged.
lamella_status assign(core::Tensor* to, core::Tensor* from);

// The states for other sizes of a tensor in place, until give() gives them to the tensor.
class ResizedStates {
 public:
  ResizedStates() = default;
  ResizedStates(const ResizedStates&) = delete;
  ~ResizedStates();
  // Calls the slots of `t` that carry (LAMELLA_CARRY_RESIZE); `to` has the new sizes. Raises if a slot refuses; `name`,
  // the operator's, begins the message.
  lamella_status make(const char* name, core::Tensor* t, core::Tensor* to);
  void give(core::Tensor* t);  // cannot fail, since the tensor has room for each of these states

 private:
  std::vector<std::pair<int, void*>> states_;
};
// Returns whether a slot that carries holds a state on the tensor.
bool has_carried_state(const core::Tensor*);

// A value that a slot of a tensor saved, with the slot's name.
struct SavedSlot {
  const char* name;
  core::OwnedValue value;
};
lamella_status save_slots(core::Tensor* t, std::vector<SavedSlot>* out);
// Gives a tensor the state that was saved under a slot's name. *found: whether a loaded plugin has such a slot.
lamella_status load_slot(core::Tensor* t, const char* name, const lamella_value& saved, bool* found);

void install_slots();  // sets the core's destroy functions; called once, at start-up

}  // namespace lamella::dispatcher
