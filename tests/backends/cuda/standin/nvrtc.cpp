// libnvrtc.so.13 for tests: compiles the texts of kernels with g++ to shared objects that the stand-in's driver loads.
// STANDIN_ALTER="OLD=>NEW" plants a defect: the texts are compiled with OLD replaced by NEW. STANDIN_RECORD names a
// folder to which each program is written, for a check with the real NVRTC.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int
extern char** environ;

namespace {
namespace fs = std::filesystem;
struct Program {
  std::string text, file, log, code;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> names, lowered;
};
std::string read_file(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string altered(std::string text) {
  static const std::string plan = std::getenv("STANDIN_ALTER") ? std::getenv("STANDIN_ALTER") : "";
  const size_t middle = plan.find("=>");
  if (middle == plan.npos) return text;
  const std::string before = plan.substr(0, middle), after = plan.substr(middle + 2);
  for (size_t at = 0; (at = text.find(before, at)) != text.npos; at += after.size())
    text.replace(at, before.size(), after);
  return text;
}

// Writes a program to a file: its file's name, its names, its options, each list in one line, and its text.
void record(const Program& p, int n, const char* const* options) {
  const char* folder = std::getenv("STANDIN_RECORD");
  if (!folder) return;
  std::string content = p.file + "\n";
  for (const std::string& name : p.names) content += name + "\t";
  content += "\n";
  for (int i = 0; i < n; i++) content += std::string(options[i]) + "\t";
  content += "\n" + p.text;
  std::ofstream(fs::path(folder) / (std::to_string(std::hash<std::string>()(content)) + ".cu")) << content;
}
}  // namespace

API nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(int r) {
  return r == 6 ? "NVRTC_ERROR_COMPILATION" : r ? "NVRTC_ERROR_OF_THE_STANDIN" : "NVRTC_SUCCESS";
}
API nvrtcCreateProgram(void** out, const char* text, const char* file, int n, const char* const* contents,
                       const char* const* names) {
  auto* p = new Program{altered(text), file ? file : "", "", "", {}, {}, {}};
  for (int i = 0; i < n; i++) p->headers.emplace_back(names[i], altered(contents[i]));
  return *out = p, 0;
}
API nvrtcDestroyProgram(void** p) { return delete static_cast<Program*>(*p), *p = nullptr, 0; }
API nvrtcAddNameExpression(void* p, const char* name) { return static_cast<Program*>(p)->names.emplace_back(name), 0; }
API nvrtcCompileProgram(void* program, int n, const char* const* options) {
  auto& p = *static_cast<Program*>(program);
  record(p, n, options);
  char folder_text[] = "/tmp/standin-nvrtc-XXXXXX";
  if (!mkdtemp(folder_text)) return 1;
  const fs::path folder = folder_text;
  for (const auto& [name, content] : p.headers) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << content;
  }
  const fs::path source = folder / "program.cpp", object = folder / "program.so", log = folder / "log";
  {
    std::ofstream out(source);
    out << "#line 1 \"" << p.file << "\"\n" << p.text << "\n";
    for (size_t i = 0; i < p.names.size(); i++) {
      const std::string lowered = "standin_kernel_" + std::to_string(i);
      out << "extern \"C\" __attribute__((visibility(\"default\"))) void " << lowered << "(void** a) { standin_run(&"
          << p.names[i] << ", a); }\n"
          << "extern \"C\" __attribute__((visibility(\"default\"))) const unsigned* " << lowered
          << "_sizes = standin_sizes(&" << p.names[i] << ");\n"
          << "extern \"C\" __attribute__((visibility(\"default\"))) const char* " << lowered << "_name = \""
          << p.names[i] << "\";\n";
      p.lowered.push_back(lowered);
    }
  }
  std::vector<std::string> words = {"g++",
                                    "-x",
                                    "c++",
                                    "-std=c++20",
                                    "-O1",
                                    "-w",
                                    "-fPIC",
                                    "-shared",
                                    "-fwrapv",
                                    "-ffp-contract=off",
                                    "-fno-thread-jumps",  // a thread jump would make two barriers of one
                                    "-fno-math-errno",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fvisibility=hidden",
                                    "-nostdlib",
                                    "-include",
                                    STANDIN_PRELUDE,
                                    "-I",
                                    folder,
                                    source,
                                    "-o",
                                    object,
                                    "-x",
                                    "none",
                                    STANDIN_DRIVER,
                                    "-lm",
                                    "-lc",
                                    "-lgcc"};
  for (int i = 0; i < n; i++)
    if (!std::strncmp(options[i], "-D", 2)) words.insert(words.begin() + 1, options[i]);
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<char*> variables;
  for (char** v = environ; *v; v++)
    if (std::strncmp(*v, "LD_", 3)) variables.push_back(*v);  // the compiler needs no library of the tests
  variables.push_back(nullptr);
  pid_t child;
  int status = 1;
  if (posix_spawnp(&child, "g++", &actions, nullptr, pointers.data(), variables.data()) == 0)
    waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  p.log = read_file(log);
  if (status == 0) {
    const std::string bytes = read_file(object);
    const uint64_t size = bytes.size();
    p.code = "STANDIN " + std::string(reinterpret_cast<const char*>(&size), 8) + bytes;
  }
  std::error_code error;
  fs::remove_all(folder, error);
  return status == 0 ? 0 : 6;
}
API nvrtcGetLoweredName(void* program, const char* name, const char** out) {
  auto& p = *static_cast<Program*>(program);
  for (size_t i = 0; i < p.names.size() && i < p.lowered.size(); i++)
    if (p.names[i] == name) return *out = p.lowered[i].c_str(), 0;
  return 10;
}
API nvrtcGetProgramLogSize(void* p, size_t* n) { return *n = static_cast<Program*>(p)->log.size() + 1, 0; }
API nvrtcGetProgramLog(void* p, char* to) { return std::strcpy(to, static_cast<Program*>(p)->log.c_str()), 0; }
API nvrtcGetCUBINSize(void* p, size_t* n) { return *n = static_cast<Program*>(p)->code.size(), 0; }
API nvrtcGetCUBIN(void* p, char* to) {
  const std::string& code = static_cast<Program*>(p)->code;
  return std::memcpy(to, code.data(), code.size()), 0;
}
API nvrtcGetPTXSize(void* p, size_t* n) { return nvrtcGetCUBINSize(p, n); }
API nvrtcGetPTX(void* p, char* to) { return nvrtcGetCUBIN(p, to); }
API nvrtcGetNumSupportedArchs(int* n) { return *n = 4, 0; }
API nvrtcGetSupportedArchs(int* to) { return to[0] = 75, to[1] = 80, to[2] = 89, to[3] = 90, 0; }
