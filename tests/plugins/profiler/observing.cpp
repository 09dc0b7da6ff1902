// A library over the C++ face of the profiler; a Python program compares its results with its own.
#include <lamella/library.h>
#include <lamella/profiler.h>

#include <cstring>
#include <vector>

LAMELLA_LIBRARY(observing, m) { (void)m; }

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
std::vector<std::string> texts;  // the names that the observer has got
uint64_t handle = 0;
}  // namespace

// Pushes a text under a kind while a function runs.
EXPORT void with_text(const char* kind, const char* text, void (*run)()) {
  const lamella::DebugInfoGuard guard(kind, std::string(text));
  run();
}
EXPORT void with_number(const char* kind, int64_t number, void (*run)()) {
  const lamella::DebugInfoGuard guard(kind, number);
  run();
}
EXPORT int64_t number_of(const char* kind) {
  lamella_value v;
  lamella::check(lamella::profiler_interface().info_get(kind, &v));
  const int64_t n = v.tag == LAMELLA_INT ? v.as.i : -1;
  lamella::api().value_release(&v);
  return n;
}
EXPORT void begin(const char* kind) {
  texts.clear();
  handle = lamella::add_global_callback(
      lamella::RecordFunctionCallback([kind = std::string(kind)](const lamella::RecordFunction& r) {
        texts.push_back(std::string(r.name()) + " " + lamella::DebugInfoGuard::text(kind.c_str()));
      }));
}
EXPORT int end(char* out, size_t size) {
  lamella::remove_callback(handle);
  std::string all;
  for (const std::string& t : texts) all += t + "\n";
  std::strncpy(out, all.c_str(), size - 1);
  return static_cast<int>(texts.size());
}
EXPORT void log_key(const char* key) {
  lamella::profiler_interface().log_usage_once(key);
  LAMELLA_LOG_API_USAGE_ONCE("test.macro");
}

// Two threads each call an operator and then write the text under a kind into a buffer.
EXPORT void in_a_region(const char* kind, char* first, char* second, size_t size) {
  struct Work {
    const char* kind;
    char* out[2];
    size_t size;
  } work = {kind, {first, second}, size};
  const auto body = [](void* context, int64_t begin, int64_t end) -> lamella_status {
    const auto* w = static_cast<Work*>(context);
    for (int64_t i = begin; i < end; i++) {
      int32_t cpu;
      lamella_tensor* t;
      lamella::check(lamella::api().find_backend("cpu", &cpu));
      lamella::check(lamella::api().tensor_empty(0, nullptr, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
      lamella_value arg{LAMELLA_TENSOR, 0, {0}}, result{};
      arg.as.tensor = t;
      lamella::check(lamella::api().call(nullptr, lamella::api().find_operator("aten::neg", ""), &arg, 1, &result, 1));
      lamella::api().value_release(&result);
      lamella::api().release(t);
      std::strncpy(w->out[i], lamella::DebugInfoGuard::text(w->kind).c_str(), w->size - 1);
    }
    return LAMELLA_OK;
  };
  lamella::check(lamella::api().parallel_for(0, 2, 1, body, &work));
}
