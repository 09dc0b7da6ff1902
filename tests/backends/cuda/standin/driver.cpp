// libcuda.so.1 for tests: the driver's functions that the backend calls, over the memory and the processor of the host.
// Device memory lies in pages that are open only while a kernel or a copy runs. Streams work at once, or with
// STANDIN_ASYNC=1 on threads of their own. STANDIN_DEVICES is the number of devices, STANDIN_MEMORY the bytes of a
// device, STANDIN_VERSION the driver's version. A kernel that fails prints its error to stderr, and the context stays
// broken.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "fibers.h"

#define API extern "C" __attribute__((visibility("default"))) int

namespace {

enum {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_context = 201,
  invalid_image = 200,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_failed = 719,
  capture_unsupported = 900,
  capture_invalidated = 901
};

int64_t setting(const char* name, int64_t usual) {
  const char* text = std::getenv(name);
  return text && *text ? std::atoll(text) : usual;
}
int devices() {
  static const int n = static_cast<int>(setting("STANDIN_DEVICES", 2));
  return n;
}
bool asynchronous() {
  static const bool on = setting("STANDIN_ASYNC", 0) != 0;
  return on;
}

using Task = std::function<void()>;
struct Context;
struct Stream {
  Context* context = nullptr;
  std::mutex mutex;
  std::condition_variable wake, moved;
  std::deque<Task> tasks;
  uint64_t pushed = 0, done = 0;
  bool started = false;
  std::vector<Task>* capture = nullptr;

  void push(Task t) {
    if (capture) return capture->push_back(std::move(t));
    if (!asynchronous()) return t();
    std::lock_guard lock(mutex);
    if (!started) std::thread(&Stream::work, this).detach();
    started = true;
    tasks.push_back(std::move(t));
    pushed++;
    wake.notify_one();
  }
  uint64_t last() {
    std::lock_guard lock(mutex);
    return pushed;
  }
  bool passed(uint64_t ticket) {
    std::lock_guard lock(mutex);
    return done >= ticket;
  }
  void wait(uint64_t ticket) {
    std::unique_lock lock(mutex);
    moved.wait(lock, [&] { return done >= ticket; });
  }
  void work() {
    for (;;) {
      Task t;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [this] { return !tasks.empty(); });
        t = std::move(tasks.front());
        tasks.pop_front();
      }
      t();
      t = nullptr;
      std::lock_guard lock(mutex);
      done++;
      moved.notify_all();
    }
  }
};

// The memory of a device: one range of addresses, whose used part is opened and closed as a whole.
struct Context {
  int device = 0;
  std::mutex mutex;
  char* base = nullptr;
  int64_t used = 0, live = 0;
  int open = 0;
  std::map<char*, size_t> blocks;
  std::multimap<size_t, char*> spare;
  std::deque<Stream> streams{1};  // the default stream is the first
  std::atomic<int> error{0};

  static constexpr int64_t range = int64_t{1} << 37;
  int64_t size() const { return setting("STANDIN_MEMORY", int64_t{8} << 30); }

  int alloc(uintptr_t* out, size_t bytes) {
    std::lock_guard lock(mutex);
    if (!base)
      base = static_cast<char*>(mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const size_t whole = (bytes + 4095) / 4096 * 4096;
    if (bytes > static_cast<size_t>(size()) || live + static_cast<int64_t>(whole) > size()) return out_of_memory;
    char* at = nullptr;
    if (const auto s = spare.find(whole); s != spare.end()) {
      at = s->second;
      spare.erase(s);
    } else {
      if (used + static_cast<int64_t>(whole) > range) return out_of_memory;
      at = base + used;
      used += static_cast<int64_t>(whole);
      if (open) mprotect(at, whole, PROT_READ | PROT_WRITE);
    }
    live += static_cast<int64_t>(whole);
    blocks[at] = whole;
    *out = reinterpret_cast<uintptr_t>(at);
    return success;
  }
  bool owns(const void* p) const { return base && p >= base && p < base + range; }
  void enter() {
    std::lock_guard lock(mutex);
    if (open++ == 0 && used) mprotect(base, static_cast<size_t>(used), PROT_READ | PROT_WRITE);
  }
  void leave() {
    std::lock_guard lock(mutex);
    if (--open == 0 && used) mprotect(base, static_cast<size_t>(used), PROT_NONE);
  }
};
struct Opened {
  Context* c;
  explicit Opened(Context* c) : c(c) { c->enter(); }
  ~Opened() { c->leave(); }
};

Context& context_of(int device) {
  static auto* all = [] {
    auto* made = new std::deque<Context>(static_cast<size_t>(devices()));
    for (int i = 0; i < devices(); i++) {
      (*made)[static_cast<size_t>(i)].device = i;
      (*made)[static_cast<size_t>(i)].streams[0].context = &(*made)[static_cast<size_t>(i)];
    }
    return made;
  }();
  return (*all)[static_cast<size_t>(device)];
}
thread_local Context* current = nullptr;

Stream* stream_of(void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return current ? &current->streams[0] : nullptr;
  return static_cast<Stream*>(handle);
}

std::mutex host_mutex;
std::map<const char*, size_t> host_blocks;
bool is_pinned(const void* p) {
  std::lock_guard lock(host_mutex);
  auto at = host_blocks.upper_bound(static_cast<const char*>(p));
  return at != host_blocks.begin() && (--at)->first + at->second > p;
}

struct Event {
  Stream* stream = nullptr;
  uint64_t ticket = 0;
  std::shared_ptr<std::atomic<int64_t>> at = std::make_shared<std::atomic<int64_t>>(0);
};

struct Function {
  void (*entry)(void**);
  const unsigned* sizes;
  bool fibers;
  std::string name;
  int shared_limit;
  std::mutex mutex;
  std::set<std::pair<unsigned, unsigned>> launches;  // threads and shared memory of the recorded launches
};
// Returns the most shared memory of a block, by the capability.
int most_shared() {
  const auto capability = setting("STANDIN_CAPABILITY", 90);
  return (capability == 75 ? 64 : capability == 80 ? 163 : capability < 90 ? 99 : 227) << 10;
}
// Writes the needs of a launch to a file of the process. A line has the kernel's name, the threads of a block, the
// bytes of its shared memory, and the bytes that the device has for a block.
void record(Function& f, unsigned threads, unsigned shared) {
  static const char* const folder = std::getenv("STANDIN_RECORD");
  if (!folder) return;
  std::lock_guard own_lock(f.mutex);
  if (!f.launches.insert({threads, shared}).second) return;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const std::string path = std::string(folder) + "/launches." + std::to_string(getpid());
  if (std::FILE* file = std::fopen(path.c_str(), "a")) {
    std::fprintf(file, "%s\t%u\t%u\t%d\n", f.name.c_str(), threads, shared, most_shared());
    std::fclose(file);
  }
}
struct Module {
  void* library;
  bool fibers;
};
struct Graph {
  std::vector<Task> tasks;
};

}  // namespace

API cuInit(unsigned) { return success; }
API cuDriverGetVersion(int* v) { return *v = static_cast<int>(setting("STANDIN_VERSION", 13000)), success; }
API cuGetErrorName(int r, const char** s) {
  switch (r) {
    case success:
      *s = "CUDA_SUCCESS";
      break;
    case invalid_value:
      *s = "CUDA_ERROR_INVALID_VALUE";
      break;
    case out_of_memory:
      *s = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case not_ready:
      *s = "CUDA_ERROR_NOT_READY";
      break;
    case illegal_address:
      *s = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case launch_failed:
      *s = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    case capture_unsupported:
      *s = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
      break;
    default:
      *s = "CUDA_ERROR_OF_THE_STANDIN";
  }
  return success;
}
API cuGetErrorString(int, const char** s) { return *s = "said by the stand-in for the driver", success; }
API cuDeviceGetCount(int* n) { return *n = devices(), success; }
API cuDeviceGet(int* d, int i) { return i < 0 || i >= devices() ? 101 : (*d = i, success); }
API cuDeviceGetName(char* to, int n, int) { return std::snprintf(to, static_cast<size_t>(n), "Stand-in"), success; }
API cuDeviceGetUuid(unsigned char* id, int d) { return std::memset(id, d, 16), success; }
API cuDeviceTotalMem_v2(size_t* n, int d) { return *n = static_cast<size_t>(context_of(d).size()), success; }
API cuDeviceGetAttribute(int* to, int which, int) {
  switch (which) {
    case 8:
      *to = 48 << 10;
      break;
    case 16:
      *to = 4;
      break;
    case 38:
      *to = 1 << 20;
      break;
    case 39:
      *to = 2048;
      break;
    case 75:
      *to = setting("STANDIN_CAPABILITY", 90) / 10;
      break;
    case 76:
      *to = setting("STANDIN_CAPABILITY", 90) % 10;
      break;
    case 97:
      *to = most_shared();
      break;
    default:
      return invalid_value;
  }
  return success;
}
API cuDevicePrimaryCtxRetain(void** c, int d) { return *c = &context_of(d), success; }
API cuCtxSetCurrent(void* c) { return current = static_cast<Context*>(c), success; }
API cuCtxGetCurrent(void** c) { return *c = current, success; }
API cuCtxGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, success; }
API cuStreamSynchronize(void* h) {
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  if (s->capture) return capture_unsupported;
  if (asynchronous()) s->wait(s->last());
  return s->context->error;
}
API cuCtxSynchronize() {
  if (!current) return invalid_context;
  std::vector<Stream*> all;
  {
    std::lock_guard lock(current->mutex);
    for (Stream& s : current->streams) all.push_back(&s);
  }
  for (Stream* s : all)
    if (asynchronous()) s->wait(s->last());
  return current->error;
}
API cuMemGetInfo_v2(size_t* free, size_t* total) {
  if (!current) return invalid_context;
  *total = static_cast<size_t>(current->size());
  return *free = *total - static_cast<size_t>(current->live), success;
}
API cuMemAlloc_v2(uintptr_t* out, size_t n) {
  return current ? current->alloc(out, n) : static_cast<int>(invalid_context);
}
API cuMemFree_v2(uintptr_t p) {
  if (!current) return invalid_context;
  cuCtxSynchronize();
  std::lock_guard lock(current->mutex);
  const auto at = current->blocks.find(reinterpret_cast<char*>(p));
  if (at == current->blocks.end()) return invalid_value;
  current->live -= static_cast<int64_t>(at->second);
  madvise(at->first, at->second, MADV_DONTNEED);
  current->spare.emplace(at->second, at->first);
  current->blocks.erase(at);
  return success;
}
API cuMemHostAlloc(void** out, size_t n, unsigned) {
  *out = std::aligned_alloc(4096, (n + 4095) / 4096 * 4096);
  if (!*out) return out_of_memory;
  std::lock_guard lock(host_mutex);
  host_blocks[static_cast<char*>(*out)] = n;
  return success;
}
API cuMemFreeHost(void* p) {
  std::lock_guard lock(host_mutex);
  if (!host_blocks.erase(static_cast<char*>(p))) return invalid_value;
  return std::free(p), success;
}
API cuPointerGetAttribute(void* to, int which, uintptr_t p) {
  if (which != 2 && which != 9) return invalid_value;  // 2 is the type of the memory, 9 the device
  for (int d = 0; d < devices(); d++)
    if (context_of(d).owns(reinterpret_cast<void*>(p)))
      return *static_cast<unsigned*>(to) = which == 2 ? 2 : d, success;
  if (which == 9 || !is_pinned(reinterpret_cast<void*>(p))) return invalid_value;
  return *static_cast<unsigned*>(to) = 1, success;
}
API cuMemcpyHtoDAsync_v2(uintptr_t to, const void* from, size_t n, void* h) {
  Stream* s = stream_of(h);
  if (!s || !s->context->owns(reinterpret_cast<void*>(to))) return s ? invalid_value : invalid_context;
  Context* c = s->context;
  if (is_pinned(from) || s->capture) {
    s->push([=] {
      Opened o(c);
      std::memcpy(reinterpret_cast<void*>(to), from, n);
    });
  } else {
    const auto* bytes = static_cast<const char*>(from);
    s->push([c, to, held = std::vector<char>(bytes, bytes + n)] {
      Opened o(c);
      std::memcpy(reinterpret_cast<void*>(to), held.data(), held.size());
    });
  }
  return c->error;
}
API cuMemcpyDtoHAsync_v2(void* to, uintptr_t from, size_t n, void* h) {
  Stream* s = stream_of(h);
  if (!s || !s->context->owns(reinterpret_cast<void*>(from))) return s ? invalid_value : invalid_context;
  Context* c = s->context;
  s->push([=] {
    Opened o(c);
    std::memcpy(to, reinterpret_cast<void*>(from), n);
  });
  if (asynchronous() && !is_pinned(to) && !s->capture) s->wait(s->last());
  return c->error;
}
API cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t n, void* h) {
  Stream* s = stream_of(h);
  if (!s || !s->context->owns(reinterpret_cast<void*>(from))) return s ? invalid_value : invalid_context;
  Context* c = s->context;
  s->push([=] {
    Opened o(c);
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n);
  });
  return c->error;
}
API cuMemcpyPeerAsync(uintptr_t to, void* there, uintptr_t from, void* here, size_t n, void* h) {
  Stream* s = stream_of(h);
  auto *a = static_cast<Context*>(there), *b = static_cast<Context*>(here);
  if (!s || !a->owns(reinterpret_cast<void*>(to)) || !b->owns(reinterpret_cast<void*>(from))) return invalid_value;
  s->push([=] {
    Opened one(a), other(b);
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n);
  });
  return s->context->error;
}
API cuMemsetD8Async(uintptr_t to, unsigned char value, size_t n, void* h) {
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  Context* c = s->context;
  s->push([=] {
    Opened o(c);
    std::memset(reinterpret_cast<void*>(to), value, n);
  });
  return c->error;
}
API cuStreamCreateWithPriority(void** out, unsigned, int) {
  if (!current) return invalid_context;
  std::lock_guard lock(current->mutex);
  Stream& s = current->streams.emplace_back();
  s.context = current;
  return *out = &s, success;
}
API cuStreamQuery(void* h) {
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  return s->passed(s->last()) ? s->context->error.load() : static_cast<int>(not_ready);
}
API cuEventCreate(void** out, unsigned) { return *out = new Event, success; }
API cuEventDestroy_v2(void* e) { return delete static_cast<Event*>(e), success; }
API cuEventRecord(void* event, void* h) {
  auto* e = static_cast<Event*>(event);
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  if (s->capture) return success;  // a capture here has one stream, whose order is the graph's
  auto at = std::make_shared<std::atomic<int64_t>>(0);
  e->at = at;
  s->push([at] { *at = std::chrono::steady_clock::now().time_since_epoch().count(); });
  e->stream = s;
  e->ticket = s->last();
  return s->context->error;
}
API cuStreamWaitEvent(void* h, void* event, unsigned) {
  auto* e = static_cast<Event*>(event);
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  if (!s->capture && e->stream && e->stream != s && asynchronous())
    s->push([other = e->stream, ticket = e->ticket] { other->wait(ticket); });
  return s->context->error;
}
API cuEventSynchronize(void* event) {
  auto* e = static_cast<Event*>(event);
  if (e->stream) e->stream->wait(e->ticket);
  return e->stream ? e->stream->context->error.load() : static_cast<int>(success);
}
API cuEventQuery(void* event) {
  auto* e = static_cast<Event*>(event);
  return !e->stream || e->stream->passed(e->ticket) ? success : not_ready;
}
API cuEventElapsedTime(float* ms, void* a, void* b) {
  auto *start = static_cast<Event*>(a), *end = static_cast<Event*>(b);
  if (cuEventQuery(a) || cuEventQuery(b)) return not_ready;
  return *ms = static_cast<float>(static_cast<double>(*end->at - *start->at) / 1e6), success;
}

// Loads a "cubin" of the stand-in's compiler: the bytes of a shared object, after the number of them.
API cuModuleLoadData(void** out, const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, "STANDIN ", 8)) return invalid_image;
  uint64_t n;
  std::memcpy(&n, bytes + 8, 8);
  bytes += 16;
  char path[] = "/tmp/standin-XXXXXX";
  const int fd = mkstemp(path);
  for (uint64_t at = 0; at < n;) {
    const ssize_t put = write(fd, bytes + at, n - at);
    if (put <= 0) return invalid_image;
    at += static_cast<uint64_t>(put);
  }
  close(fd);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (!library) return std::fprintf(stderr, "standin: %s\n", dlerror()), invalid_image;
  bool fibers = false;  // whether the code calls a barrier
  for (const char* name : {"standin_barrier", "standin_warp_barrier", "standin_exchange", "standin_ballot"})
    fibers = fibers || memmem(bytes, n, name, std::strlen(name));
  return *out = new Module{library, fibers}, success;
}
API cuModuleGetFunction(void** out, void* module, const char* name) {
  auto* m = static_cast<Module*>(module);
  void* entry = dlsym(m->library, name);
  void* sizes = dlsym(m->library, (std::string(name) + "_sizes").c_str());
  void* title = dlsym(m->library, (std::string(name) + "_name").c_str());
  if (!entry || !sizes || !title) return not_found;
  return *out = new Function{reinterpret_cast<void (*)(void**)>(entry),
                             *static_cast<const unsigned**>(sizes),
                             m->fibers,
                             *static_cast<const char**>(title),
                             48 << 10,
                             {},
                             {}},
         success;
}
API cuFuncSetAttribute(void* f, int which, int value) {
  if (which != 8 || value > most_shared()) return invalid_value;
  return static_cast<Function*>(f)->shared_limit = value, success;
}
API cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* h, void** arguments, void**) {
  auto* f = static_cast<Function*>(function);
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || gy > 65535 || gz > 65535 || gx > 0x7fffffff ||
      shared > static_cast<unsigned>(f->shared_limit))
    return invalid_value;
  record(*f, bx * by * bz, shared);
  // The arguments are copied, each to a place that is aligned for any type.
  size_t bytes = 0;
  for (const unsigned* n = f->sizes; *n; n++) bytes += (*n + 15) / 16 * 16 + 16;
  auto held = std::make_shared<std::vector<char>>(bytes);
  std::vector<void*> places;
  char* at = held->data();
  for (const unsigned* n = f->sizes; *n; n++) {
    at = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(at) + 15) / 16 * 16);
    std::memcpy(at, *arguments++, *n);
    places.push_back(at);
    at += *n;
  }
  Context* c = s->context;
  s->push([=]() mutable {
    if (c->error) return;
    standin::Grid g{{gx, gy, gz}, {bx, by, bz}, shared, f->entry, places.data(), f->fibers};
    Opened o(c);
    const std::string wrong = standin::run_grid(g);
    if (wrong.empty()) return;
    std::fprintf(stderr, "standin: kernel %s: %s\n", f->name.c_str(), wrong.c_str());
    c->error = wrong.find("memory access") != wrong.npos ? illegal_address : launch_failed;
    (void)held;
  });
  return success;
}

API cuStreamBeginCapture_v2(void* h, int) {
  if (reinterpret_cast<uintptr_t>(h) <= 2) return capture_unsupported;
  Stream* s = stream_of(h);
  if (s->capture) return invalid_value;
  return s->capture = new std::vector<Task>, success;
}
API cuStreamEndCapture(void* h, void** graph) {
  Stream* s = stream_of(h);
  if (!s || !s->capture) return capture_invalidated;
  *graph = new Graph{std::move(*s->capture)};
  delete s->capture;
  return s->capture = nullptr, success;
}
API cuStreamIsCapturing(void* h, int* status) {
  Stream* s = stream_of(h);
  return *status = s && s->capture, success;
}
API cuGraphInstantiateWithFlags(void** out, void* graph, unsigned long long) {
  return *out = new Graph(*static_cast<Graph*>(graph)), success;
}
API cuGraphLaunch(void* graph, void* h) {
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  for (const Task& t : static_cast<Graph*>(graph)->tasks) s->push(t);
  return s->context->error;
}
API cuGraphExecDestroy(void* g) { return delete static_cast<Graph*>(g), success; }
API cuGraphDestroy(void* g) { return delete static_cast<Graph*>(g), success; }

// For stand-ins of other libraries: runs a function after the work of a stream.
API standin_on_stream(void* h, void (*work)(void*), void* with, void (*destroy)(void*)) {
  const std::shared_ptr<void> owned(with, destroy);  // a graph runs the function at each replay
  Stream* s = stream_of(h);
  if (!s) return invalid_context;
  Context* c = s->context;
  s->push([=] {
    Opened o(c);
    work(owned.get());
  });
  return c->error;
}
