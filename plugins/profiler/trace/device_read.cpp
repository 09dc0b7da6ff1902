// Reads the device part of a trace: converts times to the host's clock, and finds the event that launched each piece of
// work.
#include <algorithm>
#include <unordered_map>

#include "trace/launches.h"

namespace lamella::profiler {

std::vector<Launched> find_launchers(Trace& t) {
  std::vector<Launched> all;
  std::unordered_map<uint64_t, std::vector<size_t>> of_thread;
  t.devices->launches.each([&](const Launch& l) {
    of_thread[l.thread].push_back(all.size());
    all.push_back({l.number, t.rate.ns(l.time), l.thread, nullptr, -1, 0});
  });
  int64_t index = 0;
  for (const Buffer* b : t.all()) {
    const std::vector<size_t>& mine = of_thread[b->thread];
    size_t next = 0;
    std::vector<Open> open;
    const auto give_until = [&](int64_t now) {
      for (; next < mine.size() && all[mine[next]].time < now; next++) {
        Launched& l = all[mine[next]];
        while (!open.empty() && open.back().until <= l.time) open.pop_back();
        if (open.empty()) continue;
        l.event = open.back().event;
        l.host = open.back().index;
        l.begin = open.back().begin;
      }
    };
    walk(
        t, *b, index,
        [&](const Open& o) {
          give_until(o.begin);
          while (!open.empty() && open.back().until <= o.begin) open.pop_back();
          open.push_back(o);
        },
        [](const Open&) {});
    give_until(INT64_MAX);
  }
  return all;
}

const Launched* find_launch(const std::vector<Launched>& all, uint64_t number) {
  const auto at =
      std::lower_bound(all.begin(), all.end(), number, [](const Launched& l, uint64_t n) { return l.number < n; });
  return at != all.end() && at->number == number ? &*at : nullptr;
}

namespace {

// Converts a device's time to the host's clock: by the line through two moments at which both were read, or with the
// host's rate if there is one moment only.
int64_t host_time(const Trace& t, const DeviceClock& c, int64_t ns) {
  const Moment& a = c.first.known ? c.first : c.last;
  const int64_t host = t.rate.ns(a.host);
  const double since = static_cast<double>(ns - a.device);
  double rate = 1;
  if (c.first.known && c.last.known && c.last.device > c.first.device)
    rate = static_cast<double>(t.rate.ns(c.last.host) - host) / static_cast<double>(c.last.device - c.first.device);
  return std::max<int64_t>(host + static_cast<int64_t>(since * rate), 0);
}

}  // namespace

std::vector<lamella_trace_activity> read_activities(Trace& t, const std::vector<Launched>& launches) {
  std::vector<lamella_trace_activity> all;
  if (!t.devices) return all;
  DeviceRecord& d = *t.devices;
  d.activities.each([&](lamella_trace_activity a) {
    const DeviceClock* clock = d.clock(a.device);
    if (!clock || (!clock->first.known && !clock->last.known)) return;
    a.begin = a.launched = host_time(t, *clock, a.begin);
    a.end = std::max(a.begin, host_time(t, *clock, a.end));
    if (const Launched* l = find_launch(launches, a.launch)) {
      a.launched = l->time;
      a.host = l->host;
      a.thread = l->thread;
      a.stack = l->event ? l->event->stack : nullptr;
    }
    all.push_back(a);
  });
  std::stable_sort(all.begin(), all.end(),
                   [](const lamella_trace_activity& a, const lamella_trace_activity& b) { return a.begin < b.begin; });
  return all;
}

lamella_status trace_activity(lamella_trace* handle, lamella_on_trace_activity visit, void* context) {
  Trace& t = trace_of(handle);
  if (!t.devices) return LAMELLA_OK;
  for (const lamella_trace_activity& a : read_activities(t, find_launchers(t)))
    if (lamella_status st = visit(context, &a)) return st;
  return LAMELLA_OK;
}

lamella_status trace_notes(lamella_trace* handle, lamella_on_trace_text visit, void* context) {
  Trace& t = trace_of(handle);
  if (!t.devices) return LAMELLA_OK;
  for (const std::string& note : t.devices->notes)
    if (lamella_status st = visit(context, note.c_str())) return st;
  return LAMELLA_OK;
}

}  // namespace lamella::profiler
