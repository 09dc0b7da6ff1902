#include "dispatcher/operators.h"

#include <lamella/dims.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <unordered_map>

#include "core/error.h"
#include "dispatcher/fill.h"
#include "dispatcher/pointwise.h"
#include "dispatcher/prepare.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

struct Operators {
  std::unordered_map<std::string, std::vector<Operator*>> by_name;  // "ns::name", with all overloads and forms
  std::vector<Operator*> in_order;
  std::string default_namespace;
  std::unordered_map<std::string, uint32_t> categories;  // their flags
};
Operators& operators() {
  static auto* all = new Operators;  // outlives every static destructor
  return *all;
}

// Returns the category of operators that are declared by their meaning alone.
std::string category_by_meaning() {
  for (const auto& [name, flags] : operators().categories)
    if (flags & by_meaning) return name;
  return {};
}

// Replaces the namespace at the beginning of a text by the one that was chosen for the file, if it is the file's own.
std::string renamed(const Library& lib, const std::string& text) {
  const std::string own = lib.written + "::";
  return lib.written.empty() || text.compare(0, own.size(), own) ? text : lib.chosen + text.substr(lib.written.size());
}

bool has_namespace(const std::string& name) { return name.find("::") != std::string::npos; }

}  // namespace

void set_default_namespace(const std::string& ns) { operators().default_namespace = ns; }

std::string with_namespace(const std::string& name) {
  return has_namespace(name) ? name : operators().default_namespace + "::" + name;
}

std::string name_within(const Library& lib, const std::string& name) {
  return has_namespace(name) ? renamed(lib, name) : lib.ns + "::" + name;
}

void split_name(const std::string& full, std::string* name, std::string* overload) {
  size_t dot = full.find('.', has_namespace(full) ? full.find("::") : 0);
  *name = full.substr(0, dot);
  *overload = dot == std::string::npos ? "" : full.substr(dot + 1);
}

void declare_category(const std::string& name, uint32_t flags) { operators().categories[name] = flags; }
bool is_category(const std::string& name) { return operators().categories.count(name) != 0; }
uint32_t category_flags(const std::string& name) {
  const auto known = operators().categories.find(name);
  return known == operators().categories.end() ? 0 : known->second;
}

Operator* find_operator(const std::string& name, const std::string& overload) {
  RegistryLock lock;
  auto named = operators().by_name.find(name);
  if (named != operators().by_name.end())
    for (Operator* op : named->second)
      if (op->live && op->overload == overload) return op;
  return nullptr;
}

Operator* find_operator(const std::string& full_name) {
  std::string name, overload;
  split_name(full_name, &name, &overload);
  return find_operator(name, overload);
}

std::vector<Operator*> overloads_of(const std::string& name) {
  RegistryLock lock;
  std::vector<Operator*> v;
  auto named = operators().by_name.find(name);
  if (named != operators().by_name.end())
    std::copy_if(named->second.begin(), named->second.end(), std::back_inserter(v),
                 [](const Operator* op) { return op->live; });
  return v;
}

std::vector<Operator*> all_operators() {
  RegistryLock lock;
  std::vector<Operator*> v;
  for (Operator* op : operators().in_order)
    if (op->live) v.push_back(op);
  return v;
}

const std::vector<Operator*>& known_operators() { return operators().in_order; }

namespace {

// Adds an operator to the look-ups, under its name and its aliases.
void put_in(Operator* op) {
  operators().in_order.push_back(op);
  operators().by_name[op->name].push_back(op);
  for (const std::string& alias : op->aliases) operators().by_name[alias].push_back(op);
}

// Returns the aliases that a definition gives, and those of the operator's other overloads.
std::vector<std::string> aliases_of(const Operator& op, const std::string& ns, const char* given) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& alias) {
    if (alias != op.name && std::find(all.begin(), all.end(), alias) == all.end()) all.push_back(alias);
  };
  std::istringstream words(given ? given : "");
  for (std::string word; words >> word;) add(ns + "::" + word);
  for (const Operator* other : overloads_of(op.name))
    for (const std::string& alias : other->aliases) add(alias);
  return all;
}

Operator* derive(Operator* from, Form form) {
  auto* op = new Operator;
  bool inplace = form == Form::Inplace;
  op->base = from->base + (inplace ? "_" : "");
  op->name = from->name + (inplace ? "_" : "");
  op->title = from->title + (inplace ? "_" : "");
  op->aliases = from->aliases;
  for (std::string& alias : op->aliases) alias += inplace ? "_" : "";
  bool plain = from->overload.empty() || from->overload == "Tensor";
  if (plain && !inplace)  // clamp and clamp.Tensor: the second one's overload is Tensor_out
    for (const Operator* o : operators().by_name[op->name]) plain &= o->overload != "out" || !o->live;
  op->overload = inplace ? from->overload : plain ? "out" : from->overload + "_out";
  op->form = form;
  op->functional = from;
  op->category = from->category;
  op->dims = from->dims;
  op->effects = from->effects;
  op->since = from->since;
  op->may_fault = from->may_fault;
  op->doc = from->doc;
  op->module = from->module;
  op->owner = from->owner;
  op->file = from->file;
  op->line = from->line;
  op->forms = from->forms & ~(LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT);
  op->infer = from->infer;
  op->infer_context = from->infer_context;
  op->pointwise = from->pointwise;
  put_in(op);
  return op;
}

// Raises if the schema does not allow the derived forms, which write the operator's results into given tensors.
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

// Raises if operators of another name than `own` are found under `name`: `op` would become an overload of both.
lamella_status check_name(const Operator& op, const std::string& name, const std::string& own) {
  for (const Operator* other : overloads_of(name))
    if (other->name != own)
      return core::raise(LAMELLA_RUNTIME_ERROR,
                         core::format("define: %s: %s is a name of %s, which %s defines", op.full_name().c_str(),
                                      name.c_str(), other->full_name().c_str(), other->owner.c_str()));
  return LAMELLA_OK;
}

// Raises if the text about dimensions does not parse or does not fit the schema, and if the operator's category is for
// operators that broadcast, and no declaration and no text says so.
lamella_status check_dims(const Operator& op) {
  const auto wrong = [&](const std::string& why) {
    return core::raise(LAMELLA_VALUE_ERROR, "define: " + op.full_name() + ": 'dims' is \"" + op.dims + "\": " + why +
                                                "; the schema is " + op.schema_text);
  };
  if ((category_flags(op.category) & by_meaning) && !op.pointwise && op.dims != "broadcast")
    return core::raise(LAMELLA_VALUE_ERROR,
                       core::format("define: %s: the category '%s' is for operators that compute each element alone: "
                                    "say so by dims=\"broadcast\", or give no category",
                                    op.full_name().c_str(), op.category.c_str()));
  const Dims dims = parse_dims(op.dims);
  if (!dims.error.empty()) return wrong(dims.error);
  const Schema& s = *op.schema.load();
  const size_t args = std::count_if(s.args.begin(), s.args.end(),
                                    [](const Argument& a) { return a.type.kind == Kind::Tensor && !a.is_out; });
  const size_t rets =
      std::count_if(s.rets.begin(), s.rets.end(), [](const Return& r) { return r.type.kind == Kind::Tensor; });
  if (dims.kind != DimsKind::None && !(args && rets))
    return wrong("that needs a tensor among the arguments and one among the results");
  for (const DimsPattern& p : dims.patterns)
    if (p.args.size() != args || p.results.size() != rets)
      return wrong(
          core::format("a pattern has %zu groups and %zu after '->', and the operator takes %zu tensors and "
                       "returns %zu",
                       p.args.size(), p.results.size(), args, rets));
  return LAMELLA_OK;
}

// Checks that all overloads of a name, and of its in-place form, belong to one operator, under each of its names.
lamella_status check_names(const Operator& op) {
  std::vector<std::string> names{op.name};
  names.insert(names.end(), op.aliases.begin(), op.aliases.end());
  const bool inplace = op.forms & LAMELLA_FORM_INPLACE;
  for (const std::string& name : names) {
    if (lamella_status st = check_name(op, name, op.name)) return st;
    if (lamella_status st = inplace ? check_name(op, name + "_", op.name + "_") : LAMELLA_OK) return st;
  }
  const Operator* other = inplace ? find_operator(op.name + "_", op.overload) : nullptr;
  if (!other) return LAMELLA_OK;
  return core::raise(LAMELLA_RUNTIME_ERROR,
                     core::format("define: %s: its in-place form %s is defined already, by %s", op.full_name().c_str(),
                                  other->full_name().c_str(), other->owner.c_str()));
}

// Returns the withdrawn operator that `op` defines again unchanged, or null. It is reused: kept pointers to it work
// again, and a notebook's cell that runs a thousand times leaves one operator. Only its doc, module, owner, file and
// line may differ. A pointwise operator, or one with several shape rules, is not reused.
Operator* withdrawn_twin(const Operator& op) {
  for (Operator* old : operators().by_name[op.name]) {
    const bool same = !old->live && old->form == Form::Functional && old->overload == op.overload &&
                      old->schema_text == op.schema_text && old->category == op.category && old->forms == op.forms &&
                      old->dims == op.dims && old->effects == op.effects && old->since == op.since &&
                      old->aliases == op.aliases && old->infer == op.infer && old->infer_context == op.infer_context &&
                      !old->pointwise && !op.pointwise && old->shape_rules.size() <= 1;
    if (!same) continue;
    for (Operator* o : {old, old->inplace, old->out})
      if (o) {
        o->live = true;
        o->doc = op.doc;
        o->module = op.module;
        o->owner = op.owner;
        o->file = op.file;
        o->line = op.line;
      }
    return old;
  }
  return nullptr;
}

bool is_dotted_name(const std::string& text) {
  bool starts = true;  // a word
  for (const char c : text) {
    if (c == '.' ? starts
                 : !(std::isalpha(static_cast<unsigned char>(c)) || c == '_' ||
                     (!starts && std::isdigit(static_cast<unsigned char>(c)))))
      return false;
    starts = c == '.';
  }
  return !starts;
}

void withdraw_operator(Operator* op) {
  for (Operator* o : {op, op->inplace, op->out})
    if (o) {
      o->live = false;
      o->disabled.clear();  // a later definition starts without them
      invalidate(o);
    }
}

}  // namespace

lamella_status define_operator(Library& lib, const lamella_operator_def& def, bool lazily, lamella_handle* handle,
                               Operator** defined) {
  RegistryLock lock;
  std::string ns, name, overload;
  const char* begin = def.schema + std::strspn(def.schema, " \t\n\r\v\f");
  const std::string schema = renamed(lib, begin);
  if (lamella_status st = parse_name(schema, lib.ns, &ns, &name, &overload)) return st;
  auto full = ns + "::" + name;
  if (lib.kind == LAMELLA_IMPLEMENTS)
    return core::raise(LAMELLA_RUNTIME_ERROR, "define: " + full + ": the library of " + lib.owner + " for '" + lib.ns +
                                                  "' is of kind IMPL, which registers kernels only");
  if (Operator* old = find_operator(full, overload))
    return core::raise(
        LAMELLA_RUNTIME_ERROR,
        core::format("define: the operator %s is already defined by %s; %s cannot define it too",
                     (full + (overload.empty() ? "" : "." + overload)).c_str(), old->owner.c_str(), lib.owner.c_str()));
  if (ns != lib.ns)
    return core::raise(LAMELLA_VALUE_ERROR,
                       "define: " + full + " is outside the namespace '" + lib.ns + "' of the library of " + lib.owner);
  if (def.pointwise && (def.pointwise->inputs < 1 || def.pointwise->inputs > 3 || def.pointwise->params > 3))
    return core::raise(LAMELLA_VALUE_ERROR, core::format("define: %s declares %d inputs and %d parameters; a pointwise "
                                                         "operator has 1 to 3 inputs and at most 3 parameters",
                                                         full.c_str(), def.pointwise->inputs, def.pointwise->params));
  if (def.module && !is_dotted_name(def.module))
    return core::raise(LAMELLA_VALUE_ERROR, "define: " + full +
                                                ": 'module' must be a module's name below lamella, as " +
                                                "\"linalg\", got \"" + def.module + "\"");
  if (const uint32_t version = namespace_version(ns); def.since > version)
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("define: %s: 'since' is %u, and the namespace '%s' has version %u; open the library "
                     "with that version or a later one",
                     full.c_str(), def.since, ns.c_str(), version));
  auto* op = new Operator;
  op->name = full;
  op->base = name;
  op->title = ns == operators().default_namespace ? name : full;
  op->overload = overload;
  op->aliases = aliases_of(*op, ns, def.aliases);
  op->schema_text = schema;
  op->category = def.category ? def.category : def.pointwise ? category_by_meaning() : "";
  op->may_fault = (category_flags(op->category) & may_fault) != 0;
  op->dims = def.dims ? def.dims : def.pointwise ? "broadcast" : "";
  op->effects = def.effects | (category_flags(op->category) & has_effect ? LAMELLA_EFFECT_STATE : 0);
  op->since = std::max(def.since, 1u);
  op->doc = def.doc ? def.doc : "";
  op->module = def.module ? def.module : "";
  op->owner = lib.owner;
  op->file = def.file ? def.file : "";
  op->line = def.line;
  op->forms = def.forms;
  op->infer = def.infer;
  op->infer_context = def.infer_context;
  if (def.pointwise) {
    op->pointwise = copy_meaning(*def.pointwise);
    if (!op->infer) {
      op->infer = infer_pointwise;
      op->infer_context = const_cast<lamella_pointwise*>(op->pointwise);
    }
  }
  lamella_status st = check_names(*op);
  if (!st && !lazily) st = prepare(op);
  if (!st && !lazily) st = check_forms(*op);
  if (!st && !lazily) st = check_dims(*op);
  if (st) {
    discard(op);
    return st;
  }
  if (Operator* twin = lazily ? nullptr : withdrawn_twin(*op)) {
    discard(op);
    op = twin;
  } else {
    put_in(op);
    if (def.forms & LAMELLA_FORM_INPLACE) op->inplace = derive(op, Form::Inplace);
    if (def.forms & LAMELLA_FORM_OUT) op->out = derive(op, Form::Out);
  }
  const lamella_handle h = enter(lib, [op](lamella_handle) { withdraw_operator(op); });
  lib.defines = true;
  if (handle) *handle = h;
  if (defined) *defined = op;
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
