/* The comparison of a C++ function's types with an operator's schema, when the function is registered or an Operator is
 * made, and the error that shows both. */
#ifndef LAMELLA_SCHEMA_FIT_H
#define LAMELLA_SCHEMA_FIT_H

#include <lamella/convert.h>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace detail {

/* ---- does a function fit a schema? ---- */

__attribute__((cold)) inline std::string schema_type(const lamella_argument& a) {
  static const char* const kinds[] = {"Tensor",       "Scalar",    "int",        "float",  "bool",
                                      "complex",      "str",       "ScalarType", "Layout", "Device",
                                      "MemoryFormat", "Generator", "object",     "any",    "Dict"};
  std::string t = a.kind < sizeof kinds / sizeof *kinds ? kinds[a.kind] : "?";
  if (a.flags & LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS) t += "?";
  if (a.flags & LAMELLA_ARGUMENT_LIST) t += "[]";
  if (a.flags & LAMELLA_ARGUMENT_OPTIONAL) t += "?";
  return t;
}

__attribute__((cold)) inline std::string cpp_type_of(const lamella_argument& a) {
  static const char* const scalars[] = {
      "const Tensor&", "Scalar", "int64_t", "double",       "bool",      "std::complex<double>", "std::string_view",
      "ScalarType",    "Layout", "Device",  "MemoryFormat", "Generator", "lamella_value",        "lamella_value"};
  static const char* const lists[] = {"TensorList", "lamella_value", "IntArrayRef", "ArrayRef<double>",
                                      "ArrayRef<bool>"};
  std::string t = "lamella_value";
  if (!(a.flags & LAMELLA_ARGUMENT_LIST) && a.kind < sizeof scalars / sizeof *scalars) t = scalars[a.kind];
  if ((a.flags & LAMELLA_ARGUMENT_LIST) && a.kind < sizeof lists / sizeof *lists) t = lists[a.kind];
  if (!(a.flags & LAMELLA_ARGUMENT_OPTIONAL) || t == "lamella_value") return t;
  return "std::optional<" + (t == "const Tensor&" ? std::string("Tensor") : t) + ">";
}

inline bool fits(const lamella_argument& a, const CppType& t) {
  if (t.kind == LAMELLA_KIND_ANY) return true;
  constexpr uint32_t lists = LAMELLA_ARGUMENT_LIST, optional = LAMELLA_ARGUMENT_OPTIONAL;
  if (a.kind != t.kind || (a.flags & lists) != (t.flags & lists)) return false;
  if ((t.flags & LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS) && !(a.flags & LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS)) return false;
  if ((t.flags & LAMELLA_ARGUMENT_WRITTEN) && !(a.flags & LAMELLA_ARGUMENT_WRITTEN)) return false;
  const bool undefined_is_none =
      (t.kind == LAMELLA_KIND_TENSOR || t.kind == LAMELLA_KIND_GENERATOR) && !(t.flags & lists);
  return (a.flags & optional) == (t.flags & optional) || (undefined_is_none && !(t.flags & optional));
}

__attribute__((cold)) inline std::string listed(ArrayRef<CppType> types) {
  std::string all;
  for (const CppType& t : types) all += (all.empty() ? "" : ", ") + t.name();
  return all;
}

inline const lamella_argument& described(const lamella_argument* a) {
  if (!a) throw Error::pending(api().error_kind());
  return *a;
}

/* Returns whether a function of `known` arguments fits a schema of n: it may leave out arguments from place *from on if
 * they have a default. The outputs of an out= form follow them and are not left out. */
inline bool may_leave_out(const lamella_operator* op, size_t n, size_t known, bool exact, size_t* from) {
  *from = n;
  if (known == n || exact) return known == n;
  size_t ends = n;
  while (ends > 0 &&
         (described(api().operator_argument(op, static_cast<int32_t>(ends - 1))).flags & LAMELLA_ARGUMENT_OUT))
    ends--;
  if (known > n || known < n - ends) return false;
  *from = known - (n - ends);
  for (size_t i = *from; i < ends; i++)
    if (!(described(api().operator_argument(op, static_cast<int32_t>(i))).flags & LAMELLA_ARGUMENT_HAS_DEFAULT))
      return false;
  return true;
}

/* Returns how many of the schema's arguments the function takes; its last parameters may be the results, to be written
 * into. Throws a TypeError that shows the schema and the function unless they fit. Unless `exact`, the function may
 * leave out arguments at the end that have a default. */
__attribute__((cold)) inline int32_t compare(const char* who, const lamella_operator* op, ArrayRef<CppType> parameters,
                                             ArrayRef<CppType> results, bool exact, bool may_write = true) {
  const auto n = static_cast<size_t>(api().operator_num_args(op)),
             m = static_cast<size_t>(api().operator_num_returns(op));
  size_t known = parameters.size(), from = n;
  bool writes = may_write && results.empty() && m > 0 && known >= m;
  for (size_t i = known - m; writes && i < known; i++)
    writes = parameters[i].kind == LAMELLA_KIND_TENSOR && !(parameters[i].flags & LAMELLA_ARGUMENT_LIST);
  /* An out= form must not leave out arguments when it is read as one that writes its results: its outputs, which are
   * arguments of the schema, would be taken for the results. */
  const bool out_form =
      n > 0 && (described(api().operator_argument(op, static_cast<int32_t>(n - 1))).flags & LAMELLA_ARGUMENT_OUT);
  writes = writes && may_leave_out(op, n, known - m, exact || out_form, &from);
  if (writes) known -= m;
  std::string wrong;
  if (!writes && !may_leave_out(op, n, known, exact, &from))
    wrong += text("\n  the schema has ", n, n == 1 ? " argument" : " arguments", ", the function takes ", known);
  for (size_t k = 0; k < known && wrong.empty(); k++) {
    const size_t i = k < from ? k : k + (n - known);
    const lamella_argument& a = described(api().operator_argument(op, static_cast<int32_t>(i)));
    if (!fits(a, parameters[k]))
      wrong += text("\n  argument '", a.name, "': ", schema_type(a), " is ", cpp_type_of(a), ", the function takes ",
                    parameters[k].name());
  }
  if (!writes && results.size() != m)
    wrong += text("\n  the schema has ", m, m == 1 ? " result" : " results", ", the function returns ", results.size());
  for (size_t i = 0; i < m && wrong.empty(); i++) {
    const lamella_argument& a = described(api().operator_return(op, static_cast<int32_t>(i)));
    const CppType& t = writes ? parameters[known + i] : results[i];
    const uint32_t optional = writes ? t.flags & LAMELLA_ARGUMENT_OPTIONAL : 0; /* a rule may leave out a result */
    if (!fits({a.size, a.kind, a.flags | LAMELLA_ARGUMENT_WRITTEN | optional, 0, "", {}}, t))
      wrong +=
          text("\n  result ", i, ": ", schema_type(a), ", the function ", writes ? "takes " : "returns ", t.name());
  }
  if (wrong.empty()) return static_cast<int32_t>(known);
  const std::string returned = results.size() == 1 ? results[0].name()
                               : results.empty()   ? std::string("void")
                                                   : "std::tuple<" + listed(results) + ">";
  throw Error(LAMELLA_TYPE_ERROR,
              text(who, ": the C++ function does not fit the schema\n  schema: ", api().operator_schema(op),
                   "\n  C++:    ", returned, " (", listed(parameters), ")", wrong));
}

/* Returns the operator of a name like "twice" or "mine::twice.Tensor"; throws if there is none. */
inline const lamella_operator* find(const char* who, const char* ns, std::string name) {
  if (name.find("::") == std::string::npos) name = std::string(ns) + "::" + name;
  const OwnNamespace& own = own_namespace();
  if (name.rfind(own.written + "::", 0) == 0) name.replace(0, own.written.size(), own.chosen);
  const size_t dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  const lamella_operator* op = api().find_operator(name.substr(0, dot).c_str(), overload.c_str());
  LAMELLA_CHECK(op, who, ": there is no operator ", name, "; define it first, or name its overload");
  return op;
}

}  // namespace detail
}  // namespace lamella

#pragma GCC visibility pop

#endif
