// The interface "samples": opens collectors, and registers the observers that fill them.
#include <lamella/library.h>
#include <lamella/profiler.h>

#include <memory>

#include "collect/collector.h"
#include "collect/text.h"
#include "observe/record.h"

struct lamella_collector {
  std::shared_ptr<lamella::profiler::Collector> collector;  // each observer has a reference as well
  std::vector<uint64_t> observers;
};

namespace lamella::profiler {
namespace {

using Shared = std::shared_ptr<Collector>;

lamella_status enter(void*, const lamella_record*, void** state);

// Returns the innermost open sample of collector c in the context of this thread's host.
Parent in_context(const Collector& c) {
  const ContextBlocks* all = context_blocks();
  if (!all) return {};
  for (auto b = all->rbegin(); b != all->rend(); ++b) {
    if ((*b)->ended.load(std::memory_order_acquire)) continue;
    for (const ContextBlock::Sample& s : (*b)->samples)
      if (s.collector == c.number) return {s.id, s.root};
  }
  return {};
}

// Returns the innermost open sample of collector c on this thread, around the record that is being entered. Blocks that
// a host's context holds are left out: those of this task are found by in_context(), the others belong to other tasks.
Parent on_thread(const Collector& c, const Record& entered) {
  Parent found;
  for (const Record* r = entered.outer; r && !found.id; r = r->outer)
    if (!r->context_block())
      r->each_running([&](const Record::Running& x) {
        if (!x.state || !x.observer || x.observer->given.enter != enter) return;
        if (static_cast<Shared*>(x.observer->given.context)->get() != &c) return;
        const auto* open = static_cast<const OpenSample*>(x.state);
        found = {open->id, open->root};
      });
  return found;
}

// The parent is the sample around the call on its thread, or the one in its context: the one that began later is the
// inner one.
lamella_status enter(void* context, const lamella_record*, void** state) {
  Collector& c = **static_cast<Shared*>(context);
  const Record& entered = *this_thread().current;
  const Parent thread = on_thread(c, entered), block = in_context(c);
  OpenSample* open = c.begin(thread.id > block.id ? thread : block);
  *state = open;
  if (ContextBlock* own = entered.context_block(); own && open)
    own->samples.push_back({c.number, open->id, open->root});
  return LAMELLA_OK;
}
lamella_status leave(void* context, const lamella_record* r, void* state) {
  const std::unique_ptr<OpenSample> open(static_cast<OpenSample*>(state));
  if (open) (*static_cast<Shared*>(context))->end(*r, open.get());
  return LAMELLA_OK;
}
void forget(void* context) { delete static_cast<Shared*>(context); }

void follow(lamella_collector& c, uint32_t scopes, double probability) {
  if (probability == 0) return;
  lamella_observer o{};
  o.size = sizeof o;
  o.scopes = scopes;
  o.probability = probability;
  o.context = new Shared(c.collector);
  o.enter = enter;
  o.exit = leave;
  o.destroy = forget;
  uint64_t handle;
  if (lamella_status st = add_observer(&o, 1, &handle)) {
    forget(o.context);
    check(st);
  }
  c.observers.push_back(handle);
}

void stop(lamella_collector* c) {
  for (uint64_t handle : c->observers)
    if (remove_observer(handle)) api().error_clear();
  c->observers.clear();
}

void check_sampling(const lamella_sampling& s) {
  constexpr uint32_t most = 1u << 20;
  if (!s.capacity || s.capacity > most)
    throw Error(LAMELLA_VALUE_ERROR, "samples: capacity must be 1 to 2^20, got " + std::to_string(s.capacity));
  if (s.num_kinds > max_kinds)
    throw Error(LAMELLA_VALUE_ERROR, "samples: num_kinds must be at most 8, got " + std::to_string(s.num_kinds));
  if (s.num_series_kinds > s.num_kinds)
    throw Error(LAMELLA_VALUE_ERROR, "samples: num_series_kinds must be at most num_kinds, " +
                                         std::to_string(s.num_kinds) + ", got " + std::to_string(s.num_series_kinds));
  for (double p : {s.probability, s.block_probability})
    if (!(p >= 0 && p <= 1))
      throw Error(LAMELLA_VALUE_ERROR, "samples: a probability must be 0 to 1, got " + std::to_string(p));
  for (uint32_t i = 1; i < s.num_bounds; i++)
    if (!(s.bounds[i - 1] < s.bounds[i]))
      throw Error(LAMELLA_VALUE_ERROR, "samples: bounds must ascend, got " + std::to_string(s.bounds[i - 1]) +
                                           " before " + std::to_string(s.bounds[i]));
}

lamella_status open(const lamella_sampling* given, lamella_collector** out) {
  return guarded([&] {
    lamella_sampling s{};
    std::memcpy(&s, given, std::min<size_t>(given->size, sizeof s));
    check_sampling(s);
    auto made = std::make_unique<lamella_collector>();
    made->collector = std::make_shared<Collector>(s);
    try {
      follow(*made, 1u << LAMELLA_SCOPE_FUNCTION | 1u << LAMELLA_SCOPE_BACKWARD_FUNCTION, s.probability);
      follow(*made, 1u << LAMELLA_SCOPE_USER_SCOPE, s.block_probability);
    } catch (...) {
      stop(made.get());
      throw;
    }
    *out = made.release();
    return LAMELLA_OK;
  });
}

lamella_status drain(lamella_collector* c) {
  return guarded([&] { return c->collector->drain(), LAMELLA_OK; });
}

lamella_status each_series(lamella_collector* c, lamella_status (*visit)(void*, const lamella_series*), void* context) {
  return guarded([&] { return c->collector->each_series(visit, context); });
}

lamella_status take_spans(lamella_collector* c, lamella_status (*visit)(void*, const lamella_span*), void* context) {
  return guarded([&] { return c->collector->take_spans(visit, context); });
}

void counts(lamella_collector* c, lamella_sample_counts* out) {
  lamella_sample_counts now = c->collector->counts();
  now.size = out->size;
  std::memcpy(out, &now, std::min<size_t>(out->size, sizeof now));
}

void close(lamella_collector* c, int32_t leak) {
  stop(c);
  if (!leak) delete c;
}

}  // namespace

const lamella_samples samples_table = {sizeof samples_table, open, stop, drain, each_series, take_spans, counts, close};

}  // namespace lamella::profiler
