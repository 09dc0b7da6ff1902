// The two devices of `bank`: each has its own memory, and a thread as its stream running kernels in order. Read first.
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include "bank.h"

namespace bank {
namespace {
constexpr int devices = 2;
struct Waiting {
  std::mutex mutex;
  std::condition_variable wake, idle;
};
struct Bank : Waiting {
  Bank() { start(); }
  void start() { std::thread(&Bank::work, this).detach(); }
  Fault wait(bool take_fault, bool hold = false) {
    std::unique_lock lock(mutex);
    idle.wait(lock, [this] { return tasks.empty(); });
    if (hold) lock.release();
    return take_fault ? std::exchange(fault, {}) : Fault();
  }
  void work();
  std::deque<Task> tasks;  // the first one runs
  std::atomic<bool> pending{false};
  Fault fault;
  char* begin = nullptr;  // of the sealed pages
  int64_t used = 0;
  std::map<int64_t, std::vector<void*>> freed;  // blocks by size
};

Bank& bank(int32_t index) {
  static auto* all = new Bank[devices];  // never freed, as their threads never end
  return all[index];
}

void Bank::work() {
  for (std::unique_lock lock(mutex);;) {
    if (tasks.empty()) {
      idle.notify_all();
      pending = false;
      lock.unlock();  // waking a thread is slow: poll for a moment before sleeping
      for (int i = 0; i < 2000 && !pending; i++) __builtin_ia32_pause();
      lock.lock();
      wake.wait(lock, [this] { return !tasks.empty(); });
    }
    const Task& task = tasks.front();
    lock.unlock();
    Fault found;
    try {
      found = task();
    } catch (const std::exception& error) {
      found = {LAMELLA_OUT_OF_MEMORY, std::string("bank: a kernel failed: ") + error.what()};
    }
    lock.lock();
    tasks.pop_front();
    if (!fault.kind) fault = found;
  }
}

int64_t whole_pages(int64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

// The allocator under a pool that keeps freed blocks for the bank's next tensors. That is safe: kernels of the next
// tensor run after those that still use the block.
lamella_status alloc(void*, int64_t bytes, int32_t index, void*, void** out) {
  Bank& b = bank(index);
  std::lock_guard lock(b.mutex);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (!b.begin) b.begin = static_cast<char*>(mmap(nullptr, 2 * capacity, PROT_NONE, flags, -1, 0));
  std::vector<void*>& same = b.freed[whole_pages(bytes)];
  const bool again = !same.empty();
  *out = again ? same.back() : b.begin + b.used;
  if (b.begin == MAP_FAILED || (!again && bytes > capacity - 4096 - b.used) ||
      mprotect(open(*out), bytes, PROT_READ | PROT_WRITE))
    return fail(LAMELLA_OUT_OF_MEMORY, "bank: cannot allocate " + std::to_string(bytes) + " bytes");
  if (again) same.pop_back();
  else b.used += whole_pages(bytes);
  return LAMELLA_OK;
}

void release(void*, void* data, int64_t bytes, int32_t index) {
  Bank& b = bank(index);
  b.wait(false);  // queued kernels may still use the block
  std::lock_guard lock(b.mutex);
  mprotect(open(data), bytes, PROT_NONE);
  madvise(open(data), bytes, MADV_DONTNEED);
  b.freed[whole_pages(bytes)].push_back(data);
}
// Before a fork, waits until the banks are idle. The child has their memory, but no threads: it starts new ones.
template <int Step> void fork() {
  for (Bank* b = &bank(0); b < &bank(0) + devices; b++)
    if (Step == 0) b->wait(false, true);
    else if (Step == 1) b->mutex.unlock();
    else new (static_cast<Waiting*>(b)) Waiting, b->start();
}
}  // namespace

lamella_status launch(const lamella_tensor* on, Task task) {
  Bank& b = bank(on->dl.device.device_id);
  std::lock_guard lock(b.mutex);
  b.tasks.push_back(std::move(task));
  b.pending = true;
  b.wake.notify_one();
  return LAMELLA_OK;
}

lamella_status synchronize(void*, int32_t index) {
  const Fault fault = bank(index).wait(true);
  return fault.kind ? fail(fault.kind, fault.message) : LAMELLA_OK;
}

LAMELLA_LIBRARY_FRAGMENT(aten, m) {
  static const lamella_allocator memory = {sizeof memory, 0, nullptr, alloc, release, nullptr, nullptr, nullptr};
  static lamella_backend b{};
  b.size = sizeof b;
  b.name = "bank";
  b.dlpack_type = kDLExtDev;
  b.flags = LAMELLA_BACKEND_CPU_FALLBACK;  // not a host; no mixed dtypes: operands arrive in the computed dtype
  api().host_pool(&memory, int64_t{64} << 20, &b.allocator);
  b.device_count = [](void*) -> int32_t { return devices; };
  b.copy = [](void*, const lamella_copy* c, int32_t* done) -> lamella_status {
    if (c->flags & LAMELLA_COPY_TO_HOST) {
      if (lamella_status st = synchronize(nullptr, c->from.index)) return st;
      return std::memcpy(c->dst, open(c->src), c->bytes), LAMELLA_OK;
    }
    if (!(c->flags & LAMELLA_COPY_FROM_HOST)) return *done = 0, LAMELLA_OK;  // it goes through the host
    bank(c->to.index).wait(false);
    return std::memcpy(open(c->dst), c->src, c->bytes), LAMELLA_OK;
  };
  b.synchronize = synchronize;
  m.backend(b, nullptr);
  pthread_atfork(fork<0>, fork<1>, fork<2>);  // before it, in the parent, in the child
}
}  // namespace bank
