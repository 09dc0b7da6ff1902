// Slots on tensors and on storages: what their types are, and what becomes of a state when tensors are made from a
// tensor. Note [Slots] in c_api.h says what a plugin may rely on.
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
// Visits the host objects that the slots of a tensor hold; clear drops them.
int traverse_slots(const lamella_tensor* t, lamella_visit visit, void* context);
void clear_slots(lamella_tensor* t);
bool has_slots(const lamella_tensor* t);

// Has the slots of `from` carry their state to `to`, which was made from it (enum lamella_carry). An error where a slot
// refuses, and where an opaque tensor has no slot that carries.
lamella_status carry_slots(core::Tensor* from, core::Tensor* to, int32_t how);
extern std::atomic<bool> slots_carry;  // whether a slot's type does that at all
// The same on the usual path of views and detached tensors, where there is hardly anything to do.
inline lamella_status carry(core::Tensor* from, core::Tensor* to, int32_t how) {
  if (__builtin_expect(!slots_carry.load(std::memory_order_relaxed) && !from->opaque(), 1)) return LAMELLA_OK;
  return carry_slots(from, to, how);
}
// A copy of an opaque tensor, on a device: its slots carry their state to a new opaque one.
lamella_status copy_opaque(core::Tensor* from, lamella_device, core::TensorRef* out);
// A tensor over the same elements with the keys of `from`, but for `drop`, those of layers whose slots stay behind.
lamella_status detach(core::Tensor* from, uint64_t drop, core::TensorRef* out);
// Gives `to` the memory, the geometry and the dtype of `from`, and in place of its own states that carry those of
// `from`. What else it keeps stays with it. After an error it is unchanged.
lamella_status assign(core::Tensor* to, core::Tensor* from);

// The name of a slot that carries and holds a state of the tensor's; null if there is none.
const char* carried_state(const core::Tensor*);

// What the slots of a tensor save, by their names; owned values.
struct SavedSlot {
  const char* name;
  core::OwnedValue value;
};
lamella_status save_slots(core::Tensor* t, std::vector<SavedSlot>* out);
// Gives a tensor the state that was saved under a slot's name. *found: whether a plugin has such a slot here.
lamella_status load_slot(core::Tensor* t, const char* name, const lamella_value& saved, bool* found);

void install_slots();  // hands the core its destroyers; once, at start-up

}  // namespace lamella::dispatcher
