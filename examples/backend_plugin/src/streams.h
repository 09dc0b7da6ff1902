// Streams: each is a queue of tasks, which a thread of its own runs in order. An event is a place in a stream.
#pragma once

#include <lamella/device_trace.h>
#include <lamella/extension.h>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace bank {
using lamella::api, lamella::fail, lamella::title;
constexpr int devices = 2;

// An error of a task. The task ran after its call had returned, so the next wait for its stream raises the error.
struct Fault {
  int kind = LAMELLA_OK;
  std::string message;
};
using Task = std::function<Fault()>;

// A task's label in profiles. A task without a name and bytes is not shown.
struct Label {
  const char* name = nullptr;  // the name of a kernel
  int64_t bytes = -1;          // the size of a copy
  lamella_device to{-1, 0}, from{-1, 0};
  bool shown() const { return name || bytes >= 0; }
};

// Runs the body of a backend's function, which no exception may leave: converts bad_alloc to an error.
template <class Slot> lamella_status closed(Slot slot) {
  try {
    return slot();
  } catch (const std::bad_alloc&) { return api().raise(LAMELLA_OUT_OF_MEMORY, "bank: the host has not enough memory"); }
}

class Stream;
// A place in a stream: after its first `ticket` tasks.
struct Place {
  Stream* stream;
  uint64_t ticket;
  bool passed() const;
  lamella_status wait() const;  // raises the stream's fault
};

class Stream {
 public:
  Stream(int32_t device, uint64_t number) : device(device), number(number) {}
  Place push(Task, Label = {});
  Place last();
  bool passed(uint64_t ticket) const { return done.load(std::memory_order_acquire) >= ticket; }
  void wait(uint64_t ticket);
  Fault take_fault();
  // Called around a fork. In the child the stream has no thread, and its next task starts a new one.
  bool hold();  // locks an idle stream; returns false if it is not idle
  void go_on();
  void restart();

  const int32_t device;
  const uint64_t number;

 private:
  struct Queued {
    Task task;
    Label label;
    uint64_t launch;  // its number in a profile; 0 without a profile
  };
  void work();
  std::mutex mutex;
  std::condition_variable wake, moved;
  std::deque<Queued> tasks;  // the first one is running or runs next
  uint64_t pushed = 0;
  int waiting = 0;
  std::atomic<uint64_t> done{0};
  std::atomic<bool> pending{false};
  bool started = false;
  Fault fault;
};

Stream& current(int32_t device);  // this thread's current stream
// Returns the stream of a handle; null means the current stream.
inline Stream& stream_of(int32_t device, void* handle) {
  return handle ? *static_cast<Stream*>(handle) : current(device);
}
// Makes later tasks of `stream` run after that place.
void follow(Stream& stream, Place place);
void wait_for_all(int32_t device);                  // waits for all streams of the device; raises no fault
lamella_status synchronize(void*, int32_t device);  // waits for all streams of the device; raises the first fault
void hold_streams();                                // before a fork: waits until all are idle, and keeps them so
void go_on_streams();
void restart_streams();
void add_streams(lamella::Library&, lamella_backend&);

// Profiles: trace.cpp.
int64_t device_time();  // nanoseconds of the device's own clock
uint64_t launched();    // returns a number for a task that is being queued; 0 if no profile is open
void tell(const Stream& stream, const Label& label, uint64_t launch, int64_t begin);  // reports a task that ends now
void add_trace(lamella::Library&);
}  // namespace bank
