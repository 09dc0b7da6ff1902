// Reads a trace: event by event, and summed up.
#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_map>

#include "trace/launches.h"

namespace lamella::profiler {
namespace {

lamella_trace_event described(const Buffer& b, const Open& o) {
  const Event& e = *o.event;
  const bool call = e.scope == LAMELLA_SCOPE_FUNCTION || e.scope == LAMELLA_SCOPE_KERNEL;
  return {.size = sizeof(lamella_trace_event),
          .scope = e.scope,
          .name = name_of(e),
          .op = call ? static_cast<const lamella_operator*>(e.what) : nullptr,
          .begin = o.begin,
          .end = o.end,
          .index = o.index,
          .parent = o.parent,
          .sequence = e.sequence,
          .thread = b.thread,
          .forward_thread = e.forward_thread,
          .shapes = e.shapes,
          .stack = e.stack,
          .backend = e.backend,
          .failed = e.failed};
}

// The key of a row of sums.
struct Key {
  std::string_view name;
  const int64_t *shapes, *stack;
  int64_t frames;  // how many frames of the stack belong to the key
  uint32_t scope;
  int32_t backend;
  static bool same_words(const int64_t* a, const int64_t* b, int64_t most) {
    if (a == b) return true;
    if (!a || !b) return false;
    const int64_t n = std::min(a[0], most);
    return n == std::min(b[0], most) && std::equal(a + 1, a + 1 + n, b + 1);
  }
  bool operator==(const Key& o) const {
    return name == o.name && scope == o.scope && backend == o.backend && same_words(shapes, o.shapes, INT64_MAX) &&
           same_words(stack, o.stack, frames);
  }
};
struct Hash {
  static size_t words(const int64_t* w, int64_t most) {
    size_t h = 0;
    for (int64_t i = 0; w && i < std::min(w[0], most); i++)
      h = (h ^ static_cast<size_t>(w[i + 1])) * 0x9e3779b97f4a7c15;
    return h;
  }
  size_t operator()(const Key& k) const {
    return std::hash<std::string_view>()(k.name) ^ words(k.shapes, INT64_MAX) * 3 ^ words(k.stack, k.frames) * 5 ^
           k.scope ^ static_cast<size_t>(k.backend) << 8;
  }
};

// Finds the row of an event. Within one buffer, the addresses of the name, shapes and stack identify the row, so that
// few events are compared by content.
class Rows {
 public:
  Rows(bool by_shapes, int64_t frames) : by_shapes_(by_shapes), frames_(frames) {}
  void next_buffer() { seen_.clear(); }
  lamella_trace_row& row(const Event& e) {
    const Addresses s{e.what, by_shapes_ ? e.shapes : nullptr, frames_ ? e.stack : nullptr, e.scope, e.backend};
    const auto found = seen_.find(s);
    if (found != seen_.end()) return *found->second;
    const Key key{name_of(e), s.shapes, s.stack, frames_, e.scope, e.backend};
    auto at = rows_.find(key);
    if (at == rows_.end()) {
      all_.push_back({.size = sizeof(lamella_trace_row),
                      .scope = e.scope,
                      .name = name_of(e),
                      .shapes = s.shapes,
                      .stack = s.stack,
                      .backend = e.backend,
                      .least = INT64_MAX});
      at = rows_.emplace(key, &all_.back()).first;
    }
    seen_.emplace(s, at->second);
    return *at->second;
  }
  const std::deque<lamella_trace_row>& all() const { return all_; }

 private:
  struct Addresses {
    const void* what;
    const int64_t *shapes, *stack;
    uint8_t scope;
    int16_t backend;
    bool operator==(const Addresses&) const = default;
  };
  struct SeenHash {
    size_t operator()(const Addresses& s) const {
      const auto of = [](const void* p) { return reinterpret_cast<size_t>(p); };
      return (of(s.what) ^ of(s.shapes) * 3 ^ of(s.stack) * 5 ^ s.scope ^ static_cast<size_t>(s.backend) << 8) *
                 0x9e3779b97f4a7c15 >>
             16;
    }
  };
  const bool by_shapes_;
  const int64_t frames_;
  std::deque<lamella_trace_row> all_;
  std::unordered_map<Key, lamella_trace_row*, Hash> rows_;
  std::unordered_map<Addresses, lamella_trace_row*, SeenHash> seen_;
};

// The nanoseconds of devices by event number: of work that the event launched itself, and, after the walk has closed
// the events inside it, of work launched inside it as well.
struct DeviceTimes {
  std::vector<lamella_trace_activity> all;
  std::unordered_map<int64_t, std::pair<int64_t, int64_t>> of;
  explicit DeviceTimes(Trace& t) {
    if (!t.devices) return;
    all = read_activities(t, find_launchers(t));
    for (const lamella_trace_activity& a : all)
      if (a.host >= 0) {
        of[a.host].first += a.end - a.begin;
        of[a.host].second += a.end - a.begin;
      }
  }
  void close(const Open& o, lamella_trace_row& r) {
    const auto found = of.find(o.index);
    if (found == of.end()) return;
    const auto [direct, whole] = found->second;
    r.self_device += direct;
    r.device += whole;
    if (o.parent >= 0) of[o.parent].second += whole;
  }
};

}  // namespace

lamella_status trace_events(lamella_trace* handle, lamella_on_trace_event visit, void* context) {
  Trace& t = trace_of(handle);
  int64_t index = 0;
  lamella_status st = LAMELLA_OK;
  for (const Buffer* b : t.all())
    walk(
        t, *b, index,
        [&](const Open& o) {
          const lamella_trace_event d = described(*b, o);
          if (!st) st = visit(context, &d);
        },
        [](const Open&) {});
  return st;
}

lamella_status trace_memory(lamella_trace* handle, lamella_on_trace_memory visit, void* context) {
  Trace& t = trace_of(handle);
  lamella_status st = LAMELLA_OK;
  for (const Buffer* b : t.all())
    b->memory.each([&](const MemoryEvent& m) {
      const lamella_trace_memory_event d = {.size = sizeof d,
                                            .device = m.device,
                                            .time = t.rate.ns(m.time),
                                            .data = m.data,
                                            .bytes = m.bytes,
                                            .thread = b->thread};
      if (!st) st = visit(context, &d);
    });
  return st;
}

lamella_status trace_summary(lamella_trace* handle, int32_t by_shapes, int32_t stack_frames, lamella_on_trace_row visit,
                             void* context) {
  Trace& t = trace_of(handle);
  Rows rows(by_shapes != 0, stack_frames);
  DeviceTimes times(t);
  int64_t index = 0;
  for (const Buffer* b : t.all()) {
    rows.next_buffer();
    walk(
        t, *b, index, [](const Open&) {},
        [&](const Open& o) {
          lamella_trace_row& r = rows.row(*o.event);
          const int64_t ns = o.end - o.begin;
          r.count++;
          r.total += ns;
          r.self += ns - o.inner;
          r.least = std::min(r.least, ns);
          r.most = std::max(r.most, ns);
          r.failed += o.event->failed;
          r.memory += o.memory;
          r.self_memory += o.self_memory;
          r.device_memory += o.device_memory;
          r.self_device_memory += o.self_device_memory;
          if (!times.of.empty()) times.close(o, r);
        });
  }
  rows.next_buffer();
  for (const lamella_trace_activity& a : times.all) {
    const Event e = {.what = a.name,
                     .stack = a.stack,
                     .scope = LAMELLA_TRACE_DEVICE,
                     .backend = static_cast<int16_t>(a.device.backend)};
    lamella_trace_row& r = rows.row(e);
    r.count++;
    r.device = r.self_device += a.end - a.begin;
    r.least = std::min(r.least, a.end - a.begin);
    r.most = std::max(r.most, a.end - a.begin);
    r.bytes += a.bytes;
  }
  for (const lamella_trace_row& r : rows.all())
    if (lamella_status st = visit(context, &r)) return st;
  return LAMELLA_OK;
}

}  // namespace lamella::profiler
