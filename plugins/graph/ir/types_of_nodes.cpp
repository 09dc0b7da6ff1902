// The rules for the types of nodes.
#include "ir/types_of_nodes.h"

#include <algorithm>

#include "signatures/signature.h"

namespace lamella::graph {
namespace {

void expect(const Type& from, const Type& to, const std::string& what) {
  if (!admits(from, to)) throw Mismatch(what + " is a " + from.text() + "; it has to be a " + to.text());
}
void expect(const Value& v, const Type& to, const std::string& what) {
  expect(*v.type, to, what + ", %" + v.name + ",");
}

void expect_counts(const Node& n, size_t inputs, size_t outputs) {
  if (n.inputs.size() == inputs && n.outputs.size() == outputs) return;
  throw Mismatch("has " + std::to_string(n.inputs.size()) + " inputs and " + std::to_string(n.outputs.size()) +
                 " outputs; expected " + std::to_string(inputs) + " and " + std::to_string(outputs));
}

const Type& of_kind(const Value& v, Kind kind, const char* wanted) {
  if (v.type->kind != kind) throw Mismatch("%" + v.name + " is a " + v.type->text() + "; it has to be a " + wanted);
  return *v.type;
}

const std::string& name_of(const Node& n) {
  const Literal* x = n.attribute("name");
  const auto* text = x ? std::get_if<std::string>(&x->value) : nullptr;
  if (!text) throw Mismatch("needs an attribute 'name' with a text");
  return *text;
}

const TypePtr& attribute_type(const Node& n, const Program& program) {
  const std::string& name = name_of(n);
  const std::string& class_name = of_kind(*n.inputs[0], Kind::object, "class").name;
  const auto found = program.classes.find(class_name);
  if (found == program.classes.end()) throw Mismatch("there is no class '" + class_name + "' in the program");
  const int64_t i = found->second->find(name);
  if (i < 0) throw Mismatch("class " + class_name + " has no attribute '" + name + "'");
  return found->second->attributes[static_cast<size_t>(i)].second;
}

// Checks a call of a graph; `results` are the types that the node's outputs have.
void check_call(const Node& n, const std::string& name, const Program& program, const std::vector<TypePtr>& results) {
  const Graph* callee = program.find(name);
  if (name.empty() || !callee) throw Mismatch("there is no function '" + name + "' in the program");
  const auto& parameters = callee->top().parameters();
  if (parameters.size() != n.inputs.size())
    throw Mismatch(name + " takes " + std::to_string(parameters.size()) + " arguments, and gets " +
                   std::to_string(n.inputs.size()));
  for (size_t i = 0; i < parameters.size(); i++)
    expect(*n.inputs[i], *parameters[i]->type, "argument '" + parameters[i]->name + "' of " + name);
  if (callee->top().results().size() != results.size())
    throw Mismatch(name + " gives " + std::to_string(callee->top().results().size()) + " values, and the node has " +
                   std::to_string(results.size()));
  for (size_t i = 0; i < results.size(); i++)
    expect(*callee->top().results()[i]->type, *results[i], "the result of " + name);
}

std::vector<TypePtr> types_of(const std::vector<std::unique_ptr<Value>>& values) {
  std::vector<TypePtr> all;
  for (const auto& v : values) all.push_back(v->type);
  return all;
}

void check_list(const Node& n, const Program&) {
  expect_counts(n, n.inputs.size(), 1);
  const Type& list = of_kind(*n.outputs[0], Kind::list, "list");
  for (const Value* v : n.inputs) expect(*v, *list.inner[0], "an element");
}
void check_tuple(const Node& n, const Program&) {
  expect_counts(n, n.inputs.size(), 1);
  const Type& tuple = of_kind(*n.outputs[0], Kind::tuple, "tuple");
  if (tuple.inner.size() != n.inputs.size()) throw Mismatch("a tuple of another number of values");
  for (size_t i = 0; i < n.inputs.size(); i++) expect(*n.inputs[i], *tuple.inner[i], "a part of the tuple");
}
void check_dict(const Node& n, const Program&) {
  expect_counts(n, n.inputs.size() & ~size_t{1}, 1);
  const Type& dict = of_kind(*n.outputs[0], Kind::dict, "dictionary");
  for (size_t i = 0; i < n.inputs.size(); i++) expect(*n.inputs[i], *dict.inner[i % 2], i % 2 ? "a value" : "a key");
}
void check_list_unpack(const Node& n, const Program&) {
  expect_counts(n, 1, n.outputs.size());
  const Type& list = of_kind(*n.inputs[0], Kind::list, "list");
  for (const auto& v : n.outputs) expect(*list.inner[0], *v->type, "an element");
}
void check_tuple_unpack(const Node& n, const Program&) {
  expect_counts(n, 1, n.outputs.size());
  const Type& tuple = of_kind(*n.inputs[0], Kind::tuple, "tuple");
  if (tuple.inner.size() != n.outputs.size()) throw Mismatch("a tuple of another number of values");
  for (size_t i = 0; i < n.outputs.size(); i++) expect(*tuple.inner[i], *n.outputs[i]->type, "a part of the tuple");
}
void check_tuple_index(const Node& n, const Program&) {
  expect_counts(n, 1, 1);
  const Type& tuple = of_kind(*n.inputs[0], Kind::tuple, "tuple");
  const Literal* x = n.attribute("index");
  const auto* i = x ? std::get_if<int64_t>(&x->value) : nullptr;
  if (!i || *i < 0 || *i >= static_cast<int64_t>(tuple.inner.size()))
    throw Mismatch("needs an attribute 'index' within the tuple");
  expect(*tuple.inner[static_cast<size_t>(*i)], *n.outputs[0]->type, "the part of the tuple");
}
void check_get(const Node& n, const Program& program) {
  expect_counts(n, 1, 1);
  expect(*attribute_type(n, program), *n.outputs[0]->type, "attribute '" + name_of(n) + "'");
}
void check_set(const Node& n, const Program& program) {
  expect_counts(n, 2, 0);
  expect(*n.inputs[1], *attribute_type(n, program), "attribute '" + name_of(n) + "'");
}
void check_create(const Node& n, const Program& program) {
  expect_counts(n, 0, 1);
  if (!program.classes.count(of_kind(*n.outputs[0], Kind::object, "class").name))
    throw Mismatch("there is no class '" + n.outputs[0]->type->name + "' in the program");
}
void check_function(const Node& n, const Program& program) { check_call(n, name_of(n), program, types_of(n.outputs)); }
void check_method(const Node& n, const Program& program) {
  if (n.inputs.empty()) throw Mismatch("needs an instance");
  const std::string& class_name = of_kind(*n.inputs[0], Kind::object, "class").name;
  // The methods of an interface are checked when they are called.
  const std::string full = class_name + "." + name_of(n);
  if (program.classes.count(class_name) || program.find(full)) check_call(n, full, program, types_of(n.outputs));
}
void check_fork(const Node& n, const Program& program) {
  expect_counts(n, n.inputs.size(), 1);
  check_call(n, name_of(n), program, {of_kind(*n.outputs[0], Kind::future, "Future").inner[0]});
}
void check_wait(const Node& n, const Program&) {
  expect_counts(n, 1, 1);
  expect(*of_kind(*n.inputs[0], Kind::future, "Future").inner[0], *n.outputs[0]->type, "the result");
}
void check_host_call(const Node& n, const Program&) {
  name_of(n);
  expect_counts(n, n.inputs.size(), std::min<size_t>(n.outputs.size(), 1));
}
void check_test(const Node& n, const Program&) {
  expect_counts(n, 1, 1);
  expect(*Type::of(Kind::boolean), *n.outputs[0]->type, "the answer");
  if (!n.attribute("types")) throw Mismatch("needs an attribute 'types'");
}
void check_raise(const Node& n, const Program&) { expect_counts(n, 1, 0); }
void check_one(const Node& n, const Program&) { expect_counts(n, 1, 1); }
void check_uninitialized(const Node& n, const Program&) { expect_counts(n, 0, 1); }
void check_print(const Node& n, const Program&) { expect_counts(n, n.inputs.size(), 0); }

}  // namespace

bool check_primitive(const Node& n, const Program& program) {
  using Check = void (*)(const Node&, const Program&);
  static const std::map<std::string_view, Check> checks = {
      {"prim::ListConstruct", check_list},
      {"prim::TupleConstruct", check_tuple},
      {"prim::DictConstruct", check_dict},
      {"prim::ListUnpack", check_list_unpack},
      {"prim::TupleUnpack", check_tuple_unpack},
      {"prim::TupleIndex", check_tuple_index},
      {"prim::GetAttr", check_get},
      {"prim::SetAttr", check_set},
      {"prim::CreateObject", check_create},
      {"prim::CallFunction", check_function},
      {"prim::CallMethod", check_method},
      {"prim::PythonCall", check_host_call},
      {"prim::Print", check_print},
      {"prim::RaiseException", check_raise},
      {"prim::unchecked_cast", check_one},
      {"prim::isinstance", check_test},
      {"prim::fork", check_fork},
      {"aten::wait", check_wait},
      {"prim::Uninitialized", check_uninitialized},
  };
  const auto found = checks.find(n.op);
  if (found == checks.end()) return false;
  found->second(n, program);
  return true;
}

void check_operator(const Node& n) {
  const Signature* s = signature_of(n);
  if (!s)
    throw Mismatch("there is no such operator" + (n.overload.empty() ? "" : " with overload '" + n.overload + "'"));
  if (n.inputs.size() > s->arguments.size() && !s->variadic)
    throw Mismatch("takes " + std::to_string(s->arguments.size()) + " arguments, and gets " +
                   std::to_string(n.inputs.size()));
  TypeVariables variables;
  for (size_t i = 0; i < s->arguments.size(); i++) {
    const Signature::Argument& a = s->arguments[i];
    if (i >= n.inputs.size()) {
      if (!a.has_default) throw Mismatch("argument '" + a.name + "' is missing");
      continue;
    }
    if (!fits_argument(*n.inputs[i], *a.type, &variables))
      throw Mismatch("argument '" + a.name + "', %" + n.inputs[i]->name + ", is a " + n.inputs[i]->type->text() +
                     "; it has to be a " + with_variables(a.type, variables)->text());
  }
  if (n.outputs.size() != s->results.size())
    throw Mismatch("gives " + std::to_string(s->results.size()) + " values, and has " +
                   std::to_string(n.outputs.size()) + " outputs");
  for (size_t i = 0; i < s->results.size(); i++) {
    const TypePtr given = with_variables(s->results[i].type, variables);
    if (given->kind != Kind::any && !(given->kind == Kind::number && n.outputs[i]->type->kind != Kind::tensor))
      expect(*given, *n.outputs[i]->type, "the result");
  }
}

}  // namespace lamella::graph
