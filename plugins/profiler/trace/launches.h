// Finds the event that launched a device's work: the innermost one that was open on the launching thread.
#pragma once

#include "trace/walk.h"

namespace lamella::profiler {

struct Launched {
  uint64_t number;
  int64_t time;  // ns since the trace's begin
  uint64_t thread;
  const Event* event;  // null if no recorded event was open
  int64_t host;        // the event's number in the order of the walk, or -1
  int64_t begin;       // the event's begin, ns since the trace's begin
};

// Returns all launches of a trace that records devices, sorted by number.
std::vector<Launched> find_launchers(Trace&);
const Launched* find_launch(const std::vector<Launched>&, uint64_t number);  // or null

// Returns the work that devices have done, sorted by begin, in times of the host's clock.
std::vector<lamella_trace_activity> read_activities(Trace&, const std::vector<Launched>&);

}  // namespace lamella::profiler
