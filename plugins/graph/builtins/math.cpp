// The functions of Python's module math. An argument outside of the domain raises ValueError, and a result that is too
// large OverflowError.
#include <cmath>
#include <numbers>

#include "builtins/arguments.h"
#include "builtins/numbers.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

[[noreturn]] void raise_math_domain() { raise(LAMELLA_VALUE_ERROR, "math domain error"); }
[[noreturn]] void raise_range() { raise(LAMELLA_OVERFLOW, "math range error"); }

// Checks a result: NaN from numbers means that they are outside of the domain, and so does infinity from finite
// numbers, unless the function grows too large.
double checked(double r, bool finite, bool number, bool grows) {
  if (std::isnan(r) && number) raise_math_domain();
  if (std::isinf(r) && finite) grows ? raise_range() : raise_math_domain();
  return r;
}

template <double (*F)(double), bool Grows = false>
lamella_value of_one(const lamella_value* a) {
  const double x = float_of(a[0]);
  return made(checked(F(x), std::isfinite(x), !std::isnan(x), Grows));
}
template <double (*F)(double)>
lamella_value unchecked(const lamella_value* a) {
  return made(F(float_of(a[0])));
}
template <double (*F)(double, double), bool Grows = false>
lamella_value of_two(const lamella_value* a) {
  const double x = float_of(a[0]), y = float_of(a[1]);
  return made(checked(F(x, y), std::isfinite(x) && std::isfinite(y), !std::isnan(x) && !std::isnan(y), Grows));
}

double gamma(double x) {
  if (x == std::floor(x) && x <= 0) raise_math_domain();  // also minus infinity
  return std::tgamma(x);
}
double log_gamma(double x) {
  if (x == std::floor(x) && x <= 0 && std::isfinite(x)) raise_math_domain();
  return std::isinf(x) ? INFINITY : std::lgamma(x);
}
double remainder(double x, double y) { return std::remainder(x, y); }

lamella_value log_in_base(const lamella_value* a) {
  const double x = float_of(a[0]), base = float_of(a[1]);
  const auto log = [](double v) { return checked(std::log(v), std::isfinite(v), !std::isnan(v), false); };
  const double n = log(x), d = log(base);
  if (d == 0) raise(LAMELLA_ZERO_DIVISION, "float division by zero");
  return made(n / d);
}

lamella_value power(const lamella_value* a) {
  const double x = float_of(a[0]), y = float_of(a[1]), r = std::pow(x, y);
  if (std::isnan(r) && !std::isnan(x) && !std::isnan(y)) raise_math_domain();
  if (std::isinf(r) && std::isfinite(x) && std::isfinite(y)) x == 0 ? raise_math_domain() : raise_range();
  return made(r);
}

template <double (*F)(double)>
lamella_value whole(const lamella_value* a) {
  return made(whole_part(F(float_of(a[0]))));
}

lamella_value is_close(const lamella_value* a) {
  const double x = float_of(a[0]), y = float_of(a[1]), relative = float_of(a[2]), absolute = float_of(a[3]);
  LAMELLA_CHECK_VALUE(!(relative < 0 || absolute < 0), "tolerances must be non-negative");
  if (x == y) return made(true);
  if (std::isinf(x) || std::isinf(y)) return made(false);
  const double difference = std::fabs(x - y);
  return made(difference <= std::fabs(relative * y) || difference <= std::fabs(relative * x) || difference <= absolute);
}

lamella_value times_power_of_two(const lamella_value* a) {
  const double x = float_of(a[0]);
  const int64_t by = std::max<int64_t>(std::min<int64_t>(int_of(a[1]), 5000), -5000);
  const double r = std::ldexp(x, static_cast<int>(by));
  if (std::isinf(r) && std::isfinite(x)) raise_range();
  return made(r);
}
lamella_value fraction_and_exponent(const lamella_value* a) {
  int exponent = 0;
  const double x = float_of(a[0]), fraction = std::isfinite(x) ? std::frexp(x, &exponent) : x;
  return new_tuple({made(fraction), made(int64_t{exponent})});
}
lamella_value fraction_and_whole(const lamella_value* a) {
  double whole;
  const double fraction = std::modf(float_of(a[0]), &whole);
  return new_tuple({made(fraction), made(whole)});
}

constexpr Builtin math_rows[] = {
    {"aten::sqrt.float(float a) -> float", of_one<std::sqrt>},
    {"aten::exp.float(float a) -> float", of_one<std::exp, true>},
    {"aten::expm1.float(float a) -> float", of_one<std::expm1, true>},
    {"aten::log.float(float a) -> float", of_one<std::log>},
    {"aten::log1p.float(float a) -> float", of_one<std::log1p>},
    {"aten::log2.float(float a) -> float", of_one<std::log2>},
    {"aten::log10.float(float a) -> float", of_one<std::log10>},
    {"aten::sin.float(float a) -> float", of_one<std::sin>},
    {"aten::cos.float(float a) -> float", of_one<std::cos>},
    {"aten::tan.float(float a) -> float", of_one<std::tan>},
    {"aten::asin.float(float a) -> float", of_one<std::asin>},
    {"aten::acos.float(float a) -> float", of_one<std::acos>},
    {"aten::atan.float(float a) -> float", of_one<std::atan>},
    {"aten::sinh.float(float a) -> float", of_one<std::sinh, true>},
    {"aten::cosh.float(float a) -> float", of_one<std::cosh, true>},
    {"aten::tanh.float(float a) -> float", of_one<std::tanh>},
    {"aten::asinh.float(float a) -> float", of_one<std::asinh>},
    {"aten::acosh.float(float a) -> float", of_one<std::acosh>},
    {"aten::atanh.float(float a) -> float", of_one<std::atanh>},
    {"aten::erf.float(float a) -> float", of_one<std::erf>},
    {"aten::erfc.float(float a) -> float", of_one<std::erfc>},
    {"aten::gamma.float(float a) -> float", of_one<gamma, true>},
    {"aten::lgamma.float(float a) -> float", of_one<log_gamma, true>},
    {"aten::fabs.float(float a) -> float", unchecked<std::fabs>},
    {"aten::degrees.float(float a) -> float",
     [](const lamella_value* a) { return made(float_of(a[0]) * (180 / std::numbers::pi)); }},
    {"aten::radians.float(float a) -> float",
     [](const lamella_value* a) { return made(float_of(a[0]) * (std::numbers::pi / 180)); }},
    {"aten::log.float_float(float a, float b) -> float", log_in_base},
    {"aten::atan2.float(float a, float b) -> float", of_two<std::atan2>},
    {"aten::copysign.float(float a, float b) -> float",
     [](const lamella_value* a) { return made(std::copysign(float_of(a[0]), float_of(a[1]))); }},
    {"aten::fmod.float(float a, float b) -> float", of_two<std::fmod>},
    {"aten::mathremainder.float(float a, float b) -> float", of_two<remainder>},
    {"aten::hypot.float(float a, float b) -> float", of_two<std::hypot, true>},
    {"aten::mathpow.float(float a, float b) -> float", power},
    {"aten::floor.float(float a) -> int", whole<std::floor>},
    {"aten::ceil.float(float a) -> int", whole<std::ceil>},
    {"aten::trunc.float(float a) -> int", whole<std::trunc>},
    {"aten::isfinite.float(float a) -> bool",
     [](const lamella_value* a) { return made(std::isfinite(float_of(a[0]))); }},
    {"aten::isinf.float(float a) -> bool", [](const lamella_value* a) { return made(std::isinf(float_of(a[0]))); }},
    {"aten::isnan.float(float a) -> bool", [](const lamella_value* a) { return made(std::isnan(float_of(a[0]))); }},
    {"aten::isclose.float(float a, float b, *, float rel_tol=1e-09, float abs_tol=0.0) -> bool", is_close},
    {"aten::ldexp(float x, int i) -> float", times_power_of_two},
    {"aten::frexp(float a) -> (float, int)", fraction_and_exponent},
    {"aten::modf(float a) -> (float, float)", fraction_and_whole},
};

}  // namespace

BuiltinTable math_builtins() { return table_of(math_rows); }

}  // namespace lamella::graph
