// Trace: one session of the profiler, which observes every record of the scopes in its options. Each thread writes to a
// buffer of its own, without locks and without the host language.
#pragma once

#include <lamella/library.h>
#include <lamella/profiler.h>

#include <memory>
#include <mutex>

#include "trace/buffer.h"
#include "trace/clock.h"
#include "trace/devices.h"

namespace lamella::profiler {

struct Trace {
  lamella_trace_options options{};
  uint64_t number = 0;  // unique in the process
  uint64_t observer = 0;
  lamella_handle memory_events = 0;
  bool running = false;
  Rate rate;
  uint64_t ended = 0;  // ticks
  std::atomic<int64_t> dropped{0};
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::unique_ptr<DeviceRecord> devices;  // null if the trace records the host alone

  Buffer& buffer();  // the buffer of the calling thread
  // Returns a snapshot of the list of buffers, in the order in which their threads first recorded.
  std::vector<const Buffer*> all();
  int64_t end_of(const Event& e) const {
    const uint64_t t = e.end.load(std::memory_order_acquire);
    return rate.ns(t ? t : ended);
  }
};

lamella_status trace_start(const lamella_trace_options*, lamella_trace** out);
lamella_status trace_stop(lamella_trace*);
void trace_free(lamella_trace*);
Trace& trace_of(lamella_trace*);
// A child of fork has its parent's traces as they were at the fork, and does not add to them.
void end_traces_in_child();
std::mutex& traces_mutex();

lamella_status trace_events(lamella_trace*, lamella_on_trace_event, void* context);
lamella_status trace_memory(lamella_trace*, lamella_on_trace_memory, void* context);
lamella_status trace_summary(lamella_trace*, int32_t by_shapes, int32_t stack_frames, lamella_on_trace_row,
                             void* context);
lamella_status trace_write(lamella_trace*, int32_t fd, const char* metadata);
lamella_status trace_export(lamella_trace*, const char* path, const char* metadata);
int64_t trace_dropped(lamella_trace*);
lamella_status trace_activity(lamella_trace*, lamella_on_trace_activity, void* context);
lamella_status trace_notes(lamella_trace*, lamella_on_trace_text, void* context);

}  // namespace lamella::profiler
