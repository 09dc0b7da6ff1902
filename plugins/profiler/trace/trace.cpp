#include "trace/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "observe/host_stacks.h"
#include "observe/record.h"

namespace lamella::profiler {
namespace {

std::atomic<uint64_t> last_number{0};

// The last buffers that a thread used, by the number of their trace; usually one profile runs at a time. Numbers are
// never reused, so the buffer of a destroyed trace is never found.
struct Recent {
  static constexpr int most = 4;
  uint64_t numbers[most];
  Buffer* buffers[most];
  int next;
};
__thread Recent recent __attribute__((tls_model("initial-exec")));

// The running traces. Its lock also guards the traces' lists of buffers; a thread takes it at its first event of a
// trace.
struct Sessions {
  std::mutex mutex;
  std::vector<std::shared_ptr<Trace>> traces;
};
Sessions& sessions() {
  static auto* s = new Sessions;
  return *s;
}

class Words {
 public:
  void add(int64_t w) {
    if (n_ < room) words_[n_++] = w;
  }
  void add(const lamella_tensor* t) {
    add(int64_t{LAMELLA_TENSOR} | int64_t{t->dtype} << 8 | int64_t{t->dl.ndim} << 16);
    for (int i = 0; i < t->dl.ndim; i++) add(t->dl.shape[i]);
  }
  const int64_t* data() const { return words_; }
  size_t size() const { return static_cast<size_t>(n_); }

 private:
  static constexpr int room = 256;  // a longer list is cut
  int64_t words_[room];
  int n_ = 0;
};

__attribute__((noinline)) const int64_t* keep_shapes(Buffer& b, const lamella_record* r) {
  Words w;
  for (uint32_t i = 0; i < r->num_inputs; i++) {
    const lamella_value& v = r->inputs[i];
    if (v.tag == LAMELLA_TENSOR) {
      w.add(v.as.tensor);
    } else if (v.tag == LAMELLA_TENSOR_LIST) {
      w.add(int64_t{LAMELLA_TENSOR_LIST} | int64_t{v.length} << 16);
      for (uint32_t k = 0; k < v.length; k++)
        if (v.as.tensors[k])
          w.add(v.as.tensors[k]);
        else
          w.add(LAMELLA_NONE);
    } else {
      w.add(v.tag);
    }
  }
  return b.shapes.keep(w.data(), w.size());
}

constexpr int most_frames = 128;

__attribute__((noinline)) const int64_t* keep_stack(Buffer& b) {
  int64_t frames[most_frames];
  const int32_t n = read_host_stack(frames, most_frames);
  return n > 0 ? b.stacks.keep(frames, static_cast<size_t>(n)) : nullptr;
}

// Returns the next event, with all fields but `what` and `begin` set; null if there is no room. publish() adds it.
inline Event* begin_event(Trace& t, Buffer& b, const lamella_record& r) {
  Event* e = nullptr;
  if (__builtin_expect(b.events.size() < t.options.max_events, 1)) e = b.events.place();
  if (__builtin_expect(!e, 0)) {
    t.dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  e->end.store(0, std::memory_order_relaxed);
  e->sequence.store(r.sequence, std::memory_order_relaxed);
  e->shapes = r.inputs && t.options.flags & LAMELLA_TRACE_SHAPES ? keep_shapes(b, &r) : nullptr;
  e->stack = t.options.flags & LAMELLA_TRACE_STACKS ? keep_stack(b) : nullptr;
  e->forward_thread = static_cast<uint32_t>(r.forward_thread);
  e->scope = static_cast<uint8_t>(r.scope);
  e->failed.store(0, std::memory_order_relaxed);
  e->backend.store(static_cast<int16_t>(r.backend), std::memory_order_relaxed);
  return e;
}

inline void publish(Buffer& b, Event* e) {
  e->begin = ticks();
  b.events.publish();
}

inline void end_event(Event* e, const lamella_record& r, bool failed, uint64_t now) {
  e->sequence.store(r.sequence, std::memory_order_relaxed);
  e->failed.store(failed, std::memory_order_relaxed);
  e->backend.store(static_cast<int16_t>(r.backend), std::memory_order_relaxed);
  e->end.store(now, std::memory_order_release);
}

lamella_status enter(void* context, const lamella_record* r, void** state) {
  Trace& t = **static_cast<std::shared_ptr<Trace>*>(context);
  Buffer& b = t.buffer();
  Event* const e = begin_event(t, b, *r);
  if (!e) return LAMELLA_OK;
  e->what = r->frame ? static_cast<const void*>(r->op) : b.keep(r->name);
  *state = e;
  publish(b, e);
  return LAMELLA_OK;
}

lamella_status leave(void*, const lamella_record* r, void* state) {
  const uint64_t now = ticks();
  if (state) end_event(static_cast<Event*>(state), *r, r->frame && !r->outputs, now);
  return LAMELLA_OK;
}

// Does what enter, the call and leave do, in one function (see Note [Alone]). The record is linked as well: inner calls
// see it as their parent, it receives the call's sequence number, names the maker of memory, and can hold the observer
// if that is removed meanwhile.
lamella_status record_alone(Thread& thread, Scope& s, lamella_frame* f, const lamella_value* args,
                            lamella_value* rets) {
  Trace& t = **static_cast<std::shared_ptr<Trace>*>(s.alone->given.context);
  if (__builtin_expect(!s.alone_on_thread, 0)) s.alone_on_thread = &t.buffer();
  Buffer& b = *static_cast<Buffer*>(s.alone_on_thread);
  Record r{Unset()};
  set_call(r, static_cast<int>(&s - thread.scopes.data()), f, args);
  r.running = 1;
  r.first[0] = {s.alone, nullptr};
  const Linked linked(thread, r);
  Event* e;
  if (t.options.flags & LAMELLA_TRACE_STACKS) {
    // Reading a stack may run the host's garbage collector, whose calls must not be observed.
    const Unobserved unobserved(thread);
    e = begin_event(t, b, r.shared);
  } else {
    e = begin_event(t, b, r.shared);
  }
  if (__builtin_expect(!e, 0)) return pass_on(f, args, rets);
  e->what = f->op;
  publish(b, e);
  const lamella_status st = pass_on(f, args, rets);
  const uint64_t now = ticks();
  if (r.shared.backend < 0 && !st) r.shared.backend = backend_of(rets, f->num_rets);
  end_event(e, r.shared, st != LAMELLA_OK, now);
  return st;
}

// `context` is the observer's handle, since the event may arrive while the trace ends. As long as the thread has the
// observer, the trace exists.
void on_memory(void* context, const lamella_event* e) {
  const Held observer = this_thread().find(reinterpret_cast<uintptr_t>(context));
  if (!observer) return;
  Trace& t = **static_cast<std::shared_ptr<Trace>*>(observer->given.context);
  Buffer& b = t.buffer();
  MemoryEvent* const m = b.memory.size() < t.options.max_events ? b.memory.place() : nullptr;
  if (!m) {
    t.dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  *m = {ticks(), e->data, e->kind == LAMELLA_EVENT_FREE ? -e->bytes : e->bytes, e->device};
  b.memory.publish();
}

// The `enter` of a trace without the host's calls: its observer exists only so that on_memory() finds the trace.
lamella_status ignore(void*, const lamella_record*, void**) { return LAMELLA_OK; }

lamella_status begin(const std::shared_ptr<Trace>& t) {
  if (lamella_status st = devices_begin(*t)) return st;
  {
    const std::lock_guard lock(sessions().mutex);
    sessions().traces.push_back(t);
  }
  const bool host = !(t->options.flags & LAMELLA_TRACE_NO_HOST);
  if (!host && !(t->options.flags & LAMELLA_TRACE_MEMORY)) return LAMELLA_OK;
  auto observer = std::make_shared<Observer>();
  observer->record_alone = host ? record_alone : nullptr;
  lamella_observer& o = observer->given;
  o.size = sizeof o;
  o.flags = LAMELLA_OBSERVER_NEEDS_IDS;
  o.scopes = !host               ? 1u << LAMELLA_SCOPE_USER_SCOPE  // ignore() keeps nothing of them
             : t->options.scopes ? t->options.scopes
                                 : 1u << LAMELLA_SCOPE_FUNCTION | 1u << LAMELLA_SCOPE_BACKWARD_FUNCTION |
                                       1u << LAMELLA_SCOPE_USER_SCOPE;
  o.probability = 1;
  o.enter = host ? enter : ignore;
  o.exit = host ? leave : nullptr;
  auto own = std::make_unique<std::shared_ptr<Trace>>(t);
  o.context = own.get();
  o.destroy = [](void* context) { delete static_cast<std::shared_ptr<Trace>*>(context); };
  if (lamella_status st = add_observer(observer, !(t->options.flags & LAMELLA_TRACE_THIS_THREAD), &t->observer))
    return st;
  (void)own.release();
  if (!(t->options.flags & LAMELLA_TRACE_MEMORY)) return LAMELLA_OK;
  const uint64_t kinds = uint64_t{1} << LAMELLA_EVENT_ALLOCATE | uint64_t{1} << LAMELLA_EVENT_FREE;
  void* const context = reinterpret_cast<void*>(static_cast<uintptr_t>(t->observer));
  return api().subscribe(library, kinds, on_memory, context, &t->memory_events);
}

void end(Trace& t) {
  t.ended = ticks();
  if (t.observer && withdraw_observer(t.observer)) api().error_clear();
  if (t.memory_events) api().withdraw(t.memory_events);
  t.rate.end();
}

lamella_trace* handle_of(std::shared_ptr<Trace> t) {
  return reinterpret_cast<lamella_trace*>(new std::shared_ptr<Trace>(std::move(t)));
}

}  // namespace

Buffer& Trace::buffer() {
  Recent& r = recent;
  for (int i = 0; i < Recent::most; i++)
    if (r.numbers[i] == number) return *r.buffers[i];
  const std::lock_guard lock(sessions().mutex);
  const auto id = static_cast<uint64_t>(syscall(SYS_gettid));
  Buffer* own = nullptr;
  for (const auto& b : buffers)  // the thread has used other traces since, or has the number of an earlier thread
    if (b->thread == id) own = b.get();
  if (!own) own = buffers.emplace_back(std::make_unique<Buffer>(id)).get();
  r.numbers[r.next] = number;
  r.buffers[r.next] = own;
  r.next = (r.next + 1) % Recent::most;
  return *own;
}

std::vector<const Buffer*> Trace::all() {
  const std::lock_guard lock(sessions().mutex);
  std::vector<const Buffer*> list;
  for (const auto& b : buffers) list.push_back(b.get());
  return list;
}

Trace& trace_of(lamella_trace* t) { return **reinterpret_cast<std::shared_ptr<Trace>*>(t); }

lamella_status trace_start(const lamella_trace_options* options, lamella_trace** out) {
  auto t = std::make_shared<Trace>();
  std::memcpy(&t->options, options, std::min<size_t>(options->size, sizeof t->options));
  if (t->options.max_events <= 0) t->options.max_events = int64_t{1} << 26;
  t->number = last_number.fetch_add(1) + 1;
  t->rate.begin();
  t->running = true;
  lamella_trace* handle = handle_of(t);
  if (lamella_status st = begin(t)) {
    lamella_object* const error = api().error_take();
    trace_free(handle);
    if (error) api().error_restore(error);
    return st;
  }
  *out = handle;
  return LAMELLA_OK;
}

lamella_status trace_stop(lamella_trace* handle) {
  Trace& t = trace_of(handle);
  if (!std::exchange(t.running, false)) return LAMELLA_OK;
  devices_end(t);
  {
    const std::lock_guard lock(sessions().mutex);
    std::erase_if(sessions().traces, [&](const auto& other) { return other.get() == &t; });
  }
  end(t);
  this_thread().refresh();  // in a program of one thread this frees the observer at once
  return LAMELLA_OK;
}

std::mutex& traces_mutex() { return sessions().mutex; }

void end_traces_in_child() {
  for (const auto& t : std::exchange(sessions().traces, {})) {
    t->running = false;
    devices_end(*t);
    end(*t);
  }
}

void trace_free(lamella_trace* handle) {
  if (!handle) return;
  if (trace_stop(handle)) api().error_clear();
  delete reinterpret_cast<std::shared_ptr<Trace>*>(handle);
}

int64_t trace_dropped(lamella_trace* t) { return trace_of(t).dropped.load(); }

}  // namespace lamella::profiler
