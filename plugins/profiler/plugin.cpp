// The profiler's library: two layers, one above autograd and one below it, on which observers see calls, and the
// interface over observers, debug information and the log of used features. Start with observe/record.cpp.
#include <lamella/closed.h>
#include <lamella/library.h>
#include <lamella/profiler.h>

#include "collect/collector.h"
#include "debug_info.h"
#include "fork.h"
#include "memory/report.h"
#include "observe/host_stacks.h"
#include "observe/record.h"
#include "ranges.h"
#include "trace/trace.h"
#include "usage.h"

namespace lamella::profiler {
namespace {

int32_t enable_records(int32_t on) { return this_thread().enable(on != 0); }

lamella_profiler table = {
    sizeof table,
    -1,
    -1,
    closed<static_cast<lamella_status (*)(const lamella_observer*, int32_t, uint64_t*)>(add_observer)>,
    closed<remove_observer>,
    closed<enable_observer>,
    enable_records,
    closed<scope_begin>,
    scope_end,
    set_reporter,
    closed<info_push>,
    closed<info_pop>,
    closed<info_get>,
    closed<info_each>,
    closed<info_make>,
    info_free,
    set_info_reader,
    closed<log_usage_once>,
    closed<add_usage_handler>,
    closed<remove_usage_handler>,
    closed<trace_start>,
    closed<trace_stop>,
    trace_free,
    trace_dropped,
    closed<trace_events>,
    closed<trace_memory>,
    closed<trace_summary>,
    closed<trace_export>,
    set_stack_reader,
    describe_frame,
    closed<trace_activity>,
    closed<trace_notes>,
    closed<traced_devices>,
    closed<ranges_begin>,
    closed<context_begin>,
    context_free,
    set_context_reader,
    parent_name,
    closed<trace_write>};

// Adds a layer of observers: it is on while there is an observer, never on a tensor, and also inside composites.
void add_layer(Library& m, const char* name, const char* at, const char* const* inside, lamella_kernel kernel,
               int32_t* bit) {
  lamella_layer l{};
  l.size = sizeof l;
  l.name = name;
  l.at = at;
  l.inside = inside;
  l.flags = LAMELLA_LAYER_INSIDE | LAMELLA_LAYER_NEVER_ON_TENSORS;
  l.fallback = kernel;
  m.layer(l, bit);
}

}  // namespace
}  // namespace lamella::profiler

LAMELLA_LIBRARY(profiler, m) {
  using namespace lamella::profiler;
  static const char* const below_autograd[] = {"autograd", nullptr};
  add_layer(m, "profiler", "profiler", nullptr, observe<LAMELLA_SCOPE_FUNCTION>, &table.layer);
  add_layer(m, "profiler.kernels", "backend", below_autograd, observe<LAMELLA_SCOPE_KERNEL>, &table.kernel_layer);
  if (m.status()) return;
  function_layer = uint64_t{1} << table.layer;
  kernel_layer = uint64_t{1} << table.kernel_layer;
  library = m.handle();
  if (register_thread_slots(library) || register_info_slot(library) || follow_usage(library) || follow_forks()) return;
  m.interface("profiler", 1, &table);
  add_memory(m);
  m.interface("samples", 1, &samples_table);
}
