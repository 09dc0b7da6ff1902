// Placement: chooses the device that serves a call.
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::dispatcher {

// Visits every tensor argument with its position, also tensors in lists.
template <class Visit>
void each_tensor(const CallInfo& info, const Value* args, Visit visit) {
  for (int i = 0; i < info.num_tensors; i++) {
    const Value& v = args[info.tensors[i]];
    if (v.tag == LAMELLA_TENSOR && v.as.tensor) visit(info.tensors[i], core::full(v.as.tensor));
  }
  for (int i = 0; i < info.num_lists; i++) {
    const Value& v = args[info.lists[i]];
    if (v.tag != LAMELLA_TENSOR_LIST) continue;
    for (uint32_t k = 0; k < v.length; k++)
      if (v.as.tensors[k]) visit(info.lists[i], core::full(v.as.tensors[k]));
  }
}

// Sets frame.device: an explicit device, else the common device of the tensors, else the thread's default, else the
// host. A zero-dim tensor on a host counts only if there are no other tensors. For an operator with
// form_between_devices or form_geometry it is the first tensor's device. If two tensors are on different devices, the
// error names both arguments.
lamella_status resolve_device(Frame&, const CallInfo&, const Value* args);
// Returns whether an argument decides the device of a call: a tensor, or an explicit device.
bool is_placed(const CallInfo&, const Value* args);
// Returns whether the first two arguments, both tensors, are on different devices.
bool crosses(const Value* args);

}  // namespace lamella::dispatcher
