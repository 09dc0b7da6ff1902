#include "trace/timed.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "observe/observers.h"
#include "trace/trace.h"

namespace lamella::profiler {
namespace {

// The number of kernels that this thread has timed. A kernel during which the number grew is a composite, and gets no
// row.
__thread uint64_t timed_here __attribute__((tls_model("initial-exec")));

struct Timing {
  lamella_device device;
  void *begin, *stream;
  uint64_t launch, before;
};

// Returns the device of the call's first tensor. If the call runs on another device, it is not timed.
lamella_device device_of(const lamella_record* r) {
  for (uint32_t i = 0; i < r->num_inputs; i++) {
    const lamella_value& v = r->inputs[i];
    if (v.tag == LAMELLA_TENSOR) return {v.as.tensor->backend, v.as.tensor->dl.device.device_id};
    if (v.tag == LAMELLA_TENSOR_LIST && v.length && v.as.tensors[0])
      return {v.as.tensors[0]->backend, v.as.tensors[0]->dl.device.device_id};
  }
  return {-1, 0};
}

// Waits for an event by polling, if the backend can: synchronizing would raise a late error that belongs to the
// program.
void wait_for(const lamella_backend& b, lamella_device d, void* event) {
  int32_t done = 0;
  while (b.event_query && !done) {
    if (b.event_query(b.context, d.index, event, &done)) break;
    if (!done) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (!b.event_query && b.event_synchronize) b.event_synchronize(b.context, d.index, event);
  api().error_clear();
}

bool times_events(const lamella_backend& b) {
  return b.event_create && b.event_destroy && b.event_record && b.event_elapsed;
}

}  // namespace

void* TimedKernels::event(lamella_device d) {
  const lamella_backend* b = api().backend_description(d.backend);
  void* made = nullptr;
  if (!b || b->event_create(b->context, d.index, LAMELLA_EVENT_TIMING, &made)) return api().error_clear(), nullptr;
  if (!b->event_record(b->context, d.index, made, nullptr)) return made;
  api().error_clear();
  b->event_destroy(b->context, d.index, made);
  return nullptr;
}

void TimedKernels::destroy(const Pair& p) {
  const lamella_backend* b = api().backend_description(p.device.backend);
  for (void* e : {p.begin, p.end})
    if (b && e) b->event_destroy(b->context, p.device.index, e);
}

TimedKernels::~TimedKernels() {
  for (const Pair& p : pairs_) destroy(p);
}

void* TimedKernels::enter(const lamella_record* r) {
  const lamella_device d = device_of(r);
  if (std::find(backends_.begin(), backends_.end(), d.backend) == backends_.end()) return nullptr;
  void* begin = event(d);
  if (!begin) return nullptr;
  const lamella_backend* b = api().backend_description(d.backend);
  void* stream = nullptr;
  if (b->stream_current && b->stream_current(b->context, d.index, &stream)) api().error_clear();
  return new Timing{d, begin, stream, launched(), timed_here};
}

void TimedKernels::leave(const lamella_record* r, void* state) {
  const std::unique_ptr<Timing> t(static_cast<Timing*>(state));
  if (!t) return;
  Pair p{t->device, r->name,  static_cast<uint64_t>(reinterpret_cast<uintptr_t>(t->stream)),
         t->launch, t->begin, nullptr};
  if (timed_here != t->before || !(p.end = event(t->device))) return destroy(p);
  timed_here++;
  const std::lock_guard lock(mutex_);
  pairs_.push_back(p);
}

// Adds an activity for each timed kernel. Times are measured backwards from a last event, for which this thread waits.
void TimedKernels::read(Trace& trace) {
  std::vector<Pair> pairs;
  {
    const std::lock_guard lock(mutex_);
    pairs.swap(pairs_);
  }
  struct Base {
    lamella_device device;
    void* event;
  };
  std::vector<Base> bases;
  int64_t failed = 0;
  std::string why;
  for (const Pair& p : pairs) {
    const lamella_backend* b = api().backend_description(p.device.backend);
    auto base = std::find_if(bases.begin(), bases.end(), [&](const Base& one) {
      return one.device.backend == p.device.backend && one.device.index == p.device.index;
    });
    if (b && base == bases.end()) {
      bases.push_back({p.device, event(p.device)});
      base = bases.end() - 1;
      if (base->event) wait_for(*b, p.device, base->event);
      add_source(trace, {b->name, p.device.backend, nullptr, {{p.device, {ticks(), 0, true}, {}}}});
    }
    double begin = 0, end = 0;
    if (b) wait_for(*b, p.device, p.end);
    if (b && base->event && !b->event_elapsed(b->context, p.device.index, p.begin, base->event, &begin) &&
        !b->event_elapsed(b->context, p.device.index, p.end, base->event, &end)) {
      const lamella_device_activity a = {.size = sizeof a,
                                         .name = p.name,
                                         .device = p.device,
                                         .stream = p.stream,
                                         .launch = p.launch,
                                         .begin = static_cast<int64_t>(-begin * 1e6),
                                         .end = static_cast<int64_t>(-end * 1e6)};
      keep_activity(trace, a);
    } else {
      failed++;
      why = take_message();
    }
    destroy(p);
  }
  for (const Base& one : bases) destroy({one.device, nullptr, 0, 0, one.event, nullptr});
  if (failed) note(trace, std::to_string(failed) + " kernels could not be timed by events: " + why);
}

lamella_status time_kernels(Trace& t) {
  std::vector<int32_t> backends;
  for (const std::string& name : t.devices->wanted) {
    int32_t id;
    if (name == "*" || has_source(t, name)) continue;
    if (api().find_backend(name.c_str(), &id)) {
      api().error_clear();
      continue;
    }
    const lamella_backend* b = api().backend_description(id);
    t.devices->judged.insert(name);
    if (b && times_events(*b))
      backends.push_back(id);
    else
      note(t, "device '" + name + "': it cannot be timed: its backend has neither the interface " + "device_trace." +
                  name + " nor events with timing");
  }
  if (backends.empty()) return LAMELLA_OK;
  t.devices->timed = std::make_shared<TimedKernels>(std::move(backends));
  lamella_observer o{};
  o.size = sizeof o;
  o.scopes = 1u << LAMELLA_SCOPE_KERNEL;
  o.probability = 1;
  o.context = new std::shared_ptr<TimedKernels>(t.devices->timed);
  o.enter = [](void* context, const lamella_record* r, void** state) {
    return guarded([&] {
      *state = (*static_cast<std::shared_ptr<TimedKernels>*>(context))->enter(r);
      return LAMELLA_OK;
    });
  };
  o.exit = [](void* context, const lamella_record* r, void* state) {
    return guarded([&] {
      (*static_cast<std::shared_ptr<TimedKernels>*>(context))->leave(r, state);
      return LAMELLA_OK;
    });
  };
  o.destroy = [](void* context) { delete static_cast<std::shared_ptr<TimedKernels>*>(context); };
  const lamella_status st =
      add_observer(&o, !(t.options.flags & LAMELLA_TRACE_THIS_THREAD), &t.devices->timed->observer);
  if (st) o.destroy(o.context);
  return st;
}

void drop_timed(Trace& t) {
  if (t.devices->timed && remove_observer(t.devices->timed->observer)) api().error_clear();
}

void end_timed(Trace& t) {
  drop_timed(t);
  if (t.devices->timed) t.devices->timed->read(t);
}

}  // namespace lamella::profiler
