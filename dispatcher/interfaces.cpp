#include "dispatcher/interfaces.h"

#include <algorithm>

#include "core/error.h"
#include "core/event.h"
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

// A callback for the publication and the withdrawal of one interface.
struct Watcher {
  lamella_handle handle;
  std::string name;
  uint32_t min_version;
  lamella_on_interface callback;
  void* context;
};
std::vector<Watcher>& watchers() {
  static auto* all = new std::vector<Watcher>;
  return *all;
}

void announce(const Interface& i, bool there) {
  core::emit(LAMELLA_EVENT_INTERFACE, there ? LAMELLA_EVENT_BEGIN : LAMELLA_EVENT_END, i.name.c_str());
  const std::vector<Watcher> now = watchers();
  for (const Watcher& w : now)
    if (w.name == i.name && i.version >= w.min_version) w.callback(w.context, there ? i.table : nullptr);
}

}  // namespace

lamella_status publish_interface(Library& lib, const char* name, uint32_t version, const void* table,
                                 lamella_handle* handle) {
  RegistryLock lock;
  for (const Interface& i : interfaces())
    if (i.name == name)
      return core::raise(LAMELLA_RUNTIME_ERROR, "interface: the name '" + i.name + "' is taken by " + i.owner + "; " +
                                                    lib.owner + " cannot publish it too");
  const lamella_handle h = enter(lib, [](lamella_handle h) {
    const auto gone = std::find_if(interfaces().begin(), interfaces().end(), [h](auto& i) { return i.handle == h; });
    const Interface kept = *gone;
    interfaces().erase(gone);
    announce(kept, false);
  });
  interfaces().push_back({h, name, lib.owner, version, table});
  if (handle) *handle = h;
  announce(Interface(interfaces().back()), true);
  return LAMELLA_OK;
}

lamella_status on_interface(Library& lib, const char* name, uint32_t min_version, lamella_on_interface callback,
                            void* context, lamella_handle* handle) {
  RegistryLock lock;
  const lamella_handle h = enter(lib, [](lamella_handle h) { erase_handle(watchers(), h); });
  watchers().push_back({h, name, min_version, callback, context});
  if (handle) *handle = h;
  if (const void* table = find_interface(name, min_version)) callback(context, table);
  return LAMELLA_OK;
}

const void* find_interface(const char* name, uint32_t min_version) {
  RegistryLock lock;
  for (const Interface& i : interfaces())
    if (i.name == name && i.version >= min_version) return i.table;
  return nullptr;
}

}  // namespace lamella::dispatcher
