// The numbers that sums are made of: short names of integers, arithmetic of complex numbers, and the type in which sums
// of each dtype are kept.
#pragma once
#include "common.cuh"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

// An element of 16 bytes that is only moved.
struct alignas(16) Word16 {
  u64 low, high;
};

template <class R>
DEVICE complex<R> operator+(complex<R> x, complex<R> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class R>
DEVICE complex<R> operator-(complex<R> x, complex<R> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class R>
DEVICE complex<R> operator*(complex<R> x, complex<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class R>
DEVICE complex<R>& operator+=(complex<R>& x, complex<R> y) {
  return x = x + y;
}

// The type in which sums are kept. Integers wrap, since their sums are unsigned.
template <class T>
struct WideOf {
  typedef T type;
};
#define LAMELLA_WIDE(T, W) \
  template <>              \
  struct WideOf<T> {       \
    typedef W type;        \
  };
LAMELLA_WIDE(float16, float)
LAMELLA_WIDE(bfloat16, float)
LAMELLA_WIDE(u8, u32)
LAMELLA_WIDE(i8, u32)
LAMELLA_WIDE(u16, u32)
LAMELLA_WIDE(i16, u32)
LAMELLA_WIDE(i32, u32)
LAMELLA_WIDE(i64, u64)
#undef LAMELLA_WIDE
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
DEVICE Wide<T> wide(T x) {
  return convert<Wide<T>>(x);
}
// Converts a sum to an element.
template <class T, class W>
DEVICE T narrow(W x) {
  return convert<T>(x);
}

// ---- joins of two numbers -------------------------------------------------------------------------------------------

struct Add {
  template <class W>
  static __device__ W of(W x, W y) {
    return x + y;
  }
};
// The larger one; NaN wins.
struct Most {
  template <class W>
  static __device__ W of(W x, W y) {
    return x > y || x != x ? x : y;
  }
};

// ---- words of floats of either width --------------------------------------------------------------------------------

DEVICE float exponential(float x) { return expf(x); }
DEVICE double exponential(double x) { return exp(x); }
DEVICE float logarithm(float x) { return logf(x); }
DEVICE double logarithm(double x) { return log(x); }
DEVICE float root_of(float x) { return sqrtf(x); }
DEVICE double root_of(double x) { return sqrt(x); }
template <class W>
DEVICE W infinity() {
  return static_cast<W>(INFINITY);
}
