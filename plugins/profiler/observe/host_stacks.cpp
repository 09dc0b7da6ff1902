#include "observe/host_stacks.h"

#include <algorithm>
#include <atomic>

namespace lamella::profiler {
namespace {

std::atomic<int32_t (*)(int64_t*, int32_t)> reader{nullptr};
std::atomic<int32_t (*)(int64_t, char*, int32_t)> describer{nullptr};

}  // namespace

void set_stack_reader(int32_t (*read)(int64_t*, int32_t), int32_t (*describe)(int64_t, char*, int32_t)) {
  describer.store(describe);
  reader.store(read);
}

int32_t read_host_stack(int64_t* frames, int32_t room) {
  int32_t (*read)(int64_t*, int32_t) = reader.load(std::memory_order_relaxed);
  return read ? read(frames, room) : 0;
}

std::string host_frame(int64_t frame) {
  int32_t (*describe)(int64_t, char*, int32_t) = describer.load();
  if (!describe) return {};
  std::string text(1024, '\0');
  const int32_t n = describe(frame, text.data(), static_cast<int32_t>(text.size()));
  text.resize(static_cast<size_t>(std::clamp<int32_t>(n, 0, 1024)));
  return text;
}

}  // namespace lamella::profiler
