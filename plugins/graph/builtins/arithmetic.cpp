// Arithmetic on ints of 64 bits, which raise instead of wrapping, on floats and complex numbers, and on Scalars, whose
// kind is known when they run.
#include <cmath>

#include "builtins/arguments.h"
#include "builtins/numbers.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

[[noreturn]] void raise_division(const char* why) { raise(LAMELLA_ZERO_DIVISION, why); }
[[noreturn]] void raise_operands(const char* sign, const lamella_value* a) {
  raise(LAMELLA_TYPE_ERROR, detail::text("unsupported operand type(s) for ", sign, ": '", type_name(a[0]), "' and '",
                                         type_name(a[1]), "'"));
}

struct Add {
  static int64_t of(int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_add_overflow(a, b, &r)) raise_too_large();
    return r;
  }
  static double of(double a, double b) { return a + b; }
  static Complex of(Complex a, Complex b) { return {a.real() + b.real(), a.imag() + b.imag()}; }
};
struct Subtract {
  static int64_t of(int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r)) raise_too_large();
    return r;
  }
  static double of(double a, double b) { return a - b; }
  static Complex of(Complex a, Complex b) { return {a.real() - b.real(), a.imag() - b.imag()}; }
};
struct Multiply {
  static int64_t of(int64_t a, int64_t b) {
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) raise_too_large();
    return r;
  }
  static double of(double a, double b) { return a * b; }
  static Complex of(Complex a, Complex b) { return product(a, b); }
};
struct Divide {
  static double of(int64_t a, int64_t b) {
    if (b == 0) raise_division("division by zero");
    return true_quotient(a, b);
  }
  static double of(double a, double b) {
    if (b == 0) raise_division("float division by zero");
    return a / b;
  }
  static Complex of(Complex a, Complex b) { return quotient(a, b); }
};
struct FloorDivide {
  static constexpr const char* sign = "//";
  static int64_t of(int64_t a, int64_t b) { return floor_quotient(a, b, "integer division or modulo by zero"); }
  static double of(double a, double b) {
    if (b == 0) raise_division("float floor division by zero");
    return floor_quotient(a, b).first;
  }
};
struct Remainder {
  static constexpr const char* sign = "%";
  static int64_t of(int64_t a, int64_t b) { return floor_remainder(a, b, "integer modulo by zero"); }
  static double of(double a, double b) {
    if (b == 0) raise_division("float modulo");
    return floor_quotient(a, b).second;
  }
};
struct Power {
  static double of(double a, double b) {
    if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
      raise(LAMELLA_VALUE_ERROR,
            "pow: a negative float to a power that is not whole is complex; write complex(a) ** b");
    return real_power(a, b);
  }
  static Complex of(Complex a, Complex b) { return complex_power(a, b); }
};
struct Smaller {
  static constexpr const char* sign = "<";
  static int64_t of(int64_t a, int64_t b) { return b < a ? b : a; }
  static double of(double a, double b) { return b < a ? b : a; }
};
struct Larger {
  static constexpr const char* sign = ">";
  static int64_t of(int64_t a, int64_t b) { return b > a ? b : a; }
  static double of(double a, double b) { return b > a ? b : a; }
};

template <class Op>
lamella_value on_ints(const lamella_value* a) {
  return made(Op::of(int_of(a[0]), int_of(a[1])));
}
template <class Op>
lamella_value on_floats(const lamella_value* a) {
  return made(Op::of(float_of(a[0]), float_of(a[1])));
}
template <class Op>
lamella_value on_complex(const lamella_value* a) {
  return made(Op::of(complex_of(a[0]), complex_of(a[1])));
}

bool either(const lamella_value* a, uint32_t tag) { return a[0].tag == tag || a[1].tag == tag; }

template <class Op>
lamella_value on_scalars(const lamella_value* a) {
  if (either(a, LAMELLA_COMPLEX)) return on_complex<Op>(a);
  return either(a, LAMELLA_FLOAT) ? on_floats<Op>(a) : on_ints<Op>(a);
}
template <class Op>
lamella_value on_real_scalars(const lamella_value* a) {
  if (either(a, LAMELLA_COMPLEX)) raise_operands(Op::sign, a);
  return either(a, LAMELLA_FLOAT) ? on_floats<Op>(a) : on_ints<Op>(a);
}

lamella_value power_of_scalars(const lamella_value* a) {
  if (either(a, LAMELLA_COMPLEX)) return on_complex<Power>(a);
  if (!either(a, LAMELLA_FLOAT) && int_of(a[1]) >= 0) return made(whole_power(int_of(a[0]), int_of(a[1])));
  const double x = float_of(a[0]), y = float_of(a[1]);
  if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y)) return on_complex<Power>(a);
  return made(real_power(x, y));
}

template <bool Larger>
lamella_value extreme_of_scalars(const lamella_value* a) {
  const bool second = Larger ? less(a[0], a[1], ">") : less(a[1], a[0]);
  return copy_of(a[second]);
}
template <bool Larger>
lamella_value extreme_of_list(const lamella_value* a) {
  const std::vector<lamella_value>& items = list_argument(a[0]).items;
  LAMELLA_CHECK_VALUE(!items.empty(), Larger ? "max" : "min", "() arg is an empty sequence");
  const lamella_value* best = &items[0];
  for (const lamella_value& v : items)
    if (Larger ? less(*best, v, ">") : less(v, *best)) best = &v;
  return copy_of(*best);
}

lamella_value negative(const lamella_value* a) {
  const lamella_value& x = a[0];
  if (x.tag == LAMELLA_FLOAT) return made(-x.as.d);
  if (x.tag == LAMELLA_COMPLEX) return made(-complex_of(x));
  return made(Subtract::of(int64_t{0}, int_of(x)));
}
lamella_value absolute(const lamella_value* a) {
  const lamella_value& x = a[0];
  if (x.tag == LAMELLA_FLOAT) return made(std::fabs(x.as.d));
  if (x.tag == LAMELLA_COMPLEX) return made(magnitude(complex_of(x)));
  const int64_t i = int_of(x);
  return made(i < 0 ? Subtract::of(int64_t{0}, i) : i);
}

lamella_value divmod_int(const lamella_value* a) {
  const int64_t x = int_of(a[0]), y = int_of(a[1]);
  const char* by_zero = "integer division or modulo by zero";
  return new_tuple({made(floor_quotient(x, y, by_zero)), made(floor_remainder(x, y, by_zero))});
}
lamella_value divmod_float(const lamella_value* a) {
  const double x = float_of(a[0]), y = float_of(a[1]);
  if (y == 0) raise_division("float divmod()");
  const auto [q, r] = floor_quotient(x, y);
  return new_tuple({made(q), made(r)});
}

template <class T, T (*Read)(const lamella_value&)>
lamella_value sum(const lamella_value* a) {
  T total{};
  for (const lamella_value& v : list_argument(a[0]).items) total = Add::of(total, Read(v));
  return made(total);
}
// The sum of all has to fit 64 bits, and those of the first ones need not.
lamella_value sum_of_ints(const lamella_value* a) {
  __int128 total = 0;
  for (const lamella_value& v : list_argument(a[0]).items) total += int_of(v);
  if (total < INT64_MIN || total > INT64_MAX) raise_too_large();
  return made(static_cast<int64_t>(total));
}
// Stops at the first item whose truth is `Wanted`.
template <bool Wanted>
lamella_value some(const lamella_value* a) {
  for (const lamella_value& v : list_argument(a[0]).items)
    if (is_true(v) == Wanted) return made(Wanted);
  return made(!Wanted);
}

// The overloads of an operator on two numbers: of ints and floats, of complex numbers, and of Scalars.
#define REAL(NAME, OP, TWO_INTS)                                              \
  {"aten::" NAME ".int(int a, int b) -> " TWO_INTS, on_ints<OP>},             \
      {"aten::" NAME ".int_float(int a, float b) -> float", on_floats<OP>},   \
      {"aten::" NAME ".float_int(float a, int b) -> float", on_floats<OP>}, { \
    "aten::" NAME ".float(float a, float b) -> float", on_floats<OP>          \
  }
#define COMPLEX(NAME, OP)                                                                \
  {"aten::" NAME ".int_complex(int a, complex b) -> complex", on_complex<OP>},           \
      {"aten::" NAME ".float_complex(float a, complex b) -> complex", on_complex<OP>},   \
      {"aten::" NAME ".complex_int(complex a, int b) -> complex", on_complex<OP>},       \
      {"aten::" NAME ".complex_float(complex a, float b) -> complex", on_complex<OP>}, { \
    "aten::" NAME ".complex(complex a, complex b) -> complex", on_complex<OP>            \
  }
#define SCALARS(NAME, FUNCTION) \
  { "aten::" NAME ".Scalar_Scalar(Scalar a, Scalar b) -> Scalar", FUNCTION }

constexpr Builtin arithmetic_rows[] = {
    REAL("add", Add, "int"),
    COMPLEX("add", Add),
    SCALARS("add", on_scalars<Add>),
    REAL("sub", Subtract, "int"),
    COMPLEX("sub", Subtract),
    SCALARS("sub", on_scalars<Subtract>),
    REAL("mul", Multiply, "int"),
    COMPLEX("mul", Multiply),
    SCALARS("mul", on_scalars<Multiply>),
    REAL("div", Divide, "float"),
    COMPLEX("div", Divide),
    SCALARS("div", on_scalars<Divide>),
    REAL("floordiv", FloorDivide, "int"),
    SCALARS("floordiv", on_real_scalars<FloorDivide>),
    REAL("remainder", Remainder, "int"),
    SCALARS("remainder", on_real_scalars<Remainder>),
    {"aten::pow.int(int a, int b) -> float", on_floats<Power>},
    {"aten::pow.int_float(int a, float b) -> float", on_floats<Power>},
    {"aten::pow.float_int(float a, int b) -> float", on_floats<Power>},
    {"aten::pow.float(float a, float b) -> float", on_floats<Power>},
    COMPLEX("pow", Power),
    SCALARS("pow", power_of_scalars),
    {"aten::pow.int_to_int(int a, int b) -> int",
     [](const lamella_value* a) {
       LAMELLA_CHECK_VALUE(int_of(a[1]) >= 0, "pow: an int to the power ", int_of(a[1]),
                           " is a float; write float(a) ** b");
       return made(whole_power(int_of(a[0]), int_of(a[1])));
     }},
    {"aten::neg.int(int a) -> int", negative},
    {"aten::neg.float(float a) -> float", [](const lamella_value* a) { return made(-float_of(a[0])); }},
    {"aten::neg.complex(complex a) -> complex", [](const lamella_value* a) { return made(-complex_of(a[0])); }},
    {"aten::neg.Scalar(Scalar a) -> Scalar", negative},
    {"aten::abs.int(int a) -> int", absolute},
    {"aten::abs.float(float a) -> float", [](const lamella_value* a) { return made(std::fabs(float_of(a[0]))); }},
    {"aten::abs.complex(complex a) -> float", [](const lamella_value* a) { return made(magnitude(complex_of(a[0]))); }},
    {"aten::abs.Scalar(Scalar a) -> Scalar", absolute},
    {"aten::divmod.int(int x, int y) -> (int, int)", divmod_int},
    {"aten::divmod.int_float(int x, float y) -> (float, float)", divmod_float},
    {"aten::divmod.float_int(float x, int y) -> (float, float)", divmod_float},
    {"aten::divmod.float(float x, float y) -> (float, float)", divmod_float},
    {"aten::round.float(float a) -> float", [](const lamella_value* a) { return made(std::rint(float_of(a[0]))); }},
    {"aten::round.float_int(float a, int ndigits) -> float",
     [](const lamella_value* a) { return made(rounded(float_of(a[0]), int_of(a[1]))); }},
    REAL("min", Smaller, "int"),
    SCALARS("min", extreme_of_scalars<false>),
    {"aten::min.list_t(t[] l) -> t", extreme_of_list<false>},
    REAL("max", Larger, "int"),
    SCALARS("max", extreme_of_scalars<true>),
    {"aten::max.list_t(t[] l) -> t", extreme_of_list<true>},
    {"aten::sum.int(int[] self) -> int", sum_of_ints},
    {"aten::sum.float(float[] self) -> float", sum<double, float_of>},
    {"aten::sum.complex(complex[] self) -> complex", sum<Complex, complex_of>},
    {"aten::sum.bool(bool[] self) -> int", sum_of_ints},
    {"aten::all.bool(bool[] self) -> bool", some<false>},
    {"aten::all.int(int[] self) -> bool", some<false>},
    {"aten::all.float(float[] self) -> bool", some<false>},
    {"aten::all.str(str[] self) -> bool", some<false>},
    {"aten::any.bool(bool[] self) -> bool", some<true>},
    {"aten::any.int(int[] self) -> bool", some<true>},
    {"aten::any.float(float[] self) -> bool", some<true>},
    {"aten::any.str(str[] self) -> bool", some<true>},
};

#undef REAL
#undef COMPLEX
#undef SCALARS

}  // namespace

BuiltinTable arithmetic_builtins() { return table_of(arithmetic_rows); }

}  // namespace lamella::graph
