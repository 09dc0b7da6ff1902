// Host memory whose pages are locked. Locking pages is slow, so a freed block is kept, and is given out again when the
// copies that were queued from or to it are done.
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "memory.h"

namespace cuda {
namespace {

struct Block {
  int64_t bytes;
  std::vector<std::pair<int, CUstream>> users;  // streams that use the block
  std::vector<CUevent> events;                  // recorded when it was freed
};
struct Pinned {
  std::mutex mutex;
  std::map<const char*, Block> live;                      // by address
  std::multimap<int64_t, std::pair<char*, Block>> freed;  // by size

  // Returns the block that contains an address, or null.
  Block* around(const void* data) {
    auto at = live.upper_bound(static_cast<const char*>(data));
    if (at == live.begin() || (--at)->first + at->second.bytes <= data) return nullptr;
    return &at->second;
  }
};
Pinned& pinned() {
  static auto* all = new Pinned;
  return *all;
}

bool passed(Block& b) {
  while (!b.events.empty() && driver().event_query(b.events.back()) != CUDA_ERROR_NOT_READY) {
    driver().event_destroy(b.events.back());
    b.events.pop_back();
  }
  return b.events.empty();
}

lamella_status take(int64_t asked, void** out) {
  int64_t bytes = 4096;  // a power of two, so that blocks can be used again; beyond 2^62, which no host has, as asked
  while (bytes < asked) bytes = bytes >> 61 ? asked : bytes * 2;
  enter(0);
  Pinned& p = pinned();
  std::lock_guard lock(p.mutex);
  for (auto [at, end] = p.freed.equal_range(bytes); at != end; ++at)
    if (passed(at->second.second)) {
      *out = at->second.first;
      p.live[at->second.first] = {bytes, {}, {}};
      p.freed.erase(at);
      return LAMELLA_OK;
    }
  if (const CUresult r = driver().host_alloc(out, static_cast<size_t>(bytes), CU_MEMHOSTALLOC_PORTABLE))
    return fail(LAMELLA_OUT_OF_MEMORY,
                "cuda: cannot lock " + std::to_string(bytes) + " bytes of the host's memory: " + meaning(r));
  p.live[static_cast<char*>(*out)] = {bytes, {}, {}};
  return LAMELLA_OK;
}

void release(void*, void* data, int64_t, int32_t) try {
  if (in_forked_child()) return;
  Pinned& p = pinned();
  std::lock_guard lock(p.mutex);
  const auto at = p.live.find(static_cast<char*>(data));
  if (at == p.live.end()) return;
  Block b = std::move(at->second);
  p.live.erase(at);
  for (const auto& [device, stream] : b.users) {
    CUevent e = nullptr;
    enter(device);
    require(driver().event_create(&e, CU_EVENT_DISABLE_TIMING), "cuda: freeing pinned memory");
    b.events.push_back(e);
    require(driver().event_record(e, stream), "cuda: freeing pinned memory");
  }
  b.users.clear();
  p.freed.emplace(b.bytes, std::pair(static_cast<char*>(data), std::move(b)));
} catch (const std::exception&) {  // the device is gone, or there is no event: the block is not given out again
}

lamella_status trim(void*, int32_t, int64_t cap) {
  Pinned& p = pinned();
  std::lock_guard lock(p.mutex);
  int64_t kept = 0;
  for (const auto& [bytes, block] : p.freed) kept += bytes;
  for (auto at = p.freed.begin(); at != p.freed.end() && kept > cap;) {
    if (!passed(at->second.second)) {
      ++at;
      continue;
    }
    driver().host_free(at->second.first);
    kept -= at->first;
    at = p.freed.erase(at);
  }
  return LAMELLA_OK;
}

}  // namespace

bool keep_pinned(const void* data, int device, CUstream stream) {
  std::lock_guard lock(pinned().mutex);
  Block* b = pinned().around(data);
  const std::pair user(device, stream);
  if (b && std::find(b->users.begin(), b->users.end(), user) == b->users.end()) b->users.push_back(user);
  return b != nullptr;
}

bool is_pinned(const void* data) {
  std::lock_guard lock(pinned().mutex);
  return pinned().around(data) != nullptr;
}

void add_pinned(lamella_backend& b) {
  static const lamella_allocator locked = {
      sizeof locked,
      LAMELLA_ALLOCATOR_PINNED,
      nullptr,
      [](void*, int64_t bytes, int32_t, void*, void** out) -> lamella_status {
        return lamella::guarded([=]() -> lamella_status { return take(bytes, out); });
      },
      release,
      nullptr,
      nullptr,
      trim,
      nullptr};
  b.host_allocator = &locked;
}

}  // namespace cuda
