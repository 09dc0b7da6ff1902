#include "dispatcher/load.h"

#include <dlfcn.h>
#include <link.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dispatcher/api.h"
#include "dispatcher/registry.h"
#include "dispatcher/stamp.h"

namespace lattis::dispatcher {
namespace {

thread_local std::vector<lattis_library*>* opening = nullptr;

// The library's own: dlsym looks into those that it depends on, too. Null, with an error.
lattis_plugin_init_fn find_init(const std::string& path, void* handle) {
  void* init = dlsym(handle, "lattis_plugin_init");
  std::string why = "load_plugin: " + path + " has no lattis_plugin_init";
  if (init) {
    link_map* own = nullptr;
    Dl_info of_init{}, of_own{};
    const bool known =
        dlinfo(handle, RTLD_DI_LINKMAP, &own) == 0 && dladdr(own->l_ld, &of_own) && dladdr(init, &of_init);
    if (known && of_init.dli_fbase == of_own.dli_fbase) return reinterpret_cast<lattis_plugin_init_fn>(init);
    if (of_init.dli_fname) why += std::string(" of its own, but depends on ") + of_init.dli_fname + ", which has one";
  }
  core::raise(LATTIS_RUNTIME_ERROR, why + "; LATTIS_LIBRARY of <lattis/extension.h> makes one");
  return nullptr;
}

lattis_status initialize(const std::string& path, void* handle) {
  const lattis_plugin_init_fn init = find_init(path, handle);
  if (!init) return LATTIS_RUNTIME_ERROR;
  core::pending_error().clear();
  std::vector<lattis_library*> opened;
  auto* outer = std::exchange(opening, &opened);
  lattis_status st = core::guarded([&] { return init(api()); });
  opening = outer;
  if (!st) return st;
  if (!core::pending_error().kind)
    st = core::raise(
        LATTIS_RUNTIME_ERROR,
        core::format("load_plugin: the lattis_plugin_init of %s returned %d and does not say why", path.c_str(), st));
  else
    core::add_note(("in the lattis_plugin_init of " + path).c_str());
  core::Error kept = std::exchange(core::pending_error(), {});  // closing may raise, and clear
  for (size_t i = opened.size(); i-- > 0;) Registry::get().close(opened[i]);
  core::pending_error() = std::move(kept);
  return st;
}

}  // namespace

void note_opened(lattis_library* l) {
  if (opening) opening->push_back(l);
}
void note_closed(lattis_library* l) {
  if (opening) std::erase(*opening, l);
}

lattis_status load_plugin(const std::string& name) {
  const std::string path = name.find('/') == std::string::npos ? "./" + name : name;  // else dlopen would search
  static auto* loaded = new std::map<void*, lattis_status>;  // by dlopen's handle: one file has many paths
  static auto* mutex = new std::recursive_mutex;
  start();
  uint32_t version = 0;
  if (lattis_status st = read_stamp(path, &version)) return st;
  if (lattis_status st = check_version(path, version)) return st;
  std::lock_guard lock(*mutex);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    return core::raise(LATTIS_RUNTIME_ERROR, std::string("load_plugin: ") + (why ? why : path.c_str()));
  }
  if (auto known = loaded->find(handle); known != loaded->end() && known->second == LATTIS_OK) return LATTIS_OK;
  return (*loaded)[handle] = initialize(path, handle);
}

}  // namespace lattis::dispatcher

namespace {
lattis_status null_argument(const char* function, const char* argument) {
  return lattis::core::raise(LATTIS_VALUE_ERROR,
                             std::string(function) + ": argument '" + argument + "' must not be null");
}
}  // namespace

extern "C" const lattis_api* lattis_get_api(uint32_t version) {
  if (version >> 16 != LATTIS_ABI_MAJOR || version > LATTIS_ABI_VERSION) return nullptr;
  lattis::dispatcher::start();
  return lattis::dispatcher::api();
}

extern "C" uint32_t lattis_abi_version(void) { return LATTIS_ABI_VERSION; }

extern "C" lattis_status lattis_load_plugin(const char* path) {
  if (!path) return null_argument("lattis_load_plugin", "path");
  return lattis::core::guarded([&] { return lattis::dispatcher::load_plugin(path); });
}

extern "C" lattis_status lattis_plugin_stamp(const char* path, uint32_t* version) {
  if (!path) return null_argument("lattis_plugin_stamp", "path");
  if (!version) return null_argument("lattis_plugin_stamp", "version");
  return lattis::core::guarded([&] { return lattis::dispatcher::read_stamp(path, version); });
}
