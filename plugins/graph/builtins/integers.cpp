// Bits of ints, whole-number functions, and the numbers of a range.
#include <cmath>
#include <numeric>

#include "builtins/arguments.h"
#include "builtins/numbers.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

int64_t shift_count(const lamella_value& v) {
  LAMELLA_CHECK_VALUE(int_of(v) >= 0, "negative shift count");
  return int_of(v);
}

lamella_value shift_left(const lamella_value* a) {
  const int64_t x = int_of(a[0]), by = shift_count(a[1]);
  if (x == 0) return made(int64_t{0});
  if (by > 63) raise_too_large();
  const auto r = static_cast<int64_t>(static_cast<uint64_t>(x) << by);
  if (r >> by != x) raise_too_large();
  return made(r);
}

lamella_value range_length(const lamella_value* a) {
  const int64_t low = int_of(a[0]), high = int_of(a[1]), step = int_of(a[2]);
  LAMELLA_CHECK_VALUE(step != 0, "range() arg 3 must not be zero");
  if (step > 0 ? low >= high : low <= high) return made(int64_t{0});
  const uint64_t span = step > 0 ? static_cast<uint64_t>(high) - static_cast<uint64_t>(low)
                                 : static_cast<uint64_t>(low) - static_cast<uint64_t>(high);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const uint64_t n = (span - 1) / stride + 1;
  if (n > INT64_MAX) raise_too_large();
  return made(static_cast<int64_t>(n));
}

lamella_value derive_index(const lamella_value* a) {
  const __int128 r = static_cast<__int128>(int_of(a[0])) * int_of(a[2]) + int_of(a[1]);
  if (r < INT64_MIN || r > INT64_MAX) raise_too_large();
  return made(static_cast<int64_t>(r));
}

lamella_value factorial(const lamella_value* a) {
  const int64_t n = int_of(a[0]);
  LAMELLA_CHECK_VALUE(n >= 0, "factorial() not defined for negative values");
  if (n > 20) raise_too_large();
  int64_t r = 1;
  for (int64_t i = 2; i <= n; i++) r *= i;
  return made(r);
}

lamella_value common_divisor(const lamella_value* a) {
  const auto size = [](int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x); };
  const uint64_t r = std::gcd(size(int_of(a[0])), size(int_of(a[1])));
  if (r > INT64_MAX) raise_too_large();
  return made(static_cast<int64_t>(r));
}

lamella_value whole_root(const lamella_value* a) {
  const int64_t n = int_of(a[0]);
  LAMELLA_CHECK_VALUE(n >= 0, "isqrt() argument must be nonnegative");
  auto r = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));  // at most one away
  while (r > 3037000499 || r * r > n) r--;
  while (r < 3037000499 && (r + 1) * (r + 1) <= n) r++;
  return made(r);
}

constexpr Builtin integers_rows[] = {
    {"aten::__and__.int(int a, int b) -> int",
     [](const lamella_value* a) { return made(int_of(a[0]) & int_of(a[1])); }},
    {"aten::__and__.bool(bool a, bool b) -> bool",
     [](const lamella_value* a) { return made(bool_of(a[0]) && bool_of(a[1])); }},
    {"aten::__or__.int(int a, int b) -> int", [](const lamella_value* a) { return made(int_of(a[0]) | int_of(a[1])); }},
    {"aten::__or__.bool(bool a, bool b) -> bool",
     [](const lamella_value* a) { return made(bool_of(a[0]) || bool_of(a[1])); }},
    {"aten::__xor__.int(int a, int b) -> int",
     [](const lamella_value* a) { return made(int_of(a[0]) ^ int_of(a[1])); }},
    {"aten::__xor__.bool(bool a, bool b) -> bool",
     [](const lamella_value* a) { return made(bool_of(a[0]) != bool_of(a[1])); }},
    {"aten::__lshift__.int(int a, int b) -> int", shift_left},
    {"aten::__rshift__.int(int a, int b) -> int",
     [](const lamella_value* a) { return made(int_of(a[0]) >> std::min<int64_t>(shift_count(a[1]), 63)); }},
    {"aten::bitwise_not.int(int a) -> int", [](const lamella_value* a) { return made(~int_of(a[0])); }},
    {"aten::factorial.int(int a) -> int", factorial},
    {"aten::gcd.int(int a, int b) -> int", common_divisor},
    {"aten::isqrt.int(int a) -> int", whole_root},
    {"aten::__range_length(int lo, int hi, int step) -> int", range_length},
    {"aten::__derive_index(int index, int start, int step) -> int", derive_index},
};

}  // namespace

BuiltinTable integer_builtins() { return table_of(integers_rows); }

}  // namespace lamella::graph
