#include "dispatcher/explain.h"

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/kernels.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {

std::string where(const lamella_frame* f, int arg) {
  const Schema* s = f->op->schema.load(std::memory_order_acquire);
  std::string name = s && arg < static_cast<int>(s->args.size()) ? s->args[arg].name : std::to_string(arg);
  return operator_title(f->op) + ": argument '" + name + "'";
}

lamella_status device_clash(lamella_frame& f, int first, int second, const core::Tensor* a, const core::Tensor* b) {
  return core::raise(
      LAMELLA_RUNTIME_ERROR,
      core::format("%s: '%s' is on %s, but '%s' is on %s; move one with .to(...)", operator_title(f.op).c_str(),
                   f.op->schema.load()->args[first].name.c_str(), core::device_name(a->device()).c_str(),
                   f.op->schema.load()->args[second].name.c_str(), core::device_name(b->device()).c_str()));
}

lamella_status declined_by_all(lamella_frame& f) {
  return core::raise(
      LAMELLA_NOT_IMPLEMENTED,
      core::format("%s: the kernel of device '%s' declined this call, and nothing else there serves it%s",
                   operator_title(f.op).c_str(), core::device_name(f.device).c_str(),
                   core::is_host(f.device.backend) ? "" : "; move the tensors with .to('cpu')"));
}

lamella_status dynamic_without_kernel(lamella_frame& f) {
  return core::raise(LAMELLA_NOT_IMPLEMENTED, operator_title(f.op) +
                                                  ": the shape of its result depends on the data, and device '" +
                                                  core::device_name(f.device) + "' has no kernel to compute it");
}

lamella_status unknown_bits(const lamella_frame& f, const lamella_meta& m) {
  return core::raise(LAMELLA_VALUE_ERROR,
                     core::format("%s: its shape rule sets 'flags' to %d; 7 is the largest that is known",
                                  operator_title(f.op).c_str(), m.flags));
}

lamella_status missing_kernel(lamella_frame* f, const core::Value*, core::Value*) {
  const Operator* op = f->op;
  std::string have;
  RegistryLock lock;
  const Operator* meaning = op->functional ? op->functional : op;
  for (const Registration& r : meaning->kernels) {
    const bool off = is_disabled(op, r.key);
    have += (have.empty() ? "" : ", ") + ("'" + r.key + "'") + " (" + r.owner + (off ? ", disabled)" : ")");
  }
  std::string device = core::device_name(f->device);
  std::string message = operator_title(op) + ": no kernel for device '" + device + "'";
  message += have.empty() ? "; no library has registered one" : "; there are kernels for " + have;
  if (!core::backend(f->device.backend))
    message += "; the backend was withdrawn";
  else if (core::is_host(f->device.backend))
    message += "; load a plugin that brings one";
  else
    message += "; install a plugin that brings one, or move the tensors with .to('cpu')";
  return core::raise(LAMELLA_NOT_IMPLEMENTED, message);
}

}  // namespace lamella::dispatcher
