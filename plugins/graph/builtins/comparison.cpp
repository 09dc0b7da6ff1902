// Comparisons. An int and a float are compared exactly, also where a float cannot hold the int.
#include "builtins/arguments.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

// The comparisons, by the order of a and b.
struct Equal {
  static bool of(Order o) { return o == Order::equal; }
};
struct NotEqual {
  static bool of(Order o) { return o != Order::equal; }
};
struct Less {
  static bool of(Order o) { return o == Order::less; }
};
struct LessOrEqual {
  static bool of(Order o) { return o == Order::less || o == Order::equal; }
};
struct Greater {
  static bool of(Order o) { return o == Order::greater; }
};
struct GreaterOrEqual {
  static bool of(Order o) { return o == Order::greater || o == Order::equal; }
};

template <class Op>
lamella_value ints(const lamella_value* a) {
  return made(Op::of(order_of(int_of(a[0]), int_of(a[1]))));
}
template <class Op>
lamella_value floats(const lamella_value* a) {
  return made(Op::of(order_of(float_of(a[0]), float_of(a[1]))));
}
template <class Op>
lamella_value int_and_float(const lamella_value* a) {
  return made(Op::of(order_of(int_of(a[0]), float_of(a[1]))));
}
template <class Op>
lamella_value float_and_int(const lamella_value* a) {
  const Order o = order_of(int_of(a[1]), float_of(a[0]));
  return made(Op::of(o == Order::less ? Order::greater : o == Order::greater ? Order::less : o));
}
template <class Op>
lamella_value strings(const lamella_value* a) {
  const int c = string_of(a[0]).compare(string_of(a[1]));
  return made(Op::of(c < 0 ? Order::less : c > 0 ? Order::greater : Order::equal));
}

lamella_value is_equal(const lamella_value* a) { return made(equal(a[0], a[1])); }
lamella_value is_not_equal(const lamella_value* a) { return made(!equal(a[0], a[1])); }
lamella_value is_less(const lamella_value* a) { return made(less(a[0], a[1])); }
lamella_value is_less_or_equal(const lamella_value* a) { return made(less_or_equal(a[0], a[1])); }
lamella_value is_greater(const lamella_value* a) { return made(less(a[1], a[0], ">")); }
lamella_value is_greater_or_equal(const lamella_value* a) { return made(less_or_equal(a[1], a[0], ">=")); }

// Containers, instances and tensors are the same if they are one object; values without an object, if they are equal
// and of one type.
bool same(const lamella_value& a, const lamella_value& b) {
  if (a.tag != b.tag) return false;
  return a.tag == LAMELLA_OBJECT || a.tag == LAMELLA_TENSOR ? a.as.object == b.as.object : equal(a, b);
}

#define REAL(NAME, OP)                                                         \
  {"aten::" NAME ".int(int a, int b) -> bool", ints<OP>},                      \
      {"aten::" NAME ".int_float(int a, float b) -> bool", int_and_float<OP>}, \
      {"aten::" NAME ".float_int(float a, int b) -> bool", float_and_int<OP>}, \
      {"aten::" NAME ".float(float a, float b) -> bool", floats<OP>}, {        \
    "aten::" NAME ".str(str a, str b) -> bool", strings<OP>                    \
  }
#define COMPLEX(NAME, FUNCTION)                                               \
  {"aten::" NAME ".int_complex(int a, complex b) -> bool", FUNCTION},         \
      {"aten::" NAME ".float_complex(float a, complex b) -> bool", FUNCTION}, \
      {"aten::" NAME ".complex_int(complex a, int b) -> bool", FUNCTION},     \
      {"aten::" NAME ".complex_float(complex a, float b) -> bool", FUNCTION}, \
      {"aten::" NAME ".complex(complex a, complex b) -> bool", FUNCTION}, {   \
    "aten::" NAME ".bool(bool a, bool b) -> bool", FUNCTION                   \
  }
#define ANY(NAME, FUNCTION)                                                 \
  {"aten::" NAME ".Scalar_Scalar(Scalar a, Scalar b) -> bool", FUNCTION}, { \
    "aten::" NAME ".t(t a, t b) -> bool", FUNCTION                          \
  }

constexpr Builtin comparison_rows[] = {
    REAL("eq", Equal),
    COMPLEX("eq", is_equal),
    ANY("eq", is_equal),
    REAL("ne", NotEqual),
    COMPLEX("ne", is_not_equal),
    ANY("ne", is_not_equal),
    REAL("lt", Less),
    ANY("lt", is_less),
    REAL("le", LessOrEqual),
    ANY("le", is_less_or_equal),
    REAL("gt", Greater),
    ANY("gt", is_greater),
    REAL("ge", GreaterOrEqual),
    ANY("ge", is_greater_or_equal),
    {"aten::__is__(t a, u b) -> bool", [](const lamella_value* a) { return made(same(a[0], a[1])); }},
    {"aten::__isnot__(t a, u b) -> bool", [](const lamella_value* a) { return made(!same(a[0], a[1])); }},
    {"aten::__not__(bool self) -> bool", [](const lamella_value* a) { return made(!bool_of(a[0])); }},
};

#undef REAL
#undef COMPLEX
#undef ANY

}  // namespace

BuiltinTable comparison_builtins() { return table_of(comparison_rows); }

}  // namespace lamella::graph
