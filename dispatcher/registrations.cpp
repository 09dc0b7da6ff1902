// What is registered for operators and beside them: kernels, shape rules, layers, backends, rules, interfaces; and its
// withdrawal.
#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/load.h"
#include "dispatcher/registry.h"

namespace lamella::dispatcher {
namespace {

using Lock = RegistryLock;

std::string qualified(const Library& lib, const std::string& name) {
  return name.find("::") == std::string::npos ? lib.ns + "::" + name : chosen_name(name);
}

template <class List>
void remove_handle(List& list, lamella_handle h) {
  list.erase(std::remove_if(list.begin(), list.end(), [h](const auto& r) { return r.handle == h; }), list.end());
}

// Where the caller says for how many arguments something was written.
template <class Definition>
lamella_status adapted(Operator* op, const Library& lib, Definition* def) {
  if (def->num_args == 0) return LAMELLA_OK;
  if (lamella_status st = Registry::get().prepare(op)) return st;
  return adapt(op, lib.owner, def);
}

}  // namespace

lamella_status Registry::kernel(Library& lib, const char* name, const char* key, lamella_kernel_def def,
                                lamella_handle* handle) {
  Lock lock(mutex_);
  std::string base, overload;
  split_name(qualified(lib, name), &base, &overload);
  Operator* op = find(base, overload);
  if (!op)
    return core::raise(LAMELLA_RUNTIME_ERROR, core::format("kernel: there is no operator %s; %s must define it first",
                                                           qualified(lib, name).c_str(), lib.owner.c_str()));
  if (!def.kernel && layer_bit(key) < 0 &&
      (key == std::string("composite") || key == std::string("backend") || core::backend_id(key) >= 0))
    return core::raise(LAMELLA_VALUE_ERROR, "kernel: " + op->full_name() + ": the kernel for '" + key +
                                                "' is null; only a layer is fallen through");
  if (lamella_status st = adapted(op, lib, &def)) return st;
  lamella_handle h = add_handle(lib, nullptr);
  op->kernels.push_back({h, key, def.kernel, def.context, def.flags, lib.owner, def.file ? def.file : "", def.line});
  undo_[h] = [this, op, h] {
    remove_handle(op->kernels, h);
    invalidate(op);
  };
  invalidate(op);
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status Registry::category_kernel(Library& lib, const char* category, const char* key,
                                         const lamella_kernel_def& def, lamella_handle* handle) {
  static const char* const known[] = {"pointwise",     "reduction", "scan",   "view",   "creation",    "copy",
                                      "indexing",      "scatter",   "sort",   "matmul", "convolution", "pooling",
                                      "normalization", "random",    "linalg", "fft",    "dynamic",     "host"};
  Lock lock(mutex_);
  if (std::string(category) != every_category && std::none_of(std::begin(known), std::end(known), [&](const char* c) {
        return !std::string(c).compare(category);
      }))
    return core::raise(LAMELLA_VALUE_ERROR, std::string("category_kernel: there is no category '") + category + "'");
  if (def.num_args != 0)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("category_kernel: '") + category +
                                                "': 'num_args' must be 0: its operators have various numbers");
  lamella_handle h = add_handle(lib, nullptr);
  CategoryRegistration r;
  static_cast<Registration&>(r) = {
      h, key, def.kernel, def.context, def.flags, lib.owner, def.file ? def.file : "", def.line};
  r.category = category;
  categories_.push_back(r);
  undo_[h] = [this, h] {
    remove_handle(categories_, h);
    invalidate_all();
  };
  invalidate_all();
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status Registry::shape_rule(Library& lib, const char* name, lamella_shape_rule_def def,
                                    lamella_handle* handle) {
  Lock lock(mutex_);
  std::string base, overload;
  split_name(qualified(lib, name), &base, &overload);
  Operator* op = find(base, overload);
  if (!op) return core::raise(LAMELLA_RUNTIME_ERROR, "shape_rule: there is no operator " + qualified(lib, name));
  if (lamella_status st = adapted(op, lib, &def)) return st;
  auto use_last = [this, op] {
    for (Operator* o : {op, op->inplace, op->out})
      if (o) {
        o->infer = op->shape_rules.back().fn;
        o->infer_context = op->shape_rules.back().context;
        invalidate(o);
      }
  };
  if (op->shape_rules.empty()) op->shape_rules.push_back({0, op->infer, op->infer_context});
  lamella_handle h = add_handle(lib, nullptr);
  op->shape_rules.push_back({h, def.infer, def.context});
  undo_[h] = [op, h, use_last] {
    remove_handle(op->shape_rules, h);
    use_last();
  };
  use_last();
  if (handle) *handle = h;
  return LAMELLA_OK;
}

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

lamella_status Registry::layer(Library& lib, const lamella_layer& desc, int32_t* bit, lamella_handle* handle) {
  Lock lock(mutex_);
  int32_t b;
  if (lamella_status st = check_key("layer", desc.name)) return st;
  if (lamella_status st = add_layer(desc, lib.owner, &b)) return st;
  lamella_handle h = add_handle(lib, [this, b] {
    remove_layer(b);
    invalidate_all();
  });
  invalidate_all();
  if (bit) *bit = b;
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status Registry::backend(Library& lib, const lamella_backend& desc, int32_t* id, lamella_handle* handle) {
  Lock lock(mutex_);
  int32_t i;
  if (lamella_status st = check_key("backend", desc.name)) return st;
  if (!desc.allocator || !desc.allocator->alloc || !desc.allocator->free)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("backend ") + desc.name + ": it has no allocator");
  if (!(desc.flags & LAMELLA_BACKEND_HOST) && (!desc.copy_from_host || !desc.copy_to_host) &&
      std::string(desc.name) != "meta")
    return core::raise(LAMELLA_VALUE_ERROR, std::string("backend ") + desc.name +
                                                ": a backend that is not a host needs copy_from_host and copy_to_host");
  if (lamella_status st = core::add_backend(desc, lib.owner, &i)) return st;
  lamella_handle h = add_handle(lib, [this, i] {
    core::remove_backend(i);
    invalidate_all();
  });
  for (Operator* op : order_)  // kernels may have waited for this device
    for (const Registration& r : (op->functional ? op->functional : op)->kernels)
      if (r.key == desc.name) invalidate(op);
  if (id) *id = i;
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status Registry::rule(Library& lib, const char* op, const char* layer, void* payload, void (*destroy)(void*),
                              lamella_handle* handle) {
  Lock lock(mutex_);
  const std::string name = qualified(lib, op);
  const auto changed = [this, name] {
    std::string base, overload;
    split_name(name, &base, &overload);
    if (Operator* o = find(base, overload)) invalidate(o);  // else it comes later
  };
  lamella_handle h = add_handle(lib, nullptr);
  rules_[name].push_back({h, layer, lib.owner, payload, destroy});
  undo_[h] = [this, h, name, changed] {
    for (Rule& r : rules_[name])
      if (r.handle == h && r.destroy) r.destroy(r.payload);
    remove_handle(rules_[name], h);
    changed();
  };
  changed();
  if (handle) *handle = h;
  return LAMELLA_OK;
}

const Registry::Rule* Registry::rule_of(const Operator* op, const std::string& layer) const {
  const auto known = rules_.find(op->full_name());
  if (known == rules_.end()) return nullptr;
  for (auto r = known->second.rbegin(); r != known->second.rend(); ++r)
    if (r->layer == layer) return &*r;
  return nullptr;
}

void* Registry::find_rule(const Operator* op, const char* layer) {
  Lock lock(mutex_);
  const Rule* r = rule_of(op, layer);
  return r ? r->payload : nullptr;
}

lamella_status Registry::publish_interface(Library& lib, const char* name, uint32_t version, const void* table,
                                           lamella_handle* handle) {
  Lock lock(mutex_);
  for (const Interface& i : interfaces_)
    if (i.name == name)
      return core::raise(LAMELLA_RUNTIME_ERROR, "interface: the name '" + i.name + "' is taken by " + i.owner + "; " +
                                                    lib.owner + " cannot publish it too");
  lamella_handle h = add_handle(lib, nullptr);
  interfaces_.push_back({h, name, lib.owner, version, table});
  undo_[h] = [this, h] { remove_handle(interfaces_, h); };
  if (handle) *handle = h;
  return LAMELLA_OK;
}

const void* Registry::find_interface(const char* name, uint32_t min_version) {
  Lock lock(mutex_);
  for (const Interface& i : interfaces_)
    if (i.name == name && i.version >= min_version) return i.table;
  return nullptr;
}

lamella_status Registry::withdraw(lamella_handle h) {
  Lock lock(mutex_);
  auto it = undo_.find(h);
  if (it == undo_.end())
    return core::raise(LAMELLA_VALUE_ERROR,
                       core::format("withdraw: %llu is no live registration", (unsigned long long)h));
  auto undo = std::move(it->second);
  undo_.erase(it);
  undo();
  return LAMELLA_OK;
}

void Registry::close(Library* lib) {
  Lock lock(mutex_);
  if (!lib->open) return;
  lib->open = false;
  for (size_t i = lib->handles.size(); i-- > 0;)
    if (undo_.count(lib->handles[i])) withdraw(lib->handles[i]);
  if (const auto defined = definers_.find(lib->ns); defined != definers_.end() && defined->second == lib)
    definers_.erase(defined);
  lib->handles = {};
}

}  // namespace lamella::dispatcher
