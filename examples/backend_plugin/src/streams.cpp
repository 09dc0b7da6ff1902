// Streams and events of device `bank`, and their functions in the backend's table.
#include "streams.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace bank {
// ---- streams ----
bool Place::passed() const { return stream->passed(ticket); }
lamella_status Place::wait() const {
  stream->wait(ticket);
  const Fault fault = stream->take_fault();
  return fault.kind ? fail(fault.kind, fault.message) : LAMELLA_OK;
}

Place Stream::push(Task task, Label label) {
  const uint64_t launch = label.shown() ? launched() : 0;
  std::lock_guard lock(mutex);
  if (!started) std::thread(&Stream::work, this).detach();
  started = true;
  tasks.push_back({std::move(task), label, launch});
  pending = true;
  wake.notify_one();
  return {this, ++pushed};
}

Place Stream::last() {
  std::lock_guard lock(mutex);
  return {this, pushed};
}

void Stream::wait(uint64_t ticket) {
  std::unique_lock lock(mutex);
  waiting++;
  moved.wait(lock, [&] { return passed(ticket); });
  waiting--;
}

Fault Stream::take_fault() {
  std::lock_guard lock(mutex);
  return std::exchange(fault, {});
}

void Stream::work() {
  for (std::unique_lock lock(mutex);;) {
    if (tasks.empty()) {
      pending = false;
      lock.unlock();  // waking a thread is slow: poll for a moment before sleeping
      for (int i = 0; i < 2000 && !pending; i++) __builtin_ia32_pause();
      lock.lock();
      wake.wait(lock, [this] { return !tasks.empty(); });
    }
    Queued queued = std::move(tasks.front());
    lock.unlock();
    Fault found;
    const int64_t begin = queued.launch ? device_time() : 0;
    try {
      found = queued.task();
    } catch (const std::exception& error) {
      found = {LAMELLA_OUT_OF_MEMORY, std::string("bank: a kernel failed: ") + error.what()};
    }
    if (queued.launch) tell(*this, queued.label, queued.launch, begin);
    queued.task = nullptr;
    lock.lock();
    if (!fault.kind) fault = found;
    tasks.pop_front();
    done.fetch_add(1, std::memory_order_release);
    if (waiting) moved.notify_all();
  }
}

bool Stream::hold() {
  mutex.lock();
  if (tasks.empty()) return true;
  mutex.unlock();
  return false;
}
void Stream::go_on() { mutex.unlock(); }
void Stream::restart() {
  new (&mutex) std::mutex;
  new (&wake) std::condition_variable;
  new (&moved) std::condition_variable;
  started = false;
}

void follow(Stream& stream, Place place) {
  if (place.stream != &stream && !place.passed())
    stream.push([place] { return place.stream->wait(place.ticket), Fault(); });
}

namespace {
// All streams. They are never freed, and destroyed ones are reused, so that events and memory may keep pointers.
struct Streams {
  std::mutex mutex;
  std::deque<Stream> all;
  std::vector<Stream*> spare;
  std::array<Stream*, devices> usual;
  Streams() {
    for (int32_t i = 0; i < devices; i++) usual[i] = &all.emplace_back(i, all.size());
  }
  Stream* get(int32_t device) {
    std::lock_guard lock(mutex);
    const auto one = std::find_if(spare.begin(), spare.end(), [=](Stream* s) { return s->device == device; });
    if (one == spare.end()) return &all.emplace_back(device, all.size());
    Stream* found = *one;
    spare.erase(one);
    return found;
  }
  void put(Stream* s) try {
    std::lock_guard lock(mutex);
    spare.push_back(s);
  } catch (const std::bad_alloc&) {  // the stream is not reused
  }
};
Streams& streams() {
  static auto* made = new Streams;
  return *made;
}

// The current streams of a thread; null for a device whose stream was not set. A captured state contains a copy.
struct Current {
  std::array<Stream*, devices> streams{};
  int32_t device = 0;
};
Current* settings();  // returns this thread's settings; makes them if there are none
int32_t slot;

struct Event {
  Place place{nullptr, 0};
  bool timing;
  std::shared_ptr<std::atomic<int64_t>> at = std::make_shared<std::atomic<int64_t>>(0);  // nanoseconds
};
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }
int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
}  // namespace

// Waits until all streams are idle, then locks them: a task may wait for another stream, which needs that one's lock.
void hold_streams() {
  Streams& all = streams();
  all.mutex.lock();
  for (bool held = false; !held;) {
    for (Stream& s : all.all) s.wait(s.last().ticket);
    auto s = all.all.begin();
    while (s != all.all.end() && s->hold()) ++s;
    held = s == all.all.end();
    while (!held && s != all.all.begin()) (--s)->go_on();
  }
}
void go_on_streams() {
  for (Stream& s : streams().all) s.go_on();
  streams().mutex.unlock();
}
void restart_streams() {
  for (Stream& s : streams().all) s.restart();
  new (&streams().mutex) std::mutex;
}

Stream& current(int32_t device) {
  const auto* chosen = static_cast<const Current*>(api().thread_slot_get(slot));
  return chosen && chosen->streams[device] ? *chosen->streams[device] : *streams().usual[device];
}

std::vector<Place> ends_of(int32_t device) {
  std::vector<Place> ends;
  std::lock_guard lock(streams().mutex);
  for (Stream& s : streams().all)
    if (s.device == device) ends.push_back(s.last());
  return ends;
}
void wait_for_all(int32_t device) {
  for (const Place& end : ends_of(device)) end.stream->wait(end.ticket);
}
lamella_status raise_first(int32_t device) {
  lamella_status first = LAMELLA_OK;
  for (const Place& end : ends_of(device)) {
    end.stream->wait(end.ticket);
    if (!first) first = end.wait();
  }
  return first;
}

lamella_status synchronize(void*, int32_t device) {
  return closed([=] { return raise_first(device); });
}

namespace {
Current* settings() {
  auto* chosen = static_cast<Current*>(api().thread_slot_get(slot));
  if (chosen) return chosen;
  chosen = new Current;
  if (!api().thread_slot_set(slot, chosen)) return chosen;
  delete chosen;
  api().error_clear();
  throw std::bad_alloc();
}
}  // namespace

void add_streams(lamella::Library& m, lamella_backend& b) {
  lamella_thread_slot_type type{};
  type.size = sizeof type;
  type.name = "bank's current streams and device";
  type.copy = [](void* state, void** out) -> lamella_status {
    return closed([=] { return *out = new Current(*static_cast<Current*>(state)), LAMELLA_OK; });
  };
  type.destroy = [](void* state) { delete static_cast<Current*>(state); };
  lamella::check(api().thread_slot(m.handle(), &type, &slot));
  b.synchronize = synchronize;
  b.stream_default = [](void*, int32_t device, void** out) -> lamella_status {
    return *out = streams().usual[device], LAMELLA_OK;
  };
  b.stream_create = [](void*, int32_t device, int32_t, void** out) -> lamella_status {  // all have one priority
    return closed([=] { return *out = streams().get(device), LAMELLA_OK; });
  };
  b.stream_destroy = [](void*, int32_t, void* stream) { streams().put(static_cast<Stream*>(stream)); };
  b.stream_current = [](void*, int32_t device, void** out) -> lamella_status {
    return *out = &current(device), LAMELLA_OK;
  };
  b.stream_set_current = [](void*, int32_t device, void* stream) -> lamella_status {
    return closed([=] { return settings()->streams[device] = static_cast<Stream*>(stream), LAMELLA_OK; });
  };
  b.device_current = [](void*, int32_t* index) -> lamella_status {
    const auto* chosen = static_cast<const Current*>(api().thread_slot_get(slot));
    return *index = chosen ? chosen->device : 0, LAMELLA_OK;
  };
  b.device_set_current = [](void*, int32_t index) -> lamella_status {
    if (index < 0 || index >= devices) return api().raise(LAMELLA_RUNTIME_ERROR, "bank: there is no such device");
    return closed([=] { return settings()->device = index, LAMELLA_OK; });
  };
  b.stream_synchronize = [](void*, int32_t device, void* stream) { return stream_of(device, stream).last().wait(); };
  b.stream_query = [](void*, int32_t device, void* stream, int32_t* done) -> lamella_status {
    return *done = stream_of(device, stream).last().passed(), LAMELLA_OK;
  };
  b.event_create = [](void*, int32_t, uint32_t flags, void** out) -> lamella_status {
    return closed([=] {
      auto* e = new Event;
      e->timing = flags & LAMELLA_EVENT_TIMING;
      return *out = e, LAMELLA_OK;
    });
  };
  b.event_destroy = [](void*, int32_t, void* event) { delete &event_of(event); };
  b.event_record = [](void*, int32_t device, void* event, void* stream) -> lamella_status {
    return closed([=] {
      Event& e = event_of(event);
      Stream& s = stream_of(device, stream);
      e.place = e.timing ? s.push([at = e.at] { return at->store(now()), Fault(); }) : s.last();
      return LAMELLA_OK;
    });
  };
  b.event_wait = [](void*, int32_t device, void* event, void* stream) -> lamella_status {
    return closed([=] {
      if (event_of(event).place.stream) follow(stream_of(device, stream), event_of(event).place);
      return LAMELLA_OK;
    });
  };
  b.event_synchronize = [](void*, int32_t, void* event) -> lamella_status {
    return event_of(event).place.stream ? event_of(event).place.wait() : LAMELLA_OK;
  };
  b.event_query = [](void*, int32_t, void* event, int32_t* done) -> lamella_status {
    return *done = !event_of(event).place.stream || event_of(event).place.passed(), LAMELLA_OK;
  };
  b.event_elapsed = [](void*, int32_t, void* start, void* end, double* milliseconds) -> lamella_status {
    for (const Event* e : {&event_of(start), &event_of(end)})
      if (!e->timing || !e->place.stream || !e->place.passed())
        return fail(LAMELLA_RUNTIME_ERROR, "bank: event_elapsed needs two events with timing that have been passed");
    *milliseconds = static_cast<double>(*event_of(end).at - *event_of(start).at) / 1e6;
    return LAMELLA_OK;
  };
}
}  // namespace bank
