// Functions on numbers with Python's meaning, which several builtins use.
#pragma once

#include <utility>

#include "builtins/arguments.h"

namespace lamella::graph {

inline int64_t floor_quotient(int64_t a, int64_t b, const char* by_zero) {
  if (__builtin_expect(b == 0, 0)) raise(LAMELLA_ZERO_DIVISION, by_zero);
  if (__builtin_expect(b == -1, 0)) {
    if (a == INT64_MIN) raise_too_large();
    return -a;
  }
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
inline int64_t floor_remainder(int64_t a, int64_t b, const char* by_zero) {
  if (__builtin_expect(b == 0, 0)) raise(LAMELLA_ZERO_DIVISION, by_zero);
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
// Returns a // b and a % b. b is not zero.
std::pair<double, double> floor_quotient(double a, double b);

double true_quotient(int64_t a, int64_t b);  // correctly rounded; b is not zero
int64_t whole_power(int64_t a, int64_t b);   // b >= 0
double real_power(double a, double b);
Complex complex_power(Complex a, Complex b);
Complex product(Complex a, Complex b);
Complex quotient(Complex a, Complex b);
double magnitude(Complex a);
// Rounds to digits behind the point, or before it where `digits` is negative; halves go to the even digit.
double rounded(double a, int64_t digits);
// Returns the whole part of a float, or raises for one that is infinite, not a number or too large.
int64_t whole_part(double a);

bool is_true(const lamella_value& v);  // as bool(v): of numbers, texts, lists, tuples and dictionaries

}  // namespace lamella::graph
