// The two devices of `bank`: the memory of each, copies, and the registration. Start reading here.
#include <lamella/dispatcher.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include "bank.h"

namespace bank {
namespace {
// ---- memory of the devices: a freed block is reused when the streams that used it have run all tasks before that ----
struct Block {
  int64_t bytes;
  std::vector<Stream*> streams;  // the first one is the stream of `alloc`
};
struct Freed {
  void* data;
  std::vector<Place> ends;
  bool ready(const Stream* s) const {
    return (ends.size() == 1 && ends[0].stream == s) ||  // the same stream runs later tasks after these
           std::all_of(ends.begin(), ends.end(), [](const Place& p) { return p.passed(); });
  }
};
struct Memory {
  std::mutex mutex;
  char* begin = nullptr;  // the first sealed page
  int64_t used = 0;
  std::map<const void*, Block> live;
  std::map<int64_t, std::deque<Freed>> freed;  // by size
  lamella_allocator_stats stats{};
};
Memory& memory(int32_t device) {
  static auto* all = new Memory[devices];
  return all[device];
}
int64_t whole_pages(int64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

lamella_status take(int64_t bytes, int32_t device, void* stream, void** out) {
  Memory& m = memory(device);
  Stream& s = stream_of(device, stream);
  std::lock_guard lock(m.mutex);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (!m.begin) m.begin = static_cast<char*>(mmap(nullptr, 2 * capacity, PROT_NONE, flags, -1, 0));
  const int64_t size = whole_pages(bytes);
  Block block{size, {&s}};
  std::deque<Freed>& same = m.freed[size];
  const auto again = std::find_if(same.begin(), same.end(), [&s](const Freed& f) { return f.ready(&s); });
  if (again != same.end()) {
    m.live.emplace(*out = again->data, std::move(block));
    same.erase(again);
    m.stats.cached_bytes -= size;
  } else {
    *out = m.begin + m.used;
    if (m.begin == MAP_FAILED || size > capacity - 4096 - m.used || mprotect(open(*out), size, PROT_READ | PROT_WRITE))
      return fail(LAMELLA_OUT_OF_MEMORY, "bank: cannot allocate " + std::to_string(bytes) + " bytes");
    m.live.emplace(*out, std::move(block));
    m.used += size;
    m.stats.system_allocations++;
  }
  m.stats.allocations++;
  m.stats.live_bytes += size;
  m.stats.peak_bytes = std::max(m.stats.peak_bytes, m.stats.live_bytes);
  m.stats.peak_reserved_bytes = std::max(m.stats.peak_reserved_bytes, m.stats.live_bytes + m.stats.cached_bytes);
  return LAMELLA_OK;
}

lamella_status alloc(void*, int64_t bytes, int32_t device, void* stream, void** out) {
  return closed([=] { return take(bytes, device, stream, out); });
}

void release(void*, void* data, int64_t, int32_t device) try {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  const auto at = m.live.find(data);
  Freed f{data, {}};
  for (Stream* s : at->second.streams) f.ends.push_back(s->last());
  m.freed[at->second.bytes].push_back(std::move(f));
  m.stats.live_bytes -= at->second.bytes;
  m.stats.cached_bytes += at->second.bytes;
  m.live.erase(at);
} catch (const std::bad_alloc&) {  // there is no memory for a record of the block, so it is never reused
}

lamella_status note_stream(int32_t device, void* data, void* stream) {
  Memory& m = memory(device);
  std::lock_guard lock(m.mutex);
  const auto at = m.live.find(data);
  if (at == m.live.end()) return LAMELLA_OK;  // memory of another library
  std::vector<Stream*>& used = at->second.streams;
  Stream* s = &stream_of(device, stream);
  if (std::find(used.begin(), used.end(), s) == used.end()) used.push_back(s);
  return LAMELLA_OK;
}

lamella_status record_stream(void*, int32_t device, void* data, void* stream) {
  return closed([=] { return note_stream(device, data, stream); });
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

lamella_status trim(void*, int32_t device, int64_t cap) {
  for (int32_t i = std::max(device, 0); i < (device < 0 ? devices : device + 1); i++) {
    Memory& m = memory(i);
    std::lock_guard lock(m.mutex);
    for (auto& [size, blocks] : m.freed)
      for (const Freed& f : blocks)
        if (m.stats.cached_bytes > cap && f.ready(nullptr)) madvise(open(f.data), size, MADV_DONTNEED);
  }
  return LAMELLA_OK;
}

// ---- memory of the host whose pages are locked, for copies that do not block ----
struct Pinned {
  std::mutex mutex;
  std::map<const char*, std::pair<int64_t, std::vector<Place>>> blocks;  // by begin: bytes, and ends of copies

  // Returns whether the memory is pinned. If so, it will not be freed until `place` is passed.
  bool keep(const void* data, Place place) {
    std::lock_guard lock(mutex);
    auto at = blocks.upper_bound(static_cast<const char*>(data));
    if (at == blocks.begin() || (--at)->first + at->second.first <= data) return false;
    auto& places = at->second.second;
    places.erase(std::remove_if(places.begin(), places.end(), [](const Place& p) { return p.passed(); }), places.end());
    return places.push_back(place), true;
  }
  bool has(const void* data) {
    std::lock_guard lock(mutex);
    const auto at = blocks.upper_bound(static_cast<const char*>(data));
    return at != blocks.begin() && std::prev(at)->first + std::prev(at)->second.first > data;
  }
};
Pinned& pinned() {
  static auto* all = new Pinned;
  return *all;
}

lamella_status lock_pages(int64_t bytes, void** out) {
  const int64_t size = whole_pages(bytes);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data != MAP_FAILED && mlock(data, size)) munmap(std::exchange(data, MAP_FAILED), size);
  if (data == MAP_FAILED)
    return fail(LAMELLA_OUT_OF_MEMORY, "bank: cannot lock " + std::to_string(bytes) + " bytes of the host's memory");
  std::lock_guard lock(pinned().mutex);
  try {
    pinned().blocks[static_cast<char*>(*out = data)] = {size, {}};
  } catch (const std::bad_alloc&) {
    munmap(data, size);
    throw;
  }
  return LAMELLA_OK;
}
lamella_status alloc_pinned(void*, int64_t bytes, int32_t, void*, void** out) {
  return closed([=] { return lock_pages(bytes, out); });
}
void release_pinned(void*, void* data, int64_t bytes, int32_t) {
  std::vector<Place> places;
  {
    std::lock_guard lock(pinned().mutex);
    const auto at = pinned().blocks.find(static_cast<char*>(data));
    places.swap(at->second.second);
    pinned().blocks.erase(at);
  }
  for (const Place& p : places) p.stream->wait(p.ticket);
  munmap(data, whole_pages(bytes));
}

// ---- copies ----
Place move(Stream& s, const lamella_copy* c, void* to, const void* from) {
  return s.push([to, from, bytes = c->bytes] { return std::memcpy(to, from, bytes), Fault(); },
                {nullptr, c->bytes, c->to, c->from});
}

lamella_status move(const lamella_copy* c, int32_t* done) {
  const bool later = c->flags & LAMELLA_COPY_NON_BLOCKING;
  if (c->flags & LAMELLA_COPY_TO_HOST) {
    const Place end = move(current(c->from.index), c, c->dst, open(c->src));
    return later && pinned().keep(c->dst, end) ? LAMELLA_OK : end.wait();
  }
  if (c->flags & LAMELLA_COPY_FROM_HOST) {
    Stream& s = current(c->to.index);
    if (later && pinned().has(c->src)) return pinned().keep(c->src, move(s, c, open(c->dst), c->src)), LAMELLA_OK;
    const auto* bytes = static_cast<const char*>(c->src);  // copied now, since the caller may then write there
    s.push(
        [to = open(c->dst), held = std::vector<char>(bytes, bytes + c->bytes)] {
          return std::memcpy(to, held.data(), held.size()), Fault();
        },
        {nullptr, c->bytes, c->to, c->from});
    return LAMELLA_OK;
  }
  if (c->to.backend != c->from.backend) return *done = 0, LAMELLA_OK;  // declined: the copy goes through the host
  Stream &from = current(c->from.index), &to = current(c->to.index);
  follow(to, from.last());
  follow(from, move(to, c, open(c->dst), open(c->src)));
  return LAMELLA_OK;
}
lamella_status copy(void*, const lamella_copy* c, int32_t* done) {
  return closed([=] { return move(c, done); });
}
// ---- forks: the child has a copy of all memory, and all locks are free in it ----
void before_fork() {
  for (int32_t i = 0; i < devices; i++) memory(i).mutex.lock();
  pinned().mutex.lock();
  hold_streams();
}
void in_parent() {
  go_on_streams();
  pinned().mutex.unlock();
  for (int32_t i = 0; i < devices; i++) memory(i).mutex.unlock();
}
void in_child() {
  restart_streams();
  new (&pinned().mutex) std::mutex;
  for (int32_t i = 0; i < devices; i++) new (&memory(i).mutex) std::mutex;
}
}  // namespace

lamella_status launch(const lamella_tensor* on, const char* kernel, Task task) {
  current(on->dl.device.device_id).push(std::move(task), {kernel});
  return LAMELLA_OK;
}

LAMELLA_LIBRARY_FRAGMENT(aten, m) {
  static const lamella_allocator own = {
      sizeof own, LAMELLA_ALLOCATOR_STREAM_ORDERED, nullptr, alloc, release, record_stream, stats, trim, reset_stats};
  static const lamella_allocator locked = {
      sizeof locked, LAMELLA_ALLOCATOR_PINNED, nullptr, alloc_pinned, release_pinned, nullptr, nullptr, nullptr};
  static lamella_backend b{};
  b.size = sizeof b;
  b.name = "bank";
  b.dlpack_type = kDLExtDev;
  b.flags = LAMELLA_BACKEND_CPU_FALLBACK;  // not a host; no mixed dtypes: operands arrive in the computed dtype
  b.allocator = &own;
  b.host_allocator = &locked;
  b.device_count = [](void*) -> int32_t { return devices; };
  b.copy = copy;
  add_streams(m, b);
  if (const void* found = lamella::api().find_interface("dispatcher", 1))
    static_cast<const lamella_dispatcher*>(found)->around_fork(before_fork, in_parent, in_child);
  m.backend(b, nullptr);
  add_trace(m);
}

// Keeps the device's current stream busy for a while, for tests of the order of tasks.
LAMELLA_LIBRARY(bank, m) {
  m.def("delay(Tensor on, int microseconds) -> ()", [](const lamella::Tensor& on, int64_t microseconds) {
    lamella::check(launch(on.get(), "delay", [microseconds] {
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      return Fault();
    }));
  });
}
}  // namespace bank
