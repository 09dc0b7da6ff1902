#include "observe/host_stacks.h"

#include <algorithm>
#include <atomic>

namespace lamella::profiler {
namespace {

struct Language {
  std::atomic<int32_t (*)(int64_t*, int32_t)> read{nullptr};
  std::atomic<int32_t (*)(int64_t, char*, int32_t)> describe{nullptr};
};
Language languages[LAMELLA_STACK_COUNT];
constexpr int shift = 56;  // the bits above hold the number of the language

}  // namespace

void set_stack_reader(lamella_stack_language language, int32_t (*read)(int64_t*, int32_t),
                      int32_t (*describe)(int64_t, char*, int32_t)) {
  languages[language].describe.store(describe);
  languages[language].read.store(read);
}

int32_t read_host_stack(int64_t* frames, int32_t room) {
  int32_t n = 0;
  for (int32_t i = LAMELLA_STACK_COUNT; i-- > 0 && n < room;) {
    int32_t (*read)(int64_t*, int32_t) = languages[i].read.load(std::memory_order_acquire);
    const int32_t begin = n;
    if (read) n += read(frames + n, room - n);
    for (int32_t k = begin; k < n; k++) frames[k] |= int64_t{i} << shift;
  }
  return n;
}

int32_t describe_frame(int64_t frame, char* out, int32_t room) {
  const int64_t language = frame >> shift;
  if (language < 0 || language >= LAMELLA_STACK_COUNT) return 0;
  int32_t (*describe)(int64_t, char*, int32_t) = languages[language].describe.load();
  return describe ? describe(frame & ((int64_t{1} << shift) - 1), out, room) : 0;
}

std::string host_frame(int64_t frame) {
  std::string text(1024, '\0');
  const int32_t n = describe_frame(frame, text.data(), static_cast<int32_t>(text.size()));
  text.resize(static_cast<size_t>(std::clamp<int32_t>(n, 0, 1024)));
  return text;
}

}  // namespace lamella::profiler
