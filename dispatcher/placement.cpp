#include "dispatcher/placement.h"

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/explain.h"

namespace lamella::dispatcher {
namespace {

using core::full;
using core::Tensor;

lamella_status check_device(Frame& f) {
  const lamella_backend* b = core::backend(f.device.backend);
  if (__builtin_expect(b && f.device.index == 0 && !b->device_count, 1)) return LAMELLA_OK;
  if (f.device.backend == -1)
    return core::raise(LAMELLA_RUNTIME_ERROR, operator_title(f.op) +
                                                  ": no host backend is loaded, so there is no default "
                                                  "device; load the cpu plugin or pass device=");
  return core::check_device(operator_title(f.op), f.device);
}

// Finds the common device of tensors in general. Zero-dim tensors on a host count only if there are no others. Out of
// line, since every call would save the registers that it uses.
__attribute__((noinline)) lamella_status vote(Frame& f, const CallInfo& info, const Value* args) {
  const Tensor *voter = nullptr, *other = nullptr, *silent = nullptr;
  int voter_at = 0, other_at = 0;
  each_tensor(info, args, [&](int at, const Tensor* t) {
    if (t->ndim() == 0 && core::is_host(t->backend)) {
      silent = t;
    } else if (!voter) {
      voter = t;
      voter_at = at;
    } else if (!other && !core::same_device(voter->device(), t->device())) {
      other = t;
      other_at = at;
    }
  });
  if (other) return device_clash(f, voter_at, other_at, voter, other);
  if (!voter) voter = silent;
  if (voter) {
    f.device = voter->device();
    return LAMELLA_OK;
  }
  f.device = f.thread->default_device;
  if (f.device.backend < 0) f.device = {core::host_backend(), 0};
  return check_device(f);
}

}  // namespace

bool is_placed(const CallInfo& info, const Value* args) {
  bool placed = info.device >= 0 && args[info.device].tag == LAMELLA_DEVICE;
  each_tensor(info, args, [&placed](int, const Tensor*) { placed = true; });
  return placed;
}

bool crosses(const Value* args) {
  return !core::same_device(full(args[0].as.tensor)->device(), full(args[1].as.tensor)->device());
}

lamella_status resolve_device(Frame& f, const CallInfo& info, const Value* args) {
  if (info.device >= 0 && args[info.device].tag == LAMELLA_DEVICE) {
    f.device = args[info.device].as.device;
    return check_device(f);
  }
  if (__builtin_expect(info.first_decides, 0)) {
    f.device = full(args[0].as.tensor)->device();
    return check_device(f);
  }
  // The usual case: all tensors on one device.
  if (info.num_lists == 0 && info.num_tensors > 0 && args[info.tensors[0]].tag == LAMELLA_TENSOR) {
    const Tensor* first = full(args[info.tensors[0]].as.tensor);
    bool same = true;
    for (int i = 1; i < info.num_tensors; i++) {
      const Value& v = args[info.tensors[i]];
      if (v.tag == LAMELLA_TENSOR) same &= v.as.tensor->device_key == first->device_key;
    }
    if (same) {
      f.device = first->device();
      return LAMELLA_OK;
    }
  }
  return vote(f, info, args);
}

}  // namespace lamella::dispatcher
