#include "dispatcher/keys.h"

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/fill.h"
#include "dispatcher/layer.h"
#include "dispatcher/operators.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

// Kernels are registered under the names of layers and devices.
lamella_status check_key(const char* what, const std::string& name) {
  if (!name.empty() && name.find(':') == std::string::npos && name != "backend" && name != "composite" &&
      name != "default")
    return LAMELLA_OK;
  return core::raise(LAMELLA_VALUE_ERROR,
                     std::string(what) +
                         ": the name must have no colon, which begins a device's index, and be neither "
                         "empty nor 'backend', 'composite' or 'default', which are other keys; got '" +
                         name + "'");
}

}  // namespace

lamella_status register_layer(Library& lib, const lamella_layer& desc, int32_t* bit, lamella_handle* handle) {
  RegistryLock lock;
  int32_t b;
  if (lamella_status st = check_key("layer", desc.name)) return st;
  if (lamella_status st = add_layer(desc, lib.owner, &b)) return st;
  lamella_handle h = enter(lib, [b](lamella_handle) {
    remove_layer(b);
    invalidate_all();
  });
  invalidate_all();
  if (bit) *bit = b;
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status include_layers(Library& lib, uint64_t bits, lamella_handle* handle) {
  RegistryLock lock;
  for (uint64_t left = bits; left; left &= left - 1)
    if (const Layer* l = layer(__builtin_ctzll(left)); !l || !l->live)
      return core::raise(LAMELLA_VALUE_ERROR, core::format("process_include: no layer has bit %d of %llx",
                                                           __builtin_ctzll(left), (unsigned long long)bits));
  std::vector<Inclusion> on;
  for (uint64_t left = bits; left; left &= left - 1) on.push_back(include_in_process(__builtin_ctzll(left)));
  const lamella_handle h = enter(lib, [on](lamella_handle) {
    for (const Inclusion& i : on) end_inclusion(i);
  });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status register_backend(Library& lib, const lamella_backend& desc, int32_t* id, lamella_handle* handle) {
  RegistryLock lock;
  int32_t i;
  if (lamella_status st = check_key("backend", desc.name)) return st;
  if (!desc.allocator || !desc.allocator->alloc || !desc.allocator->free)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("backend ") + desc.name + ": it has no allocator");
  if (!(desc.flags & LAMELLA_BACKEND_HOST) && !desc.copy)
    return core::raise(LAMELLA_VALUE_ERROR,
                       std::string("backend ") + desc.name + ": a backend that is not a host needs 'copy'");
  if (lamella_status st = core::add_backend(desc, lib.owner, &i)) return st;
  lamella_handle h = enter(lib, [i](lamella_handle) {
    core::remove_backend(i);
    invalidate_all();
  });
  for (Operator* op : known_operators())  // kernels may have waited for this device
    for (const Registration& r : (op->functional ? op->functional : op)->kernels)
      if (r.key == desc.name) invalidate(op);
  if (id) *id = i;
  if (handle) *handle = h;
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
