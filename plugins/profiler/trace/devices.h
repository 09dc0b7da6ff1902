// DeviceRecord: the device part of a trace. A backend reports its work by the interface "device_trace.NAME", which is
// started once for all running traces. For a backend without that interface, events recorded before and after each
// kernel give the times.
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

// A moment at which both clocks were read.
struct Moment {
  uint64_t host = 0;   // ticks
  int64_t device = 0;  // nanoseconds
  bool known = false;
};

struct DeviceClock {
  lamella_device device;
  Moment first, last;
};

// A backend whose work this trace records.
struct Source {
  std::string name;
  int32_t backend;
  const lamella_device_trace* hook;
  std::vector<DeviceClock> clocks;
};

class TimedKernels;  // see timed.h

struct DeviceRecord {
  std::vector<std::string> wanted;            // names of devices; "*" means each that has the interface
  uint64_t first = 0;                         // the last launch number before this trace began
  int process = 0;                            // the process that began this trace
  Chunks<Launch> launches;                    // ascending by number, and so by time
  Chunks<lamella_trace_activity> activities;  // in times of their devices' clocks, and without their launchers
  std::set<std::string, std::less<>> names;   // of the activities
  int64_t invalid = 0;                        // number of activities that were left out as invalid
  std::vector<Source> sources;                // see Note [Turns]: changed under both locks
  std::vector<std::string> notes;             // texts that say what could not be recorded, and why
  lamella_handle arrivals = 0;                // the subscription to interfaces that are published later
  std::shared_ptr<TimedKernels> timed;
  std::set<std::string> judged;  // the names of wanted devices for which time_kernels() has decided how to time them
  ~DeviceRecord();

  bool wants(std::string_view name) const;
  const DeviceClock* clock(lamella_device) const;
};

// Begin and end the recording of devices in a trace that wants them. Failures of single
// devices become notes.
lamella_status devices_begin(Trace&);
void devices_end(Trace&);

// The sink that all backends report to. launched() returns the number of a new launch, or 0 if no trace records
// devices; activity() reports work that has been done.
uint64_t launched();
void activity(const lamella_device_activity*);

// For a backend of this trace that is timed by events.
void add_source(Trace&, Source);
void keep_activity(Trace&, const lamella_device_activity&);

lamella_status traced_devices(lamella_on_trace_text, void* context);

void note(Trace&, std::string text);
bool has_source(Trace&, const std::string& device);

// Returns the message of the pending error, and clears the error.
std::string take_message();

}  // namespace lamella::profiler
