/* Dtypes in C++: ScalarType, its constants (lamella::kFloat), the C++ type of each (Half and BFloat16 among them), and
 * the macros that run a body for the type that a tensor has at run time:
 *
 *   LAMELLA_DISPATCH_FLOATING_TYPES(x.dtype(), "twice", [&] {
 *     const scalar_t* in = x.data<scalar_t>();
 *     ...
 *   });
 *
 * LAMELLA_DISPATCH_<family>[_AND|_AND2|_AND3](dtype, name, body): FLOATING_TYPES, INTEGRAL_TYPES, ALL_TYPES (both),
 * COMPLEX_TYPES, FLOATING_AND_COMPLEX_TYPES, ALL_TYPES_AND_COMPLEX. AND takes one more ScalarType in front, AND2 two,
 * AND3 three, as in LAMELLA_DISPATCH_FLOATING_TYPES_AND(lamella::kHalf, …); COMPLEX_TYPES has no AND2 and no AND3.
 * INTEGRAL_TYPES are uint8 and the signed ones. Families with complex types need <complex>, which is not included here.
 */
#ifndef LAMELLA_SCALAR_TYPE_H
#define LAMELLA_SCALAR_TYPE_H

#include <lamella/error.h>
#include <lamella/half.h>

#include <limits>

#pragma GCC visibility push(hidden)

namespace lamella {

/* The numbers of enum lamella_dtype, and those that plugins have registered. */
enum class ScalarType : uint8_t {
  Bool = LAMELLA_BOOL,
  Byte = LAMELLA_UINT8,
  UInt16 = LAMELLA_UINT16,
  UInt32 = LAMELLA_UINT32,
  UInt64 = LAMELLA_UINT64,
  Char = LAMELLA_INT8,
  Short = LAMELLA_INT16,
  Int = LAMELLA_INT32,
  Long = LAMELLA_INT64,
  Half = LAMELLA_FLOAT16,
  BFloat16 = LAMELLA_BFLOAT16,
  Float = LAMELLA_FLOAT32,
  Double = LAMELLA_FLOAT64,
  ComplexFloat = LAMELLA_COMPLEX64,
  ComplexDouble = LAMELLA_COMPLEX128,
  Float8_e4m3fn = LAMELLA_FLOAT8_E4M3FN,
  Float8_e5m2 = LAMELLA_FLOAT8_E5M2,
  Undefined = LAMELLA_NO_DTYPE
};

constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte;
constexpr ScalarType kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32, kUInt64 = ScalarType::UInt64;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat, kComplexDouble = ScalarType::ComplexDouble;
constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn, kFloat8_e5m2 = ScalarType::Float8_e5m2;

namespace detail {

/* Returns the library's description of a dtype. The tables below describe the plain dtypes without a call. */
inline const lamella_dtype_def* dtype_of(ScalarType t) { return api().dtype_info(static_cast<int32_t>(t)); }
inline constexpr uint8_t plain_class[LAMELLA_PLAIN_DTYPES] = {
    LAMELLA_CLASS_BOOL,     LAMELLA_CLASS_INTEGRAL, LAMELLA_CLASS_INTEGRAL, LAMELLA_CLASS_INTEGRAL,
    LAMELLA_CLASS_INTEGRAL, LAMELLA_CLASS_INTEGRAL, LAMELLA_CLASS_INTEGRAL, LAMELLA_CLASS_INTEGRAL,
    LAMELLA_CLASS_INTEGRAL, LAMELLA_CLASS_FLOATING, LAMELLA_CLASS_FLOATING, LAMELLA_CLASS_FLOATING,
    LAMELLA_CLASS_FLOATING, LAMELLA_CLASS_COMPLEX,  LAMELLA_CLASS_COMPLEX};
inline constexpr uint8_t plain_size[LAMELLA_PLAIN_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
constexpr bool is_plain(ScalarType t) { return static_cast<int>(t) < LAMELLA_PLAIN_DTYPES; }

}  // namespace detail

inline const char* name(ScalarType t) {
  static const char* const names[] = {"bool",     "uint8",   "uint16",  "uint32",    "uint64",
                                      "int8",     "int16",   "int32",   "int64",     "float16",
                                      "bfloat16", "float32", "float64", "complex64", "complex128"};
  if (detail::is_plain(t)) return names[static_cast<int>(t)];
  const lamella_dtype_def* d = detail::dtype_of(t);
  return d ? d->name : "undefined";
}
/* Returns an enumerator of lamella_dtype_class; 0 for no dtype. */
constexpr uint32_t dtype_class(ScalarType t) {
  if (detail::is_plain(t)) return detail::plain_class[static_cast<int>(t)];
  const lamella_dtype_def* d = detail::dtype_of(t);
  return d ? d->dtype_class : 0;
}
inline uint32_t dtype_class(const lamella_tensor* t) { return dtype_class(static_cast<ScalarType>(t->dtype)); }
constexpr bool is_complex(ScalarType t) { return dtype_class(t) == LAMELLA_CLASS_COMPLEX; }
constexpr bool is_floating_point(ScalarType t) { return dtype_class(t) == LAMELLA_CLASS_FLOATING; }
constexpr bool is_integral(ScalarType t, bool with_bool = false) {
  return dtype_class(t) == LAMELLA_CLASS_INTEGRAL || (with_bool && dtype_class(t) == LAMELLA_CLASS_BOOL);
}
constexpr bool is_half(ScalarType t) { return t == kHalf || t == kBFloat16; }
/* Returns the dtype that kernels compute in: float32 for one of half precision, else the dtype itself. */
constexpr ScalarType wide_of(ScalarType t) { return is_half(t) ? kFloat : t; }
/* These take the number of a dtype, which is what the field dtype of lamella_tensor holds. */
constexpr bool is_complex(int dtype) { return is_complex(static_cast<ScalarType>(dtype)); }
constexpr bool is_half(int dtype) { return is_half(static_cast<ScalarType>(dtype)); }
constexpr int wide_of(int dtype) { return static_cast<int>(wide_of(static_cast<ScalarType>(dtype))); }
/* Returns whether a dtype can hold negative numbers; false for bool. */
constexpr bool is_signed(ScalarType t) {
  if (dtype_class(t) != LAMELLA_CLASS_INTEGRAL) return dtype_class(t) > LAMELLA_CLASS_INTEGRAL;
  if (!detail::is_plain(t)) return detail::dtype_of(t)->dlpack.code != kDLUInt;
  return t == kInt8 || t == kInt16 || t == kInt32 || t == kInt64;
}
/* Returns the bytes of an element; 0 for no dtype. */
constexpr int64_t itemsize(ScalarType t) {
  if (detail::is_plain(t)) return detail::plain_size[static_cast<int>(t)];
  const lamella_dtype_def* d = detail::dtype_of(t);
  return d ? d->itemsize : 0;
}
inline void append_part(std::string& to, ScalarType t) { to += name(t); }

/* ---- two-byte floats that compute as float ---- */

template <class Bits>
struct HalfOf : Bits {
  HalfOf() = default;
  LAMELLA_INLINE HalfOf(float x) : Bits(x) {}
  LAMELLA_INLINE operator float() const { return static_cast<float>(static_cast<const Bits&>(*this)); }
  LAMELLA_INLINE HalfOf& operator+=(float x) { return *this = HalfOf(*this + x); }
  LAMELLA_INLINE HalfOf& operator-=(float x) { return *this = HalfOf(*this - x); }
  LAMELLA_INLINE HalfOf& operator*=(float x) { return *this = HalfOf(*this * x); }
  LAMELLA_INLINE HalfOf& operator/=(float x) { return *this = HalfOf(*this / x); }
};
using Half = HalfOf<float16>;
using BFloat16 = HalfOf<bfloat16>;
template <class Bits>
inline void append_part(std::string& to, HalfOf<Bits> x) {
  append_part(to, static_cast<float>(x));
}

/* std::numeric_limits of Half and BFloat16, made of bits; Fraction is the number of bits of the fraction. */
template <class T, int Fraction>
class HalfLimits {
  static constexpr int exponent = 15 - Fraction, bias = (1 << (exponent - 1)) - 1;
  static constexpr T of(int bits) {
    T x{};
    x.bits = static_cast<uint16_t>(bits);
    return x;
  }

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true, is_iec559 = true;
  static constexpr bool is_bounded = true, is_modulo = false, traps = false, tinyness_before = false;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int radix = 2, digits = Fraction + 1, digits10 = Fraction * 30103 / 100000;
  static constexpr int max_digits10 = 2 + (Fraction + 1) * 30103 / 100000;
  static constexpr int min_exponent = 2 - bias, max_exponent = bias + 1;
  static constexpr int min_exponent10 = -((bias - 1) * 30103 / 100000), max_exponent10 = (bias + 1) * 30103 / 100000;
  static constexpr T min() { return of(1 << Fraction); }
  static constexpr T max() { return of(infinity().bits - 1); }
  static constexpr T lowest() { return of(max().bits | 0x8000); }
  static constexpr T epsilon() { return of((bias - Fraction) << Fraction); }
  static constexpr T round_error() { return of((bias - 1) << Fraction); }
  static constexpr T infinity() { return of(((1 << exponent) - 1) << Fraction); }
  static constexpr T quiet_NaN() { return of(infinity().bits | 1 << (Fraction - 1)); }
  static constexpr T signaling_NaN() { return of(infinity().bits | 1); }
  static constexpr T denorm_min() { return of(1); }
};

/* ---- the C++ type of a ScalarType and back ---- */

namespace detail {

template <class T, class = void>
struct ScalarTypeOf {}; /* no `value`: the type is no element of a tensor */
template <ScalarType S>
struct ScalarTypeIs {
  static constexpr ScalarType value = S;
};
template <ScalarType S>
struct CppTypeIs {}; /* none for complex dtypes: the dispatch macros below name std::complex */

#define LAMELLA_SCALAR_TYPE_(S, T)                               \
  template <>                                                    \
  struct ScalarTypeOf<T, void> : ScalarTypeIs<ScalarType::S> {}; \
  template <>                                                    \
  struct CppTypeIs<ScalarType::S> {                              \
    using type = T;                                              \
  };
LAMELLA_SCALAR_TYPE_(Bool, bool)
LAMELLA_SCALAR_TYPE_(Byte, uint8_t)
LAMELLA_SCALAR_TYPE_(UInt16, uint16_t)
LAMELLA_SCALAR_TYPE_(UInt32, uint32_t)
LAMELLA_SCALAR_TYPE_(UInt64, uint64_t)
LAMELLA_SCALAR_TYPE_(Char, int8_t)
LAMELLA_SCALAR_TYPE_(Short, int16_t)
LAMELLA_SCALAR_TYPE_(Int, int32_t)
LAMELLA_SCALAR_TYPE_(Long, int64_t)
LAMELLA_SCALAR_TYPE_(Half, lamella::Half)
LAMELLA_SCALAR_TYPE_(BFloat16, lamella::BFloat16)
LAMELLA_SCALAR_TYPE_(Float, float)
LAMELLA_SCALAR_TYPE_(Double, double)
#undef LAMELLA_SCALAR_TYPE_
template <>
struct ScalarTypeOf<long long, void> : ScalarTypeIs<kLong> {};
template <>
struct ScalarTypeOf<unsigned long long, void> : ScalarTypeIs<kUInt64> {};
template <>
struct ScalarTypeOf<float16, void> : ScalarTypeIs<kHalf> {};
template <>
struct ScalarTypeOf<bfloat16, void> : ScalarTypeIs<kBFloat16> {};

/* Recognizes std::complex by its members: including <complex> costs more than all of these headers. */
template <class T, class = void>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<T, std::void_t<typename T::value_type, decltype(std::declval<T>().real() + std::declval<T>().imag())>>
    : std::is_floating_point<typename T::value_type> {};
template <class T>
struct ScalarTypeOf<T, std::enable_if_t<IsComplex<T>::value && sizeof(T) == 8>> : ScalarTypeIs<kComplexFloat> {};
template <class T>
struct ScalarTypeOf<T, std::enable_if_t<IsComplex<T>::value && sizeof(T) == 16>> : ScalarTypeIs<kComplexDouble> {};

[[noreturn]] inline void dispatch_failed(const char* what, ScalarType t) {
  throw Error(LAMELLA_NOT_IMPLEMENTED, text(what, ": not implemented for dtype ", t));
}

}  // namespace detail

template <class T>
constexpr ScalarType scalar_type_of = detail::ScalarTypeOf<std::remove_cv_t<T>>::value;
template <ScalarType S>
using cpp_type = typename detail::CppTypeIs<S>::type;

}  // namespace lamella

template <>
class std::numeric_limits<lamella::Half> : public lamella::HalfLimits<lamella::Half, 10> {};
template <>
class std::numeric_limits<lamella::BFloat16> : public lamella::HalfLimits<lamella::BFloat16, 7> {};

#pragma GCC visibility pop

/* ---- dispatch ---- */

#define LAMELLA_DISPATCH_SWITCH(dtype, what, ...)                     \
  [&] {                                                               \
    const ::lamella::ScalarType lamella_dispatched = (dtype);         \
    switch (lamella_dispatched) {                                     \
      __VA_ARGS__                                                     \
      default:                                                        \
        ::lamella::detail::dispatch_failed(what, lamella_dispatched); \
    }                                                                 \
  }()
#define LAMELLA_DISPATCH_CASE_AS(scalar, type, ...) \
  case scalar: {                                    \
    using scalar_t [[maybe_unused]] = type;         \
    return __VA_ARGS__();                           \
  }
#define LAMELLA_DISPATCH_CASE(scalar, ...) LAMELLA_DISPATCH_CASE_AS(scalar, ::lamella::cpp_type<scalar>, __VA_ARGS__)

#define LAMELLA_DISPATCH_CASE_FLOATING_TYPES(...)        \
  LAMELLA_DISPATCH_CASE(::lamella::kDouble, __VA_ARGS__) \
  LAMELLA_DISPATCH_CASE(::lamella::kFloat, __VA_ARGS__)
#define LAMELLA_DISPATCH_CASE_INTEGRAL_TYPES(...)       \
  LAMELLA_DISPATCH_CASE(::lamella::kByte, __VA_ARGS__)  \
  LAMELLA_DISPATCH_CASE(::lamella::kChar, __VA_ARGS__)  \
  LAMELLA_DISPATCH_CASE(::lamella::kShort, __VA_ARGS__) \
  LAMELLA_DISPATCH_CASE(::lamella::kInt, __VA_ARGS__)   \
  LAMELLA_DISPATCH_CASE(::lamella::kLong, __VA_ARGS__)
#define LAMELLA_DISPATCH_CASE_ALL_TYPES(...)        \
  LAMELLA_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
  LAMELLA_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)
#define LAMELLA_DISPATCH_CASE_COMPLEX_TYPES(...)                                           \
  LAMELLA_DISPATCH_CASE_AS(::lamella::kComplexDouble, ::std::complex<double>, __VA_ARGS__) \
  LAMELLA_DISPATCH_CASE_AS(::lamella::kComplexFloat, ::std::complex<float>, __VA_ARGS__)
#define LAMELLA_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  LAMELLA_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)           \
  LAMELLA_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define LAMELLA_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  LAMELLA_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)           \
  LAMELLA_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

#define LAMELLA_DISPATCH_(family, dtype, what, ...) \
  LAMELLA_DISPATCH_SWITCH(dtype, what, LAMELLA_DISPATCH_CASE_##family(__VA_ARGS__))
#define LAMELLA_DISPATCH_AND_(family, one, dtype, what, ...) \
  LAMELLA_DISPATCH_SWITCH(dtype, what,                       \
                          LAMELLA_DISPATCH_CASE_##family(__VA_ARGS__) LAMELLA_DISPATCH_CASE(one, __VA_ARGS__))
#define LAMELLA_DISPATCH_AND2_(family, one, two, dtype, what, ...)                                            \
  LAMELLA_DISPATCH_SWITCH(dtype, what,                                                                        \
                          LAMELLA_DISPATCH_CASE_##family(__VA_ARGS__) LAMELLA_DISPATCH_CASE(one, __VA_ARGS__) \
                              LAMELLA_DISPATCH_CASE(two, __VA_ARGS__))
#define LAMELLA_DISPATCH_AND3_(family, one, two, three, dtype, what, ...)                                     \
  LAMELLA_DISPATCH_SWITCH(dtype, what,                                                                        \
                          LAMELLA_DISPATCH_CASE_##family(__VA_ARGS__) LAMELLA_DISPATCH_CASE(one, __VA_ARGS__) \
                              LAMELLA_DISPATCH_CASE(two, __VA_ARGS__) LAMELLA_DISPATCH_CASE(three, __VA_ARGS__))

#define LAMELLA_DISPATCH_FLOATING_TYPES(...) LAMELLA_DISPATCH_(FLOATING_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_TYPES_AND(...) LAMELLA_DISPATCH_AND_(FLOATING_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_TYPES_AND2(...) LAMELLA_DISPATCH_AND2_(FLOATING_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_TYPES_AND3(...) LAMELLA_DISPATCH_AND3_(FLOATING_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_TYPES_AND_HALF(...) \
  LAMELLA_DISPATCH_AND_(FLOATING_TYPES, ::lamella::kHalf, __VA_ARGS__)
#define LAMELLA_DISPATCH_INTEGRAL_TYPES(...) LAMELLA_DISPATCH_(INTEGRAL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_INTEGRAL_TYPES_AND(...) LAMELLA_DISPATCH_AND_(INTEGRAL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_INTEGRAL_TYPES_AND2(...) LAMELLA_DISPATCH_AND2_(INTEGRAL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_INTEGRAL_TYPES_AND3(...) LAMELLA_DISPATCH_AND3_(INTEGRAL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES(...) LAMELLA_DISPATCH_(ALL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES_AND(...) LAMELLA_DISPATCH_AND_(ALL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES_AND2(...) LAMELLA_DISPATCH_AND2_(ALL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES_AND3(...) LAMELLA_DISPATCH_AND3_(ALL_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_COMPLEX_TYPES(...) LAMELLA_DISPATCH_(COMPLEX_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_COMPLEX_TYPES_AND(...) LAMELLA_DISPATCH_AND_(COMPLEX_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES(...) LAMELLA_DISPATCH_(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND(...) \
  LAMELLA_DISPATCH_AND_(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(...) \
  LAMELLA_DISPATCH_AND2_(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(...) \
  LAMELLA_DISPATCH_AND3_(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX(...) LAMELLA_DISPATCH_(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(...) LAMELLA_DISPATCH_AND_(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(...) LAMELLA_DISPATCH_AND2_(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(...) LAMELLA_DISPATCH_AND3_(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)

#endif
