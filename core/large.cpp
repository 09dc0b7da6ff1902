#include "core/large.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/device.h"
#include "core/error.h"
#include "core/fork.h"

namespace lamella::core {
namespace {

std::mutex& mutex = new_innermost_mutex();
std::unordered_map<const Storage*, DType>& all() {
  static auto* m = new std::unordered_map<const Storage*, DType>;
  return *m;
}

}  // namespace

void note_large(const Storage* s, DType dtype) {
  std::lock_guard lock(mutex);
  all()[s] = dtype;
}

void forget_large(const Storage* s) {
  std::lock_guard lock(mutex);
  all().erase(s);
}

std::string largest_on(lamella_device device) {
  struct Found {
    int64_t bytes;
    DType dtype;
  };
  std::vector<Found> found;
  {
    std::lock_guard lock(mutex);
    for (const auto& [s, dtype] : all())
      if (same_device(s->device, device)) found.push_back({s->bytes, dtype});
  }
  const size_t few = std::min<size_t>(found.size(), 5);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(few), found.end(),
                    [](const Found& a, const Found& b) { return a.bytes > b.bytes; });
  std::string s;
  for (size_t i = 0; i < few; i++)
    s += format("%s%lld of %s (%lld bytes)", i ? ", " : "the largest live tensors there are ",
                static_cast<long long>(found[i].bytes / itemsize(found[i].dtype)), dtype_info(found[i].dtype).name,
                static_cast<long long>(found[i].bytes));
  return s;
}

}  // namespace lamella::core
