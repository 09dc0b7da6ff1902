// The memory of the devices: a caching allocator, each of whose pools belongs to one stream. A pool gives freed memory
// out again at once, since the work that its stream gets later also runs later. Another stream never gets the memory
// until `trim` has given it back to the driver. docs/decisions/0034-memory-of-cuda.md says why it is our own.
#include "memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "launch.h"

namespace cuda {
namespace {

// A new segment has 2 MiB if it is for a request of up to 1 MiB, 20 MiB for one of up to 10 MiB, and for a larger one
// the request's size, rounded up to 2 MiB.
constexpr int64_t unit = 512, step = int64_t{2} << 20, small_most = int64_t{1} << 20, middle_most = int64_t{10} << 20,
                  middle_segment = int64_t{20} << 20;
int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

struct Pool;
enum State { free_now, resting, live, pending };
// A part of a segment, which is memory that the driver allocated. The parts of a segment are chained.
struct Block {
  char* data;
  int64_t bytes;
  Pool* pool;
  bool large;
  State state = free_now;
  Block *before = nullptr, *after = nullptr;
  std::vector<CUstream> others;  // further streams that use it
};
struct Smaller {
  bool operator()(const Block* a, const Block* b) const {
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->data < b->data;
  }
};
// A small freed block rests in a list of its size, and is not joined with its neighbours, so that the next request of
// that size finds it at once.
constexpr int64_t resting_most = 64 * 1024;
constexpr size_t most_resting = 64;  // blocks of each size
struct Pool {
  CUstream stream = nullptr;
  std::set<Block*, Smaller> free[2];  // blocks of small segments, and of large ones
  std::vector<Block*> resting[resting_most / unit + 1];
  int held = 0;  // graphs that hold this memory
};
struct Freed {
  Block* block;
  std::vector<CUevent> events;  // of the other streams that used it
};
struct Memory {
  std::mutex mutex;
  std::map<CUstream, Pool> pools;
  std::unordered_map<const void*, Block*> live;
  std::vector<Freed> freed;
  lamella_allocator_stats stats{};
};
Memory& memory(int device) {
  static auto* all = new Memory[most_devices];
  return all[device];
}

void join(Block* first, Block* second) {
  first->bytes += second->bytes;
  first->after = second->after;
  if (first->after) first->after->before = first;
  delete second;
}

void put_back(Block* b) {
  auto& free = b->pool->free[b->large];
  b->state = free_now;
  if (b->after && b->after->state == free_now) {
    free.erase(b->after);
    join(b, b->after);
  }
  if (b->before && b->before->state == free_now) {
    Block* first = b->before;
    free.erase(first);
    join(first, b);
    b = first;
  }
  free.insert(b);
}

void rest(Block* b) {
  if (b->bytes > resting_most) return put_back(b);
  auto& list = b->pool->resting[b->bytes / unit];
  if (list.size() == most_resting) return put_back(b);
  list.push_back(b);
  b->state = resting;
}
void wake_all(Pool& pool) {
  for (auto& list : pool.resting) {
    for (Block* b : list) put_back(b);
    list.clear();
  }
}

// Puts the freed blocks that no other stream uses any more back into their pools.
void settle(Memory& m) {
  const auto passed = [](Freed& f) {
    while (!f.events.empty() && driver().event_query(f.events.back()) != CUDA_ERROR_NOT_READY) {
      driver().event_destroy(f.events.back());
      f.events.pop_back();
    }
    if (f.events.empty()) put_back(f.block);
    return f.events.empty();
  };
  m.freed.erase(std::remove_if(m.freed.begin(), m.freed.end(), passed), m.freed.end());
}

std::string in_use(const Memory& m) {
  return std::to_string(m.stats.live_bytes) + " bytes are in use and " + std::to_string(m.stats.cached_bytes) +
         " kept for reuse";
}

Block* new_segment(Memory& m, Pool& pool, int64_t bytes) {
  const bool large = bytes > small_most;
  const int64_t size = !large ? step : bytes <= middle_most ? middle_segment : up(bytes, step);
  CUdeviceptr data = 0;
  const CUresult r = driver().memory_alloc(&data, static_cast<size_t>(size));
  if (r == CUDA_ERROR_OUT_OF_MEMORY)
    throw lamella::Error(LAMELLA_OUT_OF_MEMORY,
                         "cuda: cannot allocate " + std::to_string(bytes) + " bytes: " + in_use(m));
  require(r, "cuda: allocating memory");
  m.stats.system_allocations++;
  m.stats.cached_bytes += size;
  return new Block{reinterpret_cast<char*>(data), size, &pool, large};
}

// Takes a block from the pool's free ones or from a new segment. If 512 bytes or more lie beyond `bytes`, or 1 MiB in a
// large segment, that part becomes a free block.
Block* cut(Memory& m, Pool& pool, int64_t bytes) {
  auto& free = pool.free[bytes > small_most];
  Block wanted{nullptr, bytes, nullptr, false};
  const auto at = free.lower_bound(&wanted);
  Block* b;
  // A large request does not take a block that is much larger, which a larger request may need.
  if (at != free.end() && (bytes <= middle_most || (*at)->bytes < bytes + middle_segment)) {
    b = *at;
    free.erase(at);
  } else {
    b = new_segment(m, pool, bytes);
  }
  if (b->bytes - bytes >= (b->large ? small_most : unit)) {
    auto* left = new Block{b->data + bytes, b->bytes - bytes, &pool, b->large, free_now, b, b->after};
    if (b->after) b->after->before = left;
    b->after = left;
    b->bytes = bytes;
    free.insert(left);
  }
  return b;
}

lamella_status take(int64_t asked, int device, CUstream stream, void** out) {
  enter(device);
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  if (!m.freed.empty()) settle(m);
  if (asked > INT64_MAX - middle_segment)
    return fail(LAMELLA_OUT_OF_MEMORY, "cuda: cannot allocate " + std::to_string(asked) + " bytes");
  const int64_t bytes = up(asked, unit);
  Pool& pool = m.pools[stream];
  pool.stream = stream;
  Block* b = nullptr;
  if (bytes <= resting_most && !pool.resting[bytes / unit].empty()) {
    b = pool.resting[bytes / unit].back();
    pool.resting[bytes / unit].pop_back();
  } else {
    b = cut(m, pool, bytes);
  }
  b->state = live;
  m.live[b->data] = b;
  lamella_allocator_stats& s = m.stats;
  s.allocations++;
  s.live_bytes += b->bytes;
  s.cached_bytes -= b->bytes;
  s.peak_bytes = std::max(s.peak_bytes, s.live_bytes);
  s.peak_reserved_bytes = std::max(s.peak_reserved_bytes, s.live_bytes + s.cached_bytes);
  return *out = b->data, LAMELLA_OK;
}

void release(void*, void* data, int64_t, int32_t device) try {
  if (in_forked_child()) return;
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  const auto at = m.live.find(data);
  if (at == m.live.end()) return;
  Block* b = at->second;
  m.live.erase(at);
  m.stats.live_bytes -= b->bytes;
  m.stats.cached_bytes += b->bytes;
  if (b->others.empty()) return rest(b);
  b->state = pending;
  Freed f{b, {}};
  enter(device);
  for (const CUstream s : b->others) {
    CUevent e = nullptr;
    require(driver().event_create(&e, CU_EVENT_DISABLE_TIMING), "cuda: freeing memory");
    f.events.push_back(e);
    require(driver().event_record(e, s), "cuda: freeing memory");
  }
  b->others.clear();
  m.freed.push_back(std::move(f));
} catch (const std::exception&) {  // the device is gone, or there is no event: the block is not given out again
}

lamella_status record(int device, void* data, CUstream stream) {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  const auto at = m.live.find(data);
  if (at == m.live.end()) return LAMELLA_OK;  // not of this allocator
  Block* b = at->second;
  if (b->pool->stream != stream && std::find(b->others.begin(), b->others.end(), stream) == b->others.end())
    b->others.push_back(stream);
  return LAMELLA_OK;
}

// Gives segments of which no part is in use back to the driver, until at most `cap` bytes are kept. Pools that graphs
// hold keep theirs. The driver waits for the queued work.
void trim_device(int device, int64_t cap) {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  if (m.stats.cached_bytes <= cap) return;
  enter(device);
  if (!m.freed.empty()) {
    driver().context_synchronize();
    settle(m);
  }
  for (auto& [stream, pool] : m.pools) {
    if (!pool.held) wake_all(pool);
    for (auto& free : pool.free)
      for (auto at = free.begin(); at != free.end() && !pool.held && m.stats.cached_bytes > cap;) {
        Block* b = *at;
        if (b->before || b->after) {
          ++at;
          continue;
        }
        driver().memory_free(reinterpret_cast<CUdeviceptr>(b->data));
        m.stats.cached_bytes -= b->bytes;
        at = free.erase(at);
        delete b;
      }
  }
}

lamella_status stats(void*, int32_t device, lamella_allocator_stats* out) {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  const uint32_t room = out->size;
  std::memcpy(out, &m.stats, std::min<size_t>(room, sizeof m.stats));
  out->size = room;
  return LAMELLA_OK;
}

lamella_status reset_stats(void*, int32_t device, uint32_t what) {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  if (what & LAMELLA_STATS_PEAK) {
    m.stats.peak_bytes = m.stats.live_bytes;
    m.stats.peak_reserved_bytes = m.stats.live_bytes + m.stats.cached_bytes;
  }
  if (what & LAMELLA_STATS_COUNTS) m.stats.allocations = m.stats.system_allocations = 0;
  return LAMELLA_OK;
}

}  // namespace

void hold_pool(int device, CUstream stream, int by) {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  Pool& pool = m.pools[stream];
  pool.stream = stream;
  pool.held += by;
}

void free_kept() {
  for (int device = 0; device < device_count(); device++) trim_device(device, 0);
}

lamella_status raise_lack(int device, const std::string& who) {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  return fail(LAMELLA_OUT_OF_MEMORY, who + ": the device has too little memory: " + in_use(m));
}

void add_memory(lamella_backend& b) {
  static const lamella_allocator own = {
      sizeof own,
      LAMELLA_ALLOCATOR_STREAM_ORDERED,
      nullptr,
      [](void*, int64_t bytes, int32_t device, void* stream, void** out) -> lamella_status {
        return lamella::guarded(
            [=]() -> lamella_status { return take(bytes, device, stream_of(device, stream), out); });
      },
      release,
      [](void*, int32_t device, void* data, void* stream) -> lamella_status {
        return lamella::guarded([=]() -> lamella_status { return record(device, data, stream_of(device, stream)); });
      },
      stats,
      [](void*, int32_t device, int64_t cap) -> lamella_status {
        return lamella::guarded([=]() -> lamella_status {
          for (int i = std::max(device, 0); i < (device < 0 ? device_count() : device + 1); i++) trim_device(i, cap);
          return LAMELLA_OK;
        });
      },
      reset_stats};
  b.allocator = &own;
}

}  // namespace cuda
