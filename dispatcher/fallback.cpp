#include "dispatcher/fallback.h"

#include <atomic>
#include <chrono>
#include <list>
#include <map>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

std::atomic<FallbackMode> mode{FallbackMode::Allow};

struct Counts {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, FallbackCount> of;  // device and operator
};
Counts& counts() {
  static auto* c = new Counts;
  return *c;
}

int64_t bytes_of(const Tensor* t) { return t ? t->numel * core::itemsize(t->dtype) : 0; }

// The arguments of one call with their tensors on another device, each tensor once. Keeps what it made until it dies.
class Moved {
 public:
  Moved(Compose& c, const CallInfo& info, const Value* args, int count, lamella_device to)
      : values_(args, args + count) {
    for (int i = 0; i < info.num_tensors; i++) {
      const int at = info.tensors[i];
      if (Tensor* t = tensor_arg(args[at])) values_[at] = move(c, t, to, info.written >> at & 1);
    }
    for (int i = 0; i < info.num_lists; i++) {
      const int at = info.lists[i];
      const Value& v = args[at];
      if (v.tag != LAMELLA_TENSOR_LIST) continue;
      auto& list = lists_.emplace_back();
      for (uint32_t k = 0; k < v.length; k++) {
        Value moved = v.as.tensors[k] ? move(c, core::full(v.as.tensors[k]), to, info.written >> at & 1) : core::none();
        list.push_back(moved.tag == LAMELLA_TENSOR ? moved.as.tensor : nullptr);
      }
      values_[at] = core::tensor_list(list.data(), static_cast<int64_t>(list.size()));
    }
    if (info.device >= 0) values_[info.device] = core::device_value(to);
  }
  const Value* values() const { return values_.data(); }

  // Copies what may have been written to where it came from.
  void write_back(Compose& c) {
    for (const Pair& p : pairs_) {
      if (!p.written || p.moved.tensor() == p.source) continue;
      c.op<"copy_">(core::tensor_value(p.source), p.moved);
      bytes += bytes_of(p.source);
    }
  }
  // A result as the caller's: a written argument itself, any other tensor on its device.
  Var give_back(Compose& c, lamella_tensor* result, lamella_device device) {
    for (const Pair& p : pairs_)
      if (p.written && p.moved.tensor() == result) return c.arg(core::tensor_value(p.source));
    bytes += bytes_of(core::full(result));
    return c.op<"to.device">(core::tensor_value(result), device);
  }
  int64_t bytes = 0;

 private:
  struct Pair {
    Tensor* source;
    Var moved;
    bool written;
  };
  Value move(Compose& c, Tensor* source, lamella_device to, bool written) {
    for (Pair& p : pairs_)
      if (p.source == source) {
        p.written |= written;
        return p.moved.value();
      }
    pairs_.push_back({source, c.op<"to.device">(core::tensor_value(source), to), written});
    bytes += bytes_of(pairs_.back().moved.tensor());
    return pairs_.back().moved.value();
  }
  std::vector<Value> values_;
  std::vector<Pair> pairs_;
  std::list<std::vector<lamella_tensor*>> lists_;
};

lamella_status refuse(lamella_frame* f) {
  return raise(LAMELLA_NOT_IMPLEMENTED,
               format("%s: device '%s' has neither a kernel nor a composite for it, and the fallback to the host is "
                      "an error; allow it with lamella.set_fallback(\"allow\")",
                      operator_title(f->op).c_str(), core::device_name(f->device).c_str()));
}

// What the host computed, where the caller expects it.
Value give_back(Compose& c, Moved& host, Value result, lamella_device device) {
  Var owned(&c, result);
  if (result.tag == LAMELLA_TENSOR_LIST) {
    std::vector<Var> moved;
    for (uint32_t k = 0; k < result.length; k++) moved.push_back(host.give_back(c, result.as.tensors[k], device));
    return c.list(moved).take();
  }
  return result.tag == LAMELLA_TENSOR ? host.give_back(c, result.as.tensor, device).take() : owned.take();
}

void count(const lamella_frame* f, const Operator* op, int64_t bytes, double seconds) {
  const std::string device = core::backend_name(f->device.backend);
  Counts& all = counts();
  std::lock_guard lock(all.mutex);
  FallbackCount& n = all.of[{device, op->full_name()}];
  n.device = device;
  n.op = op->full_name();
  n.reason = "no kernel for device '" + device + "' and no composite";
  n.calls++;
  n.bytes += bytes;
  n.seconds += seconds;
}

}  // namespace

FallbackMode fallback_mode() { return mode.load(); }
void set_fallback_mode(FallbackMode m) { mode.store(m); }

std::vector<FallbackCount> fallback_counts() {
  Counts& all = counts();
  std::lock_guard lock(all.mutex);
  std::vector<FallbackCount> v;
  for (const auto& [key, n] : all.of) v.push_back(n);
  return v;
}

void reset_fallback_counts() {
  Counts& all = counts();
  std::lock_guard lock(all.mutex);
  all.of.clear();
}

lamella_status fallback_kernel(lamella_frame* f, const Value* args, Value* rets) {
  if (fallback_mode() == FallbackMode::Error) return refuse(f);
  const auto start = std::chrono::steady_clock::now();
  const Operator* op = f->op->functional ? f->op->functional : f->op;
  if (lamella_status st = Registry::get().prepare(const_cast<Operator*>(op))) return st;
  Compose c(f);
  Moved host(c, op->info, args, op->info.nargs, {core::host_backend(), 0});
  Value results[LAMELLA_MAX_RETURNS];
  for (Value& v : results) v = core::none();
  if (!c.status()) c.check(call(f, op, host.values(), results));
  host.write_back(c);
  for (int i = 0; i < op->info.nrets; i++) rets[i] = give_back(c, host, results[i], f->device);
  if (c.status()) {
    release_all(rets, op->info.nrets);
    return c.status();
  }
  count(f, op, host.bytes, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
