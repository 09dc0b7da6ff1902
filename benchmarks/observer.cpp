// A global observer in C++: callbacks at the beginning and end of every operator call, which do not read its inputs.
#include <lamella/library.h>
#include <lamella/profiler.h>

LAMELLA_LIBRARY(bench_observer, m) { (void)m; }

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
uint64_t handle = 0, entered = 0, left = 0;
}

EXPORT void begin() {
  handle = lamella::add_global_callback(
      lamella::RecordFunctionCallback([](const lamella::RecordFunction&) { return entered++; },
                                      [](const lamella::RecordFunction&, uint64_t number) { left = number; })
          .scopes({lamella::RecordScope::FUNCTION}));
}
EXPORT uint64_t end() {
  lamella::remove_callback(handle);
  return left;
}
