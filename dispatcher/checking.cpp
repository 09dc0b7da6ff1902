#include "dispatcher/checking.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/explain.h"
#include "dispatcher/fallback.h"
#include "dispatcher/placement.h"
#include "dispatcher/targets.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {
namespace {

using core::full;
using core::Tensor;
using core::TensorRef;
using Bytes = std::vector<uint8_t>;

constexpr int64_t guard = 256;  // bytes on each side of an output, a multiple of every element's size
constexpr uint8_t pattern = 0xa5;

struct Checked {
  Entry entry;
  std::string owner;
};

int64_t span(const Tensor* t) {
  return core::span_bytes(t->ndim(), t->sizes(), t->strides(), core::itemsize(t->dtype));
}

bool has_memory(const Tensor* t) { return t->numel > 0 && !t->opaque() && t->backend != core::meta_backend; }

// Returns the memory from a tensor's first element to its last, with `around` more bytes on each side, as a tensor of
// bytes.
TensorRef as_bytes(const Tensor* t, int64_t around) {
  const int64_t bytes = span(t) + 2 * around, one = 1;
  const int64_t begin = t->storage_offset * static_cast<int64_t>(core::itemsize(t->dtype)) - around;
  return TensorRef::steal(core::tensor_over(t->storage, 1, &bytes, &one, begin, LAMELLA_UINT8));
}

lamella_status bytes_on_host(int64_t bytes, TensorRef* out) {
  Tensor* t;
  if (lamella_status st = core::new_tensor(1, &bytes, nullptr, LAMELLA_UINT8, {core::host_backend(), 0}, &t)) return st;
  *out = TensorRef::steal(t);
  return LAMELLA_OK;
}

lamella_status read(const Tensor* t, int64_t around, Bytes* out) {
  TensorRef host;
  out->resize(span(t) + 2 * around);
  if (lamella_status st = bytes_on_host(static_cast<int64_t>(out->size()), &host)) return st;
  if (lamella_status st = move_bytes(host.get(), as_bytes(t, around).get(), false)) return st;
  std::memcpy(out->data(), host->dl.data, out->size());
  return LAMELLA_OK;
}

// Makes a tensor with the geometry of `like`, between two guards that hold the pattern.
lamella_status guarded(const Tensor* like, TensorRef* out) {
  const int64_t bytes = span(like) + 2 * guard;
  TensorRef host;
  core::Storage* s;
  if (lamella_status st = bytes_on_host(bytes, &host)) return st;
  std::memset(host->dl.data, pattern, bytes);
  if (lamella_status st = core::new_storage(bytes, like->device(), static_cast<core::DType>(like->dtype), &s))
    return st;
  TensorRef made = TensorRef::steal(core::tensor_over(s, like->ndim(), like->sizes(), like->strides(),
                                                      guard / core::itemsize(like->dtype), like->dtype));
  core::release(s);
  if (lamella_status st = move_bytes(as_bytes(made.get(), guard).get(), host.get(), false)) return st;
  *out = std::move(made);
  return LAMELLA_OK;
}

// A tensor before the kernel runs: same_description() and same_elements() compare it with the tensor afterwards.
class TensorSnapshot {
 public:
  explicit TensorSnapshot(const Tensor* t) : t_(t), data_(t->dl.data), dtype_(t->dtype), numel_(t->numel) {
    sizes_.assign(t->sizes(), t->sizes() + t->ndim());
    strides_.assign(t->strides(), t->strides() + t->ndim());
  }
  lamella_status read_elements() {
    holds_ = has_memory(t_);
    return holds_ ? read(t_, 0, &elements_) : LAMELLA_OK;
  }
  const Tensor* tensor() const { return t_; }
  bool same_description() const {
    return t_->dl.data == data_ && t_->dtype == dtype_ && t_->numel == numel_ &&
           has_shape(t_, static_cast<int>(sizes_.size()), sizes_.data()) &&
           std::equal(strides_.begin(), strides_.end(), t_->strides());
  }
  lamella_status same_elements(bool* same) const {
    Bytes now;
    if (holds_)
      if (lamella_status st = read(t_, 0, &now)) return st;
    *same = now == elements_;
    return LAMELLA_OK;
  }

 private:
  const Tensor* t_;
  void* data_;
  uint8_t dtype_;
  int64_t numel_;
  std::vector<int64_t> sizes_, strides_;
  Bytes elements_;
  bool holds_ = false;
};

// Runs one call of one kernel between the checks.
class Run {
 public:
  Run(lamella_frame& f, const Checked& c, const Value* args, Value* rets)
      : f_(f), checked_(c), args_(args), rets_(rets), info_(*static_cast<const Table*>(f.table)->info) {}

  lamella_status operator()() {
    lamella_status st;
    try {
      st = run();
    } catch (...) {
      give_back(false);
      throw;
    }
    give_back(st == LAMELLA_OK);
    return st;
  }

 private:
  struct Output {
    Value ours = core::none();  // the dispatcher's output, which the caller gets
    TensorRef kept;             // a reference to `ours`: a kernel may release it
    TensorRef guarded;          // given to the kernel instead of `ours`, if that has memory of its own
    std::vector<TensorSnapshot> before;

    const Tensor* given() const { return guarded ? guarded.get() : kept.get(); }  // the tensor that the kernel got
  };

  lamella_status run() {
    if (lamella_status st = prepare()) return st;
    f_.context = checked_.entry.context;
    lamella_status st = checked_.entry(f_, args_, rets_);
    if (!st) st = wait();
    if (!st) st = check_arguments();
    for (int i = 0; i < info_.nrets && !st; i++) st = check_result(i);
    return st;
  }
  bool shares(const Tensor* t, uint64_t among) const {
    bool found = false;
    each_tensor(info_, args_, [&](int at, const Tensor* a) { found |= (among >> at & 1) && a->storage == t->storage; });
    return found;
  }
  lamella_status prepare() {
    outputs_.resize(info_.nrets);
    for (int i = 0; i < info_.nrets; i++) {
      Output& o = outputs_[i];
      o.ours = rets_[i];
      if (rets_[i].tag != LAMELLA_TENSOR) continue;
      Tensor* t = full(rets_[i].as.tensor);
      o.kept = TensorRef::borrow(t);
      if (has_memory(t) && !shares(t, ~uint64_t{0})) {
        if (lamella_status st = guarded(t, &o.guarded)) return st;
        rets_[i] = core::tensor_value(o.guarded.get());
        core::retain(o.guarded.get());
      }
      o.before.emplace_back(o.given());
    }
    lamella_status st = LAMELLA_OK;
    each_tensor(info_, args_, [&](int at, const Tensor* t) {
      if (st || (info_.written >> at & 1) || shares(t, info_.written)) return;
      arguments_.emplace_back(at, TensorSnapshot(t));
      st = arguments_.back().second.read_elements();
    });
    return st;
  }
  lamella_status wait() const {
    const lamella_backend* b = core::backend(f_.device.backend);
    if (!b || !b->synchronize) return LAMELLA_OK;
    return core::from_backend(b->synchronize(b->context, f_.device.index), f_.device, "waiting");
  }
  lamella_status fault(const std::string& what) const {
    return core::raise(LAMELLA_RUNTIME_ERROR, operator_title(f_.op) + ": the kernel of " + checked_.owner +
                                                  " for device '" + core::device_name(f_.device) + "' " + what);
  }
  lamella_status check_arguments() const {
    for (const auto& [at, watched] : arguments_) {
      bool same;
      if (lamella_status st = watched.same_elements(&same)) return st;
      if (!same || !watched.same_description())
        return fault("has changed its argument '" + f_.op->schema.load()->args[at].name + "'");
    }
    return LAMELLA_OK;
  }
  // Python's kernels return tensors of their own, which become the results. A kernel must not replace a tensor of the
  // caller.
  bool may_replace() const { return info_.form == Form::Functional && !info_.written; }
  lamella_status check_result(int i) {
    Output& o = outputs_[i];
    const std::string which = info_.nrets > 1 ? "result " + std::to_string(i) : "its result";
    if (rets_[i].tag != LAMELLA_TENSOR)
      return o.before.empty() ? LAMELLA_OK : fault("has taken away " + which + ", which was allocated for it");
    const Tensor* got = full(rets_[i].as.tensor);
    const bool ruled = static_cast<const Table*>(f_.table)->infer != nullptr;
    const lamella_device there = o.kept ? o.kept->device() : f_.device;
    if (ruled && !core::same_device(got->device(), there))
      return fault("has put a tensor of device '" + core::device_name(got->device()) + "' in place of " + which);
    if (!o.kept) return LAMELLA_OK;
    if (got->dtype != o.kept->dtype || !has_shape(got, o.kept->ndim(), o.kept->sizes()))
      return fault("has put " + core::describe(rets_[i]) + " in place of " + which + ", " + core::describe(o.ours));
    if (got != o.given())
      return may_replace() ? LAMELLA_OK
                           : fault("has put another tensor in place of " + which + ", which it writes into");
    if (!o.before[0].same_description()) return fault("has changed the strides or the memory of " + which);
    return o.guarded ? take_elements(o, which) : LAMELLA_OK;
  }
  lamella_status take_elements(const Output& o, const std::string& which) const {
    Bytes all;
    if (lamella_status st = read(o.guarded.get(), guard, &all)) return st;
    const auto broken = [](uint8_t byte) { return byte != pattern; };
    if (std::any_of(all.begin(), all.begin() + guard, broken)) return fault("has written before " + which);
    if (std::any_of(all.end() - guard, all.end(), broken)) return fault("has written past the end of " + which);
    return move_bytes(as_bytes(full(o.ours.as.tensor), 0).get(), as_bytes(o.guarded.get(), 0).get(), false);
  }
  // Puts the dispatcher's outputs back in place of the guarded ones. A result by which the kernel replaced its output
  // stays after success; the kernel has released the output that it replaced.
  void give_back(bool good) {
    for (int i = 0; i < static_cast<int>(outputs_.size()); i++) {
      Output& o = outputs_[i];
      if (!o.kept) continue;
      const bool replaced = rets_[i].tag != LAMELLA_TENSOR || rets_[i].as.tensor != o.given();
      if (replaced && good) {
        if (o.guarded) core::release_value(o.ours);
      } else if (replaced || o.guarded) {
        core::release_value(rets_[i]);
        if (!o.guarded) core::retain(o.kept.get());
        rets_[i] = o.ours;
      }
    }
  }

  lamella_frame& f_;
  const Checked& checked_;
  const Value* args_;
  Value* rets_;
  const CallInfo& info_;
  std::vector<Output> outputs_;
  std::vector<std::pair<int, TensorSnapshot>> arguments_;
};

lamella_status run_checked(lamella_frame* f, const Value* args, Value* rets) {
  return Run(*f, *static_cast<const Checked*>(f->context), args, rets)();
}

}  // namespace

Entry checked(const Entry& e, const std::string& owner) {
  static const bool on = [] {
    const char* setting = std::getenv("LAMELLA_CHECK_KERNELS");
    return setting && !std::strcmp(setting, "1");
  }();
  if (!on || !e.fn || e.fn == missing_kernel || (e.flags & composite)) return e;
  return {run_checked, new Checked{e, owner}, e.flags};  // never freed, as the table
}

}  // namespace lamella::dispatcher
