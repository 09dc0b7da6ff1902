// State of other people: slots on tensors and threads, and Tensor attributes and factory keywords contributed by name.
#pragma once

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

struct Attribute {
  std::string name, owner;
  lamella_get_attribute get;
  lamella_set_attribute set;
  void* context;
  lamella_handle handle;
};

struct Keyword {
  std::string name, owner;
  lamella_apply_keyword apply;
  void* context;
};

lamella_status add_tensor_slot(Library&, const lamella_slot_type&, int32_t* index);
lamella_status add_thread_slot(Library&, const lamella_thread_slot_type&, int32_t* index);
void set_slot(lamella_tensor* t, int32_t index, void* state);
void* get_slot(const lamella_tensor* t, int32_t index);  // null for an index that was never given
// Visits the host objects that the slots of a tensor hold; clear drops them.
int traverse_slots(const lamella_tensor* t, lamella_visit visit, void* context);
void clear_slots(lamella_tensor* t);
bool has_slots(const lamella_tensor* t);

void* thread_slot(int32_t index);
void set_thread_slot(int32_t index, void* state);
void* capture_thread();
void restore_thread(void* captured);
void discard_thread(void* captured);

lamella_status add_attribute(Library&, const char* name, lamella_get_attribute, lamella_set_attribute, void* context,
                             lamella_handle*);
const Attribute* find_attribute(const std::string& name);  // valid until withdrawn; never freed
std::vector<std::string> attribute_names();
// `changed` is called for every attribute that comes or goes, and at once for those already there. `holder` returns the
// owner of a name on Tensor that was not registered by add_attribute; empty if the name is free.
void set_attribute_hooks(void (*changed)(const Attribute*, bool added), std::string (*holder)(const char* name));

lamella_status add_keyword(Library&, const char* name, lamella_apply_keyword, void* context, lamella_handle*);
bool any_keywords();
const Keyword* find_keyword(const std::string& name);  // null if there is none; never freed

void install_state();  // hands the core its destroyers; once, at start-up

}  // namespace lamella::dispatcher
