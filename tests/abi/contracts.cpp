// Checks that a device keeps the promises of Note [Slots of a backend] and of <lamella/backend.h>, slot by slot:
// memory, events, the current stream and device, faults in each slot, forks, the end of the process with work queued.
// Usage: contracts LIBLAMELLA_CPU.SO BACKEND.SO NAME [exit | fork]
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <set>
#include <thread>

#include "../cpp/calls.h"

// ---- operator new fails on demand ----

static thread_local int left = -1;  // allocations until one fails; negative: none fails

void* operator new(size_t bytes) {
  if (left == 0) throw std::bad_alloc();
  if (left > 0) left--;
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

static const lamella_backend* b;
static lamella_device own{};
static int32_t last;  // device 1, or 0 on a machine with one device

// The call succeeds and leaves no pending error.
#define WELL(call)                 \
  do {                             \
    OK(api, call);                 \
    CHECK(api->error_kind() == 0); \
  } while (0)

// ---- memory ----

static void* take(int64_t bytes, int32_t index = 0) {
  void* p = nullptr;
  WELL(b->allocator->alloc(b->allocator->context, bytes, index, nullptr, &p));
  CHECK(p && reinterpret_cast<uintptr_t>(p) % 16 == 0);
  return p;
}
static void give(void* p, int64_t bytes, int32_t index = 0) {
  b->allocator->free(b->allocator->context, p, bytes, index);
}
static lamella_allocator_stats stats(int32_t index) {
  lamella_allocator_stats s{};
  s.size = sizeof s;
  WELL(b->allocator->stats(b->allocator->context, index, &s));
  return s;
}

static void test_memory() {
  const auto before = stats(0), other = stats(last);
  std::set<std::pair<char*, int64_t>> blocks;
  int64_t bytes = 0;
  for (int64_t n : {1, 2, 15, 16, 17, 4095, 4096, 4097, 1 << 20})
    for (int i = 0; i < 3; i++) {
      blocks.insert({static_cast<char*>(take(n)), n});
      bytes += n;
    }
  char* end = nullptr;
  for (const auto& [p, n] : blocks) {  // no block overlaps another
    CHECK(p >= end);
    end = p + n;
  }
  CHECK(stats(0).live_bytes - before.live_bytes >= bytes && stats(0).allocations - before.allocations == 27);
  CHECK(stats(0).peak_bytes >= stats(0).live_bytes);
  CHECK(stats(0).peak_reserved_bytes >= stats(0).live_bytes + stats(0).cached_bytes);
  std::thread([&] {  // free() works on another thread, which then ends
    for (const auto& [p, n] : blocks) give(p, n);
  })
      .join();
  CHECK(stats(0).live_bytes == before.live_bytes && stats(last).live_bytes == other.live_bytes);
  void* second = take(64, last);
  CHECK(stats(last).live_bytes > other.live_bytes && (!last || stats(0).live_bytes == before.live_bytes));
  give(second, 64, last);
  void* none = nullptr;
  CHECK(b->allocator->alloc(b->allocator->context, int64_t{1} << 60, 0, nullptr, &none) == LAMELLA_OUT_OF_MEMORY);
  CHECK(api->error_kind() == LAMELLA_OUT_OF_MEMORY);
  api->error_clear();
  WELL(b->allocator->trim(b->allocator->context, -1, 0));
  WELL(b->allocator->trim(b->allocator->context, last, int64_t{1} << 40));
  give(take(1 << 20), 1 << 20);  // after a trim, alloc succeeds again
  CHECK(stats(0).peak_bytes > stats(0).live_bytes);
  WELL(b->allocator->reset_stats(b->allocator->context, 0, LAMELLA_STATS_PEAK));
  CHECK(stats(0).peak_bytes == stats(0).live_bytes && stats(0).allocations > 0);
  WELL(b->allocator->reset_stats(b->allocator->context, 0, LAMELLA_STATS_COUNTS));
  CHECK(stats(0).allocations == 0 && (!last || stats(last).allocations > 0));
  lamella_allocator_stats small{};
  small.size = 16;  // the caller's struct is smaller: stats() fills no more than that
  small.cached_bytes = 123;
  WELL(b->allocator->stats(b->allocator->context, 0, &small));
  CHECK(small.cached_bytes == 123 && small.size == 16);
  done("contract: memory: aligned, apart, freed on any thread, counted by device, refused as out of memory");
}

// ---- events, streams, devices ----

static void test_events() {
  void *event, *timed, *stream;
  int32_t passed = 0;
  WELL(b->event_create(b->context, 0, 0, &event));
  WELL(b->event_query(b->context, 0, event, &passed));  // an event that was never recorded has passed
  CHECK(passed == 1);
  WELL(b->event_wait(b->context, 0, event, nullptr));
  WELL(b->event_synchronize(b->context, 0, event));
  WELL(b->stream_create(b->context, 0, 0, &stream));
  for (int i = 0; i < 3; i++) WELL(b->event_record(b->context, 0, event, stream));
  WELL(b->event_wait(b->context, 0, event, nullptr));
  WELL(b->event_synchronize(b->context, 0, event));
  WELL(b->event_create(b->context, 0, LAMELLA_EVENT_TIMING, &timed));
  double ms = 0;
  CHECK(b->event_elapsed(b->context, 0, timed, event, &ms) != 0 && api->error_kind() != 0);  // neither has a time
  api->error_clear();
  WELL(b->event_record(b->context, 0, timed, stream));
  b->event_destroy(b->context, 0, timed);  // the event is pending
  b->event_destroy(b->context, 0, event);
  WELL(b->stream_synchronize(b->context, 0, stream));
  b->stream_destroy(b->context, 0, stream);
  int32_t lowest_and_highest[] = {-1000, 1000};
  for (int32_t priority : lowest_and_highest) {  // the backend clamps the priority
    WELL(b->stream_create(b->context, last, priority, &stream));
    b->stream_destroy(b->context, last, stream);
  }
  WELL(b->synchronize(b->context, last));
  done("contract: events: unrecorded ones are passed, recorded again, destroyed while pending");
}

static void test_current() {
  void *mine, *seen = nullptr, *usual = nullptr;
  WELL(b->stream_default(b->context, last, &usual));
  CHECK(usual);
  WELL(b->stream_create(b->context, last, 0, &mine));
  WELL(b->stream_set_current(b->context, last, mine));
  WELL(b->stream_current(b->context, last, &seen));
  CHECK(seen == mine);
  WELL(b->stream_current(b->context, 0, &seen));
  CHECK(!last || seen != mine);
  std::thread([&] {
    WELL(b->stream_current(b->context, last, &seen));
    CHECK(seen == usual || seen == nullptr);
  }).join();
  WELL(b->stream_set_current(b->context, last, nullptr));  // null restores the default stream
  b->stream_destroy(b->context, last, mine);
  int32_t index = -1;
  WELL(b->device_set_current(b->context, last));
  std::thread([&] {
    WELL(b->device_current(b->context, &index));
    CHECK(index == 0);
    WELL(b->device_set_current(b->context, 0));
  }).join();
  WELL(b->device_current(b->context, &index));
  CHECK(index == last);
  CHECK(b->device_set_current(b->context, 99) != 0 && api->error_kind() != 0);
  api->error_clear();
  WELL(b->device_set_current(b->context, 0));
  CHECK(b->device_count(b->context) == b->device_count(b->context) && b->device_count(b->context) >= 1);
  done("contract: the current stream and device are the thread's, by index");
}

// ---- faults ----

// Calls a slot while operator new succeeds 0, 1, 2, … times, until these suffice. A failure must be a status with an
// error; the slot must not throw.
template <class Slot>
static void starve(const char* name, Slot slot) {
  for (int n = 0; n < 50; n++) {
    bool thrown = false;
    lamella_status st = 0;
    left = n;
    try {
      st = slot();
    } catch (...) {
      thrown = true;
    }
    const bool needed = left == 0;
    left = -1;
    if (thrown) {
      std::fprintf(stderr, "%s has thrown\n", name);
      std::exit(1);
    }
    CHECK((st != 0) == (api->error_kind() != 0));
    CHECK(st == 0 || st == LAMELLA_OUT_OF_MEMORY);
    api->error_clear();
    if (!needed) return;
  }
}

static void test_faults() {
  void *block = take(4096), *stream, *event, *timed, *out = nullptr;
  char host[64] = {};
  const lamella_allocator* a = b->allocator;
  const lamella_device cpu_device = {cpu, 0};
  WELL(b->stream_create(b->context, 0, 0, &stream));
  WELL(b->event_create(b->context, 0, 0, &event));
  WELL(b->event_create(b->context, 0, LAMELLA_EVENT_TIMING, &timed));
  const auto copied = [&](uint32_t flags, lamella_device to, lamella_device from, void* dst, const void* src) {
    const lamella_copy c = {sizeof c, flags, to, from, dst, src, 64};
    int32_t moved = 1;
    return b->copy(b->context, &c, &moved);
  };
  starve("alloc", [&] {
    void* p = nullptr;
    const lamella_status st = a->alloc(a->context, 5000, 0, nullptr, &p);
    const int before = left;
    left = -1;
    if (!st) a->free(a->context, p, 5000, 0);
    left = before;
    return st;
  });
  starve("free", [&] {
    const int before = left;
    left = -1;
    void* p = take(6000);
    left = before;
    a->free(a->context, p, 6000, 0);
    return lamella_status{0};
  });
  starve("record_stream", [&] { return a->record_stream(a->context, 0, block, stream); });
  starve("trim", [&] { return a->trim(a->context, -1, 0); });
  starve("pinned memory", [&] {
    void* p = nullptr;
    const lamella_status st = b->host_allocator->alloc(b->host_allocator->context, 64, 0, nullptr, &p);
    if (!st) b->host_allocator->free(b->host_allocator->context, p, 64, 0);
    return st;
  });
  starve("copy from the host", [&] { return copied(LAMELLA_COPY_FROM_HOST, own, cpu_device, block, host); });
  starve("copy to the host", [&] { return copied(LAMELLA_COPY_TO_HOST, cpu_device, own, host, block); });
  starve("copy", [&] { return copied(0, own, own, static_cast<char*>(block) + 64, block); });
  starve("stream_create", [&] {
    const lamella_status st = b->stream_create(b->context, last, 0, &out);
    if (!st) b->stream_destroy(b->context, last, out);
    return st;
  });
  starve("stream_current", [&] { return b->stream_current(b->context, 0, &out); });
  std::thread([&] {
    starve("stream_set_current", [&] { return b->stream_set_current(b->context, 0, stream); });
  }).join();
  std::thread([&] { starve("device_set_current", [&] { return b->device_set_current(b->context, last); }); }).join();
  starve("stream_synchronize", [&] { return b->stream_synchronize(b->context, 0, stream); });
  starve("synchronize", [&] { return b->synchronize(b->context, 0); });
  starve("event_create", [&] {
    const lamella_status st = b->event_create(b->context, 0, 0, &out);
    if (!st) b->event_destroy(b->context, 0, out);
    return st;
  });
  starve("event_record", [&] { return b->event_record(b->context, 0, timed, stream); });
  starve("event_wait", [&] { return b->event_wait(b->context, 0, timed, nullptr); });
  starve("event_synchronize", [&] { return b->event_synchronize(b->context, 0, timed); });
  starve("the library's new tensor", [&] {
    const int64_t n = 100;
    lamella_tensor* t;
    const lamella_status st = api->tensor_empty(1, &n, nullptr, LAMELLA_FLOAT32, own, &t);
    if (!st) api->release(t);
    return st;
  });
  WELL(b->synchronize(b->context, 0));
  for (void* e : {event, timed}) b->event_destroy(b->context, 0, e);
  b->stream_destroy(b->context, 0, stream);
  give(block, 4096);
  done("contract: no slot throws where memory ends, and each says so");
}

// Registration refuses a value that the headers do not define: the error names the field, and nothing is registered.
static void test_foreign_values() {
  lamella_library* l;
  OK(api, open_library(api, "foreign", "contracts.cpp", &l));
  lamella_backend other = *b;
  lamella_allocator memory = *b->allocator;
  other.allocator = &memory;
  other.host_allocator = nullptr;
  other.name = "foreign";
  const auto refused = [&](const char* text) { FAILS(api, api->backend(l, &other, nullptr, nullptr), text); };
  other.flags |= 1u << 30;
  refused("'flags'");
  other.flags = 0;
  other.reserved = 1;
  refused("'reserved'");
  other.reserved = 0;
  memory.flags = 1u << 20;
  refused("'flags'");
  memory.flags = LAMELLA_ALLOCATOR_PINNED;  // only a host_allocator may have this flag
  refused("'flags'");
  memory.flags = 0;
  memory.alloc = nullptr;
  refused("'alloc'");
  int32_t id;
  FAILS(api, api->find_backend("foreign", &id), "no backend 'foreign'");
  const int64_t n = 4;
  lamella_tensor* t;
  for (int32_t dtype : {-1, 60, 200, 255, 256}) FAILS(api, api->tensor_empty(1, &n, nullptr, dtype, own, &t), "dtype");
  for (lamella_device d : {lamella_device{own.backend, -1}, {own.backend, 99}, {-5, 0}, {4000, 0}})
    FAILS(api, api->tensor_empty(1, &n, nullptr, LAMELLA_INT64, d, &t), "");
  lamella_tensor* x = empty(LAMELLA_INT64, 4);
  lamella_value r;
  FAILS(api, call("aten::clone", "", {of(x), {LAMELLA_MEMORY_FORMAT, 0, {77}}}, &r), "memory format 77");
  FAILS(api, call("aten::neg", "", {{77, 0, {0}}}, &r), "a value with the tag 77");
  api->release(x);
  api->library_close(l);
  done("contract: dtypes, devices, flags and tags that nobody knows are refused");
}

// ---- the process ----

static lamella_tensor* on_device(int64_t value) {
  lamella_value r, device{LAMELLA_DEVICE, 0, {0}}, dtype{LAMELLA_DTYPE, 0, {LAMELLA_INT64}};
  device.as.device = own;
  const int64_t n = 1000;
  lamella_value size{LAMELLA_INT_LIST, 1, {0}};
  size.as.ints = &n;
  OK(api, call("aten::full", "", {size, num(value), dtype, none, device, no}, &r));
  return r.as.tensor;
}
static void delay(const std::string& name, lamella_tensor* on, int64_t microseconds) {
  lamella_value r;
  OK(api, call((name + "::delay").c_str(), "", {of(on), num(microseconds)}, &r));
}

// The child may use the device or get errors, but must end. The parent's memory does not change.
static void test_fork(const std::string& name) {
  lamella_tensor* t = on_device(7);
  delay(name, t, 20000);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(10);  // ends the child if it hangs
    lamella_tensor* own_tensor;
    const int64_t n = 1000;
    if (!api->tensor_empty(1, &n, nullptr, LAMELLA_INT64, own, &own_tensor)) {
      lamella_value r;
      if (call("aten::add", "Scalar", {of(t), num(1), num(1)}, &r))
        CHECK(api->error_kind() != 0);
      else
        api->release(r.as.tensor);
      api->release(own_tensor);
    }
    CHECK((b->synchronize(b->context, 0) != 0) == (api->error_kind() != 0));
    std::exit(0);
  }
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  WELL(b->synchronize(b->context, 0));
  lamella_value r;
  OK(api, call("aten::item", "", {of(t)}, &r) == 0 ? 1 : (api->error_clear(), 0));  // item() refuses 1000 elements
  api->release(t);
  done("contract: a fork: the child uses the device or gets errors, and neither hangs");
}

int main(int argc, char** argv) {
  CHECK(argc >= 4);
  start(2, argv);
  OK(api, lamella_load_plugin(argv[2]));
  OK(api, api->find_backend(argv[3], &own.backend));
  CHECK((b = api->backend_description(own.backend)));
  last = b->device_count(b->context) > 1;
  const std::string what = argc > 4 ? argv[4] : "";
  if (what == "fork") return test_fork(argv[3]), 0;
  if (what == "exit") {  // tensors are alive, and queued work lasts longer than the process
    lamella_tensor* t = on_device(1);
    delay(argv[3], t, 200000);
    lamella_value r;
    OK(api, call("aten::add", "Scalar", {of(t), num(1), num(1)}, &r));
    return done("contract: the process ends with work queued"), 0;
  }
  test_memory();
  test_events();
  test_current();
  test_faults();
  test_foreign_values();
}
