#include "dispatcher/fallback.h"

#include <atomic>
#include <chrono>
#include <list>
#include <map>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {
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

// The arguments of one call with their tensors on another device. Keeps what it made until it dies.
class Moved {
 public:
  Moved(Compose& c, const CallInfo& info, const Value* args, int count, lattis_device to)
      : values_(args, args + count) {
    for (int i = 0; i < info.num_tensors; i++)
      if (tensor_arg(args[info.tensors[i]])) values_[info.tensors[i]] = move(c, args[info.tensors[i]], to);
    for (int i = 0; i < info.num_lists; i++) {
      const Value& v = args[info.lists[i]];
      if (v.tag != LATTIS_TENSOR_LIST) continue;
      auto& list = lists_.emplace_back();
      for (uint32_t k = 0; k < v.length; k++) {
        Value moved = v.as.tensors[k] ? move(c, core::tensor_value(v.as.tensors[k]), to) : core::none();
        list.push_back(moved.tag == LATTIS_TENSOR ? moved.as.tensor : nullptr);
      }
      values_[info.lists[i]] = core::tensor_list(list.data(), static_cast<int64_t>(list.size()));
    }
    if (info.device >= 0) values_[info.device] = core::device_value(to);
  }
  const Value* values() const { return values_.data(); }
  int64_t bytes = 0;

 private:
  Value move(Compose& c, const Value& tensor, lattis_device to) {
    owned_.push_back(c.op<"to.device">(tensor, to));
    bytes += bytes_of(owned_.back().tensor());
    return owned_.back().value();
  }
  std::vector<Value> values_;
  std::vector<Var> owned_;
  std::list<std::vector<lattis_tensor*>> lists_;
};

lattis_status refuse(lattis_frame* f) {
  return raise(LATTIS_NOT_IMPLEMENTED,
               format("%s: device '%s' has neither a kernel nor a composite for it, and the fallback to the host is "
                      "an error; allow it with lattis.set_fallback(\"allow\")",
                      operator_title(f->op).c_str(), core::device_name(f->device).c_str()));
}

// What the host computed, where the caller expects it: written arguments are copied back and returned themselves.
Value give_back(Compose& c, const CallInfo& info, const Value* args, const Moved& host, Value result,
                lattis_device device, int64_t* bytes) {
  Var owned(&c, result);
  for (uint64_t w = info.written; w; w &= w - 1) {
    const int at = __builtin_ctzll(w);
    if (result.tag != LATTIS_TENSOR || result.as.tensor != host.values()[at].as.tensor) continue;
    c.op<"copy_">(args[at], owned);
    *bytes += bytes_of(tensor_arg(args[at]));
    return core::retain_value(args[at]);
  }
  if (result.tag == LATTIS_TENSOR_LIST) {
    std::vector<Var> moved;
    for (uint32_t k = 0; k < result.length; k++)
      moved.push_back(c.op<"to.device">(core::tensor_value(result.as.tensors[k]), device));
    return c.list(moved).take();
  }
  if (result.tag != LATTIS_TENSOR) return owned.take();
  *bytes += bytes_of(owned.tensor());
  return c.op<"to.device">(owned, device).take();
}

void count(const lattis_frame* f, const Operator* op, int64_t bytes, double seconds) {
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

lattis_status fallback_kernel(lattis_frame* f, const Value* args, Value* rets) {
  if (fallback_mode() == FallbackMode::Error) return refuse(f);
  const auto start = std::chrono::steady_clock::now();
  const Operator* op = f->op->functional ? f->op->functional : f->op;
  if (lattis_status st = Registry::get().prepare(const_cast<Operator*>(op))) return st;
  Compose c(f);
  Moved host(c, op->info, args, op->info.nargs, {core::host_backend(), 0});
  Value results[LATTIS_MAX_RETURNS];
  for (Value& v : results) v = core::none();
  if (!c.status()) c.check(call(f, op, host.values(), results));
  int64_t bytes = host.bytes;
  for (int i = 0; i < op->info.nrets; i++) rets[i] = give_back(c, op->info, args, host, results[i], f->device, &bytes);
  if (c.status()) {
    release_all(rets, op->info.nrets);
    return c.status();
  }
  count(f, op, bytes, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return LATTIS_OK;
}

}  // namespace lattis::dispatcher
