#include "dispatcher/attributes.h"

#include "core/error.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

std::vector<Attribute*>& attributes() {
  static auto* v = new std::vector<Attribute*>;
  return *v;
}

void (*attribute_hook)(const Attribute*, bool) = nullptr;
std::string (*attribute_holder)(const char*) = nullptr;

}  // namespace

lamella_status add_attribute(Library& lib, const char* name, lamella_get_attribute get, lamella_set_attribute set,
                             void* context, lamella_handle* handle) {
  // attribute_holder() may wait for Python, and so runs before the lock is taken.
  std::string holder = attribute_holder ? attribute_holder(name) : "";
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

}  // namespace lamella::dispatcher
