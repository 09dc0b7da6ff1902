// State of other people: slots on tensors and threads, and Tensor attributes and factory keywords contributed by name.
#pragma once

#include <atomic>

#include "core/tensor.h"
#include "core/value.h"
#include "dispatcher/ledger.h"

struct lamella_captured {
  uint64_t include, exclude;
  lamella_device default_device;
  std::vector<void*> slots;
};

namespace lamella::dispatcher {

struct Attribute {
  std::string name, owner;
  lamella_get_attribute get;
  lamella_set_attribute set;
  void* context;
  lamella_handle handle;
};

struct Keyword {
  std::string name, owner, layer;
  bool claims;  // it goes before an operator's own argument of that name
  lamella_apply_keyword apply;
  void* context;
  // Keywords are applied by rising rank: that of the layer, or -1.
  int32_t rank() const;
};

lamella_status add_tensor_slot(Library&, const lamella_slot_type&, int32_t* index);
lamella_status add_storage_slot(Library&, const lamella_slot_type&, int32_t* index);
lamella_status add_thread_slot(Library&, const lamella_thread_slot_type&, int32_t* index);
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

// What the slots of a tensor save, by their names; owned values.
struct SavedSlot {
  const char* name;
  core::OwnedValue value;
};
lamella_status save_slots(core::Tensor* t, std::vector<SavedSlot>* out);
// Gives a tensor the state that was saved under a slot's name. *found: whether a plugin has such a slot here.
lamella_status load_slot(core::Tensor* t, const char* name, const lamella_value& saved, bool* found);

void* thread_slot(int32_t index);
lamella_status set_thread_slot(int32_t index, void* state);
lamella_status capture_thread(lamella_captured** out);
lamella_status copy_captured(const lamella_captured*, lamella_captured** out);
lamella_status swap_captured(lamella_captured*);
void discard_captured(lamella_captured*);

lamella_status add_attribute(Library&, const char* name, lamella_get_attribute, lamella_set_attribute, void* context,
                             lamella_handle*);
const Attribute* find_attribute(const std::string& name);  // valid until withdrawn; never freed
std::vector<std::string> attribute_names();
// `changed` is called for every attribute that comes or goes, and at once for those already there. `holder` returns the
// owner of a name on Tensor that was not registered by add_attribute; empty if the name is free.
void set_attribute_hooks(void (*changed)(const Attribute*, bool added), std::string (*holder)(const char* name));

lamella_status add_keyword(Library&, const lamella_keyword_def&, lamella_handle*);
bool any_keywords();
bool any_claims();                                     // whether one of them goes before operators' own arguments
const Keyword* find_keyword(const std::string& name);  // null if there is none; never freed

void install_state();  // hands the core its destroyers; once, at start-up

}  // namespace lamella::dispatcher
