#include "memory/report.h"

#include <lamella/closed.h>

#include "memory/history.h"

namespace lamella::profiler {
namespace {

constexpr size_t most_named = 5;

const lamella_profiler_memory table = {sizeof table,
                                       closed<switch_memory_on>,
                                       switch_memory_off,
                                       memory_flags,
                                       set_memory_stacks,
                                       closed<memory_snapshot>,
                                       [](lamella_device d, lamella_memory_counts* out) { *out = memory_counts(d); },
                                       reset_memory_counts};

std::string name_of(lamella_device d, int32_t count) {
  std::string name = api().backend_name(d.backend);
  if (count > 1) name += ":" + std::to_string(d.index);
  return name;
}

std::string number(int64_t n, const char* of) { return std::to_string(n) + " " + of; }

// Returns a text such as "cpu 4096 bytes in use, at most 8192, 512 kept for reuse"; empty for a device that has never
// been used or whose use is not counted, unless `always`, which is set for the device that the error is about.
std::string total_of(const lamella_backend& b, lamella_device d, int32_t count, bool always) {
  lamella_allocator_stats s{};
  s.size = sizeof s;
  const bool counts = b.allocator && b.allocator->stats;
  if (!counts && !memory_flags()) return always ? name_of(d, count) + " does not count its memory" : "";
  if (counts) {
    if (b.allocator->stats(b.allocator->context, d.index, &s)) return api().error_clear(), std::string();
  } else {
    const lamella_memory_counts c = memory_counts(d);
    s.live_bytes = c.live_bytes;
    s.peak_bytes = c.peak_bytes;
  }
  if (!s.live_bytes && !s.peak_bytes && !s.cached_bytes && !always) return {};
  std::string text = name_of(d, count) + " " + number(s.live_bytes, "bytes in use");
  if (s.peak_bytes > s.live_bytes) text += ", at most " + std::to_string(s.peak_bytes);
  if (s.cached_bytes) text += ", " + number(s.cached_bytes, "kept for reuse");
  return text;
}

std::string totals(lamella_device failed) {
  std::string all;
  for (int32_t id = 1; std::strcmp(api().backend_name(id), "none") != 0; id++) {
    const lamella_backend* b = api().backend_description(id);
    if (!b) continue;
    const int32_t count = b->device_count ? b->device_count(b->context) : 1;
    for (int32_t index = 0; index < count; index++) {
      const bool always = id == failed.backend && index == failed.index;
      const std::string one = total_of(*b, {id, index}, count, always);
      if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
    }
  }
  return all;
}

std::string described(const LargeBlock& b) {
  std::string text = "  " + number(b.record.bytes, "bytes");
  const lamella_dtype_def* dtype = b.record.dtype < 0 ? nullptr : api().dtype_info(b.record.dtype);
  if (dtype) {
    text += std::string(": ") + dtype->name + " (";
    for (size_t i = 0; i < b.shape.size(); i++) text += (i ? ", " : "") + std::to_string(b.shape[i]);
    text += b.shape.size() == 1 ? ",)" : ")";
  }
  if (b.record.maker) text += std::string(", made by ") + b.record.maker;
  if (const std::string at = described_stack(b.record.stack); !at.empty()) text += ", at " + at;
  return text;
}

// Adds the notes to the pending error, which is taken away while functions of backends and of the host language run.
void report(void*, const lamella_event* e) {
  lamella_object* const error = api().error_take();
  std::vector<std::string> notes;
  const lamella_status failed = guarded([&] {
    notes.push_back("memory by device: " + totals(e->device));
    if (!(memory_flags() & LAMELLA_MEMORY_MAKERS)) {
      notes.emplace_back("to see where its tensors were made, call lamella.profiler.record_memory_history() first");
      return LAMELLA_OK;
    }
    const lamella_backend* b = api().backend_description(e->device.backend);
    const int32_t count = b && b->device_count ? b->device_count(b->context) : 1;
    const std::vector<LargeBlock> largest = largest_blocks(e->device, most_named);
    if (!largest.empty()) notes.push_back("the largest blocks on '" + name_of(e->device, count) + "' in the history:");
    for (const LargeBlock& block : largest) notes.push_back(described(block));
    return LAMELLA_OK;
  });
  if (failed) api().error_clear();  // the report itself ran out of memory: the error gets fewer notes, or none
  if (error) api().error_restore(error);
  for (const std::string& note : notes) api().add_note(note.c_str());
}

}  // namespace

void add_memory(Library& m) {
  m.interface("profiler.memory", 1, &table);
  if (m.status()) return;
  api().subscribe(m.handle(), uint64_t{1} << LAMELLA_EVENT_OUT_OF_MEMORY, report, nullptr, nullptr);
}

}  // namespace lamella::profiler
