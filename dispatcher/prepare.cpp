#include "dispatcher/prepare.h"

#include <cstdlib>
#include <memory>

#include "core/error.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/operators.h"
#include "dispatcher/pointwise.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
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
  if (s.args.size() > LAMELLA_MAX_ARGUMENTS)
    return core::raise(LAMELLA_VALUE_ERROR, core::format("schema: %s has %zu arguments, at most %d are supported",
                                                         op->name.c_str(), s.args.size(), LAMELLA_MAX_ARGUMENTS));
  c.nargs = static_cast<uint8_t>(s.args.size());
  c.nrets = static_cast<uint8_t>(s.rets.size());
  c.first_out = c.nargs;
  const bool indexed = (category_flags((op->functional ? op->functional : op)->category) & by_index) != 0;
  for (size_t i = 0; i < s.args.size(); i++) {
    const Argument& a = s.args[i];
    auto at = static_cast<uint8_t>(i);
    if (a.type.kind == Kind::Tensor) (a.type.list ? c.lists[c.num_lists++] : c.tensors[c.num_tensors++]) = at;
    if (a.type.kind == Kind::Device && c.device < 0) c.device = static_cast<int8_t>(i);
    if (indexed && a.type.kind == Kind::Tensor && !a.alias.write && (a.name == "index" || a.name == "indices"))
      c.indices |= uint64_t{1} << i;
    if (a.alias.write) c.written |= uint64_t{1} << i;
    if (a.is_out && c.first_out == c.nargs) c.first_out = at;
  }
  // An out= form that creates takes its dtype and its device from its target.
  if (c.form == Form::Out && c.num_tensors + c.first_out == c.nargs && c.num_lists == 0 && c.device >= 0)
    for (int i = 0; i < c.first_out; i++)
      if (s.args[i].type.kind == Kind::Dtype) c.target_dtype = static_cast<int8_t>(i);
  if (lamella_status st = kinds_of(op->name, s, &c)) return st;
  c.between_devices = (op->forms & form_between_devices) != 0;
  c.first_decides = (op->forms & (form_between_devices | form_geometry)) != 0;
  c.stored = op->forms & form_geometry ? 0 : c.written;
  return LAMELLA_OK;
}

// Checks typed functions against the schema. A failed check stays in the list, so each use of the operator fails again.
lamella_status compare_types(Operator* op) {
  for (; !op->fits.empty(); op->fits.pop_back())
    if (lamella_status st = op->fits.back()(op)) return st;
  return LAMELLA_OK;
}

}  // namespace

lamella_status prepare(Operator* op) {
  RegistryLock lock;
  if (op->schema.load()) return compare_types(op);
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
  return compare_types(op);
}

lamella_status check_schema(const std::string& text, const std::string& ns, std::string* out) {
  auto* op = new Operator;
  op->name = ns + "::" + text.substr(0, text.find('('));
  op->schema_text = text;
  const lamella_status st = prepare(op);
  *out = op->schema_text;
  discard(op);
  return st;
}

void discard(Operator* op) {
  delete op->schema.load();
  delete[] op->info.admits;
  delete[] op->info.gives;
  delete[] op->info.objects;
  if (op->pointwise) free_meaning(op->pointwise);
  delete op;
}

}  // namespace lamella::dispatcher
