#include "memory/history.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "observe/record.h"
#include "trace/clock.h"

namespace lamella::profiler {
namespace {

using DeviceId = std::pair<int32_t, int32_t>;
DeviceId id_of(lamella_device d) { return {d.backend, d.index}; }

struct Key {  // the device belongs to the key, since two devices may use equal addresses
  const void* data;
  int32_t backend, index;
  bool operator==(const Key& o) const { return data == o.data && backend == o.backend && index == o.index; }
};
struct Hash {
  size_t operator()(const Key& k) const {
    const uint64_t x = reinterpret_cast<uintptr_t>(k.data) ^ static_cast<uint64_t>(k.backend * 64 + k.index) << 52;
    return static_cast<size_t>((x >> 4) * 0x9e3779b97f4a7c15 >> 8);
  }
};

struct Counted {
  lamella_memory_counts counts{};
  std::multiset<int64_t> sizes;  // of the live blocks
};

struct History {
  std::mutex mutex;
  std::unordered_map<Key, LargeBlock, Hash> blocks;
  std::map<DeviceId, Counted> devices;
  std::vector<MemoryRecord> events;  // a ring buffer, once it has max_events elements
  uint64_t max_events = 0, num_events = 0, oldest = 0;
  uint64_t observer = 0;
  lamella_handle subscription = 0;
};

// Held by switch_memory_on() and switch_memory_off(), which register observers and therefore must not hold the
// history's own lock.
std::mutex& switching() {
  static auto* m = new std::mutex;
  return *m;
}

History& history() {
  static auto* h = new History;
  return *h;
}

std::atomic<uint32_t> on{0};  // enum lamella_memory_flags
std::atomic<lamella_memory_capture> capture{nullptr};
std::atomic<lamella_memory_describe> describe{nullptr};

uint64_t thread_number() {
  if (current_thread) return current_thread->id;
  thread_local const auto id = static_cast<uint64_t>(syscall(SYS_gettid));
  return id;
}

void name_maker(MemoryRecord& e) {
  const Record* r = current_thread ? current_thread->current : nullptr;
  if (!r) return;
  e.maker = r->kept_name();
  e.record.maker = e.maker ? e.maker->c_str() : r->shared.name;
}

void keep_event(History& h, MemoryRecord& e) {
  e.record.number = ++h.num_events;
  if (!h.max_events) return;
  if (h.events.size() < h.max_events) {
    h.events.push_back(e);
  } else {
    h.events[h.oldest] = e;
    h.oldest = (h.oldest + 1) % h.max_events;
  }
}

// Removes a block. For an unknown block there is nothing to do: its release is in the events only.
void end_block(History& h, const lamella_memory_record& e) {
  const auto at = h.blocks.find({e.data, e.device.backend, e.device.index});
  if (at == h.blocks.end()) return;
  const int64_t bytes = at->second.record.bytes;
  h.blocks.erase(at);
  Counted& d = h.devices[id_of(e.device)];
  if (const auto size = d.sizes.find(bytes); size != d.sizes.end()) d.sizes.erase(size);
  d.counts.frees++;
  d.counts.freed_bytes += bytes;
  d.counts.live_bytes -= bytes;
  d.counts.live_blocks--;
}

void add_block(History& h, const MemoryRecord& made) {
  const lamella_memory_record& e = made.record;
  end_block(h, e);  // the address is in use again, so the release of its former block was not reported
  h.blocks[{e.data, e.device.backend, e.device.index}] = {made, {}};
  Counted& d = h.devices[id_of(e.device)];
  lamella_memory_counts& c = d.counts;
  d.sizes.insert(e.bytes);
  c.allocations++;
  c.allocated_bytes += e.bytes;
  c.live_bytes += e.bytes;
  c.live_blocks++;
  c.peak_bytes = std::max(c.peak_bytes, c.live_bytes);
  c.peak_blocks = std::max(c.peak_blocks, c.live_blocks);
  c.largest_bytes = std::max(c.largest_bytes, e.bytes);
}

void on_memory(void*, const lamella_event* event) {
  const uint32_t flags = on.load(std::memory_order_relaxed);
  if (!flags) return;
  MemoryRecord kept{};
  lamella_memory_record& e = kept.record;
  e.size = sizeof e;
  e.kind = event->kind == LAMELLA_EVENT_ALLOCATE ? LAMELLA_MEMORY_ALLOC
           : event->kind == LAMELLA_EVENT_FREE   ? LAMELLA_MEMORY_FREE
                                                 : LAMELLA_MEMORY_OOM;
  e.time = static_cast<int64_t>(clock_ns(CLOCK_REALTIME));
  e.thread = thread_number();
  e.data = event->data;
  e.bytes = event->bytes;
  e.device = event->device;
  e.dtype = -1;
  if (flags & LAMELLA_MEMORY_STACKS && e.kind != LAMELLA_MEMORY_FREE)
    if (lamella_memory_capture take = capture.load(std::memory_order_relaxed)) e.stack = take();
  try {
    if (flags & LAMELLA_MEMORY_MAKERS) name_maker(kept);
    History& h = history();
    const std::lock_guard lock(h.mutex);
    if (!on.load(std::memory_order_relaxed)) return;  // it was switched off meanwhile
    keep_event(h, kept);
    if (e.kind == LAMELLA_MEMORY_ALLOC) add_block(h, kept);
    if (e.kind == LAMELLA_MEMORY_FREE) end_block(h, e);
  } catch (const std::bad_alloc&) {  // out of memory: the history lacks this event
  }
}

// ---- the observer of Note [Who made it] -----------------------------------------------------------------------------

void describe_block(const lamella_tensor* t) {
  if (!t || !t->storage || t->flags & LAMELLA_OPAQUE) return;
  const void* data = api().storage_data(t->storage);
  const auto index = static_cast<int32_t>(t->device_key & 0xffff);
  History& h = history();
  const std::lock_guard lock(h.mutex);
  const auto at = h.blocks.find({data, t->backend, index});
  if (at == h.blocks.end() || at->second.record.dtype >= 0) return;
  at->second.record.dtype = t->dtype;
  at->second.shape.assign(t->dl.shape, t->dl.shape + t->dl.ndim);
}

lamella_status on_exit(void*, const lamella_record* r, void*) {
  if (!r->outputs || !on.load(std::memory_order_relaxed)) return LAMELLA_OK;
  return guarded([&] {
    for (uint32_t i = 0; i < r->num_outputs; i++) {
      const lamella_value& v = r->outputs[i];
      if (v.tag == LAMELLA_TENSOR) describe_block(v.as.tensor);
      for (uint32_t k = 0; v.tag == LAMELLA_TENSOR_LIST && k < v.length; k++) describe_block(v.as.tensors[k]);
    }
    return LAMELLA_OK;
  });
}

lamella_status add_maker_observer(uint64_t* handle) {
  lamella_observer o{};
  o.size = sizeof o;
  o.scopes = 1u << LAMELLA_SCOPE_FUNCTION | 1u << LAMELLA_SCOPE_BACKWARD_FUNCTION | 1u << LAMELLA_SCOPE_USER_SCOPE;
  o.probability = 1;
  o.exit = on_exit;
  return add_observer(&o, 1, handle);
}

}  // namespace

std::mutex& history_mutex() { return history().mutex; }

void switch_memory_in_child() { new (&switching()) std::mutex; }

lamella_status switch_memory_on(uint32_t flags, uint64_t max_entries) {
  const std::lock_guard turn(switching());
  History& h = history();
  const uint32_t before = on.load();
  if (flags & LAMELLA_MEMORY_MAKERS && !h.observer)
    if (lamella_status st = add_maker_observer(&h.observer)) return st;
  if (!h.subscription) {
    constexpr uint64_t kinds = uint64_t{1} << LAMELLA_EVENT_ALLOCATE | uint64_t{1} << LAMELLA_EVENT_FREE |
                               uint64_t{1} << LAMELLA_EVENT_OUT_OF_MEMORY;
    if (lamella_status st = api().subscribe(library, kinds, on_memory, nullptr, &h.subscription)) return st;
  }
  {
    const std::lock_guard lock(h.mutex);
    if (flags & LAMELLA_MEMORY_MAKERS) {  // a history with makers starts with an empty list of events
      h.events.clear();
      h.max_events = max_entries;
      h.num_events = h.oldest = 0;
    }
  }
  on.store(before | flags);
  if (flags & LAMELLA_MEMORY_MAKERS && !(flags & LAMELLA_MEMORY_STACKS)) on.fetch_and(~uint32_t{LAMELLA_MEMORY_STACKS});
  return LAMELLA_OK;
}

void switch_memory_off() {
  const std::lock_guard turn(switching());
  History& h = history();
  if (h.subscription) api().withdraw(std::exchange(h.subscription, 0));
  if (h.observer && remove_observer(std::exchange(h.observer, 0))) api().error_clear();
  const std::lock_guard lock(h.mutex);
  on.store(0);
  h.blocks.clear();
  h.devices.clear();
  h.events.clear();
  h.events.shrink_to_fit();
  h.max_events = h.num_events = h.oldest = 0;
}

uint32_t memory_flags() { return on.load(std::memory_order_relaxed); }

void set_memory_stacks(lamella_memory_capture take, lamella_memory_describe tell) {
  capture.store(take);
  describe.store(tell);
}

std::string described_stack(uint64_t stack) {
  lamella_memory_describe tell = describe.load();
  char text[512] = "";
  if (stack && tell) tell(stack, text, sizeof text);
  return text;
}

namespace {

lamella_memory_counts counts_of(const Counted& d) {
  lamella_memory_counts c = d.counts;
  c.largest_live_bytes = d.sizes.empty() ? 0 : *d.sizes.rbegin();
  return c;
}

}  // namespace

lamella_status memory_snapshot(lamella_memory_snapshot* visitor) {
  std::vector<LargeBlock> blocks;
  std::vector<MemoryRecord> events;
  std::vector<std::pair<DeviceId, lamella_memory_counts>> devices;
  {
    History& h = history();
    const std::lock_guard lock(h.mutex);
    for (const auto& [key, block] : h.blocks) blocks.push_back(block);
    const auto oldest = h.events.begin() + static_cast<ptrdiff_t>(h.oldest);
    events.assign(oldest, h.events.end());
    events.insert(events.end(), h.events.begin(), oldest);
    visitor->dropped = h.num_events - h.events.size();
    for (const auto& [id, counted] : h.devices) devices.emplace_back(id, counts_of(counted));
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const auto& a, const auto& b) { return a.record.number < b.record.number; });
  for (LargeBlock& b : blocks) {
    b.record.ndim = static_cast<int32_t>(b.shape.size());
    b.record.shape = b.shape.data();
    if (lamella_status st = visitor->block(visitor->context, &b.record)) return st;
  }
  for (const MemoryRecord& e : events)
    if (lamella_status st = visitor->event(visitor->context, &e.record)) return st;
  for (const auto& [id, counts] : devices)
    if (lamella_status st = visitor->device(visitor->context, {id.first, id.second}, &counts)) return st;
  return LAMELLA_OK;
}

lamella_memory_counts memory_counts(lamella_device device) {
  History& h = history();
  const std::lock_guard lock(h.mutex);
  const auto at = h.devices.find(id_of(device));
  return at == h.devices.end() ? lamella_memory_counts{} : counts_of(at->second);
}

void reset_memory_counts(lamella_device device, uint32_t what) {
  History& h = history();
  const std::lock_guard lock(h.mutex);
  const auto at = h.devices.find(id_of(device));
  if (at == h.devices.end()) return;
  lamella_memory_counts& c = at->second.counts;
  if (what & LAMELLA_STATS_PEAK) {
    c.peak_bytes = c.live_bytes;
    c.peak_blocks = c.live_blocks;
    c.largest_bytes = at->second.sizes.empty() ? 0 : *at->second.sizes.rbegin();
  }
  if (what & LAMELLA_STATS_COUNTS) c.allocations = c.allocated_bytes = c.frees = c.freed_bytes = 0;
}

std::vector<LargeBlock> largest_blocks(lamella_device device, size_t most) {
  std::vector<const LargeBlock*> all;
  std::vector<LargeBlock> largest;
  History& h = history();
  const std::lock_guard lock(h.mutex);
  for (const auto& [key, block] : h.blocks)
    if (key.backend == device.backend && key.index == device.index) all.push_back(&block);
  most = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(most), all.end(), [](auto* a, auto* b) {
    return a->record.bytes != b->record.bytes ? a->record.bytes > b->record.bytes : a->record.number < b->record.number;
  });
  for (size_t i = 0; i < most; i++) largest.push_back(*all[i]);
  return largest;
}

}  // namespace lamella::profiler
