// Attributes of Tensor that plugins add by name.
#pragma once

#include <string>
#include <vector>

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

struct Attribute {
  std::string name, owner;
  lamella_get_attribute get;
  lamella_set_attribute set;
  void* context;
  lamella_handle handle;
};

lamella_status add_attribute(Library&, const char* name, lamella_get_attribute, lamella_set_attribute, void* context,
                             lamella_handle*);
const Attribute* find_attribute(const std::string& name);  // null if there is none; never freed
std::vector<std::string> attribute_names();
// `changed` is called for every attribute that is added or withdrawn, and at once for those already registered.
// `holder` returns the owner of a name on Tensor that was not registered by add_attribute; empty if the name is free.
void set_attribute_hooks(void (*changed)(const Attribute*, bool added), std::string (*holder)(const char* name));

}  // namespace lamella::dispatcher
