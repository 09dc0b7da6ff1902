// DeviceRecord: what a trace keeps of devices. Backends tell of their work by the interface "device_trace.NAME", which
// is started once for all traces that run; of a backend that has none, events before and behind each of its kernels
// give the times.
#pragma once

#include <lamella/device_trace.h>
#include <lamella/library.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "trace/buffer.h"

namespace lamella::profiler {

struct Trace;

// Work that a thread has queued on a device.
struct Launch {
  uint64_t number, thread, time;  // ticks
};

// Work that a device has done; times are those of its own clock.
struct Activity {
  const char* name;
  lamella_device device, to, from;
  uint64_t stream, launch;
  int64_t begin, end, bytes;
  uint32_t kind;
};

// A moment that was read on both clocks.
struct Moment {
  uint64_t host = 0;   // ticks
  int64_t device = 0;  // nanoseconds
  bool known = false;
};

struct DeviceClock {
  lamella_device device;
  Moment first, last;
};

// A backend that this trace hears of.
struct Source {
  std::string name;
  int32_t backend;
  const lamella_device_trace* hook;
  std::vector<DeviceClock> clocks;
};

class TimedKernels;  // times by events: timed.h

struct DeviceRecord {
  std::vector<std::string> wanted;  // names; "*" is any that has the interface
  uint64_t first = 0;               // numbers of launches up to this one are of earlier traces
  int process = 0;                  // where it was begun
  Chunks<Launch> launches;          // in the order of their numbers, which is that of time
  Chunks<Activity> activities;
  std::set<std::string, std::less<>> names;  // of the activities
  int64_t senseless = 0;                     // activities that were left out
  std::vector<Source> sources;               // Note [Turns]: changed under both locks
  std::vector<std::string> notes;            // what could not be recorded, and why
  lamella_handle arrivals = 0;               // a subscription to interfaces that come
  std::shared_ptr<TimedKernels> timed;
  std::set<std::string> judged;  // devices without the interface that were there at the begin
  ~DeviceRecord();

  bool wants(std::string_view name) const;
  const DeviceClock* clock(lamella_device) const;
};

// Between the begin and the end of a trace that wants devices. What fails becomes a note.
lamella_status devices_begin(Trace&);
void devices_end(Trace&);

// The sink of all backends: a number for a launch, 0 where no trace wants it; and work that has been done.
uint64_t launched();
void activity(const lamella_device_activity*);

// Of one trace alone: a backend that is timed by events.
void add_source(Trace&, Source);
void keep_activity(Trace&, const lamella_device_activity&);

lamella_status traced_devices(lamella_on_trace_text, void* context);

void note(Trace&, std::string text);
bool has_source(Trace&, const std::string& device);

// The message of the pending error, which is cleared.
std::string take_message();

}  // namespace lamella::profiler
