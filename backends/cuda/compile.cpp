// Compiles kernels with NVRTC to the device's machine code, or to PTX for a device that is newer than NVRTC. Compiled
// code is kept in files that are named by the hash of all that it depends on; CUDA source that does not compile is
// written to a file with the compiler's log.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include "launch.h"
#include "texts.h"

namespace cuda {
namespace {

namespace fs = std::filesystem;
// A process that first writes compiled code deletes the older half of the cache's files if there are more than these.
constexpr size_t most_files = 8192;

fs::path cache_folder() {
  static const fs::path folder = [] {
    if (const char* own = std::getenv("LAMELLA_CUDA_CACHE")) return fs::path(own);
    const char* base = std::getenv("XDG_CACHE_HOME");
    if (base && *base == '/') return fs::path(base) / "lamella" / "cuda";
    const char* home = std::getenv("HOME");
    return home && *home ? fs::path(home) / ".cache" / "lamella" / "cuda"
                         : fs::temp_directory_path() / ("lamella-cuda-" + std::to_string(getuid()));
  }();
  return folder;
}

// Returns a hash of 128 bits in hexadecimal digits, from two variants of FNV-1a with 64 bits each.
std::string hash(const std::vector<std::string>& parts) {
  uint64_t h[2] = {0xcbf29ce484222325, 0x9e3779b97f4a7c15};
  for (const std::string& part : parts)
    for (size_t i = 0; i <= part.size(); i++)  // also the zero at the end of a part
      for (uint64_t& x : h) x = (x ^ static_cast<unsigned char>(part.c_str()[i])) * 0x100000001b3 + (&x == h + 1);
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(h[0]),
                static_cast<unsigned long long>(h[1]));
  return text;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return in ? all.str() : "";
}

// Writes under another name first, so that a reader finds the whole file or none. Returns whether that succeeded: a
// kernel whose code cannot be written is compiled again by the next process.
bool write_file(const fs::path& path, const std::string& content) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path part = path.string() + "." + std::to_string(getpid()) + ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) return fs::remove(part, error), false;
  }
  fs::rename(part, path, error);
  return !error;
}

void bound_cache() {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(cache_folder(), error))
    files.emplace_back(entry.last_write_time(error), entry.path());
  if (files.size() <= most_files) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i < files.size() / 2; i++) fs::remove(files[i].second, error);
}

const char* nvrtc_meaning(int r) { return reinterpret_cast<const char* (*)(int)>(nvrtc().error_string)(r); }

struct Program {
  nvrtcProgram program = nullptr;
  ~Program() {
    if (program) nvrtc().destroy(&program);
  }
  void require(int r, const char* what) const { LAMELLA_CHECK(r == 0, "cuda: NVRTC: ", what, ": ", nvrtc_meaning(r)); }
  std::string log() const {
    size_t size = 0;
    if (nvrtc().log_size(program, &size) || size < 2) return "";
    std::string text(size, '\0');
    nvrtc().log(program, text.data());
    text.resize(size - 1);
    return text;
  }
};

// Returns the value of -arch: "sm_90", for machine code, if NVRTC supports a device's architecture; else "compute_80",
// for PTX of the newest older architecture that NVRTC supports. The driver compiles PTX.
std::string architecture(int capability) {
  int count = 0;
  nvrtc().architectures(&count);
  std::vector<int> known(static_cast<size_t>(count));
  if (count) nvrtc().architecture_list(known.data());
  if (std::find(known.begin(), known.end(), capability) != known.end()) return "sm_" + std::to_string(capability);
  int newest = 0;
  for (const int k : known)
    if (k < capability) newest = std::max(newest, k);
  LAMELLA_CHECK(newest, "cuda: the device has compute capability ", capability / 10, ".", capability % 10,
                ", and NVRTC ", nvrtc().major, ".", nvrtc().minor,
                ", which compiles the kernels, supports only newer devices; use an older NVRTC (of CUDA 12 or later)");
  return "compute_" + std::to_string(newest);
}

}  // namespace

// Returns the function's mangled name, a newline and the code.
std::string compiled(const char* file, const std::string& text, const std::string& name, const std::string& options,
                     const std::string& arch) {
  std::vector<std::string> words = {"-std=c++17", "-default-device"};
  // The options of a kernel that uses one architecture's own instructions name that architecture: "-arch=sm_90a".
  if (options.find("-arch=") == std::string::npos) words.push_back("-arch=" + arch);
  std::istringstream more(options);
  for (std::string word; more >> word;) words.push_back(word);
  // Without fused multiplications and additions, kernels give the same values as on any device.
  if (options.find("-fmad") == std::string::npos) words.emplace_back("-fmad=false");
  std::vector<std::string> identity = words;
  identity.insert(identity.end(), {text, name, std::to_string(nvrtc().major) + "." + std::to_string(nvrtc().minor)});
  static const std::string headers = [] {
    std::vector<std::string> all;
    for (int i = 0; i < text_count; i++)
      if (!std::string_view(texts[i].name).ends_with(".cu")) all.emplace_back(texts[i].content);
    return hash(all);
  }();
  identity.push_back(headers);
  const fs::path kept = cache_folder() / (hash(identity) + ".cubin");
  if (std::string found = read_file(kept); !found.empty()) return found;

  Program p;
  std::vector<const char*> contents, names, option_words;
  for (int i = 0; i < text_count; i++) {
    contents.push_back(texts[i].content);
    names.push_back(texts[i].name);
  }
  for (const std::string& w : words) option_words.push_back(w.c_str());
  p.require(nvrtc().create(&p.program, text.c_str(), file, text_count, contents.data(), names.data()), file);
  p.require(nvrtc().add_name(p.program, name.c_str()), name.c_str());
  if (const int r = nvrtc().compile(p.program, static_cast<int>(option_words.size()), option_words.data())) {
    const fs::path report = cache_folder() / "failed" / (hash(identity) + ".txt");
    const std::string log = p.log();
    const bool written =
        write_file(report, "// " + name + " of " + file + "\n// " + nvrtc_meaning(r) + "\n" + log + "\n" + text);
    LAMELLA_CHECK(false, "cuda: the kernel ", name, " of ", file, " does not compile (", nvrtc_meaning(r), ")",
                  written ? "; its text and the compiler's messages are in " + report.string() : "", "\n", log);
  }
  const char* lowered = nullptr;
  p.require(nvrtc().lowered_name(p.program, name.c_str(), &lowered), name.c_str());
  const bool machine = arch.rfind("sm_", 0) == 0;
  size_t size = 0;
  p.require(machine ? nvrtc().cubin_size(p.program, &size) : nvrtc().ptx_size(p.program, &size), file);
  std::string code(size, '\0');
  p.require(machine ? nvrtc().cubin(p.program, code.data()) : nvrtc().ptx(p.program, code.data()), file);
  code = std::string(lowered) + "\n" + code;
  if (write_file(kept, code)) {
    static std::once_flag once;
    std::call_once(once, bound_cache);
  }
  return code;
}

CUfunction Kernel::make(int device) {
  static std::mutex mutex;  // one compilation at a time, since threads that begin together need the same kernels
  enter(device);
  std::lock_guard lock(mutex);
  if (const CUfunction made = functions_[device].load(std::memory_order_acquire)) return made;
  LAMELLA_CHECK(open_nvrtc().empty(), "cuda: ", open_nvrtc());
  const char* fixed = text_.empty() ? text_of(file_) : nullptr;
  LAMELLA_CHECK(fixed || !text_.empty(), "cuda: the library has no kernel text '", file_, "'");
  const std::string code = compiled(file_, fixed ? std::string(fixed) : text_, name_, options_,
                                    architecture(properties_of(device).capability));
  const size_t end = code.find('\n');
  CUmodule module = nullptr;  // never unloaded
  CUfunction f = nullptr;
  require(driver().module_load(&module, code.data() + end + 1), name_.c_str());
  require(driver().module_function(&f, module, code.substr(0, end).c_str()), name_.c_str());
  functions_[device].store(f, std::memory_order_release);
  return f;
}

}  // namespace cuda
