// The functions of Python's module cmath, and the parts of complex numbers.
#include <cmath>
#include <complex>

#include "builtins/arguments.h"
#include "builtins/numbers.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

bool is_finite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
bool is_infinite(Complex z) { return std::isinf(z.real()) || std::isinf(z.imag()); }
[[noreturn]] void raise_domain() { raise(LAMELLA_VALUE_ERROR, "math domain error"); }

template <Complex (*F)(const Complex&)>
lamella_value of(const lamella_value* a) {
  const Complex z = complex_of(a[0]), r = F(z);
  if (is_finite(z) && !is_finite(r)) raise(LAMELLA_OVERFLOW, "math range error");
  return made(r);
}

// The exponential function and those made of it have no value where the angle is infinite.
Complex exp(const Complex& z) {
  if (std::isinf(z.imag()) && (std::isfinite(z.real()) || z.real() > 0)) raise_domain();
  return std::exp(z);
}
Complex sinh(const Complex& z) {
  if (std::isinf(z.imag()) && !std::isnan(z.real())) raise_domain();
  return std::sinh(z);
}
Complex cosh(const Complex& z) {
  if (std::isinf(z.imag()) && !std::isnan(z.real())) raise_domain();
  return std::cosh(z);
}
Complex tanh(const Complex& z) {
  if (std::isinf(z.imag()) && std::isfinite(z.real())) raise_domain();
  return std::tanh(z);
}
// sin(z) = -i sinh(iz), and so on.
Complex sin(const Complex& z) {
  const Complex r = sinh({-z.imag(), z.real()});
  return {r.imag(), -r.real()};
}
Complex cos(const Complex& z) { return cosh({-z.imag(), z.real()}); }
Complex tan(const Complex& z) {
  const Complex r = tanh({-z.imag(), z.real()});
  return {r.imag(), -r.real()};
}
Complex log(const Complex& z) {
  if (z == 0.0) raise_domain();
  return std::log(z);
}
Complex log10(const Complex& z) {
  const Complex r = log(z);
  return {r.real() / std::log(10.0), r.imag() / std::log(10.0)};
}
Complex atanh(const Complex& z) {
  if (z.imag() == 0 && std::fabs(z.real()) == 1) raise_domain();
  return std::atanh(z);
}
Complex atan(const Complex& z) {
  const Complex r = atanh({-z.imag(), z.real()});
  return {r.imag(), -r.real()};
}
Complex asin(const Complex& z) {
  const Complex r = std::asinh(Complex(-z.imag(), z.real()));
  return {r.imag(), -r.real()};
}

lamella_value polar(const lamella_value* a) {
  const double r = float_of(a[0]), angle = float_of(a[1]);
  if (std::isinf(angle) && r != 0 && !std::isnan(r)) raise_domain();
  if (r == 0 && !std::isfinite(angle)) return new_complex(0, 0);
  if (std::isinf(r) && std::isfinite(angle) && angle != 0)
    return new_complex(std::copysign(INFINITY, r * std::cos(angle)), std::copysign(INFINITY, r * std::sin(angle)));
  if (angle == 0) return new_complex(r, r * angle == r * angle ? r * angle : angle);
  return new_complex(r * std::cos(angle), r * std::sin(angle));
}

constexpr Builtin complex_rows[] = {
    {"aten::real.complex(complex a) -> float", [](const lamella_value* a) { return made(complex_of(a[0]).real()); }},
    {"aten::imag.complex(complex a) -> float", [](const lamella_value* a) { return made(complex_of(a[0]).imag()); }},
    {"aten::conjugate.complex(complex a) -> complex",
     [](const lamella_value* a) { return made(std::conj(complex_of(a[0]))); }},
    {"aten::sqrt.complex(complex a) -> complex", of<std::sqrt<double>>},
    {"aten::exp.complex(complex a) -> complex", of<exp>},
    {"aten::log.complex(complex a) -> complex", of<log>},
    {"aten::log10.complex(complex a) -> complex", of<log10>},
    {"aten::sin.complex(complex a) -> complex", of<sin>},
    {"aten::cos.complex(complex a) -> complex", of<cos>},
    {"aten::tan.complex(complex a) -> complex", of<tan>},
    {"aten::asin.complex(complex a) -> complex", of<asin>},
    {"aten::acos.complex(complex a) -> complex", of<std::acos<double>>},
    {"aten::atan.complex(complex a) -> complex", of<atan>},
    {"aten::sinh.complex(complex a) -> complex", of<sinh>},
    {"aten::cosh.complex(complex a) -> complex", of<cosh>},
    {"aten::tanh.complex(complex a) -> complex", of<tanh>},
    {"aten::asinh.complex(complex a) -> complex", of<std::asinh<double>>},
    {"aten::acosh.complex(complex a) -> complex", of<std::acosh<double>>},
    {"aten::atanh.complex(complex a) -> complex", of<atanh>},
    {"aten::angle.complex(complex a) -> float",
     [](const lamella_value* a) { return made(std::atan2(complex_of(a[0]).imag(), complex_of(a[0]).real())); }},
    {"aten::polar.float(float a, float b) -> complex", polar},
    {"aten::isfinite.complex(complex a) -> bool",
     [](const lamella_value* a) { return made(is_finite(complex_of(a[0]))); }},
    {"aten::isinf.complex(complex a) -> bool",
     [](const lamella_value* a) { return made(is_infinite(complex_of(a[0]))); }},
    {"aten::isnan.complex(complex a) -> bool",
     [](const lamella_value* a) {
       const Complex z = complex_of(a[0]);
       return made(std::isnan(z.real()) || std::isnan(z.imag()));
     }},
};

}  // namespace

BuiltinTable complex_builtins() { return table_of(complex_rows); }

}  // namespace lamella::graph
