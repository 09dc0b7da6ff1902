// Streams, events and late errors; Note [Order] of <lamella/backend.h> has the rules. Handles of streams are the
// driver's own, so that DLPack, CuPy and torch can use them; handle 1 is the device's default stream.
#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "faults.h"
#include "launch.h"

namespace cuda {
namespace {

int32_t slot;  // the thread slot of Current

// The current streams and the current device of a thread. A captured thread state has a copy.
struct Current {
  std::array<CUstream, most_devices> streams{};  // null is the default stream
  int32_t device = 0;
};
Current* settings() {
  if (auto* chosen = static_cast<Current*>(api().thread_slot_get(slot))) return chosen;
  auto* chosen = new Current;
  if (const lamella_status st = api().thread_slot_set(slot, chosen)) {
    delete chosen;
    throw lamella::Error::pending(st);
  }
  return chosen;
}

struct Kind {
  int kind;
  std::string text;
};
// The faults that kernels write, by stream, and the streams that were destroyed and can be given out again.
struct Streams {
  std::mutex mutex;
  std::map<std::pair<int, CUstream>, Fault*> faults;
  // By device and stream: the streams of capture of the graphs that the stream has replayed. Waits for the stream also
  // raise the faults of these.
  std::map<std::pair<int, CUstream>, std::set<CUstream>> followed;
  std::map<std::pair<int, int>, std::vector<CUstream>> spare;  // by device and priority
  std::map<CUstream, int> priorities;
  std::deque<Kind> kinds{1};  // code 0 is no fault
};
Streams& streams() {
  static auto* all = new Streams;
  return *all;
}

void replace(std::string& text, const std::string& what, long long by) {
  const size_t at = text.find(what);
  if (at != text.npos) text.replace(at, what.size(), std::to_string(by));
}

struct Event {
  CUevent event = nullptr;
  int device = 0;
  bool recorded = false, timing = false;
};
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }

lamella_status wait_for(int device, CUstream s) {
  enter(device);
  const CUresult r = driver().stream_synchronize(s);
  const lamella_status late = raise_fault(device, s);
  return late ? late : checked(r, "cuda: waiting for a stream");
}

lamella_status query(CUresult r, int32_t* done, const char* who) {
  *done = r == CUDA_SUCCESS;
  return r == CUDA_ERROR_NOT_READY ? LAMELLA_OK : checked(r, who);
}

lamella_status make_stream(int device, int32_t priority, void** out) {
  enter(device);
  int least = 0, greatest = 0;
  driver().stream_priorities(&least, &greatest);
  const int wanted = priority < greatest ? greatest : priority > least ? least : priority;
  {
    std::lock_guard lock(streams().mutex);
    auto& spare = streams().spare[{device, wanted}];
    if (!spare.empty()) {
      *out = spare.back();
      spare.pop_back();
      return LAMELLA_OK;
    }
  }
  CUstream s = nullptr;
  if (lamella_status st = checked(driver().stream_create(&s, CU_STREAM_NON_BLOCKING, wanted), "cuda: a new stream"))
    return st;
  std::lock_guard lock(streams().mutex);
  streams().priorities[s] = wanted;
  return *out = s, LAMELLA_OK;
}

}  // namespace

CUstream current_stream(int device) {
  const auto* chosen = static_cast<const Current*>(api().thread_slot_get(slot));
  return chosen && chosen->streams[device] ? chosen->streams[device] : legacy_stream;
}

int32_t add_fault(int kind, std::string text) {
  std::lock_guard lock(streams().mutex);
  streams().kinds.push_back({kind, std::move(text)});
  return static_cast<int32_t>(streams().kinds.size() - 1);
}

Fault* fault_of(int device, CUstream stream) {
  static thread_local struct {
    int device = -1;
    CUstream stream = nullptr;
    Fault* fault = nullptr;
  } last;  // usually a thread works on one stream
  if (last.device == device && last.stream == stream) return last.fault;
  std::lock_guard lock(streams().mutex);
  Fault*& f = streams().faults[{device, stream}];
  if (!f) {
    enter(device);
    void* memory = nullptr;
    require(driver().host_alloc(&memory, sizeof(Fault), CU_MEMHOSTALLOC_PORTABLE), "cuda: memory for errors");
    f = new (memory) Fault{};
  }
  last = {device, stream, f};
  return f;
}

lamella_status raise_fault(int device, CUstream stream) {
  std::lock_guard lock(streams().mutex);
  const auto raise = [&](CUstream s) -> lamella_status {
    const auto at = streams().faults.find({device, s});
    if (at == streams().faults.end() || !at->second->code) return LAMELLA_OK;
    const Fault met = *at->second;
    *at->second = Fault{};
    const Kind& kind = streams().kinds[met.code];
    std::string text = kind.text;
    replace(text, "{value}", met.value);
    replace(text, "{size}", met.size);
    return fail(kind.kind, text);
  };
  if (const lamella_status st = raise(stream)) return st;
  const auto more = streams().followed.find({device, stream});
  if (more != streams().followed.end())
    for (const CUstream s : more->second)
      if (const lamella_status st = raise(s)) return st;
  return LAMELLA_OK;
}

void follow_faults(int device, CUstream stream, CUstream of) {
  std::lock_guard lock(streams().mutex);
  streams().followed[{device, stream}].insert(of);
}

lamella_status raise_faults(int device) {
  std::vector<CUstream> all;
  {
    std::lock_guard lock(streams().mutex);
    for (const auto& [key, fault] : streams().faults)
      if (key.first == device && fault->code) all.push_back(key.second);
  }
  lamella_status first = LAMELLA_OK;
  for (const CUstream s : all)
    if (!first) first = raise_fault(device, s);
  return first;
}

void add_streams(lamella::Library& m, lamella_backend& b) {
  lamella_thread_slot_type type{};
  type.size = sizeof type;
  type.name = "cuda's current streams and device";
  type.copy = [](void* state, void** out) -> lamella_status {
    return lamella::guarded(
        [=]() -> lamella_status { return *out = new Current(*static_cast<Current*>(state)), LAMELLA_OK; });
  };
  type.destroy = [](void* state) { delete static_cast<Current*>(state); };
  lamella::check(api().thread_slot(m.handle(), &type, &slot));
  b.synchronize = [](void*, int32_t device) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      enter(device);
      const CUresult r = driver().context_synchronize();
      const lamella_status late = raise_faults(device);
      return late ? late : checked(r, "cuda: waiting for the device");
    });
  };
  b.stream_default = [](void*, int32_t, void** out) -> lamella_status { return *out = legacy_stream, LAMELLA_OK; };
  b.stream_create = [](void*, int32_t device, int32_t priority, void** out) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status { return make_stream(device, priority, out); });
  };
  // A destroyed stream is kept and given out again, since programs may still name it.
  b.stream_destroy = [](void*, int32_t device, void* stream) {
    std::lock_guard lock(streams().mutex);
    const auto at = streams().priorities.find(static_cast<CUstream>(stream));
    if (at == streams().priorities.end()) return;  // not made here
    try {
      streams().spare[{device, at->second}].push_back(at->first);
    } catch (const std::bad_alloc&) {  // the stream is not given out again
    }
  };
  b.stream_current = [](void*, int32_t device, void** out) -> lamella_status {
    return *out = current_stream(device), LAMELLA_OK;
  };
  b.stream_set_current = [](void*, int32_t device, void* stream) -> lamella_status {
    return lamella::guarded(
        [=]() -> lamella_status { return settings()->streams[device] = static_cast<CUstream>(stream), LAMELLA_OK; });
  };
  b.device_current = [](void*, int32_t* index) -> lamella_status {
    const auto* chosen = static_cast<const Current*>(api().thread_slot_get(slot));
    return *index = chosen ? chosen->device : 0, LAMELLA_OK;
  };
  b.device_set_current = [](void*, int32_t index) -> lamella_status {
    if (index < 0 || index >= device_count())
      return fail(LAMELLA_RUNTIME_ERROR, "cuda: device 'cuda:" + std::to_string(index) +
                                             "' does not exist; there are " + std::to_string(device_count()));
    return lamella::guarded([=]() -> lamella_status { return settings()->device = index, LAMELLA_OK; });
  };
  b.stream_synchronize = [](void*, int32_t device, void* stream) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status { return wait_for(device, stream_of(device, stream)); });
  };
  b.stream_query = [](void*, int32_t device, void* stream, int32_t* done) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      enter(device);
      return query(driver().stream_query(stream_of(device, stream)), done, "cuda: asking whether a stream is done");
    });
  };
  b.event_create = [](void*, int32_t device, uint32_t flags, void** out) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      enter(device);
      auto e = std::make_unique<Event>();
      e->device = device;
      e->timing = flags & LAMELLA_EVENT_TIMING;
      require(driver().event_create(&e->event, e->timing ? 0 : CU_EVENT_DISABLE_TIMING), "cuda: a new event");
      return *out = e.release(), LAMELLA_OK;
    });
  };
  b.event_destroy = [](void*, int32_t, void* event) {
    if (!in_forked_child()) driver().event_destroy(event_of(event).event);
    delete &event_of(event);
  };
  b.event_record = [](void*, int32_t device, void* event, void* stream) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      enter(device);
      event_of(event).recorded = true;
      return checked(driver().event_record(event_of(event).event, stream_of(device, stream)),
                     "cuda: recording an event");
    });
  };
  b.event_wait = [](void*, int32_t device, void* event, void* stream) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      if (!event_of(event).recorded) return LAMELLA_OK;
      enter(device);
      return checked(driver().stream_wait(stream_of(device, stream), event_of(event).event, 0),
                     "cuda: making a stream wait for an event");
    });
  };
  b.event_synchronize = [](void*, int32_t device, void* event) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      if (!event_of(event).recorded) return LAMELLA_OK;
      enter(device);
      return checked(driver().event_synchronize(event_of(event).event), "cuda: waiting for an event");
    });
  };
  b.event_query = [](void*, int32_t device, void* event, int32_t* done) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      if (!event_of(event).recorded) return *done = 1, LAMELLA_OK;
      enter(device);
      return query(driver().event_query(event_of(event).event), done, "cuda: asking whether an event is done");
    });
  };
  b.event_elapsed = [](void*, int32_t device, void* start, void* end, double* milliseconds) -> lamella_status {
    return lamella::guarded([=]() -> lamella_status {
      for (const Event* e : {&event_of(start), &event_of(end)})
        LAMELLA_CHECK(e->timing && e->recorded, "cuda: event_elapsed needs two events with timing that were recorded",
                      e->timing ? "; one was not recorded" : "; one has no timing");
      enter(device);
      float time = 0;
      require(driver().event_elapsed(&time, event_of(start).event, event_of(end).event), "cuda: event_elapsed");
      return *milliseconds = time, LAMELLA_OK;
    });
  };
}

}  // namespace cuda
