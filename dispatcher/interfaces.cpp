#include "dispatcher/interfaces.h"

#include "core/error.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

struct Interface {
  lamella_handle handle;
  std::string name, owner;
  uint32_t version;
  const void* table;
};
std::vector<Interface>& interfaces() {
  static auto* all = new std::vector<Interface>;
  return *all;
}

}  // namespace

lamella_status publish_interface(Library& lib, const char* name, uint32_t version, const void* table,
                                 lamella_handle* handle) {
  RegistryLock lock;
  for (const Interface& i : interfaces())
    if (i.name == name)
      return core::raise(LAMELLA_RUNTIME_ERROR, "interface: the name '" + i.name + "' is taken by " + i.owner + "; " +
                                                    lib.owner + " cannot publish it too");
  const lamella_handle h = enter(lib, [](lamella_handle h) { erase_handle(interfaces(), h); });
  interfaces().push_back({h, name, lib.owner, version, table});
  if (handle) *handle = h;
  return LAMELLA_OK;
}

const void* find_interface(const char* name, uint32_t min_version) {
  RegistryLock lock;
  for (const Interface& i : interfaces())
    if (i.name == name && i.version >= min_version) return i.table;
  return nullptr;
}

}  // namespace lamella::dispatcher
