#include "dispatcher/registry.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/load.h"
#include "dispatcher/pointwise.h"

namespace lattis::dispatcher {
namespace {

using Lock = RegistryLock;

std::string qualified(const Library& lib, const std::string& name) {
  return name.find("::") == std::string::npos ? lib.ns + "::" + name : chosen_name(name);
}

template <class List>
void remove_handle(List& list, lattis_handle h) {
  list.erase(std::remove_if(list.begin(), list.end(), [h](const auto& r) { return r.handle == h; }), list.end());
}

}  // namespace

void split_name(const std::string& full, std::string* name, std::string* overload) {
  size_t dot = full.find('.', full.find("::") == std::string::npos ? 0 : full.find("::"));
  *name = full.substr(0, dot);
  *overload = dot == std::string::npos ? "" : full.substr(dot + 1);
}

Registry& Registry::get() {
  static Registry* r = new Registry;  // outlives every static destructor
  return *r;
}

lattis_status Registry::open(const lattis_library_def& def, Library** out) {
  Lock lock(mutex_);
  const std::string ns = def.ns, owner = def.owner;
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (ns.empty() || std::isdigit(static_cast<unsigned char>(ns[0])) || !std::all_of(ns.begin(), ns.end(), letter))
    return core::raise(LATTIS_VALUE_ERROR, "library: argument 'ns' must be an identifier, got '" + ns + "'");
  if (const auto taken = definers_.find(ns); def.kind == LATTIS_DEFINES && taken != definers_.end())
    return core::raise(LATTIS_RUNTIME_ERROR,
                       "library: the namespace '" + ns + "' is defined by " + taken->second->owner + "; " + owner +
                           " cannot define it too: add to it as a fragment, or take a name of its own, as " + ns +
                           "_v2");
  *out = new Library{ns, owner, def.kind, def.version};
  if (def.kind == LATTIS_DEFINES) definers_[ns] = *out;
  return LATTIS_OK;
}

lattis_handle Registry::add_handle(Library& lib, std::function<void()> undo) {
  Lock lock(mutex_);
  lattis_handle h = next_handle_++;
  undo_[h] = std::move(undo);
  lib.handles.push_back(h);
  return h;
}

// ---- operators --------------------------------------------------------------------------------------------

Operator* Registry::find(const std::string& name, const std::string& overload) {
  Lock lock(mutex_);
  auto it = operators_.find(name);
  if (it != operators_.end())
    for (Operator* op : it->second)
      if (op->live && op->overload == overload) return op;
  return nullptr;
}

std::vector<Operator*> Registry::overloads(const std::string& name) {
  Lock lock(mutex_);
  std::vector<Operator*> v;
  auto it = operators_.find(name);
  if (it != operators_.end())
    for (Operator* op : it->second)
      if (op->live) v.push_back(op);
  return v;
}

std::vector<Operator*> Registry::all() {
  Lock lock(mutex_);
  std::vector<Operator*> v;
  for (Operator* op : order_)
    if (op->live) v.push_back(op);
  return v;
}

Operator* Registry::derive(Operator* from, Form form) {
  auto* op = new Operator;
  bool inplace = form == Form::Inplace;
  op->base = from->base + (inplace ? "_" : "");
  op->name = from->name + (inplace ? "_" : "");
  bool plain = from->overload.empty() || from->overload == "Tensor";
  if (plain && !inplace)  // clamp and clamp.Tensor: the second one's is clamp.Tensor_out
    for (const Operator* o : operators_[op->name]) plain &= o->overload != "out" || !o->live;
  op->overload = inplace ? from->overload : plain ? "out" : from->overload + "_out";
  op->form = form;
  op->functional = from;
  op->category = from->category;
  op->doc = from->doc;
  op->owner = from->owner;
  op->file = from->file;
  op->line = from->line;
  op->forms = from->forms & ~(LATTIS_FORM_INPLACE | LATTIS_FORM_OUT);
  op->infer = from->infer;
  op->infer_context = from->infer_context;
  op->pointwise = from->pointwise;
  operators_[op->name].push_back(op);
  order_.push_back(op);
  return op;
}

lattis_status Registry::define(Library& lib, const lattis_operator_def& def, bool lazily, lattis_handle* handle) {
  Lock lock(mutex_);
  std::string ns, name, overload;
  if (lattis_status st = parse_name(def.schema, lib.ns, &ns, &name, &overload)) return st;
  auto full = ns + "::" + name;
  if (lib.kind == LATTIS_IMPLEMENTS)
    return core::raise(LATTIS_RUNTIME_ERROR, "define: " + full + ": the library of " + lib.owner + " for '" + lib.ns +
                                                 "' is of kind IMPL, which registers kernels only");
  if (Operator* old = find(full, overload))
    return core::raise(LATTIS_RUNTIME_ERROR,
                       core::format("define: the operator %s is already defined by %s; %s cannot define it too",
                                    old->full_name().c_str(), old->owner.c_str(), lib.owner.c_str()));
  if (ns != lib.ns)
    return core::raise(LATTIS_VALUE_ERROR,
                       "define: " + full + " is outside the namespace '" + lib.ns + "' of the library of " + lib.owner);
  if (def.pointwise && (def.pointwise->inputs < 1 || def.pointwise->inputs > 3 || def.pointwise->params > 3))
    return core::raise(
        LATTIS_VALUE_ERROR,
        core::format("define: %s declares %d inputs and %d parameters; a pointwise operator has 1 to 3 and at most 3",
                     full.c_str(), def.pointwise->inputs, def.pointwise->params));
  auto* op = new Operator;
  op->name = full;
  op->base = name;
  op->overload = overload;
  op->schema_text = def.schema;
  op->category = def.category ? def.category : "";
  op->doc = def.doc ? def.doc : "";
  op->owner = lib.owner;
  op->file = def.file ? def.file : "";
  op->line = def.line;
  op->forms = def.forms;
  op->infer = def.infer;
  op->infer_context = def.infer_context;
  if (def.pointwise) {
    auto* meaning = new lattis_pointwise(*def.pointwise);  // an operator lives for ever, and so do its texts
    meaning->expression = strdup(meaning->expression);
    if (meaning->fault) meaning->fault = strdup(meaning->fault);
    op->pointwise = meaning;
    if (op->category.empty()) op->category = "pointwise";
    if (!op->infer) {
      op->infer = infer_pointwise;
      op->infer_context = meaning;
    }
  }
  if (!lazily) {
    if (lattis_status st = prepare(op)) {
      delete op;
      return st;
    }
  }
  if (Operator* twin = lazily ? nullptr : withdrawn_twin(*op)) {
    delete op->schema.load();
    delete op;
    op = twin;
  } else {
    operators_[full].push_back(op);
    order_.push_back(op);
    if (def.forms & LATTIS_FORM_INPLACE) op->inplace = derive(op, Form::Inplace);
    if (def.forms & LATTIS_FORM_OUT) op->out = derive(op, Form::Out);
  }
  const lattis_handle h = add_operator(lib, op);
  lib.defines = true;
  if (handle) *handle = h;
  return LATTIS_OK;
}

// An operator that is defined again as it was before its withdrawal is the same one, for whoever kept it; so a cell of
// a notebook that runs a thousand times leaves one operator, not a thousand. Only what people read of it may be new.
Operator* Registry::withdrawn_twin(const Operator& op) {
  for (Operator* old : operators_[op.name]) {
    const bool same = !old->live && old->form == Form::Functional && old->overload == op.overload &&
                      old->schema_text == op.schema_text && old->category == op.category && old->forms == op.forms &&
                      old->infer == op.infer && old->infer_context == op.infer_context && !old->pointwise &&
                      !op.pointwise && old->shape_rules.size() <= 1;
    if (!same) continue;
    for (Operator* o : {old, old->inplace, old->out})
      if (o) {
        o->live = true;
        o->doc = op.doc;
        o->owner = op.owner;
        o->file = op.file;
        o->line = op.line;
      }
    return old;
  }
  return nullptr;
}

lattis_handle Registry::add_operator(Library& lib, Operator* op) {
  return add_handle(lib, [this, op] {
    for (Operator* o : {op, op->inplace, op->out})
      if (o) {
        o->live = false;
        invalidate(o);
      }
  });
}

// ---- schemas on first use -----------------------------------------------------------------------------------

namespace {

void derive_schema(const Operator* op, const Schema& from, Schema& s) {
  s = from;
  for (Argument& a : s.args) a.value = core::retain_value(a.value);
  s.name = op->base;
  s.overload = op->overload;
  if (op->form == Form::Inplace) {
    s.args[0].alias = {"a", "a", true};
    s.rets.resize(1);
    s.rets[0].alias = s.args[0].alias;
    s.rets[0].name.clear();
    return;
  }
  for (size_t i = 0; i < s.rets.size(); i++) {
    Argument out;
    out.name = s.rets.size() == 1 ? "out" : s.rets[i].name.empty() ? "out" + std::to_string(i) : s.rets[i].name;
    out.type.kind = Kind::Tensor;
    out.type.text = "Tensor";
    std::string letter(1, static_cast<char>('a' + i));
    out.alias = {letter, letter, true};
    out.keyword_only = out.is_out = true;
    s.args.push_back(out);
    s.rets[i].alias = out.alias;
  }
}

lattis_status describe(Operator* op, const Schema& s) {
  CallInfo& c = op->info;
  c = CallInfo{};
  c.form = op->form;
  if (s.args.size() > 64) return core::raise(LATTIS_VALUE_ERROR, "schema: " + op->name + " has more than 64 arguments");
  c.nargs = static_cast<uint8_t>(s.args.size());
  c.nrets = static_cast<uint8_t>(s.rets.size());
  c.first_out = c.nargs;
  for (size_t i = 0; i < s.args.size(); i++) {
    const Argument& a = s.args[i];
    auto at = static_cast<uint8_t>(i);
    if (a.type.kind == Kind::Tensor && a.type.list) {
      if (c.num_lists == sizeof c.lists)
        return core::raise(LATTIS_VALUE_ERROR, "schema: " + op->name + " has too many tensor lists");
      c.lists[c.num_lists++] = at;
    } else if (a.type.kind == Kind::Tensor) {
      if (c.num_tensors == sizeof c.tensors)
        return core::raise(LATTIS_VALUE_ERROR, "schema: " + op->name + " has too many tensors");
      c.tensors[c.num_tensors++] = at;
    }
    if (a.type.kind == Kind::Device && c.device < 0) c.device = static_cast<int8_t>(i);
    if (a.alias.write) c.written |= uint64_t{1} << i;
    if (a.is_out && c.first_out == c.nargs) c.first_out = at;
  }
  if (lattis_status st = kinds_of(op->name, s, &c)) return st;
  c.between_devices = op->name == "aten::copy_";
  return LATTIS_OK;
}

}  // namespace

lattis_status Registry::prepare(Operator* op) {
  Lock lock(mutex_);
  if (op->schema.load()) return LATTIS_OK;
  auto* s = new Schema;
  if (op->functional) {
    if (lattis_status st = prepare(op->functional)) return st;
    std::string ns = op->functional->schema.load()->ns;
    derive_schema(op, *op->functional->schema.load(), *s);
    s->ns = ns;
    op->schema_text = s->text();
  } else {
    if (lattis_status st = parse_schema(op->schema_text, op->name.substr(0, op->name.find("::")), s)) return st;
    op->schema_text = s->text();
  }
  if (lattis_status st = describe(op, *s)) return st;
  s->describe();
  op->schema.store(s, std::memory_order_release);
  return LATTIS_OK;
}

// ---- registrations --------------------------------------------------------------------------------------------

lattis_status Registry::kernel(Library& lib, const char* name, const char* key, lattis_kernel_def def,
                               lattis_handle* handle) {
  Lock lock(mutex_);
  std::string base, overload;
  split_name(qualified(lib, name), &base, &overload);
  Operator* op = find(base, overload);
  if (!op)
    return core::raise(LATTIS_RUNTIME_ERROR, core::format("kernel: there is no operator %s; %s must define it first",
                                                          qualified(lib, name).c_str(), lib.owner.c_str()));
  if (!def.kernel && layer_bit(key) < 0 &&
      (key == std::string("composite") || key == std::string("backend") || core::backend_id(key) >= 0))
    return core::raise(LATTIS_VALUE_ERROR, "kernel: " + op->full_name() + ": the kernel for '" + key +
                                               "' is null; only a layer is fallen through");
  if (def.num_args != 0) {
    if (lattis_status st = prepare(op)) return st;
    if (lattis_status st = adapt_kernel(op, lib.owner, &def)) return st;
  }
  lattis_handle h = add_handle(lib, nullptr);
  op->kernels.push_back({h, key, def.kernel, def.context, def.flags, lib.owner, def.file ? def.file : "", def.line});
  undo_[h] = [this, op, h] {
    remove_handle(op->kernels, h);
    invalidate(op);
  };
  invalidate(op);
  if (handle) *handle = h;
  return LATTIS_OK;
}

lattis_status Registry::category_kernel(Library& lib, const char* category, const char* key,
                                        const lattis_kernel_def& def, lattis_handle* handle) {
  static const char* const known[] = {"pointwise",     "reduction", "scan",   "view",   "creation",    "copy",
                                      "indexing",      "scatter",   "sort",   "matmul", "convolution", "pooling",
                                      "normalization", "random",    "linalg", "fft",    "dynamic",     "host"};
  Lock lock(mutex_);
  if (std::string(category) != every_category && std::none_of(std::begin(known), std::end(known), [&](const char* c) {
        return !std::string(c).compare(category);
      }))
    return core::raise(LATTIS_VALUE_ERROR, std::string("category_kernel: there is no category '") + category + "'");
  if (def.num_args != 0)
    return core::raise(LATTIS_VALUE_ERROR, std::string("category_kernel: '") + category +
                                               "': 'num_args' must be 0: its operators have various numbers");
  lattis_handle h = add_handle(lib, nullptr);
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
  return LATTIS_OK;
}

lattis_status Registry::shape_rule(Library& lib, const char* name, lattis_infer fn, void* context,
                                   lattis_handle* handle) {
  Lock lock(mutex_);
  std::string base, overload;
  split_name(qualified(lib, name), &base, &overload);
  Operator* op = find(base, overload);
  if (!op) return core::raise(LATTIS_RUNTIME_ERROR, "shape_rule: there is no operator " + qualified(lib, name));
  auto use_last = [this, op] {
    for (Operator* o : {op, op->inplace, op->out})
      if (o) {
        o->infer = op->shape_rules.back().fn;
        o->infer_context = op->shape_rules.back().context;
        invalidate(o);
      }
  };
  if (op->shape_rules.empty()) op->shape_rules.push_back({0, op->infer, op->infer_context});
  lattis_handle h = add_handle(lib, nullptr);
  op->shape_rules.push_back({h, fn, context});
  undo_[h] = [op, h, use_last] {
    remove_handle(op->shape_rules, h);
    use_last();
  };
  use_last();
  if (handle) *handle = h;
  return LATTIS_OK;
}

lattis_status Registry::layer(Library& lib, const lattis_layer& desc, int32_t* bit, lattis_handle* handle) {
  Lock lock(mutex_);
  int32_t b;
  if (lattis_status st = add_layer(desc, lib.owner, &b)) return st;
  lattis_handle h = add_handle(lib, [this, b] {
    remove_layer(b);
    invalidate_all();
  });
  invalidate_all();
  if (bit) *bit = b;
  if (handle) *handle = h;
  return LATTIS_OK;
}

lattis_status Registry::backend(Library& lib, const lattis_backend& desc, int32_t* id, lattis_handle* handle) {
  Lock lock(mutex_);
  int32_t i;
  if (!desc.allocator || !desc.allocator->alloc || !desc.allocator->free)
    return core::raise(LATTIS_VALUE_ERROR, std::string("backend ") + desc.name + ": it has no allocator");
  if (!(desc.flags & LATTIS_BACKEND_HOST) && (!desc.copy_from_host || !desc.copy_to_host) &&
      std::string(desc.name) != "meta")
    return core::raise(LATTIS_VALUE_ERROR, std::string("backend ") + desc.name +
                                               ": a backend that is not a host needs copy_from_host and copy_to_host");
  if (lattis_status st = core::add_backend(desc, lib.owner, &i)) return st;
  lattis_handle h = add_handle(lib, [this, i] {
    core::remove_backend(i);
    invalidate_all();
  });
  for (Operator* op : order_)  // kernels may have waited for this device
    for (const Registration& r : (op->functional ? op->functional : op)->kernels)
      if (r.key == desc.name) invalidate(op);
  if (id) *id = i;
  if (handle) *handle = h;
  return LATTIS_OK;
}

lattis_status Registry::rule(Library& lib, const char* op, const char* layer, void* payload, void (*destroy)(void*),
                             lattis_handle* handle) {
  Lock lock(mutex_);
  const std::string name = qualified(lib, op);
  const auto changed = [this, name] {
    std::string base, overload;
    split_name(name, &base, &overload);
    if (Operator* o = find(base, overload)) invalidate(o);  // else it comes later
  };
  lattis_handle h = add_handle(lib, nullptr);
  rules_[name].push_back({h, layer, lib.owner, payload, destroy});
  undo_[h] = [this, h, name, changed] {
    for (Rule& r : rules_[name])
      if (r.handle == h && r.destroy) r.destroy(r.payload);
    remove_handle(rules_[name], h);
    changed();
  };
  changed();
  if (handle) *handle = h;
  return LATTIS_OK;
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

lattis_status Registry::publish_interface(Library& lib, const char* name, uint32_t version, const void* table,
                                          lattis_handle* handle) {
  Lock lock(mutex_);
  for (const Interface& i : interfaces_)
    if (i.name == name)
      return core::raise(LATTIS_RUNTIME_ERROR, "interface: the name '" + i.name + "' is taken by " + i.owner + "; " +
                                                   lib.owner + " cannot publish it too");
  lattis_handle h = add_handle(lib, nullptr);
  interfaces_.push_back({h, name, lib.owner, version, table});
  undo_[h] = [this, h] { remove_handle(interfaces_, h); };
  if (handle) *handle = h;
  return LATTIS_OK;
}

const void* Registry::find_interface(const char* name, uint32_t min_version) {
  Lock lock(mutex_);
  for (const Interface& i : interfaces_)
    if (i.name == name && i.version >= min_version) return i.table;
  return nullptr;
}

lattis_status Registry::withdraw(lattis_handle h) {
  Lock lock(mutex_);
  auto it = undo_.find(h);
  if (it == undo_.end())
    return core::raise(LATTIS_VALUE_ERROR,
                       core::format("withdraw: %llu is no live registration", (unsigned long long)h));
  auto undo = std::move(it->second);
  undo_.erase(it);
  undo();
  return LATTIS_OK;
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

}  // namespace lattis::dispatcher
