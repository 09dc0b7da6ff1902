#include "builtins/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lamella::graph {

std::pair<double, double> floor_quotient(double a, double b) {
  double r = std::fmod(a, b);
  double q = (a - r) / b;
  if (r != 0) {
    if ((b < 0) != (r < 0)) {  // the remainder has the sign of b
      r += b;
      q -= 1;
    }
  } else {
    r = std::copysign(0.0, b);
  }
  if (q == 0) return {std::copysign(0.0, a / b), r};
  const double whole = std::floor(q);
  return {q - whole > 0.5 ? whole + 1 : whole, r};
}

// Computes more bits of the quotient than a float holds, and in the last one whether anything is left, so that the
// conversion rounds once.
double true_quotient(int64_t a, int64_t b) {
  constexpr int64_t exact = int64_t{1} << 53;
  if (a > -exact && a < exact && b > -exact && b < exact) return static_cast<double>(a) / static_cast<double>(b);
  const auto size = [](int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x); };
  const uint64_t n = size(a), d = size(b);
  if (n == 0) return b < 0 ? -0.0 : 0.0;
  const int shift = std::max(0, 56 + __builtin_clzll(n) - __builtin_clzll(d));
  const unsigned __int128 wide = static_cast<unsigned __int128>(n) << shift;
  const auto q = static_cast<uint64_t>(wide / d) | (wide % d != 0);
  const double r = std::ldexp(static_cast<double>(q), -shift);
  return (a < 0) != (b < 0) ? -r : r;
}

int64_t whole_power(int64_t a, int64_t b) {
  int64_t r = 1;
  while (true) {
    if (b & 1 && __builtin_mul_overflow(r, a, &r)) raise_too_large();
    b >>= 1;
    if (b == 0) return r;
    if (__builtin_mul_overflow(a, a, &a)) raise_too_large();
  }
}

double real_power(double a, double b) {
  if (a == 0 && b < 0 && !std::isnan(b)) raise(LAMELLA_ZERO_DIVISION, "0.0 cannot be raised to a negative power");
  const double r = std::pow(a, b);
  if (std::isinf(r) && std::isfinite(a) && std::isfinite(b))
    raise(LAMELLA_OVERFLOW, "(34, 'Numerical result out of range')");
  return r;
}

// The usual formula, without the special cases of C for infinite parts, which Python does not have.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Divides by the larger part of b first, so that no intermediate result is too large.
Complex quotient(Complex a, Complex b) {
  if (b.real() == 0 && b.imag() == 0) raise(LAMELLA_ZERO_DIVISION, "complex division by zero");
  if (std::fabs(b.real()) >= std::fabs(b.imag())) {
    const double ratio = b.imag() / b.real(), d = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / d, (a.imag() - a.real() * ratio) / d};
  }
  if (std::fabs(b.imag()) >= std::fabs(b.real())) {
    const double ratio = b.real() / b.imag(), d = b.real() * ratio + b.imag();
    return {(a.real() * ratio + a.imag()) / d, (a.imag() * ratio - a.real()) / d};
  }
  return {NAN, NAN};
}

double magnitude(Complex a) {
  const double r = std::hypot(a.real(), a.imag());
  if (std::isinf(r) && std::isfinite(a.real()) && std::isfinite(a.imag()))
    raise(LAMELLA_OVERFLOW, "absolute value too large");
  return r;
}

namespace {

Complex power_by_squares(Complex a, int64_t n) {
  Complex r(1, 0);
  for (; n; n >>= 1) {
    if (n & 1) r = product(r, a);
    a = product(a, a);
  }
  return r;
}

Complex power_by_angle(Complex a, Complex b) {
  if (b == 0.0) return {1, 0};
  if (a == 0.0) {
    if (b.imag() != 0 || b.real() < 0) raise(LAMELLA_ZERO_DIVISION, "0.0 to a negative or complex power");
    return {0, 0};
  }
  const double size = std::hypot(a.real(), a.imag()), angle = std::atan2(a.imag(), a.real());
  double length = std::pow(size, b.real()), phase = angle * b.real();
  if (b.imag() != 0) {
    length *= std::exp(-angle * b.imag());
    phase += b.imag() * std::log(size);
  }
  return {length * std::cos(phase), length * std::sin(phase)};
}

}  // namespace

Complex complex_power(Complex a, Complex b) {
  Complex r;
  if (b.imag() == 0 && b.real() == std::floor(b.real()) && std::fabs(b.real()) <= 100) {
    const auto n = static_cast<int64_t>(b.real());
    if (n < 0 && a == 0.0) raise(LAMELLA_ZERO_DIVISION, "0.0 to a negative or complex power");
    r = n > 0 ? power_by_squares(a, n) : quotient({1, 0}, power_by_squares(a, -n));
  } else {
    r = power_by_angle(a, b);
  }
  if (std::isinf(r.real()) || std::isinf(r.imag())) raise(LAMELLA_OVERFLOW, "complex exponentiation");
  return r;
}

double rounded(double a, int64_t digits) {
  if (!std::isfinite(a) || a == 0 || digits > 1100) return a;  // a float has at most 1074 digits behind the point
  if (digits < -309) return std::copysign(0.0, a);
  char text[1500];
  char* end;
  if (digits >= 0) {
    end = std::to_chars(text, text + sizeof text, a, std::chars_format::fixed, static_cast<int>(digits)).ptr;
  } else {
    // The digits before the point, and whether anything behind the cut is left.
    end = std::to_chars(text, text + sizeof text, std::fabs(a), std::chars_format::fixed, 1074).ptr;
    std::string exact(text, end);
    const size_t point = exact.find('.');
    const auto drop = static_cast<size_t>(-digits);
    std::string whole = std::string(drop, '0') + exact.substr(0, point);
    const std::string rest = whole.substr(whole.size() - drop) + exact.substr(point + 1);
    whole.resize(whole.size() - drop);
    const bool above_half = rest[0] > '5' || (rest[0] == '5' && rest.find_first_not_of('0', 1) != std::string::npos);
    const bool half = rest[0] == '5' && !above_half, odd = !whole.empty() && (whole.back() - '0') % 2;
    if (above_half || (half && odd)) {
      size_t i = whole.size();
      while (i > 0 && whole[i - 1] == '9') whole[--i] = '0';
      if (i == 0)
        whole.insert(0, 1, '1');
      else
        whole[i - 1]++;
    }
    whole = (a < 0 ? "-" : "") + whole + std::string(drop, '0');
    end = std::copy(whole.begin(), whole.end(), text);
  }
  double r = 0;
  if (std::from_chars(text, end, r).ec == std::errc::result_out_of_range)
    raise(LAMELLA_OVERFLOW, "rounded value too large to represent");
  return r;
}

int64_t whole_part(double a) {
  if (std::isnan(a)) raise(LAMELLA_VALUE_ERROR, "cannot convert float NaN to integer");
  if (std::isinf(a)) raise(LAMELLA_OVERFLOW, "cannot convert float infinity to integer");
  if (!(a >= -0x1.0p63 && a < 0x1.0p63)) raise_too_large();
  return static_cast<int64_t>(a);
}

bool is_true(const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_NONE:
      return false;
    case LAMELLA_BOOLEAN:
    case LAMELLA_INT:
    case LAMELLA_UINT:
      return v.as.i != 0;
    case LAMELLA_FLOAT:
      return v.as.d != 0;
    case LAMELLA_COMPLEX:
      return v.as.doubles[0] != 0 || v.as.doubles[1] != 0;
    case LAMELLA_STRING:
      return v.length != 0;
    default:
      if (is_object(v, list_type)) return !list_of(v).items.empty();
      if (is_object(v, tuple_type)) return !tuple_of(v).items.empty();
      if (is_object(v, dict_type)) return dict_of(v).size() != 0;
      return true;
  }
}

}  // namespace lamella::graph
