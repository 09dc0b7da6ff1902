#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

const Operator* Compose::find_callee(std::string_view name) {
  std::string base, overload;
  split_name("aten::" + std::string(name), &base, &overload);
  return Registry::get().find(base, overload);
}

void Compose::run(const Operator* op, Value* rets, const Value* args, size_t count) {
  if (status_) return;
  if (!op) {
    status_ = raise(LAMELLA_RUNTIME_ERROR,
                    operator_title(frame_->op) + ": its composite calls an operator that is not in the catalogue");
    return;
  }
  const Schema* schema = op->schema.load(std::memory_order_acquire);
  if (!schema) {
    if ((status_ = Registry::get().prepare(const_cast<Operator*>(op)))) return;
    schema = op->schema.load(std::memory_order_acquire);
  }
  const auto& declared = schema->args;
  Value all[most_args];
  std::copy(args, args + count, all);
  for (size_t i = count; i < declared.size(); i++) all[i] = declared[i].value;
  status_ = call(frame_, op, all, rets);
}

Var Compose::list(const std::vector<Var>& items) {
  if (status_) return nothing();
  std::vector<lamella_tensor*> tensors;
  tensors.reserve(items.size());
  for (const Var& v : items) tensors.push_back(v.tensor());
  return {this, core::retain_value(core::tensor_list(tensors.data(), static_cast<int64_t>(tensors.size())))};
}

}  // namespace lamella::dispatcher
