// Registry: operators, from their definition to their schemas. What is registered for them is in registrations.cpp.
#include "dispatcher/registry.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/load.h"
#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {
namespace {

using Lock = RegistryLock;

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

lamella_status Registry::open(const lamella_library_def& def, Library** out) {
  Lock lock(mutex_);
  const std::string ns = def.ns, owner = def.owner;
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (ns.empty() || std::isdigit(static_cast<unsigned char>(ns[0])) || !std::all_of(ns.begin(), ns.end(), letter))
    return core::raise(LAMELLA_VALUE_ERROR, "library: argument 'ns' must be an identifier, got '" + ns + "'");
  if (const auto taken = definers_.find(ns); def.kind == LAMELLA_DEFINES && taken != definers_.end())
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "library: the namespace '" + ns + "' is defined by " + taken->second->owner + "; " + owner +
                           " cannot define it too: add to it as a fragment, or take a name of its own, as " + ns +
                           "_v2");
  *out = new Library{ns, owner, def.kind, def.version};
  if (def.kind == LAMELLA_DEFINES) definers_[ns] = *out;
  return LAMELLA_OK;
}

lamella_handle Registry::add_handle(Library& lib, std::function<void()> undo) {
  Lock lock(mutex_);
  lamella_handle h = next_handle_++;
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
  op->forms = from->forms & ~(LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT);
  op->infer = from->infer;
  op->infer_context = from->infer_context;
  op->pointwise = from->pointwise;
  operators_[op->name].push_back(op);
  order_.push_back(op);
  return op;
}

namespace {

// One that nobody has seen.
void discard(Operator* op) {
  delete op->schema.load();
  delete[] op->info.admits;
  delete[] op->info.gives;
  if (op->pointwise) {
    std::free(const_cast<char*>(op->pointwise->expression));
    std::free(const_cast<char*>(op->pointwise->fault));
    delete op->pointwise;
  }
  delete op;
}

// Derived forms write what the operator returns into tensors.
lamella_status check_forms(const Operator& op) {
  const Schema& s = *op.schema.load();
  const auto plain = [](const Type& t) { return t.kind == Kind::Tensor && !t.list && !t.optional; };
  const bool tensors =
      !s.rets.empty() && std::all_of(s.rets.begin(), s.rets.end(), [&](const Return& r) { return plain(r.type); });
  const char* wanted = nullptr;
  if ((op.forms & LAMELLA_FORM_INPLACE) && !(tensors && s.rets.size() == 1 && !s.args.empty() && plain(s.args[0].type)))
    wanted = "in-place form needs a Tensor as first argument and one as result";
  else if ((op.forms & LAMELLA_FORM_OUT) && !tensors)
    wanted = "out= form needs results that are all of type Tensor";
  if (!wanted) return LAMELLA_OK;
  return core::raise(LAMELLA_VALUE_ERROR, "define: an " + std::string(wanted) + ": " + s.text());
}

}  // namespace

lamella_status Registry::define(Library& lib, const lamella_operator_def& def, bool lazily, lamella_handle* handle) {
  Lock lock(mutex_);
  std::string ns, name, overload;
  const char* begin = def.schema + std::strspn(def.schema, " \t\n\r\v\f");
  const std::string schema = chosen_name(begin);
  if (lamella_status st = parse_name(schema, lib.ns, &ns, &name, &overload)) return st;
  auto full = ns + "::" + name;
  if (lib.kind == LAMELLA_IMPLEMENTS)
    return core::raise(LAMELLA_RUNTIME_ERROR, "define: " + full + ": the library of " + lib.owner + " for '" + lib.ns +
                                                  "' is of kind IMPL, which registers kernels only");
  if (Operator* old = find(full, overload))
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("define: the operator %s is already defined by %s; %s cannot define it too",
                                    old->full_name().c_str(), old->owner.c_str(), lib.owner.c_str()));
  if (ns != lib.ns)
    return core::raise(LAMELLA_VALUE_ERROR,
                       "define: " + full + " is outside the namespace '" + lib.ns + "' of the library of " + lib.owner);
  if (def.pointwise && (def.pointwise->inputs < 1 || def.pointwise->inputs > 3 || def.pointwise->params > 3))
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("define: %s declares %d inputs and %d parameters; a pointwise operator has 1 to 3 and at most 3",
                     full.c_str(), def.pointwise->inputs, def.pointwise->params));
  auto* op = new Operator;
  op->name = full;
  op->base = name;
  op->overload = overload;
  op->schema_text = schema;
  op->category = def.category ? def.category : "";
  op->doc = def.doc ? def.doc : "";
  op->owner = lib.owner;
  op->file = def.file ? def.file : "";
  op->line = def.line;
  op->forms = def.forms;
  op->infer = def.infer;
  op->infer_context = def.infer_context;
  if (def.pointwise) {
    auto* meaning = new lamella_pointwise(*def.pointwise);  // an operator lives for ever, and so do its texts
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
    lamella_status st = prepare(op);
    if (!st) st = check_forms(*op);
    if (st) {
      discard(op);
      return st;
    }
  }
  if (Operator* twin = lazily ? nullptr : withdrawn_twin(*op)) {
    discard(op);
    op = twin;
  } else {
    operators_[full].push_back(op);
    order_.push_back(op);
    if (def.forms & LAMELLA_FORM_INPLACE) op->inplace = derive(op, Form::Inplace);
    if (def.forms & LAMELLA_FORM_OUT) op->out = derive(op, Form::Out);
  }
  const lamella_handle h = add_operator(lib, op);
  lib.defines = true;
  if (handle) *handle = h;
  return LAMELLA_OK;
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

lamella_handle Registry::add_operator(Library& lib, Operator* op) {
  return add_handle(lib, [this, op] {
    for (Operator* o : {op, op->inplace, op->out})
      if (o) {
        o->live = false;
        o->disabled.clear();  // whoever defines it anew starts afresh
        invalidate(o);
      }
  });
}

// ---- schemas on first use -----------------------------------------------------------------------------------

namespace {

void derive_schema(const Operator* op, const Schema& from, Schema& s) {
  s = from;
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

lamella_status describe(Operator* op, const Schema& s) {
  CallInfo& c = op->info;
  c = CallInfo{};
  c.form = op->form;
  if (s.args.size() > 64)
    return core::raise(LAMELLA_VALUE_ERROR, "schema: " + op->name + " has more than 64 arguments");
  c.nargs = static_cast<uint8_t>(s.args.size());
  c.nrets = static_cast<uint8_t>(s.rets.size());
  c.first_out = c.nargs;
  for (size_t i = 0; i < s.args.size(); i++) {
    const Argument& a = s.args[i];
    auto at = static_cast<uint8_t>(i);
    if (a.type.kind == Kind::Tensor && a.type.list) {
      if (c.num_lists == sizeof c.lists)
        return core::raise(LAMELLA_VALUE_ERROR, "schema: " + op->name + " has too many tensor lists");
      c.lists[c.num_lists++] = at;
    } else if (a.type.kind == Kind::Tensor) {
      if (c.num_tensors == sizeof c.tensors)
        return core::raise(LAMELLA_VALUE_ERROR, "schema: " + op->name + " has too many tensors");
      c.tensors[c.num_tensors++] = at;
    }
    if (a.type.kind == Kind::Device && c.device < 0) c.device = static_cast<int8_t>(i);
    if (a.alias.write) c.written |= uint64_t{1} << i;
    if (a.is_out && c.first_out == c.nargs) c.first_out = at;
  }
  if (lamella_status st = kinds_of(op->name, s, &c)) return st;
  c.between_devices = op->name == "aten::copy_";
  return LAMELLA_OK;
}

}  // namespace

lamella_status Registry::prepare(Operator* op) {
  Lock lock(mutex_);
  if (op->schema.load()) return LAMELLA_OK;
  auto s = std::make_unique<Schema>();
  if (op->functional) {
    if (lamella_status st = prepare(op->functional)) return st;
    std::string ns = op->functional->schema.load()->ns;
    derive_schema(op, *op->functional->schema.load(), *s);
    s->ns = ns;
    op->schema_text = s->text();
  } else {
    if (lamella_status st = parse_schema(op->schema_text, op->name.substr(0, op->name.find("::")), s.get())) return st;
    op->schema_text = s->text();
  }
  if (lamella_status st = describe(op, *s)) return st;
  s->describe();
  op->schema.store(s.release(), std::memory_order_release);
  return LAMELLA_OK;
}

lamella_status Registry::check_schema(const std::string& text, const std::string& ns, std::string* out) {
  auto* op = new Operator;
  op->name = ns + "::" + text.substr(0, text.find('('));
  op->schema_text = text;
  const lamella_status st = prepare(op);
  *out = op->schema_text;
  discard(op);
  return st;
}

}  // namespace lamella::dispatcher
