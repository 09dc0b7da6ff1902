// Checks a backend's streams, events, copies and memory against Note [Order] of <lamella/backend.h>, without Python.
// The backend must have an operator NAME::delay(Tensor on, int microseconds), which keeps the current stream of the
// tensor's device busy. Usage: order LIBLAMELLA_CPU.SO BACKEND.SO NAME [LIBLAMELLA_AUTOGRAD.SO]
#include <lamella/autograd.h>
#include <lamella/program.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"

namespace {

const lamella_api* api;
const lamella_backend* b;
int32_t cpu, own;
std::string name;

constexpr int64_t n = 1000;
constexpr int64_t moment = 50000;  // microseconds: longer than the other steps of a test

// ---- tensors ----

struct Owned {
  lamella_tensor* t = nullptr;
  Owned() = default;
  explicit Owned(lamella_tensor* owned) : t(owned) {}
  Owned(Owned&& o) noexcept : t(std::exchange(o.t, nullptr)) {}
  Owned& operator=(Owned&& o) noexcept {
    std::swap(t, o.t);
    return *this;
  }
  ~Owned() { free(); }
  void free() {
    if (t) api->release(std::exchange(t, nullptr));
  }
  operator lamella_tensor*() const { return t; }
};

lamella_value of(lamella_tensor* t) {
  lamella_value v{LAMELLA_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}
lamella_value num(int64_t i) { return {LAMELLA_INT, 0, {i}}; }
lamella_value flag(bool on) { return {LAMELLA_BOOLEAN, 0, {on}}; }
const lamella_value none{LAMELLA_NONE, 0, {0}};

lamella_value call(const std::string& op, const char* overload, std::vector<lamella_value> args, int results = 1) {
  lamella_value r{LAMELLA_NONE, 0, {0}};
  const lamella_operator* found = api->find_operator(op.c_str(), overload);
  CHECK(found);
  OK(api, api->call(nullptr, found, args.data(), static_cast<int32_t>(args.size()), &r, results));
  return r;
}
Owned made(const std::string& op, const char* overload, std::vector<lamella_value> args) {
  return Owned(call(op, overload, std::move(args)).as.tensor);
}
void change(const std::string& op, const char* overload, std::vector<lamella_value> args) {
  api->release(call(op, overload, std::move(args)).as.tensor);
}

Owned empty(lamella_device device, int32_t dtype = LAMELLA_INT64, int64_t size = n) {
  lamella_tensor* t;
  OK(api, api->tensor_empty(1, &size, nullptr, dtype, device, &t));
  return Owned(t);
}
void fill(lamella_tensor* t, int64_t value) { change("aten::fill_", "Scalar", {of(t), num(value)}); }
Owned full(int32_t index, int64_t value) {
  Owned t = empty({own, index});
  fill(t, value);
  return t;
}
Owned on_host(int64_t value, bool pinned) {
  Owned t = empty({cpu, 0});
  if (pinned) t = made("aten::pin_memory", "", {of(t), none});
  std::fill_n(static_cast<int64_t*>(t.t->dl.data), n, value);
  return t;
}
void copy(lamella_tensor* to, lamella_tensor* from, bool later = false) {
  change("aten::copy_", "", {of(to), of(from), flag(later)});
}
// Returns whether all elements have the value, read by a blocking copy on the current stream.
bool holds(lamella_tensor* t, int64_t value) {
  Owned host = on_host(value + 1, false);
  copy(host, t);
  const auto* x = static_cast<const int64_t*>(host.t->dl.data);
  for (int64_t i = 0; i < n; i++)
    if (x[i] != value) return false;
  return true;
}

// ---- streams ----

void* new_stream(int32_t index = 0) {
  void* s;
  OK(api, b->stream_create(b->context, index, 0, &s));
  return s;
}
void* current(int32_t index = 0) {
  void* s;
  OK(api, b->stream_current(b->context, index, &s));
  return s;
}
// Makes a stream current while this object lives.
struct On {
  int32_t index;
  void* before;
  explicit On(void* s, int32_t index = 0) : index(index), before(current(index)) {
    OK(api, b->stream_set_current(b->context, index, s));
  }
  ~On() { OK(api, b->stream_set_current(b->context, index, before)); }
};
std::chrono::steady_clock::time_point busy_since;
// Returns whether the last call of busy() still keeps its stream busy; on a loaded machine a check may come too late.
bool still() { return std::chrono::steady_clock::now() - busy_since < std::chrono::microseconds(moment / 2); }
void busy(int32_t index = 0) {
  busy_since = std::chrono::steady_clock::now();
  Owned t = empty({own, index});
  call(name + "::delay", "", {of(t), num(moment)}, 0);
}
int32_t count() { return std::min(b->device_count(b->context), 2); }
void wait_all() {
  for (int32_t i = 0; i < count(); i++) OK(api, b->synchronize(b->context, i));
}
bool passed(void* event) {
  int32_t yes;
  OK(api, b->event_query(b->context, 0, event, &yes));
  return yes;
}
void* recorded(void* stream, int32_t index = 0) {
  void* e;
  OK(api, b->event_create(b->context, index, 0, &e));
  OK(api, b->event_record(b->context, index, e, stream));
  return e;
}
void destroy(void* event) { b->event_destroy(b->context, 0, event); }

// ---- the rules ----

void null_is_the_current_stream() {
  void* usual;
  OK(api, b->stream_default(b->context, 0, &usual));
  CHECK(usual && current() == usual);
  void* s = new_stream();
  CHECK(s && s != usual);
  {
    const On on(s);
    CHECK(current() == s);
    busy();
    void* e = recorded(nullptr);  // recorded on s, which is busy
    CHECK(!passed(e) || !still());
    int32_t idle;
    OK(api, b->stream_query(b->context, 0, nullptr, &idle));
    CHECK(!idle || !still());
    OK(api, b->stream_query(b->context, 0, usual, &idle));
    CHECK(idle);
    std::thread([&] { CHECK(current() == usual); }).join();  // a new thread's current stream is the default one
    OK(api, b->stream_synchronize(b->context, 0, nullptr));
    CHECK(passed(e));
    destroy(e);
  }
  CHECK(current() == usual);
  // A captured state includes the current streams.
  lamella_captured* state;
  {
    const On on(s);
    OK(api, api->thread_capture(&state));
  }
  std::thread([&] {
    OK(api, api->thread_swap(state));
    CHECK(current() == s);
    OK(api, api->thread_swap(state));
    CHECK(current() == usual);
  }).join();
  api->thread_discard(state);
  b->stream_destroy(b->context, 0, s);
  done("order: null is the current stream of the thread");
}

void copies_run_behind_the_current_stream() {
  const On on(new_stream());
  Owned x = full(0, 1);
  wait_all();
  busy();
  fill(x, 2);
  CHECK(holds(x, 2));
  busy();
  fill(x, 2);
  Owned from = on_host(3, false);
  copy(x, from);
  Owned sum = made("aten::add", "Tensor", {of(x), of(x), num(1)});
  CHECK(holds(sum, 6));
  done("order: copies run behind the current stream");
}

void copies_between_devices_are_ordered_on_both() {
  if (count() < 2) return;  // the machine has one device
  Owned from = full(0, 1), to = full(1, 0);
  wait_all();
  busy(0);
  fill(from, 2);
  copy(to, from);  // the copy waits for the source's stream
  CHECK(holds(to, 2));
  busy(1);
  copy(to, from);
  fill(from, 3);  // the fill waits for the copy
  Owned next = full(0, 4);
  CHECK(holds(to, 2) && holds(from, 3));
  busy(1);
  copy(to, from);
  from.free();  // freed as soon as copy() has returned
  next = full(0, 5);
  Owned other = full(0, 6);
  CHECK(holds(to, 3) && holds(next, 5) && holds(other, 6));
  done("order: copies between devices are ordered on both");
}

// Allocates and fills more blocks on the stream than the test has freed, so freed blocks are among them if given out.
void take_all(void* stream) {
  {
    const On on(stream);
    std::vector<Owned> taken;
    static int freed = 0;
    freed += 32;
    for (int i = 0; i < freed; i++) taken.push_back(full(0, 7));
    OK(api, b->stream_synchronize(b->context, 0, stream));
  }
  wait_all();
}

void freed_memory_is_not_given_out_before_its_streams_have_passed() {
  void *a = new_stream(), *c = new_stream();
  for (int round = 0; round < 3; round++) {
    Owned kept;
    {
      const On on(a);
      Owned x = full(0, 1);
      wait_all();
      busy();
      kept = made("aten::add", "Tensor", {of(x), of(x), num(1)});
    }  // x is freed while `a` is still busy and has not run the addition
    take_all(c);
    CHECK(holds(kept, 2));
  }
  for (int round = 0; round < 3; round++) {  // memory of stream a, used on c: record_stream notes that
    Owned x, kept;
    {
      const On on(a);
      x = full(0, 1);
    }
    wait_all();
    {
      const On on(c);
      busy();
      OK(api, b->allocator->record_stream(b->allocator->context, 0, x.t->dl.data, nullptr));
      kept = made("aten::add", "Tensor", {of(x), of(x), num(1)});
    }
    x.free();
    take_all(a);
    CHECK(holds(kept, 2));
  }
  done("order: freed memory waits for the streams that used it");
}

void host_memory_after_a_copy() {
  Owned x = full(0, 0);
  Owned from = on_host(1, false);
  wait_all();
  busy();
  copy(x, from);  // returns once `from` has been read
  std::fill_n(static_cast<int64_t*>(from.t->dl.data), n, 2);
  CHECK(holds(x, 1));
  if (!b->host_allocator) return;
  CHECK(call("aten::is_pinned", "", {of(on_host(1, true)), none}).as.i);
  Owned pinned = on_host(3, true);
  busy();
  copy(x, pinned, true);
  void* e = recorded(nullptr);
  CHECK(!passed(e) || !still());  // the copy did not block
  OK(api, b->event_synchronize(b->context, 0, e));
  destroy(e);
  std::fill_n(static_cast<int64_t*>(pinned.t->dl.data), n, 4);  // the event has passed, so the memory may be written
  CHECK(holds(x, 3));
  busy();
  copy(x, pinned, true);
  pinned.free();  // freed while its copy is queued
  Owned next = on_host(5, true);
  CHECK(holds(x, 4));
  fill(x, 6);
  busy();
  copy(next, x, true);
  e = recorded(nullptr);
  OK(api, b->event_synchronize(b->context, 0, e));
  destroy(e);
  CHECK(*static_cast<int64_t*>(next.t->dl.data) == 6);
  Owned plain = on_host(0, false);
  busy();
  copy(plain, x, true);  // a copy to memory that is not pinned may block
  wait_all();
  CHECK(*static_cast<int64_t*>(plain.t->dl.data) == 6);
  done("order: host memory may be used again when a blocking copy has returned, or its event is done");
}

void late_errors_are_raised_once() {
  void *a = new_stream(), *c = new_stream();
  {
    const On on(a);
    Owned x = full(0, 1), zero = full(0, 0);
    Owned wrong = made("aten::floor_divide", "", {of(x), of(zero)});
    OK(api, b->stream_synchronize(b->context, 0, c));  // the error belongs to another stream
    FAILS(api, b->stream_synchronize(b->context, 0, a), "division by zero");
    OK(api, b->stream_synchronize(b->context, 0, a));
    wrong = made("aten::floor_divide", "", {of(x), of(zero)});
    FAILS(api, b->synchronize(b->context, 0), "division by zero");
  }
  wait_all();
  done("order: a late error is raised once, by the next that waits for its stream");
}

void a_producer_and_a_consumer() {
  void *a = new_stream(), *c = new_stream();
  int64_t total = 0;
  Owned sum;
  {
    const On on(c);
    sum = full(0, 0);
  }
  for (int64_t i = 1; i <= 200; i++) {
    Owned x;
    void* e;
    {
      const On on(a);
      x = full(0, i);
      change("aten::mul_", "Scalar", {of(x), num(2)});
      e = recorded(nullptr);
    }
    const On on(c);
    OK(api, b->event_wait(b->context, 0, e, nullptr));
    destroy(e);
    OK(api, b->allocator->record_stream(b->allocator->context, 0, x.t->dl.data, nullptr));
    change("aten::add_", "Tensor", {of(sum), of(x), num(1)});
    total += 2 * i;
    if (i % 50 == 0) OK(api, b->allocator->trim ? b->allocator->trim(b->allocator->context, -1, 0) : LAMELLA_OK);
  }
  const On on(c);
  CHECK(holds(sum, total));
  done("order: a producer and a consumer with frees between");
}

void time_passes() {
  void *start, *end;
  double milliseconds = -1;
  OK(api, b->event_create(b->context, 0, LAMELLA_EVENT_TIMING, &start));
  OK(api, b->event_create(b->context, 0, LAMELLA_EVENT_TIMING, &end));
  OK(api, b->event_record(b->context, 0, start, nullptr));
  busy();
  OK(api, b->event_record(b->context, 0, end, nullptr));
  OK(api, b->event_synchronize(b->context, 0, end));
  OK(api, b->event_elapsed(b->context, 0, start, end, &milliseconds));
  CHECK(milliseconds >= 0.9 * moment / 1000 && milliseconds < 100.0 * moment / 1000);
  destroy(start);
  destroy(end);
  done("order: time between events");
}

// ---- backward ----

struct Ran {
  std::string node;
  void* stream;
};
std::vector<Ran> ran;
void on_node(void*, const lamella_event* e) {
  if (e->phase == LAMELLA_EVENT_BEGIN) ran.push_back({e->name, current()});
}
// A slow hook: later work on its stream is delayed.
lamella_status slow(void*, lamella_tensor**, int32_t, lamella_tensor* const*, int32_t) { return busy(), LAMELLA_OK; }

void backward_runs_on_the_streams_of_forward() {
  const auto* autograd = static_cast<const lamella_autograd*>(api->find_interface("autograd", 1));
  CHECK(autograd);
  lamella_library* l;
  OK(api, open_library(api, "order", "a test", &l, LAMELLA_DEFINES));
  OK(api, api->subscribe(l, uint64_t{1} << LAMELLA_EVENT_NODE, on_node, nullptr, nullptr));
  void *usual = current(), *a = new_stream(), *c = new_stream();
  Owned w = empty({own, 0}, LAMELLA_FLOAT64);
  fill(w, 3);
  OK(api, autograd->set_requires_grad(w, 1));
  wait_all();
  Owned y, z;
  {
    const On on(a);
    y = made("aten::mul", "Tensor", {of(w), of(w)});
    wait_all();
  }
  {
    const On on(c);
    z = made("aten::mul", "Tensor", {of(y), of(w)});
    wait_all();
  }
  Owned ones = empty({own, 0}, LAMELLA_FLOAT64);
  busy();
  fill(ones, 1);  // queued after the work that keeps the caller's stream busy
  for (lamella_tensor* t : {y.t, z.t}) {
    lamella_node* node;
    uint64_t id;
    OK(api, autograd->edge(t, &node, nullptr));
    const lamella_hook hook = {sizeof hook, LAMELLA_HOOK_TENSOR, nullptr, slow, nullptr, nullptr};
    OK(api, autograd->hook_add(node, 0, &hook, &id));
    autograd->node_release(node);
  }
  OK(api, autograd->backward(&z.t, &ones.t, 1, nullptr, 0, nullptr, LAMELLA_BACKWARD_RETAIN_GRAPH));
  CHECK(current() == usual);
  CHECK(ran.size() == 3 && ran[0].stream == c && ran[1].stream == a && ran[2].stream == usual);
  const auto whole = [](lamella_tensor* t) {
    return made("aten::to", "dtype", {of(t), {LAMELLA_DTYPE, 0, {LAMELLA_INT64}}, flag(false), flag(false), none});
  };
  lamella_tensor* of_w = nullptr;
  OK(api, autograd->grad(w, &of_w));
  Owned grad(of_w);
  CHECK(holds(whole(grad), 27));  // 3 w^2, read on the caller's stream, which waits for nothing else
  lamella_tensor *captured = nullptr, *to = y;
  OK(api, autograd->backward(&z.t, &ones.t, 1, &to, 1, &captured, 0));
  Owned of_y(captured);
  CHECK(holds(whole(of_y), 3));
  api->library_close(l);
  done("order: backward runs on the streams of forward, behind the gradients that it needs");
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 4 || argc == 5);
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  CHECK(api);
  for (int i : {1, 2, 4})
    if (i < argc) OK(api, lamella_load_plugin(argv[i]));
  name = argv[3];
  OK(api, api->find_backend("cpu", &cpu));
  OK(api, api->find_backend(name.c_str(), &own));
  b = api->backend_description(own);
  null_is_the_current_stream();
  copies_run_behind_the_current_stream();
  copies_between_devices_are_ordered_on_both();
  freed_memory_is_not_given_out_before_its_streams_have_passed();
  host_memory_after_a_copy();
  late_errors_are_raised_once();
  a_producer_and_a_consumer();
  time_passes();
  if (argc == 5) backward_runs_on_the_streams_of_forward();
  return 0;
}
