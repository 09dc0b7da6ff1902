// Lists and dictionaries of values, without Python: the values that a schema admits, copies, results, defaults. Usage:
// test_values LIBLAMELLA_CPU.SO
#include <string>
#include <vector>

#include "calls.h"

namespace {

lamella_value real(double d) {
  lamella_value v{LAMELLA_FLOAT, 0, {0}};
  v.as.d = d;
  return v;
}
lamella_value text(const char* s) {
  lamella_value v{LAMELLA_STRING, static_cast<uint32_t>(std::char_traits<char>::length(s)), {0}};
  v.as.string = s;
  return v;
}
lamella_value list(const std::vector<lamella_value>& all) {
  lamella_value v{LAMELLA_VALUE_LIST, static_cast<uint32_t>(all.size()), {0}};
  v.as.values = all.data();
  return v;
}
lamella_value dict(const std::vector<lamella_value>& pairs) {
  lamella_value v{LAMELLA_DICT, static_cast<uint32_t>(pairs.size() / 2), {0}};
  v.as.values = pairs.data();
  return v;
}

// The kernel's last argument, as an owned copy that outlives the call.
lamella_value seen{};
lamella_status keep(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  api->value_release(&seen);
  if (lamella_status st = api->value_retain(&args[0], &seen)) return st;
  return api->value_retain(&args[0], &rets[0]);
}

const lamella_operator* operator_of(lamella_library* l, const std::string& type, const std::string& value = "") {
  static int count = 0;
  const std::string name = "f" + std::to_string(count++);
  const std::string schema = name + "(" + type + " x" + value + ") -> " + type;
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = schema.c_str();
  OK(api, api->define(l, &d, nullptr));
  OK(api, add_kernel(api, l, name.c_str(), "composite", keep));
  return api->find_operator(("values::" + name).c_str(), "");
}

lamella_value given(const lamella_operator* op, const lamella_value& v) {
  lamella_value r{};
  OK(api, api->call(nullptr, op, &v, 1, &r, 1));
  return r;
}
void refused(const lamella_operator* op, const lamella_value& v, const char* what) {
  lamella_value r{};
  FAILS(api, api->call(nullptr, op, &v, 1, &r, 1), what);
  CHECK(r.tag == LAMELLA_NONE);
}

void admitted(lamella_library* l) {
  const lamella_operator *names = operator_of(l, "str[]"), *numbers = operator_of(l, "Scalar[]"),
                         *ints = operator_of(l, "int?[]"), *of_names = operator_of(l, "Dict(str, str)"),
                         *of_numbers = operator_of(l, "Dict(str, float)"), *of_any = operator_of(l, "Dict(str, Any)"),
                         *perhaps = operator_of(l, "str[]?");
  const std::vector<lamella_value> strings = {text("N"), text(""), text("C")}, mixed = {num(1), real(2.5)},
                                   holes = {num(1), none, num(3)}, pairs = {text("a"), text("x")},
                                   counts = {text("a"), num(1), text("b"), real(2)};
  lamella_value r = given(names, list(strings));
  CHECK(r.tag == LAMELLA_VALUE_LIST && r.length == 3 && std::string(r.as.values[2].as.string) == "C");
  CHECK(r.as.values[2].as.string != strings[2].as.string);  // a copy of the text, too
  api->value_release(&r);
  r = given(numbers, list(mixed));
  CHECK(r.as.values[0].as.i == 1 && r.as.values[1].as.d == 2.5);
  api->value_release(&r);
  r = given(ints, list(holes));
  CHECK(r.as.values[1].tag == LAMELLA_NONE && r.as.values[2].as.i == 3);
  api->value_release(&r);
  for (const lamella_operator* op : {names, numbers, ints, perhaps}) {
    r = given(op, list({}));
    CHECK(r.tag == LAMELLA_VALUE_LIST && r.length == 0);
    api->value_release(&r);
  }
  r = given(perhaps, none);
  CHECK(r.tag == LAMELLA_NONE);
  r = given(of_names, dict(pairs));
  CHECK(r.tag == LAMELLA_DICT && r.length == 1 && std::string(r.as.values[1].as.string) == "x");
  api->value_release(&r);
  r = given(of_numbers, dict(counts));
  CHECK(r.length == 2 && r.as.values[3].as.d == 2);
  api->value_release(&r);
  const std::vector<lamella_value> deep = {text("names"), list(strings), text("of"), dict(counts), text("no"), none};
  r = given(of_any, dict(deep));
  CHECK(r.length == 3 && r.as.values[3].tag == LAMELLA_DICT && r.as.values[3].length == 2);
  lamella_value again;
  OK(api, api->value_retain(&r, &again));
  api->value_release(&r);
  CHECK(std::string(again.as.values[1].as.values[0].as.string) == "N");
  api->value_release(&again);
  done("lists and dictionaries of values: arguments, results, copies");

  const int64_t one = 1;
  lamella_tensor* t;
  OK(api, api->tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, {1, 0}, &t));
  lamella_value tensor{LAMELLA_TENSOR, 0, {0}};
  tensor.as.tensor = t;
  const std::vector<lamella_value> hidden = {text("t"), tensor}, unnamed = {num(1), num(2)},
                                   lost = {text("a"), list(hidden)};
  lamella_value broken = list(strings), strange = text("x");
  broken.as.values = nullptr;
  strange.tag = LAMELLA_SYMBOLIC_LIST;
  lamella_value null_text = text("x");
  null_text.as.string = nullptr;
  refused(names, list(mixed), "argument 'x' must be str[], got [1, 2.5]");
  refused(names, list({text("a"), none}), "must be str[]");
  refused(names, text("N"), "must be str[]");
  refused(names, list({null_text}), "must be str[]");
  refused(names, broken, "got a null pointer");
  refused(names, strange, "a value with the tag 17");
  refused(numbers, list(strings), "must be Scalar[]");
  refused(numbers, list(holes), "must be Scalar[]");
  refused(ints, list({text("a")}), "must be int?[]");
  refused(of_names, dict(counts), "must be Dict(str, str), got a dictionary of 2 entries");
  refused(of_numbers, dict(pairs), "must be Dict(str, float)");
  refused(of_numbers, dict(unnamed), "must be Dict");
  refused(of_any, dict(hidden), "must be Dict(str, Any)");  // a tensor in there, which no layer would find
  refused(of_any, dict(lost), "must be Dict(str, Any)");
  std::vector<std::vector<lamella_value>> nest(40);
  nest[0] = {num(1)};
  for (size_t i = 1; i < nest.size(); i++) nest[i] = {list(nest[i - 1])};
  refused(of_any, dict({text("deep"), list(nest.back())}), "must be Dict(str, Any)");
  api->release(t);
  done("lists and dictionaries of values that a schema does not admit");
}

void defaults(lamella_library* l) {
  const auto check = [&](const char* type, const char* value, auto look) {
    lamella_value r;
    OK(api, api->call(nullptr, operator_of(l, type, value), nullptr, 0, &r, 1));
    CHECK(look(r));
    api->value_release(&r);
  };
  check("str[]", "=[\"N\", 'C']", [](const lamella_value& v) {
    return v.length == 2 && std::string(v.as.values[0].as.string) == "N" && *v.as.values[1].as.string == 'C';
  });
  check("Scalar[]", "=[1, 2.5, True]", [](const lamella_value& v) {
    return v.length == 3 && v.as.values[0].tag == LAMELLA_INT && v.as.values[2].tag == LAMELLA_BOOLEAN;
  });
  check("int?[]", "=[1, None]", [](const lamella_value& v) { return v.as.values[1].tag == LAMELLA_NONE; });
  check("str[]", "=[]", [](const lamella_value& v) { return v.tag == LAMELLA_VALUE_LIST && v.length == 0; });
  lamella_operator_def d{};
  d.size = sizeof d;
  for (const char* schema : {"g(str[] x=[1]) -> ()", "g(Scalar[] x=[None]) -> ()", "g(int?[] x=[\"a\"]) -> ()"}) {
    d.schema = schema;
    FAILS(api, api->define(l, &d, nullptr), "schema");
  }
  done("lists of values as defaults");
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  lamella_library* l;
  OK(api, open_library(api, "values", "values", &l, LAMELLA_DEFINES));
  admitted(l);
  defaults(l);
  api->value_release(&seen);
  api->library_close(l);
  return 0;
}
