#include "frontend/binding/returned.h"

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/explain.h"
#include "dispatcher/operators.h"
#include "dispatcher/placement.h"

namespace lamella::binding {

int shared_argument(const lamella_frame* f, const lamella_value* args, const core::Tensor* t) {
  int found = -1;
  if (t->opaque() || t->numel == 0) return found;  // what an opaque tensor shares is its layer's business
  dispatcher::each_tensor(f->op->info, args, [&](int at, const core::Tensor* given) {
    if (found < 0 && given->storage == t->storage) found = at;
  });
  return found;
}

lamella_status check_returned(const lamella_frame* f, const lamella_value* args, const lamella_value& result,
                              const core::Tensor* want, bool fresh) {
  const bool one = result.tag == LAMELLA_TENSOR;
  if (!one && result.tag != LAMELLA_TENSOR_LIST) return LAMELLA_OK;
  const auto refuse = [f](const std::string& wrong) {
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       dispatcher::operator_title(f->op) + ": the Python kernel returned " + wrong);
  };
  const bool placed = want || dispatcher::is_placed(f->op->info, args);
  const lamella_device there = want ? want->device() : f->device;  // a view is on the device of its argument
  for (uint32_t i = 0; i < (one ? 1 : result.length); i++) {
    const core::Tensor* t = core::full(one ? result.as.tensor : result.as.tensors[i]);
    if (t && placed && !core::same_device(t->device(), there))
      return refuse("a tensor of device '" + core::device_name(t->device()) + "', but the call is on '" +
                    core::device_name(there) + "'");
  }
  const int shared = one && fresh ? shared_argument(f, args, core::full(result.as.tensor)) : -1;
  if (shared < 0) return LAMELLA_OK;
  return refuse("memory of its argument '" + f->op->schema.load()->args[shared].name +
                "'; it must return a new tensor, such as that one's clone()");
}

}  // namespace lamella::binding
