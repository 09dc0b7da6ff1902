#include "trace/devices.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "observe/observers.h"
#include "observe/thread.h"
#include "trace/timed.h"
#include "trace/trace.h"

namespace lamella::profiler {
namespace {

const char* const prefix = "device_trace.";

// A hook that has been started, with the number of traces that use it.
struct Started {
  const lamella_device_trace* hook;
  int users;
};

// Note [Turns]  `turn` is held while a hook's functions run, which may wait for the device. `mutex` is held for a few
//   instructions, also by launches and activities. Neither is held during calls into the registry, because on_arrival()
//   runs under the registry's lock; it only tries to lock `turn`.
struct State {
  std::mutex turn;
  std::vector<Started> started;  // guarded by `turn`
  std::mutex mutex;
  std::vector<Trace*> live;  // changed under both locks
  uint64_t last = 0;         // the number of the last launch
  std::atomic<int> any{0};   // the number of live traces
};
std::atomic<State*> state{nullptr};

// Returns the state. A child of fork gets a new one, without traces of devices, because a lock may have been held
// during the fork and few devices work in a child. Traces of the parent can still be read there.
State& the_state() {
  State* s = state.load(std::memory_order_acquire);
  if (s) return *s;
  static const bool first = [] {
    state = new State;
    return pthread_atfork(nullptr, nullptr, [] { state = new State; }) == 0;
  }();
  (void)first;
  return *state.load();
}

const lamella_device_sink sink = {sizeof sink, 0, launched, activity};

const lamella_device_trace* find_hook(const std::string& device) {
  return static_cast<const lamella_device_trace*>(api().find_interface((prefix + device).c_str(), 1));
}

// Reads the device's clock several times, each between two readings of the host's, and returns the reading with the
// shortest interval.
Moment read_clock(const lamella_device_trace* hook, int32_t index) {
  Moment best;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 8; i++) {
    int64_t ns = 0;
    const uint64_t before = ticks();
    if (hook->clock(hook->context, index, &ns)) {
      api().error_clear();
      return best;
    }
    const uint64_t took = ticks() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, ns, true};
  }
  return best;
}

std::string of_device(const std::string& name) { return "device '" + name + "': "; }

// Starts to record a backend; `turn` must be held. The source is added before the hook starts, so that the first
// activity finds it.
void begin_source(Trace& t, const std::string& name, int32_t backend, const lamella_device_trace* hook, int32_t count) {
  DeviceRecord& d = *t.devices;
  State& s = the_state();
  for (const Source& known : d.sources)
    if (known.backend == backend) return;
  Source source{name, backend, hook, {}};
  for (int32_t i = 0; i < count; i++) source.clocks.push_back({{backend, i}, read_clock(hook, i), {}});
  {
    const std::lock_guard lock(s.mutex);
    d.sources.push_back(std::move(source));
  }
  const auto at =
      std::find_if(s.started.begin(), s.started.end(), [hook](const Started& one) { return one.hook == hook; });
  if (at != s.started.end()) {
    at->users++;
  } else if (!hook->start(hook->context, &sink)) {
    s.started.push_back({hook, 1});
  } else {
    note(t, of_device(name) + "its work cannot be recorded: " + take_message());
    const std::lock_guard lock(s.mutex);
    d.sources.back().hook = nullptr;
  }
}

int32_t count_of(int32_t backend) {
  const lamella_backend* b = api().backend_description(backend);
  return b && b->device_count ? b->device_count(b->context) : b ? 1 : 0;
}

bool is_there(int32_t id) { return api().backend_description(id) != nullptr; }

template <class Visit>
void each_backend(Visit visit) {
  for (int32_t id = 0;; id++) {
    const std::string name = api().backend_name(id);
    if (name == "none") return;
    if (is_there(id)) visit(name, id);
  }
}

// Called under the registry's lock when an interface is published, since a backend may be loaded while a trace runs.
void on_arrival(void* context, const lamella_event* e) {
  if (e->phase != LAMELLA_EVENT_BEGIN || std::strncmp(e->name, prefix, std::strlen(prefix)) != 0) return;
  const std::string name = e->name + std::strlen(prefix);
  const lamella_device_trace* hook = find_hook(name);
  int32_t backend;
  if (!hook || api().find_backend(name.c_str(), &backend)) return api().error_clear();
  const int32_t count = count_of(backend);
  State& s = the_state();
  const auto wanting = [&](Trace* t) {
    return t->number == reinterpret_cast<uintptr_t>(context) && t->devices->wants(name);
  };
  if (const std::unique_lock turn(s.turn, std::try_to_lock); turn) {
    const auto t = std::find_if(s.live.begin(), s.live.end(), wanting);
    if (t != s.live.end()) begin_source(**t, name, backend, hook, count);
    return;
  }
  const std::lock_guard lock(s.mutex);
  const auto t = std::find_if(s.live.begin(), s.live.end(), wanting);
  if (t != s.live.end())
    (*t)->devices->notes.push_back(of_device(name) +
                                   "it was loaded while another profile began or ended, so its work was not recorded");
}

}  // namespace

void note(Trace& t, std::string text) {
  const std::lock_guard lock(the_state().mutex);
  t.devices->notes.push_back(std::move(text));
}

bool has_source(Trace& t, const std::string& device) {
  const std::lock_guard lock(the_state().mutex);
  const auto& all = t.devices->sources;
  return std::any_of(all.begin(), all.end(), [&](const Source& s) { return s.name == device; });
}

std::string take_message() {
  const char* text = api().error_message();
  std::string message = text ? text : "without a reason";
  api().error_clear();
  return message;
}

bool DeviceRecord::wants(std::string_view name) const {
  return std::find_if(wanted.begin(), wanted.end(), [&](const std::string& w) { return w == "*" || w == name; }) !=
         wanted.end();
}

DeviceRecord::~DeviceRecord() = default;

const DeviceClock* DeviceRecord::clock(lamella_device device) const {
  for (const Source& s : sources)
    for (const DeviceClock& c : s.clocks)
      if (c.device.backend == device.backend && c.device.index == device.index) return &c;
  return nullptr;
}

uint64_t launched() {
  State& s = the_state();
  if (!s.any.load(std::memory_order_relaxed)) return 0;
  const uint64_t thread = this_thread().id;
  const std::lock_guard lock(s.mutex);
  if (s.live.empty()) return 0;
  const uint64_t number = ++s.last, now = ticks();
  for (Trace* t : s.live) {
    auto& launches = t->devices->launches;
    Launch* place = launches.size() < t->options.max_events ? launches.place() : nullptr;
    if (!place) continue;
    *place = {number, thread, now};
    launches.publish();
  }
  return number;
}

namespace {

std::string device_text(lamella_device d) {
  return std::string(api().backend_name(d.backend)) + ":" + std::to_string(d.index);
}

bool is_utf8(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i++]);
    const int more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
    if (more < 0) return false;
    for (int k = 0; k < more; k++)
      if (i == s.size() || (static_cast<unsigned char>(s[i++]) & 0xc0) != 0x80) return false;
  }
  return true;
}

// Returns the activity's name; in a name that is not UTF-8, bytes outside of ASCII become "?".
std::string name_of(const lamella_device_activity& a) {
  if (a.name) {
    std::string name = a.name;
    if (!is_utf8(name))
      std::replace_if(
          name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    return name;
  }
  if (a.kind == LAMELLA_ACTIVITY_COPY) return "copy " + device_text(a.from) + " -> " + device_text(a.to);
  return a.kind == LAMELLA_ACTIVITY_FILL ? "fill " + device_text(a.device) : "kernel";
}

// Adds an activity to a trace; `mutex` must be held.
void keep(Trace& t, const lamella_device_activity& a) {
  DeviceRecord& d = *t.devices;
  if (a.launch && a.launch <= d.first) return;
  const auto of_backend = [&](const Source& s) { return s.backend == a.device.backend; };
  if (std::none_of(d.sources.begin(), d.sources.end(), of_backend)) return;
  if (a.end < a.begin || a.kind > LAMELLA_ACTIVITY_FILL || !d.clock(a.device)) {
    d.invalid++;
    return;
  }
  lamella_trace_activity* place = d.activities.size() < t.options.max_events ? d.activities.place() : nullptr;
  if (!place) {
    t.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const char* name = d.names.emplace(name_of(a)).first->c_str();
  *place = {sizeof *place, a.kind,  name,    a.device, a.to,    a.from, a.stream,
            a.launch,      a.begin, a.begin, a.end,    a.bytes, -1};
  d.activities.publish();
}

}  // namespace

void activity(const lamella_device_activity* given) {
  lamella_device_activity a{};
  std::memcpy(&a, given, std::min<size_t>(given->size, sizeof a));
  State& s = the_state();
  const std::lock_guard lock(s.mutex);
  for (Trace* t : s.live) keep(*t, a);
}

void keep_activity(Trace& t, const lamella_device_activity& a) {
  const std::lock_guard lock(the_state().mutex);
  keep(t, a);
}

void add_source(Trace& t, Source source) {
  State& s = the_state();
  const std::lock_guard turn(s.turn), lock(s.mutex);
  t.devices->sources.push_back(std::move(source));
}

lamella_status devices_begin(Trace& t) {
  if (!t.options.devices || !*t.options.devices) return LAMELLA_OK;
  t.devices = std::make_unique<DeviceRecord>();
  DeviceRecord& d = *t.devices;
  d.process = getpid();
  for (std::string_view rest = t.options.devices; !rest.empty();) {
    const size_t comma = rest.find(',');
    d.wanted.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  t.options.devices = nullptr;  // the text belongs to the caller and may be gone after this call
  State& s = the_state();
  {
    const std::lock_guard turn(s.turn), lock(s.mutex);
    d.first = s.last;
    s.live.push_back(&t);
    s.any++;
  }
  void* const context = reinterpret_cast<void*>(static_cast<uintptr_t>(t.number));
  if (lamella_status st =
          api().subscribe(library, uint64_t{1} << LAMELLA_EVENT_INTERFACE, on_arrival, context, &d.arrivals))
    return st;
  each_backend([&](const std::string& name, int32_t id) {
    const lamella_device_trace* hook = d.wants(name) ? find_hook(name) : nullptr;
    const int32_t count = count_of(id);
    if (!hook) return;
    const std::lock_guard turn(s.turn);
    begin_source(t, name, id, hook, count);
  });
  return time_kernels(t);
}

void devices_end(Trace& t) {
  if (!t.devices) return;
  DeviceRecord& d = *t.devices;
  if (d.arrivals && api().withdraw(std::exchange(d.arrivals, 0))) api().error_clear();
  if (d.process != getpid()) return drop_timed(t);
  end_timed(t);
  for (const std::string& name : d.wanted) {
    int32_t id;
    if (name == "*" || d.judged.count(name) || has_source(t, name)) continue;
    if (!api().find_backend(name.c_str(), &id))
      note(t, of_device(name) + "it was loaded while the profile ran, without the interface device_trace." + name +
                  ", so its work was not recorded");
    api().error_clear();
  }
  State& s = the_state();
  const std::lock_guard turn(s.turn);
  for (Source& source : d.sources) {
    if (!source.hook) continue;
    if (source.hook->flush(source.hook->context))
      note(t, of_device(source.name) + "a part of its work was not recorded: " + take_message());
    for (DeviceClock& c : source.clocks) c.last = read_clock(source.hook, c.device.index);
  }
  {
    const std::lock_guard lock(s.mutex);
    s.live.erase(std::remove(s.live.begin(), s.live.end(), &t), s.live.end());
    s.any--;
  }
  for (const Source& source : d.sources) {
    const auto at = std::find_if(s.started.begin(), s.started.end(),
                                 [&](const Started& one) { return source.hook && one.hook == source.hook; });
    if (at == s.started.end() || --at->users) continue;
    at->hook->stop(at->hook->context);
    s.started.erase(at);
  }
  int64_t timeless = 0;
  d.activities.each([&](const lamella_trace_activity& a) {
    const DeviceClock* c = d.clock(a.device);
    timeless += !c->first.known && !c->last.known;
  });
  if (timeless) note(t, std::to_string(timeless) + " activities of devices whose clock cannot be read are left out");
  if (d.invalid)
    note(t, std::to_string(d.invalid) +
                " activities of devices had an end before their begin, or no known device or kind, and are left out");
}

lamella_status traced_devices(lamella_on_trace_text visit, void* context) {
  lamella_status st = LAMELLA_OK;
  each_backend([&](const std::string& name, int32_t) {
    if (!st && find_hook(name)) st = visit(context, name.c_str());
  });
  return st;
}

}  // namespace lamella::profiler
