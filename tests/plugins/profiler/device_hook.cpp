// A hook of device traces for the backend `cpu`: tests set its records and failures by ctypes. And the backend
// `evented`, which has events with timing and no hook.
#include <lamella/device_trace.h>
#include <lamella/extension.h>

#include <cstdlib>
#include <chrono>
#include <string>
#include <thread>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using lamella::api;
const lamella_device_sink* sink = nullptr;
std::string broken;
int starts = 0, stops = 0, flushes = 0, events = 0;
int32_t backend = -1;

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
lamella_status fails(const char* what) {
  return broken == what ? lamella::fail(LAMELLA_RUNTIME_ERROR, std::string(what) + " is broken") : LAMELLA_OK;
}

lamella_status start(void*, const lamella_device_sink* s) {
  if (lamella_status st = fails("start")) return st;
  starts++;
  sink = s;
  return LAMELLA_OK;
}
lamella_status flush(void*) {
  flushes++;
  return fails("flush");
}
void stop(void*) {
  stops++;
  sink = nullptr;
}
lamella_status read_clock(void*, int32_t, int64_t* ns) {
  *ns = now();
  return fails("clock");
}

struct Event {
  int64_t at;
};

}  // namespace

EXPORT void break_(const char* what) { broken = what; }
EXPORT int count(const char* what) {
  const std::string w = what;
  return w == "starts" ? starts : w == "stops" ? stops : w == "flushes" ? flushes : events;
}
EXPORT int64_t time_now() { return now(); }
EXPORT uint64_t launch() { return sink ? sink->launched() : 0; }
EXPORT void done(uint64_t number, const char* name, uint32_t kind, int32_t index, int64_t begin, int64_t end,
                 int64_t bytes) {
  lamella_device_activity a{};
  a.size = sizeof a;
  a.kind = kind;
  a.name = name;
  a.device = a.to = {backend, index};
  a.from = {backend, 0};
  a.stream = 7;
  a.launch = number;
  a.begin = begin;
  a.end = end;
  a.bytes = bytes;
  if (sink) sink->activity(&a);
}

LAMELLA_LIBRARY(evented, m) {
  lamella::check(api().find_backend("cpu", &backend));
  static const lamella_device_trace hook = {sizeof hook, 0, nullptr, start, flush, stop, read_clock};
  m.interface("device_trace.cpu", 1, &hook);

  static const lamella_allocator memory = {sizeof memory,
                                           0,
                                           nullptr,
                                           [](void*, int64_t bytes, int32_t, void*, void** out) -> lamella_status {
                                             *out = std::malloc(static_cast<size_t>(bytes));
                                             return LAMELLA_OK;
                                           },
                                           [](void*, void* data, int64_t, int32_t) { std::free(data); },
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           nullptr};
  static lamella_backend b{};
  b.size = sizeof b;
  b.name = "evented";
  b.dlpack_type = kDLExtDev;
  b.flags = LAMELLA_BACKEND_CPU_FALLBACK;
  b.allocator = &memory;
  b.copy = [](void*, const lamella_copy* c, int32_t* done) -> lamella_status {
    std::memcpy(c->dst, c->src, static_cast<size_t>(c->bytes));
    *done = 1;
    return LAMELLA_OK;
  };
  b.event_create = [](void*, int32_t, uint32_t, void** out) -> lamella_status {
    if (lamella_status st = fails("event_create")) return st;
    events++;
    *out = new Event{0};
    return LAMELLA_OK;
  };
  b.event_destroy = [](void*, int32_t, void* e) {
    events--;
    delete static_cast<Event*>(e);
  };
  b.event_record = [](void*, int32_t, void* e, void*) -> lamella_status {
    static_cast<Event*>(e)->at = now();
    return LAMELLA_OK;
  };
  b.event_query = [](void*, int32_t, void*, int32_t* done) -> lamella_status {
    *done = 1;
    return LAMELLA_OK;
  };
  b.event_elapsed = [](void*, int32_t, void* from, void* to, double* ms) -> lamella_status {
    *ms = static_cast<double>(static_cast<Event*>(to)->at - static_cast<Event*>(from)->at) / 1e6;
    return fails("event_elapsed");
  };
  m.backend(b, nullptr);
  m.def("rest(Tensor on, int microseconds) -> ()");
  m.impl("rest", "evented", [](const lamella::Tensor&, int64_t microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  });
}
