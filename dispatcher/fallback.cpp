#include "dispatcher/fallback.h"

#include <atomic>
#include <chrono>
#include <list>
#include <map>
#include <mutex>

#include "core/device.h"
#include "core/error.h"
#include "core/fork.h"
#include "dispatcher/explain.h"
#include "dispatcher/prepare.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {
namespace {

using core::Tensor;
using core::TensorRef;

std::atomic<FallbackMode> mode{FallbackMode::Allow};

std::mutex& counting = core::new_innermost_mutex();
struct Counts {
  std::map<std::pair<std::string, std::string>, FallbackCount> of;  // device and operator
};
Counts& counts() {
  static auto* c = new Counts;
  return *c;
}

int64_t bytes_of(const Tensor* t) { return t ? t->numel * core::itemsize(t->dtype) : 0; }

// The arguments of one call with their tensors on another device, each tensor copied once. Owns the copies.
class MovedArguments {
 public:
  lamella_status move_all(const CallInfo& info, const Value* args, lamella_device to) {
    values_.assign(args, args + info.nargs);
    for (int i = 0; i < info.num_tensors; i++) {
      Value& v = values_[info.tensors[i]];
      if (v.tag != LAMELLA_TENSOR) continue;
      Tensor* moved;
      if (lamella_status st = move(core::full(v.as.tensor), to, writes(info, info.tensors[i]), &moved)) return st;
      v = core::tensor_value(moved);
    }
    for (int i = 0; i < info.num_lists; i++)
      if (lamella_status st = move_list(values_[info.lists[i]], to, writes(info, info.lists[i]))) return st;
    if (info.device >= 0) values_[info.device] = core::device_value(to);
    return LAMELLA_OK;
  }
  const Value* values() const { return values_.data(); }

  // Copies the tensors that the call may have written into the tensors that they are copies of.
  lamella_status write_back() {
    for (const Pair& p : pairs_) {
      if (!p.written || p.moved.get() == p.source) continue;
      if (lamella_status st = copying().copy(p.source, p.moved.get())) return st;
      bytes += bytes_of(p.source);
    }
    return LAMELLA_OK;
  }
  // Sets `out` to the caller's tensor for a result: the source, if the result is the copy of a written argument; else a
  // copy of the result on `device`.
  lamella_status give_back(lamella_tensor* result, lamella_device device, TensorRef* out) {
    for (const Pair& p : pairs_)
      if (p.written && p.moved.get() == result) {
        *out = TensorRef::borrow(p.source);
        return LAMELLA_OK;
      }
    bytes += bytes_of(core::full(result));
    return copying().to_device(core::full(result), device, out);
  }
  int64_t bytes = 0;

 private:
  struct Pair {
    Tensor* source;
    TensorRef moved;
    bool written;
  };
  static bool writes(const CallInfo& info, int at) { return info.written >> at & 1; }

  lamella_status move(Tensor* source, lamella_device to, bool written, Tensor** out) {
    for (Pair& p : pairs_)
      if (p.source == source) {
        p.written |= written;
        *out = p.moved.get();
        return LAMELLA_OK;
      }
    TensorRef moved;
    if (lamella_status st = copying().to_device(source, to, &moved)) return st;
    *out = moved.get();
    bytes += bytes_of(*out);
    pairs_.push_back({source, std::move(moved), written});
    return LAMELLA_OK;
  }
  lamella_status move_list(Value& v, lamella_device to, bool written) {
    if (v.tag != LAMELLA_TENSOR_LIST) return LAMELLA_OK;
    auto& list = lists_.emplace_back();
    for (uint32_t k = 0; k < v.length; k++) {
      Tensor* moved = nullptr;
      if (lamella_tensor* t = v.as.tensors[k])
        if (lamella_status st = move(core::full(t), to, written, &moved)) return st;
      list.push_back(moved);
    }
    v = core::tensor_list(list.data(), static_cast<int64_t>(list.size()));
    return LAMELLA_OK;
  }

  std::vector<Value> values_;
  std::vector<Pair> pairs_;
  std::list<std::vector<lamella_tensor*>> lists_;
};

lamella_status refuse(lamella_frame* f) {
  const char* why = f->context ? "%s: the kernel of device '%s' declined this call, there is no composite"
                               : "%s: device '%s' has neither a kernel nor a composite for it";
  return core::raise(LAMELLA_NOT_IMPLEMENTED,
                     core::format(why, operator_title(f->op).c_str(), core::device_name(f->device).c_str()) +
                         ", and the fallback to the host is an error; allow it with lamella.set_fallback(\"allow\")");
}

// Moves a result of the host, whose reference it takes over, to the caller's device.
lamella_status give_back(MovedArguments& host, Value& result, lamella_device device) {
  if (result.tag != LAMELLA_TENSOR && result.tag != LAMELLA_TENSOR_LIST) return LAMELLA_OK;
  const bool list = result.tag == LAMELLA_TENSOR_LIST;
  std::vector<TensorRef> moved(list ? result.length : 1);
  for (size_t k = 0; k < moved.size(); k++) {
    lamella_tensor* computed = list ? result.as.tensors[k] : result.as.tensor;
    if (lamella_status st = computed ? host.give_back(computed, device, &moved[k]) : LAMELLA_OK) return st;
  }
  core::release_value(result);
  if (!list) {
    result = core::tensor_value(moved[0].take());
    return LAMELLA_OK;
  }
  std::vector<lamella_tensor*> tensors;
  for (const TensorRef& t : moved) tensors.push_back(t.get());
  result = core::retain_value(core::tensor_list(tensors.data(), static_cast<int64_t>(tensors.size())));
  return LAMELLA_OK;
}

void count(const lamella_frame* f, const Operator* op, int64_t bytes, double seconds) {
  const std::string device = core::backend_name(f->device.backend);
  Counts& all = counts();
  std::lock_guard lock(counting);
  FallbackCount& n = all.of[{device, op->full_name()}];
  n.device = device;
  n.op = op->full_name();
  n.reason = f->context ? "the kernel of device '" + device + "' declined, and there is no composite"
                        : "no kernel for device '" + device + "' and no composite";
  n.calls++;
  n.bytes += bytes;
  n.seconds += seconds;
}

}  // namespace

FallbackMode fallback_mode() { return mode.load(); }
void set_fallback_mode(FallbackMode m) { mode.store(m); }

std::vector<FallbackCount> fallback_counts() {
  Counts& all = counts();
  std::lock_guard lock(counting);
  std::vector<FallbackCount> v;
  for (const auto& [key, n] : all.of) v.push_back(n);
  return v;
}

void reset_fallback_counts() {
  Counts& all = counts();
  std::lock_guard lock(counting);
  all.of.clear();
}

lamella_status fallback_kernel(lamella_frame* f, const Value* args, Value* rets) {
  if (fallback_mode() == FallbackMode::Error) return refuse(f);
  const auto start = std::chrono::steady_clock::now();
  const Operator* op = f->op->functional ? f->op->functional : f->op;
  if (lamella_status st = prepare(const_cast<Operator*>(op))) return st;
  MovedArguments host;
  if (lamella_status st = host.move_all(op->info, args, {core::host_backend(), 0})) return st;
  for (int i = 0; i < op->info.nrets; i++) rets[i] = core::none();
  lamella_status st = call(f, op, host.values(), rets);
  if (!st) st = host.write_back();
  for (int i = 0; i < op->info.nrets && !st; i++) st = give_back(host, rets[i], f->device);
  if (st) {
    release_all(rets, op->info.nrets);
    return st;
  }
  count(f, op, host.bytes, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return LAMELLA_OK;
}

lamella_status fallback_copy(lamella_frame* f, const Value* args, Value* rets) {
  (void)rets;  // the result is the destination, which is an argument
  if (fallback_mode() == FallbackMode::Error) return refuse(f);
  const auto start = std::chrono::steady_clock::now();
  int64_t bytes = 0;
  if (lamella_status st = copying().within_device(core::full(args[0].as.tensor), core::full(args[1].as.tensor), &bytes))
    return st;
  count(f, f->op, bytes, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
