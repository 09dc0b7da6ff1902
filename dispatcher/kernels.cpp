#include "dispatcher/kernels.h"

#include <algorithm>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/fill.h"
#include "dispatcher/keys.h"
#include "dispatcher/layer.h"
#include "dispatcher/operators.h"
#include "dispatcher/prepare.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

struct CategoryRegistration : Registration {
  std::string category;
};
std::vector<CategoryRegistration>& categories() {
  static auto* all = new std::vector<CategoryRegistration>;
  return *all;
}

Registration registration(const Library& lib, const std::string& key, const lamella_kernel_def& def, lamella_handle h) {
  return {h, key, def.kernel, def.context, def.flags, lib.owner, def.file ? def.file : "", def.line};
}

lamella_status find_for(const char* what, const Library& lib, const char* name, Operator** op) {
  const std::string full = name_within(lib, name);
  if ((*op = find_operator(full))) return LAMELLA_OK;
  const std::string packet = full.substr(0, full.find('.', full.find("::")));
  std::string there;
  for (const Operator* other : overloads_of(packet)) {
    if (other->form != Form::Functional) continue;
    there += (there.empty() ? "" : ", ") + other->full_name();
  }
  const bool in_place = packet.back() == '_' && !overloads_of(packet.substr(0, packet.size() - 1)).empty();
  const std::string advice = !there.empty() ? "name an overload: " + there
                             : in_place     ? packet.substr(0, packet.size() - 1) + " has no in-place form"
                                            : lib.owner + " must define it first";
  return core::raise(LAMELLA_RUNTIME_ERROR,
                     core::format("%s: there is no operator %s; %s", what, full.c_str(), advice.c_str()));
}

// Adapts a definition whose num_args says that it was written for fewer arguments than the operator has.
template <class Definition>
lamella_status adapted(Operator* op, const Library& lib, Definition* def) {
  if (def->num_args == 0) return LAMELLA_OK;
  if (lamella_status st = prepare(op)) return st;
  return adapt(op, lib.owner, def);
}

bool is_key_of_results(const std::string& key) {
  return key == "composite" || key == "backend" || core::backend_id(key.c_str()) >= 0;
}

}  // namespace

bool is_key(const std::string& key) {
  if (is_key_of_results(key) || layer_bit(key) >= 0) return true;
  const core::DType dtype = core::dtype_from_name(key.c_str());
  return dtype != LAMELLA_NO_DTYPE && !core::is_plain(dtype);
}

namespace {

// Returns why a kernel cannot have LAMELLA_KERNEL_ALL_FORMS; null if it can.
const char* unfit_for_all_forms(const Operator& op, const std::string& key, const lamella_kernel_def& def) {
  if (layer_bit(key) < 0 && is_key_of_results(key)) return "is for kernels of layers; a device's serves all forms";
  if (op.form != Form::Functional) return "is for kernels of functional forms";
  return def.num_args ? "goes with num_args 0, since the forms have various numbers of arguments" : nullptr;
}

void use_last_shape_rule(Operator* op) {
  for (Operator* o : {op, op->inplace, op->out})
    if (o) {
      o->infer = op->shape_rules.back().fn;
      o->infer_context = op->shape_rules.back().context;
      invalidate(o);
    }
}

}  // namespace

lamella_status register_kernel(Library& lib, const char* name, const char* spelled, lamella_kernel_def def,
                               lamella_handle* handle) {
  RegistryLock lock;
  Operator* op;
  std::string key;
  if (lamella_status st = read_key("kernel: argument 'key'", spelled, &key)) return st;
  if (lamella_status st = find_for("kernel", lib, name, &op)) return st;
  if (!def.kernel && layer_bit(key) < 0 && is_key_of_results(key))
    return core::raise(LAMELLA_VALUE_ERROR, "kernel: " + op->full_name() + ": the kernel for '" + key +
                                                "' is null; only the kernel of a layer may be null");
  if (def.flags & LAMELLA_KERNEL_ALL_FORMS)
    if (const char* why = unfit_for_all_forms(*op, key, def))
      return core::raise(LAMELLA_VALUE_ERROR,
                         "kernel: " + op->full_name() + " for '" + key + "': LAMELLA_KERNEL_ALL_FORMS " + why);
  if (lamella_status st = adapted(op, lib, &def)) return st;
  const lamella_handle h = enter(lib, [op](lamella_handle h) {
    erase_handle(op->kernels, h);
    invalidate(op);
  });
  op->kernels.push_back(registration(lib, key, def, h));
  invalidate(op);
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status register_category_kernel(Library& lib, const char* category, const char* spelled,
                                        const lamella_kernel_def& def, lamella_handle* handle) {
  RegistryLock lock;
  std::string key;
  if (lamella_status st = read_key("category_kernel: argument 'key'", spelled, &key)) return st;
  if (std::string(category) != every_category && !is_category(category))
    return core::raise(LAMELLA_VALUE_ERROR, std::string("category_kernel: there is no category '") + category + "'");
  if (def.num_args != 0)
    return core::raise(LAMELLA_VALUE_ERROR,
                       core::format("category_kernel: '%s': 'num_args' is %d; it must be 0, since the operators of a "
                                    "category have various numbers of arguments",
                                    category, def.num_args));
  const lamella_handle h = enter(lib, [](lamella_handle h) {
    erase_handle(categories(), h);
    invalidate_all();
  });
  categories().push_back({registration(lib, key, def, h), category});
  invalidate_all();
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status register_shape_rule(Library& lib, const char* name, lamella_shape_rule_def def, lamella_handle* handle) {
  RegistryLock lock;
  Operator* op;
  if (lamella_status st = find_for("shape_rule", lib, name, &op)) return st;
  if (lamella_status st = adapted(op, lib, &def)) return st;
  if (op->shape_rules.empty()) op->shape_rules.push_back({0, op->infer, op->infer_context});
  const lamella_handle h = enter(lib, [op](lamella_handle h) {
    erase_handle(op->shape_rules, h);
    use_last_shape_rule(op);
  });
  op->shape_rules.push_back({h, def.infer, def.context});
  use_last_shape_rule(op);
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status disable_kernel(Library& lib, const char* name, const char* spelled, lamella_handle* handle) {
  RegistryLock lock;
  Operator* op;
  std::string key;
  if (lamella_status st = read_key("disable_kernel: argument 'key'", spelled, &key)) return st;
  if (lamella_status st = find_for("disable_kernel", lib, name, &op)) return st;
  if (!is_key(key))
    return core::raise(LAMELLA_RUNTIME_ERROR, std::string("disable_kernel: argument 'key': there is no device and no "
                                                          "layer '") +
                                                  key + "'; expected one of them, 'backend' or 'composite'");
  const lamella_handle h = enter(lib, [op](lamella_handle h) {
    erase_handle(op->disabled, h);
    invalidate(op);
  });
  op->disabled.push_back({h, key});
  invalidate(op);
  if (handle) *handle = h;
  return LAMELLA_OK;
}

bool is_disabled(const Operator* op, const std::string& key) {
  const auto holds = [&](const Operator* o) {
    return o && std::any_of(o->disabled.begin(), o->disabled.end(), [&](const Switch& s) { return s.key == key; });
  };
  return holds(op) || holds(op->functional);
}

const Registration* find_kernel(const Operator* op, const std::string& key) {
  if (is_disabled(op, key)) return nullptr;
  for (auto r = op->kernels.rbegin(); r != op->kernels.rend(); ++r)
    if (r->key == key) return &*r;
  return nullptr;
}

void each_category_kernel(const std::function<void(const std::string&, const Registration&)>& visit) {
  for (const CategoryRegistration& r : categories()) visit(r.category, r);
}

const Registration* find_category_kernel(const Operator* op, const std::string& key, const std::string& category) {
  if (is_disabled(op, key)) return nullptr;
  for (auto r = categories().rbegin(); r != categories().rend(); ++r)
    if (r->key == key && r->category == category) return &*r;
  return nullptr;
}

}  // namespace lamella::dispatcher
