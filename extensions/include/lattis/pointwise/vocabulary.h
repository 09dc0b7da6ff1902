/* The scalar vocabulary in which pointwise operators are written. Each word works on numbers (where compilers turn
 * it into vector code, glibc's libmvec for the functions) and on Symbol, which prints itself.
 * Include this before <cmath>: the declarations below tell the compiler which functions have vector forms. */
#ifndef LATTIS_POINTWISE_VOCABULARY_H
#define LATTIS_POINTWISE_VOCABULARY_H

#if defined(__x86_64__) && defined(__linux__)
#define LATTIS_SIMD __attribute__((simd("notinbranch")))
#else
#define LATTIS_SIMD
#endif

extern "C" {
LATTIS_SIMD float expf(float) noexcept(true);
LATTIS_SIMD double exp(double) noexcept(true);
LATTIS_SIMD float logf(float) noexcept(true);
LATTIS_SIMD double log(double) noexcept(true);
LATTIS_SIMD float sinf(float) noexcept(true);
LATTIS_SIMD double sin(double) noexcept(true);
LATTIS_SIMD float cosf(float) noexcept(true);
LATTIS_SIMD double cos(double) noexcept(true);
LATTIS_SIMD float tanhf(float) noexcept(true);
LATTIS_SIMD double tanh(double) noexcept(true);
LATTIS_SIMD float powf(float, float) noexcept(true);
LATTIS_SIMD double pow(double, double) noexcept(true);
}

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace lattis::pointwise {

/* What an operator prints when it is called with this: an expression in C's notation. */
struct Symbol {
  std::string text;

#define LATTIS_SYMBOL_BINARY(op)                                       \
  friend inline Symbol operator op(const Symbol& a, const Symbol& b) { \
    return {"(" + a.text + " " #op " " + b.text + ")"};                \
  }
  LATTIS_SYMBOL_BINARY(+)
  LATTIS_SYMBOL_BINARY(-)
  LATTIS_SYMBOL_BINARY(*)
  LATTIS_SYMBOL_BINARY(/)
  LATTIS_SYMBOL_BINARY(<)
  LATTIS_SYMBOL_BINARY(>)
  LATTIS_SYMBOL_BINARY(<=)
  LATTIS_SYMBOL_BINARY(>=)
  LATTIS_SYMBOL_BINARY(==)
  LATTIS_SYMBOL_BINARY(!=)
  LATTIS_SYMBOL_BINARY(&&)
  LATTIS_SYMBOL_BINARY(||)
#undef LATTIS_SYMBOL_BINARY
  friend inline Symbol operator-(const Symbol& a) { return {"(-" + a.text + ")"}; }
  friend inline Symbol operator!(const Symbol& a) { return {"(!" + a.text + ")"}; }
};

namespace { /* objects of several instruction sets must not share these */

template <class T>
constexpr bool is_bool = std::is_same_v<T, bool>;
template <class T>
constexpr bool is_integral = std::is_integral_v<T> && !is_bool<T>;
template <class T>
constexpr bool is_floating = std::is_floating_point_v<T> || std::is_same_v<T, Symbol>;

template <class T>
inline T number(double x) {
  if constexpr (std::is_same_v<T, Symbol>) {
    std::string s = std::to_string(x);
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.') s.pop_back();
    return {s};
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
inline T where(bool c, T a, T b) {
  return c ? a : b;
}
inline float exp_(float x) { return expf(x); }
inline double exp_(double x) { return exp(x); }
inline float log_(float x) { return logf(x); }
inline double log_(double x) { return log(x); }
inline float sin_(float x) { return sinf(x); }
inline double sin_(double x) { return sin(x); }
inline float cos_(float x) { return cosf(x); }
inline double cos_(double x) { return cos(x); }
inline float tanh_(float x) { return tanhf(x); }
inline double tanh_(double x) { return tanh(x); }
inline float pow_(float x, float y) { return powf(x, y); }
inline double pow_(double x, double y) { return pow(x, y); }
inline float sqrt_(float x) { return __builtin_sqrtf(x); }
inline double sqrt_(double x) { return __builtin_sqrt(x); }
inline float abs_(float x) { return __builtin_fabsf(x); }
inline double abs_(double x) { return __builtin_fabs(x); }
inline float floor_(float x) { return __builtin_floorf(x); }
inline double floor_(double x) { return __builtin_floor(x); }
inline float trunc_(float x) { return __builtin_truncf(x); }
inline double trunc_(double x) { return __builtin_trunc(x); }

/* Exact integer power by squaring; a negative exponent gives what rounding 1/x^n to zero gives. */
template <class T>
inline T ipow(T x, T n) {
  if constexpr (std::is_signed_v<T>)
    if (n < 0) return x == 1 ? T(1) : x == T(-1) ? (n % 2 ? T(-1) : T(1)) : T(0);
  T r = 1;
  for (; n; n = static_cast<T>(n >> 1)) {
    if (n & 1) r = static_cast<T>(r * x);
    x = static_cast<T>(x * x);
  }
  return r;
}

inline Symbol where(const Symbol& c, const Symbol& a, const Symbol& b) {
  return {"(" + c.text + " ? " + a.text + " : " + b.text + ")"};
}
#define LATTIS_SYMBOL_FUNCTION(name) \
  inline Symbol name##_(const Symbol& a) { return {#name "(" + a.text + ")"}; }
LATTIS_SYMBOL_FUNCTION(exp)
LATTIS_SYMBOL_FUNCTION(log)
LATTIS_SYMBOL_FUNCTION(sin)
LATTIS_SYMBOL_FUNCTION(cos)
LATTIS_SYMBOL_FUNCTION(tanh)
LATTIS_SYMBOL_FUNCTION(sqrt)
LATTIS_SYMBOL_FUNCTION(abs)
LATTIS_SYMBOL_FUNCTION(floor)
LATTIS_SYMBOL_FUNCTION(trunc)
#undef LATTIS_SYMBOL_FUNCTION
inline Symbol pow_(const Symbol& a, const Symbol& b) { return {"pow(" + a.text + ", " + b.text + ")"}; }

}  // namespace
}  // namespace lattis::pointwise
#endif
