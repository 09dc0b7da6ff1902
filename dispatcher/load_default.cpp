// load_default: loads the plugins that are installed beside liblamella.so, for programs without Python. In Python the
// plugin manager does this, which also knows the plugins of other packages.
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "dispatcher/load.h"

namespace lamella::dispatcher {
namespace {

namespace fs = std::filesystem;

// Returns the folder of the library that holds this function.
fs::path own_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_folder), &info);
  return fs::absolute(info.dli_fname ? info.dli_fname : "").parent_path();
}

// Returns whether the manifest beside a backend's library says "host": true, as `import lamella` reads it: a device
// that is not the host itself is loaded by the program that wants it.
bool is_host(const fs::path& folder) {
  std::ifstream file(folder / "lamella.json");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text.find("\"host\":true") != std::string::npos;
}

// Returns the libraries, one in each folder of `place`: NAME/liblamella_NAME.so, in the order of their names.
std::vector<fs::path> libraries_in(const fs::path& place) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(place, none)) {
    const fs::path library = entry.path() / ("liblamella_" + entry.path().filename().string() + ".so");
    if (fs::is_regular_file(library, none)) found.push_back(library);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

lamella_status load_default() {
  const fs::path folder = own_folder();
  std::vector<fs::path> all = libraries_in(folder / "backends");
  std::erase_if(all, [](const fs::path& library) { return !is_host(library.parent_path()); });
  if (all.empty())
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "lamella_load_default: there is no backend of the host in " + (folder / "backends").string() +
                           ": liblamella.so must lie in the folder of the installed package, or the program loads each "
                           "library by lamella_load_plugin(path)");
  const std::vector<fs::path> plugins = libraries_in(folder / "plugins");
  all.insert(all.end(), plugins.begin(), plugins.end());
  for (const fs::path& library : all)
    if (lamella_status st = load_plugin(library.string())) return st;
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
