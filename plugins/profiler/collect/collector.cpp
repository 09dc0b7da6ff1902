#include "collect/collector.h"

#include <lamella/library.h>
#include <lamella/profiler.h>

#include <algorithm>
#include <charconv>

#include "collect/text.h"
#include "debug_info.h"
#include "trace/clock.h"

namespace lamella::profiler {
namespace {

std::atomic<uint64_t> last_collector{0}, last_id{0};

const lamella_tensor* first_tensor(const lamella_value* v, uint32_t n) {
  for (uint32_t i = 0; v && i < n; i++) {
    if (v[i].tag == LAMELLA_TENSOR) return v[i].as.tensor;
    for (uint32_t k = 0; v[i].tag == LAMELLA_TENSOR_LIST && k < v[i].length; k++)
      if (v[i].as.tensors[k]) return v[i].as.tensors[k];
  }
  return nullptr;
}

const char* dtype_of(const lamella_record& r) {
  const lamella_tensor* t = first_tensor(r.inputs, r.num_inputs);
  if (!t) t = first_tensor(r.outputs, r.num_outputs);
  const lamella_dtype_def* dtype = t ? api().dtype_info(t->dtype) : nullptr;
  return dtype ? dtype->name : "";
}

void write_value(TextWriter& to, const char* kind, uint32_t room) {
  lamella_value v;
  if (info_get(kind, &v)) return api().error_clear(), to.add_absent();
  char digits[32];
  auto number = [&](auto n) {
    return std::string_view(digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, n).ptr - digits));
  };
  switch (v.tag) {
    case LAMELLA_STRING:
      to.add_value({v.as.string, v.length}, room);
      break;
    case LAMELLA_INT:
      to.add_value(number(v.as.i), room);
      break;
    case LAMELLA_FLOAT:
      to.add_value(number(v.as.d), room);
      break;
    case LAMELLA_BOOLEAN:
      to.add_value(v.as.i ? "true" : "false", room);
      break;
    case LAMELLA_NONE:
      to.add_absent();
      break;
    default:
      to.add_value("(an object)", room);
  }
  api().value_release(&v);
}

}  // namespace

Collector::Collector(const lamella_sampling& s)
    : number(last_collector.fetch_add(1) + 1),
      kinds_(s.kinds, s.kinds + s.num_kinds),
      series_kinds_(s.num_series_kinds),
      max_series_(s.max_series),
      max_spans_(s.max_spans),
      queue_(s.capacity) {
  for (uint32_t i = 0; i < s.num_bounds; i++) bounds_.push_back(s.bounds[i] * 1e9);
}

OpenSample* Collector::begin(Parent around) {
  auto* open = new (std::nothrow) OpenSample;
  if (!open) return nullptr;
  open->id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  open->parent = around.id;
  open->root = around.id ? around.root : open->id;
  open->begin = monotonic_ns();
  return open;
}

void Collector::write(Sample& s, const lamella_record& r) const {
  s.thread = r.thread;
  s.scope = static_cast<uint16_t>(r.scope);
  TextWriter to(s);
  to.add(r.name, name_room);
  to.add(r.backend < 0 ? "" : api().backend_name(r.backend), short_room);
  to.add(dtype_of(r), short_room);
  const uint32_t room = kinds_.empty() ? 0 : values_room / static_cast<uint32_t>(kinds_.size());
  s.key_length = static_cast<uint16_t>(s.length);
  for (size_t i = 0; i < kinds_.size(); i++) {
    write_value(to, kinds_[i].c_str(), room);
    if (i + 1 == series_kinds_) s.key_length = static_cast<uint16_t>(s.length);
  }
}

void Collector::end(const lamella_record& r, const OpenSample* open) {
  const uint64_t end = monotonic_ns();
  // On the stack: reading debug information may wait for the host's lock, while a slot of the queue must be filled at
  // once.
  Sample s;
  s.begin = open->begin;
  s.duration = end - open->begin;
  s.id = open->id;
  s.parent = open->parent;
  s.root = open->root;
  write(s, r);
  const bool fits = queue_.put(s);
  if (!fits) full_.fetch_add(1, std::memory_order_relaxed);
}

// Takes at most as many samples as the queue holds, so that the call ends while other threads add samples.
void Collector::drain() {
  const std::lock_guard lock(mutex_);
  const auto offset = static_cast<int64_t>(clock_ns(CLOCK_REALTIME) - monotonic_ns());
  for (uint64_t n = queue_.capacity(); n-- > 0 && queue_.take([&](const Sample& s) { add(s, offset); });) {
  }
}

void Collector::add(const Sample& s, int64_t offset) {
  add_to_series(s);
  if (!max_spans_) return;
  if (spans_.size() >= max_spans_) {
    lost_spans_++;
    return;
  }
  spans_.push_back(s);
  spans_.back().begin += static_cast<uint64_t>(offset);
}

void Collector::add_to_series(const Sample& s) {
  std::string key(1, static_cast<char>('0' + s.scope));
  key.append(s.text, s.key_length);
  auto found = series_.find(key);
  if (found == series_.end()) {
    if (series_.size() >= max_series_) {
      lost_series_++;
      return;
    }
    found = series_.emplace(std::move(key), Series{}).first;
    found->second.buckets.resize(bounds_.size() + 1);
  }
  Series& x = found->second;
  const auto ns = static_cast<double>(s.duration), seconds = ns * 1e-9;
  x.min = x.count ? std::min(x.min, seconds) : seconds;
  x.max = std::max(x.max, seconds);
  x.sum += seconds;
  x.count++;
  x.buckets[static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), ns) - bounds_.begin())]++;
}

lamella_status Collector::each_series(lamella_status (*visit)(void*, const lamella_series*), void* context) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, x] : series_) {
    const Texts t(key.c_str() + 1, series_kinds_);
    const lamella_series shown{sizeof shown,    static_cast<uint32_t>(key[0] - '0'),
                               t.name,          t.backend,
                               t.dtype,         t.values.data(),
                               x.count,         x.sum,
                               x.min,           x.max,
                               x.buckets.data()};
    if (lamella_status st = visit(context, &shown)) return st;
  }
  return LAMELLA_OK;
}

lamella_status Collector::take_spans(lamella_status (*visit)(void*, const lamella_span*), void* context) {
  std::vector<Sample> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(spans_);
  }
  for (const Sample& s : taken) {
    const Texts t(s.text, kinds_.size());
    const lamella_span shown{sizeof shown, s.scope,    t.name, t.backend, t.dtype, t.values.data(),
                             s.begin,      s.duration, s.id,   s.parent,  s.root,  s.thread};
    if (lamella_status st = visit(context, &shown)) return st;
  }
  return LAMELLA_OK;
}

lamella_sample_counts Collector::counts() {
  const std::lock_guard lock(mutex_);
  return {sizeof(lamella_sample_counts), queue_.put_so_far(), full_.load(std::memory_order_relaxed), lost_series_,
          lost_spans_};
}

}  // namespace lamella::profiler
