#include "dispatcher/load.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/fork.h"
#include "dispatcher/api.h"
#include "dispatcher/ledger.h"
#include "dispatcher/registry_lock.h"
#include "dispatcher/stamp.h"

namespace lamella::dispatcher {
namespace {

struct File {
  void* handle = nullptr;
  std::string path, own, chosen;            // see Note [Chosen namespace]; empty: none
  std::vector<lamella_library*> libraries;  // its open libraries, in order
  bool loaded = false;

  const std::string& ns() const { return chosen.empty() ? own : chosen; }
};

thread_local File* opening = nullptr;

std::mutex& books = core::new_innermost_mutex();  // guards the files and their lists
std::map<void*, File>& files() {                  // by dlopen's handle: one file has many paths
  static auto* all = new std::map<void*, File>;
  return *all;
}

// Returns a path with a slash: dlopen would search the library path for a name without one.
std::string path_of(const std::string& name) { return name.find('/') == std::string::npos ? "./" + name : name; }

File& file_of(void* handle, const std::string& path) {
  std::lock_guard lock(books);
  File& file = files()[handle];
  file.handle = handle;
  if (!file.loaded) file.path = path;
  return file;
}
File* loaded_from(const std::string& path) {
  std::lock_guard lock(books);
  for (auto& [handle, file] : files())
    if (file.loaded && file.path == path) return &file;
  return nullptr;
}

lamella_library* take_last(File& file) {
  std::lock_guard lock(books);
  if (file.libraries.empty()) return nullptr;
  lamella_library* last = file.libraries.back();
  file.libraries.pop_back();
  return last;
}
void withdraw(File& file) {
  while (lamella_library* last = take_last(file)) close_library(last);
  file.loaded = false;
}

// Finds the init function of the library itself: dlsym also finds those of its dependencies. Null with an error if
// there is none.
lamella_plugin_init_fn find_init(const std::string& path, void* handle) {
  void* init = dlsym(handle, "lamella_plugin_init");
  std::string why = "load_plugin: " + path + " has no lamella_plugin_init";
  if (init) {
    link_map* own = nullptr;
    Dl_info of_init{}, of_own{};
    const bool known =
        dlinfo(handle, RTLD_DI_LINKMAP, &own) == 0 && dladdr(own->l_ld, &of_own) && dladdr(init, &of_init);
    if (known && of_init.dli_fbase == of_own.dli_fbase) return reinterpret_cast<lamella_plugin_init_fn>(init);
    if (of_init.dli_fname) why += std::string(" of its own, but depends on ") + of_init.dli_fname + ", which has one";
  }
  core::raise(LAMELLA_RUNTIME_ERROR, why + "; LAMELLA_LIBRARY of <lamella/extension.h> defines one");
  return nullptr;
}

// Returns what to do about a missing symbol of OpenMP; "" for another error of the dynamic linker. OpenMP's runtime is in
// the process, but its symbols are visible to libraries alone that are linked with it.
std::string remedy(std::string_view why) {
  for (const char* start : {"GOMP_", "omp_", "__kmpc_"})
    if (why.find(std::string("undefined symbol: ") + start) != std::string_view::npos)
      return "; the library uses OpenMP and is linked without it: pass -fopenmp to the compiler and to the linker";
  return "";
}

lamella_status initialize(File& file) {
  const lamella_plugin_init_fn init = find_init(file.path, file.handle);
  if (!init) return LAMELLA_RUNTIME_ERROR;
  core::pending_error().clear();
  file.own.clear();
  File* outer = std::exchange(opening, &file);
  lamella_status st = core::guarded([&] { return init(api()); });
  opening = outer;
  file.loaded = st == LAMELLA_OK;
  if (file.loaded) return st;
  if (!core::pending_error().kind)
    st = core::raise(LAMELLA_RUNTIME_ERROR,
                     core::format("load_plugin: the lamella_plugin_init of %s returned %d and does not say why",
                                  file.path.c_str(), st));
  else
    core::add_note(("in the lamella_plugin_init of " + file.path).c_str());
  core::Error kept = std::exchange(core::pending_error(), {});  // closing may raise an error, and clear this one
  withdraw(file);
  core::pending_error() = std::move(kept);
  return st;
}

// Holds the registry's lock, so that a thread that looks for an operator waits until the new file is in place.
lamella_status initialize_in_place_of(File& earlier, File& file) {
  RegistryLock lock;
  withdraw(earlier);
  const lamella_status st = initialize(file);
  if (!st) return st;
  core::Error kept = std::exchange(core::pending_error(), {});
  initialize(earlier);
  core::pending_error() = std::move(kept);
  return st;
}

std::vector<std::string> defined_by(const File& file) {
  std::lock_guard lock(books);
  std::vector<std::string> all;
  for (const lamella_library* l : file.libraries)
    if (l->defines && std::find(all.begin(), all.end(), l->ns) == all.end()) all.push_back(l->ns);
  return all;
}

}  // namespace

void note_opened(lamella_library* l) {
  std::lock_guard lock(books);
  if (!opening) return;
  opening->libraries.push_back(l);
  if (opening->chosen.empty()) return;
  l->written = opening->own;
  l->chosen = opening->chosen;
}
void note_closed(lamella_library* l) {
  std::lock_guard lock(books);
  for (auto& [handle, file] : files()) std::erase(file.libraries, l);
}

std::string chosen_namespace(const std::string& ns) {
  if (!opening) return ns;
  if (opening->own.empty()) opening->own = ns;
  return ns == opening->own && !opening->chosen.empty() ? opening->chosen : ns;
}
bool is_loaded(const std::string& name) { return loaded_from(path_of(name)) != nullptr; }
std::vector<std::string> owners_of(const std::string& name) {
  std::vector<std::string> all;
  const File* file = loaded_from(path_of(name));
  std::lock_guard lock(books);
  if (file)
    for (const lamella_library* l : file->libraries)
      if (std::find(all.begin(), all.end(), l->owner) == all.end()) all.push_back(l->owner);
  return all;
}

void unload_plugin(const std::string& name) {
  if (File* file = loaded_from(path_of(name))) withdraw(*file);
}

lamella_status load_plugin(const std::string& name, const LoadOptions& options, std::vector<std::string>* defined) {
  const std::string path = path_of(name);
  static auto* mutex = new std::recursive_mutex;
  uint32_t version = 0;
  if (lamella_status st = read_stamp(path, &version)) return st;
  if (lamella_status st = check_version(path, version)) return st;
  if (lamella_status st = check_whole(path)) return st;
  std::lock_guard lock(*mutex);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       why ? std::string("load_plugin: ") + why + remedy(why) : "load_plugin: " + path);
  }
  File& file = file_of(handle, path);
  if (file.loaded && !options.ns.empty() && options.ns != file.ns())
    return core::raise(LAMELLA_RUNTIME_ERROR, "load_plugin: " + path + " is loaded already, as '" + file.ns() +
                                                  "'; to have it as '" + options.ns + "' too, load a copy of the file");
  if (!file.loaded) {
    file.chosen = options.ns;
    File* earlier = options.replaces.empty() ? nullptr : loaded_from(path_of(options.replaces));
    if (lamella_status st = earlier ? initialize_in_place_of(*earlier, file) : initialize(file)) return st;
  }
  if (defined) *defined = defined_by(file);
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
