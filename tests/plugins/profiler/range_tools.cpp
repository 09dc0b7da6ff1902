// Stand-ins for the libraries of NVTX and ITT: they write each call to the file RANGES_LOG, with the thread's number.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

static void log(const char* what, const char* text) {
  static std::mutex mutex;
  static FILE* file = std::fopen(std::getenv("RANGES_LOG"), "w");
  const std::lock_guard<std::mutex> lock(mutex);
  std::fprintf(file, "%ld %s %s\n", static_cast<long>(syscall(SYS_gettid)), what, text);
  std::fflush(file);
}

#ifndef ITT
EXPORT int nvtxRangePushA(const char* text) { return log("push", text), 0; }
EXPORT int nvtxRangePop() { return log("pop", ""), 0; }
EXPORT void nvtxMarkA(const char* text) { log("mark", text); }
#else
struct Id {
  unsigned long long words[3];
};
struct Name {
  std::string text;
};
EXPORT Name* __itt_domain_create(const char* text) { return new Name{text}; }
EXPORT Name* __itt_string_handle_create(const char* text) { return new Name{text}; }
EXPORT void __itt_task_begin(Name* domain, Id task, Id parent, Name* name) {
  const bool null = !task.words[0] && !task.words[1] && !task.words[2] && !parent.words[0] && !parent.words[2];
  log("push", (domain->text + ": " + name->text + (null ? "" : " with ids")).c_str());
}
EXPORT void __itt_task_end(Name* domain) { log("pop", domain->text.c_str()); }
#endif
